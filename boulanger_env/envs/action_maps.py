"""Other names for the same moves, compiled: by the card that moves, and by a double tap on a source.

The kernels work on one game's row, like those of ``game/kernels.py``; ``boulanger_env.wrappers`` applies them to an
environment.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS, N_RANKS, rank_of
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import LEGAL, NO_ONE, RANK, SUIT, parent_column, played_action, why_illegal
from boulanger_env.game.moves import (
    ACTION_TABLE,
    COLUMN_TO_CELL,
    FIRST_CELL,
    N_ACTIONS,
    N_SOURCES,
    TO_CELL,
    TO_FOUNDATION,
    UNDO,
    Move,
)
from boulanger_env.game.state import (
    CELLS,
    FOUNDATIONS,
    HISTORY_SIZE,
    MAX_CELLS,
    N_COLUMNS,
    NO_CARD,
    RUNS,
    TOPS,
    UNDO_HEAD,
    UNDO_LENGTH,
    Array,
    Board,
    Counters,
    History,
)
from boulanger_env.game.taps import first_empty_column, tap_action, to_column, to_foundation

# The destination of a card action.
ONTO_PARENT, INTO_EMPTY, INTO_CELL, ONTO_FOUNDATION = range(4)

_KINDS = (
    *((card, ONTO_PARENT) for card in range(1, N_CARDS + 1) if rank_of(card) < N_RANKS),
    *((card, kind) for kind in (INTO_EMPTY, INTO_CELL, ONTO_FOUNDATION) for card in range(1, N_CARDS + 1)),
)
CARD_ACTION_TABLE: NDArray[np.int8] = np.array(_KINDS, np.int8)
"""Read-only int8 array ``(204, 2)``: the card of each card action, and where it goes: 0 = onto its parent,
1 = to an empty column, 2 = to a cell, 3 = home."""
CARD_ACTION_TABLE.flags.writeable = False

N_CARD_ACTIONS = len(_KINDS)
_FIRST_EMPTY, _FIRST_IN_CELL, _FIRST_HOME = 48, 100, 152

# Why a card action is not a move on the board: negative results of base_action.
IS_HOME, COVERED, PARENT_COVERED, NO_EMPTY_COLUMN, ALREADY_IN_CELL = -1, -2, -3, -4, -5

# Two moves of one card that undo each other are never legal together, except in the mask of a finished episode.
_THERE, _BACK = Move(0, 1).id, Move(1, 0).id


@kernel
def never_legal(board: Board) -> int:
    """An action id that is illegal on this board."""
    return _THERE if why_illegal(board, _THERE) != LEGAL else _BACK


@kernel
def base_action(board: Board, action: int) -> int:
    """The base action (0..779) that a card action (0..203) stands for, legal or not; negative: why there is none."""
    card = i64(CARD_ACTION_TABLE[action, 0])
    kind = i64(CARD_ACTION_TABLE[action, 1])
    if board[FOUNDATIONS + i64(SUIT[card])] >= RANK[card]:
        return IS_HOME
    source, size = NO_ONE, 1
    for c in range(MAX_CELLS):
        if board[CELLS + c] == card:
            source = FIRST_CELL + c
    for column in range(N_COLUMNS):
        above = card - i64(board[TOPS + column])
        if 0 <= above < board[RUNS + column]:
            source, size = column, above + 1
    if source < 0 or (size > 1 and kind >= INTO_CELL):
        return COVERED
    if kind == ONTO_PARENT:
        column = parent_column(board, card)
        return PARENT_COVERED if column < 0 else to_column(source, column, size)
    if kind == INTO_EMPTY:
        column = first_empty_column(board)
        return NO_EMPTY_COLUMN if column < 0 else to_column(source, column, size)
    if kind == INTO_CELL:
        return COLUMN_TO_CELL + source if source < FIRST_CELL else ALREADY_IN_CELL
    return to_foundation(source)


@kernel
def card_action(board: Board, action: int) -> int:
    """The card action (0..203) of a legal base action (0..779), the same for all empty columns."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    if source < FIRST_CELL:
        card = i64(board[TOPS + source]) + i64(ACTION_TABLE[action, 2]) - 1
    else:
        card = i64(board[CELLS + source - FIRST_CELL])
    if destination == TO_FOUNDATION:
        return _FIRST_HOME + card - 1
    if destination == TO_CELL:
        return _FIRST_IN_CELL + card - 1
    if board[TOPS + destination] == NO_CARD:
        return _FIRST_EMPTY + card - 1
    return i64(SUIT[card]) * (N_RANKS - 1) + i64(RANK[card]) - 1


@kernel
def card_mask(board: Board, mask: Array, out: Array) -> None:
    """Turn a mask of base actions, ``(780,)`` or ``(781,)``, into one of card actions, ``(204,)`` or ``(205,)``.

    Actions that the mask allows but the rules do not are left out: they have no card.
    """
    if mask[_THERE] and mask[_BACK]:
        out[:] = 1
        return
    out[:] = 0
    for action in range(N_ACTIONS):
        if mask[action] and why_illegal(board, action) == LEGAL:
            out[card_action(board, action)] = 1
    if out.shape[0] > N_CARD_ACTIONS:
        out[N_CARD_ACTIONS] = mask[N_ACTIONS]


@kernel
def tap_mask(board: Board, mask: Array, out: Array) -> None:
    """Turn a mask of base actions, ``(780,)`` or ``(781,)``, into one of double taps, ``(12,)`` or ``(13,)``."""
    if mask[_THERE] and mask[_BACK]:
        out[:] = 1
        return
    for source in range(N_SOURCES):
        out[source] = mask[tap_action(board, source)]
    if out.shape[0] > N_SOURCES:
        out[N_SOURCES] = mask[N_ACTIONS]


@kernel
def undo_span(counters: Counters, history: History) -> int:
    """Moves back to and including the last one that was not a foundation move; 0 if undo does not reach one."""
    place = i64(counters[UNDO_HEAD])
    for back in range(i64(counters[UNDO_LENGTH])):
        place = HISTORY_SIZE - 1 if place == 0 else place - 1
        if ACTION_TABLE[played_action(history, place), 1] != TO_FOUNDATION:
            return back + 1
    return 0


@kernel
def card_masks(boards: Array, masks: Array, out: Array) -> None:
    """``card_mask`` for each row of a batch."""
    for i in range(len(out)):
        card_mask(boards[i], masks[i], out[i])


@kernel
def base_actions(boards: Array, actions: Array) -> None:
    """Turn card actions into the base actions that they stand for; without one, into an illegal action."""
    for i in range(len(actions)):
        if actions[i] == N_CARD_ACTIONS:
            actions[i] = UNDO
        else:
            actions[i] = base_action(boards[i], actions[i])
