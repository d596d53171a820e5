"""Drawing a game, and nothing else.

What draws pictures needs Pillow and is imported at its first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .ansi import render_ansi
from .html import episode, render_html

if TYPE_CHECKING:
    from .animation import write_gif, write_mp4
    from .rgb import TablePainter, render_rgb

__all__ = [
    "TablePainter",
    "episode",
    "render_ansi",
    "render_html",
    "render_rgb",
    "write_gif",
    "write_mp4",
]

_HOMES = {"render_rgb": "rgb", "TablePainter": "rgb", "write_gif": "animation", "write_mp4": "animation"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
