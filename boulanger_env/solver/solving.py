"""``solve``: whether a game can still be won, and how."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from boulanger_env.game import BoulangerError, Game, Move
from boulanger_env.game.checks import MOST, is_whole, shown
from boulanger_env.game.internal import rows_of
from boulanger_env.render.html import player

from . import search, shortest
from .playback import graph_moves, search_moves
from .position import N_BYTES, N_WORDS
from .start import Start, new_start, read_board

MEMORY_LIMIT = 1 << 30
_SLICE = 20_000  # nodes between two looks at the clock

_NO_LIMIT = 1 << 62

# A* passes by their weights of cost and bound and the most nodes; each looks only for fewer moves than are known.
_PASSES = {
    "any": (),
    "short": ((1, 3, 200_000), (4, 5, 50_000)),
    "shortest": ((1, 3, 200_000), (1, 1, _NO_LIMIT)),
}
_SHORTER = (*_PASSES["short"], (1, 1, _NO_LIMIT))
# A value must stay below the number of A*'s buckets.
_MOST_MOVES = 800


class Status(str, Enum):
    """What is known about a position."""

    SOLVED = "solved"
    """It can be won, by the solution's moves."""
    UNSOLVABLE = "unsolvable"
    """It cannot be won: the search has exhausted everything that single-card moves can reach."""
    LIMIT = "limit"
    """A limit was reached first; nothing is known."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Solution:
    """What :func:`solve` found.

    Attributes:
        status: ``Status.SOLVED``, ``UNSOLVABLE`` or ``LIMIT``.
        moves: the moves of a win, groups as one move; empty unless it is solved (or if already won).
        nodes: positions searched.
        is_shortest: whether it is proved that no solution has fewer moves.
        game: the position that was solved.
    """

    status: Status
    moves: tuple[Move, ...]
    nodes: int
    is_shortest: bool = False
    game: Game | None = field(default=None, repr=False, compare=False)

    def notation(self) -> list[str]:
        """The moves in standard notation, such as ``6a``, ``12v3`` and ``bh``."""
        if self.game is None:
            return [str(move) for move in self.moves]
        game, texts = self.game.copy(), []
        for move in self.moves:
            texts.append(game.notation(move))
            game.push(move)
        return texts

    def _repr_html_(self) -> str | None:
        """A player of the moves for a notebook; None, for plain text, if there are none."""
        if self.game is None or not self.moves:
            return None
        return player(self.game, [move.id for move in self.moves])


class Budget:
    """A solver's remaining budget.

    Args:
        nodes: maximum positions to search, None for no limit.
        seconds: maximum time from now on, None for no limit.
        memory: maximum bytes.

    Attributes:
        spent: positions searched so far.
    """

    def __init__(self, nodes: int | None, seconds: float | None, memory: int) -> None:
        self.nodes = nodes
        self.deadline = None if seconds is None else time.monotonic() + float(min(seconds, MOST))
        self.memory = memory
        self.spent = 0

    def slice(self, most: int) -> int:
        """How many nodes to search before checking again, up to ``most``; 0 if a limit is reached."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return 0
        left = most if self.nodes is None else min(most, self.nodes - self.spent)
        return min(left, _SLICE)

    def seconds_left(self) -> float | None:
        """The time limit for one part of the work: what is left, at least a little; None for no limit."""
        return None if self.deadline is None else max(1e-9, self.deadline - time.monotonic())


class _Room(threading.local):
    """Arrays that a thread's searches start with; a search that outgrows them allocates its own."""

    def __init__(self) -> None:
        self.start = new_start()
        self.bytes = np.zeros(N_BYTES, np.uint8)
        self.words = np.zeros(N_WORDS, np.uint64)
        self.search = search.new_search()
        self.graph = shortest.new_graph()


_room = _Room()


