"""The learning curve as a picture."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from boulanger_env.benchmark.statistics import mean
from boulanger_env.files import write_with

Curve = Sequence[tuple[int, Sequence[float]]]
"""Timesteps, and the cards home in each validation game."""


def learning_curve(path: Path, curve: Curve, baselines: Mapping[str, float], title: str) -> None:
    """Draw mean cards home over the training, with its 95 % interval, and the baselines' means.

    Args:
        path: a PNG file.
        curve: at least one evaluation.
        baselines: mean cards home of each on the same deals.
        title: what was trained on what.
    """
    steps = np.array([step for step, _ in curve])
    estimates = [mean(home) for _, home in curve]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    low, high = np.array([(e.low, e.high) for e in estimates], float).T  # a single game's None becomes NaN
    axes.fill_between(steps, low, high, alpha=0.2, linewidth=0, label="its 95 % interval")
    axes.plot(steps, [e.value for e in estimates], marker="o", label="trained agent")
    for style, (name, value) in zip(("--", "-."), baselines.items(), strict=False):
        axes.axhline(value, color="0.35", linestyle=style, linewidth=1, label=name)
    axes.set(xlabel="moves played while learning", ylabel="cards home, of 52")
    axes.set_title(title, parse_math=False)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    write_with(path, lambda partial: partial.write_bytes(buffer.getvalue()))
