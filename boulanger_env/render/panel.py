"""Lines of text on a panel over a picture."""

from __future__ import annotations

from collections.abc import Sequence

from .lettering import text_width, write
from .marks import ACCENT
from .rgb import BAR, TEXT
from .sprites import Pixels

_LARGEST, _SMALLEST = 18, 6
_LINE = 1.6
"""Line spacing, as a multiple of the font size."""


def write_panel(pixels: Pixels, rows: Sequence[tuple[str, str]]) -> None:
    """Draw a panel in the middle of a picture, with the largest letters that fit.

    Args:
        pixels: uint8 ``(height, width, 3)``, changed in place.
        rows: each line's label and text; ``("", "")`` leaves a gap.
    """
    height, width = pixels.shape[:2]
    for size in range(_LARGEST, _SMALLEST - 1, -1):
        indent = max(text_width(f"{name}  ", size) for name, _ in rows)
        wide = indent + max(text_width(words, size) for _, words in rows) + 3 * size
        high = round((len(rows) + 1) * _LINE * size)
        if wide <= width and high <= height:
            break
    left, top = max((width - wide) // 2, 0), max((height - high) // 2, 0)
    pixels[top : top + high, left : left + wide] = BAR
    for number, (name, words) in enumerate(rows, 1):
        base = top + round((number + 0.2) * _LINE * size)
        x = left + round(1.5 * size)
        write(pixels, name, x, base, size, ACCENT)
        write(pixels, words, x + indent, base, size, TEXT)
