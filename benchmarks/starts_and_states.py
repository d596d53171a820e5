"""What start positions and states cost: drawing a start beside dealing, and taking and setting states of 1024 games.

    python benchmarks/starts_and_states.py [--repeats 9] [--deals 3000] [--json FILE]

What is compared is measured in turn, many times over, so that a slow moment of the machine meets both; a ratio is the
median of the rounds' ratios. Nothing is asserted; the goals are printed beside the figures.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from figures import Row, report  # noqa: E402

from boulanger_env import BoulangerVectorEnv, sample_legal  # noqa: E402
from boulanger_env.deals import Starts, load  # noqa: E402
from boulanger_env.envs._batch.loops import start_games  # noqa: E402

GAMES = 1024


def seconds(work: Callable[[], Any], calls: int) -> float:
    """Seconds of a call, over so many."""
    before = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - before) / calls


class Player:
    """Random play in a batch."""

    def __init__(self, **keywords: Any) -> None:
        self.envs = BoulangerVectorEnv(GAMES, observation="cards", **keywords)
        self.rng = np.arange(GAMES, dtype=np.uint64)
        self.mask = self.envs.reset(seed=0)[1]["action_mask"]

    def step(self) -> None:
        """One step of every game."""
        self.mask = self.envs.step(sample_legal(self.mask, self.rng))[-1]["action_mask"]


def begin(player: Player) -> Callable[[], None]:
    """Starting an episode in every game, without its mask and observation."""
    envs = player.envs
    arguments = np.ones(GAMES, np.bool_), envs._games, envs._rules, envs._decks, envs._crew.scratch[0]
    return lambda: start_games(*arguments)


def drawing_rows(repeats: int, deals: int) -> list[Row]:
    """The start of an episode, drawn and dealt, and random play with both."""
    starts = Starts.from_solutions(load("solvable-c4")[:deals], quality="any")
    # Episodes of the same length, whatever becomes of the games.
    drawn, dealt = Player(deals=starts, max_episode_steps=14), Player(max_episode_steps=14)
    both = begin(drawn), begin(dealt)
    begun = [[seconds(work, 20) / GAMES * 1e9 for work in both] for _ in range(repeats)]
    played = [[seconds(player.step, 50) for player in (drawn, dealt)] for _ in range(repeats)]
    return [
        ("positions to start from", len(starts), "", ""),
        ("an episode's start, drawn", median(times[0] for times in begun), "ns", ""),
        ("an episode's start, dealt", median(times[1] for times in begun), "ns", ""),
        ("an episode's start, drawn to dealt", median(a / b for a, b in begun), "", "<= 1"),
        ("random play of 14 steps, starts to random deals", median(a / b for a, b in played), "", ""),
    ]


def state_rows(repeats: int) -> list[Row]:
    """States of all games in the middle of random play."""
    rows: list[Row] = []
    kinds: dict[str, dict[str, Any]] = {
        "": {},
        ", undo": {"allow_undo": True},
        ", auto_foundation and no_repeats": {"auto_foundation": True, "no_repeats": True},
    }
    for name, keywords in kinds.items():
        player = Player(**keywords)
        for _ in range(20):
            player.step()
        envs = player.envs
        state = envs.get_state()
        get = median(seconds(envs.get_state, 20) for _ in range(repeats))
        put = median(
            seconds(lambda envs=envs, state=state: envs.set_state(state), 20) for _ in range(repeats)
        )
        rows += [
            (f"get_state of 1024 games{name}", get * 1e3, "ms", "< 1"),
            (f"set_state of 1024 games{name}", put * 1e3, "ms", "< 1"),
        ]
    return rows


def main() -> None:
    """Measure, print a table, and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument(
        "--deals", type=int, default=3000, help="deals whose solutions the starts are taken from"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()
    report(drawing_rows(arguments.repeats, arguments.deals) + state_rows(arguments.repeats), arguments.json)


if __name__ == "__main__":
    main()
