"""A game's own rows, for the rest of this package; users have no use for them, and they may change without notice.

Nothing outside this folder reaches into a ``Game`` in another way. The rows are not copied: what a kernel does to them
is done to the game.
"""

from __future__ import annotations

from .game import Game
from .state import State


def rows_of(game: Game) -> State:
    """The rows of a game."""
    return State(game._board, game._counters, game._history)


def game_of(rows: State, code: str | None = None) -> Game:
    """A game on these rows, which are known to be a game's: they are not checked."""
    return Game._wrap(*rows, code)
