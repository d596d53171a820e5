"""Drawing a game, and nothing else."""

from boulanger_env.game.game import Game

from .ansi import render_ansi
from .html import episode, game_html, render_html

__all__ = ["episode", "render_ansi", "render_html"]

Game.register_viewer(game_html)
