"""Letters as masks, and text on a picture.

They come from the font built into Pillow (Aileron), so that the result does not depend on system fonts. They are drawn
one by one, so that no system library applies kerning, and supersampled.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .pillow import Image, ImageDraw, ImageFont
from .sprites import Colour, Pixels

_FINE = 8
"""Supersampling factor of letters."""


class Glyph(NamedTuple):
    """A letter's mask, its offset right of the pen and above the baseline, and the pen's advance."""

    mask: Image.Image
    left: int
    up: int
    advance: int


@lru_cache(maxsize=8)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


@lru_cache(maxsize=1024)
def glyph(letter: str, size: int, weight: float = 0.0) -> Glyph:
    """A letter, ``size`` pixels from one line to the next.

    Letters are drawn one by one, so that no system library applies kerning.

    Args:
        letter: one character.
        size: the font's size in pixels.
        weight: how much bolder, as a fraction of the size.
    """
    font, stroke = _font(size * _FINE), round(size * _FINE * weight)
    left, top, right, bottom = font.getbbox(letter, anchor="ls", stroke_width=stroke)
    # Round the mask's edges outwards to whole pixels.
    x0, y0 = int(left // _FINE), int(top // _FINE)
    x1, y1 = max(int(-(-right // _FINE)), x0 + 1), max(int(-(-bottom // _FINE)), y0 + 1)
    large = Image.new("L", ((x1 - x0) * _FINE, (y1 - y0) * _FINE))
    ImageDraw.Draw(large).text(
        (-x0 * _FINE, -y0 * _FINE), letter, fill=255, font=font, anchor="ls", stroke_width=stroke
    )
    return Glyph(large.reduce(_FINE), x0, -y0, round((font.getlength(letter) + stroke) / _FINE))


def text_width(text: str, size: int, weight: float = 0.0) -> int:
    """The width of :func:`text_mask` in pixels."""
    return sum(glyph(letter, size, weight).advance for letter in text)


def fitted(text: str, width: int, size: int) -> str:
    """As much of a text as fits into ``width`` pixels, with dots for the rest."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(f"{text}...", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}..." if text else ""


def text_mask(text: str, size: int, weight: float = 0.0) -> tuple[Image.Image, int]:
    """A line of text, and the distance of its baseline from the mask's first row."""
    glyphs = [glyph(letter, size, weight) for letter in text]
    up, down = round(size * 0.95), round(size * 0.35)
    mask = Image.new("L", (max(1, sum(g.advance for g in glyphs) + 2), up + down))
    pen = 0
    for g in glyphs:
        mask.paste(255, (pen + g.left, up - g.up), g.mask)
        pen += g.advance
    return mask, up


def sharp_text_mask(text: str, height: int, weight: float, tight: float = 0.0) -> tuple[Image.Image, int]:
    """Capital letters or digits exactly ``height`` pixels high, and the rows of the mask above that height.

    Top and bottom fall on pixel edges, which keeps small letters crisp.

    Args:
        text: the text.
        height: height of a letter H, in pixels.
        weight: how much bolder, as a fraction of the font's size.
        tight: how much closer together, as a fraction of the font's size.
    """
    size = 320
    font, stroke = _font(size), round(size * weight)
    large = Image.new("L", (size * (len(text) + 2), 3 * size))
    draw = ImageDraw.Draw(large)
    pen, base = float(size), 2 * size
    for letter in text:
        draw.text((pen, base), letter, fill=255, font=font, anchor="ls", stroke_width=stroke)
        pen += font.getlength(letter) + stroke - tight * size
    _, top, _, bottom = font.getbbox("H", anchor="ls", stroke_width=stroke)
    left, _, right, _ = large.getbbox() or (0, 0, 1, 1)
    scale = (bottom - top) / height
    # The tail of a Q and the curves of an 8 extend beyond the H.
    over = -(-height // 5)
    box = (left, base + top - over * scale, right, base + bottom + over * scale)
    width = max(1, round((right - left) / scale))
    mask = large.resize((width, height + 2 * over), Image.Resampling.BOX, box=box)
    return mask, over


@lru_cache(maxsize=512)
def _ink(text: str, size: int, weight: float) -> tuple[NDArray[np.uint16], int]:
    mask, up = text_mask(text, size, weight)
    return np.asarray(mask, np.uint16)[..., None], up


def write(
    pixels: Pixels, text: str, x: int, base: int, size: int, colour: Colour, weight: float = 0.0
) -> None:
    """Draw a line of text with its baseline at ``base``, clipped at the edges."""
    mask, up = _ink(text, size, weight)
    top = base - up
    y0, y1 = max(top, 0), min(top + mask.shape[0], pixels.shape[0])
    x0, x1 = max(x, 0), min(x + mask.shape[1], pixels.shape[1])
    if x0 >= x1 or y0 >= y1:
        return
    part = pixels[y0:y1, x0:x1]
    shown = mask[y0 - top : y1 - top, x0 - x : x1 - x]
    part[:] = (part * (255 - shown) + np.array(colour, np.uint16) * shown + 127) // 255
