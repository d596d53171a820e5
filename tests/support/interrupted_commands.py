"""Commands that are stopped at random moments, and what they must not leave behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from support.paths import ROOT

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT) if os.name == "posix" else ()


def alive(session: int) -> list[int]:
    """Processes of a session, which a process that leads one gives to all that it starts (Linux)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(of) == session and state != "Z":
            found.append(int(path.parent.name))
    return found


def start(command: Sequence[str]) -> subprocess.Popen[str]:
    """Start a command in a session of its own, as a terminal does."""
    return subprocess.Popen(
        command,
        cwd=ROOT,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stop(process: subprocess.Popen[str], with_signal: signal.Signals, times: int = 1) -> tuple[float, str]:
    """Send a signal; Ctrl-C goes to all processes of the terminal. Nothing may be left alive.

    Returns:
        How many seconds it took until nothing was left, and what the command said on its error output.
    """
    started = time.monotonic()
    for _ in range(times):
        if process.poll() is None:
            if with_signal is signal.SIGINT:
                os.killpg(process.pid, with_signal)
            else:
                process.send_signal(with_signal)
            time.sleep(0.05 * (times - 1))
    try:
        # Its output ends when all that hold it have ended.
        error = process.communicate(timeout=30)[1]
        while alive(process.pid):
            assert time.monotonic() < started + 30, f"orphans: {alive(process.pid)}"
            time.sleep(0.02)
        return time.monotonic() - started, error
    finally:
        for pid in alive(process.pid):
            os.kill(pid, signal.SIGKILL)


def stopped_until_done(
    command: Sequence[str], kills: int, seed: int, check: Callable[[], None], new: Callable[[], None]
) -> list[float]:
    """Start a command again and again, and stop it at random moments, with each signal in turn.

    Args:
        command: goes on where it was stopped.
        kills: how many times it is to be stopped in all.
        seed: of the moments.
        check: called after each stop and at each end.
        new: called before the first start, and after each end.

    Returns:
        How long each stop took.
    """
    chance, took = random.Random(seed), []
    new()
    began = time.monotonic()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    longest = time.monotonic() - began
    new()
    while len(took) < kills:
        began, process = time.monotonic(), start(command)
        try:
            # Not in its first moments: there is nothing yet to be lost.
            process.wait(chance.uniform(0.3, 1.1) * longest)
        except subprocess.TimeoutExpired:
            took.append(stop(process, SIGNALS[len(took) % len(SIGNALS)])[0])
            check()
        else:
            longest = min(longest, time.monotonic() - began)  # the first one may have had to compile
            output, error = process.communicate()
            assert process.returncode == 0, output + error
            check()
            new()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    check()
    return took