def solve(
    game: Game,
    node_limit: int | None = None,
    time_limit: float | None = None,
    *,
    quality: str = "any",
    memory_limit: int = MEMORY_LIMIT,
) -> Solution:
    """Find out whether a game can still be won, and how.

    Without limits the answer is complete: a win that replays, or a proof that there is none. A deal with 4 cells takes
    0.5 to 1 ms on average, one with 2 cells a fifth of that, one with 1 cell a tenth.

    Args:
        game: any position; it is not changed.
        node_limit: maximum positions to search.
        time_limit: seconds.
        quality: ``"any"``: the first win found. ``"short"``: about 1 % longer than the shortest, in some 20 ms, and
            improved for as long as a ``time_limit`` lasts. ``"shortest"``: proved that none has fewer moves, a group
            counting as one; 0.07 s on average for a deal with 4 cells, and 1.2 s at most over the first 200 Microsoft
            deals.
        memory_limit: maximum bytes for the positions met.

    Returns:
        The solution. If a limit is reached after a win was found, the best one so far, with ``is_shortest`` False if
        the proof is missing.

    Raises:
        BoulangerError: an argument is invalid.

    >>> from boulanger_env import Game
    >>> solution = solve(Game.from_code("MS-C4-1"), quality="shortest")
    >>> solution.status.value, len(solution.moves), solution.is_shortest
    ('solved', 83, True)
    >>> solve(Game.from_code("MS-C2-1")).status.value
    'unsolvable'
    """
    check_limits(node_limit, time_limit, quality, memory_limit)
    game = check_game(game, "solve")
    budget = Budget(node_limit, time_limit, memory_limit)
    start = _room.start
    found, status = _exhaust(game, budget)
    if status == search.LOST:
        return Solution(Status.UNSOLVABLE, (), budget.spent, game=game)
    if status != search.WON:
        return Solution(Status.LIMIT, (), budget.spent, game=game)
    moves = search_moves(game, start, found)
    is_shortest = quality == "shortest" and not moves
    passes = _SHORTER if quality == "short" and time_limit is not None else _PASSES[quality]
    for weight_g, weight_h, most in passes if moves else ():
        graph, state = _improve(start, game, weight_g, weight_h, min(len(moves), _MOST_MOVES), most, budget)
        if state == shortest.FOUND:
            moves = graph_moves(game, start, graph)
        is_shortest = (
            weight_g == weight_h
            and state in (shortest.FOUND, shortest.NONE_LEFT)
            and len(moves) <= _MOST_MOVES  # a longer one is proved only against solutions below _MOST_MOVES
        )
    return Solution(Status.SOLVED, moves, budget.spent, is_shortest, game)


def _exhaust(game: Game, budget: Budget) -> tuple[search.Search, int]:
    """Search a position completely; return ``WON``, ``LOST`` or, at a limit, ``MORE``."""
    start, b, w = _room.start, _room.bytes, _room.words
    status = int(search.begin_at(rows_of(game).board, start, _room.search, b, w))
    return run(
        search,
        _room.search,
        status,
        lambda room, nodes: search.search_on(start, room, nodes),
        _NO_LIMIT,
        budget,
    )


def _improve(
    start: Start, game: Game, weight_g: int, weight_h: int, below: int, most: int, budget: Budget
) -> tuple[shortest.Graph, int]:
    """Search for a solution of fewer than ``below`` moves; return ``FOUND``, ``NONE_LEFT`` or, at a limit, ``MORE``."""
    read_board(rows_of(game).board, start, _room.bytes, _room.words)
    shortest.begin(start, _room.graph, _room.bytes, _room.words, weight_g, weight_h)
    return run(
        shortest,
        _room.graph,
        shortest.MORE,
        lambda graph, nodes: shortest.expand(start, graph, weight_g, weight_h, below, nodes),
        most,
        budget,
    )


def run(
    kind: Any, room: Any, status: int, go_on: Callable[[Any, int], int], most: int, budget: Budget
) -> tuple[Any, int]:
    """Resume a search that stopped with ``status``, with larger arrays if needed, to its end or to a limit.

    Args:
        kind: the search's module.
        room: its arrays.
        status: why it stopped.
        go_on: expands some more nodes.
        most: maximum nodes for this search.
        budget: the budget of all searches together.
    """
    while status == kind.MORE or status in kind.FULL:
        if status in kind.FULL:
            # While growing, the old arrays and the new ones, twice as long, exist together.
            if 3 * kind.memory(room) > budget.memory:
                return room, int(kind.MORE)
            try:
                room = kind.grown(room, status)
            except MemoryError:
                return room, int(kind.MORE)
        nodes = budget.slice(most)
        if nodes <= 0:
            return room, int(kind.MORE)
        before = int(room.counts[kind.LOOKED])
        status = int(go_on(room, nodes))
        spent = int(room.counts[kind.LOOKED]) - before
        budget.spent += spent
        most -= spent
    return room, status


def check_limits(node_limit: object, time_limit: object, quality: object, memory_limit: object) -> None:
    """Raise a BoulangerError for invalid arguments."""
    for name, limit in (("node_limit", node_limit), ("memory_limit", memory_limit)):
        if limit is not None and not is_whole(limit, 1):
            raise BoulangerError(f"{name} is {shown(limit)}; it must be a whole number of at least 1")
    if time_limit is not None and (
        isinstance(time_limit, bool)
        or not isinstance(time_limit, (int, float, np.integer, np.floating))
        or not time_limit > 0
    ):
        raise BoulangerError(f"time_limit is {shown(time_limit)}; it must be a number of seconds above 0")
    if not isinstance(quality, str) or quality not in _PASSES:
        raise BoulangerError(f"quality {shown(quality)} is unknown; it must be one of {', '.join(_PASSES)}")


def check_game(game: object, function: str) -> Game:
    """A private copy of a game; a BoulangerError if it is not one."""
    if not isinstance(game, Game):
        raise BoulangerError(
            f"{function} takes a Game, such as Game.from_code('MS-C4-617'), not {shown(game)}"
        )
    return game.copy()
