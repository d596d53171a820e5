"""Threads that wait for work; waking one costs a fraction of what it costs with ``concurrent.futures``."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from threading import Thread
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.jit import INTERPRETED

from .sharing import N_SHARED, wait_for

Counters = NDArray[np.int64]
Step = Callable[[Counters, int], None]


class Worker:
    """A thread and its next task."""

    def __init__(self) -> None:
        self.task: Callable[[], Any] | None = None
        self.bell: SimpleQueue[None] = SimpleQueue()
        self.thread = Thread(target=_serve, args=(self,), daemon=True)

    def offer(self, task: Callable[[], Any]) -> None:
        """Let the thread run a task when it is free, unless another is offered first."""
        asleep = self.task is None
        self.task = task
        if asleep:
            self.bell.put(None)

    def dismiss(self) -> None:
        """Let the thread end when it is free."""
        self.task = None
        self.bell.put(None)


def _serve(worker: Worker) -> None:
    while True:
        worker.bell.get()
        task, worker.task = worker.task, None
        if task is None:
            return
        task()
        del task  # its references must not outlive the call


@contextmanager
def _signals_later() -> Iterator[None]:
    """Block signals that Python handles: an exception in ``Thread.start`` breaks Python's record of threads."""
    if not hasattr(signal, "pthread_sigmask"):  # not Unix
        yield
        return
    acted_on = [number for number in signal.valid_signals() if callable(signal.getsignal(number))]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, acted_on)  # raises for one that came just before
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Workers:
    """Threads that share the games of a step, see ``sharing.py``.

    Args:
        num_threads: how many, including the calling one. Interpreted kernels run only in the calling thread.
    """

    def __init__(self, num_threads: int) -> None:
        self._others = 0 if INTERPRETED else num_threads - 1
        self._process = -1
        self._workers: list[Worker] = []

    def run(self, step: Step, n: int) -> Counters:
        """Run ``step(counters, thread)`` in every free thread, until all ``n`` games are done.

        A step that raises in a thread other than the caller's ends that thread; the others take over its work.

        Returns:
            The counters.
        """
        counters: Counters = np.zeros(N_SHARED, np.int64)
        if not self._others:
            step(counters, 0)
            return counters
        if self._process != os.getpid():
            # Threads do not survive a fork, so each process starts its own.
            self._process, self._workers = os.getpid(), []
        try:
            if len(self._workers) < self._others:
                self._start()
            for thread, worker in enumerate(self._workers, 1):
                worker.offer(partial(step, counters, thread))
            step(counters, 0)
            while not wait_for(counters, n):
                sleep(0)
        except BaseException:
            # It may be Ctrl-C: whoever catches it must find the games at rest, with no thread still playing.
            self.stop()
            raise
        return counters

    def _start(self) -> None:
        with _signals_later():
            while len(self._workers) < self._others:
                # Registered before it starts, so that it can always be ended.
                self._workers.append(Worker())
                self._workers[-1].thread.start()

    def stop(self) -> None:
        """End the threads; a later ``run`` starts new ones."""
        for worker in self._dismiss():
            if worker.thread.is_alive():  # it may never have started
                worker.thread.join()

    def _dismiss(self) -> list[Worker]:
        """Signal the threads to end, and forget each one signalled."""
        dismissed = []
        while self._workers and self._process == os.getpid():
            self._workers[-1].dismiss()
            dismissed.append(self._workers.pop())
        return dismissed

    def __del__(self) -> None:
        self._dismiss()
