"""The complete search: depth first through settled positions until a win is found or nothing is left."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS, N_RANKS, N_SUITS
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.state import N_COLUMNS, Array, Board

from .position import (
    EMPTY,
    FREE,
    HIGH,
    HOME,
    LEFT,
    LOW,
    N_BYTES,
    N_WORDS,
    STEP,
    TOP,
    hash_key,
    head_of,
    n_home,
    settle,
)
from .start import read_board
from .steps import MAX_STEPS, Digs, list_steps, new_digs, take_step

WON, LOST, MORE, STACK_FULL, TABLE_FULL = range(5)
"""Why a search stopped: a win; nothing left; its nodes are used up; no room in one of its arrays."""
FULL = (STACK_FULL, TABLE_FULL)

STACK, KEYS, LOOKED, ROUND = range(4)

# Keys carry the search's number in their 8 spare bits, so that the table need not be cleared for each search.
_ROUNDS = 256
_TAG_SHIFT = np.uint64(60)
_TAG = np.uint64(15 << 60)

_STACK_AT_FIRST = 4096
_PLACES_AT_FIRST = 8192


class Search(NamedTuple):
    """A search that can pause after any node and resume.

    Attributes:
        bytes: uint8 ``(m, 32)``, the stack of positions; below an open position are those that led to it.
        words: uint64 ``(m, 4)``, the rest of each position; its step is in ``words[:, 3]``.
        waiting: bool ``(m,)``: not expanded yet.
        seen: uint64 ``(places, 2)``: the exact keys of all positions met; the size is a power of two.
        counts: int64 ``(4,)``: positions on the stack, keys in the table, positions expanded, searches in this table.
        child_bytes: uint8 ``(k, 32)``, the children of one position.
        child_words: uint64 ``(k, 4)``, likewise.
        values: int64 ``(k,)``, by which the children are sorted before they go on the stack.
        order: int64 ``(k,)``, their sorted order.
        steps: int64 ``(k,)``, the steps from one position.
        digs: working memory for listing them.
        no_log: int64 ``(1,)``, a log that stores nothing.
    """

    bytes: NDArray[np.uint8]
    words: NDArray[np.uint64]
    waiting: NDArray[np.bool_]
    seen: NDArray[np.uint64]
    counts: NDArray[np.int64]
    child_bytes: NDArray[np.uint8]
    child_words: NDArray[np.uint64]
    values: NDArray[np.int64]
    order: NDArray[np.int64]
    steps: NDArray[np.int64]
    digs: Digs
    no_log: NDArray[np.int64]


def new_search() -> Search:
    """Arrays for a small search; :func:`grown` enlarges them."""
    return Search(
        bytes=np.zeros((_STACK_AT_FIRST, N_BYTES), np.uint8),
        words=np.zeros((_STACK_AT_FIRST, N_WORDS), np.uint64),
        waiting=np.zeros(_STACK_AT_FIRST, np.bool_),
        seen=np.zeros((_PLACES_AT_FIRST, 2), np.uint64),
        counts=np.zeros(4, np.int64),
        child_bytes=np.zeros((MAX_STEPS, N_BYTES), np.uint8),
        child_words=np.zeros((MAX_STEPS, N_WORDS), np.uint64),
        values=np.zeros(MAX_STEPS, np.int64),
        order=np.zeros(MAX_STEPS, np.int64),
        steps=np.zeros(MAX_STEPS, np.int64),
        digs=new_digs(),
        no_log=np.zeros(1, np.int64),
    )


def grown(search: Search, status: int) -> Search:
    """The same search with larger arrays where ``status`` says that one is full."""
    if status == STACK_FULL:
        size = 2 * len(search.waiting)
        return search._replace(
            bytes=longer(search.bytes, size),
            words=longer(search.words, size),
            waiting=longer(search.waiting, size),
        )
    seen = np.zeros((2 * len(search.seen), 2), np.uint64)
    copy_keys(search.seen, search.counts[ROUND], seen)
    return search._replace(seen=seen)


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A copy with ``size`` rows, zeros after the old ones."""
    out = np.zeros((size, *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out


def memory(search: Search) -> int:
    """Bytes in the arrays that grow."""
    return search.bytes.nbytes + search.words.nbytes + search.waiting.nbytes + search.seen.nbytes


@kernel
def begin(s: Any, b: Array, w: Array) -> int:
    """Push a settled position onto the empty stack; return ``WON`` or ``LOST`` if that is known, else ``MORE``."""
    s.counts[STACK] = 0
    s.counts[LOOKED] = 0
    if n_home(b) == N_CARDS:
        return WON
    if not add_key(s.seen, s.counts[ROUND], w[LOW], w[HIGH]):
        return LOST
    s.counts[KEYS] += 1
    copy_position(b, w, s.bytes[0], s.words[0])
    s.waiting[0] = True
    s.counts[STACK] = 1
    return MORE


@kernel
def forget(s: Any) -> None:
    """Empty the table of keys."""
    s.counts[KEYS] = 0
    s.counts[ROUND] += 1
    if s.counts[ROUND] == _ROUNDS:
        s.counts[ROUND] = 1
        s.seen[:] = 0


@kernel
def begin_at(board: Board, start: Any, s: Any, b: Array, w: Array) -> int:
    """Start a new search from a game's row; return ``WON`` if settling alone wins, else ``MORE``."""
    forget(s)
    read_board(board, start, b, w)
    settle(start, b, w, s.no_log)
    return begin(s, b, w)


@kernel
def search_on(start: Any, s: Any, nodes: int) -> int:
    """Expand up to ``nodes`` more positions.

    Returns:
        Why it stopped. After ``WON`` the positions that are not ``waiting`` are the path to the win, in order.
    """
    n, n_keys, round_, looked = s.counts[STACK], s.counts[KEYS], s.counts[ROUND], 0
    status = LOST
    while n > 0:
        top = n - 1
        if not s.waiting[top]:
            n -= 1
            continue
        if looked >= nodes:
            status = MORE
            break
        if n + MAX_STEPS > s.waiting.shape[0]:
            status = STACK_FULL
            break
        if 2 * (n_keys + MAX_STEPS) > s.seen.shape[0]:
            status = TABLE_FULL
            break
        s.waiting[top] = False
        looked += 1
        kept = 0
        for i in range(list_steps(start, s.bytes[top], s.words[top], s.digs, s.steps)):
            b, w = s.child_bytes[kept], s.child_words[kept]
            copy_position(s.bytes[top], s.words[top], b, w)
            take_step(start, b, w, s.steps[i], s.no_log)
            if not add_key(s.seen, round_, w[LOW], w[HIGH]):
                continue
            n_keys += 1
            w[STEP] = s.steps[i]
            if n_home(b) == N_CARDS:
                copy_position(b, w, s.bytes[n], s.words[n])
                s.waiting[n] = False
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
            copy_position(s.child_bytes[s.order[i]], s.child_words[s.order[i]], s.bytes[n], s.words[n])
            s.waiting[n] = True
            n += 1
    s.counts[STACK] = n
    s.counts[KEYS] = n_keys
    s.counts[LOOKED] += looked
    return status


@kernel
def copy_position(b: Array, w: Array, to_b: Array, to_w: Array) -> None:
    """Copy the bytes and the words of a position."""
    for i in range(N_BYTES):
        to_b[i] = b[i]
    for i in range(N_WORDS):
        to_w[i] = w[i]


@kernel
def add_key(seen: Array, round_: int, low: Any, high: Any) -> bool:
    """Add a key to the table, which has room; False if it was already there."""
    tag_low, tag_high = np.uint64(round_ & 15) << _TAG_SHIFT, np.uint64(round_ >> 4) << _TAG_SHIFT
    last = np.uint64(seen.shape[0] - 1)
    place = hash_key(low, high) & last
    low |= tag_low
    high |= tag_high
    # Keys of earlier rounds count as free places.
    while seen[place, 0] & _TAG == tag_low and seen[place, 1] & _TAG == tag_high:
        if seen[place, 0] == low and seen[place, 1] == high:
            return False
        place = (place + np.uint64(1)) & last
    seen[place, 0] = low
    seen[place, 1] = high
    return True


@kernel
def copy_keys(old: Array, round_: int, new: Array) -> None:
    """Put every key of this round into a larger, empty table."""
    tag_low, tag_high = np.uint64(round_ & 15) << _TAG_SHIFT, np.uint64(round_ >> 4) << _TAG_SHIFT
    for i in range(old.shape[0]):
        if old[i, 0] & _TAG == tag_low and old[i, 1] & _TAG == tag_high:
            add_key(new, round_, old[i, 0] ^ tag_low, old[i, 1] ^ tag_high)


@kernel
def value_of(start: Any, b: Array) -> int:
    """How close a position looks to a win; affects only the order of the search."""
    value = 5 * n_home(b) + 6 * i64(b[FREE]) + 6 * i64(b[EMPTY])
    for column in range(N_COLUMNS):
        if b[TOP + column] == 0:
            continue
        on_parents = head_of(start, b, column) - i64(b[TOP + column])
        value += 4 * on_parents - 2 * i64(start.blockers[column, b[LEFT + column]])
    for suit in range(N_SUITS):
        rank = i64(b[HOME + suit])
        if rank < N_RANKS:
            card = suit * N_RANKS + rank + 1
            column = i64(start.column[card])
            if column < N_COLUMNS and start.place[card] < b[LEFT + column]:
                value -= i64(b[LEFT + column]) - 1 - i64(start.place[card])
    return value
