"""Threads that wait for work; waking one costs a fraction of what ``concurrent.futures`` takes for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any


def _serve(tasks: SimpleQueue[Any]) -> None:
    while (task := tasks.get()) is not None:
        work, part, done = task
        try:
            done.put((work(part), None))
        except BaseException as error:
            done.put((None, error))
        del task, work, done  # what they hold must not outlive the call


class Workers:
    """Runs the parts of a piece of work at once, the first of them in the calling thread."""

    def __init__(self) -> None:
        self._process = -1
        self._threads: list[Thread] = []
        self._tasks: SimpleQueue[Any] = SimpleQueue()

    def run(self, work: Callable[[int], Any], count: int) -> list[Any]:
        """What ``work(0)`` to ``work(count - 1)`` give, in no order after the first; raises what one of them raises."""
        if self._process != os.getpid():
            # Threads do not survive a fork: each process has its own.
            self._process, self._threads, self._tasks = os.getpid(), [], SimpleQueue()
        while len(self._threads) < count - 1:
            self._threads.append(Thread(target=_serve, args=(self._tasks,), daemon=True))
            self._threads[-1].start()
        done: SimpleQueue[Any] = SimpleQueue()
        for part in range(1, count):
            self._tasks.put((work, part, done))
        try:
            results = [work(0)]
        finally:
            # All have to be done, whatever happens: they write into the caller's arrays.
            others = [done.get() for _ in range(count - 1)]
        for result, error in others:
            if error is not None:
                raise error
            results.append(result)
        return results

    def stop(self) -> None:
        """End the threads; a later ``run`` starts new ones."""
        threads = self._dismiss()
        for thread in threads:
            thread.join()

    def _dismiss(self) -> list[Thread]:
        threads = self._threads if self._process == os.getpid() else []
        for _ in threads:
            self._tasks.put(None)
        self._process = -1
        return threads

    def __del__(self) -> None:
        self._dismiss()
