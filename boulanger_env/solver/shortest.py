"""A* over moves, a group counting as one: proven shortest solutions, and with a weight good ones fast.

Hart, Nilsson and Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths" (1968); with a
weighted bound, Pohl, "Heuristic Search Viewed as Path Finding in a Graph" (1970). The bound is :func:`moves_left`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS, N_RANKS, N_SUITS
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import group_limit
from boulanger_env.game.state import N_COLUMNS, Array

from .position import (
    BIT,
    CELLS,
    EMPTY,
    FREE,
    HIGH,
    HOME,
    LEFT,
    LOW,
    N_BYTES,
    N_WORDS,
    NEXT_BIT,
    NONE,
    PARENT_BIT,
    STEP,
    TOP,
    card_home,
    cell_to_column,
    column_of_parent,
    empty_column,
    hash_key,
    head_of,
    n_home,
    next_cards,
    run_to_column,
    tail_to_empty,
    top_to_cell,
)
from .search import copy_position, longer

FOUND, NONE_LEFT, MORE, NODES_FULL, ENTRIES_FULL, TABLE_FULL = range(6)
"""Why a search stopped: a solution; nothing left; its nodes are used up; no room in one of its arrays."""
FULL = (NODES_FULL, ENTRIES_FULL, TABLE_FULL)

RUN, TAIL, DOWN, UP = range(4)
"""Moves: a run to a column, the lowest cards of one to an empty column, a top card to a cell, a cell card to a column.

As one number: ``kind | column << 4 | to << 8 | size << 12 | card << 16`` with the group's highest card. A node may be
reached again with its columns in another order, so only a move's card, its size and whether it goes to an empty
column (``to`` = 8 in :func:`list_moves`) are permanent.
"""

NODES, ENTRIES, LOOKED, LOWEST, GOAL = range(5)

_MAX_MOVES = 256
_BUCKETS = 4096
_NODES_AT_FIRST = 1 << 14


class Graph(NamedTuple):
    """The positions that an A* search has met.

    Attributes:
        bytes: uint8 ``(m, 32)``, the positions ("nodes"); the root is the first.
        words: uint64 ``(m, 4)``, the rest of each position; the move that led to it is in ``words[:, 3]``.
        parent: int32 ``(m,)``, the node it came from.
        cost: int32 ``(m,)``, moves to get there.
        closed: bool ``(m,)``, expanded.
        table: int32 ``(places,)``: a node + 1 by the hash of its key, 0 = free; the size is a power of two.
        entry_node: int32 ``(k,)``: entries of the open list.
        entry_next: int32 ``(k,)``, the next entry + 1 of the same value.
        first: int32 ``(4096,)``: for each value the newest entry + 1.
        counts: int64 ``(5,)``: nodes, entries, nodes expanded, the lowest value that may be open, the goal's node + 1.
        moves: int64 ``(256,)``, the moves of one position.
        no_log: int64 ``(1,)``, a log that stores nothing.
    """

    bytes: NDArray[np.uint8]
    words: NDArray[np.uint64]
    parent: NDArray[np.int32]
    cost: NDArray[np.int32]
    closed: NDArray[np.bool_]
    table: NDArray[np.int32]
    entry_node: NDArray[np.int32]
    entry_next: NDArray[np.int32]
    first: NDArray[np.int32]
    counts: NDArray[np.int64]
    moves: NDArray[np.int64]
    no_log: NDArray[np.int64]


def new_graph() -> Graph:
    """Room for a small search; :func:`grown` makes more."""
    m = _NODES_AT_FIRST
    return Graph(
        bytes=np.zeros((m, N_BYTES), np.uint8),
        words=np.zeros((m, N_WORDS), np.uint64),
        parent=np.zeros(m, np.int32),
        cost=np.zeros(m, np.int32),
        closed=np.zeros(m, np.bool_),
        table=np.zeros(4 * m, np.int32),
        entry_node=np.zeros(2 * m, np.int32),
        entry_next=np.zeros(2 * m, np.int32),
        first=np.zeros(_BUCKETS, np.int32),
        counts=np.zeros(5, np.int64),
        moves=np.zeros(_MAX_MOVES, np.int64),
        no_log=np.zeros(1, np.int64),
    )


def grown(graph: Graph, status: int) -> Graph:
    """The same search with more room for what ``status`` says is full."""
    if status == NODES_FULL:
        names: tuple[str, ...] = ("bytes", "words", "parent", "cost", "closed")
    elif status == ENTRIES_FULL:
        names = ("entry_node", "entry_next")
    else:
        graph = graph._replace(table=np.zeros(2 * len(graph.table), np.int32))
        fill_table(graph)
        return graph
    return graph._replace(
        **{name: longer(getattr(graph, name), 2 * len(getattr(graph, name))) for name in names}
    )


def memory(graph: Graph) -> int:
    """Bytes in all the arrays."""
    return sum(array.nbytes for array in graph)


@kernel
def begin(start: Any, g: Any, b: Array, w: Array, weight_g: int, weight_h: int) -> None:
    """Play a position's foundation moves and make it the root of an empty graph."""
    g.table[:] = 0
    g.first[:] = 0
    g.counts[:] = 0
    copy_position(b, w, g.bytes[0], g.words[0])
    g.cost[0] = all_home(start, g.bytes[0], g.words[0], g.no_log)
    g.closed[0] = False
    g.table[find(g, g.words[0, LOW], g.words[0, HIGH])] = 1
    rest = moves_left(start, g.bytes[0])
    g.entry_node[0] = 0
    g.entry_next[0] = 0
    g.first[weight_g * i64(g.cost[0]) + weight_h * rest] = 1
    g.counts[NODES], g.counts[ENTRIES] = 1, 1
    if rest == 0:
        g.counts[GOAL] = 1


