"""The solver's form of a position: 64 bytes, designed to be copied, changed and compared fast.

A column consists of what is left of its cards from the start, and at most one run built on them or on the empty
base. Nothing else is possible: cards leave it from the top, and only a card's parent can take it. So three
bytes per column suffice, together with tables computed once per start (``start.py``).

``bytes``, uint8 ``(32,)``:

=====  =====  =================================================================================
place  name   content
=====  =====  =================================================================================
0-7    LEFT   cards of the start left in each column
8-15   TOP    the top card, 0 = empty
16-23  BASE   the card at the base of a column that has none left of the start, 0 = empty
24-27  HOME   the rank each suit has reached
28     FREE   free cells
29     EMPTY  empty columns
=====  =====  =================================================================================

``words``, uint64 ``(4,)``: CELLS, a bit for each card in a cell; STEP, for the search's own use; and the exact key in
LOW and HIGH: for each card 2 bits (0 where it lay at the start or at home, 1 on its parent, 2 at the base of a column,
3 in a cell), and 4 bits for each suit's rank. Two positions have equal keys if and only if they differ just in the
order of columns or cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boulanger_env.game.cards import N_CARDS, N_RANKS, N_SUITS, rank_of
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import SUIT
from boulanger_env.game.state import N_COLUMNS, Array

LEFT, TOP, BASE, HOME, FREE, EMPTY, N_BYTES = 0, 8, 16, 24, 28, 29, 32
CELLS, LOW, HIGH, STEP, N_WORDS = 0, 1, 2, 3, 4
AT_START, ON_PARENT, AT_BASE, IN_CELL = 0, 1, 2, 3

_HALF = N_CARDS // 2  # cards whose bits are in LOW; the rest are in HIGH
BIT = np.array([0, *(1 << card for card in range(1, N_CARDS + 1))], np.uint64)
CHILD_BIT = np.array(
    [0, *(1 << (card - 1) if rank_of(card) > 1 else 0 for card in range(1, N_CARDS + 1))], np.uint64
)
"""The bit of the one card that each card can take, 0 for an ace."""
PARENT_BIT = np.array(
    [0, *(1 << (card + 1) if rank_of(card) < N_RANKS else 0 for card in range(1, N_CARDS + 1))], np.uint64
)
"""The bit of the one card that can take each card, 0 for a king."""
NEXT_BIT = np.array(
    [
        [1 << (suit * N_RANKS + rank + 1) if rank < N_RANKS else 0 for rank in range(16)]
        for suit in range(N_SUITS)
    ],
    np.uint64,
)
"""By suit and the rank it has reached: the bit of the card that can go home."""
NONE = np.uint64(0)
_MIX_1, _MIX_2, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93), np.uint64(32)

TO_CELL = 8
TO_HOME = 9


@kernel
def toggle(words: Array, card: int, codes: int) -> None:
    """Change a card's 2 bits in the key; ``codes`` is the old code XOR the new one."""
    if card <= _HALF:
        words[LOW] ^= np.uint64(codes) << np.uint64(2 * (card - 1))
    else:
        words[HIGH] ^= np.uint64(codes) << np.uint64(2 * (card - 1 - _HALF))


@kernel
def hash_key(low: Any, high: Any) -> Any:
    """The hash of a key: a uint64 of which every bit depends on both words."""
    mixed = (low ^ (high * _MIX_1)) * _MIX_2
    return mixed ^ (mixed >> _SHIFT)


@kernel
def raise_home(b: Array, w: Array, suit: int) -> None:
    """Count one more card of a suit at home, in the bytes and in the key."""
    b[HOME + suit] += 1
    w[LOW if suit < 2 else HIGH] += np.uint64(1) << np.uint64(2 * _HALF + 4 * (suit & 1))


@kernel
def n_home(b: Array) -> int:
    """Cards at home."""
    return i64(b[HOME]) + i64(b[HOME + 1]) + i64(b[HOME + 2]) + i64(b[HOME + 3])


