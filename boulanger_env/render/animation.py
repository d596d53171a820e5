"""A played game as a GIF or an MP4: one frame for the start and one for each move."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boulanger_env.files import write_with
from boulanger_env.game import BoulangerError, Game, IllegalMoveError, Move
from boulanger_env.game.moves import UNDO

from .layout import DEFAULT_SIZE, read_size
from .rgb import Pixels, TablePainter

DEFAULT_FPS = 4


def write_gif(
    path: str | os.PathLike[str],
    start: Game,
    actions: Sequence[int],
    *,
    size: Sequence[int] = DEFAULT_SIZE,
    fps: float = DEFAULT_FPS,
    hold: float = 2.0,
) -> None:
    """Write a played game as an animated GIF, the whole file or none.

    Args:
        path: the file; an earlier one is replaced only once the new one is complete.
        start: the game before the first of the actions; it is not changed.
        actions: action ids, 780 for an undo.
        size: width and height in pixels.
        fps: frames, and so moves, a second; a GIF counts in hundredths of a second.
        hold: seconds that the last frame stays before the film begins anew.

    Raises:
        IllegalMoveError: an action that the rules forbid, with its number. Nothing is written.
        BoulangerError: a size or a speed that cannot be.
        OSError: the file cannot be written.
    """
    raise NotImplementedError


def write_mp4(
    path: str | os.PathLike[str],
    start: Game,
    actions: Sequence[int],
    *,
    size: Sequence[int] = DEFAULT_SIZE,
    fps: float = DEFAULT_FPS,
    hold: float = 2.0,
) -> None:
    """Write a played game as an MP4 video (H.264), the whole file or none.

    Args:
        path: the file; an earlier one is replaced only once the new one is complete.
        start: the game before the first of the actions; it is not changed.
        actions: action ids, 780 for an undo.
        size: width and height in pixels.
        fps: frames, and so moves, a second.
        hold: seconds that the last frame stays.

    Raises:
        IllegalMoveError: an action that the rules forbid, with its number. Nothing is written.
        BoulangerError: a size or a speed that cannot be.
        ModuleNotFoundError: imageio-ffmpeg is not installed; the message names the extra that brings it.
        OSError: the file cannot be written.
    """
    raise NotImplementedError
