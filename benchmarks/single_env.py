"""What one environment costs: a step, an import, the first compilation, a later start, the size of its state.

    python benchmarks/single_env.py [--steps 20000] [--repeats 7] [--skip-processes] [--json FILE]

Times are CPU time of one core, the minimum of several repeats, so other load on the machine matters little.
Nothing is asserted; the goals are printed next to the figures.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from figures import Row, report  # noqa: E402

FIRST_STEP = """
import time
import boulanger_env
before = time.process_time()
env = boulanger_env.BoulangerEnv()
_, info = env.reset(seed=0)
env.step(728)
print(time.process_time() - before)
"""


def episodes(env: Any, steps: int) -> list[tuple[int, list[int]]]:
    """Seeds, each with the actions of random legal play from it; ``steps`` actions in all."""
    import numpy as np

    from boulanger_env.envs import sample_legal

    played: list[tuple[int, list[int]]] = []
    rng = np.array([1], np.uint64)
    while steps > 0:
        seed, actions, over = len(played), [], False
        _, info = env.reset(seed=seed)
        while not over:
            actions.append(int(sample_legal(info["action_mask"], rng)))
            _, _, terminated, truncated, info = env.step(actions[-1])
            over = terminated or truncated
        played.append((seed, actions))
        steps -= len(actions)
    return played


def step_time(env: Any, played: list[tuple[int, list[int]]]) -> float:
    """Microseconds per step, without resets."""
    spent = steps = 0
    for seed, actions in played:
        env.reset(seed=seed)
        step = env.step
        before = time.process_time_ns()
        for action in actions:
            step(action)
        spent += time.process_time_ns() - before
        steps += len(actions)
    return spent / steps / 1000


def loop_time(env: Any, steps: int) -> float:
    """Microseconds per step of the whole loop: sampling, stepping, and resetting after an episode."""
    import numpy as np

    from boulanger_env.envs import sample_legal

    rng = np.array([2], np.uint64)
    _, info = env.reset(seed=0)
    before = time.process_time_ns()
    for _ in range(steps):
        _, _, terminated, truncated, info = env.step(sample_legal(info["action_mask"], rng))
        if terminated or truncated:
            _, info = env.reset()
    return (time.process_time_ns() - before) / steps / 1000


def step_rows(steps: int, repeats: int) -> list[Row]:
    """Steps in steady state, bare and wrapped."""
    import gymnasium as gym

    import boulanger_env
    from boulanger_env.wrappers import MaskInObservation

    bare = boulanger_env.BoulangerEnv
    cases: dict[str, tuple[Callable[[], Any], str]] = {
        "step, features and mask": (bare, "< 25"),
        "step, cards and mask": (lambda: bare(observation="cards"), ""),
        "step, features, pruned mask, undo": (lambda: bare(prune=True, allow_undo=True), ""),
        "step through gym.make": (lambda: gym.make("Boulanger-C4-v0"), ""),
        'step, actions="cards"': (lambda: bare(actions="cards"), ""),
        'step, actions="taps"': (lambda: bare(actions="taps"), ""),
        "step, auto_foundation": (lambda: bare(auto_foundation=True), ""),
        "step, no_repeats": (lambda: bare(no_repeats=True), ""),
        "step, MaskInObservation": (lambda: MaskInObservation(bare()), ""),
    }
    rows: list[Row] = []
    for name, (make, goal) in cases.items():
        env = make()
        played = episodes(env, steps)
        rows.append((name, min(step_time(env, played) for _ in range(repeats)), "us", goal))
    env = bare()
    rows.append(("sample, step, reset", min(loop_time(env, steps) for _ in range(repeats)), "us", ""))
    return rows


def state_rows() -> list[Row]:
    """Bytes of one game."""
    from boulanger_env.game.state import new_state

    board, counters, history = new_state()
    return [
        ("state without undo history", board.nbytes + counters.nbytes, "bytes", "<= 300"),
        ("undo history", history.nbytes, "bytes", ""),
    ]


def python(code: str, cache: str) -> tuple[float, str]:
    """CPU seconds of a new interpreter that runs ``code``, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run.stdout


def process_rows(repeats: int) -> list[Row]:
    """Imports and starts, each in its own process."""
    with tempfile.TemporaryDirectory() as cache:
        compiled = float(python(FIRST_STEP, cache)[1])
        starts = [python(FIRST_STEP, cache) for _ in range(repeats)]
        base, ours = [], []
        for _ in range(repeats):  # alternating, so that both see the same load
            base.append(python("import gymnasium, numba", cache)[0])
            ours.append(python("import boulanger_env", cache)[0])
    return [
        ("import gymnasium, numba", min(base), "s", ""),
        ("import boulanger_env", min(ours), "s", ""),
        ("the second over the first", min(ours) / min(base), "x", "< 1.3"),
        ("first step ever, from an empty cache", compiled, "s", "< 15"),
        ("first step of a later process", min(float(printed) for _, printed in starts), "s", "< 1"),
        ("that process in all, imports included", min(total for total, _ in starts), "s", ""),
    ]


def main() -> None:
    """Measure, print a table, and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000, help="steps in each measurement")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--skip-processes", action="store_true", help="leave out imports and compilation")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()

    rows = [] if arguments.skip_processes else process_rows(arguments.repeats)
    rows += step_rows(arguments.steps, arguments.repeats) + state_rows()
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
