"""``Workers``: every game is stepped once, nothing waits for a late thread, and no thread outlives its owner."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boulanger_env.envs._batch.sharing import S_CLAIMED, S_DONE, atomic_add, claim, games_a_part
from boulanger_env.envs._batch.workers import Workers
from boulanger_env.game.jit import INTERPRETED, kernel

pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted kernels run in one thread")


@kernel
def play(shared: Any, thread: int, size: int, played: Any, owners: Any) -> None:
    """Like ``step_batch``: count each game that this thread steps."""
    n = played.shape[0]
    n_parts = (n + size - 1) // size
    while True:
        part = claim(shared, thread, n_parts)
        if part < 0:
            return
        start, stop = part * size, min((part + 1) * size, n)
        for i in range(start, stop):
            played[i] += 1
            owners[i] = thread
        atomic_add(shared, S_DONE, stop - start)


@pytest.mark.parametrize("num_threads", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 8, 9, 63, 1000, 20_000])
def test_every_game_is_stepped_once(n: int, num_threads: int) -> None:
    workers = Workers(num_threads)
    size = games_a_part(n, num_threads)
    played, owners = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    for turn in range(1, 31):
        counters = workers.run(lambda shared, thread: play(shared, thread, size, played, owners), n)
        assert counters[S_DONE] == n
        assert counters[S_CLAIMED] > (n - 1) // size
        assert (played == turn).all()
        assert set(owners.tolist()) <= set(range(num_threads))
    workers.stop()


def test_threads_claim_from_both_ends() -> None:
    shared = np.zeros(48, np.int64)
    taken = [claim(shared, thread, 7) for thread in (0, 1, 0, 2, 3, 1, 1, 0, 1)]
    assert taken == [0, 6, 1, 2, 5, 4, 3, -1, -1]


def test_other_threads_help() -> None:
    workers = Workers(3)
    together = threading.Barrier(3, timeout=60)  # none passes it alone
    threads = set()

    def step(shared: np.ndarray, thread: int) -> None:
        together.wait()
        threads.add(threading.get_ident())
        atomic_add_from_python(shared)

    workers.run(step, 3)
    assert len(threads) == 3
    assert threading.get_ident() in threads
    workers.stop()


@kernel
def atomic_add_from_python(shared: Any) -> None:
    atomic_add(shared, S_DONE, 1)


def test_nothing_waits_for_a_late_thread() -> None:
    workers = Workers(2)
    started, released = threading.Event(), threading.Event()
    late = []

    def step(shared: np.ndarray, thread: int) -> None:
        if thread == 1:
            started.set()
            released.wait(60)
            late.append(shared)
        else:
            started.wait(60)
            shared[S_DONE] = 5

    first = workers.run(step, 5)
    second = workers.run(step, 5)  # is offered, and replaced by the next
    third = workers.run(step, 5)
    released.set()
    workers.stop()
    assert second is not third
    assert late[0] is first
    assert all(shared is not second for shared in late)


def test_an_error_of_the_caller_comes_out_and_that_of_another_thread_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workers = Workers(2)
    reported = []
    monkeypatch.setattr(threading, "excepthook", lambda args: reported.append(args.exc_type))

    def step(shared: np.ndarray, thread: int) -> None:
        if thread == 1:
            raise MemoryError
        while not reported:
            time.sleep(0.001)
        shared[S_DONE] = 4

    assert workers.run(step, 4)[S_DONE] == 4
    assert reported == [MemoryError]
    assert workers.run(step, 4)[S_DONE] == 4

    def refuse(shared: np.ndarray, thread: int) -> None:
        raise ValueError(f"thread {thread}")

    with pytest.raises(ValueError, match="thread 0"):
        workers.run(refuse, 4)
    workers.stop()


@pytest.mark.parametrize("begun", [True, False])
def test_after_an_interruption_no_thread_works_on(begun: bool) -> None:
    workers = Workers(2)
    started = threading.Event()
    written: list[int] = []

    def step(shared: np.ndarray, thread: int) -> None:
        if thread == 0:
            if begun:
                started.wait(60)
            raise KeyboardInterrupt
        started.set()
        time.sleep(0.1)
        written.append(thread)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        workers.run(step, 4)
    count = len(written)
    assert count == 1 or not begun
    assert threading.active_count() == before
    time.sleep(0.2)
    assert len(written) == count
    workers.run(set_done, 4)  # new ones
    workers.stop()


@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize("number", [1, 3])
def test_a_signal_while_threads_start_leaves_none(
    number: int, started: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Workers(5)
    start, calls = threading.Thread.start, iter(range(1, 100))

    def interrupted(thread: threading.Thread) -> None:
        last = next(calls) == number
        if started or not last:
            start(thread)
        if last:
            raise KeyboardInterrupt

    before = threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workers.run(set_done, 4)
    monkeypatch.undo()
    assert threading.active_count() == before
    workers.run(set_done, 4)  # all of them, new ones
    assert threading.active_count() == before + 4
    workers.stop()
    assert threading.active_count() == before


SIGNALS = """
import gc, os, signal, time
from boulanger_env.envs._batch.sharing import S_DONE
from boulanger_env.envs._batch.workers import Workers

def set_done(shared, thread):
    shared[S_DONE] = 4

def interrupt(*_):
    raise KeyboardInterrupt

def threads():
    return len(os.listdir("/proc/self/task"))

Workers(2).run(set_done, 4)
gc.collect()
time.sleep(0.2)
before = threads()
signal.signal(signal.SIGALRM, interrupt)
for turn in range(200):
    workers = Workers(9)
    try:
        # Again and again: one that comes within a __del__ is passed over by Python.
        signal.setitimer(signal.ITIMER_REAL, 1e-5 * (1 + turn % 150), 0.1)
        while True:
            workers.run(set_done, 4)
            workers.stop()
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
    workers.stop()
del workers
gc.collect()
end = time.monotonic() + 30
while threads() > before and time.monotonic() < end:
    time.sleep(0.01)
print("left:", threads() - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="counts the system's threads as Linux shows them"
)
def test_real_signals_leave_no_thread() -> None:
    # In a process of its own: Python's own list of threads does not survive a signal in Thread.start.
    ended = subprocess.run([sys.executable, "-c", SIGNALS], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "left: 0\n"


def set_done(shared: np.ndarray, thread: int) -> None:
    shared[S_DONE] = 4


def test_threads_end_with_stop_and_with_their_owner() -> None:
    def step(shared: np.ndarray, thread: int) -> None:
        shared[S_DONE] = 3

    before = threading.active_count()
    workers = Workers(3)
    workers.run(step, 3)
    assert threading.active_count() == before + 2
    workers.stop()
    assert threading.active_count() == before
    workers.run(step, 3)  # new ones
    threads = [thread for thread in threading.enumerate() if thread.daemon][-2:]
    del workers
    gc.collect()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
