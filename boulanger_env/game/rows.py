"""Arrays of board rows given by a caller, one position per row: refused before a kernel relies on them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .checks import plain, whole_bytes
from .errors import InvalidBoardError
from .jit import i64, kernel
from .kernels import NO_ONE, PARENT, copy_row, deal
from .state import (
    BOARD_SIZE,
    HEIGHTS,
    MAX_HEIGHT,
    N_COLUMNS,
    NO_CARD,
    RUNS,
    TABLEAU,
    TOPS,
    Array,
    Board,
)
from .validity import index_positions, is_position, why_no_position


@kernel
def is_row(board: Board) -> bool:
    """Whether a board row is that of a position, with the heights, tops and runs that follow from its cards."""
    if not is_position(board):
        return False
    for column in range(N_COLUMNS):
        height = i64(board[HEIGHTS + column])
        if height > MAX_HEIGHT:
            return False
        end = TABLEAU + column * MAX_HEIGHT + height
        if height < MAX_HEIGHT and board[end] != NO_CARD:
            return False
        top, run = NO_CARD, 0
        if height > 0:
            top, run = i64(board[end - 1]), 1
            if top == NO_CARD:
                return False
            while run < height and board[end - 1 - run] == PARENT[top + run - 1]:
                run += 1
        if board[TOPS + column] != top or board[RUNS + column] != run:
            return False
    return True


@kernel
def deal_rows(decks: Array, n_cells: Array, out: Array) -> None:
    """Lay out decks, uint8 ``(n, 52)``, with ``n_cells`` cells each, into rows."""
    for i in range(decks.shape[0]):
        deal(out[i], decks[i], i64(n_cells[i]))


@kernel
def first_wrong_row(boards: Array) -> int:
    """The first of ``boards``, uint8 ``(n, BOARD_SIZE)``, that is not a position's row, or -1."""
    for i in range(boards.shape[0]):
        if not is_row(boards[i]):
            return i
    return NO_ONE


@kernel
def take_row(boards: Array, i: int, row: Board) -> bool:
    """Copy row ``i`` into ``row`` and say whether it is a position's.

    The copy is what a kernel goes on with: another thread cannot change it after the check.
    """
    copy_row(boards[i], row)
    return is_row(row)


def as_rows(values: Any, name: str = "positions") -> Board:
    """A caller's positions as uint8 ``(n, BOARD_SIZE)``, in the form that kernels take.

    What is in them is not checked, except in rows of cards, ``(n, 160)``, which are completed.

    Raises:
        InvalidBoardError: another shape, numbers that are not bytes, or cards that are not a position's.
    """
    rows = whole_bytes(name, values, InvalidBoardError)
    if rows.ndim == 2 and rows.shape[1] == HEIGHTS:
        cards, rows = rows, np.zeros((len(rows), BOARD_SIZE), np.uint8)
        rows[:, :HEIGHTS] = cards
        wrong = int(index_positions(rows))
        if wrong >= 0:
            refuse_row(rows, wrong)
    if rows.ndim != 2 or rows.shape[1] != BOARD_SIZE:
        hint = "; of one row, rows[None] makes an array" if rows.shape in ((BOARD_SIZE,), (HEIGHTS,)) else ""
        raise InvalidBoardError(
            f"{name} of shape {rows.shape}: one row per position is (n, {BOARD_SIZE}), or of its cards alone "
            f"(n, {HEIGHTS}){hint}"
        )
    return plain(rows)


def checked_rows(values: Any, name: str = "positions") -> Board:
    """A caller's positions, checked and copied.

    Raises:
        InvalidBoardError: see :func:`as_rows` and :func:`refuse_row`.
    """
    rows: Board = as_rows(values, name).copy()
    wrong = int(first_wrong_row(rows))
    if wrong >= 0:
        refuse_row(rows, wrong)
    return rows


def refuse_row(rows: Board, i: int) -> NoReturn:
    """Report what is wrong with row ``i``, for which ``is_row`` was false.

    Raises:
        InvalidBoardError: always.
    """
    row = rows[i].copy()
    if is_position(row):
        raise InvalidBoardError(
            f"position {i}: from byte {HEIGHTS} on, heights, tops and runs are not those of its cards: change a "
            "position with play, or make one with from_games or from_observation"
        )
    raise InvalidBoardError(f"position {i}: {why_no_position(row)}")
