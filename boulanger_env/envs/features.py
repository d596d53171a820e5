"""The ``"features"`` observation: one flat vector of bits that a plain network can learn from.

``FEATURES`` names its ranges. Its design:

* One block per fact, one row per card, so that the meaning of a bit never depends on another bit: a network need not
  find out where a card is before it can see what may be done with it.
* A card's place is one-hot, and counted from the top of its column: what matters is how many cards lie on it.
* Consequences of the rules are given, not left to be learned: runs, which cards may move, which are next to go
  home, which block a lower card of their suit, how many cards may move together.
* Nothing is lost: the board can be rebuilt from the bits of place and the cell count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS, N_RANKS, N_SUITS, rank_of
from boulanger_env.game.errors import InvalidBoardError
from boulanger_env.game.jit import i64, inlined_kernel, kernel
from boulanger_env.game.kernels import (
    NO_ONE,
    PARENT,
    TAKES,
    as_set,
    empty_cells,
    empty_columns,
    group_limit,
    is_in,
    set_of_next_home,
    set_of_tops,
    write_bytes,
)
from boulanger_env.game.state import (
    CELL_COUNTS,
    CELLS,
    FOUNDATIONS,
    HEIGHTS,
    MAX_CELLS,
    MAX_HEIGHT,
    N_COLUMNS,
    NO_CARD,
    NO_CELL,
    RUNS,
    TABLEAU,
    TOPS,
    Array,
    Board,
)


class Feature(NamedTuple):
    """A named range of the ``"features"`` observation."""

    start: int
    shape: tuple[int, ...]
    meaning: str

    @property
    def stop(self) -> int:
        """One past the last bit."""
        return self.start + int(np.prod(self.shape))


_LAYOUT: tuple[tuple[str, tuple[int, ...], str], ...] = (
    ("column", (52, 8), "the column that the card lies in, one-hot"),
    ("cell", (52, 4), "the cell that it lies in, one-hot"),
    ("home", (52,), "it is on its foundation"),
    ("cards_above", (52, 19), "cards that lie on it in its column, one-hot 0-18"),
    ("on_parent", (52,), "it lies on the next higher card of its suit"),
    ("in_run", (52,), "it and all cards above it are an ordered run"),
    ("blocks", (52,), "it lies above a lower card of its own suit"),
    ("next_home", (52,), "it is the next card of its suit to go home, wherever it lies"),
    ("can_go_home", (52,), "moving it to its foundation is legal now"),
    ("can_go_to_parent", (52,), "moving it, with the run above it, onto its parent is legal now"),
    ("foundation_rank", (4, 14), "rank that each suit's foundation has reached, one-hot 0-13"),
    ("n_cells", (3,), "cells of this game, one-hot 4, 2, 1"),
    ("empty_cells", (5,), "empty cells, one-hot 0-4"),
    ("empty_columns", (9,), "empty columns, one-hot 0-8"),
    ("group_limit", (13,), "largest group that may move onto a column, one-hot 1-13 (13 = or more)"),
    ("group_limit_to_empty", (14,), "the same into an empty column, one-hot 0-13 (0 = there is none)"),
)


def _features() -> dict[str, Feature]:
    table, start = {}, 0
    for name, shape, meaning in _LAYOUT:
        table[name] = Feature(start, shape, meaning)
        start = table[name].stop
    return table


FEATURES: dict[str, Feature] = _features()
"""The ranges of the ``"features"`` observation by name, in their order."""

N_FEATURES = list(FEATURES.values())[-1].stop
"""Bits of the ``"features"`` observation."""


def feature(observation: NDArray[np.uint8], name: str) -> NDArray[np.uint8]:
    """A named range of ``"features"`` observations ``(..., N_FEATURES)``, as a view in the range's shape.

    Raises:
        KeyError: there is no range of that name.
        InvalidBoardError: these are not ``"features"`` observations.
    """
    entry = FEATURES[name]
    if observation.shape[-1:] != (N_FEATURES,):
        raise InvalidBoardError(
            f"an observation of shape {observation.shape}: 'features' end in {N_FEATURES} bits"
        )
    return observation[..., entry.start : entry.stop].reshape(*observation.shape[:-1], *entry.shape)


# The kernel's copy of the table: numba freezes module-level ints.
_COLUMN, _CELL, _HOME, _ABOVE = (FEATURES[n].start for n in ("column", "cell", "home", "cards_above"))
_ON_PARENT, _IN_RUN, _BLOCKS = (FEATURES[n].start for n in ("on_parent", "in_run", "blocks"))
_NEXT, _GOES_HOME, _TO_PARENT = (FEATURES[n].start for n in ("next_home", "can_go_home", "can_go_to_parent"))
_RANK, _N_CELLS, _EMPTY_CELLS = (FEATURES[n].start for n in ("foundation_rank", "n_cells", "empty_cells"))
_EMPTY_COLUMNS, _LIMIT = (FEATURES[n].start for n in ("empty_columns", "group_limit"))
_LIMIT_TO_EMPTY = FEATURES["group_limit_to_empty"].start
_ONE, _BYTE = np.uint64(1), np.uint64(255)
_COLUMNS, _HEIGHT = np.uint64(N_COLUMNS), np.uint64(MAX_HEIGHT)
_COLUMN_AT, _ABOVE_AT = np.uint64(_COLUMN), np.uint64(_ABOVE)
# Start of each card's one-hot cell range; the bit of an empty cell goes to an index that is overwritten later.
_CELL_OF = np.array([_HOME, *(_CELL + MAX_CELLS * c for c in range(N_CARDS)), _HOME], np.uint64)
# One-hot place of a cell count: 4, 2, 1 -> 0, 1, 2.
_CELL_PLACE = np.array([CELL_COUNTS.index(n) if n in CELL_COUNTS else 0 for n in range(5)], np.uint8)

# Sets of cards, one bit per card.
_CARDS = np.uint64(sum(1 << card for card in range(1, N_CARDS + 1)))
_HAVE_PARENT = np.uint64(sum(1 << card for card in range(1, N_CARDS + 1) if rank_of(card) < N_RANKS))
_LOWER = np.array(
    [
        0,
        *(
            sum(1 << lower for lower in range(card - rank_of(card) + 1, card))
            for card in range(1, N_CARDS + 1)
        ),
    ],
    np.uint64,
)
"""The lower cards of each card's suit."""
_SPREAD = np.array([sum((bits >> i & 1) << (8 * i) for i in range(8)) for bits in range(256)], np.uint64)
"""Eight bits, each expanded to a byte."""


