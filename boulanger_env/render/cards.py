"""The faces of the 52 cards at one size, and what else lies on the table: ready to be blitted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from boulanger_env.game.cards import N_CARDS, RANKS, is_red, rank_of, suit_of

from .courts import court
from .shapes import rounded_mask, sharp_text_mask, suit_mask

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

PAPER: Colour = (252, 251, 247)
EDGE: Colour = (186, 184, 176)
RED: Colour = (200, 38, 48)
BLACK: Colour = (30, 34, 42)

# Where pips lie on a card of 1 x 1, as columns and rows: those below the middle stand on their heads.
_LEFT, _MIDDLE, _RIGHT = 0.3, 0.5, 0.7
_TOP, _BOTTOM = 0.28, 0.72
_THIRD = (_BOTTOM - _TOP) / 3
_SIDES2 = [(x, y) for x in (_LEFT, _RIGHT) for y in (_TOP, _BOTTOM)]
_SIDES3 = [(x, y) for x in (_LEFT, _RIGHT) for y in (_TOP, 0.5, _BOTTOM)]
_SIDES4 = [(x, _TOP + i * _THIRD) for x in (_LEFT, _RIGHT) for i in range(4)]
_UPPER, _LOWER = (_MIDDLE, _TOP + _THIRD / 2), (_MIDDLE, _BOTTOM - _THIRD / 2)
PIPS: dict[int, list[tuple[float, float]]] = {
    2: [(_MIDDLE, _TOP), (_MIDDLE, _BOTTOM)],
    3: [(_MIDDLE, _TOP), (_MIDDLE, 0.5), (_MIDDLE, _BOTTOM)],
    4: _SIDES2,
    5: [*_SIDES2, (_MIDDLE, 0.5)],
    6: _SIDES3,
    7: [*_SIDES3, (_MIDDLE, (_TOP + 0.5) / 2)],
    8: [*_SIDES3, (_MIDDLE, (_TOP + 0.5) / 2), (_MIDDLE, (_BOTTOM + 0.5) / 2)],
    9: [*_SIDES4, (_MIDDLE, 0.5)],
    10: [*_SIDES4, _UPPER, _LOWER],
}


@dataclass(frozen=True)
class Sprite:
    """A picture with a soft edge, to be laid over others.

    Attributes:
        colour: uint8 ``(h, w, 3)``: the picture times its opacity.
        keep: uint8 ``(h, w, 1)``: how much of what lies below shows through, 0 to 255.
        dx: where its left edge lies from the point it is put at.
        dy: where its top edge lies.
        solid: the rows and columns within which nothing shows through: top, bottom, left, right.
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
        """Lay it on a canvas, cut at the canvas's edges; ``rows``: only so many, from the top."""
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
        # A frame of four soft strips around a middle that is copied.
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


