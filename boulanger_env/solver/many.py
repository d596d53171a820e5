"""``solve_many``: games over several processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from boulanger_env.game import BoulangerError, Game

from .solve import MEMORY_LIMIT, Solution, check_limits, solve

_CHUNK = 32


def solve_many(
    games: Iterable[Game | str],
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
    *,
    node_limit: int | None = None,
    time_limit: float | None = None,
    quality: str = "any",
    memory_limit: int = MEMORY_LIMIT,
) -> Iterator[Solution]:
    """Solve games one after the other, in several processes.

    Args:
        games: games, or game codes; as many as memory need not hold: they are read as they are needed.
        workers: processes; None for one a core, 1 for none beside this one.
        progress: called with the number of games solved so far, after each.
        node_limit: for each game, as the other limits and ``quality``; see ``solve``.
        time_limit: seconds.
        quality: ``"any"``, ``"short"`` or ``"shortest"``.
        memory_limit: bytes.

    Returns:
        An iterator over the solutions, in the order of the games.

    Raises:
        BoulangerError: an argument is not possible, or (from the iterator) one of the games is not one, or a process
            was ended from outside.

    >>> [str(solution.status) for solution in solve_many(["MS-C4-1", "MS-C2-1"], workers=1)]
    ['solved', 'unsolvable']
    """
    if workers is None:
        workers = os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or workers < 1:
        raise BoulangerError(f"workers is {workers!r}; it must be a whole number from 1 on, or None")
    if isinstance(games, (str, Game)) or not isinstance(games, Iterable):
        raise BoulangerError(f"games are a list of games or codes: [{games!r}], not {games!r}")
    check_limits(node_limit, time_limit, quality, memory_limit)
    work = partial(
        _solve_chunk,
        node_limit=node_limit,
        time_limit=time_limit,
        quality=quality,
        memory_limit=memory_limit,
    )
    return _count(_results(games, workers, work), progress)


def _results(games: Iterable[Game | str], workers: int, work: Any) -> Iterator[Solution]:
    source = iter(games)
    if workers == 1:
        for game in source:
            yield from work([game])
        return
    with ProcessPoolExecutor(workers) as pool:
        # Only so many chunks are under way that every process has one more waiting.
        under_way = [pool.submit(work, chunk) for chunk in islice(_chunks(source), 2 * workers)]
        while under_way:
            try:
                solutions = under_way.pop(0).result()
            except BrokenProcessPool:
                raise BoulangerError(
                    f"one of {workers} processes was ended from outside, perhaps because memory ran out: "
                    "use fewer workers or a lower memory_limit"
                ) from None
            yield from solutions
            under_way.extend(pool.submit(work, chunk) for chunk in islice(_chunks(source), 1))


def _chunks(source: Iterator[Game | str]) -> Iterator[list[Game | str]]:
    while chunk := list(islice(source, _CHUNK)):
        yield chunk


def _solve_chunk(games: list[Game | str], **limits: Any) -> list[Solution]:
    return [solve(Game.from_code(game) if isinstance(game, str) else game, **limits) for game in games]


def _count(solutions: Iterator[Solution], progress: Callable[[int], object] | None) -> Iterator[Solution]:
    for number, solution in enumerate(solutions, 1):
        if progress is not None:
            progress(number)
        yield solution
