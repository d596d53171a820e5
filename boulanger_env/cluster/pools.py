"""Where the jobs of a run are executed: this process, several, or a Ray cluster. Ray is imported at first use."""

from __future__ import annotations

import importlib
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from boulanger_env.game.errors import BoulangerError
from boulanger_env.processes import WorkerDiedError, checked_workers, run_jobs

RETRIES = 5
"""How often a job is restarted if its process dies."""

LOCAL, AUTO = "local", "auto"
_ANSWERS_WITHIN = 3.0  # seconds
_CLIENT_PORT = 10001  # of ray:// addresses that name none


class Pool(Protocol):
    """A place to run jobs.

    Attributes:
        shares_files: whether the jobs see this machine's files.
    """

    shares_files: bool

    def run(self, work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """Call ``work(*job)`` for each job, and yield each name with its result, in the order of completion."""


class Processes:
    """Processes on this machine.

    Args:
        workers: how many; None for one per core. 1 means this process itself.

    Raises:
        BoulangerError: fewer than one.
    """

    shares_files = True

    def __init__(self, workers: int | None = None) -> None:
        self.workers = checked_workers(workers)

    def run(self, work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """See ``Pool``.

        Raises:
            BoulangerError: processes died repeatedly.
        """
        if self.workers == 1 or len(jobs) < 2:
            for name, job in jobs.items():
                yield name, work(*job)
            return
        names = list(jobs)
        workers = min(self.workers, len(jobs))
        try:
            for number, result in run_jobs(work, jobs.values(), workers, retries=RETRIES):
                yield names[number], result
        except WorkerDiedError as error:
            raise BoulangerError(_died(names[error.number])) from None


class OnRay:
    """A Ray cluster.

    Args:
        address: as ``ray.init`` takes it, such as ``auto`` or ``ray://host:10001``; ``local`` starts one on this
            machine that ends with the run. The package must be installed on the cluster's machines.
        workers: maximum tasks at a time; None for one per CPU of the cluster.

    Raises:
        BoulangerError: fewer than one worker, or Ray is not installed.
    """

    shares_files = False

    def __init__(self, address: str, workers: int | None = None) -> None:
        self.address = address
        self.workers = None if workers is None else checked_workers(workers)
        try:
            self._ray: Any = importlib.import_module("ray")
        except ModuleNotFoundError:
            raise BoulangerError('this needs ray: pip install "boulanger-env[ray]"') from None

    def run(self, work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """See ``Pool``. A task whose worker dies is restarted wherever there is room.

        Raises:
            BoulangerError: there is no such cluster, or a task's workers died repeatedly.
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
                    raise BoulangerError(f"{_died(name)} ({error})") from None
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
        else:
            _check_answers(self.address)
        try:
            self._ray.init(**options)
        except (ConnectionError, ValueError, RuntimeError, self._ray.exceptions.RayError) as error:
            raise BoulangerError(f"there is no Ray cluster at {self.address!r} ({error})") from None


def as_pool(ray: str | None, workers: int | None) -> Pool:
    """A Ray cluster if an address is given, else processes."""
    return Processes(workers) if ray is None else OnRay(ray, workers)


def _check_answers(address: str) -> None:
    """Refuse an address where nothing listens: Ray itself tries it for minutes. Others are left to Ray."""
    found = os.environ.get("RAY_ADDRESS", AUTO) if address == AUTO else address
    try:
        parts = urlsplit(found if "://" in found else f"//{found}")
        host, port = parts.hostname, parts.port or (_CLIENT_PORT if parts.scheme == "ray" else None)
        if host and port and parts.scheme in ("", "ray"):
            socket.create_connection((host, port), _ANSWERS_WITHIN).close()
    except (OSError, ValueError) as error:
        raise BoulangerError(
            f"there is no Ray cluster at {found!r} ({error}): give host:port, ray://host:port, auto or local"
        ) from None


def _died(name: str) -> str:
    return (
        f"the processes that worked on {name} died {RETRIES + 1} times; what is done is kept, and the same command "
        "goes on from there"
    )
