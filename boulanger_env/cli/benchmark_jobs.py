"""The bodies of ``boulanger bench``, ``compare`` and ``label``: what is played and written, progress bars, tables."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from boulanger_env.agents import AGENTS
from boulanger_env.agents.naming import checked_name, file_stem
from boulanger_env.benchmark.comparison import compare, run_names
from boulanger_env.benchmark.evaluation import Progress, evaluate, header_of
from boulanger_env.benchmark.lost_wins import Losses, losses, losses_table
from boulanger_env.benchmark.replay_folder import claim
from boulanger_env.benchmark.results import Results
from boulanger_env.benchmark.runs import RunFile
from boulanger_env.cluster.distributed import Recipe, evaluate_on
from boulanger_env.cluster.pools import OnRay, as_pool
from boulanger_env.cluster.winnability import SHARD, Winnability, as_sample, label
from boulanger_env.deals import as_deal_set
from boulanger_env.files import files_in
from boulanger_env.game.errors import BoulangerError
from boulanger_env.replay.recording import Games, check_games
from boulanger_env.report.document import write_report
from boulanger_env.report.tables import (
    PAIRED,
    as_rich,
    comparison_table,
    markdown,
    markdown_caption,
    markdown_table,
    rich_table,
)
from boulanger_env.shown import LONGEST_NAME, printable

from .threads import torch_threads

Report = Callable[[str, int], Progress]
"""Starts one agent's progress display, from its name and the number of games; returns the callback for ``evaluate``."""


def bench(
    agents: Sequence[str],
    deals: str | os.PathLike[str],
    *,
    limit: int | None = None,
    seeds: Sequence[int] = (0,),
    sample: bool | None = None,
    output: str | os.PathLike[str] | None = None,
    ray: str | None = None,
    workers: int | None = None,
    record: str | os.PathLike[str] | None = None,
    record_games: Games = "losses",
    moves: bool = False,
    diagnose: bool = False,
    threads: int = 1,
    as_markdown: bool = False,
    color: bool | None = None,
    **settings: Any,
) -> list[Results]:
    """Play a set of deals with each agent, and print a table.

    Args:
        agents: policies as ``as_policy`` takes them, with an optional prefix ``NAME=`` to rename them.
        deals: a set's name or file.
        limit: play only the first ``limit`` deals.
        seeds: random seeds; each agent plays every deal once per seed.
        sample: whether models sample their actions; None for as each was saved.
        output: a folder that gets ``NAME.jsonl`` for each agent, game by game, and a report at the end. An interrupted
            run resumes.
        ray: a Ray cluster to play on, see ``OnRay``; it needs ``output``.
        workers: maximum Ray tasks at a time.
        record: a folder for replays of the games, with a subfolder ``NAME`` for each agent.
        record_games: which ones: ``"all"``, ``"losses"``, or a number for the first so many.
        moves: keep the moves of every game in ``NAME.jsonl``, see ``evaluate``.
        diagnose: find out where each agent threw wins away, for a second table and the report; keeps the moves.
        threads: PyTorch threads; not for a run on Ray, which sets them itself.
        as_markdown: print a Markdown table.
        color: whether the table may have colours and styles; None = in a terminal only.
        settings: keywords of the environment, as ``evaluate`` takes them, for all agents.

    Returns:
        The results in the order of the agents.

    Raises:
        BoulangerError: an agent, the deals or the limit is invalid, two agents have the same name, a folder holds
            another run, or a library is missing. Nothing has been played then.
        OSError: a file cannot be read or written.
    """
    check_games(record_games)
    deal_set = as_deal_set(deals)
    if limit is not None:
        if limit < 1:
            raise BoulangerError(f"limit {limit} leaves no deal: it must be at least 1")
        deal_set = deal_set[:limit]
    moves = moves or diagnose
    if ray is None and workers is not None:
        raise BoulangerError("workers are for a run on Ray")
    if ray is not None and threads != 1:
        raise BoulangerError(
            f"threads={threads} is for a run without Ray, which sets PyTorch's threads itself"
        )
    if ray is not None and output is None:
        raise BoulangerError("a run on Ray needs an output folder for its shards")
    if ray is not None and record is not None:
        raise BoulangerError("games on Ray are not recorded: record them in a run without it")
    recipes = [_recipe(agent, sample) for agent in agents]
    policies = [recipe.make() for recipe in recipes]
    names = [policy.name for policy in policies]
    # Some file systems ignore case.
    if not names or len({name.casefold() for name in names}) < len(names):
        raise BoulangerError(
            f"agents {', '.join(names) or 'none'}: give at least one, and names that differ by more than capitals "
            "(NAME=AGENT gives one)"
        )
    stems = [file_stem(name) for name in names]
    files = [None if output is None else Path(output, f"{stem}.jsonl") for stem in stems]
    records = [None if record is None else Path(record, stem) for stem in stems]
    headers = [header_of(policy, deal_set, seeds, settings, moves) for policy in policies]
    # An error in the last agent's arguments stops the command before the first agent plays.
    if output is not None:
        Path(output).mkdir(parents=True, exist_ok=True)
    for header, file, folder in zip(headers, files, records, strict=True):
        if file is not None and file.exists():
            RunFile(file, header).close()
        if folder is not None:
            claim(folder, header).close()
    pool = None if ray is None else OnRay(ray, workers)

    results = []
    with _progress() as start, torch_threads(threads):
        for recipe, policy, file, folder in zip(recipes, policies, files, records, strict=True):
            progress = start(policy.name, len(deal_set) * len(seeds))
            if pool is not None and file is not None:
                run = evaluate_on(
                    pool, recipe, deal_set, file, seed=seeds, progress=progress, moves=moves, **settings
                )
            else:
                run = evaluate(
                    policy,
                    deal_set,
                    seed=seeds,
                    progress=progress,
                    file=file,
                    record=folder,
                    record_games=record_games,
                    moves=moves,
                    **settings,
                )
            results.append(run)
    found = _losses(results) if diagnose else []
    said = ""
    if output is not None:
        # Before anything is printed: whoever reads that may have gone.
        recorded = {name: folder for name, folder in zip(names, records, strict=True) if folder is not None}
        pages = write_report(results, Path(output), recorded, found)
        report, page = (printable(str(path)) for path in pages)
        said = f"The report is {report}, the same as a page {page}\n"
    if as_markdown:
        table = f"\n{markdown_table(losses_table(names, found))}" if found else ""
        _print(f"{markdown(results)}\n{markdown_caption(results)}\n{table}")
    else:
        print_tables([rich_table(results), *_losses_for_terminal(names, found)], color)
    _print(said)
    if record is not None:
        games = len(files_in(record, "**/*.json"))
        _print(
            f"The replays are in {printable(str(record))}, {games} in all: boulanger replay makes a page of them\n"
        )
    return results


