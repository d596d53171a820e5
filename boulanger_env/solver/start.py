"""What the solver keeps of the position that it starts from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS, N_SUITS
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import PARENT, RANK, SUIT
from boulanger_env.game.state import CELLS as CELL_PLACES
from boulanger_env.game.state import (
    FOUNDATIONS,
    HEIGHTS,
    MAX_CELLS,
    MAX_HEIGHT,
    N_COLUMNS,
    NO_CARD,
    NO_CELL,
    TABLEAU,
    Array,
)

from .position import (
    AT_BASE,
    AT_START,
    BIT,
    CELLS,
    EMPTY,
    FREE,
    IN_CELL,
    LEFT,
    ON_PARENT,
    TOP,
    raise_home,
    toggle,
)

_NO_LOWER = 0xEEEE  # a digit 14 for each suit: no card seen yet


class Start(NamedTuple):
    """What is known about a start before the search; all arrays are uint8.

    ``cards`` ``(8, 19)``: the start's columns; ``runs`` ``(8, 19)``: how many cards of one run end at each place;
    ``codes`` ``(53,)``: each card's 2 bits while it has not moved; ``column`` and ``place`` ``(53,)``: where it lay;
    ``blockers`` ``(8, 20)``: among the first ``n`` cards of a column, how many lie above a lower card of their suit;
    ``heads`` ``(8, 20)``: the same, without those that lie on their parent.
    """

    cards: NDArray[np.uint8]
    runs: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    column: NDArray[np.uint8]
    place: NDArray[np.uint8]
    blockers: NDArray[np.uint8]
    heads: NDArray[np.uint8]


def new_start() -> Start:
    """Arrays for one start, for :func:`read_board` to fill."""
    return Start(
        cards=np.zeros((N_COLUMNS, MAX_HEIGHT), np.uint8),
        runs=np.zeros((N_COLUMNS, MAX_HEIGHT), np.uint8),
        codes=np.zeros(N_CARDS + 1, np.uint8),
        column=np.zeros(N_CARDS + 1, np.uint8),
        place=np.zeros(N_CARDS + 1, np.uint8),
        blockers=np.zeros((N_COLUMNS, MAX_HEIGHT + 1), np.uint8),
        heads=np.zeros((N_COLUMNS, MAX_HEIGHT + 1), np.uint8),
    )


@kernel
def read_board(board: Array, start: Any, b: Array, w: Array) -> None:
    """Read a game's row (``game/state.py``) into a start and its first position."""
    start.codes[:] = AT_START
    start.column[:] = N_COLUMNS
    b[:] = 0
    w[:] = 0
    for column in range(N_COLUMNS):
        height = i64(board[HEIGHTS + column])
        lowest = _NO_LOWER
        b[LEFT + column] = height
        for place in range(height):
            card = i64(board[TABLEAU + column * MAX_HEIGHT + place])
            start.cards[column, place] = card
            start.column[card] = column
            start.place[card] = place
            start.runs[column, place] = 1
            start.codes[card] = AT_BASE if place == 0 else AT_START
            if place > 0 and start.cards[column, place - 1] == PARENT[card]:
                start.runs[column, place] = start.runs[column, place - 1] + 1
                start.codes[card] = ON_PARENT
            toggle(w, card, i64(start.codes[card]))
            shift = 4 * i64(SUIT[card])
            blocks = i64(RANK[card]) > (lowest >> shift) & 15
            start.blockers[column, place + 1] = i64(start.blockers[column, place]) + blocks
            leads = blocks and start.runs[column, place] == 1
            start.heads[column, place + 1] = i64(start.heads[column, place]) + leads
            if not blocks:
                lowest = (lowest & ~(15 << shift)) | (i64(RANK[card]) << shift)
            b[TOP + column] = card
        b[EMPTY] += height == 0
    for cell in range(MAX_CELLS):
        card = i64(board[CELL_PLACES + cell])
        if card == NO_CARD:
            b[FREE] += 1
        elif card != NO_CELL:
            w[CELLS] |= BIT[card]
            toggle(w, card, IN_CELL)
    for suit in range(N_SUITS):
        for _ in range(board[FOUNDATIONS + suit]):
            raise_home(b, w, suit)