@inlined_kernel
def write_set(cards: Any, out: Array, start: int) -> None:
    """Write a set of cards as 52 bytes of 0 and 1."""
    for i in range(0, N_CARDS - 7, 8):
        write_bytes(out, start + i, _SPREAD[(cards >> np.uint64(i + 1)) & _BYTE])
    rest = _SPREAD[(cards >> np.uint64(N_CARDS // 8 * 8 + 1)) & _BYTE]
    for i in range(N_CARDS % 8):
        out[start + N_CARDS // 8 * 8 + i] = (rest >> np.uint64(8 * i)) & _BYTE


@inlined_kernel
def write_features(board: Board, out: Array) -> None:
    """Write the ``"features"`` observation of a board into uint8 ``(N_FEATURES,)``."""
    free = empty_cells(board)
    empty = empty_columns(board)
    limit = group_limit(free, empty)
    on_top, going = set_of_tops(board), set_of_next_home(board) & _CARDS
    home = in_cells = to_parent = in_run = on_parent = blocks = np.uint64(0)

    out[:_ON_PARENT] = 0
    for column in range(N_COLUMNS):
        top, run = np.uint64(board[TOPS + column]), np.uint64(board[RUNS + column])
        in_run |= ((_ONE << run) - _ONE) << top
        fits = np.uint64(i64(run) <= limit)
        to_parent |= as_set(top + run - _ONE) * (is_in(i64(TAKES[top + run]), on_top) & fits)
        place = np.uint64(TABLEAU + column * MAX_HEIGHT)
        below = np.uint64(NO_CARD)
        beneath = np.uint64(0)
        # Branch-free on purpose: a mispredicted branch costs more than handling a card.
        for above in range(i64(board[HEIGHTS + column]) - 1, -1, -1):
            card = np.uint64(board[place])
            c = card - _ONE
            out[_COLUMN_AT + c * _COLUMNS + np.uint64(column)] = 1
            out[_ABOVE_AT + c * _HEIGHT + np.uint64(above)] = 1
            on_parent |= np.uint64(below == card + _ONE) << card
            blocks |= np.uint64((beneath & _LOWER[card]) != np.uint64(0)) << card
            beneath |= _ONE << card
            below = card
            place += _ONE

    n_cells = 0
    for i in range(MAX_CELLS):
        card = np.uint64(board[CELLS + i])
        n_cells += card != np.uint64(NO_CELL)
        in_cells |= _ONE << card
        to_parent |= is_in(i64(PARENT[card]), on_top) << card
        out[np.uint64(_CELL_OF[card]) + np.uint64(i)] = 1

    out[_RANK:] = 0
    for suit in range(N_SUITS):
        rank = np.uint64(board[FOUNDATIONS + suit])
        home |= ((_ONE << rank) - _ONE) << np.uint64(suit * N_RANKS + 1)
        out[np.uint64(_RANK + suit * (N_RANKS + 1)) + rank] = 1
    write_set(home, out, _HOME)
    write_set(on_parent & _HAVE_PARENT, out, _ON_PARENT)
    write_set(in_run, out, _IN_RUN)
    write_set(blocks, out, _BLOCKS)
    write_set(going, out, _NEXT)
    write_set(going & (on_top | in_cells), out, _GOES_HOME)
    write_set(to_parent, out, _TO_PARENT)
    out[_N_CELLS + i64(_CELL_PLACE[n_cells])] = 1
    out[_EMPTY_CELLS + free] = 1
    out[_EMPTY_COLUMNS + empty] = 1
    out[_LIMIT + min(limit, N_RANKS) - 1] = 1
    out[_LIMIT_TO_EMPTY + (min(limit >> 1, N_RANKS) if empty > 0 else 0)] = 1


@kernel
def read_features(bits: Array, boards: Array) -> int:
    """Fill the cards of zeroed board rows ``(n, BOARD_SIZE)`` from ``"features"``, uint8 ``(n, N_FEATURES)``.

    Bits that do not show a position give rows that are not positions.

    Returns:
        The first row of ``bits`` that holds a number other than 0 and 1, or -1.
    """
    for game in range(bits.shape[0]):
        row, board = bits[game], boards[game]
        together = 0
        for bit in row:
            together |= bit
        if together > 1:
            return game
        n_cells = 0
        for i in range(len(CELL_COUNTS)):
            if row[_N_CELLS + i]:
                n_cells = CELL_COUNTS[i]
        board[CELLS + n_cells : FOUNDATIONS] = NO_CELL
        for c in range(N_CARDS):
            for column in range(N_COLUMNS):
                if row[_COLUMN + c * N_COLUMNS + column]:
                    board[HEIGHTS + column] += 1
        for c in range(N_CARDS):
            for column in range(N_COLUMNS):
                if row[_COLUMN + c * N_COLUMNS + column]:
                    place = i64(board[HEIGHTS + column]) - 1
                    above, most = 0, min(place, MAX_HEIGHT - 1)
                    while above < most and not row[_ABOVE + c * MAX_HEIGHT + above]:
                        above += 1
                    # A column that is too tall loses some cards, so that the row is not a position.
                    board[TABLEAU + column * MAX_HEIGHT + min(place - above, MAX_HEIGHT - 1)] = c + 1
            for cell in range(MAX_CELLS):
                if row[_CELL + c * MAX_CELLS + cell]:
                    board[CELLS + cell] = c + 1
            if row[_HOME + c]:
                board[FOUNDATIONS + c // N_RANKS] += 1
    return NO_ONE
