"""The report of a benchmark: tables, plots, comparisons, what was lost, and how to read it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import plots
from .compare import compare
from .difficulty import by_difficulty, from_the_easiest
from .page import Block, Heading, Items, Picture, Rows, Text, write_html, write_markdown
from .report import Table, caption, comparison_table, results_table
from .results import Results

_LOSSES = 10  # lost deals that are named for each run

_HOW_TO_READ = (
    "Square brackets hold 95 % intervals: Wilson's for shares of deals, Student's t for means, the percentile "
    "bootstrap over deals for the median, the IQM and the differences. With several seeds a deal still counts once.",
    "IQM is the interquartile mean of cards home: the mean of the games without the lowest and the highest quarter.",
    "Moves are those of the games won, a group of cards as one. Regret is how many more they are than in a proven "
    "shortest solution.",
    "p is McNemar's exact test on the deals that only one of the two won; Holm's correction is for all the pairs of "
    "the table together.",
    "A deal's difficulty is the number of moves of its proven shortest solution.",
)


def write_report(results: Sequence[Results], folder: Path) -> list[Path]:
    """Write ``report.md`` with its pictures, and ``report.html``, a page with everything in it.

    Args:
        results: runs on the same deals. They are compared with each other if they have as many seeds each.
        folder: made if it is not there.

    Returns:
        The two reports.

    Raises:
        BoulangerError: results on different deals, or none; or a library is missing.
        OSError: a file cannot be written.
    """
    blocks = report(results)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "report.md", folder / "report.html"]
    write_markdown(files[0], blocks)
    write_html(files[1], f"Benchmark: {results[0].deals}", blocks)
    return files


def report(results: Sequence[Results]) -> list[Block]:
    """The blocks of the report."""
    table = results_table(results)
    first = results[0]
    blocks: list[Block] = [
        Heading(f"Benchmark: {first.deals}", 1),
        Text(f"{caption(results)}. {_known(first)}"),
        Rows(table),
        Picture(
            "cards-home", "share of games with at least so many cards home", plots.cards_home_curve(results)
        ),
    ]
    curve = plots.win_rate_by_difficulty(results)
    if curve is not None:
        blocks += [
            Heading("Win rate by difficulty"),
            Rows(_difficulty_table(results)),
            Picture("difficulty", "win rate by difficulty", curve),
        ]
    if len(results) > 1 and len({len(run.seeds) for run in results}) == 1:
        pairs = compare(results)
        blocks += [
            Heading("Paired comparison"),
            Rows(comparison_table(pairs), 2),
            Picture("differences", "paired differences in win rate", plots.paired_differences(pairs)),
        ]
    blocks += [Heading("Runs"), Rows(_runs_table(results), 4)]
    losses = _losses(results)
    if losses:
        blocks += [Heading("Deals that were lost and can be won, the easiest first"), Items(losses)]
    return [*blocks, Heading("How to read this"), Items(_HOW_TO_READ)]


def _known(run: Results) -> str:
    if run.labels is None:
        return "Which of the deals can be won is not recorded."
    return f"{int(run.labels.solvable.sum())} of the {run.n_deals} deals can be won."


def _difficulty_table(results: Sequence[Results]) -> Table:
    graded = [by_difficulty(run) for run in results]
    rows = [["policy", *(f"{low} to {high} moves" for low, high in (g.length for g in graded[0]))]]
    for run, grades in zip(results, graded, strict=True):
        rows.append([run.policy, *(f"{100 * grade.win_rate.value:.1f} %" for grade in grades)])
    return rows


def _runs_table(results: Sequence[Results]) -> Table:
    rows = [["policy", "seeds", "settings", "version", "seconds", "games/s", "actions/s"]]
    for run in results:
        rates = (run.seconds or None, run.games_per_second, run.steps_per_second)
        rows.append(
            [
                run.policy,
                ", ".join(map(str, run.seeds)),
                json.dumps({**run.settings, **run.details}),
                run.version,
                *("-" if rate is None else f"{rate:,.1f}" for rate in rates),
            ]
        )
    return rows


def _losses(results: Sequence[Results]) -> tuple[str, ...]:
    """For each run the easiest deals that it lost although they can be won."""
    items = []
    for run in results:
        if run.labels is None:
            return ()
        won: NDArray[np.bool_] = np.asarray(run.column("won").any(1))
        lost = [place for place in from_the_easiest(run.labels) if not won[place]]
        if lost:
            codes = ", ".join(f"`{run.codes[place]}`" for place in lost[:_LOSSES])
            items.append(f"{run.policy} lost {len(lost)}: {codes}{', ...' if len(lost) > _LOSSES else ''}")
    return tuple(items)
