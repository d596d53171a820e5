"""What drawing costs: frames per second, text boards per second, a film of 90 moves, and memory over many frames.

    python benchmarks/rendering.py [--frames 10000] [--repeats 5] [--json FILE]

Times are CPU time of one core, the minimum of several repeats, so other load on the machine matters little.
Nothing is asserted; the goals are printed next to the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from figures import Row, report  # noqa: E402

CODE = "MS-C4-25"


def solution() -> list[int]:
    """The action ids of the 90 moves with which a solver wins the game."""
    from boulanger_env import Move

    lines = (ROOT / "tests" / "data" / "peer_solutions.jsonl").read_text(encoding="utf-8").splitlines()
    game = next(game for game in map(json.loads, lines) if game["code"] == CODE)
    return [Move(*move).id for move in game["moves"]]


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """The minimum CPU time of a piece of work."""
    best = float("inf")
    for _ in range(repeats):
        before = time.process_time()
        work()
        best = min(best, time.process_time() - before)
    return best


def played(env: Any, actions: Sequence[int]) -> int:
    """Play a game, draw it before the first move and after each one, and return the number of drawings."""
    env.reset(options={"code": CODE})
    env.render()
    for action in actions:
        env.step(action)
        env.render()
    return len(actions) + 1


def rate(keywords: dict[str, Any], actions: Sequence[int], repeats: int, wanted: int) -> float:
    """Frames per second while playing, including the game itself, over about ``wanted`` frames."""
    from boulanger_env import BoulangerEnv

    env = BoulangerEnv(**keywords)
    count = played(env, actions)
    times = max(1, wanted // count)

    def work() -> None:
        for _ in range(times):
            played(env, actions)

    return times * count / seconds(work, repeats)


def film_rows(actions: Sequence[int], repeats: int) -> list[Row]:
    """Seconds for a film of the whole game."""
    from boulanger_env import Game
    from boulanger_env.render import write_gif

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "game.gif")
        spent = seconds(lambda: write_gif(path, Game.from_code(CODE), actions), min(repeats, 3))
        size = path.stat().st_size
    return [
        (f"GIF of {len(actions)} moves, 960 x 640", spent, "s", "< 5"),
        ("its size", size / 1e6, "MB", ""),
    ]


def resident() -> float:
    """Memory of this process in megabytes (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory_rows(actions: Sequence[int], frames: int) -> list[Row]:
    """Memory after the first game and after many frames of random deals with columns of all sizes."""
    import numpy as np

    from boulanger_env import BoulangerEnv, sample_legal

    env = BoulangerEnv(render_mode="rgb_array")
    rng = np.array([1], np.uint64)
    held: list[float] = []
    _, info = env.reset(seed=0)
    for number in range(frames):
        env.render()
        # By then, everything that is cached (letters, outlines of marks) has been drawn once.
        if number in (frames // 5, frames - 1):
            held.append(resident())
        *_, terminated, truncated, info = env.step(sample_legal(info["action_mask"], rng))
        if terminated or truncated:
            _, info = env.reset()
    return [
        (f"memory after {frames // 5} frames", held[0], "MB", ""),
        (f"memory after {frames} frames", held[1], "MB", "the same"),
    ]


def main() -> None:
    """Measure, print a table, and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=10_000, help="frames of the memory measurement")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()

    from boulanger_env import Game
    from boulanger_env.render import TablePainter, render_rgb

    actions, repeats = solution(), arguments.repeats
    rows: list[Row] = []
    for size, goal in (((960, 640), ">= 200"), ((480, 320), ""), ((1920, 1280), "")):
        keywords = {"render_mode": "rgb_array", "render_size": size}
        name = f"rgb_array while playing, {size[0]} x {size[1]}"
        rows.append((name, rate(keywords, actions, repeats, 500), "frames/s", goal))
    game = Game.from_code(CODE)
    rows.append(("a picture from scratch", seconds(lambda: render_rgb(game), repeats) * 1e3, "ms", ""))
    rows.append(
        ("ansi while playing", rate({"render_mode": "ansi"}, actions, repeats, 2000), "boards/s", ">= 5000")
    )

    def draw_cards_again() -> None:
        from boulanger_env.render.cards import card_sprites

        card_sprites.cache_clear()
        TablePainter()

    rows.append(("the 52 cards' sprites, once per size", seconds(draw_cards_again, repeats) * 1e3, "ms", ""))
    rows += film_rows(actions, repeats) + memory_rows(actions, arguments.frames)
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
