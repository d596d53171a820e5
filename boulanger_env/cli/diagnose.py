"""``boulanger diagnose``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boulanger_env.escaping import printable
from boulanger_env.game import BoulangerError
from boulanger_env.replay.diagnosed import headline, together

from .app import Color, Markdown, Ray, look_of, stopped

if TYPE_CHECKING:
    from boulanger_env.replay import Replay
    from boulanger_env.solver import Diagnosis


def diagnose(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Replay files, folders of them, or results that bench --moves wrote.", show_default=False
        ),
    ],
    *,
    steps: Annotated[bool, typer.Option("--steps", help="List every decision of a replay.")] = False,
    fewest: Annotated[
        bool, typer.Option("--fewest", help="As --steps, with the proven fewest moves to a win (slower).")
    ] = False,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="Maximum positions to search for each legal move.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="For results: processes, or Ray tasks, at a time. [default: one per core]"),
    ] = None,
    ray: Ray = None,
    output: Annotated[
        Path | None,
        typer.Option(help="For results: a folder for what is found. An interrupted diagnosis resumes."),
    ] = None,
    markdown: Markdown = False,
    color: Color = None,
) -> None:
    """Find the move that lost each game, and those that kept the win.

    Every answer is proved by a complete search, unless --nodes stops it first. Results give a table: how often an agent
    throws a win away where it has a choice, when, and how often uniform legal moves would.

    \b
    Examples:
      boulanger diagnose game.json
      boulanger diagnose losses/
      boulanger diagnose game.json --steps --fewest
      boulanger bench --agent greedy --agent heuristic --moves --output runs/bench
      boulanger diagnose runs/bench/greedy.jsonl runs/bench/heuristic.jsonl
      boulanger diagnose leaderboard/c4-test/*.jsonl --output runs/losses
    """
    results = [path for path in files if path.suffix == ".jsonl"]
    if results and len(results) < len(files):
        raise BoulangerError("give replays or results (.jsonl), not both at once")
    if results:
        if steps or fewest:
            raise BoulangerError("--steps and --fewest are for replays: leave them out with results")
        from .diagnose_runs import diagnose_files

        try:
            diagnose_files(
                results,
                node_limit=nodes,
                workers=workers,
                ray=ray,
                output=output,
                as_markdown=markdown,
                color=look_of(False, color).color,
            )
        except KeyboardInterrupt:
            stopped(output is not None)
    else:
        if ray is not None or output is not None or workers is not None:
            raise BoulangerError("--ray, --workers and --output are for results: leave them out with replays")
        _replays(files, steps, fewest, nodes)


def _replays(files: list[Path], steps: bool, fewest: bool, nodes: int | None) -> None:
    from boulanger_env.replay import replays_in
    from boulanger_env.solver import diagnose as diagnose_game

    found = []
    for path, replay in (one for file in files for one in replays_in(file)):
        diagnosis = diagnose_game(replay.start, replay.played, fewest=fewest, node_limit=nodes)
        typer.echo(f"{printable(str(path))}: {_game(replay)}")
        typer.echo("".join(f"  {line}\n" for line in _verdict(replay, diagnosis)), nl=False)
        if steps or fewest:
            typer.echo("".join(f"  {line}\n" for line in _table(diagnosis)), nl=False)
        found.append(diagnosis)
    if len(found) > 1:
        typer.echo(together(found))


def _game(replay: Replay) -> str:
    name = replay.start.code or f"a board with {replay.start.n_cells} cells"
    played = f"{len(replay.played)} steps"
    return ", ".join(
        filter(None, [name, printable(replay.agent), f"{replay.outcome or 'left'} after {played}"])
    )


def _verdict(replay: Replay, diagnosis: Diagnosis) -> list[str]:
    lost, win = diagnosis.losing_move, diagnosis.missed_win
    if lost is None or win is None:
        return [headline(diagnosis, replay.outcome)]
    kept = " ".join(lost.before.notation(move) for move in lost.winning)
    return [
        f"lost at step {lost.step} of {len(replay.played)}: {lost.text}",
        f"these moves kept the win: {kept}",
        f"a win from there, in {len(win.moves)} moves: {' '.join(win.notation())}",
    ]


def _table(diagnosis: Diagnosis) -> list[str]:
    verdicts = {True: "lost", False: "", None: "not decided"}
    lines = ["step  move   win  lose  fewest"]
    for decision in diagnosis.decisions:
        if decision.winnable is not False:
            lines.append(
                f"{decision.step:4}  {decision.text:5} {len(decision.winning):4} {len(decision.losing):5} "
                f"{decision.fewest or '-':>7}  {verdicts[decision.is_mistake]}".rstrip()
            )
    hopeless = len(diagnosis.decisions) - len(lines) + 1
    return [*lines, f"{hopeless} more in positions that cannot be won"] if hopeless else lines
