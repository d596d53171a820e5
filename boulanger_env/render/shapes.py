"""Shapes as masks of any size: images that are 255 inside, smooth at the edge.

They are drawn from curves, supersampled and then scaled down.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from .pillow import Image, ImageDraw

Point = tuple[float, float]
Outline = list[Point]

_FINE = 8
"""Supersampling factor of shapes."""


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
    """A suit's symbol, ``size`` pixels high and wide. Cached: do not modify."""
    return polygon_mask(SUIT_OUTLINES[suit], size, size)


def rounded_mask(width: int, height: int, radius: float, inset: float = 0) -> Image.Image:
    """A rectangle with rounded corners, ``inset`` pixels inside the image's edge."""
    large = Image.new("L", (width * _FINE, height * _FINE))
    edge = inset * _FINE
    box = (edge, edge, width * _FINE - 1 - edge, height * _FINE - 1 - edge)
    ImageDraw.Draw(large).rounded_rectangle(box, max(0.0, radius - inset) * _FINE, fill=255)
    return large.reduce(_FINE)


def scaled(outline: Sequence[Point], x: float, y: float, width: float, height: float) -> Outline:
    """An outline in the unit square, mapped to another rectangle."""
    return [(x + px * width, y + py * height) for px, py in outline]
