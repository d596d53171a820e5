"""Shapes and letters as masks of any size: uint8 images that are 255 inside, smooth at the edge.

Everything is drawn from curves here, or from the letters that Pillow carries within itself, several times as large as
it is wanted and then reduced. So no font, image or display of the machine has a say in what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

Point = tuple[float, float]
Outline = list[Point]

_FINE = 8
"""How many times as large shapes are drawn."""


def _curve(start: Point, *pieces: tuple[Point, Point, Point]) -> Outline:
    """Points along cubic Bezier curves, one after the other."""
    points = [start]
    for a, b, end in pieces:
        x0, y0 = points[-1]
        for i in range(1, 25):
            t, u = i / 24, 1 - i / 24
            points.append(
                (
                    u**3 * x0 + 3 * u * u * t * a[0] + 3 * u * t * t * b[0] + t**3 * end[0],
                    u**3 * y0 + 3 * u * u * t * a[1] + 3 * u * t * t * b[1] + t**3 * end[1],
                )
            )
    return points


def _mirrored(half: Outline) -> Outline:
    """A left half from top to bottom, closed by its reflection."""
    return half + [(1 - x, y) for x, y in reversed(half)]


def _disc(x: float, y: float, radius: float) -> Outline:
    k = 0.5523 * radius
    return _curve(
        (x - radius, y),
        ((x - radius, y - k), (x - k, y - radius), (x, y - radius)),
        ((x + k, y - radius), (x + radius, y - k), (x + radius, y)),
        ((x + radius, y + k), (x + k, y + radius), (x, y + radius)),
        ((x - k, y + radius), (x - radius, y + k), (x - radius, y)),
    )


_STEM = _mirrored(_curve((0.48, 0.55), ((0.475, 0.80), (0.44, 0.93), (0.29, 1.0))))

# In a square with its origin at the top left; spades, hearts, diamonds, clubs.
SUIT_OUTLINES: tuple[list[Outline], ...] = (
    [
        _mirrored(
            _curve(
                (0.5, 0.0),
                ((0.44, 0.17), (0.05, 0.38), (0.05, 0.63)),
                ((0.05, 0.77), (0.15, 0.85), (0.27, 0.85)),
                ((0.38, 0.85), (0.46, 0.78), (0.5, 0.68)),
            )
        ),
        _STEM,
    ],
    [
        _mirrored(
            _curve(
                (0.5, 0.22),
                ((0.46, 0.10), (0.37, 0.03), (0.27, 0.03)),
                ((0.13, 0.03), (0.03, 0.14), (0.03, 0.30)),
                ((0.03, 0.55), (0.36, 0.73), (0.5, 0.98)),
            )
        )
    ],
    [
        _mirrored(
            _curve(
                (0.5, 0.0),
                ((0.41, 0.18), (0.27, 0.37), (0.12, 0.5)),
                ((0.27, 0.63), (0.41, 0.82), (0.5, 1.0)),
            )
        )
    ],
    [
        _disc(0.5, 0.235, 0.225),
        _disc(0.25, 0.60, 0.225),
        _disc(0.75, 0.60, 0.225),
        [(0.42, 0.35), (0.58, 0.35), (0.68, 0.66), (0.32, 0.66)],
        _STEM,
    ],
)


def polygon_mask(outlines: Iterable[Outline], width: int, height: int) -> Image.Image:
    """Outlines in the unit square, filled, on ``width`` x ``height`` pixels."""
    large = Image.new("L", (width * _FINE, height * _FINE))
    draw = ImageDraw.Draw(large)
    for outline in outlines:
        draw.polygon([(x * width * _FINE, y * height * _FINE) for x, y in outline], fill=255)
    return large.reduce(_FINE)


@lru_cache(maxsize=256)
def suit_mask(suit: int, size: int) -> Image.Image:
    """A suit's symbol, ``size`` pixels high and wide. Not to be changed."""
    return polygon_mask(SUIT_OUTLINES[suit], size, size)


def rounded_mask(width: int, height: int, radius: float, inset: float = 0) -> Image.Image:
    """A rectangle with round corners, ``inset`` pixels inside the image's edge."""
    large = Image.new("L", (width * _FINE, height * _FINE))
    edge = inset * _FINE
    box = (edge, edge, width * _FINE - 1 - edge, height * _FINE - 1 - edge)
    ImageDraw.Draw(large).rounded_rectangle(box, max(0.0, radius - inset) * _FINE, fill=255)
    return large.reduce(_FINE)


class Glyph(NamedTuple):
    """A letter's mask, where it begins to the right of the pen and above the baseline, and where the pen goes on."""

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

    Letters come one by one, so that no library of the machine gets to kern them.

    Args:
        letter: one character.
        size: the font's size in pixels.
        weight: how much bolder, as a part of the size.
    """
    font, stroke = _font(size * _FINE), round(size * _FINE * weight)
    left, top, right, bottom = font.getbbox(letter, anchor="ls", stroke_width=stroke)
    # The mask's edges are moved out to whole pixels.
    x0, y0 = int(left // _FINE), int(top // _FINE)
    x1, y1 = max(int(-(-right // _FINE)), x0 + 1), max(int(-(-bottom // _FINE)), y0 + 1)
    large = Image.new("L", ((x1 - x0) * _FINE, (y1 - y0) * _FINE))
    ImageDraw.Draw(large).text(
        (-x0 * _FINE, -y0 * _FINE), letter, fill=255, font=font, anchor="ls", stroke_width=stroke
    )
    return Glyph(large.reduce(_FINE), x0, -y0, round((font.getlength(letter) + stroke) / _FINE))


def text_width(text: str, size: int, weight: float = 0.0) -> int:
    """The pixels that :func:`text_mask` takes."""
    return sum(glyph(letter, size, weight).advance for letter in text)


def text_mask(text: str, size: int, weight: float = 0.0) -> tuple[Image.Image, int]:
    """A line of text, and how far its baseline lies below the mask's first row."""
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

    Top and bottom fall on pixels' edges, which keeps small letters crisp.

    Args:
        text: what is written.
        height: of a letter H, in pixels.
        weight: how much bolder, as a part of the font's size.
        tight: how much closer together, as a part of the font's size.
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
    # The tail of a Q and the curves of an 8 reach beyond the H.
    over = -(-height // 5)
    box = (left, base + top - over * scale, right, base + bottom + over * scale)
    width = max(1, round((right - left) / scale))
    mask = large.resize((width, height + 2 * over), Image.Resampling.BOX, box=box)
    return mask, over


def scaled(outline: Sequence[Point], x: float, y: float, width: float, height: float) -> Outline:
    """An outline of the unit square in another rectangle."""
    return [(x + px * width, y + py * height) for px, py in outline]
