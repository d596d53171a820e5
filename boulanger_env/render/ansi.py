"""A game as text for a terminal.

Cells lie above the left columns and foundations above the right ones, as on a table; cells and columns carry
their names in move notation. Every place is three characters wide, a mark and a card, with a space between::

    BK1-C4-AAAAA24   score 0   moves 1   home 0/52   last 8d

     a   b   c   d   home
     TD  4H >JD  --  -♠  -♥  -♦  -♣

     1   2   3   4   5   6   7   8
     4C  6S  7D  KH  2H  4S  KD  5C

``>`` marks the cards that moved last and ``..`` the place that they left; ``--`` is an empty place, and an
empty foundation shows its suit.
"""

from __future__ import annotations

import os
from itertools import zip_longest
from typing import NamedTuple

from boulanger_env.game import Game
from boulanger_env.game.cards import N_CARDS, N_RANKS, RANKS, SUIT_SYMBOLS, SUITS
from boulanger_env.game.outcomes import OUTCOME_WORDS
from boulanger_env.game.state import CELL_COUNTS

from .last_move import LastMove, last_move_of
from .marks import MARKS, marks_of

CLEAR_SCREEN = "\x1b[2J\x1b[H"

_BLANK = "   "
_RESET, _DIM, _BOLD, _REVERSE = "\x1b[0m", "\x1b[2m", "\x1b[1m", "\x1b[7m"
# Black suits keep the terminal's own colour; bright red is readable on black and on white.
_SUIT_COLOURS = ("", "\x1b[91m", "\x1b[91m", "")


class _Style(NamedTuple):
    """Prepared strings of one style; the tuples are indexed by card id, 0 = an empty place."""

    plain: tuple[str, ...]
    marked: dict[str, tuple[str, ...]]
    """By the name of the mark."""
    no_home: tuple[str, ...]
    """The empty foundation of each suit."""
    left: str
    """The place that the last move left."""
    cell_names: dict[int, str]
    """The line above cells and foundations, by the number of cells."""
    column_names: str
    bold: str
    reset: str


def _make_style(ascii: bool, color: bool) -> _Style:
    symbols = SUITS if ascii else SUIT_SYMBOLS
    suits = list(zip(symbols, _SUIT_COLOURS, strict=True))
    cards = [(rank + symbol, colour) for symbol, colour in suits for rank in RANKS]

    def paint(text: str, codes: str) -> str:
        return f"{codes}{text}{_RESET}" if color and codes else text

    def names(letters: str) -> str:
        return "".join(f" {letter}  " for letter in letters)

    return _Style(
        plain=(" " + paint("--", _DIM), *(" " + paint(card, colour) for card, colour in cards)),
        marked={
            name: (_BLANK, *(paint(f"{mark.sign}{card}", _REVERSE + colour) for card, colour in cards))
            for name, mark in MARKS.items()
        },
        no_home=tuple(f" {paint('-', _DIM)}{paint(symbol, colour)}" for symbol, colour in suits),
        left=" " + paint("..", _BOLD),
        cell_names={n: paint(f"{names('abcd'[:n]):16} home", _DIM) for n in CELL_COUNTS},
        column_names=paint(names("12345678").rstrip(), _DIM),
        bold=_BOLD if color else "",
        reset=_RESET if color else "",
    )


_STYLES = {(ascii, color): _make_style(ascii, color) for ascii in (False, True) for color in (False, True)}


def color_by_default() -> bool:
    """Whether the user wants colour: not if the environment variable ``NO_COLOR`` is set and not empty."""
    return not os.environ.get("NO_COLOR")


def render_ansi(
    game: Game, *, color: bool | None = None, ascii: bool = False, outcome: str | None = None
) -> str:
    """Draw a game as lines of text, without a newline at the end.

    The ten is ``T``, as everywhere in the package, so that all cards are equally wide. If the game is over, a
    last line says so.

    Args:
        game: what to draw; it is not changed.
        color: whether to use ANSI colours; None: yes, unless ``NO_COLOR`` is set or ``ascii`` is True.
        ascii: draw the suits as ``SHDC`` instead of their symbols.
        outcome: how the episode ended: ``"won"``, ``"stuck"``, ``"illegal"``, ``"truncated"``; None: as the game shows.

    >>> print(render_ansi(Game.from_code("MS-C2-617"), ascii=True))
    MS-C2-617   score 0   moves 0   home 0/52
    <BLANKLINE>
     a   b           home
     --  --          -S  -H  -D  -C
    <BLANKLINE>
     1   2   3   4   5   6   7   8
     7D  AD  5C  3S  5S  8C  2D  AH
     TD  7S  QD  AC  6D  8H  AS  KH
     TH  QC  3H  9D  6S  8D  3D  TC
     KD  5H  9S  3C  8S  7H  4D  JS
     4C  QS  9C  9H  7C  6H  2C  2S
     4S  TS  2H  5D  JC  6C  JH  QH
     JD  KS  KC  4H
    """
    style = _STYLES[ascii, (color_by_default() and not ascii) if color is None else color]
    last = last_move_of(game)
    marked = marks_of(game, last)
    text = list(style.plain)
    for card, mark in marked.items():
        text[card] = style.marked[mark][card]
    # An empty column is marked in the first row.
    columns = [[text[card] for card in column or (0,)] for column in game.columns]
    cells = [text[card] for card in game.cells]
    homes = [
        text[suit * N_RANKS + rank] if rank else style.no_home[suit]
        for suit, rank in enumerate(game.foundations)
    ]
    status = [
        game.code or "no code",
        f"score {game.score}",
        f"moves {game.moves}",
        f"home {game.cards_home}/{N_CARDS}",
    ]
    if last is not None:
        _mark_the_place_left(last, style, game, columns, cells)
        status.append(f"last {last.notation}")
    lines = [
        f"{style.bold}{'   '.join(status)}{style.reset}",
        "",
        style.cell_names[len(cells)],
        " ".join([*cells, *[_BLANK] * (4 - len(cells)), *homes]),
        "",
        style.column_names,
        *[" ".join(row).rstrip() for row in zip_longest(*columns, fillvalue=_BLANK)],
    ]
    outcome = outcome or game.outcome
    if outcome is not None:
        lines += ["", f"{style.bold}{outcome.upper()}: {OUTCOME_WORDS[outcome]}{style.reset}"]
    return "\n".join(lines)


def _mark_the_place_left(
    last: LastMove, style: _Style, game: Game, columns: list[list[str]], cells: list[str]
) -> None:
    if last.from_column is not None:
        if game.columns[last.from_column]:
            columns[last.from_column].append(style.left)
        else:
            columns[last.from_column] = [style.left]
    if last.from_cell is not None:
        cells[last.from_cell] = style.left
