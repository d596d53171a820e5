"""Tables of benchmark results: Markdown, and for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from boulanger_env.agents.model_files import SETTINGS
from boulanger_env.benchmark.comparison import Comparison, check_same_deals, run_names
from boulanger_env.benchmark.results import Results, Summary
from boulanger_env.benchmark.statistics import Estimate
from boulanger_env.escaping import in_markdown, printable
from boulanger_env.game.errors import BoulangerError


class Column(NamedTuple):
    """A column of the table of results."""

    heading: str
    narrow: bool
    """Whether the terminal's table shows it too."""
    get: Callable[[Summary], Estimate | float | None]
    percent: bool = False


COLUMNS = (
    Column("games", False, lambda s: s.games),
    Column("won", True, lambda s: s.win_rate, percent=True),
    Column("solvable won", False, lambda s: s.solvable_won, percent=True),
    Column("cards home", True, lambda s: s.cards_home),
    Column("median", False, lambda s: s.cards_home_median),
    Column("IQM", False, lambda s: s.cards_home_iqm),
    Column("score", False, lambda s: s.score),
    Column("moves", True, lambda s: s.moves),
    Column("regret", True, lambda s: s.regret),
    Column("illegal", False, lambda s: s.illegal),
)
"""Moves and regret cover the games won. A column without any value is left out."""

Table = list[list[str]]
"""Rows of cells, the headings first."""


def results_table(results: Sequence[Results], *, narrow: bool = False) -> Table:
    """The results as rows of text.

    Raises:
        BoulangerError: results on different deals, or none.
    """
    check_same_deals(results)
    shown = _with_margin if narrow else _with_bounds
    chosen = [
        column
        for column in COLUMNS
        if (column.narrow or not narrow) and any(column.get(run.summary) is not None for run in results)
    ]
    rows = [["policy", *(column.heading for column in chosen)]]
    for name, run in zip(run_names(results), results, strict=True):
        rows.append([name, *(shown(column.get(run.summary), column.percent) for column in chosen)])
    return rows


_DIFFERENCES = ("won, first minus second, percentage points", "cards home, first minus second")

PAIRED = (
    "first minus second, deal by deal: deals that only one of them won, differences in deals won (percentage "
    "points) and in cards home; p of McNemar's exact test"
)
"""What the narrow table of comparisons shows."""


def comparison_table(comparisons: Sequence[Comparison], *, narrow: bool = False) -> Table:
    """The paired comparisons as rows of text; the narrow ones are explained by ``PAIRED``."""
    several = len(comparisons) > 1
    full = ["won only by first", "only by second", *_DIFFERENCES, "p", *["p, Holm"][: int(several)]]
    short = ["won alone", "won", "cards home", "p, Holm" if several else "p"]
    rows = [["first", "second", *(short if narrow else full)]]
    for pair in comparisons:
        won = Estimate(*(None if x is None else 100 * x for x in pair.win_rate))  # type: ignore[arg-type]
        alone = [str(pair.better), str(pair.worse)]
        differences = [_with_bounds(won), _with_bounds(pair.cards_home)]
        # Where there is one pair only, Holm's correction changes nothing.
        tests = [p_text(p) for p in (pair.p_value, pair.p_holm)[narrow and several : 1 + several]]
        rows.append(
            [pair.first, pair.second, *([" : ".join(alone)] if narrow else alone), *differences, *tests]
        )
    return rows


def markdown_table(rows: Table, text_columns: int = 1) -> str:
    """Rows as a Markdown table; text columns are left-aligned, the others, numbers, right-aligned."""
    return markdown_rows([[in_markdown(cell) for cell in row] for row in rows], text_columns)


def markdown_rows(rows: Table, text_columns: int = 1) -> str:
    """The same for cells that are already Markdown."""
    lines = list(rows)
    lines.insert(1, ["---" if i < text_columns else "---:" for i in range(len(rows[0]))])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def markdown(results: Sequence[Results]) -> str:
    """A Markdown table of results on one set of deals, with their 95 % intervals.

    Raises:
        BoulangerError: results on different deals, or none.
    """
    return markdown_table(results_table(results))