@kernel
def expand(start: Any, g: Any, weight_g: int, weight_h: int, below: int, nodes: int) -> int:
    """Expand up to ``nodes`` more positions, lowest ``weight_g * cost + weight_h * moves_left`` first.

    Positions that cannot lead to fewer than ``below`` moves are left out. With equal weights the solution found
    is a shortest one, and ``NONE_LEFT`` proves that there is none of fewer than ``below`` moves.
    """
    n, n_entries, lowest, looked = g.counts[NODES], g.counts[ENTRIES], g.counts[LOWEST], 0
    while True:
        while lowest < _BUCKETS and g.first[lowest] == 0:
            lowest += 1
        if lowest == _BUCKETS:
            status = NONE_LEFT
            break
        entry = i64(g.first[lowest]) - 1
        node = i64(g.entry_node[entry])
        if g.closed[node]:
            g.first[lowest] = g.entry_next[entry]
            continue
        if g.counts[GOAL] == node + 1:
            status = FOUND
            break
        if looked >= nodes:
            status = MORE
            break
        if n + _MAX_MOVES > g.cost.shape[0]:
            status = NODES_FULL
            break
        if n_entries + _MAX_MOVES > g.entry_node.shape[0]:
            status = ENTRIES_FULL
            break
        if 2 * (n + _MAX_MOVES) > g.table.shape[0]:
            status = TABLE_FULL
            break
        g.first[lowest] = g.entry_next[entry]
        g.closed[node] = True
        looked += 1
        for i in range(list_moves(start, g.bytes[node], g.words[node], g.moves)):
            b, w = g.bytes[n], g.words[n]
            copy_position(g.bytes[node], g.words[node], b, w)
            cost = i64(g.cost[node]) + take_move(start, b, w, g.moves[i], g.no_log)
            rest = moves_left(start, b)
            if cost + rest >= below:
                continue
            place = find(g, w[LOW], w[HIGH])
            child = i64(g.table[place]) - 1
            if child < 0:
                child = n
                n += 1
                g.table[place] = child + 1
            elif g.cost[child] <= cost:
                continue
            g.closed[child] = False
            g.cost[child] = cost
            g.parent[child] = node
            g.words[child, STEP] = g.moves[i]
            value = weight_g * cost + weight_h * rest
            g.entry_node[n_entries] = child
            g.entry_next[n_entries] = g.first[value]
            g.first[value] = n_entries + 1
            n_entries += 1
            lowest = min(lowest, value)
            if rest == 0:
                g.counts[GOAL] = child + 1
    g.counts[NODES], g.counts[ENTRIES], g.counts[LOWEST] = n, n_entries, lowest
    g.counts[LOOKED] += looked
    return status


@kernel
def moves_left(start: Any, b: Array) -> int:
    """A lower bound on the moves left, 0 only for a win.

    Each card that is not home needs a move home. Besides, a card that has not moved yet and lies above a lower card of
    its suit, but not on its parent, must go elsewhere before it can go home. That takes a separate move, since the
    other cards of its group lie on their parents. No move lowers the bound by more than one.
    """
    bound = N_CARDS - n_home(b)
    for column in range(N_COLUMNS):
        bound += i64(start.heads[column, b[LEFT + column]])
    return bound


