"""Rebuild every file in boulanger_env/deals/data, with the solver: python scripts/make_deal_sets.py

The work is split into chunks of consecutive codes. Each chunk's labels become a file in the work folder,
written whole, so a run that was killed resumes where it stopped. A chunk depends on its codes alone, not on the
number of processes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import count
from pathlib import Path

import numpy as np

from boulanger_env import Game
from boulanger_env.deals import code_range, format_code, parse_code
from boulanger_env.deals.labels import SOLVABLE, UNSOLVABLE, digest
from boulanger_env.files import write_text
from boulanger_env.solver import Status, solve

DATA = Path(__file__).parents[1] / "boulanger_env" / "deals" / "data"
CHUNK = {4: 50, 2: 1000, 1: 10_000}

# Sets of consecutive deals, all of them labelled: name -> first code, deals.
RANGES = {
    **{f"c{n}-test-all": (f"BK1-C{n}-TSTAAAA", 1000) for n in CHUNK},
    **{f"c{n}-validation-all": (f"BK1-C{n}-VALAAAA", 1000) for n in CHUNK},
    **{f"microsoft-c{n}": (f"MS-C{n}-1", 32_000) for n in CHUNK},
}
# Sets of the first solvable deals from a code on: name -> code, deals.
SOLVABLE_SETS = {
    **{f"c{n}-test": (f"BK1-C{n}-TSTAAAA", 1000) for n in CHUNK},
    **{f"c{n}-validation": (f"BK1-C{n}-VALAAAA", 1000) for n in CHUNK},
}
# Deals known to be solvable, for training: first code -> how many deals to search.
TRAINING = {4: 20_000, 2: 250_000, 1: 2_500_000}
# How many deals from VALAAAA on the easiest and the hardest are chosen from, and how many of each.
DIFFICULTY_FROM, DIFFICULTY_SIZE = 4000, 200


def label(code: str, lengths: bool) -> str:
    """A deal's label as a line of text; see ``deals/labels.py``."""
    game = Game.from_code(code)
    verdict = solve(game)
    assert verdict.status != Status.LIMIT, code
    moves = UNSOLVABLE if verdict.status == Status.UNSOLVABLE else SOLVABLE
    if verdict.status == Status.SOLVED and lengths:
        shortest = solve(game, quality="shortest")
        assert shortest.is_shortest, code
        moves = str(len(shortest.moves))
    return f"{moves} {verdict.nodes}"


def label_chunk(path: Path, first: str, size: int, lengths: bool) -> None:
    """Write the labels of ``size`` deals from ``first`` on, unless they exist."""
    if not path.exists():
        write_text(path, "\n".join(label(code, lengths) for code in code_range(first, size)) + "\n")


class Labeller:
    """Labels of consecutive deals, made on demand, each chunk once."""

    def __init__(self, pool: ProcessPoolExecutor, workers: int, work: Path) -> None:
        self.pool, self.workers, self.work = pool, workers, work

    def labels(self, first: str, most: int | None = None, lengths: bool = True) -> Iterator[tuple[str, str]]:
        """Codes and labels from a code on, at most ``most``, or without end."""
        scheme, n_cells, number = parse_code(first)
        size = CHUNK[n_cells]
        folder = self.work / (first if lengths else f"{first}-verdicts")
        folder.mkdir(parents=True, exist_ok=True)
        numbers = count(number, size) if most is None else range(number, number + most, size)
        waiting: list[tuple[str, int, Path, Future[None]]] = []
        try:
            for at in numbers:
                chunk = size if most is None else min(size, number + most - at)
                code = format_code(scheme, n_cells, at)
                path = folder / f"{at}-{chunk}.txt"
                waiting.append((code, chunk, path, self.pool.submit(label_chunk, path, code, chunk, lengths)))
                if len(waiting) == 2 * self.workers:
                    yield from self._take(*waiting.pop(0))
            while waiting:
                yield from self._take(*waiting.pop(0))
        finally:  # the caller may stop early
            for *_, future in waiting:
                future.cancel()

    @staticmethod
    def _take(code: str, size: int, path: Path, done: Future[None]) -> Iterator[tuple[str, str]]:
        done.result()
        return zip(code_range(code, size), path.read_text().splitlines(), strict=True)


