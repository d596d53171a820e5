"""Redraw every picture of the documentation: ``python scripts/make_pictures.py``.

The terminal's board is an SVG: no fonts to load, and the same bytes on every machine. Tables are PNG and GIF
files of the package's own pictures. A test fails when one is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from boulanger_env import BoulangerVectorEnv, Game
from boulanger_env.render import render_ansi, render_rgb, write_gif

FOLDER = Path(__file__).parent.parent / "docs" / "images"

# The start of a game that the greedy agent wins, up to a group move.
CODE = "MS-C4-617"
MOVES = """
78 7a 7b 7c 7h 4d b4 c4 74 87v2 8h 8b 85 78v2 27 2c b2 c2 27v3 d2 6b 26v2 23 53v2 b5 2b 2h 4h 4h 4h 4h 42 a4 1a 1c
41v2
"""

# One character in pixels, and what the terminal's styles look like. The colours keep a contrast of 4.5 or more.
WIDTH, HEIGHT, MARGIN, SIZE = 10, 24, 20, 16
FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
BACKGROUND, PLAIN, DIM, RED = "#1f2430", "#e8eaf0", "#8f97a8", "#ff7b72"

_STYLE = re.compile(r"\x1b\[(\d+)m")
_WORD = re.compile(r"\S+")


def terminal_svg(text: str, title: str) -> str:
    """Text with ANSI styles (bold, dim, reverse, bright red) as an SVG; every word has its own position."""
    lines = text.splitlines()
    columns = max(len(_STYLE.sub("", line)) for line in lines)
    width, height = columns * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="10" fill="{BACKGROUND}"/>',
        f'<g font-family="{FONT}" font-size="{SIZE}" xml:space="preserve">',
    ]
    for row, line in enumerate(lines):
        codes: set[str] = set()
        column = 0
        for i, piece in enumerate(_STYLE.split(line)):
            if i % 2:
                codes = set() if piece == "0" else codes | {piece}
                continue
            parts += [_word(word, column + word.start(), row, codes) for word in _WORD.finditer(piece)]
            column += len(piece)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _word(word: re.Match[str], column: int, row: int, codes: set[str]) -> str:
    colour = RED if "91" in codes else DIM if "2" in codes else PLAIN
    x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
    length = len(word[0]) * WIDTH
    box = ""
    if "7" in codes:
        box = f'<rect x="{x - 1}" y="{y + 1}" width="{length + 2}" height="{HEIGHT - 2}" rx="3" fill="{colour}"/>'
        colour = BACKGROUND
    weight = ' font-weight="bold"' if codes & {"1", "7"} else ""
    return (
        f'{box}<text x="{x}" y="{y + HEIGHT * 0.72:.0f}" textLength="{length}" lengthAdjust="spacingAndGlyphs" '
        f'fill="{colour}"{weight}>{escape(word[0])}</text>'
    )


def played(moves: str = MOVES) -> Game:
    """A game under way."""
    game = Game.from_code(CODE)
    for move in moves.split():
        game.push(game.parse_move(move))
    return game


def board() -> str:
    """A game under way, as ``render_mode="ansi"`` shows it."""
    game = played()
    return terminal_svg(render_ansi(game, color=True), f"The board of {CODE} after {game.moves} moves")


def table() -> NDArray[np.uint8]:
    """The same, as ``render_mode="rgb_array"`` shows it."""
    return render_rgb(played(), (1440, 960))


def batch() -> NDArray[np.uint8]:
    """Four games of a batch in one picture."""
    envs = BoulangerVectorEnv(4, render_size=(1440, 960))
    envs.reset(seed=0)
    for _ in range(10):
        # The last action that is legal sends a card home, where one can go.
        masks = envs.action_masks()
        envs.step(masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1))
    return envs.render_together()


def film(path: Path) -> None:
    """The game from its start."""
    game, actions = Game.from_code(CODE), []
    for text in MOVES.split():
        move = game.parse_move(text)
        actions.append(move.id)
        game.push(move)
    write_gif(path, Game.from_code(CODE), actions, size=(600, 400), fps=3)


TEXTS: dict[str, Callable[[], str]] = {"board.svg": board}
"""File name -> what draws it, the same bytes everywhere."""
PICTURES: dict[str, Callable[[], NDArray[np.uint8]]] = {"table.png": table, "batch.png": batch}
"""File name -> what draws it."""
FILMS: dict[str, Callable[[Path], None]] = {"game.gif": film}
"""File name -> what writes it."""


def main() -> int:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in TEXTS.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8", newline="\n")
    for name, paint in PICTURES.items():
        Image.fromarray(paint()).save(FOLDER / name, optimize=True)
    for name, write in FILMS.items():
        write(FOLDER / name)
    print(*sorted(FOLDER / name for name in (*TEXTS, *PICTURES, *FILMS)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
