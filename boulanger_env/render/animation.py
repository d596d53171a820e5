"""A played game as a GIF or an MP4: one frame for the start and one for each move."""

from __future__ import annotations

import errno
import math
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.files import write_with
from boulanger_env.game import BoulangerError, Game, IllegalMoveError
from boulanger_env.game.checks import shown
from boulanger_env.game.walk import walk

from .layout import DEFAULT_SIZE, read_size
from .pillow import Image, getdata, getheader
from .rgb import TablePainter
from .sprites import Pixels

Packed = NDArray[np.uint32]

DEFAULT_FPS = 4

_SAME = 255
"""The palette index of a GIF that means "as in the previous frame"."""
_EXACT = 160
"""How many of a GIF's colours are exact; the others each stand for several similar ones."""


def write_gif(
    path: str | os.PathLike[str],
    start: Game,
    actions: Sequence[int],
    *,
    size: Sequence[int] = DEFAULT_SIZE,
    fps: float = DEFAULT_FPS,
    hold: float = 2.0,
    outcome: str | None = None,
) -> None:
    """Write a played game as an animated GIF, whole or not at all.

    Args:
        path: the file; an existing one is replaced only once the new one is complete.
        start: the game before the first action; it is not changed.
        actions: action ids, 780 for an undo.
        size: width and height in pixels.
        fps: frames, and so moves, per second; a GIF counts in hundredths of a second.
        hold: seconds that the last frame stays before the animation restarts.
        outcome: how the episode ended, for the last frame; None: as the game shows.

    Raises:
        IllegalMoveError: an action is illegal; the message has its number. Nothing is written.
        BoulangerError: the size or the speed is invalid.
        OSError: the file cannot be written.
    """
    duration = round(100 / _positive("fps", fps)) * 10
    if duration < 20:
        raise BoulangerError(f"fps={shown(fps)}: a GIF shows at most 50 frames per second")
    held = duration + round(1000 * _positive("hold", hold, zero=True))
    palette = _palette(start, actions, size)

    def image(numbers: NDArray[np.uint8]) -> Any:
        picture = Image.frombytes("P", numbers.shape[::-1], numbers.tobytes())
        picture.putpalette(palette.tobytes())
        return picture

    def write(partial: Path) -> None:
        # Frame by frame: Image.save would hold all of them in memory.
        before: NDArray[np.uint8] | None = None
        with open(partial, "wb") as file:
            frames = game_frames(start, actions, size, outcome)
            for i, numbers in enumerate(_nearest(frames, palette)):
                if before is None:
                    file.writelines(getheader(image(numbers), info={"loop": 0})[0])
                changed, (left, top) = _change(before, numbers)
                lasts = held if i == len(actions) else duration
                how = {"duration": lasts, "transparency": _SAME, "disposal": 1}
                file.writelines(getdata(image(changed), (left, top), **how))
                before = numbers
            file.write(b";")

    write_with(path, write)