def _solid(opaque: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """A large rectangle of opaque pixels around the middle: top, bottom, left, right; empty if there is none."""
    height, width = opaque.shape
    middle = opaque[height // 2]
    left, right = _run(middle)
    if left >= right:
        return 0, 0, 0, 0
    top, bottom = _run(opaque[:, left:right].all(axis=1))
    return (top, bottom, left, right) if top < bottom else (0, 0, 0, 0)


def _run(line: NDArray[np.bool_]) -> tuple[int, int]:
    """The run of True around the middle of a line, as start and stop."""
    middle = len(line) // 2
    if not line[middle]:
        return 0, 0
    gaps = np.flatnonzero(~line)
    before, after = gaps[gaps < middle], gaps[gaps > middle]
    return int(before[-1]) + 1 if before.size else 0, int(after[0]) if after.size else len(line)


def radius_of(width: int) -> float:
    """The radius of a card's corners."""
    return width * 0.075


def shadow(width: int, height: int) -> tuple[Image.Image, int]:
    """The soft shadow of a card as RGBA, and how far it reaches beyond the card on each side."""
    reach = max(2, round(width * 0.065))
    mask = Image.new("L", (width + 2 * reach, height + 2 * reach))
    drop = max(1, round(width * 0.018))
    mask.paste(rounded_mask(width, height, radius_of(width)), (reach, reach + drop))
    mask = mask.filter(ImageFilter.GaussianBlur(reach / 2.6)).point([round(v * 0.36) for v in range(256)])
    image = Image.new("RGBA", mask.size, (0, 16, 12, 0))
    image.putalpha(mask)
    return image, reach


def _blank(width: int, height: int) -> Image.Image:
    """A card without a face: RGBA, with its rim."""
    line = max(0.75, width / 110)
    image = Image.new("RGBA", (width, height), (*EDGE, 0))
    image.putalpha(rounded_mask(width, height, radius_of(width)))
    image.paste((*PAPER, 255), (0, 0), rounded_mask(width, height, radius_of(width), line))
    return image


def _index(card: int, width: int) -> tuple[Image.Image, int]:
    """Rank and suit side by side, so that both show when little of a card does; and the rows above a letter."""
    height = max(5, round(width * 0.18))
    suit = suit_mask(suit_of(card), max(5, round(height * 0.92)))
    rank = RANKS[rank_of(card) - 1]
    text, over = (
        sharp_text_mask("10", height, 0.035, 0.06) if rank == "T" else sharp_text_mask(rank, height, 0.035)
    )
    gap = max(1, round(width * 0.03))
    mask = Image.new("L", (text.width + gap + suit.width, text.height))
    mask.paste(text, (0, 0))
    mask.paste(suit, (text.width + gap, over + (height - suit.height + 1) // 2))
    return mask, over


def face(card: int, width: int, height: int) -> Image.Image:
    """One card's face as RGBA."""
    ink = RED if is_red(card) else BLACK
    image = _blank(width, height)
    picture = Image.new("L", (width, height))
    index, over = _index(card, width)
    margin, top = max(2, round(width * 0.065)), max(2, round(width * 0.045))
    picture.paste(index, (margin, top - over))
    rank = rank_of(card)
    if rank == 1:
        _pip(picture, suit_of(card), round(width * 0.48), 0.5, 0.5)
    for x, y in PIPS.get(rank, ()):
        _pip(picture, suit_of(card), round(width * 0.18), x, y)
    turned = index.transpose(Image.Transpose.ROTATE_180)
    picture.paste(turned, (width - margin - index.width, height - top + over - index.height))
    image.paste((*ink, 255), (0, 0), picture)
    if rank > 10:
        court(image, rank, suit_of(card), ink)
    return image


def _pip(picture: Image.Image, suit: int, size: int, x: float, y: float) -> None:
    size = max(4, size)
    mask = suit_mask(suit, size)
    if y > 0.5:
        mask = mask.transpose(Image.Transpose.ROTATE_180)
    left = round(picture.width * x - size / 2)
    top = round(picture.height * y - size / 2)
    # The same pixels on both sides of the middle.
    if x > 0.5:
        left = picture.width - size - round(picture.width * (1 - x) - size / 2)
    picture.paste(255, (left, top), mask)


@lru_cache(maxsize=4)
def card_sprites(width: int, height: int) -> tuple[Sprite, ...]:
    """The sprites of all cards by their ids, shadows included; number 0 is a card without a face."""
    below, reach = shadow(width, height)
    sprites = []
    for card in range(N_CARDS + 1):
        image = below.copy()
        image.alpha_composite(face(card, width, height) if card else _blank(width, height), (reach, reach))
        sprites.append(Sprite.of(image, -reach, -reach))
    return tuple(sprites)


@lru_cache(maxsize=128)
def ring(width: int, height: int, line: int, colour: Colour, strength: float) -> Sprite:
    """A line around a rectangle with round corners, half of it outside, with a faint glow."""
    reach = 2 * line
    size = (width + 2 * reach, height + 2 * reach)
    outer = rounded_mask(*size, radius_of(width) + reach, reach - line)
    inner = rounded_mask(*size, radius_of(width) + reach, reach)
    glow = outer.filter(ImageFilter.GaussianBlur(line))
    alpha = np.maximum(np.asarray(outer, np.float32), np.asarray(glow, np.float32) * 0.55)
    alpha = alpha * (1 - np.asarray(inner, np.float32) / 255) * strength
    image = Image.new("RGBA", size, (*colour, 0))
    image.putalpha(Image.fromarray(alpha.astype(np.uint8)))
    return Sprite.of(image, -reach, -reach)


def slot(width: int, height: int, suit: int | None = None) -> Image.Image:
    """An empty place as RGBA; a foundation's shows its suit."""
    radius = radius_of(width)
    line = max(1, round(width / 70))
    image = Image.new("RGBA", (width, height), (255, 255, 255, 0))
    rim = np.asarray(rounded_mask(width, height, radius), np.int16)
    hollow = np.asarray(rounded_mask(width, height, radius, line), np.int16)
    pixels = np.array(image)
    pixels[..., :3] = np.where(hollow[..., None] > 127, 0, 255)
    pixels[..., 3] = (rim - hollow) * 70 // 255 + hollow * 34 // 255
    image = Image.fromarray(pixels)
    if suit is not None:
        size = round(width * 0.46)
        mark = Image.new("RGBA", image.size, (235, 245, 240, 0))
        mask = Image.new("L", image.size)
        mask.paste(suit_mask(suit, size), ((width - size) // 2, (height - size) // 2))
        mark.putalpha(mask.point([v * 62 // 255 for v in range(256)]))
        image.alpha_composite(mark)
    return image
