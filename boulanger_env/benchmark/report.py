"""Tables of benchmark results: Markdown, and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boulanger_env.game.errors import BoulangerError

from .results import Results
from .statistics import Estimate

HEADINGS = ("policy", "games", "won", "cards home", "score", "moves")


def table_rows(results: Sequence[Results]) -> list[tuple[str, ...]]:
    """The cells of a table, a row for each of the results, under ``HEADINGS``; intervals in square brackets.

    Raises:
        BoulangerError: results on different deals, which do not belong in one table, or none.
    """
    if not results:
        raise BoulangerError("there are no results to put into a table")
    for other in results[1:]:
        if other.fingerprint != results[0].fingerprint:
            raise BoulangerError(
                f"results on different deals do not belong in one table: {results[0].deals} "
                f"({results[0].fingerprint}) and {other.deals} ({other.fingerprint})"
            )
    return [
        (
            run.policy,
            str(run.summary.games),
            _text(run.summary.win_rate, 100, " %"),
            _text(run.summary.cards_home),
            _text(run.summary.score),
            _text(run.summary.moves),
        )
        for run in results
    ]


def markdown(results: Sequence[Results]) -> str:
    """A Markdown table of results on one set of deals, with their 95 % intervals.

    Raises:
        BoulangerError: results on different deals, or none.
    """
    rows = [[cell.replace("|", r"\|") for cell in row] for row in table_rows(results)]
    lines = [HEADINGS, ("---", *["---:"] * (len(HEADINGS) - 1)), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def caption(results: Sequence[Results]) -> str:
    """What a table of these results shows, in a line."""
    first = results[0]
    return f"{first.deals} ({first.fingerprint}), mean [95 % interval]"


def rich_table(results: Sequence[Results]) -> Any:
    """The same as a ``rich.table.Table``, for a terminal.

    Raises:
        BoulangerError: results on different deals, or none; or rich is not installed.
    """
    try:
        from rich.markup import escape
        from rich.table import Table
    except ModuleNotFoundError:
        raise BoulangerError(
            'a table for the terminal needs rich: pip install "boulanger-env[cli]"'
        ) from None
    rows = table_rows(results)
    table = Table(caption=escape(caption(results)))
    for place, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _text(estimate: Estimate, scale: float = 1, unit: str = "") -> str:
    value, low, high = estimate
    interval = "" if low is None or high is None else f" [{low * scale:.1f}, {high * scale:.1f}]"
    return f"{value * scale:.1f}{unit}{interval}"
