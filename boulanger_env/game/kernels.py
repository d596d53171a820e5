"""The rules, compiled: every function works on one game's rows (see ``state.py``), in place, without copying.

The single environment, the batch, the solver and :class:`~boulanger_env.Game` all call these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .cards import N_CARDS, N_RANKS, N_SUITS, rank_of, suit_of
from .jit import i64, inlined_kernel, kernel
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
    MAX_CELLS,
    MAX_HEIGHT,
    MOVES,
    N_COLUMNS,
    NO_CARD,
    NO_CELL,
    RUNS,
    SCORE,
    TABLEAU,
    TOPS,
    UNDO_HEAD,
    UNDO_LENGTH,
    Array,
    Board,
    Counters,
    History,
)

# By card, with an entry for NO_CARD before and one for NO_CELL after, so that a cell's content can be used unchecked.
RANK = np.array([0, *(rank_of(c) for c in range(1, N_CARDS + 1)), 0], np.uint8)
SUIT = np.array([0, *(suit_of(c) for c in range(1, N_CARDS + 1)), 0], np.uint8)
NO_ONE = -1
NO_PARENT = 255
PARENT = np.array(
    [NO_PARENT, *(c + 1 if rank_of(c) < N_RANKS else NO_PARENT for c in range(1, N_CARDS + 1)), NO_PARENT],
    np.uint8,
)
"""The card that each card may be put on, 255 for a king (and for NO_CARD and NO_CELL)."""
TAKES = np.array([NO_PARENT, *PARENT[:-1]], np.uint8)
"""The card that takes a run, by the run's lowest card plus its size; 255 for none, and for the empty run."""

# Masks for eight bytes at a time. Beside a uint64 every operand must be one: with a signed number it turns to float.
EACH_BYTE = np.uint64(0x0101010101010101)
LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
HIGH_BITS = np.uint64(0x8080808080808080)
INDEX_OF_BYTE = np.uint64(0x0001020304050607)
_ONE, _LAST_BIT = np.uint64(1), np.uint64(63)

# The event of a move: rewards and the score are tables over these.
EVENT_NONE, EVENT_FROM_CELL, EVENT_FOUNDATION = 0, 1, 2
POINTS = np.array([0, 5, 10], np.int32)
N_EVENTS = len(POINTS)
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


# -- how a position is read -----------------------------------------------------------------------------------


@inlined_kernel
def empty_cells(board: Board) -> int:
    """How many of the game's cells are empty."""
    count = 0
    for c in range(MAX_CELLS):
        count += board[CELLS + c] == NO_CARD
    return count


@inlined_kernel
def empty_columns(board: Board) -> int:
    """How many columns are empty."""
    count = 0
    for column in range(N_COLUMNS):
        count += board[TOPS + column] == NO_CARD
    return count


@inlined_kernel
def group_limit(free: int, empty: int) -> int:
    """The most cards that can move together, given the free cells and the empty columns other than their target.

    Each empty column doubles it; so half of it goes to one of the empty columns themselves.
    """
    return (free + 1) << empty


@inlined_kernel
def cards_home(board: Board) -> int:
    """How many cards lie on the foundations, 0..52."""
    count = 0
    for suit in range(N_SUITS):
        count += i64(board[FOUNDATIONS + suit])
    return count


@inlined_kernel
def next_home(board: Board, suit: int) -> int:
    """The next card on a suit's foundation, 255 if it is complete."""
    rank = i64(board[FOUNDATIONS + suit])
    return suit * N_RANKS + rank + 1 if rank < N_RANKS else NO_PARENT


@inlined_kernel
def goes_home(board: Board, card: int) -> bool:
    """Whether ``card`` is the next of its suit on its foundation."""
    place = np.uint64(card)  # an unsigned index needs no check for negative values
    return bool(board[FOUNDATIONS + i64(SUIT[place])] + 1 == RANK[place])


@inlined_kernel
def run_length(board: Board, column: int) -> int:
    """Length of the ordered run at the top of a column, 0 if it is empty."""
    return i64(board[RUNS + column])


@kernel
def parent_column(board: Board, card: int) -> int:
    """The column whose top is one rank above ``card`` in its suit, or -1."""
    parent = PARENT[card]
    for column in range(N_COLUMNS):
        if board[TOPS + column] == parent:
            return column
    return NO_ONE


