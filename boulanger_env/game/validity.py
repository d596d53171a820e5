"""Checks that a caller's rows are a valid game: kernels use their content as indices and check nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import text
from .cards import N_CARDS, N_RANKS, N_SUITS
from .errors import InvalidBoardError
from .jit import i64, kernel
from .kernels import (
    EVENT,
    LEGAL,
    NO_ONE,
    POINTS,
    RANK,
    SUIT,
    as_set,
    played_action,
    played_card,
    reindex,
    revert,
    why_illegal,
)
from .moves import ACTION_TABLE, FIRST_CELL, N_ACTIONS, TO_CELL, TO_FOUNDATION
from .state import (
    BOARD_SIZE,
    CELL_COUNTS,
    CELLS,
    FOUNDATIONS,
    HEIGHTS,
    HISTORY_SIZE,
    MAX_CELLS,
    MAX_HEIGHT,
    MOVES,
    N_COLUMNS,
    N_COUNTERS,
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

_ALL_CARDS = np.uint64(sum(1 << card for card in range(1, N_CARDS + 1)))
_ONE = np.uint64(1)
_ROOM_FOR_ANY = MAX_HEIGHT - N_RANKS
"""The highest place from which no card's lower ones can outgrow the column."""
_FOUR_CELLS, _TWO_CELLS, _ONE_CELL = CELL_COUNTS
_ROWS = (
    ("board", np.dtype(np.uint8), BOARD_SIZE),
    ("counters", np.dtype(np.int32), N_COUNTERS),
    ("history", np.dtype(np.uint16), HISTORY_SIZE),
)


@kernel
def is_position(board: Board) -> bool:
    """Whether the cards of a board row are a position; the rest of the row is ignored.

    Each card is in one place, columns have no gaps and cannot outgrow their room, and there are 4, 2 or 1 cells.
    """
    cards, count = np.uint64(0), 0
    for suit in range(N_SUITS):
        rank = i64(board[FOUNDATIONS + suit])
        if rank > N_RANKS:
            return False
        count += rank
        cards |= ((_ONE << np.uint64(rank)) - _ONE) << np.uint64(suit * N_RANKS + 1)
    n_cells = 0
    while n_cells < MAX_CELLS and board[CELLS + n_cells] != NO_CELL:
        n_cells += 1
    if n_cells != _FOUR_CELLS and n_cells != _TWO_CELLS and n_cells != _ONE_CELL:
        return False
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        if c >= n_cells:
            if card != NO_CELL:
                return False
        elif card > N_CARDS:
            return False
        elif card != NO_CARD:
            cards |= as_set(card)
            count += 1
    # One loop of a fixed length over all places, which the compiler turns into few instructions.
    lying, highest = 0, 0
    for place in range(TABLEAU, CELLS):
        card = i64(board[place])
        lying += card != NO_CARD
        highest = max(highest, card)
    if lying + count != N_CARDS or highest > N_CARDS:
        return False
    for column in range(N_COLUMNS):
        start, place = TABLEAU + column * MAX_HEIGHT, 0
        while place < MAX_HEIGHT and board[start + place] != NO_CARD:
            card = i64(board[start + place])
            # All lower cards of its suit that are not home may end up on it.
            waits_for = i64(RANK[card]) - i64(board[FOUNDATIONS + i64(SUIT[card])])
            if place > _ROOM_FOR_ANY and place + waits_for > MAX_HEIGHT:
                return False
            cards |= as_set(card)
            place += 1
        lying -= place
    # Cards that are left lie above a gap.
    return bool(lying == 0 and cards == _ALL_CARDS)


@kernel
def index_positions(boards: Array) -> int:
    """Compute the rest of each row (``reindex``) from its cards, up to the first row that is not a position.

    Returns:
        The index of that row, or -1.
    """
    for i in range(boards.shape[0]):
        if not is_position(boards[i]):
            return i
        reindex(boards[i])
    return NO_ONE


