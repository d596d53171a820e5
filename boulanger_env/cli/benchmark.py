"""The commands ``bench``, ``compare`` and ``label``; the work is done by ``benchmark.command``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from .app import Color, Threads, fail, look_of

Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")]
Ray = Annotated[
    str | None,
    typer.Option(help="A Ray cluster's address, or local for one on this machine.", show_default=False),
]


def _stopped(saved: bool) -> NoReturn:
    kept = "; what is done is saved, and the same command goes on from there"
    fail(f"stopped{kept if saved else ''}")


def bench(
    agent: Annotated[
        list[str],
        typer.Option(
            help="random, greedy, heuristic, solver, with options (heuristic:nodes=30); a model's .zip; or "
            "module:name. NAME= before it names it. May be given several times. Loading a .zip or a module runs "
            "the code in it: take none from a stranger."
        ),
    ],
    deals: Annotated[str, typer.Option(help="Name or file of a set of deals.")] = "c4-test-all",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many deals, from the first.")] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(
            min=0, help="Of all chance; given several times, the deals are played with each. [default: 0]"
        ),
    ] = None,
    sample: Annotated[
        bool | None,
        typer.Option(
            "--sample/--no-sample",
            help="A model draws its moves by their probabilities, or always takes the likeliest. "
            "[default: as it was saved, else the likeliest]",
            show_default=False,
        ),
    ] = None,
    max_episode_steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Moves after which a game is cut off. [default: 500; a model's own, if it was saved with it]",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[
        bool | None,
        typer.Option(
            "--prune/--no-prune",
            help="Leave moves to equivalent positions out of the mask. [default: no; as a model was saved]",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the games, line by line, and the report; goes on with what is there."
        ),
    ] = None,
    ray: Ray = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="On Ray: tasks at a time. [default: one a CPU]")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Folder for replays of the games, a folder in it for each agent."),
    ] = None,
    record_games: Annotated[
        str, typer.Option(help="Which games to record: losses, all, or how many, from the first.")
    ] = "losses",
    moves: Annotated[
        bool,
        typer.Option("--moves", help="Keep every game's moves in its line, so that it can be played again."),
    ] = False,
    threads: Threads = 1,
    markdown: Markdown = False,
    color: Color = None,
) -> None:
    """Play a fixed set of deals with agents, and print a table.

    The table has 95 % intervals. With --output there are the games and a report, too.

    \b
    Examples:
      boulanger bench --agent greedy
      boulanger bench --agent random --agent model.zip --deals c2-test-all --limit 200
      boulanger bench --agent heuristic:nodes=30 --agent heuristic --output runs/bench
      boulanger bench --agent mine=my_module:policy --seed 0 --seed 1 --output runs/mine
      boulanger bench --agent runs/first/model.zip --agent greedy --prune --max-episode-steps 200
      boulanger bench --agent heuristic --output runs/ray --ray auto
      boulanger bench --agent greedy --limit 50 --record losses
      boulanger replay losses --html losses.html
    """
    from boulanger_env.benchmark import command

    settings = {"max_episode_steps": max_episode_steps, "prune": prune}
    try:
        command.bench(
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
            threads=threads,
            as_markdown=markdown,
            color=look_of(False, color).color,
            **{key: value for key, value in settings.items() if value is not None},
        )
    except KeyboardInterrupt:
        _stopped(output is not None)


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Files that bench wrote, on the same deals.")],
    output: Annotated[Path | None, typer.Option(help="A folder for the whole report.")] = None,
    markdown: Markdown = False,
    color: Color = None,
) -> None:
    """Compare finished runs deal by deal.

    By McNemar's exact test, with bootstrap intervals of the differences.

    \b
    Example:
      boulanger compare runs/bench/greedy.jsonl runs/bench/heuristic.jsonl
    """
    from boulanger_env.benchmark import command

    command.compare_files(runs, output=output, as_markdown=markdown, color=look_of(False, color).color)


def label(
    codes: Annotated[
        str,
        typer.Option(
            help="BK1-C4 for random deals, a code for it and those after it, or the name or file of a set."
        ),
    ],
    count: Annotated[int | None, typer.Option(min=1, help="How many deals.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of random deals.")] = 0,
    output: Annotated[
        Path | None, typer.Option(help="A folder for Parquet shards; goes on with what is there.")
    ] = None,
    ray: Ray = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes, or tasks on Ray, at a time. [default: one a core]"),
    ] = None,
    node_limit: Annotated[int | None, typer.Option(min=1, help="The most positions for one deal.")] = None,
    shard: Annotated[int, typer.Option(min=1, help="Deals a shard.")] = 10_000,
) -> None:
    """Find out which deals can be won.

    The share that can be won is printed with its 95 % interval.

    \b
    Examples:
      boulanger label --codes BK1-C4 --count 100000
      boulanger label --codes MS-C2-1 --count 32000 --output runs/ms-c2
      boulanger label --codes BK1-C4 --count 1000000 --output runs/million --ray auto
    """
    from boulanger_env.benchmark import command

    try:
        command.label_codes(
            codes,
            count=count,
            seed=seed,
            output=output,
            ray=ray,
            workers=workers,
            node_limit=node_limit,
            shard=shard,
        )
    except KeyboardInterrupt:
        _stopped(output is not None)
