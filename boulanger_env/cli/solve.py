"""``boulanger solve``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from boulanger_env.game import BoulangerError, Game
from boulanger_env.play.session import read_board

UNDECIDED = 3  # exit code when a limit ended the search: not an error, but no verdict either


def _above_zero(number: float | None) -> float | None:
    # Checked here so that the message names the option: the Python argument has another name.
    if number is not None and not number > 0:
        raise typer.BadParameter(f"{number:g} is not a number above 0")
    return number


def solve(
    code: Annotated[
        str | None, typer.Argument(help="Game code, such as MS-C4-617.", show_default=False)
    ] = None,
    board: Annotated[Path | None, typer.Option(help="A text board in a file; - for standard input.")] = None,
    cells: Annotated[
        int | None, typer.Option(help="The number of cells of --board: 4 (the default), 2 or 1.")
    ] = None,
    quality: Annotated[str, typer.Option(help="any, short, or shortest (proved shortest).")] = "any",
    nodes: Annotated[int | None, typer.Option(min=1, help="Maximum positions to search.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Maximum time to search.", callback=_above_zero)
    ] = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Print positions searched and time taken on standard error.")
    ] = False,
) -> None:
    """Find a win, or prove that there is none.

    Moves are printed in the notation that boulanger play reads, ten per line, groups as one move. Exit code 3
    means that a limit was reached before a verdict.

    \b
    Examples:
      boulanger solve MS-C4-617
      boulanger solve MS-C4-617 --quality shortest --stats
      boulanger solve --board board.txt --cells 2
    """
    from boulanger_env.solver import LIMIT, UNSOLVABLE
    from boulanger_env.solver import solve as solve_game

    game = _game(code, board, cells)
    if stats:
        # Compile first, so that the time printed is the search's alone.
        solve_game(Game.from_code("MS-C4-1"), quality=quality)
    began = time.perf_counter()
    solution = solve_game(game, nodes, seconds, quality=quality)
    took = time.perf_counter() - began
    name = game.code or "this board"
    if solution.status is LIMIT:
        typer.echo(f"# {name}: not decided within the limit")
    elif solution.status is UNSOLVABLE:
        typer.echo(f"# {name} cannot be won: proved by an exhaustive search")
    else:
        proved = ", none has fewer" if solution.is_shortest else ""
        typer.echo(f"# {name}: {len(solution.moves)} moves{proved}")
        texts = solution.notation()
        for i in range(0, len(texts), 10):
            typer.echo(" ".join(texts[i : i + 10]))
    if stats:
        typer.echo(f"{solution.nodes} positions in {1000 * took:.1f} ms", err=True)
    if solution.status is LIMIT:
        raise typer.Exit(UNDECIDED)


def _game(code: str | None, board: Path | None, cells: int | None) -> Game:
    if (code is None) == (board is None):
        raise BoulangerError("give a game code or --board, one of them: boulanger solve MS-C4-617")
    if code is not None:
        if cells is not None:
            raise BoulangerError(f"{code} brings its own number of cells: give no --cells with it")
        return Game.from_code(code)
    assert board is not None
    return read_board(board, 4 if cells is None else cells)
