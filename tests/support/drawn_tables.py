"""Positions to draw, and pictures of them that people have looked at.

``python tests/support/drawn_tables.py`` draws the pictures again.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

from support.paths import DATA

if __name__ == "__main__":
    for folder in Path(__file__).resolve().parents[1:3]:
        sys.path.insert(0, str(folder))

import numpy as np
from numpy.typing import NDArray

from boulanger_env import Game, Move
from support.random_games import peer_games

FOLDER = DATA / "tables"
SIZE = (480, 320)


def solved_game(n_cells: int, moves: int | None = None) -> Game:
    """A game that is eventually won, after some of its moves."""
    solution = next(game for game in peer_games() if f"-C{n_cells}-" in game["code"])
    game = Game.from_code(solution["code"])
    for move in solution["moves"][:moves]:
        game.push(Move(*move))
    return game


def long_column() -> Game:
    """A column of 19 cards, the most there can be: six cards, and king to ace of hearts."""
    tall = [42, 43, 44, 45, 5, 34, *range(26, 13, -1)]
    rest = [card for card in range(1, 53) if card not in tall]
    return Game.from_columns([tall, *(rest[i::7] for i in range(7))])


def stuck_game() -> Game:
    """A game that random moves have led into a dead end."""
    game, random = Game.from_code("BK1-C1-7777777"), Random(1)
    while game.outcome is None:
        game.push(random.choice(game.legal_moves()))
    return game


def positions() -> dict[str, Game]:
    """A position of every kind."""
    return {
        "start": Game.from_code("MS-C2-617"),
        "middle": solved_game(4, 43),
        "won": solved_game(4),
        "stuck": stuck_game(),
        "long": long_column(),
    }


def read_picture(name: str) -> NDArray[np.uint8]:
    """A picture that was kept."""
    from PIL import Image

    return np.asarray(Image.open(FOLDER / f"{name}.png").convert("RGB"))


if __name__ == "__main__":
    from PIL import Image

    from boulanger_env.render import render_rgb

    FOLDER.mkdir(exist_ok=True)
    for name, game in positions().items():
        Image.fromarray(render_rgb(game, SIZE)).save(FOLDER / f"{name}.png", optimize=True)
        print(FOLDER / f"{name}.png")
