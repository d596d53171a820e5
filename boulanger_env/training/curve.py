"""The learning curve as a picture."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from boulanger_env.benchmark.statistics import share
from boulanger_env.files import write_with

from .checkpoint import Point
from .setup import TrainSettings


def learning_curve(
    path: Path, points: Sequence[Point], baselines: Mapping[str, float], settings: TrainSettings
) -> None:
    """Draw the share of validation deals won over time, with its 95 % interval, and the baselines'.

    Args:
        path: a PNG file.
        points: at least one evaluation.
        baselines: the share that each wins of the same deals.
        settings: of the training.
    """
    minutes = np.array([point.seconds / 60 for point in points])
    rates = [share(point.won, point.deals) for point in points]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    low, high = np.array([(rate.low, rate.high) for rate in rates], float).T
    axes.fill_between(minutes, low, high, alpha=0.2, linewidth=0, label="its 95 % interval")
    axes.plot(minutes, [rate.value for rate in rates], marker="o", label="trained agent")
    for style, (name, value) in zip(("--", "-."), baselines.items(), strict=False):
        axes.axhline(value, color="0.35", linestyle=style, linewidth=1, label=name)
    axes.set(xlabel="minutes since the beginning", ylabel=f"won, of {points[-1].deals} validation deals")
    how = (
        "from rewards; solutions give start positions, never moves" if settings.curriculum else "from rewards"
    )
    axes.set_title(f"PPO, {settings.n_cells} cells, {how}", parse_math=False)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    write_with(path, lambda partial: partial.write_bytes(buffer.getvalue()))
