"""The positions of everything in a picture of the table, in whole pixels: for drawing and for the mouse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from boulanger_env.game import BoulangerError, Game
from boulanger_env.game.checks import is_list, is_whole, shown
from boulanger_env.game.moves import FIRST_CELL, TO_CELL, TO_FOUNDATION
from boulanger_env.game.state import N_COLUMNS

DEFAULT_SIZE = (960, 640)
SMALLEST, LARGEST = (240, 160), (3840, 2560)

# In pixels of the default size.
_CARD_WIDTH, _CARD_HEIGHT, _PITCH = 84, 116, 114
_BAR, _LABEL, _GAP, _MARGIN = 34, 19, 7, 7
_LEAST_BAR, _LEAST_LABEL = 14, 10
_FAN = 0.29
"""The visible fraction of a covered card's height, if there is enough room."""


class Rect(NamedTuple):
    """A rectangle of pixels."""

    x: int
    y: int
    width: int
    height: int

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height

    @property
    def slices(self) -> tuple[slice, slice]:
        """Its rows and columns in an array ``(height, width, ...)``."""
        return slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)


class Place(NamedTuple):
    """The place under a point: source and destination as in ``Move``, and the number of cards from there to the top."""

    source: int | None
    """Column 0-7 or cell 8-11; None for a foundation."""
    destination: int
    """Column 0-7, 8 = a free cell, 9 = the foundations."""
    size: int
    """Number of cards from the one under the point to the top of its column, 0 if there is no card."""


def read_size(size: Any) -> tuple[int, int]:
    """A checked ``render_size``.

    Raises:
        BoulangerError: it is not a valid width and height in pixels.

    >>> read_size([480, 320])
    (480, 320)
    """
    whole = is_list(size) and len(size) == 2
    if not whole or not all(is_whole(n) for n in size):
        raise BoulangerError(
            f"render_size={shown(size)} must be two whole numbers of pixels: (width, height)"
        )
    width, height = int(size[0]), int(size[1])
    fits = all(low <= n <= high for n, low, high in zip((width, height), SMALLEST, LARGEST, strict=True))
    if not fits:
        raise BoulangerError(
            f"render_size={shown((width, height))}: width and height must be at least {SMALLEST} and at most {LARGEST}"
        )
    return width, height


@dataclass(frozen=True)
class Layout:
    """The layout of one picture size. ``unit`` is the scale relative to the default size."""

    width: int
    height: int
    unit: float
    card_width: int
    card_height: int
    bar: Rect
    columns: tuple[Rect, ...]
    """The columns' slots: the place of the first card."""
    cells: tuple[Rect, ...]
    homes: tuple[Rect, ...]

    def px(self, length: float) -> int:
        """A length of the default size, scaled; at least one pixel."""
        return max(1, round(length * self.unit))

    def area(self, slot: Rect) -> Rect:
        """The area that holds all of a slot's cards, shadows and marks; areas never overlap."""
        pitch = self.columns[1].x - self.columns[0].x
        side = (pitch - self.card_width) // 2
        up = min(self.px(6), side)
        below = self.columns[0].y - up if slot.y < self.columns[0].y else self.height
        return Rect(slot.x - side, slot.y - up, pitch, below - slot.y + up)

    def fan(self, count: int) -> float:
        """The vertical offset between ``count`` cards of a column; long columns are compressed."""
        room = self.height - self.px(_MARGIN) - self.columns[0].y - self.card_height
        return min(self.card_height * _FAN, room / max(count - 1, 1))

    def card_top(self, count: int, place: int) -> int:
        """The y of the card at ``place`` (0 = first) in a column of ``count``."""
        return self.columns[0].y + round(place * self.fan(count))

    def place_at(self, game: Game, x: float, y: float) -> Place | None:
        """The place at a point of the picture, or None for the bare table."""
        for column, slot in enumerate(self.columns):
            if slot.x <= x < slot.x + slot.width and y >= slot.y:
                return Place(column, column, self._cards_from(len(game.columns[column]), y))
        for cell, held in enumerate(game.cells):
            if self.cells[cell].holds(x, y):
                return Place(FIRST_CELL + cell, TO_CELL, int(held > 0))
        if any(home.holds(x, y) for home in self.homes):
            return Place(None, TO_FOUNDATION, 0)
        return None

    def _cards_from(self, count: int, y: float) -> int:
        """Number of a column's cards from the one at y to the top; y may be below them all."""
        if not count or y >= self.card_top(count, count - 1) + self.card_height:
            return 0
        return next(count - i for i in reversed(range(count)) if i == 0 or y >= self.card_top(count, i))


@lru_cache(maxsize=16)
def layout_of(size: tuple[int, int]) -> Layout:
    """The layout of pictures of a size (width, height)."""
    width, height = size
    unit = min(width / DEFAULT_SIZE[0], height / DEFAULT_SIZE[1])
    card_width, card_height = round(_CARD_WIDTH * unit), round(_CARD_HEIGHT * unit)
    pitch = min(width // N_COLUMNS, round(_PITCH * unit))
    left = (width - (N_COLUMNS - 1) * pitch - card_width) // 2
    # Letters do not shrink further, and neither does the room for them.
    bar = Rect(0, 0, width, max(round(_BAR * unit), _LEAST_BAR))
    more = max(0, _LEAST_LABEL - round(_LABEL * unit))
    upper = bar.height + round(_LABEL * unit) + more
    lower = upper + card_height + round((_LABEL + _GAP) * unit) + more
    row = [Rect(left + i * pitch, upper, card_width, card_height) for i in range(N_COLUMNS)]
    return Layout(
        width,
        height,
        unit,
        card_width,
        card_height,
        bar,
        columns=tuple(slot._replace(y=lower) for slot in row),
        cells=tuple(row[:4]),
        homes=tuple(row[4:]),
    )
