"""The memory of the positions that a game has been through, by their hashes (``game/hashing.py``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.jit import kernel
from boulanger_env.game.state import Array

NEVER = -1


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