@kernel
def list_moves(start: Any, b: Array, w: Array, moves: Array) -> int:
    """Write the moves of a position that has no foundation move; return their number.

    One empty column stands for all, and a whole column never goes to an empty one.
    """
    free, empty = i64(b[FREE]), i64(b[EMPTY])
    most = group_limit(free, empty)
    tops = NONE
    for column in range(N_COLUMNS):
        tops |= BIT[b[TOP + column]]
    count = 0
    for column in range(N_COLUMNS):
        top = i64(b[TOP + column])
        if top == 0:
            continue
        head = head_of(start, b, column)
        size = head - top + 1
        if tops & PARENT_BIT[head] and size <= most:
            moves[count] = move_code(RUN, column, column_of_parent(b, head), size, head)
            count += 1
        if free > 0:
            moves[count] = move_code(DOWN, column, 0, 1, top)
            count += 1
        if empty > 0:
            left = i64(b[LEFT + column])
            whole = left == 0 or left == i64(start.runs[column, left - 1])
            if not whole and size <= most >> 1:
                moves[count] = move_code(RUN, column, N_COLUMNS, size, head)
                count += 1
            for n in range(1, min(size - 1, most >> 1) + 1):
                moves[count] = move_code(TAIL, column, N_COLUMNS, n, top + n - 1)
                count += 1
    if w[CELLS]:
        for card in range(1, N_CARDS + 1):
            if w[CELLS] & BIT[card]:
                if tops & PARENT_BIT[card]:
                    moves[count] = move_code(UP, 0, column_of_parent(b, card), 1, card)
                    count += 1
                if empty > 0:
                    moves[count] = move_code(UP, 0, N_COLUMNS, 1, card)
                    count += 1
    return count


@kernel
def move_code(kind: int, column: int, to: int, size: int, card: int) -> int:
    """A move as one number."""
    return kind | column << 4 | to << 8 | size << 12 | card << 16


@kernel
def take_move(start: Any, b: Array, w: Array, move: int, log: Array) -> int:
    """Play a move and all foundation moves after it; return the number of moves."""
    kind, column, to, size, card = (
        move & 15,
        (move >> 4) & 15,
        (move >> 8) & 15,
        (move >> 12) & 15,
        move >> 16,
    )
    if to == N_COLUMNS:
        to = empty_column(b)
    if kind == RUN:
        run_to_column(start, b, w, column, to, log)
    elif kind == TAIL:
        tail_to_empty(start, b, w, column, size, to, log)
    elif kind == DOWN:
        top_to_cell(start, b, w, column, log)
    else:
        cell_to_column(b, w, card, to, log)
    return 1 + all_home(start, b, w, log)


@kernel
def find_columns(b: Array, move: int) -> int:
    """The same move with its columns as they are numbered in this position."""
    kind, to, size, card = move & 15, (move >> 8) & 15, (move >> 12) & 15, move >> 16
    column = 0
    if kind != UP:
        while i64(b[TOP + column]) != card - size + 1:
            column += 1
    if to != N_COLUMNS and kind != DOWN:
        to = column_of_parent(b, card)
    return move_code(kind, column, to, size, card)


@kernel
def all_home(start: Any, b: Array, w: Array, log: Array) -> int:
    """Play all foundation moves, which never makes a solution longer; return their number."""
    count = 0
    while True:
        tops = NONE
        for column in range(N_COLUMNS):
            tops |= BIT[b[TOP + column]]
        home = (tops | w[CELLS]) & next_cards(b)
        if home == 0:
            return count
        for suit in range(N_SUITS):
            if home & NEXT_BIT[suit, b[HOME + suit]]:
                card_home(start, b, w, suit * N_RANKS + i64(b[HOME + suit]) + 1, log)
                count += 1


@kernel
def find(g: Any, low: Any, high: Any) -> int:
    """The place of a key in the table: that of its node, or a free one."""
    last = np.uint64(g.table.shape[0] - 1)
    place = hash_key(low, high) & last
    while True:
        node = i64(g.table[place]) - 1
        if node < 0 or (g.words[node, LOW] == low and g.words[node, HIGH] == high):
            return i64(place)
        place = (place + np.uint64(1)) & last


@kernel
def fill_table(g: Any) -> None:
    """Put every node into an empty table."""
    for node in range(g.counts[NODES]):
        g.table[find(g, g.words[node, LOW], g.words[node, HIGH])] = node + 1
