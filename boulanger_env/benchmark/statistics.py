"""Intervals for what a benchmark measures. SciPy is imported at the first use: it comes with the extra ``bench``."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from boulanger_env.game.errors import BoulangerError

CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A mean or a share with its 95 % interval; the interval is None where there are too few games for one."""

    value: float
    low: float | None
    high: float | None


def scipy_stats() -> Any:
    """The module ``scipy.stats``.

    Raises:
        BoulangerError: SciPy is not installed; the message names the extra that brings it.
    """
    try:
        return importlib.import_module("scipy.stats")
    except ModuleNotFoundError as error:
        library = (error.name or "scipy").split(".")[0]
        raise BoulangerError(f'benchmarks need {library}: pip install "boulanger-env[bench]"') from None


def share(successes: int, n: int) -> Estimate:
    """A share of ``n`` with its Wilson interval.

    >>> [round(number, 3) for number in share(5, 10)]
    [0.5, 0.237, 0.763]
    """
    interval = scipy_stats().binomtest(successes, n).proportion_ci(CONFIDENCE, method="wilson")
    return Estimate(successes / n, float(interval.low), float(interval.high))


def mean(values: Sequence[float]) -> Estimate:
    """A mean with Student's t interval; one value alone has none.

    >>> [round(number, 3) for number in mean([1, 2, 3])]
    [2.0, -0.484, 4.484]
    """
    n = len(values)
    value = math.fsum(values) / n
    if n == 1:
        return Estimate(value, None, None)
    error = math.sqrt(math.fsum((x - value) ** 2 for x in values) / (n - 1) / n)
    margin = float(scipy_stats().t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
    return Estimate(value, value - margin, value + margin)
