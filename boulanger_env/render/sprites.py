"""Pictures with soft edges, composited with NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .pillow import Image

Pixels = NDArray[np.uint8]
"""A picture's pixels, ``(height, width, 3)``."""
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Sprite:
    """A picture with a soft edge, to be laid over others.

    Attributes:
        colour: uint8 ``(h, w, 3)``: the picture times its opacity.
        keep: uint8 ``(h, w, 1)``: how much of the background shows through, 0 to 255.
        dx: offset of its left edge from the point it is put at.
        dy: offset of its top edge.
        solid: the opaque rows and columns: top, bottom, left, right.
    """

    colour: Pixels
    keep: Pixels
    dx: int
    dy: int
    solid: tuple[int, int, int, int]

    @staticmethod
    def of(image: Image.Image, dx: int = 0, dy: int = 0) -> Sprite:
        """A sprite of an RGBA image."""
        pixels = np.asarray(image, np.uint32)
        alpha = pixels[..., 3:]
        colour = ((pixels[..., :3] * alpha + 127) // 255).astype(np.uint8)
        keep = (255 - alpha).astype(np.uint8)
        return Sprite(colour, keep, dx, dy, _solid(keep[..., 0] == 0))

    def put(self, canvas: Pixels, x: int, y: int, rows: int | None = None) -> None:
        """Draw it on a canvas, clipped at the edges; with ``rows``, only that many rows from the top."""
        x, y = x + self.dx, y + self.dy
        height, width = self.keep.shape[:2]
        if rows is not None:
            height = min(height, rows - self.dy)
        x0, y0 = max(-x, 0), max(-y, 0)
        x1, y1 = min(width, canvas.shape[1] - x), min(height, canvas.shape[0] - y)
        if x0 >= x1 or y0 >= y1:
            return
        top, bottom, left, right = self.solid
        rows_at = sorted((min(max(n, y0), y1)) for n in (y0, top, bottom, y1))
        columns_at = sorted((min(max(n, x0), x1)) for n in (x0, left, right, x1))
        a, b, c, d = rows_at
        e, f, g, h = columns_at
        # Blend four soft strips around the opaque middle, which is copied.
        for r0, r1, c0, c1 in ((a, b, e, h), (b, c, e, f), (b, c, g, h), (c, d, e, h)):
            if r0 < r1 and c0 < c1:
                part = canvas[y + r0 : y + r1, x + c0 : x + c1]
                kept = part.astype(np.uint16)
                kept *= self.keep[r0:r1, c0:c1]
                kept += 127
                kept //= 255
                kept += self.colour[r0:r1, c0:c1]
                part[:] = kept
        if b < c and f < g:
            canvas[y + b : y + c, x + f : x + g] = self.colour[b:c, f:g]


def _solid(opaque: NDArray[Any]) -> tuple[int, int, int, int]:
    """A large rectangle of opaque pixels around the middle: top, bottom, left, right; empty if there is none."""
    left, right = _run(opaque[len(opaque) // 2])
    if left >= right:
        return 0, 0, 0, 0
    top, bottom = _run(np.all(opaque[:, left:right], axis=1))
    return (top, bottom, left, right) if top < bottom else (0, 0, 0, 0)


def _run(line: NDArray[Any]) -> tuple[int, int]:
    """The run of True around the middle of a line, as start and stop."""
    middle = len(line) // 2
    if not line[middle]:
        return 0, 0
    gaps = np.flatnonzero(~line)
    before, after = gaps[gaps < middle], gaps[gaps > middle]
    return int(before[-1]) + 1 if before.size else 0, int(after[0]) if after.size else len(line)