def rich_table(results: Sequence[Results]) -> Any:
    """The same for ``rich``'s ``print``, narrow enough for a terminal, and what it shows.

    Raises:
        BoulangerError: results on different deals, or none; or rich is not installed.
    """
    return as_rich(results_table(results, narrow=True), caption(results))


def as_rich(rows: Table, *captions: str, text_columns: int = 1) -> Any:
    """Rows and what they show, a line for each caption, for ``rich``'s ``print``.

    Raises:
        BoulangerError: rich is not installed.
    """
    try:
        from rich import box
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table as RichTable
        from rich.text import Text
    except ModuleNotFoundError:
        raise BoulangerError(
            'a table for the terminal needs rich: pip install "boulanger-env[cli]"'
        ) from None
    table = RichTable(box=box.SIMPLE, collapse_padding=True)
    for i, heading in enumerate(rows[0]):
        left = i < text_columns
        table.add_column(Text(printable(heading)), justify="left" if left else "right", overflow="fold")
    for row in rows[1:]:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # A caption of the table itself would be no wider than the table.
    return Group(table, *(Padding(Text(printable(caption)), (0, 2)) for caption in captions))


def caption(results: Sequence[Results]) -> str:
    """One line about a table of these results: the deals, and the settings that are not the defaults."""
    first = results[0]
    counts = {run.summary.games for run in results}
    games = f"{min(counts)} games" if len(counts) == 1 else f"{min(counts)} to {max(counts)} games"
    shown = f"{first.deals} ({first.fingerprint}), {games}, 95 % intervals"
    by_settings: dict[str, list[str]] = {}
    for name, run in zip(run_names(results), results, strict=True):
        by_settings.setdefault(_settings(run), []).append(name)
    if len(by_settings) == 1:
        return "; ".join(filter(None, [shown, *by_settings]))
    described = (
        f"{', '.join(names)}: {text or 'the default settings'}" for text, names in by_settings.items()
    )
    return "; ".join([shown, *described])


def markdown_caption(results: Sequence[Results]) -> str:
    """The same as a paragraph of Markdown."""
    return f"Deals: {in_markdown(caption(results))}"


def _settings(run: Results) -> str:
    """The settings that are not the defaults, except the observation, and whether a model samples its moves."""
    different = {
        **{
            key: value
            for key, value in run.settings.items()
            if value != SETTINGS.get(key) and key != "observation"
        },
        **{key: run.details[key] for key in ("sample", "wrappers") if run.details.get(key)},
    }
    return ", ".join(f"{key}={value}" for key, value in different.items())


def strength(run: Results) -> str:
    """How good the policy of a run is, in a few words."""
    return f"wins {100 * run.summary.win_rate.value:.1f} % of {run.deals}"


def p_text(p: float) -> str:
    """A p-value with three decimals, or that it is smaller."""
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def tenths(value: float, sign: str = "") -> str:
    """A number with one decimal, never -0.0; ``sign="+"`` also marks positive numbers."""
    return f"{round(value, 1) + 0.0:{sign}.1f}"


def _with_bounds(value: Estimate | float | None, percent: bool = False) -> str:
    if not isinstance(value, Estimate):
        return _number(value)
    scale, unit = (100, " %") if percent else (1, "")
    low, high = value.low, value.high
    bounds = "" if low is None or high is None else f" [{tenths(scale * low)}, {tenths(scale * high)}]"
    return f"{tenths(scale * value.value)}{unit}{bounds}"


def _with_margin(value: Estimate | float | None, percent: bool = False) -> str:
    if percent or not isinstance(value, Estimate):
        return _with_bounds(value, percent)
    number, low, high = value
    if low is None or high is None:
        return tenths(number)
    above, below = map(tenths, (high - number, number - low))
    return f"{tenths(number)} ± {above}" if above == below else _with_bounds(value)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else tenths(value)
