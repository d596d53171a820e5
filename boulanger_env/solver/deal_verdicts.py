"""``verdicts``: whether deals can be won, many per compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game import BoulangerError, InvalidBoardError
from boulanger_env.game.checks import plain, shown, whole_bytes
from boulanger_env.game.jit import kernel
from boulanger_env.game.kernels import deal
from boulanger_env.game.state import BOARD_SIZE, CELL_COUNTS, Array, Board

from . import search
from .position import N_BYTES, N_WORDS
from .start import new_start

_NO_LIMIT = 1 << 62


def verdicts(
    decks: NDArray[np.integer[Any]], n_cells: NDArray[np.integer[Any]] | int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Search deals completely, without keeping their solutions: for labelling many deals.

    Unlike in ``solve``, memory is not bounded: the longest search among the Microsoft deals 1-32000 takes less
    than 1 MB.

    Args:
        decks: integers ``(m, 52)``, the cards of each deal as ``DealSet.decks()`` has them, first dealt first.
        n_cells: 4, 2 or 1, for all of them or ``(m,)``.

    Returns:
        Whether each can be won, bool ``(m,)``, and the positions searched, int64 ``(m,)``, both as from ``solve``.

    Raises:
        InvalidBoardError: a deck does not hold the 52 cards once each.
        BoulangerError: a number of cells is invalid.

    >>> from boulanger_env.deals import load
    >>> solvable, nodes = verdicts(*load("microsoft-c2")[:29].decks())
    >>> np.flatnonzero(solvable) + 1
    array([29])
    """
    rows = plain(whole_bytes("decks", decks, InvalidBoardError))
    if rows.shape[1:] != (52,) or (np.sort(rows, axis=1) != np.arange(1, 53)).any():
        raise InvalidBoardError(
            f"decks of shape {rows.shape} are not rows of the card ids 1 to 52, each once"
        )
    given = whole_bytes("n_cells", n_cells)
    if given.shape not in ((), (len(rows),)) or not np.isin(given, CELL_COUNTS).all():
        raise BoulangerError(
            f"n_cells is {shown(n_cells)}; each must be 4, 2 or 1, one for all decks or one for each"
        )
    cells = np.full(len(rows), given, np.uint8)
    solvable, nodes = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.int64)
    start, room = new_start(), search.new_search()
    board = np.zeros(BOARD_SIZE, np.uint8)
    b, w = np.zeros(N_BYTES, np.uint8), np.zeros(N_WORDS, np.uint64)
    i, status = 0, search.MORE
    while True:
        i, status = _search_decks(rows, cells, i, status, board, start, room, b, w, solvable, nodes)
        if i == len(rows):
            return solvable, nodes
        room = search.grown(room, status)


@kernel
def _search_decks(
    decks: Array,
    n_cells: Array,
    i: int,
    status: int,
    board: Board,
    start: Any,
    room: Any,
    b: Array,
    w: Array,
    solvable: Array,
    nodes: Array,
) -> tuple[int, int]:
    """Search deals from the ``i``-th on, resuming that one if ``status`` says that it had run out of room."""
    while i < len(decks):
        if status == search.STACK_FULL or status == search.TABLE_FULL:
            status = search.MORE
        else:
            deal(board, decks[i], n_cells[i])
            status = search.begin_at(board, start, room, b, w)
        if status == search.MORE:
            status = search.search_on(start, room, _NO_LIMIT)
        if status == search.STACK_FULL or status == search.TABLE_FULL:
            return i, status
        solvable[i] = status == search.WON
        nodes[i] = room.counts[search.LOOKED]
        i += 1
    return i, status