def complete_rows(boards: Board) -> None:
    """Complete board rows ``(n, BOARD_SIZE)`` in place from their cards.

    Raises:
        InvalidBoardError: one is not a position; the message says why and, of several rows, which.
    """
    wrong = int(index_positions(boards))
    if wrong >= 0:
        which = f"game {wrong}: " if len(boards) > 1 else ""
        raise InvalidBoardError(which + why_no_position(boards[wrong]))


def why_no_position(board: Board) -> str:
    """What is wrong with a board row that is not a position."""
    columns = board[TABLEAU:CELLS].reshape(N_COLUMNS, MAX_HEIGHT).tolist()
    for number, column in enumerate(columns, 1):
        while column and not column[-1]:
            column.pop()
        if NO_CARD in column:
            return f"column {number} has a gap below {column[-1]}: cards lie one on the other from place 0 on"
    cells = board[CELLS:FOUNDATIONS].tolist()
    while cells and cells[-1] == NO_CELL:
        cells.pop()
    if len(cells) not in CELL_COUNTS or NO_CELL in cells:
        return (
            f"cells {board[CELLS:FOUNDATIONS].tolist()}: a game has 4, 2 or 1, and {NO_CELL} stands for each cell "
            "after them"
        )
    return text.why_no_position(columns, cells, board[FOUNDATIONS:HEIGHTS].tolist())


def check_state(board: Any, counters: Any, history: Any) -> None:
    """Check that rows are the state of a game (``state.py``) whose undo history leads to its board.

    Raises:
        InvalidBoardError: they are not; the message says why.
    """
    for row, (name, dtype, size) in zip((board, counters, history), _ROWS, strict=True):
        if type(row) is not np.ndarray or row.dtype != dtype or row.shape != (size,) or not row.flags.carray:
            given = f"{row.dtype} {row.shape}" if isinstance(row, np.ndarray) else type(row).__name__
            raise InvalidBoardError(
                f"{name}: {given}: it must be a plain, writable array of {dtype} ({size},)"
            )
    copy = board.copy()
    complete_rows(copy[None])
    if not np.array_equal(copy, board):
        raise InvalidBoardError(f"board: from place {HEIGHTS} on, heights, tops and runs are not its cards'")
    if not history_leads_to(copy, counters, history):
        raise InvalidBoardError("counters and history: they are not those of moves that lead to this board")


@kernel
def history_leads_to(board: Board, counters: Counters, history: History) -> bool:
    """Whether moves and points can be undone as the history says; ``board`` is modified."""
    length, head, points = i64(counters[UNDO_LENGTH]), i64(counters[UNDO_HEAD]), 0
    if not (0 <= length <= HISTORY_SIZE and 0 <= head < HISTORY_SIZE and length <= counters[MOVES]):
        return False
    for _ in range(length):
        head = HISTORY_SIZE - 1 if head == 0 else head - 1
        action, card = played_action(history, head), played_card(history, head)
        if action >= N_ACTIONS or not _can_revert(board, action, card):
            return False
        revert(board, action, card)
        if not is_position(board) or why_illegal(board, action) != LEGAL:
            return False
        points += i64(POINTS[i64(EVENT[action])])
    return bool(points <= counters[SCORE])


@kernel
def _can_revert(board: Board, action: int, card: int) -> bool:
    """Whether the board can follow ``action``: its card is where it went, with room where it came from."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    size = i64(ACTION_TABLE[action, 2])
    if not 1 <= card <= N_CARDS:
        return False
    if destination == TO_FOUNDATION:
        there = board[FOUNDATIONS + i64(SUIT[card])] == RANK[card]
    elif destination == TO_CELL:
        there = False
        for c in range(MAX_CELLS):
            there = there or board[CELLS + c] == card
    else:
        there = board[RUNS + destination] >= size and i64(board[TOPS + destination]) + size - 1 == card
    if source < N_COLUMNS:
        return bool(there and i64(board[HEIGHTS + source]) + size <= MAX_HEIGHT)
    return bool(there and board[CELLS + source - FIRST_CELL] == NO_CARD)
