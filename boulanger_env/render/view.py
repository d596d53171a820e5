"""What an environment shows of its games, by its ``render_mode``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game import Game

from .ansi import render_ansi

RENDER_MODES = ("ansi", "rgb_array", "human")
RENDER_FPS = 4
"""Frames, and so moves, per second of videos and windows."""

Frame = str | NDArray[np.uint8]
Shown = Callable[[int], tuple[Game, str | None]]
"""From a game's number to the game and its outcome; None while it is in progress."""


class View:
    """Draws the games of an environment.

    Libraries are loaded here rather than at the first picture, so that a missing one is reported at once.

    Args:
        mode: one of ``RENDER_MODES``, or None.
        size: width and height of a picture.
        count: number of games.

    Raises:
        ModuleNotFoundError: a library is missing; the message names the extra that provides it.
    """

    def __init__(self, mode: str | None, size: tuple[int, int], count: int = 1) -> None:
        self.mode = mode
        self._size, self._count = size, count
        self._painter: Any = None
        self._tiles: Any = None
        self._window: Any = None
        if mode in ("rgb_array", "human"):
            importlib.import_module(".pillow", __package__)
        if mode == "human":
            from .window import Window

            self._window = Window(size, RENDER_FPS)

    def draw(self, game: Game, outcome: str | None = None) -> Frame:
        """A game as text or as a new uint8 array ``(height, width, 3)``."""
        if self.mode == "ansi":
            return render_ansi(game, outcome=outcome)
        if self._painter is None:
            from .rgb import TablePainter

            self._painter = TablePainter(self._size)
        picture: NDArray[np.uint8] = self._painter.paint(game, outcome=outcome)
        return picture

    def draw_together(self, shown: Shown) -> NDArray[np.uint8]:
        """The first games in one picture, as many as fit."""
        if self._tiles is None:
            from .tiles import TilePainter

            self._tiles = TilePainter(self._count, self._size)
        picture: NDArray[np.uint8] = self._tiles.paint(shown)
        return picture

    def show(self, shown: Shown) -> None:
        """Show the games in the window; after the user closes it, nothing is drawn."""
        if not self._window.closed:
            self._window.show(self.draw_together(shown))

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
