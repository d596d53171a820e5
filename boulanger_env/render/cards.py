"""The faces of the 52 cards at one size, and everything else on the table, ready for blitting."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from boulanger_env.game.cards import N_CARDS, RANKS, is_red, rank_of, suit_of

from .courts import court
from .lettering import sharp_text_mask
from .pillow import Image, ImageFilter
from .shapes import rounded_mask, suit_mask
from .sprites import Colour, Sprite

PAPER: Colour = (252, 251, 247)
EDGE: Colour = (186, 184, 176)
RED: Colour = (200, 38, 48)
BLACK: Colour = (30, 34, 42)

# Positions of pips on a card of 1 x 1, as columns and rows: those below the middle are upside down.
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
    """A blank card with its rim, RGBA."""
    line = max(0.75, width / 110)
    image = Image.new("RGBA", (width, height), (*EDGE, 0))
    image.putalpha(rounded_mask(width, height, radius_of(width)))
    image.paste((*PAPER, 255), (0, 0), rounded_mask(width, height, radius_of(width), line))
    return image


def _index(card: int, width: int) -> tuple[Image.Image, int]:
    """Rank and suit side by side, so that both show on a mostly covered card; and the rows above a letter."""
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
    # Symmetric about the middle, pixel for pixel.
    if x > 0.5:
        left = picture.width - size - round(picture.width * (1 - x) - size / 2)
    picture.paste(255, (left, top), mask)


@lru_cache(maxsize=4)
def card_sprites(width: int, height: int) -> tuple[Sprite, ...]:
    """The sprites of all cards by id, shadows included; number 0 is a blank card."""
    below, reach = shadow(width, height)
    sprites = []
    for card in range(N_CARDS + 1):
        image = below.copy()
        image.alpha_composite(face(card, width, height) if card else _blank(width, height), (reach, reach))
        sprites.append(Sprite.of(image, -reach, -reach))
    return tuple(sprites)


@lru_cache(maxsize=64)
def ring(width: int, height: int, line: int, colour: Colour, strength: float) -> Sprite:
    """An outline around a rectangle with rounded corners, half of it outside, with a faint glow."""
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