# -- which moves are legal ------------------------------------------------------------------------------------
# The eight top cards are one 64-bit word, so that one comparison serves eight columns, and sets of cards are bits: few
# branches to mispredict.


@inlined_kernel
def as_set(card: int) -> Any:
    """The set of one card, a uint64 with one bit; the bit of ``NO_PARENT`` is in no set of cards."""
    return _ONE << (np.uint64(card) & _LAST_BIT)


@inlined_kernel
def is_in(card: int, cards: Any) -> Any:
    """1 if a set of cards contains ``card``, else 0; uint64."""
    return (cards >> (np.uint64(card) & _LAST_BIT)) & _ONE


@inlined_kernel
def set_of_tops(board: Board) -> Any:
    """The set of the top cards; an empty column gives ``NO_CARD``, which is not a parent and never goes home."""
    cards = np.uint64(0)
    for column in range(N_COLUMNS):
        cards |= as_set(i64(board[TOPS + column]))
    return cards


@inlined_kernel
def set_of_next_home(board: Board) -> Any:
    """The set of the next cards on the foundations."""
    cards = np.uint64(0)
    for suit in range(N_SUITS):
        cards |= as_set(next_home(board, suit))
    return cards


@inlined_kernel
def top_cards(board: Board) -> Any:
    """The eight top cards as one uint64, column 0 in the lowest byte."""
    word = np.uint64(0)
    for column in range(N_COLUMNS):
        word |= np.uint64(board[TOPS + column]) << np.uint64(8 * column)
    return word


@inlined_kernel
def bytes_equal(word: Any, byte: int) -> Any:
    """1 in each byte of a uint64 that equals ``byte``, 0 in the others."""
    differs = word ^ (np.uint64(byte) * EACH_BYTE)
    # Set the highest bit of each byte that is not zero; no carry crosses into the next byte.
    marked = (((differs & LOW_BITS) + LOW_BITS) | differs) & HIGH_BITS
    return (marked ^ HIGH_BITS) >> np.uint64(7)


@inlined_kernel
def write_bytes(mask: Array, start: int, word: Any) -> int:
    """Write eight bytes, each 0 or 1, into a mask; return their sum."""
    for i in range(N_COLUMNS):
        mask[start + i] = np.int8((word >> np.uint64(8 * i)) & np.uint64(255))
    return i64((word * EACH_BYTE) >> np.uint64(56))


@inlined_kernel
def column_action(source: int, destination: int, size: int) -> int:
    """Action id of a column-to-column move."""
    skip = 1 if destination > source else 0
    return (source * (N_COLUMNS - 1) + destination - skip) * N_RANKS + size - 1


@inlined_kernel
def lowest_bit(word: Any) -> Any:
    """The lowest bit of a uint64, alone."""
    return word & (~word + _ONE)


@inlined_kernel
def byte_index(word: Any) -> int:
    """Index of the only byte of a uint64 that is 1; 0 if all are 0."""
    return i64((word * INDEX_OF_BYTE) >> np.uint64(56))


@inlined_kernel
def legal_moves(board: Board, mask: Array, prune: int) -> int:
    """Write the legal moves into ``mask[:780]`` (1 = legal) and count them.

    With ``prune``, moves that lead to an equivalent position are left out: every empty column except the
    leftmost as a target, and a whole column to an empty one. The result is empty only if there are no legal moves.
    """
    mask[:N_ACTIONS] = 0
    tops = top_cards(board)
    empty = bytes_equal(tops, NO_CARD)
    n_empty = i64((empty * EACH_BYTE) >> np.uint64(56))
    free = empty_cells(board)
    limit = group_limit(free, n_empty)
    on_top, going = set_of_tops(board), set_of_next_home(board)

    home = np.uint64(0)
    # Onto an occupied column only a whole run can go: its other cards lie on their parents.
    columns, cells = np.uint64(0), np.uint64(0)
    for s in range(N_COLUMNS):
        top, size = i64(board[TOPS + s]), i64(board[RUNS + s])
        here = np.uint64(8 * s)
        home |= is_in(top, going) << here
        columns |= (is_in(i64(TAKES[np.uint64(top + size)]), on_top) & np.uint64(size <= limit)) << here
    count = write_bytes(mask, COLUMN_HOME, home)
    count += write_bytes(mask, COLUMN_TO_CELL, empty ^ EACH_BYTE if free > 0 else np.uint64(0))
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        goes = is_in(card, going)
        mask[CELL_HOME + c] = goes
        count += i64(goes)
        cells |= is_in(i64(PARENT[np.uint64(card)]), on_top) << np.uint64(8 * c)

    if n_empty > 0:
        count += _moves_to_empty(board, mask, lowest_bit(empty) if prune else empty, limit >> 1, prune)
    while columns != np.uint64(0):
        s = byte_index(lowest_bit(columns))
        size = i64(board[RUNS + s])
        onto = bytes_equal(tops, i64(TAKES[np.uint64(i64(board[TOPS + s]) + size)]))
        mask[np.uint64(column_action(s, byte_index(onto), size))] = 1
        count += 1
        columns &= columns - _ONE
    while cells != np.uint64(0):
        c = byte_index(lowest_bit(cells))
        onto = bytes_equal(tops, i64(PARENT[np.uint64(board[CELLS + c])]))
        mask[np.uint64(CELL_TO_COLUMN + N_COLUMNS * c + byte_index(onto))] = 1
        count += 1
        cells &= cells - _ONE
    return count


