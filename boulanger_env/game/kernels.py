"""The rules, compiled: every function works on one game's rows (see ``state.py``), in place, without copying.

The single environment, the batch, the solver and :class:`~boulanger_env.Game` all call these.
"""

from __future__ import annotations

import numpy as np

from .cards import N_CARDS, N_RANKS, rank_of, suit_of
from .jit import i64, kernel
from .moves import (
    ACTION_TABLE,
    CELL_HOME,
    CELL_TO_COLUMN,
    COLUMN_HOME,
    COLUMN_TO_CELL,
    FIRST_CELL,
    N_ACTIONS,
    TO_CELL,
    TO_FOUNDATION,
)
from .state import (
    CELLS,
    FOUNDATIONS,
    HEIGHTS,
    HISTORY_SIZE,
    HOME,
    MAX_CELLS,
    MAX_HEIGHT,
    MOVES,
    N_COLUMNS,
    NO_CARD,
    NO_CELL,
    SCORE,
    TABLEAU,
    UNDO_HEAD,
    UNDO_LENGTH,
    WHERE,
    Array,
    Board,
    Counters,
    History,
)

RANK = np.array([0, *(rank_of(c) for c in range(1, N_CARDS + 1))], np.uint8)
SUIT = np.array([0, *(suit_of(c) for c in range(1, N_CARDS + 1))], np.uint8)
NO_ONE = -1

# What a move is worth, and to whom: rewards and the score are tables over these events.
EVENT_NONE, EVENT_FROM_CELL, EVENT_FOUNDATION = 0, 1, 2
POINTS = np.array([0, 5, 10], np.int32)
EVENT = np.where(
    ACTION_TABLE[:, 1] == TO_FOUNDATION,
    EVENT_FOUNDATION,
    np.where(ACTION_TABLE[:, 0] >= FIRST_CELL, EVENT_FROM_CELL, EVENT_NONE),
).astype(np.int8)

# Why a move is refused; game.py has the words.
LEGAL = 0
EMPTY_COLUMN = 1
NO_SUCH_CELL = 2
EMPTY_CELL = 3
TOO_FEW_CARDS = 4
NOT_A_RUN = 5
NOT_ON_PARENT = 6
TOO_MANY_CARDS = 7
CELLS_FULL = 8
NOT_NEXT_HOME = 9

KEY_SIZE = N_CARDS + 1
KEY_BASE, KEY_CELL, KEY_HOME = 0, 53, 54


