"""Where finished runs threw their wins away: the body of ``boulanger diagnose`` for results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from boulanger_env.benchmark.comparison import run_names
from boulanger_env.benchmark.lost_wins import Losses, losses, losses_table
from boulanger_env.benchmark.results import Results
from boulanger_env.report.tables import as_rich, markdown_table

from .output import print_tables, print_text, progress_bars


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
        color: see ``print_tables``.

    Raises:
        BoulangerError: one is not a run, or did not keep its moves.
        OSError: a file cannot be read.
    """
    results = [Results.load(file) for file in files]
    names, found = run_names(results), find_losses(results, node_limit, workers)
    if as_markdown:
        print_text(markdown_table(losses_table(names, found)))
    else:
        print_tables(loss_tables(names, found), color)


def find_losses(
    results: Sequence[Results], node_limit: int | None = None, workers: int | None = None
) -> list[Losses]:
    """What each run lost, with a progress bar per run; see ``losses``."""
    found = []
    with progress_bars() as start:
        for run in results:
            progress = start(f"diagnosing {run.policy}", len(run.games))
            found.append(losses(run, node_limit=node_limit, workers=workers, progress=progress))
    return found


def loss_tables(names: Sequence[str], found: Sequence[Losses]) -> list[Any]:
    """A table for a terminal, or none if there are no runs."""
    caption = "a choice: one legal move keeps the win, another loses it; 95 % intervals over deals"
    return [as_rich(losses_table(names, found, narrow=True), caption)] if found else []
