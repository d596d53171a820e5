"""Where pieces of a run are worked on: this process, several, or a Ray cluster. Ray is imported at the first use."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

from boulanger_env.game.errors import BoulangerError

RETRIES = 5
"""How often a piece is begun anew when the process that works on it dies."""

LOCAL = "local"


class Pool(Protocol):
    """Somewhere to work."""

    def run(self, work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """Call ``work(*job)`` for each job, and yield each name with what came of it, in the order they are done."""


class Processes:
    """Processes on this machine.

    Args:
        workers: how many; None for one each core. One is this process itself.

    Raises:
        BoulangerError: fewer than one.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = _checked(workers) or os.cpu_count() or 1

    def run(self, work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """See ``Pool``.

        Raises:
            BoulangerError: processes died again and again.
        """
        if self.workers == 1 or len(jobs) < 2:
            for name, job in jobs.items():
                yield name, work(*job)
            return
        left = dict(jobs)
        for _ in range(RETRIES + 1):
            try:
                for name, result in self._run_once(work, left):
                    del left[name]
                    yield name, result
                return
            except BrokenProcessPool:
                continue
        raise BoulangerError(_died(list(left)))

    def _run_once(
        self, work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]
    ) -> Iterator[tuple[str, Any]]:
        # Not forked: a process that runs threads, as compiled code may, cannot be forked safely.
        context = multiprocessing.get_context("spawn")
        executor = ProcessPoolExecutor(min(self.workers, len(jobs)), context, initializer=_leave_ctrl_c)
        try:
            names = {executor.submit(work, *job): name for name, job in jobs.items()}
            for future in as_completed(names):
                yield names[future], future.result()
        finally:
            executor.shutdown(cancel_futures=True)


class OnRay:
    """A Ray cluster.

    Args:
        address: as ``ray.init`` takes it, such as ``auto`` or ``ray://host:10001``; ``local`` starts one on this
            machine that ends with the run. The package must be installed on the cluster's machines.
        workers: the most tasks at a time; None for one each CPU of the cluster.

    Raises:
        BoulangerError: fewer than one worker, or Ray is not installed.
    """

    def __init__(self, address: str, workers: int | None = None) -> None:
        self.address = address
        self.workers = _checked(workers)
        try:
            self._ray: Any = importlib.import_module("ray")
        except ModuleNotFoundError:
            raise BoulangerError('this needs ray: pip install "boulanger-env[ray]"') from None

    def run(self, work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """See ``Pool``. A task whose worker dies is begun anew, wherever there is room.

        Raises:
            BoulangerError: there is no such cluster, or a task's workers died again and again.
        """
        if not jobs:
            return
        ray = self._ray
        mine = not ray.is_initialized()
        if mine:
            self._connect()
        try:
            task = ray.remote(work).options(num_cpus=1, max_retries=RETRIES)
            most = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
            waiting = iter(jobs.items())
            running: dict[Any, str] = {}
            while True:
                while len(running) < most and (following := next(waiting, None)) is not None:
                    running[task.remote(*following[1])] = following[0]
                if not running:
                    return
                (done,), _ = ray.wait(list(running), num_returns=1)
                name = running.pop(done)
                try:
                    result = ray.get(done)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    raise BoulangerError(f"{_died([name])} ({error})") from None
                yield name, result
        finally:
            if mine:
                ray.shutdown()

    def _connect(self) -> None:
        options: dict[str, Any] = {"address": self.address, "log_to_driver": False, "logging_level": "ERROR"}
        if self.address == LOCAL:
            # Its workers import what this process can import.
            paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
            options.update(
                num_cpus=self.workers,
                include_dashboard=False,
                runtime_env={"env_vars": {"PYTHONPATH": paths}},
            )
        try:
            self._ray.init(**options)
        except (ConnectionError, ValueError, RuntimeError, self._ray.exceptions.RayError) as error:
            raise BoulangerError(f"there is no Ray cluster at {self.address!r}: {error}") from None


def as_pool(ray: str | None, workers: int | None) -> Pool:
    """A Ray cluster if an address is given, else processes."""
    return Processes(workers) if ray is None else OnRay(ray, workers)


def _checked(workers: int | None) -> int | None:
    if workers is not None and workers < 1:
        raise BoulangerError(f"workers={workers!r} must be a whole number of at least 1")
    return workers


def _died(names: list[str]) -> str:
    return (
        f"the processes that worked on {', '.join(names[:3])}{' and others' if len(names) > 3 else ''} died "
        f"{RETRIES + 1} times; what is done is kept, and the same command goes on from there"
    )


def _leave_ctrl_c() -> None:
    """Ctrl-C reaches all processes of a terminal; the one that leads them decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
