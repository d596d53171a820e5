"""``boulanger bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import Color, Markdown, Ray, Threads, look_of, stopped


def bench(
    *,
    agent: Annotated[
        list[str],
        typer.Option(
            help="random, greedy, heuristic or solver, with options (heuristic:nodes=30); a model's .zip; or "
            "module:name. Prefix NAME= to name it in the results. Repeat to play several. Loading a .zip or a "
            "module runs the code in it: use only what you trust."
        ),
    ],
    deals: Annotated[str, typer.Option(help="Deal set, by name or file.")] = "c4-test-all",
    limit: Annotated[int | None, typer.Option(min=1, help="Play only the first N deals.")] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(min=0, help="Random seed; repeat to play every deal once per seed. [default: 0]"),
    ] = None,
    sample: Annotated[
        bool | None,
        typer.Option(
            "--sample/--no-sample",
            help="Sample a model's moves from its policy, or always take the likeliest. "
            "[default: as the model was saved, else the likeliest]",
            show_default=False,
        ),
    ] = None,
    max_episode_steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Truncate games after N steps. [default: the limit that the model was saved with, else 500]",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[
        bool | None,
        typer.Option(
            "--prune/--no-prune",
            help="Mask out moves to equivalent positions. [default: as the model was saved, else no]",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the games, one per line, and the report. An interrupted run resumes."),
    ] = None,
    ray: Ray = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="With --ray: tasks at a time. [default: one per CPU]")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Folder for replays of the games, with one subfolder per agent."),
    ] = None,
    record_games: Annotated[
        str, typer.Option(help="Which games to record: losses, all, or the first N.")
    ] = "losses",
    moves: Annotated[
        bool,
        typer.Option("--moves", help="Keep every game's moves in its line, so that it can be replayed."),
    ] = False,
    diagnose: Annotated[
        bool,
        typer.Option("--diagnose", help="Find out where wins were thrown away, proved by the solver."),
    ] = False,
    threads: Threads = 1,
    markdown: Markdown = False,
    color: Color = None,
) -> None:
    """Play a fixed set of deals with agents and print a table.

    The table has 95 % intervals. With --output the games and a report are saved, too.

    \b
    Examples:
      boulanger bench --agent greedy
      boulanger bench --agent random --agent model.zip --deals c2-test-all --limit 200
      boulanger bench --agent heuristic:nodes=30 --agent heuristic --output runs/bench
      boulanger bench --agent mine=my_module:policy --seed 0 --seed 1 --output runs/mine
      boulanger bench --agent runs/first/model.zip --agent greedy --prune --max-episode-steps 200
      boulanger bench --agent heuristic --output runs/ray --ray auto
      boulanger bench --agent greedy --limit 50 --record losses
      boulanger bench --agent greedy --agent heuristic --diagnose
      boulanger replay losses --html losses.html
    """
    from . import bench_agents

    settings = {"max_episode_steps": max_episode_steps, "prune": prune}
    try:
        bench_agents.bench(
            agent,
            deals,
            limit=limit,
            seeds=seed or [0],
            sample=sample,
            output=output,
            ray=ray,
            workers=workers,
            record=record,
            record_games=int(record_games) if record_games.isdecimal() else record_games,
            moves=moves,
            diagnose=diagnose,
            threads=threads,
            as_markdown=markdown,
            color=look_of(False, color).color,
            **{key: value for key, value in settings.items() if value is not None},
        )
    except KeyboardInterrupt:
        stopped(output is not None)
