"""The ``boulanger`` command: what each command takes; the work is done by the modules it calls.

A command imports its module inside, so that one that only draws a board does not wait for a training library.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn

try:
    import rich  # noqa: F401 - typer writes its help with it
    import typer
    from typer.core import TyperGroup
except ModuleNotFoundError as error:
    raise SystemExit(f'boulanger needs {error.name}: pip install "boulanger-env[cli]"') from None

from boulanger_env.game import BoulangerError, Game
from boulanger_env.game.cards import SUIT_SYMBOLS
from boulanger_env.render import render_ansi
from boulanger_env.render.ansi import color_by_default

# The extra that brings a library which only some commands need.
_EXTRAS = {
    "torch": "train",
    "stable_baselines3": "train",
    "sb3_contrib": "train",
    "tqdm": "train",
    "matplotlib": "bench",
    "scipy": "bench",
    "PIL": "render",
    "pygame": "render",
    "imageio_ffmpeg": "video",
}


# typer brings its own click or uses the one that is installed, by its version; this is the class of the one in use.
_UsageError: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError")


class _Commands(TyperGroup):
    """The commands, with errors of input and files as one line on stderr and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Whoever read the output has seen enough; typer ends without a word.
            raise
        except OSError as error:
            _fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        except BoulangerError as error:
            _fail(str(error))
        except ModuleNotFoundError as error:
            library = (error.name or "").split(".")[0]
            if library not in _EXTRAS:
                raise
            _fail(f'this needs {library}: pip install "boulanger-env[{_EXTRAS[library]}]"')


def _fail(message: str) -> NoReturn:
    typer.echo("Error: " + " ".join(message.splitlines()), err=True)
    raise typer.Exit(1)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Jeu du Boulanger (Baker's Game): deal it, play it, train agents on it and benchmark them.",
)

Code = Annotated[
    str, typer.Argument(help="Game code, such as BK1-C4-AAAAA24 or MS-C4-617.", show_default=False)
]
Ascii = Annotated[bool, typer.Option("--ascii", help="Letters SHDC instead of suit symbols.")]
Color = Annotated[
    bool | None,
    typer.Option(
        "--color/--no-color",
        help="Colours or none. [default: in a terminal, unless NO_COLOR is set]",
        show_default=False,
    ),
]


class _Look(NamedTuple):
    color: bool
    ascii: bool
    terminal: bool
    """Whether the output goes to a terminal that understands escape codes."""


def _look(ascii: bool, color: bool | None) -> _Look:
    """What was asked for, and otherwise what the output can show."""
    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    try:
        SUIT_SYMBOLS.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        ascii = True
    return _Look(terminal and color_by_default() if color is None else color, ascii, terminal)


@app.callback()
def _app() -> None:
    """Jeu du Boulanger (Baker's Game): deal it, play it, train agents on it and benchmark them."""


