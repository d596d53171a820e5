"""Moves chosen by a rule instead of a destination, compiled: a double tap, and the first foundation move."""

from __future__ import annotations

from .cards import N_CARDS
from .jit import i64, kernel
from .kernels import NO_ONE, column_action, empty_cells, goes_home, parent_column
from .moves import CELL_HOME, CELL_TO_COLUMN, COLUMN_HOME, COLUMN_TO_CELL, FIRST_CELL
from .state import CELLS, MAX_CELLS, N_COLUMNS, NO_CARD, TOPS, Board


@kernel
def first_empty_column(board: Board) -> int:
    """The leftmost empty column, or -1."""
    for column in range(N_COLUMNS):
        if board[TOPS + column] == NO_CARD:
            return column
    return NO_ONE


@kernel
def to_column(source: int, destination: int, size: int) -> int:
    """Action id of a move to a column, from a column or (with size 1) from a cell."""
    if source < FIRST_CELL:
        return column_action(source, destination, size)
    return CELL_TO_COLUMN + (source - FIRST_CELL) * N_COLUMNS + destination


@kernel
def to_foundation(source: int) -> int:
    """Action id of a source's foundation move."""
    return COLUMN_HOME + source if source < FIRST_CELL else CELL_HOME + source - FIRST_CELL


@kernel
def tap_action(board: Board, source: int) -> int:
    """The action that a double tap on a source (0..11) plays.

    It sends one card to the first of these that takes it: its foundation, its parent, the leftmost empty column, a free
    cell. If none does, it is the source's foundation move, which is then illegal.
    """
    home = to_foundation(source)
    card = i64(board[TOPS + source] if source < FIRST_CELL else board[CELLS + source - FIRST_CELL])
    if not 1 <= card <= N_CARDS or goes_home(board, card):
        return home
    column = parent_column(board, card)
    if column < 0:
        column = first_empty_column(board)
    if column >= 0:
        return to_column(source, column, 1)
    if source < FIRST_CELL and empty_cells(board) > 0:
        return COLUMN_TO_CELL + source
    return home


@kernel
def foundation_action(board: Board) -> int:
    """The first legal foundation move, or -1."""
    for column in range(N_COLUMNS):
        if goes_home(board, i64(board[TOPS + column])):
            return COLUMN_HOME + column
    for c in range(MAX_CELLS):
        if goes_home(board, i64(board[CELLS + c])):
            return CELL_HOME + c
    return NO_ONE