@inlined_kernel
def _moves_to_empty(board: Board, mask: Array, target: Any, limit: int, prune: int) -> int:
    """Write the moves to the empty columns whose bytes in ``target`` are 1; return their number."""
    count = 0
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        if card not in (NO_CARD, NO_CELL):
            count += write_bytes(mask, CELL_TO_COLUMN + N_COLUMNS * c, target)
    for s in range(N_COLUMNS):
        size = min(i64(board[RUNS + s]), limit)
        if prune and size == i64(board[HEIGHTS + s]):
            size -= 1
        left = target
        while left != np.uint64(0) and size > 0:
            place = np.uint64(column_action(s, byte_index(lowest_bit(left)), 1))
            for k in range(size):
                mask[place + np.uint64(k)] = 1
            count += size
            left &= left - _ONE
    return count


@inlined_kernel
def why_illegal(board: Board, action: int) -> int:
    """``LEGAL``, or the first rule that ``action`` (0..779) breaks."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    size = i64(ACTION_TABLE[action, 2])
    if source < N_COLUMNS:
        card = i64(board[TOPS + source])
        if card == NO_CARD:
            return EMPTY_COLUMN
        if size > i64(board[RUNS + source]):
            return TOO_FEW_CARDS if size > i64(board[HEIGHTS + source]) else NOT_A_RUN
        card += size - 1
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
    top = board[TOPS + destination]
    if top != NO_CARD and top != PARENT[card]:
        return NOT_ON_PARENT
    if size == 1:
        return LEGAL
    empty = empty_columns(board)
    if top == NO_CARD:
        empty -= 1
    return LEGAL if size <= group_limit(free, empty) else TOO_MANY_CARDS


@inlined_kernel
def copy_row(row: Array, out: Array) -> None:
    """Copy a row into another of the same length. (With a plain assignment numba would allocate a third.)"""
    for i in range(row.shape[0]):
        out[i] = row[i]


# -- how a position changes -----------------------------------------------------------------------------------


@inlined_kernel
def deal(board: Board, deck: Array, n_cells: int) -> None:
    """Lay out a deck, uint8 ``(52,)``, row by row on 8 columns, with ``n_cells`` cells and nothing home."""
    board[:] = 0
    for i in range(N_CARDS):
        board[TABLEAU + i % N_COLUMNS * MAX_HEIGHT + i // N_COLUMNS] = deck[i]
    for c in range(n_cells, MAX_CELLS):
        board[CELLS + c] = NO_CELL
    for column in range(N_COLUMNS):
        board[HEIGHTS + column] = N_CARDS // N_COLUMNS + (column < N_CARDS % N_COLUMNS)
        look_at_top(board, column)


@kernel
def reindex(board: Board) -> None:
    """Compute HEIGHTS, TOPS and RUNS from the cards."""
    for column in range(N_COLUMNS):
        height = 0
        while height < MAX_HEIGHT and board[TABLEAU + column * MAX_HEIGHT + height] != NO_CARD:
            height += 1
        board[HEIGHTS + column] = height
        look_at_top(board, column)


@inlined_kernel
def look_at_top(board: Board, column: int) -> None:
    """Compute a column's TOPS and RUNS from its cards and its height."""
    height = i64(board[HEIGHTS + column])
    if height == 0:
        board[TOPS + column] = NO_CARD
        board[RUNS + column] = 0
        return
    top = TABLEAU + column * MAX_HEIGHT + height - 1
    card = i64(board[top])
    board[TOPS + column] = card
    size = 1
    while size < height and board[top - size] == PARENT[card]:
        card += 1
        size += 1
    board[RUNS + column] = size