def write_set(name: str, about: str, rows: list[str], *, first: str | None = None) -> None:
    """Write a set's file with what it is, how it was made and its fingerprint."""
    head = [
        f"# name: {name}",
        f"# {about}",
        "# Made by scripts/make_deal_sets.py with boulanger_env.solver: every verdict is a replayed win or a proof.",
    ]
    if first is not None:
        head.append(f"# first: {first}")
    columns = "" if first is not None else "code, "
    head.append(
        f"# A line a deal is {columns}moves of a proven shortest solution (- = unsolvable, + = not known), nodes."
    )
    write_text(DATA / f"{name}.txt", "\n".join([*head, f"# digest: {digest(rows)}", *rows, ""]))
    print(f"{name}: {len(rows)} deals", flush=True)


def make_ranges(labeller: Labeller, names: list[str]) -> None:
    for name in names:
        first, size = RANGES[name]
        rows = [line for _, line in labeller.labels(first, size)]
        write_set(name, f"The first {size} deals from {first} on, solvable or not.", rows, first=first)


def make_solvable_sets(labeller: Labeller, names: list[str]) -> None:
    for name in names:
        first, size = SOLVABLE_SETS[name]
        rows: list[str] = []
        for code, line in labeller.labels(first):
            if not line.startswith(UNSOLVABLE):
                rows.append(f"{code} {line}")
            if len(rows) == size:
                break
        write_set(name, f"The first {size} solvable deals from {first} on.", rows)


def make_training_sets(labeller: Labeller, cells: list[int]) -> None:
    """The gaps between the numbers of solvable deals: many thousands in a small file."""
    for n in cells:
        first = format_code("BK1", n, 0)
        solvable = [
            number
            for number, (_, line) in enumerate(labeller.labels(first, TRAINING[n], lengths=False))
            if not line.startswith(UNSOLVABLE)
        ]
        gaps = np.diff(solvable, prepend=0).tolist()
        rows = [" ".join(map(str, gaps[i : i + 40])) for i in range(0, len(gaps), 40)]
        head = [
            f"# name: solvable-c{n}",
            f"# The solvable deals among the first {TRAINING[n]}: their numbers, each less the one before.",
            "# Made by scripts/make_deal_sets.py with boulanger_env.solver: every one has a win that was replayed.",
            f"# gaps from: {first}",
            f"# digest: {digest(rows)}",
        ]
        write_text(DATA / f"solvable-c{n}.txt", "\n".join([*head, *rows, ""]))
        print(f"solvable-c{n}: {len(solvable)} deals", flush=True)


def make_difficulty_sets(labeller: Labeller) -> None:
    """The easiest and the hardest deals, by the length of their shortest solution and then by the verdict's nodes."""
    ranked = []
    for code, line in labeller.labels("BK1-C4-VALAAAA", DIFFICULTY_FROM):
        if not line.startswith(UNSOLVABLE):
            length, nodes = map(int, line.split())
            ranked.append((length, nodes, code, line))
    ranked.sort()
    for name, part, word in (
        ("c4-easy", ranked[:DIFFICULTY_SIZE], "easiest"),
        ("c4-hard", ranked[-DIFFICULTY_SIZE:], "hardest"),
    ):
        rows = [
            f"{code} {line}" for *_, code, line in sorted(part, key=lambda row: parse_code(row[2]).number)
        ]
        write_set(
            name,
            f"The {DIFFICULTY_SIZE} {word} solvable deals of the first {DIFFICULTY_FROM} from BK1-C4-VALAAAA on.",
            rows,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("build/deal_sets"), help="folder of the chunks")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--only", nargs="*", help="names of sets, all by default")
    given = parser.parse_args()
    every = [*SOLVABLE_SETS, *RANGES, *(f"solvable-c{n}" for n in TRAINING), "c4-easy", "c4-hard"]
    wanted = every if given.only is None else given.only
    if unknown := set(wanted) - set(every):
        parser.error(f"there is no set {', '.join(sorted(unknown))}; the sets are {', '.join(every)}")
    DATA.mkdir(exist_ok=True)
    with ProcessPoolExecutor(given.workers) as pool:
        labeller = Labeller(pool, given.workers, given.work)
        make_solvable_sets(labeller, [name for name in SOLVABLE_SETS if name in wanted])
        if {"c4-easy", "c4-hard"} & set(wanted):
            make_difficulty_sets(labeller)
        make_training_sets(labeller, [n for n in TRAINING if f"solvable-c{n}" in wanted])
        make_ranges(labeller, [name for name in RANGES if name in wanted])


if __name__ == "__main__":
    main()