@kernel
def deal(board: Board, deck: Array, n_cells: int) -> None:
    """Lay out a deck, uint8 ``(52,)``, row by row on 8 columns, with ``n_cells`` cells and nothing home."""
    board[:] = 0
    for i in range(N_CARDS):
        column = i % N_COLUMNS
        card = i64(deck[i])
        board[TABLEAU + column * MAX_HEIGHT + i // N_COLUMNS] = card
        board[HEIGHTS + column] += 1
        board[WHERE + card] = column
    for c in range(n_cells, MAX_CELLS):
        board[CELLS + c] = NO_CELL


@kernel
def reindex(board: Board) -> None:
    """Work out HEIGHTS and WHERE from the cards."""
    board[HEIGHTS:] = 0
    for card in range(1, N_CARDS + 1):
        board[WHERE + card] = HOME
    for column in range(N_COLUMNS):
        for i in range(MAX_HEIGHT):
            card = i64(board[TABLEAU + column * MAX_HEIGHT + i])
            if card != NO_CARD:
                board[HEIGHTS + column] += 1
                board[WHERE + card] = column
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        if card != NO_CARD and card != NO_CELL:
            board[WHERE + card] = FIRST_CELL + c


@kernel
def empty_cells(board: Board) -> int:
    """How many of the game's cells are empty."""
    count = 0
    for c in range(MAX_CELLS):
        if board[CELLS + c] == NO_CARD:
            count += 1
    return count


@kernel
def empty_columns(board: Board) -> int:
    """How many columns are empty."""
    count = 0
    for column in range(N_COLUMNS):
        if board[HEIGHTS + column] == 0:
            count += 1
    return count


@kernel
def cards_home(board: Board) -> int:
    """How many cards lie on the foundations, 0..52."""
    count = 0
    for suit in range(4):
        count += i64(board[FOUNDATIONS + suit])
    return count


@kernel
def run_length(board: Board, column: int) -> int:
    """Cards in the ordered run at the top of a column, 0 when it is empty."""
    height = i64(board[HEIGHTS + column])
    if height == 0:
        return 0
    top = TABLEAU + column * MAX_HEIGHT + height - 1
    card = i64(board[top])
    size = 1
    while size < height and RANK[card] != N_RANKS and board[top - size] == card + 1:
        card += 1
        size += 1
    return size


@kernel
def parent_column(board: Board, card: int) -> int:
    """The column whose top is one rank above ``card`` in its suit, or -1."""
    if RANK[card] == N_RANKS:
        return NO_ONE
    column = i64(board[WHERE + card + 1])
    if column >= N_COLUMNS:
        return NO_ONE
    if board[TABLEAU + column * MAX_HEIGHT + i64(board[HEIGHTS + column]) - 1] != card + 1:
        return NO_ONE
    return column


@kernel
def goes_home(board: Board, card: int) -> bool:
    """Whether ``card`` is the next of its suit on its foundation."""
    return bool(board[FOUNDATIONS + i64(SUIT[card])] + 1 == RANK[card])


@kernel
def column_action(source: int, destination: int, size: int) -> int:
    """Action id of a column-to-column move."""
    skip = 1 if destination > source else 0
    return (source * (N_COLUMNS - 1) + destination - skip) * N_RANKS + size - 1


@kernel
def legal_moves(board: Board, mask: Array, prune: bool) -> int:
    """Write the legal moves into ``mask[:780]`` (1 = legal) and count them.

    With ``prune``, moves that lead to an equivalent position are left out: every empty column but the
    leftmost as a target, and a whole column to an empty one. What is left is empty only if all is.
    """
    mask[:N_ACTIONS] = 0
    count = 0
    free = empty_cells(board)
    empty = empty_columns(board)
    limit = (free + 1) << empty
    limit_to_empty = limit >> 1
    first_empty = 0
    while empty > 0 and board[HEIGHTS + first_empty] != 0:
        first_empty += 1
    last_empty = first_empty if prune else N_COLUMNS - 1

    for s in range(N_COLUMNS):
        height = i64(board[HEIGHTS + s])
        if height == 0:
            continue
        top = TABLEAU + s * MAX_HEIGHT + height - 1
        if goes_home(board, i64(board[top])):
            mask[COLUMN_HOME + s] = 1
            count += 1
        if free > 0:
            mask[COLUMN_TO_CELL + s] = 1
            count += 1
        # Onto an occupied column only the whole run can go: its other cards have their parent beneath them.
        size = run_length(board, s)
        d = parent_column(board, i64(board[top - size + 1]))
        if d >= 0 and size <= limit:
            mask[column_action(s, d, size)] = 1
            count += 1
        if empty > 0:
            size = min(size, limit_to_empty)
            if prune and size == height:
                size -= 1
            for d in range(first_empty, last_empty + 1):
                if board[HEIGHTS + d] == 0:
                    first = column_action(s, d, 1)
                    for k in range(size):
                        mask[first + k] = 1
                    count += size

    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        if card == NO_CARD or card == NO_CELL:
            continue
        if goes_home(board, card):
            mask[CELL_HOME + c] = 1
            count += 1
        d = parent_column(board, card)
        if d >= 0:
            mask[CELL_TO_COLUMN + N_COLUMNS * c + d] = 1
            count += 1
        if empty > 0:
            for d in range(first_empty, last_empty + 1):
                if board[HEIGHTS + d] == 0:
                    mask[CELL_TO_COLUMN + N_COLUMNS * c + d] = 1
                    count += 1
    return count


@kernel
def why_illegal(board: Board, action: int) -> int:
    """``LEGAL``, or the first rule that ``action`` (0..779) breaks."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    size = i64(ACTION_TABLE[action, 2])
    if source < N_COLUMNS:
        height = i64(board[HEIGHTS + source])
        if height == 0:
            return EMPTY_COLUMN
        if size > height:
            return TOO_FEW_CARDS
        if size > run_length(board, source):
            return NOT_A_RUN
        card = i64(board[TABLEAU + source * MAX_HEIGHT + height - size])
    else:
        card = i64(board[CELLS + source - FIRST_CELL])
        if card == NO_CELL:
            return NO_SUCH_CELL
        if card == NO_CARD:
            return EMPTY_CELL
    if destination == TO_FOUNDATION:
        return LEGAL if goes_home(board, card) else NOT_NEXT_HOME
    free = empty_cells(board)
    if destination == TO_CELL:
        return LEGAL if free > 0 else CELLS_FULL
    empty = empty_columns(board)
    if board[HEIGHTS + destination] == 0:
        empty -= 1
    elif parent_column(board, card) != destination:
        return NOT_ON_PARENT
    return LEGAL if size <= (free + 1) << empty else TOO_MANY_CARDS


@kernel
def lift(board: Board, column: int) -> int:
    """Take the top card off a column."""
    height = i64(board[HEIGHTS + column]) - 1
    place = TABLEAU + column * MAX_HEIGHT + height
    card = i64(board[place])
    board[place] = NO_CARD
    board[HEIGHTS + column] = height
    return card


@kernel
def put(board: Board, column: int, card: int) -> None:
    """Put a card on top of a column."""
    height = i64(board[HEIGHTS + column])
    board[TABLEAU + column * MAX_HEIGHT + height] = card
    board[HEIGHTS + column] = height + 1
    board[WHERE + card] = column


@kernel
def shift(board: Board, source: int, destination: int, size: int) -> None:
    """Move the top ``size`` cards of one column to another in their order."""
    height = i64(board[HEIGHTS + source]) - size
    start = TABLEAU + source * MAX_HEIGHT + height
    for i in range(size):
        put(board, destination, i64(board[start + i]))
        board[start + i] = NO_CARD
    board[HEIGHTS + source] = height


@kernel
def set_cell(board: Board, cell: int, card: int) -> None:
    """Put a card into a cell."""
    board[CELLS + cell] = card
    board[WHERE + card] = FIRST_CELL + cell


@kernel
def apply(board: Board, action: int) -> int:
    """Play a legal ``action``; returns the card it moved (of a group, the lowest in the column)."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    if action < COLUMN_TO_CELL:
        shift(board, source, destination, i64(ACTION_TABLE[action, 2]))
        top = TABLEAU + destination * MAX_HEIGHT + i64(board[HEIGHTS + destination]) - 1
        # A run: its head is so many ranks above its top card.
        return i64(board[top]) + i64(ACTION_TABLE[action, 2]) - 1
    if source < N_COLUMNS:
        card = lift(board, source)
    else:
        card = i64(board[CELLS + source - FIRST_CELL])
        board[CELLS + source - FIRST_CELL] = NO_CARD
    if destination == TO_FOUNDATION:
        board[FOUNDATIONS + i64(SUIT[card])] += 1
        board[WHERE + card] = HOME
    elif destination == TO_CELL:
        cell = 0
        while board[CELLS + cell] != NO_CARD:
            cell += 1
        set_cell(board, cell, card)
    else:
        put(board, destination, card)
    return card


@kernel
def revert(board: Board, action: int, card: int) -> None:
    """Take back ``action``, which moved ``card`` and was the last move."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    if action < COLUMN_TO_CELL:
        shift(board, destination, source, i64(ACTION_TABLE[action, 2]))
        return
    if destination == TO_FOUNDATION:
        board[FOUNDATIONS + i64(SUIT[card])] -= 1
    elif destination == TO_CELL:
        board[CELLS + i64(board[WHERE + card]) - FIRST_CELL] = NO_CARD
    else:
        lift(board, destination)
    if source < N_COLUMNS:
        put(board, source, card)
    else:
        set_cell(board, source - FIRST_CELL, card)


@kernel
def push(board: Board, counters: Counters, history: History, action: int) -> int:
    """Play a legal ``action`` with its score and its place in the undo history; returns its event."""
    card = apply(board, action)
    event = i64(EVENT[action])
    head = i64(counters[UNDO_HEAD])
    history[head] = np.uint16(action | (card << 10))
    counters[UNDO_HEAD] = 0 if head == HISTORY_SIZE - 1 else head + 1
    if counters[UNDO_LENGTH] < HISTORY_SIZE:
        counters[UNDO_LENGTH] += 1
    counters[SCORE] += POINTS[event]
    counters[MOVES] += 1
    return event


@kernel
def last_action(counters: Counters, history: History) -> int:
    """The last action that undo can take back, or -1."""
    if counters[UNDO_LENGTH] == 0:
        return NO_ONE
    head = i64(counters[UNDO_HEAD])
    return i64(history[HISTORY_SIZE - 1 if head == 0 else head - 1]) & 1023


@kernel
def pop(board: Board, counters: Counters, history: History) -> int:
    """Take back the last move with its points; returns its action, or -1 when none is kept."""
    if counters[UNDO_LENGTH] == 0:
        return NO_ONE
    head = i64(counters[UNDO_HEAD])
    head = HISTORY_SIZE - 1 if head == 0 else head - 1
    action = i64(history[head]) & 1023
    revert(board, action, i64(history[head]) >> 10)
    counters[UNDO_HEAD] = head
    counters[UNDO_LENGTH] -= 1
    counters[SCORE] -= POINTS[i64(EVENT[action])]
    counters[MOVES] -= 1
    return action


@kernel
def position_key(board: Board, key: Array) -> None:
    """Write the canonical key, uint8 ``(53,)``: the number of cells, then for each card what it lies on.

    A card's entry is the card beneath it, 0 at the base of a column, 53 in a cell, 54 at home. Neither the
    order of the columns nor that of the cells leaves a trace, so nothing has to be sorted.
    """
    key[:] = KEY_HOME
    key[0] = 0
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        if card != NO_CELL:
            key[0] += 1
            if card != NO_CARD:
                key[card] = KEY_CELL
    for column in range(N_COLUMNS):
        below = KEY_BASE
        for i in range(i64(board[HEIGHTS + column])):
            card = i64(board[TABLEAU + column * MAX_HEIGHT + i])
            key[card] = below
            below = card
