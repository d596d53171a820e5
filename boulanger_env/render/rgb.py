"""A game as a picture of a card table: an array of pixels, drawn with Pillow and NumPy, without a display.

A :class:`TablePainter` keeps its last picture and redraws only the areas whose content has changed. An area depends on
its content alone, so the picture is the same as one drawn from scratch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from boulanger_env.game import Game
from boulanger_env.game.cards import N_CARDS, N_RANKS
from boulanger_env.game.moves import FIRST_CELL
from boulanger_env.game.outcomes import ILLEGAL, OUTCOME_WORDS, STUCK, TRUNCATED, WON

from .cards import card_sprites, ring, slot
from .last_move import LastMove, last_move_of
from .layout import DEFAULT_SIZE, Layout, Rect, layout_of, read_size
from .lettering import text_mask, text_width, write
from .marks import ACCENT, MARKS, marks_of
from .pillow import Image, ImageFilter
from .shapes import rounded_mask
from .sprites import Colour, Pixels, Sprite

TABLE: Colour = (43, 96, 84)
BAR: Colour = (27, 63, 56)
TEXT: Colour = (238, 244, 240)
QUIET: Colour = (180, 207, 197)
ALARM: Colour = (236, 122, 104)

_OUTCOME_COLOURS = {WON: ACCENT, STUCK: ALARM, ILLEGAL: ALARM, TRUNCATED: QUIET}


class Held(NamedTuple):
    """Cards dragged by mouse: ``size`` cards of a source (column 0-7, cell 8-11), their corner at x, y."""

    source: int
    size: int
    x: int
    y: int


def render_rgb(game: Game, size: Sequence[int] = DEFAULT_SIZE, outcome: str | None = None) -> Pixels:
    """Draw a game as a picture.

    To draw a sequence of pictures, create one :class:`TablePainter` and call its ``paint``: it draws
    only what has changed.

    Args:
        game: what to draw; it is not changed.
        size: width and height in pixels.
        outcome: how the episode ended: ``"won"``, ``"stuck"``, ``"illegal"``, ``"truncated"``; None: as the game shows.

    Returns:
        A new uint8 array ``(height, width, 3)``.

    Raises:
        BoulangerError: the size is invalid.

    >>> render_rgb(Game.from_code("MS-C4-617"), (480, 320)).shape
    (320, 480, 3)
    """
    return TablePainter(size).paint(game, outcome=outcome)


class TablePainter:
    """Draws a sequence of games at one size, on the same table.

    Args:
        size: width and height in pixels.

    Raises:
        BoulangerError: the size is invalid.

    Attributes:
        layout: the positions of everything.
    """

    def __init__(self, size: Sequence[int] = DEFAULT_SIZE) -> None:
        self.size = read_size(size)
        self.layout = layout_of(self.size)
        self._cards = card_sprites(self.layout.card_width, self.layout.card_height)
        self._n_cells = -1
        self._table: Pixels = np.zeros((0, 0, 3), np.uint8)
        self._canvas: Pixels = self._table
        self._drawn: dict[Rect, object] = {}

    def __reduce__(self) -> tuple[type[TablePainter], tuple[tuple[int, int]]]:
        """A copy starts from its own empty picture."""
        return type(self), (self.size,)

    def paint(self, game: Game, held: Held | None = None, outcome: str | None = None) -> Pixels:
        """Draw a game.

        Args:
            game: what to draw; it is not changed.
            held: cards to draw at the mouse instead of in their place.
            outcome: how the episode ended; None: as the game shows.

        Returns:
            A new uint8 array ``(height, width, 3)``.
        """
        if game.n_cells != self._n_cells:
            self._n_cells = game.n_cells
            self._table = _empty_table(self.size, game.n_cells)
            self._canvas = self._table.copy()
            self._drawn = {}
        layout, columns, cells = self.layout, list(game.columns), list(game.cells)
        lifted: tuple[int, ...] = ()
        if held is not None and held.source < FIRST_CELL:
            lifted = columns[held.source][-held.size :]
            columns[held.source] = columns[held.source][: -held.size]
        elif held is not None:
            lifted = (cells[held.source - FIRST_CELL],)
            cells[held.source - FIRST_CELL] = 0
        # A mark on dragged cards would stay behind on those below.
        last = last_move_of(game) if held is None else None
        left = last or LastMove("", 0)
        marked = {} if held is not None else marks_of(game, last)

        self._bar(game, last)
        for i, column in enumerate(columns):
            content = (column, _runs([marked.get(card) for card in column]), left.from_column == i)
            if canvas := self._changed(layout.columns[i], content):
                self._column(canvas, layout.columns[i], *content)
        for i, card in enumerate(cells):
            self._place(layout.cells[i], card, marked.get(card), left.from_cell == i)
        for suit, rank in enumerate(game.foundations):
            card = suit * N_RANKS + rank if rank else 0
            self._place(layout.homes[suit], card, marked.get(card), False)

        picture: Pixels = self._canvas.copy()
        outcome = outcome or game.outcome
        if outcome is not None:
            _lay_banner(picture, layout, outcome)
        if held is not None:
            step = layout.fan(len(game.columns[held.source])) if held.source < FIRST_CELL else 0.0
            for i, card in enumerate(lifted):
                self._cards[card].put(picture, held.x, held.y + round(i * step))
        return picture

    def _changed(self, slot: Rect, content: object) -> _Window | None:
        """A slot's area of the canvas, cleared, unless it shows this content already."""
        if self._drawn.get(slot) == content:
            return None
        self._drawn[slot] = content
        area = self.layout.area(slot)
        pixels = self._canvas[area.slices]
        pixels[:] = self._table[area.slices]
        return _Window(pixels, area.x, area.y)

    def _column(
        self, canvas: _Window, slot: Rect, cards: tuple[int, ...], runs: tuple[_Run, ...], left: bool
    ) -> None:
        layout, count = self.layout, len(cards)
        tops = [layout.card_top(count, place) for place in range(count + 1)]
        if left:
            # The place of the next card, clamped to the picture.
            y = min(tops[count], layout.height - layout.px(6) - slot.height)
            _line(layout, slot.height, ACCENT, 0.62).put(canvas.pixels, slot.x - canvas.x, y - canvas.y)
        for place, card in enumerate(cards):
            # The next card covers the rest, except at its rounded corners.
            rows = tops[place + 1] - tops[place] + slot.height // 6 if place < count - 1 else None
            self._cards[card].put(canvas.pixels, slot.x - canvas.x, tops[place] - canvas.y, rows)
        for run in runs:
            y = tops[run.start]
            # Only the last card of a column is seen whole.
            height = tops[run.stop - 1] - y + slot.height if run.stop == count else tops[run.stop] - y
            around = _line(layout, height, MARKS[run.mark].colour)
            around.put(canvas.pixels, slot.x - canvas.x, y - canvas.y)

    def _place(self, slot: Rect, card: int, mark: str | None, left: bool) -> None:
        """A cell or a foundation."""
        canvas = self._changed(slot, (card, mark, left))
        if canvas is None:
            return
        at = slot.x - canvas.x, slot.y - canvas.y
        if card:
            self._cards[card].put(canvas.pixels, *at)
        if mark or left:
            line = (MARKS[mark].colour, 1.0) if mark else (ACCENT, 0.62)
            _line(self.layout, slot.height, *line).put(canvas.pixels, *at)

    def _bar(self, game: Game, last: LastMove | None) -> None:
        """The status bar at the top, and under it the progress of the cards home."""
        layout, bar = self.layout, self.layout.bar
        name = game.code or "no code"
        # Each with a fixed width, so that the numbers do not jump.
        figures = [
            ("score", str(game.score), "0000"),
            ("moves", str(game.moves), "000"),
            ("home", f"{game.cards_home}/{N_CARDS}", "00/00"),
            ("last", last.notation if last else "-", "00v0"),
        ]
        content = (name, figures)
        if self._drawn.get(bar) == content:
            return
        self._drawn[bar] = content
        pixels = self._canvas[bar.slices]
        pixels[:] = self._table[bar.slices]
        size = max(9, layout.px(17))
        base = (bar.height + round(size * 0.62)) // 2
        edge = layout.columns[0].x
        write(pixels, name, edge, base, size, TEXT, 0.03)
        right = layout.width - edge
        # If there is no room for all, the first ones are dropped.
        for word, figure, widest in reversed(figures):
            width = text_width(widest, size, 0.03)
            gap = max(3, size // 3)
            start = right - width - gap - text_width(word, size)
            if start < edge + text_width(name, size, 0.03) + gap:
                break
            write(pixels, word, start, base, size, QUIET)
            write(pixels, figure, right - width, base, size, TEXT, 0.03)
            right = start - 3 * gap
        thick = max(2, layout.px(3))
        done = round(layout.width * game.cards_home / N_CARDS)
        pixels[-thick:, :done] = ACCENT


class _Window(NamedTuple):
    """A part of a canvas, and the coordinates of its corner."""

    pixels: Pixels
    x: int
    y: int


class _Run(NamedTuple):
    """Consecutive cards of a column with the same mark."""

    mark: str
    start: int
    stop: int


def _runs(marks: Sequence[str | None]) -> tuple[_Run, ...]:
    runs, start = [], 0
    for mark, group in groupby(marks):
        stop = start + len(list(group))
        if mark:
            runs.append(_Run(mark, start, stop))
        start = stop
    return tuple(runs)


def _line(layout: Layout, height: int, colour: Colour, strength: float = 1.0) -> Sprite:
    """A line around cards that take ``height`` pixels."""
    return ring(layout.card_width, height, max(2, layout.px(2.6)), colour, strength)


@lru_cache(maxsize=8)
def _empty_table(size: tuple[int, int], n_cells: int) -> Pixels:
    """The empty table: cloth, slots and labels."""
    layout = layout_of(size)
    width, height = size
    # A soft light from above, in whole steps of brightness.
    y, x = np.mgrid[0:height, 0:width]
    far = ((x - width / 2) / width) ** 2 + ((y - height * 0.35) / height) ** 2
    light = np.round(9 - 34 * far).astype(np.int16)
    cloth = np.clip(np.array(TABLE, np.int16) + light[..., None], 0, 255).astype(np.uint8)
    cloth[layout.bar.slices] = BAR
    image = Image.fromarray(cloth)
    places = [(place, None) for place in (*layout.columns, *layout.cells[:n_cells])]
    for place, suit in [*places, *zip(layout.homes, range(4), strict=True)]:
        picture = slot(place.width, place.height, suit)
        image.paste(picture, (place.x, place.y), picture)
    pixels = np.array(image)
    letter = max(9, layout.px(15))
    names = zip("12345678abcd", (*layout.columns, *layout.cells[:n_cells]), strict=False)
    for name, place in [*names, *(("h", home) for home in layout.homes)]:
        middle = place.x + (place.width - text_width(name, letter, 0.02)) // 2
        write(pixels, name, middle, place.y - layout.px(5), letter, QUIET, 0.02)
    pixels.flags.writeable = False
    return pixels


def _lay_banner(picture: Pixels, layout: Layout, outcome: str) -> None:
    """Write the outcome across the table."""
    sprite = _banner(layout, outcome)
    height, width = sprite.keep.shape[:2]
    top = layout.columns[0].y
    # In the middle of the empty area of a won game; in the lower half if cards are left on the table.
    middle = (top + layout.height) // 2 if outcome == WON else layout.height - height // 2 - layout.px(24)
    sprite.put(picture, (layout.width - width) // 2, middle - height // 2)


@lru_cache(maxsize=16)
def _banner(layout: Layout, outcome: str) -> Sprite:
    title, words, colour = outcome.capitalize(), OUTCOME_WORDS[outcome], _OUTCOME_COLOURS[outcome]
    big, small = max(14, layout.px(36)), max(9, layout.px(17))
    width = max(text_width(title, big, 0.03), text_width(words, small)) + layout.px(76)
    height = layout.px(104)
    reach = layout.px(18)
    outside = (width + 2 * reach, height + 2 * reach)
    shade = Image.new("L", outside)
    shade.paste(rounded_mask(width, height, layout.px(14)), (reach, reach + layout.px(4)))
    shade = shade.filter(ImageFilter.GaussianBlur(reach / 3)).point([v // 2 for v in range(256)])
    image = Image.new("RGBA", outside, (8, 24, 20, 0))
    image.putalpha(shade)
    plate = Image.new("RGBA", outside)
    rim, inner = (rounded_mask(width, height, layout.px(14), inset) for inset in (0, layout.px(2)))
    plate.paste((*colour, 255), (reach, reach), rim)
    plate.paste((*BAR, 255), (reach, reach), inner)
    image.alpha_composite(plate)
    for text, size, ink, weight, base in (
        (title, big, colour, 0.03, 0.50),
        (words, small, TEXT, 0.0, 0.80),
    ):
        mask, up = text_mask(text, size, weight)
        x = reach + (width - text_width(text, size, weight)) // 2
        image.paste((*ink, 255), (x, reach + round(height * base) - up), mask)
    return Sprite.of(image)
