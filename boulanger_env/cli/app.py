"""What the commands share: the application, error handling, common options."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from typer.core import TyperGroup

from boulanger_env import __version__
from boulanger_env.escaping import printable
from boulanger_env.game import BoulangerError
from boulanger_env.game.cards import SUIT_SYMBOLS
from boulanger_env.render.ansi import color_by_default

_LONGEST_ERROR = 2000

# Optional library -> the extra that installs it.
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
    """The commands; errors in input and files become one line on stderr and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader of the output has closed it; typer exits silently.
            raise
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        except EOFError as error:
            # typer would exit silently, as after Ctrl-C.
            raise RuntimeError("something ended before all of it was read") from error
        except BoulangerError as error:
            fail(str(error))
        except ModuleNotFoundError as error:
            library = (error.name or "").split(".")[0]
            if library not in _EXTRAS:
                raise
            fail(f'this needs {library}: pip install "boulanger-env[{_EXTRAS[library]}]"')


def fail(message: str) -> NoReturn:
    """Exit with a one-line message on stderr."""
    # Many messages quote a file or an argument, which may hold control characters.
    typer.echo("Error: " + printable(" ".join(message.splitlines()), _LONGEST_ERROR), err=True)
    raise typer.Exit(1)


def stopped(saved: bool) -> NoReturn:
    """Exit after Ctrl-C, saying whether the same command resumes."""
    kept = "; finished games and shards are saved, and the same command resumes"
    fail(f"stopped{kept if saved else ''}")


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
Ascii = Annotated[bool, typer.Option("--ascii", help="Use the letters SHDC instead of suit symbols.")]
Threads = Annotated[
    int,
    typer.Option(
        min=1, help="PyTorch threads. More can be slower on a machine that is also doing other work."
    ),
]
Color = Annotated[
    bool | None,
    typer.Option(
        "--color/--no-color",
        help="Use colours or not. [default: in a terminal, unless NO_COLOR is set]",
        show_default=False,
    ),
]


Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")]
Ray = Annotated[
    str | None,
    typer.Option(help="A Ray cluster's address, or local for one on this machine.", show_default=False),
]


class Look(NamedTuple):
    """How boards are printed."""

    color: bool
    ascii: bool
    terminal: bool
    """Whether the output goes to a terminal that understands escape codes."""


def look_of(ascii: bool, color: bool | None) -> Look:
    """What was asked for, limited to what the output can show."""
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
    """Jeu du Boulanger (Baker's Game): deal, play, train agents and benchmark them."""
    if version:
        typer.echo(f"boulanger_env {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
