"""The layout of one game's state: three rows of plain numbers.

``board``: uint8 ``(BOARD_SIZE,)``: the cards, and of each column what the rules ask for most often:

=======  ===========  ==================================================================
bytes    name         content
=======  ===========  ==================================================================
0-151    TABLEAU      8 columns of 19 places, first card first, 0 above the top card
152-155  CELLS        4 free cells: a card, 0 = empty, 53 = a cell this game does not have
156-159  FOUNDATIONS  the rank each suit has reached, 0..13
160-167  HEIGHTS      cards in each column
168-175  TOPS         the top card of each column, 0 = empty
176-183  RUNS         cards in the ordered run at the top of each column
=======  ===========  ==================================================================

``counters``: int32 ``(N_COUNTERS,)``: score, standing moves, undo steps kept, and where the next one goes.

``history``: uint16 ``(HISTORY_SIZE,)``: a ring of the last 100 moves, each ``action | card << 10`` with the card that
led it.

A batch is the same rows, many times: kernels take one row each and never copy it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Board = NDArray[np.uint8]
Counters = NDArray[np.int32]
History = NDArray[np.uint16]
Array = NDArray[Any]

N_COLUMNS = 8
MAX_HEIGHT = 19
MAX_CELLS = 4
CELL_COUNTS = (4, 2, 1)

TABLEAU = 0
CELLS = TABLEAU + N_COLUMNS * MAX_HEIGHT
FOUNDATIONS = CELLS + MAX_CELLS
HEIGHTS = FOUNDATIONS + 4
TOPS = HEIGHTS + N_COLUMNS
RUNS = TOPS + N_COLUMNS
BOARD_SIZE = RUNS + N_COLUMNS

NO_CARD = 0
NO_CELL = 53

SCORE = 0
MOVES = 1
UNDO_LENGTH = 2
UNDO_HEAD = 3
N_COUNTERS = 4

HISTORY_SIZE = 100


class State(NamedTuple):
    """One game's rows, which kernels modify in place."""

    board: Board
    counters: Counters
    history: History


def new_state() -> State:
    """Zeroed rows of one game."""
    return State(
        np.zeros(BOARD_SIZE, np.uint8),
        np.zeros(N_COUNTERS, np.int32),
        np.zeros(HISTORY_SIZE, np.uint16),
    )
