"""The positions that an episode has been in since its last card went home; ``repeats.py`` forbids the moves back.

A card that went home stays there (there is no undo here), so earlier positions cannot come back and are forgotten.

Each game has a row ``head``, with a filter of 64 bits, which says at once that most moves lead somewhere new, and a
region of one table that all games share: the list of the positions' hashes, which decides. So a step touches two lines
of memory. Kernels allocate nothing: :func:`with_room` sees to it that the next steps find room.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.hashing import position_hash
from boulanger_env.game.jit import i64, inlined_kernel, kernel
from boulanger_env.game.kernels import (
    as_set,
)
from boulanger_env.game.state import (
    Array,
    Board,
)

# Columns of a head, all uint64: where the game's region starts, how many positions it has room for (a power of two),
# how many there are, the hash of the current one, the set of the cards that have moved since the first, and the filter:
# the set of the hashes' last six bits.
V_START, V_ROOM, V_COUNT, V_KEY, V_MOVED, V_FILTER = range(6)
N_HEAD = 8  # a cache line

SMALLEST = 32
"""The positions that a game has room for at first."""

# Beside a uint64 every operand must be one: with a signed number it turns to float.
_START, _ROOM, _COUNT, _KEY, _MOVED, _FILTER = (np.uint64(n) for n in range(6))
_0, _1, _2, _63 = (np.uint64(n) for n in (0, 1, 2, 63))


class Visits(NamedTuple):
    """The memory of one game."""

    head: Array
    """uint64 ``(N_HEAD,)``"""
    table: Array
    """uint64, shared by all games."""


@inlined_kernel
def has_been(visits: Visits, key: Any) -> bool:
    """Whether the game has been in a position, by its hash."""
    head = visits.head
    if (head[_FILTER] >> (key & _63)) & _1 == _0:
        return False
    return _is_listed(visits.table, head[_START], head[_COUNT], key)


@kernel
def _is_listed(table: Array, first: Any, count: Any, key: Any) -> bool:
    found = False
    for i in range(i64(count)):
        found |= table[first + np.uint64(i)] == key
    return found


@inlined_kernel
def arrive(visits: Visits, key: Any) -> None:
    """Remember a position as the current one, for which there is room."""
    head, table = visits
    table[head[_START] + head[_COUNT]] = key
    head[_COUNT] += _1
    head[_KEY] = key
    head[_FILTER] |= _1 << (key & _63)


@inlined_kernel
def forget(visits: Visits) -> None:
    """Forget all positions."""
    visits.head[_COUNT] = _0
    visits.head[_MOVED] = _0
    visits.head[_FILTER] = _0


@inlined_kernel
def note_card(visits: Visits, card: int) -> None:
    """Note which card has moved."""
    visits.head[_MOVED] |= as_set(card)


@inlined_kernel
def begin(visits: Visits, board: Board) -> None:
    """Begin an episode."""
    forget(visits)
    arrive(visits, position_hash(board))


# -- room -----------------------------------------------------------------------------------------------------


def no_visits(n: int, positions: int = 0) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Heads and table of ``n`` games that have been nowhere, with room for so many positions: a power of two, or 0."""
    return _of_rooms(np.full(n, positions, np.uint64))


def _of_rooms(rooms: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    heads = np.zeros((len(rooms), N_HEAD), np.uint64)
    heads[1:, V_START] = np.cumsum(rooms)[:-1]
    heads[:, V_ROOM] = rooms
    return heads, np.zeros(int(rooms.sum()), np.uint64)


def room_for(positions: int) -> int:
    """The smallest room for so many positions."""
    return max(SMALLEST, 1 << (positions - 1).bit_length())


def room(heads: NDArray[np.uint64]) -> int:
    """How many more positions every game has room for."""
    return int((heads[:, V_ROOM] - heads[:, V_COUNT]).min())


def with_room(
    heads: NDArray[np.uint64], table: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The same memory; games that had filled more than half of their room have twice as much or more."""
    rooms = heads[:, V_ROOM].copy()
    while (tight := heads[:, V_COUNT] * _2 > rooms).any():
        rooms[tight] *= _2
    grown, space = _of_rooms(rooms)
    _move(heads, table, grown, space)
    return grown, space


def first_visits(no_repeats: bool) -> Visits:
    """The memory of one game, with room, or without."""
    heads, table = no_visits(1, SMALLEST * no_repeats)
    return Visits(heads[0], table)


def make_room(visits: Visits) -> Visits:
    """The memory of one game, with room for another position."""
    heads, table = with_room(visits.head[None], visits.table)
    return Visits(heads[0], table)


@kernel
def _move(heads: Array, table: Array, grown: Array, space: Array) -> None:
    for i in range(heads.shape[0]):
        head, new = heads[i], Visits(grown[i], space)
        first = head[_START]
        for k in range(i64(head[_COUNT])):
            arrive(new, table[first + np.uint64(k)])
        grown[i, V_KEY], grown[i, V_MOVED] = head[_KEY], head[_MOVED]


# -- as plain arrays with a row for each game, for states ------------------------------------------------------

VISITS, VISITED = "visits", "visited"


def listed_visits(heads: NDArray[np.uint64], table: NDArray[np.uint64]) -> dict[str, NDArray[Any]]:
    """Where games have been: ``visits`` (how many positions, the current one, the cards that have moved), and
    ``visited``, the hashes of these positions, as many columns as a power of two that holds all."""
    width = room_for(int(heads[:, V_COUNT].max(initial=1)))
    listed = np.zeros((len(heads), width), np.uint64)
    _list(heads, table, listed)
    return {VISITS: heads[:, [V_COUNT, V_KEY, V_MOVED]], VISITED: listed}


def with_visits(
    heads: NDArray[np.uint64],
    table: NDArray[np.uint64],
    chosen: NDArray[np.int64] | slice,
    listed: Mapping[str, NDArray[Any]],
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The memory of games, of which some have been where ``listed_visits`` says; in place if there is room."""
    visits, visited = listed[VISITS], np.ascontiguousarray(listed[VISITED])
    counts = visits[:, 0].copy()
    if (counts > heads[chosen, V_ROOM]).any():
        rooms = heads[:, V_ROOM].copy()
        rooms[chosen] = [room_for(count) for count in counts.tolist()]
        kept, kept_table = heads.copy(), table
        kept[chosen, V_COUNT] = 0
        heads, table = _of_rooms(rooms)
        _move(kept, kept_table, heads, table)
    _unlist(heads, table, np.arange(len(heads))[chosen], counts, visited)
    heads[chosen, V_KEY], heads[chosen, V_MOVED] = visits[:, 1], visits[:, 2]
    return heads, table


@kernel
def _list(heads: Array, table: Array, listed: Array) -> None:
    for i in range(heads.shape[0]):
        first = heads[i, _START]
        for k in range(i64(heads[i, _COUNT])):
            listed[i, k] = table[first + np.uint64(k)]


@kernel
def _unlist(heads: Array, table: Array, chosen: Array, counts: Array, listed: Array) -> None:
    for i in range(chosen.shape[0]):
        visits = Visits(heads[chosen[i]], table)
        forget(visits)
        for k in range(i64(counts[i])):
            arrive(visits, listed[i, k])
