"""Pillow, or one line that says how to get it; what draws pictures imports it from here."""

from __future__ import annotations

try:
    from PIL import Image, ImageDraw, ImageFilter, ImageFont
    from PIL.GifImagePlugin import getdata, getheader
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        'pictures need Pillow: pip install "boulanger-env[render]"', name="PIL"
    ) from None

__all__ = ["Image", "ImageDraw", "ImageFilter", "ImageFont", "getdata", "getheader"]