@inlined_kernel
def take(board: Board, column: int, size: int) -> None:
    """Take the top ``size`` cards, a run, off a column."""
    height = i64(board[HEIGHTS + column]) - size
    start = TABLEAU + column * MAX_HEIGHT + height
    for i in range(size):
        board[start + i] = NO_CARD
    board[HEIGHTS + column] = height
    if board[RUNS + column] > size:
        board[RUNS + column] -= size
        board[TOPS + column] = board[start - 1]
    else:
        look_at_top(board, column)


@inlined_kernel
def put(board: Board, column: int, head: int, size: int) -> None:
    """Put a run of ``size`` cards from ``head`` down on a column."""
    height = i64(board[HEIGHTS + column])
    start = TABLEAU + column * MAX_HEIGHT + height
    for i in range(size):
        board[start + i] = head - i
    run = i64(board[RUNS + column]) if board[TOPS + column] == PARENT[head] else 0
    board[HEIGHTS + column] = height + size
    board[TOPS + column] = head - size + 1
    board[RUNS + column] = run + size


@inlined_kernel
def apply(board: Board, action: int) -> int:
    """Play a legal ``action``; return the card it moved (of a group, the highest)."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    size = i64(ACTION_TABLE[action, 2])
    if source < N_COLUMNS:
        card = i64(board[TOPS + source]) + size - 1
        take(board, source, size)
    else:
        card = i64(board[CELLS + source - FIRST_CELL])
        board[CELLS + source - FIRST_CELL] = NO_CARD
    if destination == TO_FOUNDATION:
        board[FOUNDATIONS + i64(SUIT[card])] += 1
    elif destination == TO_CELL:
        cell = 0
        while board[CELLS + cell] != NO_CARD:
            cell += 1
        board[CELLS + cell] = card
    else:
        put(board, destination, card, size)
    return card


@kernel
def revert(board: Board, action: int, card: int) -> None:
    """Take back ``action``, which moved ``card`` and was the last move."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    size = i64(ACTION_TABLE[action, 2])
    if destination == TO_FOUNDATION:
        board[FOUNDATIONS + i64(SUIT[card])] -= 1
    elif destination == TO_CELL:
        cell = 0
        while board[CELLS + cell] != card:
            cell += 1
        board[CELLS + cell] = NO_CARD
    else:
        take(board, destination, size)
    if source < N_COLUMNS:
        put(board, source, card, size)
    else:
        board[CELLS + source - FIRST_CELL] = card


@inlined_kernel
def played_action(history: History, place: int) -> int:
    """The action at an index of the undo history."""
    return i64(history[place]) & 1023


@inlined_kernel
def played_card(history: History, place: int) -> int:
    """The card that led that move."""
    return i64(history[place]) >> 10


@inlined_kernel
def push(board: Board, counters: Counters, history: History, action: int) -> int:
    """Play a legal ``action``, updating score and undo history; return its event."""
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
    return played_action(history, HISTORY_SIZE - 1 if head == 0 else head - 1)


@inlined_kernel
def last_card(counters: Counters, history: History) -> int:
    """The card that led the last move; there was one."""
    head = i64(counters[UNDO_HEAD])
    return played_card(history, HISTORY_SIZE - 1 if head == 0 else head - 1)


@inlined_kernel
def pop(board: Board, counters: Counters, history: History) -> int:
    """Take back the last move with its points; return its action, or -1 if the history is empty."""
    if counters[UNDO_LENGTH] == 0:
        return NO_ONE
    head = i64(counters[UNDO_HEAD])
    head = HISTORY_SIZE - 1 if head == 0 else head - 1
    action = played_action(history, head)
    revert(board, action, played_card(history, head))
    counters[UNDO_HEAD] = head
    counters[UNDO_LENGTH] -= 1
    counters[SCORE] -= POINTS[i64(EVENT[action])]
    counters[MOVES] -= 1
    return action


@kernel
def position_key(board: Board, key: Array) -> None:
    """Write the canonical key, uint8 ``(53,)``: the number of cells, then for each card what it lies on.

    A card's entry is the card beneath it, 0 at the base of a column, 53 in a cell, 54 at home. The key does not depend
    on the order of the columns or cells, so nothing has to be sorted.
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
