"""Children of positions a second, as a search evaluates them, and beside them what a loop over games gives.

    python benchmarks/children.py [--games 1024] [--rounds 7] [--seconds 0.2] [--json FILE]

Both start from the same positions of random games and prepare the same for a network: each child, its observation and
its mask. ``boulanger_env.positions`` does it in two calls; the loop copies the game, pushes the move and resets an
environment to the result. They are measured in turn, many times over, in CPU time of one core; a rate is the median of
its rounds, a ratio the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from figures import Row, report

from boulanger_env import BoulangerEnv, BoulangerVectorEnv, positions, sample_legal

LOOPED = 32
"""Games whose children a round of the loop visits."""


def played(games: int, seed: int = 0) -> np.ndarray:
    """Positions of random games in play, 1 to 12 moves after the deal."""
    rows = []
    for moves in range(1, 13):
        envs = BoulangerVectorEnv(games, observation="cards")
        observation, infos = envs.reset(seed=seed + games * moves)
        rng = np.arange(games, dtype=np.uint64)
        for _ in range(moves):
            observation, _, _, _, infos = envs.step(sample_legal(infos["action_mask"], rng))
        rows.append(positions.from_observation(observation)[: -(-games // 10)])
    found = np.concatenate(rows)
    return found[positions.outcomes(found) == positions.PLAYING][:games]


def contestants(rows: np.ndarray) -> dict[str, Callable[[], int]]:
    """What is measured: each prepares children, and says how many."""
    games = positions.to_games(rows[:: -(-len(rows) // LOOPED)])
    children = positions.expand(rows).children
    envs = {kind: BoulangerEnv(observation=kind) for kind in ("features", "cards")}

    def arrays(kind: str, actions: str = "places", auto_foundation: bool = False) -> int:
        found = positions.expand(rows, actions=actions, auto_foundation=auto_foundation)
        positions.inputs(found.children, kind, actions=actions)
        return len(found.children)

    def loop(kind: str) -> int:
        env, count = envs[kind], 0
        for game in games:
            for move in game.legal_moves():
                child = game.copy()
                child.push(move)
                count += 1
                if child.outcome is None:
                    env.reset(options={"game": child})
        return count

    return {
        "features and masks": lambda: arrays("features"),
        "the same by a loop over games": lambda: loop("features"),
        "cards and masks": lambda: arrays("cards"),
        "cards and masks by a loop": lambda: loop("cards"),
        "features, masks of cards": lambda: arrays("features", "cards"),
        "features, masks, home moves": lambda: arrays("features", auto_foundation=True),
        "children alone": lambda: len(positions.expand(rows).children),
        "keys": lambda: len(positions.keys(children)),
    }


def measured(prepare: Callable[[], int], seconds: float) -> float:
    """Children a second of CPU time, over so many seconds."""
    count, start = 0, time.process_time_ns()
    while (spent := time.process_time_ns() - start) < seconds * 1e9 or not count:
        count += prepare()
    return 1e9 * count / spent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=1024, help="positions that are expanded")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count")
    parser.add_argument("--seconds", type=float, default=0.2, help="length of a round")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    rows = played(options.games)
    made = contestants(rows)
    rates: dict[str, list[float]] = {name: [] for name in made}
    for round_number in range(options.rounds + 1):
        for name, prepare in made.items():
            rate = measured(prepare, options.seconds)
            if round_number:  # in the first one kernels compile
                rates[name].append(rate)
    goals = {"features and masks": ">= 1"}
    figures: list[Row] = [
        (name, median(found) / 1e6, "M children/s", goals.get(name, "")) for name, found in rates.items()
    ]
    for ours, theirs in (
        ("features and masks", "the same by a loop over games"),
        ("cards and masks", "cards and masks by a loop"),
    ):
        ratio = median(mine / other for mine, other in zip(rates[ours], rates[theirs], strict=True))
        figures.append((f"{ours}: ratio to the loop", ratio, "", ">= 30"))
    report(figures, options.json)


if __name__ == "__main__":
    main()