def compare_files(
    files: Sequence[str | os.PathLike[str]],
    *,
    output: str | os.PathLike[str] | None = None,
    as_markdown: bool = False,
    color: bool | None = None,
) -> None:
    """Print a table of finished runs and their paired comparison.

    Args:
        files: JSON Lines of runs on the same deals, with as many seeds each.
        output: a folder for the full report.
        as_markdown: print Markdown tables.
        color: see ``bench``.

    Raises:
        BoulangerError: the runs cannot be compared, or a file is not a run.
        OSError: a file cannot be read or written.
    """
    results = [Results.load(file) for file in files]
    pairs = compare(results)
    if output is not None:
        write_report(results, Path(output))
    if as_markdown:
        table = markdown_table(comparison_table(pairs), 2)
        _print(f"{markdown(results)}\n{markdown_caption(results)}\n\n{table}")
    else:
        print_tables([rich_table(results), as_rich(comparison_table(pairs, narrow=True), PAIRED, 2)], color)


def diagnose_files(
    files: Sequence[str | os.PathLike[str]],
    *,
    node_limit: int | None = None,
    workers: int | None = None,
    as_markdown: bool = False,
    color: bool | None = None,
) -> None:
    """Print where finished runs threw their wins away.

    Args:
        files: JSON Lines of runs that kept their moves.
        node_limit: the most positions to look at, for each legal move.
        workers: processes; None for one per core.
        as_markdown: print a Markdown table.
        color: see ``bench``.

    Raises:
        BoulangerError: one is not a run, or did not keep its moves.
        OSError: a file cannot be read.
    """
    results = [Results.load(file) for file in files]
    names, found = run_names(results), _losses(results, node_limit, workers)
    if as_markdown:
        _print(markdown_table(losses_table(names, found)))
    else:
        print_tables(_losses_for_terminal(names, found), color)


