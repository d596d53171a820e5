"""The emblems of kings, queens and jacks: the suit with a crown, a coronet or a plumed hat."""

from __future__ import annotations

from itertools import pairwise

from .pillow import Image, ImageDraw
from .shapes import SUIT_OUTLINES, Outline, Point, scaled
from .sprites import Colour

GOLD: Colour = (226, 172, 72)
DARK_GOLD: Colour = (150, 104, 32)
LIGHT_GOLD: Colour = (244, 207, 122)
PEARL: Colour = (255, 253, 246)
_FINE = 6

# The inner frame, as fractions of a card's width and height.
_LEFT, _TOP = 0.20, 0.215


def court(image: Image.Image, rank: int, suit: int, ink: Colour) -> None:
    """Draw the emblem of a jack (11), queen (12) or king (13) onto a card."""
    width, height = image.size
    left, top = round(width * _LEFT), round(height * _TOP)
    size = (width - 2 * left, height - 2 * top)
    panel = Image.new("RGB", (size[0] * _FINE, size[1] * _FINE), _tint(ink, 0.07))
    draw = ImageDraw.Draw(panel)
    w, h = panel.size
    # One pixel of the card.
    line = max(_FINE, round(w / 56))
    draw.rectangle((0, 0, w - 1, h - 1), outline=_tint(ink, 0.75), width=line)
    draw.rectangle((2 * line, 2 * line, w - 1 - 2 * line, h - 1 - 2 * line), outline=GOLD, width=line)
    body = 0.62 * w
    x, y = (w - body) / 2, h * 0.44
    for outline in SUIT_OUTLINES[suit]:
        draw.polygon(scaled(outline, x, y, body, body), fill=ink)
    _HEADGEAR[rank](draw, w, h, ink, line)
    image.paste(panel.reduce(_FINE), (left, top))


def _tint(ink: Colour, strength: float) -> Colour:
    """An ink on the card's paper, thinned."""
    r, g, b = (round(252 + (value - 252) * strength) for value in ink)
    return r, g, b


def _shape(draw: ImageDraw.ImageDraw, points: Outline, fill: Colour, line: int) -> None:
    draw.polygon(points, fill=fill)
    draw.line([*points, points[0], points[1]], fill=DARK_GOLD, width=line, joint="curve")


def _ball(draw: ImageDraw.ImageDraw, at: Point, radius: float, fill: Colour, line: int) -> None:
    x, y = at
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill, outline=DARK_GOLD, width=line)


def _king(draw: ImageDraw.ImageDraw, w: int, h: int, ink: Colour, line: int) -> None:
    """A crown with five points."""
    left, right, base, rise = 0.22 * w, 0.78 * w, 0.43 * h, 0.27 * h
    span = right - left
    tips = [(0.0, 0.62), (0.25, 0.90), (0.5, 1.0), (0.75, 0.90), (1.0, 0.62)]
    points: Outline = [(left + 0.06 * span, base)]
    for i, (x, up) in enumerate(tips):
        points.append((left + (x * 1.12 - 0.06) * span, base - up * rise))
        if i < 4:
            points.append((left + (x + 0.125) * span, base - 0.42 * rise))
    points.append((right - 0.06 * span, base))
    _shape(draw, points, GOLD, line)
    for x, up in tips:
        _ball(draw, (left + (x * 1.12 - 0.06) * span, base - up * rise), 0.052 * span, LIGHT_GOLD, line // 2)
    _band(draw, left + 0.06 * span, right - 0.06 * span, base, 0.055 * h, ink, line)


def _queen(draw: ImageDraw.ImageDraw, w: int, h: int, ink: Colour, line: int) -> None:
    """A coronet with round hollows between its pearls."""
    left, right, base, rise = 0.24 * w, 0.76 * w, 0.43 * h, 0.25 * h
    span = right - left
    tips = [(0.0, 0.66), (0.26, 0.78), (0.5, 1.0), (0.74, 0.78), (1.0, 0.66)]
    points: Outline = [(left + 0.04 * span, base)]
    for (x0, up0), (x1, up1) in pairwise(tips):
        for i in range(13):
            t = i / 12
            hollow = 0.40 * (1 - (2 * t - 1) ** 2) ** 0.7
            points.append(
                (left + (x0 + t * (x1 - x0)) * span, base - (up0 + t * (up1 - up0) - hollow) * rise)
            )
    points.append((right - 0.04 * span, base))
    _shape(draw, points, GOLD, line)
    for x, up in tips:
        _ball(draw, (left + x * span, base - (up + 0.06) * rise), 0.062 * span, PEARL, max(1, line // 2))
    _band(draw, left + 0.04 * span, right - 0.04 * span, base, 0.05 * h, ink, line)


def _jack(draw: ImageDraw.ImageDraw, w: int, h: int, ink: Colour, line: int) -> None:
    """A cap with a feather."""
    left, right, base = 0.25 * w, 0.75 * w, 0.43 * h
    span = right - left
    feather: Outline = []
    for side, breadth in ((range(21), -0.055), (range(20, -1, -1), 0.045)):
        for i in side:
            t = i / 20
            quill = base - h * (0.10 + 0.22 * t - 0.10 * t * t)
            feather.append((left + span * (0.55 + 0.62 * t), quill + h * breadth * (1 - (2 * t - 1) ** 2)))
    _shape(draw, feather, LIGHT_GOLD, line // 2)
    cap: Outline = [(left, base)]
    for i in range(25):
        t = i / 24
        bulge = (1 - (2 * t - 1) ** 2) ** 0.6
        cap.append((left + span * (t * 1.06 - 0.06), base - 0.03 * h - 0.16 * h * bulge * (1.1 - 0.35 * t)))
    cap.append((right, base))
    draw.polygon(cap, fill=ink)
    _band(draw, left, right, base, 0.045 * h, ink, line)


def _band(
    draw: ImageDraw.ImageDraw, left: float, right: float, base: float, height: float, ink: Colour, line: int
) -> None:
    """The rim of a crown or cap, with jewels."""
    draw.rectangle((left, base - height, right, base), fill=LIGHT_GOLD, outline=DARK_GOLD, width=line // 2)
    for i in range(1, 4):
        x, y, r = left + (right - left) * i / 4, base - height / 2, height * 0.27
        draw.ellipse((x - r, y - r, x + r, y + r), fill=ink)


_HEADGEAR = {11: _jack, 12: _queen, 13: _king}
