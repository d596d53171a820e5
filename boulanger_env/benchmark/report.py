"""Tables of benchmark results: Markdown, and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boulanger_env.game.errors import BoulangerError

from .results import Results
from .statistics import Estimate

_MEANS = ("cards home", "score", "moves")


def markdown(results: Sequence[Results]) -> str:
    """A Markdown table of results on one set of deals, with their 95 % intervals.

    Raises:
        BoulangerError: results on different deals, or none.
    """
    check_same_deals(results)
    lines = [["policy", "games", "won", *_MEANS], ["---", *["---:"] * (2 + len(_MEANS))]]
    for run in results:
        name, games = run.policy.replace("|", r"\|"), str(run.summary.games)
        lines.append([name, games, _share(run), *map(_with_bounds, _means(run))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def rich_table(results: Sequence[Results]) -> Any:
    """The same as a ``rich.table.Table``, narrow enough for a terminal.

    Raises:
        BoulangerError: results on different deals, or none; or rich is not installed.
    """
    try:
        from rich import box
        from rich.markup import escape
        from rich.table import Table
    except ModuleNotFoundError:
        raise BoulangerError(
            'a table for the terminal needs rich: pip install "boulanger-env[cli]"'
        ) from None
    check_same_deals(results)
    table = Table(caption=escape(caption(results)), box=box.SIMPLE)
    table.add_column("policy", overflow="fold")
    for heading in ("won", *_MEANS):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in results:
        table.add_row(escape(run.policy), _share(run), *map(_with_margin, _means(run)))
    return table


def caption(results: Sequence[Results]) -> str:
    """What a table of these results shows, in a line."""
    first = results[0]
    return f"{first.deals} ({first.fingerprint}), {first.summary.games} games, 95 % intervals"


def check_same_deals(results: Sequence[Results]) -> None:
    """Refuse results that do not belong in one table.

    Raises:
        BoulangerError: results on different deals, or none.
    """
    if not results:
        raise BoulangerError("there are no results to put into a table")
    first = results[0]
    for other in results[1:]:
        if other.fingerprint != first.fingerprint:
            raise BoulangerError(
                f"results on different deals do not belong in one table: {first.deals} ({first.fingerprint}) "
                f"and {other.deals} ({other.fingerprint})"
            )


def _means(run: Results) -> tuple[Estimate, ...]:
    return run.summary.cards_home, run.summary.score, run.summary.moves


def _share(run: Results) -> str:
    value, low, high = (100 * (number or 0) for number in run.summary.win_rate)
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"


def _with_bounds(estimate: Estimate) -> str:
    value, low, high = estimate
    return f"{value:.1f}" if low is None or high is None else f"{value:.1f} [{low:.1f}, {high:.1f}]"


def _with_margin(estimate: Estimate) -> str:
    value, _, high = estimate
    return f"{value:.1f}" if high is None else f"{value:.1f} ± {high - value:.1f}"
