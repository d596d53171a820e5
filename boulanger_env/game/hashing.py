"""Position hashes: 64 bits that do not depend on the order of columns or of cells, updated by each move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cards import N_CARDS
from .jit import i64, inlined_kernel, kernel
from .kernels import KEY_BASE, KEY_CELL, KEY_HOME
from .moves import ACTION_TABLE, FIRST_CELL, TO_CELL, TO_FOUNDATION
from .state import (
    CELLS,
    HEIGHTS,
    MAX_CELLS,
    MAX_HEIGHT,
    N_COLUMNS,
    NO_CARD,
    NO_CELL,
    TABLEAU,
    TOPS,
    Board,
)


def _random_table(rows: int, columns: int) -> NDArray[np.uint64]:
    """The first outputs of SplitMix64 from state 0: fixed, independent of any library's random stream."""
    z = np.arange(1, rows * columns + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    table: NDArray[np.uint64] = (z ^ (z >> np.uint64(31))).reshape(rows, columns)
    return table


# A number for each card on each thing it can lie on (see kernels.position_key). Row 0, which belongs to no
# card, has one for each number of cells.
LIES_ON = _random_table(N_CARDS + 1, KEY_HOME)


@kernel
def position_hash(board: Board) -> Any:
    """A uint64 that is the same for positions that differ only in the order of columns or of cells.

    The exclusive or, over the cards not yet home, of a random number for the card and what it lies on, as in
    ``kernels.position_key``, and of one for the number of cells. Two different positions collide with probability
    2**-64.
    """
    key = np.uint64(0)
    for column in range(N_COLUMNS):
        below = KEY_BASE
        for i in range(i64(board[HEIGHTS + column])):
            card = i64(board[TABLEAU + column * MAX_HEIGHT + i])
            key ^= LIES_ON[card, below]
            below = card
    n_cells = 0
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        if card != NO_CELL:
            n_cells += 1
            if card != NO_CARD:
                key ^= LIES_ON[card, KEY_CELL]
    return key ^ LIES_ON[0, n_cells]


@inlined_kernel
def hash_change(board: Board, action: int) -> Any:
    """The exclusive or of the hashes before and after a legal ``action``, which is not played.

    Only what the card that leads the move lies on changes.
    """
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    size = i64(ACTION_TABLE[action, 2])
    if source < FIRST_CELL:
        card = i64(board[TOPS + source]) + size - 1
        height = i64(board[HEIGHTS + source])
        below = KEY_BASE
        if height > size:
            below = i64(board[TABLEAU + source * MAX_HEIGHT + height - size - 1])
        change = LIES_ON[card, below]
    else:
        card = i64(board[CELLS + source - FIRST_CELL])
        change = LIES_ON[card, KEY_CELL]
    if destination == TO_FOUNDATION:
        return change
    if destination == TO_CELL:
        return change ^ LIES_ON[card, KEY_CELL]
    # The top of an empty column is NO_CARD, which stands for the base in a key.
    return change ^ LIES_ON[card, i64(board[TOPS + destination])]
