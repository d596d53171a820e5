"""Foundation moves that play themselves, compiled: such a move is never a mistake."""

from __future__ import annotations

from typing import Any

import numpy as np

from .hashing import hash_change
from .jit import i64, inlined_kernel, kernel
from .kernels import apply, as_set, played_action, push, set_of_next_home, set_of_tops
from .moves import ACTION_TABLE, TO_FOUNDATION
from .state import CELLS, HISTORY_SIZE, MAX_CELLS, UNDO_HEAD, UNDO_LENGTH, Board, Counters, History, State
from .taps import foundation_action


@inlined_kernel
def can_go_home(board: Board) -> bool:
    """Whether some foundation move is legal."""
    there = set_of_tops(board)
    for c in range(MAX_CELLS):
        there |= as_set(i64(board[CELLS + c]))
    # An empty column is card 0, and a cell that is not there 53; neither is ever next. Nor is a complete suit's 255.
    return bool((there & set_of_next_home(board)) != np.uint64(0))


@inlined_kernel
def send_home(state: State) -> tuple[int, Any]:
    """Play the foundation moves that are legal, columns first, then cells, until there is none.

    Returns:
        How many, and the exclusive or of the position's hashes before and after (uint64, see ``hashing.py``).
    """
    count, change = 0, np.uint64(0)
    if can_go_home(state.board):
        action = foundation_action(state.board)
        while action >= 0:
            change ^= hash_change(state.board, action)
            push(state.board, state.counters, state.history, action)
            count += 1
            action = foundation_action(state.board)
    return count, change


@kernel
def send_cards_home(board: Board) -> None:
    """The same for a board alone."""
    if can_go_home(board):
        action = foundation_action(board)
        while action >= 0:
            apply(board, action)
            action = foundation_action(board)


@kernel
def finish(state: State) -> int:
    """``send_home``, compiled to be called from Python; return how many."""
    return send_home(state)[0]


@kernel
def undo_span(counters: Counters, history: History) -> int:
    """Moves back to and including the last one that was not a foundation move; 0 if undo does not reach one."""
    place = i64(counters[UNDO_HEAD])
    for back in range(i64(counters[UNDO_LENGTH])):
        place = HISTORY_SIZE - 1 if place == 0 else place - 1
        if ACTION_TABLE[played_action(history, place), 1] != TO_FOUNDATION:
            return back + 1
    return 0
