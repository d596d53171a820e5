"""Plots of benchmark results, as SVG. Matplotlib, from the extra ``bench``, is imported at first use."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from boulanger_env.benchmark.comparison import Comparison, run_names
from boulanger_env.benchmark.difficulty import by_difficulty
from boulanger_env.benchmark.lost_wins import Losses
from boulanger_env.benchmark.results import Results
from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.errors import BoulangerError

_PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Keywords that keep matplotlib from reading text as a formula."""


def cards_home_curve(results: Sequence[Results]) -> str:
    """For each run, the share of games with at least x cards home; at x = 52 it is the win rate."""
    figure, axes = _figure()
    counts = np.arange(N_CARDS + 1)
    lines = []
    for run in results:
        home = run.column("cards_home").reshape(-1)
        lines += axes.step(counts, 100 * (home[:, None] >= counts).mean(0), where="mid")
    axes.set(
        xlabel="cards home, at least", ylabel="games, %", xlim=(0, N_CARDS), ylim=(0, 100), title="Cards home"
    )
    _legend(axes, lines, run_names(results))
    return _svg(figure)


def win_rate_by_difficulty(results: Sequence[Results]) -> str | None:
    """Win rates by the grade of the deals, with their intervals; None if the difficulty is unknown."""
    graded = [by_difficulty(run) for run in results]
    if not all(graded):
        return None
    figure, axes = _figure()
    marks = []
    for i, grades in enumerate(graded):
        value, low, high = (
            100 * np.array(numbers, float) for numbers in zip(*(g.win_rate for g in grades), strict=True)
        )
        x = np.arange(len(grades)) + 0.06 * (i - (len(graded) - 1) / 2)
        marks.append(
            axes.errorbar(x, value, (value - low, high - value), marker="o", markersize=4, capsize=2)
        )
    axes.set_xticks(
        range(len(graded[0])), [f"{low} to {high}" for low, high in (g.length for g in graded[0])]
    )
    axes.set(
        xlabel="moves of the shortest solution (equally many deals in each grade)",
        ylabel="deals won, %",
        ylim=(0, 103),
        title="Win rate by difficulty, deals that can be won",
    )
    _legend(axes, marks, run_names(results))
    return _svg(figure)


def paired_differences(comparisons: Sequence[Comparison]) -> str:
    """The differences in win rate between the runs, with their intervals."""
    figure, axes = _figure(1.2 + 0.35 * len(comparisons))
    for y, pair in enumerate(reversed(comparisons)):
        value, low, high = (100 * (number if number is not None else np.nan) for number in pair.win_rate)
        axes.errorbar(value, y, xerr=[[value - low], [high - value]], marker="o", capsize=3, color="C0")
    axes.axvline(0, color="0.5", linewidth=1)
    axes.set_yticks(
        range(len(comparisons)),
        [f"{pair.first} less {pair.second}" for pair in reversed(comparisons)],
        **_PLAIN,
    )
    axes.set(
        xlabel="difference in deals won, percentage points",
        ylim=(-0.6, len(comparisons) - 0.4),
        title="Paired differences, same deals",
    )
    return _svg(figure)


def still_winnable(names: Sequence[str], found: Sequence[Losses]) -> str:
    """For each run, the share of its games that can still be won after each number of choices."""
    figure, axes = _figure()
    lines = []
    for run in found:
        lines += axes.step(range(len(run.still_winnable)), 100 * np.array(run.still_winnable), where="post")
    axes.set(
        xlabel="choices: decisions at which one move keeps the win and another loses it",
        ylabel="games that can still be won, %",
        xlim=(0, None),
        ylim=(0, 103),
        title="Still winnable",
    )
    _legend(axes, lines, names)
    return _svg(figure)


def _legend(axes: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """A legend with names verbatim: as artists' labels, those that begin with _ would be left out."""
    placeholders = [str(i) for i in range(len(names))]
    legend = axes.figure.legend(handles, placeholders, loc="outside lower center", ncols=2, frameon=False)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=name, **_PLAIN)


def _figure(height: float = 4.2) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise BoulangerError(f'a report needs {error.name}: pip install "boulanger-env[bench]"') from None
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.subplots()
    axes.grid(alpha=0.3)
    return figure, axes


def _svg(figure: Any) -> str:
    from matplotlib import rc_context

    buffer = io.StringIO()
    # Reproducible ids, letters as shapes so that no font is needed, no date.
    with rc_context({"svg.hashsalt": "boulanger", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
