"""Plots of benchmark results, as SVG. Matplotlib is imported at the first use: the extra ``bench`` has it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.errors import BoulangerError

from .compare import Comparison
from .difficulty import by_difficulty
from .results import Results


def cards_home_curve(results: Sequence[Results]) -> str:
    """For each run, the share of games that brought at least so many cards home; at 52 it is the win rate."""
    figure, axes = _figure()
    counts = np.arange(N_CARDS + 1)
    for run in results:
        home = run.column("cards_home").reshape(-1)
        axes.step(counts, 100 * (home[:, None] >= counts).mean(0), where="mid", label=run.policy)
    axes.set(
        xlabel="cards home, at least", ylabel="games, %", xlim=(0, N_CARDS), ylim=(0, 100), title="Cards home"
    )
    axes.legend(frameon=False)
    return _svg(figure)


def win_rate_by_difficulty(results: Sequence[Results]) -> str | None:
    """Win rates by the grade of the deals, with their intervals; None where the difficulty is not known."""
    graded = [(run.policy, by_difficulty(run)) for run in results]
    if not all(grades for _, grades in graded):
        return None
    figure, axes = _figure()
    for i, (name, grades) in enumerate(graded):
        value, low, high = (
            100 * np.array(numbers, float) for numbers in zip(*(g.win_rate for g in grades), strict=True)
        )
        x = np.arange(len(grades)) + 0.06 * (i - (len(graded) - 1) / 2)
        axes.errorbar(x, value, (value - low, high - value), marker="o", markersize=4, capsize=2, label=name)
    axes.set_xticks(
        range(len(graded[0][1])), [f"{low} to {high}" for low, high in (g.length for g in graded[0][1])]
    )
    axes.set(
        xlabel="moves of the shortest solution (equally many deals in each grade)",
        ylabel="deals won, %",
        ylim=(0, 103),
        title="Win rate by difficulty, deals that can be won",
    )
    axes.legend(frameon=False)
    return _svg(figure)


def paired_differences(comparisons: Sequence[Comparison]) -> str:
    """The differences in win rate between the runs, with their intervals."""
    figure, axes = _figure(1.2 + 0.35 * len(comparisons))
    for y, pair in enumerate(reversed(comparisons)):
        value, low, high = (100 * (number if number is not None else np.nan) for number in pair.win_rate)
        axes.errorbar(value, y, xerr=[[value - low], [high - value]], marker="o", capsize=3, color="C0")
    axes.axvline(0, color="0.5", linewidth=1)
    axes.set_yticks(
        range(len(comparisons)), [f"{pair.first} less {pair.second}" for pair in reversed(comparisons)]
    )
    axes.set(
        xlabel="difference in deals won, percentage points",
        ylim=(-0.6, len(comparisons) - 0.4),
        title="Paired differences, same deals",
    )
    return _svg(figure)


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
    # Ids that are the same every time, letters as shapes so that no font is needed, no date.
    with rc_context({"svg.hashsalt": "boulanger", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
