"""``boulanger deal`` and ``boulanger play``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from boulanger_env.game import BoulangerError, Game
from boulanger_env.render import render_ansi

from .app import Ascii, Code, Color, look_of


def deal(
    code: Code,
    text: Annotated[
        bool, typer.Option("--text", help="Print the plain text board that FreeCell solvers read.")
    ] = False,
    ascii: Ascii = False,
    color: Color = None,
) -> None:
    """Print the board of a game.

    \b
    Examples:
      boulanger deal BK1-C4-AAAAA24
      boulanger deal MS-C2-617 --text > board.txt
    """
    game = Game.from_code(code)
    look = look_of(ascii, color)
    board = str(game) if text else render_ansi(game, color=look.color, ascii=look.ascii)
    typer.echo(board, color=look.color)


def play(
    code: Annotated[
        str | None, typer.Argument(help="Game code, such as MS-C4-617.", show_default=False)
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(help="Start a random game with 4, 2 or 1 cells; with --board, the board's cells."),
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Start over instead of resuming.")] = False,
    board: Annotated[Path | None, typer.Option(help="Play from a text board in a file.")] = None,
    window: Annotated[bool, typer.Option("--window", help="Play in a window, with the mouse.")] = False,
    ascii: Ascii = False,
    color: Color = None,
) -> None:
    """Play in the terminal or in a window.

    Type moves in notation (76, 12v3, 6a, bh); h shows all that can be typed. In the window, drag or tap cards.
    The game is saved after every move and resumes where you left it.

    \b
    Examples:
      boulanger play                 resume the last game, or start a random one
      boulanger play --new           another random game; the last one is kept
      boulanger play --cells 2       a random game with two cells
      boulanger play MS-C4-617       this game, from where you left it
      boulanger play --window        with the mouse
    """
    from boulanger_env.play import session as terminal

    if window:
        from boulanger_env.play import desktop as play_window

        if ascii or color is not None:
            raise BoulangerError("--ascii and --color are for the terminal: leave them out with --window")
        play_window.play(terminal.open_session(code, cells, board, new))
        return
    session = terminal.open_session(code, cells, board, new)
    look = look_of(ascii, color)
    terminal.play(session, color=look.color, ascii=look.ascii, clear=look.terminal and sys.stdin.isatty())