def write_mp4(
    path: str | os.PathLike[str],
    start: Game,
    actions: Sequence[int],
    *,
    size: Sequence[int] = DEFAULT_SIZE,
    fps: float = DEFAULT_FPS,
    hold: float = 2.0,
    outcome: str | None = None,
) -> None:
    """Write a played game as an MP4 video (H.264), whole or not at all.

    Args:
        path: the file; an existing one is replaced only once the new one is complete.
        start: the game before the first action; it is not changed.
        actions: action ids, 780 for an undo.
        size: width and height in pixels.
        fps: frames, and so moves, per second.
        hold: seconds that the last frame stays.
        outcome: how the episode ended, for the last frame; None: as the game shows.

    Raises:
        IllegalMoveError: an action is illegal; the message has its number. Nothing is written.
        BoulangerError: the size or the speed is invalid.
        ModuleNotFoundError: imageio-ffmpeg is not installed; the message names the extra that provides it.
        OSError: the file cannot be written.
    """
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'videos need imageio-ffmpeg: pip install "boulanger-env[video]"', name="imageio_ffmpeg"
        ) from None

    rate, pause = _positive("fps", fps), _positive("hold", hold, zero=True)
    # Checked before a file is created.
    for _ in played_games(start, actions):
        pass
    width, height = read_size(size)
    # H.264 halves the resolution of colours, so it needs even sides.
    even = (width + width % 2, height + height % 2)

    command = [get_ffmpeg_exe(), "-y", "-loglevel", "error"]
    command += [
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        f"{even[0]}x{even[1]}",
        "-r",
        str(rate),
        "-i",
        "-",
    ]
    command += [
        "-codec:v",
        "libx264",
        "-pix_fmt",
        "yuv420p",
        "-crf",
        "10",
        "-movflags",
        "+faststart",
        "-f",
        "mp4",
    ]

    def write(partial: Path) -> None:
        # Not imageio_ffmpeg.write_frames, which ignores a failure at the end, such as a full disk.
        with subprocess.Popen(
            [*command, os.fspath(partial)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as ffmpeg:
            assert ffmpeg.stdin
            try:
                picture = b""
                for frame in game_frames(start, actions, (width, height), outcome):
                    frame = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
                    picture = frame.tobytes()
                    ffmpeg.stdin.write(picture)
                for _ in range(round(pause * rate)):
                    ffmpeg.stdin.write(picture)
            except BrokenPipeError:
                pass  # it has ended; its error message follows
            except BaseException:
                ffmpeg.kill()
                raise
            _, said = ffmpeg.communicate()
        if ffmpeg.returncode:
            lines = said.decode(errors="replace").splitlines() or [f"it ended with {ffmpeg.returncode}"]
            raise OSError(errno.EIO, f"ffmpeg could not write the video: {lines[-1]}")

    write_with(path, write)


def played_games(start: Game, actions: Sequence[int]) -> Iterator[Game]:
    """The game before the first action and after each one: always the same object, updated.

    Raises:
        IllegalMoveError: an action is illegal; the message has its number.
    """
    yield start
    for number, step in enumerate(walk(start, actions), 1):
        if step.error:
            raise IllegalMoveError(f"action {number} of {len(actions)}: {step.error}")
        yield step.game


def game_frames(
    start: Game,
    actions: Sequence[int],
    size: Sequence[int] = DEFAULT_SIZE,
    outcome: str | None = None,
) -> Iterator[Pixels]:
    """A picture of the game before the first action and after each one: uint8 arrays ``(height, width, 3)``.

    The last one shows the ``outcome``, if given.

    Raises:
        IllegalMoveError: an action is illegal; the message has its number.
        BoulangerError: the size is invalid.
    """
    painter = TablePainter(size)
    return (
        painter.paint(game, outcome=outcome if i == len(actions) else None)
        for i, game in enumerate(played_games(start, actions))
    )


def _positive(name: str, value: Any, *, zero: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (number >= 0 if zero else number > 0) or number == math.inf:
        raise BoulangerError(
            f"{name}={shown(value)} must be a finite number {'of at least' if zero else 'above'} 0"
        )
    return number


def _change(
    before: NDArray[np.uint8] | None, now: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """The rectangle that differs from the previous frame, ``_SAME`` where it does not, and its left and top."""
    if before is None:
        return now, (0, 0)
    differs = now != before
    rows, columns = np.flatnonzero(differs.any(1)), np.flatnonzero(differs.any(0))
    # A frame has at least one pixel.
    top, bottom = (rows[0], rows[-1] + 1) if rows.size else (0, 1)
    left, right = (columns[0], columns[-1] + 1) if rows.size else (0, 1)
    area = slice(top, bottom), slice(left, right)
    return np.where(differs[area], now[area], _SAME).astype(np.uint8), (int(left), int(top))


def _packed(frame: Pixels) -> Packed:
    """Each pixel's colour as one number."""
    red, green, blue = (frame[..., i].astype(np.uint32) for i in range(3))
    return (red << 16) + (green << 8) + blue


def _unpacked(colours: Packed) -> Pixels:
    """Numbers as colours: uint8 ``(n, 3)``."""
    return np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=-1).astype(np.uint8)


def _palette(start: Game, actions: Sequence[int], size: Sequence[int]) -> Pixels:
    """At most 255 colours for all frames, uint8 ``(n, 3)``: the commonest ones, and others near the rest.

    Colours are counted in the first, the middle and the last frame. So the lit cloth and the cards' paper are exact,
    and the soft edges of letters and cards share the remaining colours.
    """
    counted = {0, len(actions) // 2, len(actions)}
    painter = TablePainter(size)
    chosen = np.concatenate(
        [
            _packed(painter.paint(game)).ravel()
            for i, game in enumerate(played_games(start, actions))
            if i in counted
        ]
    )
    colours, counts = np.unique(chosen, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    common, rest = _unpacked(colours[order[:_EXACT]]), _unpacked(colours[order[_EXACT:]])
    if len(rest):
        others = Image.fromarray(rest[None]).quantize(_SAME - _EXACT, dither=Image.Dither.NONE)
        entries = np.frombuffer(bytes(others.getpalette() or []), np.uint8).reshape(-1, 3)
        common = np.concatenate([common, entries[: _SAME - _EXACT]])
    return common


def _nearest(frames: Iterable[Pixels], palette: Pixels) -> Iterator[NDArray[np.uint8]]:
    """The palette index nearest to each pixel's colour, frame by frame."""
    known = np.full(1 << 24, _SAME, np.uint8)
    for frame in map(_packed, frames):
        numbers = known[frame]
        new = np.unique(frame[numbers == _SAME])
        if new.size:
            apart = _unpacked(new).astype(np.int32)[:, None] - palette.astype(np.int32)
            known[new] = (apart * apart).sum(-1).argmin(1)
            numbers = known[frame]
        yield numbers
