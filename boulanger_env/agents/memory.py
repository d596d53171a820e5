"""Position hashes, and the memory of the positions that a game has been through."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import KEY_BASE, KEY_CELL, KEY_HOME
from boulanger_env.game.state import (
    CELLS,
    HEIGHTS,
    MAX_CELLS,
    MAX_HEIGHT,
    N_COLUMNS,
    NO_CARD,
    NO_CELL,
    TABLEAU,
    Array,
    Board,
)

NEVER = -1


def _random_table(rows: int, columns: int) -> NDArray[np.uint64]:
    """The first outputs of SplitMix64 from state 0: fixed, independent of any library's random stream."""
    z = np.arange(1, rows * columns + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    table: NDArray[np.uint64] = (z ^ (z >> np.uint64(31))).reshape(rows, columns)
    return table


# A number for each card on each thing it can lie on (see kernels.position_key).
_LIES_ON = _random_table(N_CARDS + 1, KEY_HOME)


@kernel
def position_hash(board: Board) -> Any:
    """A uint64 that is the same for positions that differ only in the order of columns or of cells.

    The exclusive or, over the cards not yet home, of a random number for the card and what it lies on, as in
    ``kernels.position_key``. Two different positions of a game collide with probability 2**-64.
    """
    key = np.uint64(0)
    for column in range(N_COLUMNS):
        below = KEY_BASE
        for i in range(i64(board[HEIGHTS + column])):
            card = i64(board[TABLEAU + column * MAX_HEIGHT + i])
            key ^= _LIES_ON[card, below]
            below = card
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        if card != NO_CARD and card != NO_CELL:
            key ^= _LIES_ON[card, KEY_CELL]
    return key


@kernel
def last_visit(keys: Array, length: int, key: Any) -> int:
    """The last index of ``key`` in ``keys[:length]``, or ``NEVER``."""
    for i in range(length - 1, -1, -1):
        if keys[i] == key:
            return i
    return NEVER


class Visited:
    """The positions that the game in each slot has been through, in order.

    Attributes:
        keys: uint64 ``(slots, capacity)``: position hashes.
        lengths: int64 ``(slots,)``: how many hashes each slot has.
    """

    def __init__(self) -> None:
        self.keys: NDArray[np.uint64] = np.zeros((0, 64), np.uint64)
        self.lengths: NDArray[np.int64] = np.zeros(0, np.int64)

    def grow(self, n: int) -> None:
        """Make room for ``n`` slots."""
        more = n - len(self.lengths)
        self.keys = np.pad(self.keys, ((0, more), (0, 0)))
        self.lengths = np.pad(self.lengths, (0, more))

    def make_room(self) -> None:
        """Ensure that each slot can take one more position."""
        if len(self.lengths) and self.lengths.max() == self.keys.shape[1]:
            self.keys = np.pad(self.keys, ((0, 0), (0, self.keys.shape[1])))
