"""Several games in one picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from boulanger_env.game import Game

from .layout import DEFAULT_SIZE, read_size
from .rgb import BAR, TablePainter
from .sprites import Pixels

_TILE = (320, 213)
"""Minimum width and height of one game, if the picture is large enough."""


@lru_cache(maxsize=32)
def grid(count: int, size: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns for ``count`` games in a picture, or for as many of them as fit.

    >>> grid(4, (960, 640)), grid(1000, (960, 640)), grid(2, (960, 640))
    ((2, 2), (3, 3), (2, 1))
    """
    width, height = size
    most_rows, most_columns = max(1, height // _TILE[1]), max(1, width // _TILE[0])
    count = min(count, most_rows * most_columns)

    def scale(columns: int) -> float:
        rows = -(-count // columns)
        return min(width / columns / DEFAULT_SIZE[0], height / rows / DEFAULT_SIZE[1])

    fitting = [n for n in range(1, min(most_columns, count) + 1) if -(-count // n) <= most_rows]
    columns = max(fitting, key=scale)
    return -(-count // columns), columns


class TilePainter:
    """Draws the first games of a batch side by side, as many as fit at a legible size.

    Args:
        count: games in the batch.
        size: width and height of the whole picture.

    Raises:
        BoulangerError: the size is invalid.

    Attributes:
        shown: how many of the games are drawn.
    """

    def __init__(self, count: int, size: Sequence[int] = DEFAULT_SIZE) -> None:
        self.size = read_size(size)
        self.rows, self.columns = grid(count, self.size)
        self.shown = min(count, self.rows * self.columns)
        width, height = self.size
        self._tile = width // self.columns, height // self.rows
        self._painters = [TablePainter(self._tile) for _ in range(self.shown)]

    def paint(self, shown: Callable[[int], tuple[Game, str | None]]) -> Pixels:
        """A new uint8 array ``(height, width, 3)``; ``shown(i)`` is tile ``i``'s game and outcome."""
        (width, height), (tile_width, tile_height) = self.size, self._tile
        picture = np.empty((height, width, 3), np.uint8)
        picture[:] = BAR
        for i, painter in enumerate(self._painters):
            row, column = divmod(i, self.columns)
            game, outcome = shown(i)
            top, left = row * tile_height, column * tile_width
            picture[top : top + tile_height, left : left + tile_width] = painter.paint(game, outcome=outcome)
        # A thin line between games.
        for row in range(1, self.rows):
            picture[row * tile_height - 1] = BAR
        for column in range(1, self.columns):
            picture[:, column * tile_width - 1] = BAR
        return picture