@kernel
def head_of(start: Any, b: Array, column: int) -> int:
    """The highest card of the run at the top of a column that is not empty."""
    left = i64(b[LEFT + column])
    if left == 0:
        return i64(b[BASE + column])
    return i64(start.cards[column, left - 1]) + i64(start.runs[column, left - 1]) - 1


@kernel
def code_of_head(start: Any, b: Array, column: int) -> int:
    """The 2 bits of the head of a column's run."""
    left = i64(b[LEFT + column])
    if left == 0:
        return AT_BASE
    return AT_BASE if left == i64(start.runs[column, left - 1]) else AT_START


@kernel
def drop_run(start: Any, b: Array, column: int) -> None:
    """Take the whole run off a column; the key is the caller's."""
    left = i64(b[LEFT + column])
    if left > 0:
        left -= i64(start.runs[column, left - 1])
        b[LEFT + column] = left
    b[BASE + column] = 0
    if left > 0:
        b[TOP + column] = start.cards[column, left - 1]
    else:
        b[TOP + column] = 0
        b[EMPTY] += 1


@kernel
def drop_tail(start: Any, b: Array, column: int, size: int) -> None:
    """Take ``size`` cards, fewer than its run has, off a column; the key is the caller's."""
    top = i64(b[TOP + column]) + size
    b[TOP + column] = top
    left = i64(b[LEFT + column])
    while left > 0 and i64(start.cards[column, left - 1]) < top:
        left -= 1
    b[LEFT + column] = left


@kernel
def write_log(log: Array, card: int, size: int, to: int) -> None:
    """Append a move to ``log``, int64: its length, then one number per move. A log of length 1 stores nothing."""
    if log.shape[0] > 1:
        log[0] += 1
        log[log[0]] = card | size << 8 | to << 16


@kernel
def run_to_cells(start: Any, b: Array, w: Array, column: int, log: Array) -> None:
    """Put the run of a column into free cells."""
    head, top = head_of(start, b, column), i64(b[TOP + column])
    toggle(w, head, code_of_head(start, b, column) ^ IN_CELL)
    w[CELLS] |= BIT[head]
    for card in range(top, head):
        toggle(w, card, ON_PARENT ^ IN_CELL)
        w[CELLS] |= BIT[card]
    for card in range(top, head + 1):
        write_log(log, card, 1, TO_CELL)
    b[FREE] -= head - top + 1
    drop_run(start, b, column)


@kernel
def run_to_column(start: Any, b: Array, w: Array, column: int, to: int, log: Array) -> None:
    """Put the run of a column on its parent, or into an empty column."""
    head, top = head_of(start, b, column), i64(b[TOP + column])
    write_log(log, head, head - top + 1, to)
    old = code_of_head(start, b, column)
    drop_run(start, b, column)
    if b[TOP + to] == 0:
        toggle(w, head, old ^ AT_BASE)
        b[BASE + to] = head
        b[EMPTY] -= 1
    else:
        toggle(w, head, old ^ ON_PARENT)
    b[TOP + to] = top


@kernel
def tail_to_empty(start: Any, b: Array, w: Array, column: int, size: int, to: int, log: Array) -> None:
    """Put the ``size`` lowest cards of a column's run, fewer than all, into an empty column."""
    top = i64(b[TOP + column])
    base = top + size - 1
    write_log(log, base, size, to)
    drop_tail(start, b, column, size)
    toggle(w, base, ON_PARENT ^ AT_BASE)
    b[BASE + to] = base
    b[TOP + to] = top
    b[EMPTY] -= 1


@kernel
def cell_to_column(b: Array, w: Array, card: int, to: int, log: Array) -> None:
    """Put a card from a cell on its parent, or into an empty column."""
    write_log(log, card, 1, to)
    w[CELLS] ^= BIT[card]
    b[FREE] += 1
    if b[TOP + to] == 0:
        toggle(w, card, IN_CELL ^ AT_BASE)
        b[BASE + to] = card
        b[EMPTY] -= 1
    else:
        toggle(w, card, IN_CELL ^ ON_PARENT)
    b[TOP + to] = card


