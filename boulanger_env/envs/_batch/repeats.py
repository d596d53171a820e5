"""The moves that lead to a position that the episode has been in, taken out of a mask.

A move changes what one card lies on, so it leads back only if that card has moved before, or if it moves a whole
column to another place. Foundation moves never lead back, and those that would play themselves after a move need no
thought: where one is legal, the episode has not been.
"""

from __future__ import annotations

import numpy as np

from boulanger_env.envs.action_maps import (
    CARDS,
    IN_CELL,
    INTO_CELL,
    INTO_EMPTY,
    ONTO,
    ONTO_PARENT,
    TAPS,
    TO_EMPTY,
)
from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.hashing import LIES_ON
from boulanger_env.game.jit import i64, inlined_kernel, kernel
from boulanger_env.game.kernels import (
    KEY_BASE,
    KEY_CELL,
    NO_PARENT,
    PARENT,
    byte_index,
    empty_columns,
    is_in,
    lowest_bit,
    parent_column,
)
from boulanger_env.game.moves import COLUMN_TO_CELL, FIRST_CELL
from boulanger_env.game.state import (
    CELLS,
    HEIGHTS,
    MAX_CELLS,
    MAX_HEIGHT,
    N_COLUMNS,
    NO_CARD,
    RUNS,
    TABLEAU,
    TOPS,
    Array,
    Board,
)
from boulanger_env.game.taps import tap_action, to_column

from .visits import V_KEY, V_MOVED, Visits, has_been

_0, _1 = np.uint64(0), np.uint64(1)

# What a card's place adds to a hash, by card; also for NO_CARD and NO_CELL, where it means nothing.
_ON_PARENT = np.array([LIES_ON[c, c + (PARENT[c] != NO_PARENT)] for c in (*range(N_CARDS + 1), 0)], np.uint64)
_IN_CELL = np.append(LIES_ON[:, KEY_CELL], _0)
_AT_BASE = np.append(LIES_ON[:, KEY_BASE], _0)


@inlined_kernel
def forbid_repeats(board: Board, visits: Visits, mask: Array, actions: int) -> int:
    """Take the moves that lead back out of a mask of legal actions; return how many were taken out."""
    moved = visits.head[V_MOVED]
    n_empty = empty_columns(board)
    columns, cells = _0, _0
    for s in range(N_COLUMNS):
        top, run = i64(board[TOPS + s]), i64(board[RUNS + s])
        suspect = is_in(top, moved) | is_in(top + run - 1, moved)
        if n_empty > 0:
            suspect |= np.uint64((run > 1) | (run == i64(board[HEIGHTS + s])))
        columns |= suspect << np.uint64(8 * s)
    for c in range(MAX_CELLS):
        cells |= is_in(i64(board[CELLS + c]), moved) << np.uint64(8 * c)
    count = 0
    while columns != _0:
        count += _forbid_column(board, visits, mask, actions, byte_index(lowest_bit(columns)), n_empty)
        columns &= columns - _1
    while cells != _0:
        count += _forbid_cell(board, visits, mask, actions, byte_index(lowest_bit(cells)), n_empty)
        cells &= cells - _1
    return count


@inlined_kernel
def _forbid_column(board: Board, visits: Visits, mask: Array, actions: int, column: int, n_empty: int) -> int:
    """``forbid_repeats`` for the moves from a column."""
    height, top, run = i64(board[HEIGHTS + column]), i64(board[TOPS + column]), i64(board[RUNS + column])
    if height == 0:
        return 0
    key, lead = visits.head[V_KEY], top + run - 1
    under = i64(board[TABLEAU + column * MAX_HEIGHT + height - run - 1]) if height > run else KEY_BASE
    lifted = key ^ LIES_ON[lead, under]
    # A card that lies on its parent leaves that, not what the run lies on.
    alone = lifted if run == 1 else key ^ _ON_PARENT[top]
    count = 0
    if has_been(visits, alone ^ _IN_CELL[top]):
        count += _forbid(board, mask, actions, top, INTO_CELL, column, 1)
    if has_been(visits, lifted ^ _ON_PARENT[lead]):
        count += _forbid(board, mask, actions, lead, ONTO_PARENT, column, run)
    if n_empty > 0:
        if has_been(visits, lifted ^ _AT_BASE[lead]):
            count += _forbid(board, mask, actions, lead, INTO_EMPTY, column, run)
        for card in range(top, lead):
            if has_been(visits, key ^ _ON_PARENT[card] ^ _AT_BASE[card]):
                count += _forbid(board, mask, actions, card, INTO_EMPTY, column, card - top + 1)
    return count


@inlined_kernel
def _forbid_cell(board: Board, visits: Visits, mask: Array, actions: int, cell: int, n_empty: int) -> int:
    """``forbid_repeats`` for the moves from a cell."""
    card = i64(board[CELLS + cell])
    lifted = visits.head[V_KEY] ^ _IN_CELL[card]
    count = 0
    if has_been(visits, lifted ^ _ON_PARENT[card]):
        count += _forbid(board, mask, actions, card, ONTO_PARENT, FIRST_CELL + cell, 1)
    if n_empty > 0 and has_been(visits, lifted ^ _AT_BASE[card]):
        count += _forbid(board, mask, actions, card, INTO_EMPTY, FIRST_CELL + cell, 1)
    return count


@kernel
def _forbid(board: Board, mask: Array, actions: int, card: int, kind: int, source: int, size: int) -> int:
    """Take one card's moves to one kind of place out of a mask; return how many of them were in it."""
    if actions == CARDS:
        return _clear(
            mask, i64((ONTO if kind == ONTO_PARENT else IN_CELL if kind == INTO_CELL else TO_EMPTY)[card])
        )
    if kind == INTO_CELL:
        return _forbid_place(board, mask, actions, source, COLUMN_TO_CELL + source)
    if kind == ONTO_PARENT:
        column = parent_column(board, card)
        if column < 0:
            return 0
        return _forbid_place(board, mask, actions, source, to_column(source, column, size))
    count = 0
    for column in range(N_COLUMNS):
        if board[TOPS + column] == NO_CARD:
            count += _forbid_place(board, mask, actions, source, to_column(source, column, size))
    return count


@inlined_kernel
def _forbid_place(board: Board, mask: Array, actions: int, source: int, place: int) -> int:
    if actions == TAPS:
        return _clear(mask, source) if tap_action(board, source) == place else 0
    return _clear(mask, place)


@inlined_kernel
def _clear(mask: Array, action: int) -> int:
    before = i64(mask[action])
    mask[action] = 0
    return before
