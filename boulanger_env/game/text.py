"""Boards as text, as FreeCell solvers write them.

Optional ``Foundations:`` and ``Freecells:`` lines, then one line per column, last card on top::

    Foundations: H-0 C-2 D-A S-K
    Freecells: KS - 9C
    : 5H 3C

The other names of these two lines are those that fc-solve and PySolFC read and write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from .cards import N_CARDS, N_RANKS, RANKS, SUITS, card_name, parse_card, rank_of, suit_of
from .checks import is_whole, shown
from .errors import InvalidBoardError
from .state import CELL_COUNTS, MAX_HEIGHT, N_COLUMNS

# The order in which solvers write foundations.
_FOUNDATION_ORDER = "HCDS"
_FOUNDATION_RANKS = {"0": 0, **{rank: i + 1 for i, rank in enumerate(RANKS)}, "10": 10}
_HEADER = re.compile(r"(?:(foundations?|founds?|decks?)|freecells?|fc)\s*:", re.IGNORECASE)
_EMPTY_CELLS = ("-", "*")
_CELL_WIDTH = 4
_SHOWN = 40
"""Maximum length of a word quoted in an error."""

Position = tuple[list[list[int]], list[int], list[int]]


def check_n_cells(n_cells: Any) -> None:
    """Refuse a number of cells other than 4, 2 and 1.

    Raises:
        InvalidBoardError: it is another number, or none.
    """
    if not is_whole(n_cells, 1) or n_cells not in CELL_COUNTS:
        raise InvalidBoardError(f"a game has 4, 2 or 1 cells, not {shown(n_cells)}")


def why_no_position(
    columns: Sequence[Sequence[int]], cells: Sequence[int], foundations: Sequence[int]
) -> str:
    """What is wrong with numbers that are not a position of the game, as found by ``validity.is_position``.

    Args:
        columns: 8 columns of card ids, last card on top.
        cells: one entry per cell, 0 for an empty one.
        foundations: the rank that each suit has reached.
    """
    for suit, rank in zip(SUITS, foundations, strict=True):
        if not 0 <= rank <= N_RANKS:
            return f"foundation {suit} has rank {rank}: it must be 0 (empty) to 13 (king)"
    home = [s * N_RANKS + r for s, rank in enumerate(foundations) for r in range(1, rank + 1)]
    seen = Counter([card for column in columns for card in column] + [c for c in cells if c] + home)
    strange = [card for card in seen if not 1 <= card <= N_CARDS]
    if strange:
        return f"{strange[0]!r} is not a card id: cards are numbered 1 to 52"
    missing = [card for card in range(1, N_CARDS + 1) if not seen[card]]
    doubled = [card for card in sorted(seen) if seen[card] > 1]
    if missing or doubled:
        faults = [
            f"{word} {_names(cards)}" for word, cards in (("missing", missing), ("doubled", doubled)) if cards
        ]
        return f"a board holds each of the 52 cards once: {', '.join(faults)}"
    # No dealt game gets this tall (7 cards, then queen to ace), and a column's row has no more room.
    height, number, card = max(
        (place + rank_of(card) - 1 - foundations[suit_of(card)], -number, card)
        for number, column in enumerate(columns, 1)
        for place, card in enumerate(column, 1)
    )
    return (
        f"column {-number} could grow to {height} cards on its {card_name(card)}: no game reaches more than "
        f"{MAX_HEIGHT}"
    )


def _names(cards: Iterable[int]) -> str:
    return " ".join(card_name(card) for card in cards)


def read_board(text: str, n_cells: int) -> Position:
    """Read a text board into ``(columns, cells, foundations)``, without checking that it is complete.

    Blank lines are ignored if there are 8 columns without them. If there are fewer, and blank lines before columns
    make it 8, these are empty columns, as PySolFC writes them.

    Raises:
        InvalidBoardError: a line cannot be read; the message gives its number.
    """
    if not isinstance(text, str):
        raise InvalidBoardError(f"a board is a string, not {type(text).__name__}")
    check_n_cells(n_cells)
    text = text.removeprefix("\ufeff")
    columns: list[list[int]] = []
    with_blanks: list[list[int]] = []
    headers: dict[str, list[int]] = {}
    blanks = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            blanks += bool(columns or headers)
            continue
        if line.lstrip().startswith("#"):
            continue
        try:
            header = _HEADER.match(line.strip())
            if header is None:
                columns.append([parse_card(name) for name in line.strip().removeprefix(":").split()])
                with_blanks += [[] for _ in range(min(blanks, N_COLUMNS))] + columns[-1:]
            else:
                rest = line.rstrip("\r\n").split(":", 1)[1]
                name = "foundations" if header[1] else "cells"
                if name in headers:
                    raise InvalidBoardError(f"a second line for the {name}: one is enough")
                headers[name] = _read_foundations(rest) if header[1] else _read_cells(rest, n_cells)
        except InvalidBoardError as error:
            raise InvalidBoardError(f"line {number}: {error}") from None
        blanks = 0
    if len(columns) < N_COLUMNS == len(with_blanks):
        columns = with_blanks
    return columns, headers.get("cells", [0] * n_cells), headers.get("foundations", [0] * 4)


def _read_foundations(text: str) -> list[int]:
    ranks = dict.fromkeys(SUITS, -1)
    for item in text.upper().split():
        suit, _, rank = item.partition("-")
        if suit not in ranks or rank not in _FOUNDATION_RANKS:
            raise InvalidBoardError(
                f"{item[:_SHOWN]!r} is not a foundation: write a suit and its top rank, such as H-0 or S-K"
            )
        if ranks[suit] >= 0:
            raise InvalidBoardError(f"foundation {suit} is given twice")
        ranks[suit] = _FOUNDATION_RANKS[rank]
    return [max(rank, 0) for rank in ranks.values()]


def _read_cells(text: str, n_cells: int) -> list[int]:
    names = text.split()
    if not set(names) & set(_EMPTY_CELLS):
        # Solvers leave an empty cell blank, four characters wide: this shows which cell a card is in.
        text = text.rstrip()
        fields = [text[i : i + _CELL_WIDTH] for i in range(0, len(text), _CELL_WIDTH)]
        if all(field == field.strip().rjust(len(field)) for field in fields):
            names = [field.strip() or "-" for field in fields[:n_cells]] + " ".join(fields[n_cells:]).split()
    if len(names) > n_cells:
        raise InvalidBoardError(f"{len(names)} cells are given, but this game has {n_cells}")
    cells = [0 if name in _EMPTY_CELLS else parse_card(name) for name in names]
    return cells + [0] * (n_cells - len(cells))


def write_board(columns: Sequence[Sequence[int]], cells: Sequence[int], foundations: Sequence[int]) -> str:
    """The text of a position; :func:`read_board` reads it back."""
    ranks = dict(zip(SUITS, foundations, strict=True))
    homes = " ".join(f"{suit}-{'0A23456789TJQK'[ranks[suit]]}" for suit in _FOUNDATION_ORDER)
    held = " ".join(card_name(card) if card else "-" for card in cells)
    rows = [f": {_names(column)}".rstrip() for column in columns]
    return "\n".join([f"Foundations: {homes}", f"Freecells: {held}", *rows])
