"""``Workers``: every part is run once, errors come out, and no thread outlives its owner."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from boulanger_env.envs.workers import Workers


def test_every_part_runs_once_in_a_thread_of_its_own() -> None:
    workers = Workers()
    together = threading.Barrier(4, timeout=60)  # none passes it alone

    def work(part: int) -> tuple[int, int]:
        together.wait()
        return part, threading.get_ident()

    for _ in range(20):
        results = workers.run(work, 4)
        assert results[0] == (0, threading.get_ident())
        assert sorted(part for part, _ in results) == [0, 1, 2, 3]
        assert len({thread for _, thread in results}) == 4
    workers.stop()


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_an_error_comes_out_once_all_are_done(bad: int) -> None:
    workers = Workers()
    finished = []

    def work(part: int) -> int:
        if part == bad:
            raise ValueError(f"part {part}")
        time.sleep(0.02)
        finished.append(part)
        return part

    with pytest.raises(ValueError, match=f"part {bad}"):
        workers.run(work, 3)
    assert sorted(finished) == sorted({0, 1, 2} - {bad})
    assert sorted(workers.run(lambda part: part, 3)) == [0, 1, 2]  # they work on
    workers.stop()


def test_threads_end_with_stop_and_with_their_owner() -> None:
    before = threading.active_count()
    workers = Workers()
    workers.run(lambda part: part, 3)
    assert threading.active_count() == before + 2
    workers.stop()
    assert threading.active_count() == before
    workers.run(lambda part: part, 3)  # new ones
    threads = [thread for thread in threading.enumerate() if thread.daemon][-2:]
    del workers
    gc.collect()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