@app.command()
def deal(
    code: Code,
    text: Annotated[
        bool, typer.Option("--text", help="The plain text board that FreeCell solvers read.")
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
    look = _look(ascii, color)
    board = str(game) if text else render_ansi(game, color=look.color, ascii=look.ascii)
    typer.echo(board, color=look.color)


@app.command()
def play(
    code: Annotated[
        str | None, typer.Argument(help="Game code, such as MS-C4-617.", show_default=False)
    ] = None,
    cells: Annotated[
        int | None, typer.Option(help="A new random game with 4, 2 or 1 cells; with --board, its cells.")
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="From the start, not from where it was left.")] = False,
    board: Annotated[Path | None, typer.Option(help="Play from the text board in a file.")] = None,
    window: Annotated[bool, typer.Option("--window", help="Play in a window, with the mouse.")] = False,
    ascii: Ascii = False,
    color: Color = None,
) -> None:
    """Play in the terminal, or in a window.

    Moves are typed in notation (76, 12v3, 6a, bh); h shows all that can be typed. In the window cards are
    dragged or tapped. The game is saved after every move, and goes on where it was left.

    \b
    Examples:
      boulanger play                 go on with the last game, or start a random one
      boulanger play --new           another random game; the last one is kept
      boulanger play --cells 2       a random game with two cells
      boulanger play MS-C4-617       this game, from where it was left
      boulanger play --window        with the mouse
    """
    from boulanger_env import play as terminal

    if window:
        from boulanger_env import play_window

        if ascii or color is not None:
            raise BoulangerError("--ascii and --color are for the terminal: leave them out with --window")
        play_window.play(terminal.open_session(code, cells, board, new))
        return
    session = terminal.open_session(code, cells, board, new)
    look = _look(ascii, color)
    terminal.play(session, color=look.color, ascii=look.ascii, clear=look.terminal and sys.stdin.isatty())


@app.command()
def train(
    timesteps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Moves to play while learning. [default: 400000, some 3 to 5 minutes]",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[int, typer.Option(help="Cells of the games: 4, 2 or 1.")] = 4,
    network: Annotated[
        str, typer.Option(help="cards (built on suits and columns) or mlp (a plain one).")
    ] = "cards",
    seed: Annotated[int, typer.Option(min=0, help="Of the network, the deals and the play.")] = 0,
    test_deals: Annotated[
        str,
        typer.Option(
            help="Name or file of the deals of the benchmark. [default: c4-test-all]", show_default=False
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for what comes out, new or empty. [default: runs/ and the time]", show_default=False
        ),
    ] = None,
) -> None:
    """Train a masked agent, benchmark it beside two baselines, save model, curve and a replay.

    Ctrl-C ends the training early: the best model so far is kept and benchmarked.

    \b
    Examples:
      boulanger train
      boulanger train --timesteps 5000000 --output runs/long
      boulanger train --cells 2 --network mlp
    """
    from datetime import datetime

    from rich.console import Console

    from boulanger_env import training
    from boulanger_env.benchmark import rich_table

    chosen = {} if timesteps is None else {"timesteps": timesteps}
    settings = training.TrainSettings(
        n_cells=cells, network=network, seed=seed, test_deals=test_deals, **chosen
    )
    folder = output or Path("runs", f"c{cells}-{datetime.now():%Y%m%d-%H%M%S}")
    console = Console()
    try:
        results = training.train(settings, folder, say=console.print, progress_bar=console.is_terminal)
    except KeyboardInterrupt:
        _fail(f"stopped; what there is so far is in {folder}")
    console.print(rich_table(results))
    console.print(f"Model, curve and replay are in {folder}", soft_wrap=True)


@app.command()
def bench(
    agent: Annotated[
        list[str],
        typer.Option(help="random, greedy, heuristic, or a model's .zip; may be given several times."),
    ],
    deals: Annotated[str, typer.Option(help="Name or file of a set of deals.")] = "c4-test-all",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many deals, from the first.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all chance.")] = 0,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample", help="A model draws its moves by their probabilities, not always the likeliest."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(help="Where to save the results: a JSON file, or with several agents a folder."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    color: Color = None,
) -> None:
    """Play a fixed set of deals with agents and print a table with 95 % intervals.

    \b
    Examples:
      boulanger bench --agent greedy
      boulanger bench --agent random --agent model.zip --deals c2-test-all --limit 200
      boulanger bench --agent heuristic --deals my-deals.txt --output results.json
    """
    from boulanger_env.benchmark import command

    look = _look(False, color)
    try:
        command.bench(
            agent,
            deals,
            limit=limit,
            seed=seed,
            sample=sample,
            output=output,
            as_markdown=markdown,
            color=look.color,
        )
    except KeyboardInterrupt:
        _fail("stopped; what agents before this one did is saved" if output else "stopped")


def main() -> None:
    """Run the command line of this process."""
    try:
        sys.exit(app(prog_name="boulanger", standalone_mode=False))
    except _UsageError as error:
        # In one line, like all other errors; 2 is what shells expect for a command that was not understood.
        command = error.ctx.command_path if error.ctx else "boulanger"
        typer.echo(f"Error: {error.format_message()} ({command} --help)", err=True)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
