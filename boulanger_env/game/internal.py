"""A game's rows, for use within this package only; they may change without notice.

Code outside this folder accesses a ``Game``'s internals only through this module. The rows are not copied: a kernel
that modifies them modifies the game.
"""

from __future__ import annotations

from .game import Game
from .state import State


def rows_of(game: Game) -> State:
    """The rows of a game."""
    return State(game._board, game._counters, game._history)


def game_of(rows: State, code: str | None = None) -> Game:
    """A game on these rows, which must be valid: they are not checked."""
    return Game._wrap(*rows, code)
