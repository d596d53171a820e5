"""Drawing positions to start from, compiled: first a group, by weight, then one of its positions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .automatic import send_cards_home
from .jit import i64, inlined_kernel, kernel
from .kernels import cards_home, copy_row, legal_moves
from .outcomes import O_RUNNING, O_STUCK, O_WON
from .state import BOARD_SIZE, Array
from .streams import splitmix64_next, uniform_below

_ELEVEN = np.uint64(11)
_UNIT = 2.0**-53

NO_START = -1
"""The start, and its group, of a game that is not drawn from starts."""


class StartTables(NamedTuple):
    """Positions to start from, for the kernels; without rows if there are none.

    Only groups that have positions are here, in increasing order.
    """

    boards: Array
    """uint8 ``(m, BOARD_SIZE)``, group by group: a draw waits for the memory once."""
    order: Array
    """int64 ``(m,)``, the index of each."""
    first: Array
    """int64 ``(groups + 1,)``: where each group begins in ``boards``, and the last one ends."""
    groups: Array
    """int64 ``(groups,)``, their numbers."""
    cumulative: Array
    """float64 ``(groups + 1,)``: the chance of a whole deal, then with each group's added; changed in place."""


def no_tables() -> StartTables:
    """Tables without positions."""
    empty = np.zeros(0, np.int64)
    return StartTables(np.zeros((0, BOARD_SIZE), np.uint8), empty, empty, empty, np.zeros(0))


@inlined_kernel
def draw_start(stream: Any, tables: StartTables) -> tuple[Any, int, int, int]:
    """Draw a position to start from.

    Args:
        stream: uint64, the deal stream.
        tables: the positions; there must be some.

    Returns:
        The stream's next state, the position's row of ``boards``, its index and its group; ``NO_START`` three times
        for a whole deal.
    """
    stream, output = splitmix64_next(stream)
    u = np.float64(output >> _ELEVEN) * _UNIT
    low, high = 0, tables.cumulative.shape[0] - 1
    while low < high:
        middle = (low + high) >> 1
        if u < tables.cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    if low == 0:
        return stream, NO_START, NO_START, NO_START
    begin = tables.first[low - 1]
    stream, place = uniform_below(stream, tables.first[low] - begin)
    row = i64(begin + place)
    return stream, row, i64(tables.order[row]), i64(tables.groups[low - 1])


@kernel
def first_over(boards: Array, homes_first: bool, board: Array, mask: Array) -> tuple[int, int]:
    """The first of some positions that nothing is left to play in.

    Args:
        boards: uint8 ``(n, BOARD_SIZE)``, valid positions.
        homes_first: whether every legal move home is played before looking.
        board: uint8 ``(BOARD_SIZE,)``, scratch.
        mask: int8 ``(780,)``, scratch.

    Returns:
        Its index and outcome; -1 and ``O_RUNNING`` if there is none.
    """
    for i in range(boards.shape[0]):
        copy_row(boards[i], board)
        if homes_first:
            send_cards_home(board)
        if legal_moves(board, mask, 0) == 0:
            return i, O_WON if cards_home(board) == 52 else O_STUCK
    return -1, O_RUNNING
