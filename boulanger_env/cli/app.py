"""What all commands share: the application, its errors, and options that several of them take."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from typer.core import TyperGroup

from boulanger_env import __version__
from boulanger_env.game import BoulangerError
from boulanger_env.game.cards import SUIT_SYMBOLS
from boulanger_env.render.ansi import color_by_default
from boulanger_env.shown import printable

_LONGEST_ERROR = 2000

# The extra that brings a library which only some commands need.
_EXTRAS = {
    "torch": "train",
    "stable_baselines3": "train",
    "sb3_contrib": "train",
    "tqdm": "train",
    "matplotlib": "bench",
    "scipy": "bench",
    "pyarrow": "ray",
    "ray": "ray",
    "PIL": "render",
    "pygame": "render",
    "imageio_ffmpeg": "video",
}


class _Commands(TyperGroup):
    """The commands, with errors of input and files as one line on stderr and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Whoever read the output has seen enough; typer ends without a word.
            raise
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        except EOFError as error:
            # typer would end without a word, as after Ctrl-C.
            raise RuntimeError("something ended before all of it was read") from error
        except BoulangerError as error:
            fail(str(error))
        except ModuleNotFoundError as error:
            library = (error.name or "").split(".")[0]
            if library not in _EXTRAS:
                raise
            fail(f'this needs {library}: pip install "boulanger-env[{_EXTRAS[library]}]"')


def fail(message: str) -> NoReturn:
    """End the command with one line on the error output."""
    # Many messages quote a file or an argument.
    typer.echo("Error: " + printable(" ".join(message.splitlines()), _LONGEST_ERROR), err=True)
    raise typer.Exit(1)


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Code = Annotated[
    str, typer.Argument(help="Game code, such as BK1-C4-AAAAA24 or MS-C4-617.", show_default=False)
]
Ascii = Annotated[bool, typer.Option("--ascii", help="Letters SHDC instead of suit symbols.")]
Threads = Annotated[
    int,
    typer.Option(min=1, help="Threads of PyTorch. More are slower on a machine that does other work too."),
]
Color = Annotated[
    bool | None,
    typer.Option(
        "--color/--no-color",
        help="Colours or none. [default: in a terminal, unless NO_COLOR is set]",
        show_default=False,
    ),
]


class Look(NamedTuple):
    """How a board is to look."""

    color: bool
    ascii: bool
    terminal: bool
    """Whether the output goes to a terminal that understands escape codes."""


def look_of(ascii: bool, color: bool | None) -> Look:
    """What was asked for, and otherwise what the output can show."""
    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    try:
        SUIT_SYMBOLS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        ascii = True
    return Look(terminal and color_by_default() if color is None else color, ascii, terminal)


@app.callback(invoke_without_command=True)
def _app(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Jeu du Boulanger (Baker's Game): deal it, play it, train agents on it and benchmark them."""
    if version:
        typer.echo(f"boulanger_env {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
