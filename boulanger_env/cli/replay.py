"""``boulanger replay``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import Ascii, Color, look_of


def replay(
    *,
    files: Annotated[
        list[Path], typer.Argument(help="Replay files, or folders of them.", show_default=False)
    ],
    html: Annotated[
        Path | None, typer.Option(help="Write one web page that plays them in any browser.")
    ] = None,
    gif: Annotated[Path | None, typer.Option(help="Write the game as an animated GIF.")] = None,
    mp4: Annotated[Path | None, typer.Option(help="Write the game as a video.")] = None,
    ansi: Annotated[bool, typer.Option("--ansi", help="Play in the terminal.")] = False,
    diagnose: Annotated[
        bool,
        typer.Option(
            "--diagnose/--no-diagnose",
            help="With --html and --ansi: show which moves keep the win and which one lost it, for as many games as a "
            "minute suffices for.",
        ),
    ] = True,
    speed: Annotated[
        float, typer.Option(min=0.1, max=50, help="Moves per second, in the terminal, GIFs and videos.")
    ] = 4,
    ascii: Ascii = False,
    color: Color = None,
) -> None:
    """Show recorded games: web page, GIF, video, or in the terminal.

    Every move is checked against the rules first; a file that was altered or truncated is rejected. Without an
    option, the moves are printed.

    \b
    Examples:
      boulanger replay game.json
      boulanger replay game.json --html game.html
      boulanger replay losses/ --html losses.html     with a list to choose from
      boulanger replay game.json --gif game.gif --speed 8
      boulanger replay game.json --ansi
    """
    from . import replay_output as command

    look = look_of(ascii, color)
    command.replay(
        files,
        html=html,
        gif=gif,
        mp4=mp4,
        ansi=ansi,
        diagnose=diagnose,
        speed=speed,
        color=look.color,
        ascii=look.ascii,
        clear=look.terminal,
    )
