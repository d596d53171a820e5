"""The solver compared with fc-solve's complete search, on the same deals in the same run.

    python benchmarks/solver.py [--deals 2000] [--shortest 200] [--random 0] [--json FILE]

Verdicts: Microsoft deals from 1 on, with 4, 2 and 1 cells. Each deal is dealt and solved by one call of
``solve``; "in bulk" means all of them by one call of ``verdicts``; fc-solve's range solver deals and solves,
too. Lengths: the solvable ones among the first deals, by quality. Times are CPU time of one core. ``--random
N`` also solves N random deals with 4 cells, for the share that can be won.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from boulanger_env import Game, solver  # noqa: E402
from boulanger_env.deals import DealSet, format_code  # noqa: E402
from boulanger_env.solver import SOLVED, solve  # noqa: E402

PEER = "freecell-solver-range-parallel-solve"
PEER_LENGTHS = (
    "fc-solve -l ve -opt: 87.0 moves in 114-158 ms"  # measured over the same 150 deals, not in this run
)


def peer_seconds(n_cells: int, deals: int) -> float | None:
    """CPU seconds that fc-solve takes for complete verdicts; None if it is not installed."""
    program = shutil.which(PEER)
    if program is None:
        return None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    flags = ["-g", "bakers_game", "--freecells-num", str(n_cells), "-to", "01ABCDE"]
    subprocess.run([program, "1", str(deals), "500", *flags], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def verdicts(n_cells: int, deals: int) -> dict[str, object]:
    """The cost of complete verdicts, for solvable and unsolvable deals, and compared with fc-solve."""
    peer = peer_seconds(n_cells, deals)
    codes = DealSet("these", [f"MS-C{n_cells}-{number}" for number in range(1, deals + 1)])
    solver.verdicts(*codes[:1].decks())
    before = time.thread_time()
    solver.verdicts(*codes.decks())
    bulk = 1000 * (time.thread_time() - before) / deals
    rows = []
    for number in range(1, deals + 1):
        before = time.thread_time()
        solution = solve(Game.from_code(f"MS-C{n_cells}-{number}"))
        rows.append((solution.status == SOLVED, solution.nodes, 1000 * (time.thread_time() - before)))
    found: dict[str, object] = {
        "cells": n_cells,
        "deals": deals,
        "peer_ms": None if peer is None else 1000 * peer / deals,
        "bulk_ms": bulk,
        "ms": fmean(ms for *_, ms in rows),
        "worst_ms": max(ms for *_, ms in rows),
    }
    for name, wanted in (("solvable", True), ("unsolvable", False)):
        part = [row for row in rows if row[0] is wanted]
        found[name] = len(part)
        found[f"{name}_nodes"] = fmean(nodes for _, nodes, _ in part)
        found[f"{name}_ms"] = fmean(ms for *_, ms in part)
    for name in ("", "bulk_"):
        ms = found[f"{name}ms"]
        found[f"{name}ratio"] = None if peer is None else 1000 * peer / deals / ms  # type: ignore[operator]
    return found


def lengths(deals: int) -> dict[str, dict[str, float]]:
    """Mean lengths and times of the solvable deals with 4 cells, by quality."""
    games = [Game.from_code(f"MS-C4-{number}") for number in range(1, deals + 1)]
    games = [game for game in games if solve(game).status == SOLVED]
    found = {}
    for quality in ("any", "short", "shortest"):
        solve(games[0], quality=quality)
        moves, spent = [], []
        for game in games:
            before = time.thread_time()
            solution = solve(game, quality=quality)
            spent.append(1000 * (time.thread_time() - before))
            assert solution.is_shortest or quality != "shortest"
            moves.append(len(solution.moves))
        found[quality] = {
            "deals": len(games),
            "moves": fmean(moves),
            "ms": fmean(spent),
            "worst_ms": max(spent),
        }
    return found


def share(deals: int) -> dict[str, float]:
    """The share of random deals with 4 cells that can be won, with Wilson's 95 % interval."""
    from boulanger_env.benchmark.statistics import share as wilson

    wins = sum(
        solve(Game.from_code(format_code("BK1", 4, number))).status == SOLVED for number in range(deals)
    )
    estimate = wilson(wins, deals)
    return {"deals": deals, **{name: float(value) for name, value in estimate._asdict().items()}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--deals", type=int, default=2000, help="Microsoft deals to decide")
    parser.add_argument(
        "--shortest", type=int, default=200, help="Microsoft deals to find shortest solutions of"
    )
    parser.add_argument("--random", type=int, default=0, help="random deals for the solvable share")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    began = time.thread_time()
    solve(Game.from_code("MS-C4-1"))
    print(f"first call, compilation and all: {time.thread_time() - began:.1f} s of a core (goal 30)\n")
    figures: dict[str, object] = {"verdicts": [], "lengths": {}}
    print(
        "cells  deals    ms  worst  in bulk  fc-solve ms  ratio  in bulk  goal"
        " | solvable nodes   ms | unsolvable nodes   ms"
    )
    for n_cells, goal in ((4, 15), (2, 10), (1, 5)):
        row = verdicts(n_cells, given.deals)
        figures["verdicts"].append(row)  # type: ignore[attr-defined]
        peer = "  not there      -        -"
        if row["peer_ms"] is not None:
            peer = f"{row['peer_ms']:11.3f}  {row['ratio']:5.1f}  {row['bulk_ratio']:7.1f}"
        print(
            f"{n_cells:5}  {row['deals']:5}  {row['ms']:.3f}  {row['worst_ms']:5.2f}  {row['bulk_ms']:7.3f}  "
            f"{peer}  {goal:4} | "
            f"{row['solvable']:8} {row['solvable_nodes']:5.0f} {row['solvable_ms']:.3f} | "
            f"{row['unsolvable']:10} {row['unsolvable_nodes']:5.0f} {row['unsolvable_ms']:.3f}",
            flush=True,
        )
    print(f"\nlengths of the solvable deals among Microsoft 1-{given.shortest} ({PEER_LENGTHS})")
    figures["lengths"] = found = lengths(given.shortest)
    for quality, part in found.items():
        print(
            f"{quality:8}  {part['deals']} deals  {part['moves']:.2f} moves  {part['ms']:.1f} ms"
            f"  worst {part['worst_ms']:.0f} ms",
            flush=True,
        )
    if given.random:
        figures["share"] = part = share(given.random)
        print(f"\nsolvable of {given.random} random deals of 4 cells: {part}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
