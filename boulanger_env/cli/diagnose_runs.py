"""Where finished runs threw their wins away: the body of ``boulanger diagnose`` for results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boulanger_env.agents.naming import file_stem
from boulanger_env.benchmark.comparison import run_names
from boulanger_env.benchmark.lost_wins import Losses, losses, losses_table
from boulanger_env.benchmark.results import Results
from boulanger_env.cluster.pools import Pool, as_pool
from boulanger_env.report.tables import as_rich, markdown_table

from .output import print_tables, print_text, progress_bars


def diagnose_files(
    files: Sequence[str | os.PathLike[str]],
    *,
    node_limit: int | None = None,
    workers: int | None = None,
    ray: str | None = None,
    output: str | os.PathLike[str] | None = None,
    as_markdown: bool = False,
    color: bool | None = None,
) -> None:
    """Print where finished runs threw their wins away.

    Args:
        files: JSON Lines of runs that kept their moves.
        node_limit: the most positions to look at, for each legal move.
        workers: processes, or Ray tasks, at a time; None for one per core.
        ray: a Ray cluster, see ``OnRay``; None for processes on this machine.
        output: a folder that gets ``NAME.jsonl`` for each run; an interrupted diagnosis resumes.
        as_markdown: print a Markdown table.
        color: see ``print_tables``.

    Raises:
        BoulangerError: one is not a run, or did not keep its moves.
        OSError: a file cannot be read or written.
    """
    pool = as_pool(ray, workers)
    results = [Results.load(file) for file in files]
    names = run_names(results)
    found = find_losses(results, None if output is None else Path(output), node_limit, pool)
    if as_markdown:
        print_text(markdown_table(losses_table(names, found)))
    else:
        print_tables(loss_tables(names, found), color)


def find_losses(
    results: Sequence[Results],
    folder: Path | None = None,
    node_limit: int | None = None,
    pool: Pool | None = None,
) -> list[Losses]:
    """What each run lost, with a progress bar per run; see ``losses``.

    Args:
        results: the runs.
        folder: gets a file for each run, created if needed; None to keep none.
        node_limit: as in ``losses``.
        pool: where to work; None for one process per core.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    found = []
    with progress_bars() as start:
        for name, run in zip(run_names(results), results, strict=True):
            progress = start(f"diagnosing {name}", len(run.games))
            file = None if folder is None else folder / f"{file_stem(name)}.jsonl"
            found.append(losses(run, node_limit=node_limit, pool=pool, file=file, progress=progress))
    return found


def loss_tables(names: Sequence[str], found: Sequence[Losses]) -> list[Any]:
    """A table for a terminal, or none if there are no runs."""
    caption = "a choice: one legal move keeps the win, another loses it; 95 % intervals over deals"
    return [as_rich(losses_table(names, found, narrow=True), caption)] if found else []