@kernel
def card_home(start: Any, b: Array, w: Array, card: int, log: Array) -> None:
    """Put a card that can go home on its foundation."""
    write_log(log, card, 1, TO_HOME)
    if w[CELLS] & BIT[card]:
        w[CELLS] ^= BIT[card]
        b[FREE] += 1
        toggle(w, card, IN_CELL)
    else:
        column = 0
        while b[TOP + column] != card:
            column += 1
        if head_of(start, b, column) == card:
            toggle(w, card, code_of_head(start, b, column))
            drop_run(start, b, column)
        else:
            toggle(w, card, ON_PARENT)
            drop_tail(start, b, column, 1)
    raise_home(b, w, i64(SUIT[card]))


@kernel
def top_to_cell(start: Any, b: Array, w: Array, column: int, log: Array) -> None:
    """Put the top card of a column into a free cell."""
    top = i64(b[TOP + column])
    write_log(log, top, 1, TO_CELL)
    if head_of(start, b, column) == top:
        toggle(w, top, code_of_head(start, b, column) ^ IN_CELL)
        drop_run(start, b, column)
    else:
        toggle(w, top, ON_PARENT ^ IN_CELL)
        drop_tail(start, b, column, 1)
    w[CELLS] |= BIT[top]
    b[FREE] -= 1


@kernel
def next_cards(b: Array) -> Any:
    """The bits of the cards that the foundations wait for."""
    return (
        NEXT_BIT[0, b[HOME]] | NEXT_BIT[1, b[HOME + 1]] | NEXT_BIT[2, b[HOME + 2]] | NEXT_BIT[3, b[HOME + 3]]
    )


@kernel
def is_alone(start: Any, b: Array, column: int) -> bool:
    """Whether a column holds exactly one card."""
    left = b[LEFT + column]
    top = b[TOP + column]
    return bool(
        top != 0
        and ((left == 0 and b[BASE + column] == top) or (left == 1 and start.cards[column, 0] == top))
    )


@kernel
def settle(start: Any, b: Array, w: Array, log: Array) -> None:
    """Play all moves that are never wrong, until none is left.

    These are: a card home; a card alone in its column onto its parent; a card from a cell onto its parent.
    """
    while True:
        tops, children, alone = NONE, NONE, NONE
        for column in range(N_COLUMNS):
            top = b[TOP + column]
            tops |= BIT[top]
            children |= CHILD_BIT[top]
            if is_alone(start, b, column):
                alone |= BIT[top]
        home = (tops | w[CELLS]) & next_cards(b)
        if home != 0:
            for suit in range(N_SUITS):
                if home & NEXT_BIT[suit, b[HOME + suit]]:
                    card_home(start, b, w, suit * N_RANKS + i64(b[HOME + suit]) + 1, log)
            continue
        if alone & children:
            for column in range(N_COLUMNS):
                if BIT[b[TOP + column]] & children and is_alone(start, b, column):
                    run_to_column(start, b, w, column, column_of_parent(b, i64(b[TOP + column])), log)
                    break
            continue
        if w[CELLS] & children == 0:
            return
        for column in range(N_COLUMNS):
            while w[CELLS] & CHILD_BIT[b[TOP + column]]:
                cell_to_column(b, w, i64(b[TOP + column]) - 1, column, log)


@kernel
def column_of_parent(b: Array, card: int) -> int:
    """The column whose top card takes ``card``; it must exist."""
    column = 0
    while i64(b[TOP + column]) != card + 1:
        column += 1
    return column


@kernel
def empty_column(b: Array) -> int:
    """The first empty column; it must exist."""
    column = 0
    while b[TOP + column] != 0:
        column += 1
    return column
