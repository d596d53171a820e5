"""Drawing a game, and nothing else."""

from .ansi import render_ansi

__all__ = ["render_ansi"]
