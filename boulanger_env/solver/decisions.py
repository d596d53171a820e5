"""The positions in which the decisions of a solution are made, compiled."""

from __future__ import annotations

import numpy as np

from boulanger_env.game.automatic import send_cards_home
from boulanger_env.game.internal import rows_of
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import (
    LEGAL,
    RANK,
    SUIT,
    apply,
    cards_home,
    copy_row,
    parent_column,
    why_illegal,
)
from boulanger_env.game.moves import ACTION_TABLE, COLUMN_TO_CELL, FIRST_CELL, TO_CELL
from boulanger_env.game.state import (
    BOARD_SIZE,
    CELLS,
    FOUNDATIONS,
    HEIGHTS,
    MAX_CELLS,
    MAX_HEIGHT,
    N_COLUMNS,
    NO_CARD,
    TABLEAU,
    TOPS,
    Array,
    Board,
)
from boulanger_env.game.taps import first_empty_column, to_column

from .solving import Solution

_NOTHING, _BROKEN = -1, -2


def decisions(solution: Solution, auto_foundation: bool) -> Board:
    """The positions in which a solution's moves are chosen, in order.

    Args:
        solution: a win.
        auto_foundation: play every legal move home as soon as it is legal, as environments do with that keyword: only
            the moves that are left to choose count, and those that no longer change anything are left out.

    Returns:
        Board rows, uint8 ``(decisions, BOARD_SIZE)``.
    """
    assert solution.game is not None
    board = rows_of(solution.game).board.copy()
    actions = np.array([move.id for move in solution.moves], np.int64)
    rows = np.zeros((len(actions), BOARD_SIZE), np.uint8)
    count = int(_write(board, actions, auto_foundation, np.zeros(BOARD_SIZE, np.uint8), rows))
    if count == _BROKEN:
        raise AssertionError(f"the solution does not win {solution.game}")
    return rows[:count]


@kernel
def _write(board: Board, actions: Array, auto_foundation: bool, ahead: Board, rows: Array) -> int:
    """Write the positions; return their number, or ``_BROKEN``.

    The solution is followed on ``board``, and by the same cards on ``ahead``, where cards go home sooner. Whatever else
    can be moved on the one can be moved on the other: a card's parent never goes home before it.
    """
    count = 0
    copy_row(board, ahead)
    if auto_foundation:
        send_cards_home(ahead)
    for i in range(len(actions)):
        action = i64(actions[i])
        if why_illegal(board, action) != LEGAL:
            return _BROKEN
        to = i64(ACTION_TABLE[action, 1])
        to_empty = to < N_COLUMNS and board[TOPS + to] == NO_CARD
        card = apply(board, action)
        if auto_foundation:
            action = _same_move(ahead, card, to, to_empty)
            if action == _NOTHING:
                continue
            if action == _BROKEN or why_illegal(ahead, action) != LEGAL:
                return _BROKEN
        copy_row(ahead, rows[count])
        count += 1
        apply(ahead, action)
        if auto_foundation:
            send_cards_home(ahead)
    return count if cards_home(ahead) == 52 else _BROKEN


@kernel
def _same_move(board: Board, card: int, to: int, to_empty: bool) -> int:
    """The action that moves ``card``, with what lies on it, to the same place; ``_NOTHING`` if it changes nothing."""
    if board[FOUNDATIONS + i64(SUIT[card])] >= RANK[card]:
        return _NOTHING
    source, height, place = FIRST_CELL, 1, 0
    for c in range(MAX_CELLS):
        if board[CELLS + c] == card:
            source = FIRST_CELL + c
    for column in range(N_COLUMNS):
        tall = i64(board[HEIGHTS + column])
        for i in range(tall):
            if board[TABLEAU + column * MAX_HEIGHT + i] == card:
                source, height, place = column, tall, i
    if to == TO_CELL:
        return COLUMN_TO_CELL + source if source < FIRST_CELL else _NOTHING
    if to_empty and source < FIRST_CELL and place == 0:
        return _NOTHING
    target = first_empty_column(board) if to_empty else parent_column(board, card)
    return to_column(source, target, height - place) if target >= 0 else _BROKEN
