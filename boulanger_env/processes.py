"""Work in other processes, which end with the one that asked for it, however that ends.

A worker gets its jobs through a pipe whose other end only this process holds. When that end closes, even by a kill,
the worker's reader thread ends the worker, whatever it is doing. Workers are started rather than forked, since a
process with threads, which compiled code may start, cannot be forked safely. They do not import the caller's script,
which therefore needs no ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from boulanger_env.game.checks import is_whole, shown
from boulanger_env.game.errors import BoulangerError

_AHEAD = 2  # jobs per worker: one in progress and one queued
_LOOK_UP = 0.5  # seconds per wait: on Windows, Ctrl-C is noticed only between waits

_Answer = tuple[int, "bytes | None"]
"""A job's number and its pickled outcome, None if the worker died."""


class WorkerDiedError(BoulangerError):
    """A worker was killed.

    Attributes:
        number: the number of its job.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"a process that worked on job {number} was ended from outside")
        self.number = number


def checked_workers(workers: object) -> int:
    """How many processes to use: ``workers``, or one per core for None.

    Raises:
        BoulangerError: it is not a whole number of at least 1.
    """
    if workers is None:
        return os.cpu_count() or 1
    if not is_whole(workers, 1):
        raise BoulangerError(f"workers is {shown(workers)}; it must be a whole number of at least 1, or None")
    return int(workers)


def run_jobs(
    work: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    workers: int,
    *,
    in_order: bool = False,
    retries: int = 0,
) -> Iterator[tuple[int, Any]]:
    """Call ``work(*job)`` for each job, in several processes.

    Stopping early, by an error, Ctrl-C or ``close()``, ends the processes at once.

    Args:
        work: a function that can be imported by its name.
        jobs: read as needed.
        workers: processes.
        in_order: yield in the order of the jobs, instead of the order of completion.
        retries: how often a job is restarted if its process is killed.

    Yields:
        The job's number, from 0, and its result.

    Raises:
        WorkerDiedError: a job's process was killed more than ``retries`` times.
        Exception: any error that ``work`` raises.
    """
    source = enumerate(jobs)
    under_way: dict[int, bytes] = {}
    answers: dict[int, bytes] = {}
    deaths: Counter[int] = Counter()
    wanted = 0
    with _Crew(workers) as crew:

        def hand_out(most: int) -> None:
            for number, job in islice(source, min(most, sys.maxsize)):
                under_way[number] = pickle.dumps((work, job))
                crew.hand_out(number, under_way[number])

        hand_out(_AHEAD * workers)
        while under_way:
            number, answer = crew.answer()
            if answer is None:
                deaths[number] += 1
                if deaths[number] > retries:
                    raise WorkerDiedError(number)
                crew.hand_out(number, under_way[number])
                continue
            del under_way[number]
            answers[number] = answer
            if not in_order:
                wanted = number
            while wanted in answers:
                yield wanted, _result(answers.pop(wanted))
                hand_out(1)
                wanted += 1


def _result(answer: bytes) -> Any:
    result, error, trace = pickle.loads(answer)
    if error is not None:
        raise error from RuntimeError(f"in another process:\n{trace}")
    return result


class _Crew:
    """The workers of one run, each with a thread of this process that serves it.

    Args:
        size: maximum workers; they start as work arrives.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._tasks: SimpleQueue[tuple[int, bytes] | None] = SimpleQueue()
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._members: list[tuple[subprocess.Popen[bytes], Thread]] = []

    def hand_out(self, number: int, job: bytes) -> None:
        """Give a job to the next free worker."""
        self._tasks.put((number, job))
        alive = [member for member in self._members if member[1].is_alive()]
        if len(alive) < self._size:
            process = _start()
            # A daemon: it must not keep the interpreter from exiting.
            thread = Thread(target=_talk, args=(process, self._tasks, self._answers), daemon=True)
            self._members.append((process, thread))
            thread.start()

    def answer(self) -> _Answer:
        """Wait for the next job to be done."""
        while True:
            with suppress(Empty):
                return self._answers.get(timeout=_LOOK_UP)

    def __enter__(self) -> _Crew:
        return self

    def __exit__(self, *_: object) -> None:
        """End all workers at once."""
        for process, _thread in self._members:
            process.kill()
            self._tasks.put(None)
        if sys.is_finalizing():
            return  # the program ends without having read everything: waiting threads would never resume
        for process, thread in self._members:
            process.wait()
            thread.join()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                with suppress(OSError):  # unsent data cannot be flushed
                    stream.close()


def _talk(
    process: subprocess.Popen[bytes],
    tasks: SimpleQueue[tuple[int, bytes] | None],
    answers: SimpleQueue[_Answer],
) -> None:
    """Pass jobs to a worker one by one, until the worker dies or there is no more work."""
    assert process.stdin is not None
    assert process.stdout is not None
    while (task := tasks.get()) is not None:
        number, job = task
        try:
            _send(process.stdin, job)
            answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            process.wait()
            answers.put((number, None))
            return
        answers.put((number, answer))


def _send(pipe: BinaryIO | Any, content: bytes) -> None:
    """Send bytes as a pickle, which marks its own end."""
    pickle.dump(content, pipe)
    pipe.flush()


def _start() -> subprocess.Popen[bytes]:
    paths = [path for path in sys.path if isinstance(path, str)]
    script = f"import sys; sys.path = {paths!a}; from {__name__} import serve; serve()"
    with _without_ctrl_c():
        return subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Keep Ctrl-C from the workers: it reaches all processes of a terminal, and the parent decides what to do."""
    if not hasattr(signal, "pthread_sigmask"):
        yield  # Windows needs another way, see the caller
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve() -> None:
    """Run as a worker: read jobs from standard input and answer on standard output, until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs, answers = (open(os.dup(number), mode) for number, mode in ((0, "rb"), (1, "wb")))  # noqa: SIM115
    # A job's own input and output must not get into the pipes.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error
        os.dup2(nothing, 1)
    tasks: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(jobs, tasks), daemon=True).start()
    while True:
        answer = _outcome(tasks.get())
        try:
            _send(answers, answer)
        except OSError:
            os._exit(1)  # the parent is gone


def _receive(jobs: BinaryIO, tasks: SimpleQueue[bytes]) -> None:
    try:
        while True:
            tasks.put(pickle.load(jobs))
    finally:
        os._exit(0)


def _outcome(task: bytes) -> bytes:
    """A job's pickled result, or its error with the traceback."""
    try:
        work, job = pickle.loads(task)
        return pickle.dumps((work(*job), None, ""))
    except Exception as error:
        trace = traceback.format_exc()
        try:
            answer = pickle.dumps((None, error, trace))
            pickle.loads(answer)
        except Exception:  # an error that cannot be pickled
            answer = pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}"), trace))
        return answer