def _losses(
    results: Sequence[Results], node_limit: int | None = None, workers: int | None = None
) -> list[Losses]:
    found = []
    with _progress() as start:
        for run in results:
            progress = start(f"diagnosing {run.policy}", len(run.games))
            found.append(losses(run, node_limit=node_limit, workers=workers, progress=progress))
    return found


def _losses_for_terminal(names: Sequence[str], found: Sequence[Losses]) -> list[Any]:
    caption = "a choice: one legal move keeps the win, another loses it; 95 % intervals over deals"
    return [as_rich(losses_table(names, found, narrow=True), caption)] if found else []


def label_codes(
    source: str,
    *,
    count: int | None = None,
    seed: int = 0,
    output: str | os.PathLike[str] | None = None,
    ray: str | None = None,
    workers: int | None = None,
    node_limit: int | None = None,
    shard: int = SHARD,
) -> Winnability:
    """Find out which deals can be won, and print their share.

    Args:
        source: the deals, see ``as_sample``.
        count: how many.
        seed: random seed of random deals.
        output: a folder for Parquet shards; an interrupted run resumes.
        ray: a Ray cluster, see ``OnRay``; None for processes on this machine.
        workers: processes, or Ray tasks, at a time; None for one per core.
        node_limit: maximum positions per deal.
        shard: deals per shard.

    Raises:
        BoulangerError: an argument is invalid, the folder holds another run, or a library is missing.
        OSError: a file cannot be written.
    """
    sample = as_sample(source, count, seed)
    if shard < 1:
        raise BoulangerError(f"shard {shard} holds no deal: it must be at least 1")
    with _progress() as start:
        found = label(
            sample,
            folder=None if output is None else Path(output),
            pool=as_pool(ray, workers),
            node_limit=node_limit,
            shard=shard,
            progress=start(source, sample.count),
        )
    value, low, high = (100 * (number or 0) for number in found.share)
    known = found.deals - found.unknown
    unknown = f"; {found.unknown} without a verdict" if found.unknown else ""
    _print(
        f"{found.solvable} of {known} deals can be won: {value:.3f} % [{low:.3f}, {high:.3f}]{unknown}; "
        f"{found.nodes / found.deals:,.0f} positions a deal\n"
    )
    return found


def _recipe(agent: str, sample: bool | None) -> Recipe:
    """A policy with its optional name: ``long=runs/long/model.zip``."""
    name, equals, policy = agent.partition("=")
    # heuristic:nodes=30 and ./lr=0.1.zip have no name.
    if not equals or not re.fullmatch(r"[^/\\:]+", name):
        name, policy = "", agent
    if name:
        checked_name(name)
    return Recipe.of(policy, name or None, None if policy.split(":", 1)[0] in AGENTS else sample)


def _print(text: str) -> None:
    try:
        "±".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = text.replace("±", "+-")
    sys.stdout.write(text)


def print_tables(tables: Sequence[Any], color: bool | None = None) -> None:
    """Print tables from ``rich_table``, at full width if the output is not a terminal.

    Args:
        tables: for ``rich``'s ``print``.
        color: see ``bench``.
    """
    from rich.console import Console

    console = Console(no_color=color is False, force_terminal=color or None)
    if not console.is_terminal:
        # A file has no width to fit.
        endless = console.options.update(max_width=100_000)
        console.width = max(
            console.width, *(console.measure(table, options=endless).maximum for table in tables)
        )
    with console.capture() as capture:
        for table in tables:
            console.print(table)
    _print(capture.get())


@contextmanager
def _progress() -> Iterator[Report]:
    """A progress bar on standard error, if that is a terminal."""
    try:
        from rich import progress as rich_progress
        from rich.console import Console
    except ModuleNotFoundError:
        raise BoulangerError('this command needs rich: pip install "boulanger-env[cli]"') from None
    columns = (
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with rich_progress.Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:

        def start(name: str, total: int) -> Progress:
            task = bar.add_task(printable(name, LONGEST_NAME), total=total)
            return lambda done, _: bar.update(task, completed=done)

        yield start
