"""The action table: action id <-> (source, destination, size) <-> notation.

=======  ==========================  ===================================
ids      move                        id of a move
=======  ==========================  ===================================
0-727    column s to column d, size  ``(s * 7 + d - (d > s)) * 13 + k - 1``
728-735  column s to a free cell     ``728 + s``
736-743  column s to its foundation  ``736 + s``
744-775  cell c to column d          ``744 + 8 * c + d``
776-779  cell c to its foundation    ``776 + c``
780      undo, where it is allowed
=======  ==========================  ===================================

Sources are columns 0-7 and cells 8-11; destinations are columns 0-7, a free cell (8) and the foundation (9).
"""

from __future__ import annotations

import re
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cards import N_RANKS
from .checks import shown
from .errors import IllegalMoveError
from .state import MAX_CELLS, N_COLUMNS

FIRST_CELL = N_COLUMNS
TO_CELL = 8
TO_FOUNDATION = 9

COLUMN_TO_CELL = 728
COLUMN_HOME = 736
CELL_TO_COLUMN = 744
CELL_HOME = 776
N_ACTIONS = 780
UNDO = 780

N_SOURCES = N_COLUMNS + MAX_CELLS


def _triples() -> list[tuple[int, int, int]]:
    """All moves in the order of their ids."""
    columns, cells = range(N_COLUMNS), range(FIRST_CELL, N_SOURCES)
    return [
        *((s, d, k) for s in columns for d in columns if d != s for k in range(1, N_RANKS + 1)),
        *((s, TO_CELL, 1) for s in columns),
        *((s, TO_FOUNDATION, 1) for s in columns),
        *((c, d, 1) for c in cells for d in columns),
        *((c, TO_FOUNDATION, 1) for c in cells),
    ]


_TRIPLES = _triples()
_IDS = {triple: action for action, triple in enumerate(_TRIPLES)}

ACTION_TABLE: NDArray[np.int8] = np.array(_TRIPLES, np.int8)
"""Read-only int8 array ``(780, 3)``: source, destination and size of each action id."""
ACTION_TABLE.flags.writeable = False

_COLUMN_LETTERS = "12345678"
_CELL_LETTERS = "abcd"
_SOURCES = _COLUMN_LETTERS + _CELL_LETTERS
_NOTATION = re.compile(r"([1-8a-d])([1-8a-dfh])(?:v([0-9a-d]))?", re.IGNORECASE)
NOTATION_HELP = (
    "write a source (column 1-8 or cell a-d) and a destination (column 1-8, f for a free cell, h for home), "
    "such as 76, 6f, bh, or 12v3 for a group of three"
)


class Move(NamedTuple):
    """A move of ``size`` cards from ``source`` to ``destination``.

    Sources are columns 0-7 and cells 8-11, destinations columns 0-7, 8 = a free cell, 9 = the foundation.

    >>> Move(0, 1, 3).id, str(Move(0, 1, 3))
    (2, '12v3')
    >>> Move.from_id(777), str(Move.from_id(777))
    (Move(source=9, destination=9, size=1), 'bh')
    >>> Move.parse("6b") == Move.parse("6f") == Move(5, 8)
    True
    """

    source: int
    destination: int
    size: int = 1

    @classmethod
    def from_id(cls, action: int) -> Move:
        """The move with an action id.

        Raises:
            IllegalMoveError: ``action`` is not an integer in 0..779.
        """
        return cls(*_TRIPLES[action_id(action)])

    @property
    def id(self) -> int:
        """Action id, 0..779.

        Raises:
            IllegalMoveError: no action has this source, destination and size.
        """
        try:
            return _IDS[self]
        except (KeyError, TypeError):
            raise IllegalMoveError(
                f"{shown(tuple(self))} is not a move: the source is 0-11, the destination another column 0-7, 8 (a "
                "free cell, from a column) or 9 (the foundation), the size 1-13 between columns and else 1"
            ) from None

    @classmethod
    def parse(cls, text: str) -> Move:
        """Read a move in notation without a board: no size means one card.

        :meth:`boulanger_env.Game.parse_move` infers the size that other programs leave out.

        Raises:
            IllegalMoveError: the text is not a move in notation.
        """
        return parse_notation(text).move

    def __str__(self) -> str:
        """Notation: ``76``, ``12v3``, ``6f``, ``bh``."""
        return self.to_text("f")

    def to_text(self, cell: str = "f") -> str:
        """Notation, with ``cell`` as the name of the cell that the move fills."""
        self.id  # noqa: B018 - rejects what is not a move
        target = {TO_CELL: cell, TO_FOUNDATION: "h"}.get(self.destination)
        if target is None:
            target = _COLUMN_LETTERS[self.destination]
        size = f"v{self.size:x}" if self.size > 1 else ""
        return _SOURCES[self.source] + target + size


class Notation(NamedTuple):
    """A move as written: whether its size was given, and the index of the cell it goes to (None if not named)."""

    move: Move
    sized: bool
    cell: int | None


def parse_notation(text: str) -> Notation:
    """Read a move in notation.

    Raises:
        IllegalMoveError: the text is not a move in notation.
    """
    match = _NOTATION.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise IllegalMoveError(f"{shown(text)} is not a move: {NOTATION_HELP}")
    source, target, size = match[1].lower(), match[2].lower(), match[3]
    destination = {"h": TO_FOUNDATION, "f": TO_CELL}.get(target, TO_CELL)
    if target in _COLUMN_LETTERS:
        destination = _COLUMN_LETTERS.index(target)
    move = Move(_SOURCES.index(source), destination, int(size, 16) if size else 1)
    if move not in _IDS:
        raise IllegalMoveError(f"{text[:40]!r} is not a move of this game: {NOTATION_HELP}")
    return Notation(move, size is not None, _CELL_LETTERS.index(target) if target in _CELL_LETTERS else None)


def action_id(action: Any, count: int = N_ACTIONS) -> int:
    """``action`` as a plain int below ``count``, from any integer type (zero-dimensional arrays too).

    Raises:
        IllegalMoveError: it is not an integer, or lies outside ``0..count - 1``.
    """
    try:
        if isinstance(action, bool):
            raise TypeError
        number = index(action)
    except TypeError:
        raise IllegalMoveError(
            f"{shown(action)} is not an action: an action is one integer, 0 to {count - 1}"
        ) from None
    if not 0 <= number < count:
        raise IllegalMoveError(
            f"action {shown(number)} does not exist: actions are numbered 0 to {count - 1}"
        )
    return number
