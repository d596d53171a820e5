"""The steps of the complete search: from one settled position to the next ones.

A step digs (puts whole runs into cells) in at most two columns and then makes the move that the digging was for. The
documentation of the solver lists the steps and proves that no others are needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.state import MAX_CELLS, N_COLUMNS, Array

from .position import (
    BIT,
    CELLS,
    CHILD_BIT,
    EMPTY,
    FREE,
    LEFT,
    NONE,
    PARENT_BIT,
    TOP,
    cell_to_column,
    empty_column,
    head_of,
    is_alone,
    next_cards,
    run_to_cells,
    run_to_column,
    settle,
    tail_to_empty,
)

DIG, JOIN, SPREAD, SPLIT, CARRY, PLACE = range(6)
"""What a step ends with: the gain of the last dig; a run onto its parent; a run into an empty column, its ``n`` highest
cards into cells; the ``n`` lowest cards of a run into an empty column; the lowest card of a run into an empty column
with another run put on it; the card ``n`` from a cell into an empty column."""

MAX_DEPTH = MAX_CELLS + 1
MAX_STEPS = 1024


class Digs(NamedTuple):
    """What digging in each column of a position would uncover, ``(8, 5)`` arrays by column and number of runs dug.

    ``depth`` ``(8,)``: how often a column can be dug without a gain; ``gains`` ``(8,)``: whether one more dig gains.
    ``top``, ``head``, ``cost`` (cells taken): int64; ``taken``: uint64, the bits of the cards in cells;
    ``opened``: uint64, the bits of the children of the top cards up to here.
    ``whole``: whether the run at the top is all that is left of the column.
    ``where`` and ``where_head`` ``(53,)``: for each card that can be uncovered, as a top card or as the head of the
    run at the top, ``column * 5 + digs + 1``, else 0.
    """

    depth: NDArray[np.int64]
    gains: NDArray[np.bool_]
    top: NDArray[np.int64]
    head: NDArray[np.int64]
    cost: NDArray[np.int64]
    taken: NDArray[np.uint64]
    opened: NDArray[np.uint64]
    whole: NDArray[np.bool_]
    where: NDArray[np.uint8]
    where_head: NDArray[np.uint8]


def new_digs() -> Digs:
    """Arrays for the digs of one position."""
    shape = (N_COLUMNS, MAX_DEPTH)
    return Digs(
        depth=np.zeros(N_COLUMNS, np.int64),
        gains=np.zeros(N_COLUMNS, np.bool_),
        top=np.zeros(shape, np.int64),
        head=np.zeros(shape, np.int64),
        cost=np.zeros(shape, np.int64),
        taken=np.zeros(shape, np.uint64),
        opened=np.zeros(shape, np.uint64),
        whole=np.zeros(shape, np.bool_),
        where=np.zeros(N_CARDS + 1, np.uint8),
        where_head=np.zeros(N_CARDS + 1, np.uint8),
    )


@kernel
def look_down(start: Any, b: Array, w: Array, digs: Any) -> None:
    """Fill ``digs`` for a settled position."""
    digs.where[:] = 0
    digs.where_head[:] = 0
    tops, single = NONE, NONE
    for column in range(N_COLUMNS):
        tops |= BIT[b[TOP + column]]
        if is_alone(start, b, column):
            single |= BIT[b[TOP + column]]
    home = next_cards(b)
    loose = w[CELLS] | single
    free = i64(b[FREE])
    for column in range(N_COLUMNS):
        digs.gains[column] = False
        digs.depth[column] = -1
        top = i64(b[TOP + column])
        if top == 0:
            continue
        others = tops ^ BIT[top]
        left = i64(b[LEFT + column])
        head = head_of(start, b, column)
        cost, taken, opened = 0, NONE, CHILD_BIT[top]
        depth = 0
        while True:
            digs.depth[column] = depth
            digs.top[column, depth] = top
            digs.head[column, depth] = head
            digs.cost[column, depth] = cost
            digs.taken[column, depth] = taken
            digs.opened[column, depth] = opened
            digs.whole[column, depth] = left == 0 or left == i64(start.runs[column, left - 1])
            digs.where[top] = column * MAX_DEPTH + depth + 1
            digs.where_head[head] = column * MAX_DEPTH + depth + 1
            cost += head - top + 1
            # A run whose parent is a top card would come back from the cells at once: JOIN covers that.
            if cost > free or others & PARENT_BIT[head]:
                break
            for card in range(top, head + 1):
                taken |= BIT[card]
            if left > 0:
                left -= i64(start.runs[column, left - 1])
            if left == 0:
                digs.gains[column] = True
                break
            top = i64(start.cards[column, left - 1])
            head = top + i64(start.runs[column, left - 1]) - 1
            if BIT[top] & home or CHILD_BIT[top] & (loose | taken):
                digs.gains[column] = True
                break
            opened |= CHILD_BIT[top]
            depth += 1


@kernel
def step_code(end: int, a: int, digs_a: int, b: int, digs_b: int, n: int) -> int:
    """A step as one number."""
    return end | a << 4 | digs_a << 8 | b << 12 | digs_b << 16 | n << 20


@kernel
def take_step(start: Any, b: Array, w: Array, step: int, log: Array) -> None:
    """Change a settled position by a step, and settle it again."""
    end, column, other, n = step & 15, (step >> 4) & 15, (step >> 12) & 15, step >> 20
    for _ in range((step >> 8) & 15):
        run_to_cells(start, b, w, column, log)
    for _ in range((step >> 16) & 15):
        run_to_cells(start, b, w, other, log)
    if end == JOIN:
        run_to_column(start, b, w, column, other, log)
    elif end == SPREAD:
        size = head_of(start, b, column) - i64(b[TOP + column]) + 1
        to = empty_column(b)
        if n == 0:
            run_to_column(start, b, w, column, to, log)
        else:
            tail_to_empty(start, b, w, column, size - n, to, log)
            run_to_cells(start, b, w, column, log)
    elif end == SPLIT:
        tail_to_empty(start, b, w, column, n, empty_column(b), log)
    elif end == CARRY:
        to = empty_column(b)
        tail_to_empty(start, b, w, column, 1, to, log)
        run_to_column(start, b, w, other, to, log)
    elif end == PLACE:
        cell_to_column(b, w, n, empty_column(b), log)
    settle(start, b, w, log)


@kernel
def list_steps(start: Any, b: Array, w: Array, digs: Any, steps: Array) -> int:
    """Write the steps from a settled position into ``steps``, int64 ``(MAX_STEPS,)``; return their number."""
    look_down(start, b, w, digs)
    free, empty = i64(b[FREE]), i64(b[EMPTY])
    count = 0
    for a in range(N_COLUMNS):
        if digs.gains[a]:
            steps[count] = step_code(DIG, a, digs.depth[a] + 1, 0, 0, 0)
            count += 1
        for i in range(digs.depth[a] + 1):
            top, head = digs.top[a, i], digs.head[a, i]
            size = head - top + 1
            places = free - digs.cost[a, i] + empty
            found = i64(digs.where[head + 1]) if PARENT_BIT[head] else 0
            if found:
                c, j = (found - 1) // MAX_DEPTH, (found - 1) % MAX_DEPTH
                if (
                    c != a
                    and size - 1 + digs.cost[c, j] <= places
                    and digs.cost[a, i] + digs.cost[c, j] <= free
                    and digs.opened[a, i] & digs.taken[c, j] == 0
                    and digs.opened[c, j] & digs.taken[a, i] == 0
                ):
                    steps[count] = step_code(JOIN, a, i, c, j, 0)
                    count += 1
            if empty == 0:
                continue
            if size <= places:
                for n in range(1 if digs.whole[a, i] else 0, min(size - 1, free - digs.cost[a, i]) + 1):
                    steps[count] = step_code(SPREAD, a, i, 0, 0, n)
                    count += 1
            for n in range(2, min(size - 1, places) + 1):
                steps[count] = step_code(SPLIT, a, i, 0, 0, n)
                count += 1
            if size > 1 and CHILD_BIT[top]:
                found = i64(digs.where_head[top - 1])
                if found:
                    c, j = (found - 1) // MAX_DEPTH, (found - 1) % MAX_DEPTH
                    if (
                        c != a
                        and digs.head[c, j] - digs.top[c, j] + 1 + digs.cost[c, j] <= places
                        and digs.cost[a, i] + digs.cost[c, j] <= free
                        and digs.opened[a, i] & digs.taken[c, j] == 0
                        and digs.opened[c, j] & digs.taken[a, i] == 0
                    ):
                        steps[count] = step_code(CARRY, a, i, c, j, 0)
                        count += 1
    if empty > 0:
        for card in range(1, N_CARDS + 1):
            if w[CELLS] & BIT[card]:
                steps[count] = step_code(PLACE, 0, 0, 0, 0, card)
                count += 1
    return count
