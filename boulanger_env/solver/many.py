"""``solve_many``: games over several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from boulanger_env.game import BoulangerError, Game
from boulanger_env.game.checks import shown
from boulanger_env.processes import WorkerDiedError, checked_workers, run_jobs

from .solving import MEMORY_LIMIT, Solution, check_limits, solve

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
    """Solve many games, in several processes.

    The processes end with the iterator, with its ``close()``, and with this process, however that ends.
    Each takes about a second to start: for fewer than about a thousand games, ``workers=1`` is faster.

    Args:
        games: games or game codes; any iterable, read as needed.
        workers: processes; None for one per core, 1 to use only this process.
        progress: called after each game with the number of games solved so far.
        node_limit: per game, as are the other limits and ``quality``; see ``solve``.
        time_limit: seconds.
        quality: ``"any"``, ``"short"`` or ``"shortest"``.
        memory_limit: bytes.

    Returns:
        An iterator over the solutions, in the order of the games.

    Raises:
        BoulangerError: an argument is invalid, or (from the iterator) an item is not a game, or a process was killed.

    >>> [str(solution.status) for solution in solve_many(["MS-C4-1", "MS-C2-1"], workers=1)]
    ['solved', 'unsolvable']
    """
    workers = checked_workers(workers)
    if isinstance(games, (str, Game)) or not isinstance(games, Iterable):
        raise BoulangerError(f"games are a list of games or codes: [{shown(games)}], not {shown(games)}")
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
    try:
        for _, solutions in run_jobs(work, ((chunk,) for chunk in _chunks(source)), workers, in_order=True):
            yield from solutions
    except WorkerDiedError:
        raise BoulangerError(
            f"one of {workers} processes was ended from outside, perhaps because memory ran out: "
            "use fewer workers or a lower memory_limit"
        ) from None


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
