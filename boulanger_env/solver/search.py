"""Depth-first search through settled positions, exhaustive: what it does not find is not there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_RANKS, N_SUITS
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.state import N_COLUMNS, Array

from .position import (
    EMPTY, FREE, HIGH, HOME, LEFT, LOW, N_BYTES, N_WORDS, TOP, n_home, head_of, CELLS, BIT
)
from .steps import MAX_STEPS, Digs, list_steps, new_digs, take_step

WON, LOST, STACK_FULL, TABLE_FULL, LIMIT = range(5)

# words[3] of a position on the stack: the step that led to it.
STEP = 3

SIZE, N_STACK, N_SEEN, N_NODES = 0, 1, 2, 3


class Search(NamedTuple):
    """The state of a search, so that it can stop at any node and go on.

    ``bytes`` uint8 ``(m, 32)`` and ``words`` uint64 ``(m, 4)``: the stack of positions, the step that led to each in
    ``words[:, 3]``; ``open`` bool ``(m,)``: those not looked at yet; ``seen`` uint64 ``(places, 2)``: the keys of every
    position met, ``places`` a power of two; ``counts`` int64 ``(3,)``: stack, keys, nodes.
    """

    bytes: NDArray[np.uint8]
    words: NDArray[np.uint64]
    open: NDArray[np.bool_]
    seen: NDArray[np.uint64]
    counts: NDArray[np.int64]
    child_bytes: NDArray[np.uint8]
    child_words: NDArray[np.uint64]
    values: NDArray[np.int64]
    order: NDArray[np.int64]
    steps: NDArray[np.int64]
    no_log: NDArray[np.int64]


STACK, KEYS, NODES = 0, 1, 2


@kernel
def add_key(seen: Array, low: Any, high: Any) -> bool:
    """Put a key into the table; False if it was there."""
    last = np.uint64(seen.shape[0] - 1)
    h = (low ^ (high * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xD6E8FEB86659FD93)
    place = (h ^ (h >> np.uint64(32))) & last
    while seen[place, 0] != 0 or seen[place, 1] != 0:
        if seen[place, 0] == low and seen[place, 1] == high:
            return False
        place = (place + np.uint64(1)) & last
    seen[place, 0] = low
    seen[place, 1] = high
    return True


@kernel
def copy_keys(old: Array, new: Array) -> None:
    """Put every key of a table into a larger, empty one."""
    for i in range(old.shape[0]):
        if old[i, 0] != 0 or old[i, 1] != 0:
            add_key(new, old[i, 0], old[i, 1])


@kernel
def value_of(start: Any, b: Array) -> int:
    """How near a position looks to a win; it decides only which is looked at first."""
    value = 5 * n_home(b) + 6 * i64(b[FREE]) + 6 * i64(b[EMPTY])
    for column in range(N_COLUMNS):
        if b[TOP + column] == 0:
            continue
        left = i64(b[LEFT + column])
        size = head_of(start, b, column) - i64(b[TOP + column])
        value += 4 * size - 2 * i64(start.blockers[column, left])
    for suit in range(N_SUITS):
        rank = i64(b[HOME + suit])
        if rank < N_RANKS:
            card = suit * N_RANKS + rank + 1
            column = i64(start.column[card])
            if column < N_COLUMNS and start.place[card] < b[LEFT + column]:
                value -= i64(b[LEFT + column]) - 1 - i64(start.place[card])
    return value


@kernel
def search(start: Any, digs: Any, s: Any, nodes: int) -> int:
    """Look at up to ``nodes`` more positions; WON leaves the winning line on the stack as its closed positions."""
    n, n_seen = s.counts[STACK], s.counts[KEYS]
    looked = 0
    status = LIMIT
    while True:
        if n == 0:
            status = LOST
            break
        top = n - 1
        if not s.open[top]:
            n -= 1
            continue
        if looked >= nodes:
            status = LIMIT
            break
        if n + MAX_STEPS > s.open.shape[0]:
            status = STACK_FULL
            break
        if 2 * (n_seen + MAX_STEPS) > s.seen.shape[0]:
            status = TABLE_FULL
            break
        s.open[top] = False
        looked += 1
        n_steps = list_steps(start, s.bytes[top], s.words[top], digs, s.steps)
        kept = 0
        for i in range(n_steps):
            b, w = s.child_bytes[kept], s.child_words[kept]
            for k in range(N_BYTES):
                b[k] = s.bytes[top, k]
            for k in range(3):
                w[k] = s.words[top, k]
            take_step(start, b, w, s.steps[i], s.no_log)
            if not add_key(s.seen, w[LOW], w[HIGH]):
                continue
            n_seen += 1
            w[STEP] = s.steps[i]
            if n_home(b) == 52:
                for k in range(N_BYTES):
                    s.bytes[n, k] = b[k]
                for k in range(N_WORDS):
                    s.words[n, k] = w[k]
                s.open[n] = False
                n += 1
                status = WON
                break
            value = value_of(start, b)
            k = kept
            while k > 0 and s.values[k - 1] > value:
                s.values[k] = s.values[k - 1]
                s.order[k] = s.order[k - 1]
                k -= 1
            s.values[k] = value
            s.order[k] = kept
            kept += 1
        if status == WON:
            break
        for i in range(kept):
            child = s.order[i]
            for k in range(N_BYTES):
                s.bytes[n, k] = s.child_bytes[child, k]
            for k in range(N_WORDS):
                s.words[n, k] = s.child_words[child, k]
            s.open[n] = True
            n += 1
    s.counts[STACK] = n
    s.counts[KEYS] = n_seen
    s.counts[NODES] += looked
    return status


def new_search(stack=8192, places=1 << 13):
    return Search(
        np.zeros((stack, N_BYTES), np.uint8), np.zeros((stack, N_WORDS), np.uint64), np.zeros(stack, np.bool_),
        np.zeros((places, 2), np.uint64), np.zeros(3, np.int64),
        np.zeros((MAX_STEPS, N_BYTES), np.uint8), np.zeros((MAX_STEPS, N_WORDS), np.uint64),
        np.zeros(MAX_STEPS, np.int64), np.zeros(MAX_STEPS, np.int64), np.zeros(MAX_STEPS, np.int64), np.zeros(1, np.int64))
