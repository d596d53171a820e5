"""Work in other processes: all of it done once, and no process left when the caller stops or is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.interrupted_commands import SIGNALS, alive, start, stop
from support.paths import ROOT
from support.process_jobs import die_once, late_square, refuse, sleep, talk_and_ask, turned_round

from boulanger_env import BoulangerError
from boulanger_env.processes import WorkerDiedError, checked_workers, run_jobs
from boulanger_env.solver import solve_many

on_linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are counted in /proc")


@pytest.mark.parametrize("in_order", [True, False])
def test_each_job_is_done_once_and_read_when_needed(in_order: bool) -> None:
    read: list[int] = []

    def jobs() -> Iterator[tuple[int]]:
        for number in range(20):
            read.append(number)
            yield (number,)

    found = []
    for number, result in run_jobs(late_square, jobs(), 2, in_order=in_order):
        found.append((number, result))
        assert len(read) <= len(found) + 4
    assert sorted(found) == [(number, number * number) for number in range(20)]
    assert not in_order or found == sorted(found)
    assert threading.active_count() == 1


def test_more_workers_than_any_number_of_jobs() -> None:
    assert list(run_jobs(late_square, [(3,)], 10**30)) == [(0, 9)]


def test_what_does_not_fit_into_a_pipe() -> None:
    jobs = [(bytes([n]) * 3_000_000 + b"end",) for n in range(8)]
    assert dict(run_jobs(turned_round, jobs, 2)) == {n: jobs[n][0][::-1] for n in range(8)}


def test_what_a_job_prints_and_reads_is_not_in_the_way(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(run_jobs(talk_and_ask, [(1,), (2,)], 1)) == [(0, ""), (1, "")]
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("and bytes") == 2


def test_an_error_is_the_one_that_was_raised_and_says_where() -> None:
    with pytest.raises(BoulangerError, match=r"^3 is refused$") as caught:
        list(run_jobs(refuse, [(3,)], 1))
    assert "in refuse" in str(caught.value.__cause__)
    with pytest.raises(RuntimeError, match="OddError: 4 and 5"):
        list(run_jobs(refuse, [(4,)], 1))
    # In the order of the jobs: earlier results are there.
    numbers = run_jobs(refuse, [(n,) for n in range(9)], 2, in_order=True)
    assert [next(numbers) for _ in range(3)] == [(0, 0), (1, 1), (2, 2)]
    with pytest.raises(BoulangerError, match="3 is refused"):
        next(numbers)


def test_a_job_whose_process_dies_is_begun_again(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    jobs = [(n, mark) for n in range(6)]
    assert dict(run_jobs(die_once, jobs, 2, retries=1)) == {n: n for n in range(6)}
    os.unlink(mark)
    with pytest.raises(WorkerDiedError) as caught:
        list(run_jobs(die_once, jobs, 2))
    assert caught.value.number == 2


def test_a_caller_that_stops_early_does_not_wait() -> None:
    jobs = run_jobs(sleep, [(0,), (600,), (600,)], 2)
    assert next(jobs) == (0, None)
    started = time.monotonic()
    jobs.close()
    assert time.monotonic() < started + 5
    assert threading.active_count() == 1
    solutions = solve_many((f"MS-C4-{n}" for n in range(1, 32_000)), workers=2)
    next(solutions)
    started = time.monotonic()
    solutions.close()  # type: ignore[attr-defined]
    assert time.monotonic() < started + 5


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_how_many_workers(workers: Any) -> None:
    with pytest.raises(
        BoulangerError, match=r"workers is .*; it must be a whole number of at least 1, or None"
    ):
        checked_workers(workers)


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from boulanger_env.solver import solve_many\n"
        "print([str(s.status) for s in solve_many(['MS-C4-1', 'MS-C2-1'] * 40, workers=2)] == \n"
        "      ['solved', 'unsolvable'] * 40)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (run.stdout, run.stderr) == ("True\n", "")


@on_linux
@pytest.mark.parametrize(
    "end", ["", "sys.exit(3)", "held = [solutions]; held.append(held); del solutions", "1 / 0"]
)
def test_a_program_that_has_not_read_all_ends(end: str) -> None:
    script = (
        "import sys; from boulanger_env.solver import solve_many\n"
        "solutions = solve_many((f'MS-C4-{n}' for n in range(1, 32_000)), workers=2); next(solutions)\n"
    )
    process = start([sys.executable, "-c", script + end])
    try:
        process.communicate(timeout=60)
        assert process.returncode == {"sys.exit(3)": 3, "1 / 0": 1}.get(end, 0)
        assert not alive(process.pid)
    finally:
        for pid in alive(process.pid):
            os.kill(pid, signal.SIGKILL)


@on_linux
@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize("with_signal", SIGNALS)
def test_workers_die_with_their_parent(with_signal: signal.Signals, busy: bool, tmp_path: Path) -> None:
    # Two jobs that sleep, or workers that have nothing to do while the parent sleeps.
    seconds = 600 if busy else 0
    script = (
        "import sys, time; sys.path[:0] = ['.', 'tests']\n"
        "from support.process_jobs import sleep\n"
        "from boulanger_env.processes import run_jobs\n"
        f"for _ in run_jobs(sleep, [({seconds}, {str(tmp_path)!r})] * 2, 2): time.sleep(600)\n"
    )
    process = start([sys.executable, "-c", script])
    while len(list(tmp_path.iterdir())) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    assert len(alive(process.pid)) == 3
    took, error = stop(process, with_signal)
    assert took < 10
    assert "KeyboardInterrupt" in error if with_signal is signal.SIGINT else not error
    assert error.count("Traceback") == (with_signal is signal.SIGINT)


@on_linux
@pytest.mark.parametrize("times", [1, 2, 5])
def test_ctrl_c_ends_label_at_once(times: int) -> None:
    words = ["label", "--codes", "BK1-C4", "--count", "400000", "--shard", "100000", "--workers", "2"]
    process = start([sys.executable, "-m", "boulanger_env", *words])
    deadline = time.monotonic() + 60
    while len(alive(process.pid)) < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(1)
    took, error = stop(process, signal.SIGINT, times)
    assert took < 10
    if times == 1:
        assert error == "Error: stopped\n"
