"""How an episode ends: as a number in kernels, as a name everywhere else, and in words for people."""

from __future__ import annotations

import numpy as np

from .cards import N_CARDS
from .jit import i64, kernel
from .kernels import PARENT, cards_home, empty_cells, is_in, set_of_next_home, set_of_tops
from .state import CELLS, MAX_CELLS, N_COLUMNS, NO_CARD, TOPS, Board

WON, STUCK, ILLEGAL, TRUNCATED = "won", "stuck", "illegal", "truncated"

O_RUNNING, O_WON, O_STUCK, O_ILLEGAL, O_TRUNCATED = range(5)
OUTCOMES = (None, WON, STUCK, ILLEGAL, TRUNCATED)
"""The name of each outcome number; None: the episode is in progress."""

OUTCOME_WORDS = {
    WON: "all 52 cards are home",
    STUCK: "no legal move is left",
    ILLEGAL: "an illegal action ended it",
    TRUNCATED: "the limit of steps is reached",
}


@kernel
def outcome_of(board: Board) -> int:
    """``O_WON``, ``O_STUCK`` or ``O_RUNNING``, without listing the moves."""
    if cards_home(board) == N_CARDS:
        return O_WON
    # With a free cell or an empty column some card can always move.
    if empty_cells(board) > 0:
        return O_RUNNING
    for column in range(N_COLUMNS):
        if board[TOPS + column] == NO_CARD:
            return O_RUNNING
    on_top, going = set_of_tops(board), set_of_next_home(board)
    movable = np.uint64(0)
    for column in range(N_COLUMNS):
        card = i64(board[TOPS + column])
        movable |= is_in(card, going) | is_in(i64(PARENT[card]), on_top)
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        movable |= is_in(card, going) | is_in(i64(PARENT[card]), on_top)
    return O_RUNNING if movable != np.uint64(0) else O_STUCK
