"""``verdicts``: whether deals or positions can be won, many per compiled call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game import BoulangerError, InvalidBoardError
from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.checks import plain, shown, whole_bytes
from boulanger_env.game.jit import kernel
from boulanger_env.game.rows import checked_rows, deal_rows
from boulanger_env.game.state import BOARD_SIZE, CELL_COUNTS, HEIGHTS, Array, Board

from . import search
from .position import N_BYTES, N_WORDS
from .start import Start, new_start

_NO_LIMIT = 1 << 62


class _Desk(NamedTuple):
    """What a search works on, and what it writes for each position."""

    start: Start
    b: Array
    """uint8 ``(N_BYTES,)``, with ``w``: the position in hand, see ``position.py``."""
    w: Array
    """uint64 ``(N_WORDS,)``"""
    solvable: Array
    """bool ``(m,)``"""
    nodes: Array
    """int64 ``(m,)``"""


def verdicts(
    deals: NDArray[np.integer[Any]], n_cells: NDArray[np.integer[Any]] | int | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Search deals or positions completely, without keeping their solutions: for labelling many.

    Unlike in ``solve``, memory is not bounded: the longest search among the Microsoft deals 1-32000 takes less
    than 1 MB.

    Args:
        deals: integers ``(m, 52)``, the cards of each deal as ``DealSet.decks()`` has them, first dealt first; or
            ``(m, 184)``, the positions of ``boulanger_env.positions``.
        n_cells: 4, 2 or 1, for all deals or ``(m,)``. Positions have theirs in them.

    Returns:
        Whether each can be won, bool ``(m,)``, and the positions searched, int64 ``(m,)``, both as from ``solve``.

    Raises:
        InvalidBoardError: a deck does not hold the 52 cards once each, or a row is not a position.
        BoulangerError: a number of cells is invalid, or missing, or given for positions.

    >>> from boulanger_env.deals import load
    >>> solvable, nodes = verdicts(*load("microsoft-c2")[:29].decks())
    >>> np.flatnonzero(solvable) + 1
    array([29])
    """
    rows = _positions(deals, n_cells)
    room = search.new_search()
    desk = _Desk(
        new_start(),
        np.zeros(N_BYTES, np.uint8),
        np.zeros(N_WORDS, np.uint64),
        np.zeros(len(rows), np.bool_),
        np.zeros(len(rows), np.int64),
    )
    i, status = 0, search.MORE
    while True:
        i, status = _search_rows(rows, i, status, room, desk)
        if i == len(rows):
            return desk.solvable, desk.nodes
        room = search.grown(room, status)


def _positions(deals: Any, n_cells: Any) -> Board:
    """The deals or positions that a caller gives, as checked board rows of our own."""
    decks = plain(whole_bytes("deals", deals, InvalidBoardError))
    if decks.shape[1:] in ((BOARD_SIZE,), (HEIGHTS,)):
        if n_cells is not None:
            raise BoulangerError(f"n_cells is {shown(n_cells)}: positions have their number of cells in them")
        return checked_rows(decks)
    if decks.shape[1:] != (N_CARDS,) or (np.sort(decks, axis=1) != np.arange(1, N_CARDS + 1)).any():
        raise InvalidBoardError(
            f"deals of shape {decks.shape} are neither rows of the card ids 1 to 52, each once, nor positions, "
            f"(m, {BOARD_SIZE})"
        )
    cells = whole_bytes("n_cells", () if n_cells is None else n_cells)
    if cells.shape not in ((), (len(decks),)) or not np.isin(cells, CELL_COUNTS).all():
        raise BoulangerError(
            f"n_cells is {shown(n_cells)}; each must be 4, 2 or 1, one for all deals or one for each"
        )
    rows = np.zeros((len(decks), BOARD_SIZE), np.uint8)
    deal_rows(decks, np.full(len(decks), cells, np.uint8), rows)
    return rows


@kernel
def _search_rows(rows: Array, i: int, status: int, room: Any, desk: _Desk) -> tuple[int, int]:
    """Search positions from the ``i``-th on, resuming that one if ``status`` says that it had run out of room."""
    while i < len(rows):
        if status == search.STACK_FULL or status == search.TABLE_FULL:
            status = search.MORE
        else:
            status = search.begin_at(rows[i], desk.start, room, desk.b, desk.w)
        if status == search.MORE:
            status = search.search_on(desk.start, room, _NO_LIMIT)
        if status == search.STACK_FULL or status == search.TABLE_FULL:
            return i, status
        desk.solvable[i] = status == search.WON
        desk.nodes[i] = room.counts[search.LOOKED]
        i += 1
    return i, status
