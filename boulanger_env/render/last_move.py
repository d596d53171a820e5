"""The origin and destination of the last move, for drawing."""

from __future__ import annotations

from typing import NamedTuple

from boulanger_env.game import Game
from boulanger_env.game.cards import suit_of
from boulanger_env.game.moves import FIRST_CELL, TO_CELL, TO_FOUNDATION


class LastMove(NamedTuple):
    """The last move, with the place that it left and the place that it went to; the other places are None."""

    notation: str
    size: int
    """How many cards moved."""
    from_column: int | None = None
    from_cell: int | None = None
    to_column: int | None = None
    to_cell: int | None = None
    to_home: int | None = None


def last_move_of(game: Game) -> LastMove | None:
    """The move that an undo would take back, or None; the game is not changed.

    >>> game = Game.from_code("MS-C4-1")
    >>> game.push(game.parse_move("6a"))
    >>> last_move_of(game)
    LastMove(notation='6a', size=1, from_column=5, from_cell=None, to_column=None, to_cell=0, to_home=None)
    """
    if game.last_move is None:
        return None
    # The move alone does not say which cell it filled or which card it sent home; the board before it does.
    before = game.copy()
    move = before.undo()
    source, destination, size = move
    from_column = source if source < FIRST_CELL else None
    from_cell = source - FIRST_CELL if source >= FIRST_CELL else None
    places = LastMove(before.notation(move), size, from_column, from_cell)
    if destination == TO_FOUNDATION:
        card = before.cells[from_cell] if from_cell is not None else before.columns[source][-1]
        return places._replace(to_home=suit_of(card))
    if destination == TO_CELL:
        return places._replace(to_cell=before.cells.index(0))
    return places._replace(to_column=destination)
