"""Intervals and tests for benchmark results. SciPy, from the extra ``bench``, is imported at first use.

**The deal is the unit.** With several seeds a deal is played several times, and those games are not independent: a hard
deal is hard in all of them. So every interval here comes from the spread between deals, each of which counts once.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boulanger_env.game.errors import BoulangerError

CONFIDENCE = 0.95
RESAMPLES = 2000
_AT_A_TIME = 250  # resamples held in memory together


class Estimate(NamedTuple):
    """A number with its 95 % interval, which is None if there are too few games for one."""

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


def share(successes: float, n: int) -> Estimate:
    """A share of ``n`` with its Wilson interval.

    Args:
        successes: how many of the ``n``; may be a sum of shares, for deals played with several seeds, which makes the
            interval conservative.
        n: at least 1.

    >>> [round(number, 3) for number in share(5, 10)]
    [0.5, 0.237, 0.763]
    """
    z = float(scipy_stats().norm.ppf((1 + CONFIDENCE) / 2))
    p, shrink = successes / n, 1 + z * z / n
    center = (p + z * z / (2 * n)) / shrink
    margin = z / shrink * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At 0 and 1 the interval ends exactly there, apart from rounding.
    return Estimate(p, 0.0 if p == 0 else center - margin, 1.0 if p == 1 else center + margin)


def mean(
    values: Sequence[float] | NDArray[Any], lowest: float = -math.inf, highest: float = math.inf
) -> Estimate:
    """A mean with Student's t interval; one value alone has none.

    Args:
        values: at least one.
        lowest: the interval is clipped there, the lowest possible mean; its coverage stays the same.
        highest: likewise.

    >>> [round(number, 3) for number in mean([1, 2, 3])]
    [2.0, -0.484, 4.484]
    >>> [round(number, 3) for number in mean([1, 2, 3], lowest=0)]
    [2.0, 0, 4.484]
    """
    n = len(values)
    value = math.fsum(values) / n
    if n == 1:
        return Estimate(value, None, None)
    error = math.sqrt(math.fsum((x - value) ** 2 for x in values) / (n - 1) / n)
    margin = float(scipy_stats().t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
    return Estimate(value, max(lowest, value - margin), min(highest, value + margin))


Statistic = Callable[[NDArray[Any]], NDArray[Any]]
"""From values ``(..., n)`` to numbers ``(...)``."""


def bootstrap(values: ArrayLike, statistic: Statistic) -> Estimate:
    """A statistic with its percentile bootstrap interval; the same values give the same interval every time.

    Args:
        values: ``(deals,)`` or ``(deals, seeds)``. Deals are resampled, each with all its seeds.
        statistic: computed over all the values together.
    """
    table = np.asarray(values, float)
    table = table.reshape(len(table), -1)

    def of_deals(deals: NDArray[np.int64], axis: int = -1) -> NDArray[Any]:
        drawn = table[np.moveaxis(deals, axis, -1)]
        return statistic(drawn.reshape(*drawn.shape[:-2], -1))

    value = float(statistic(table.reshape(-1)))
    if len(table) == 1:
        return Estimate(value, None, None)
    interval = (
        scipy_stats()
        .bootstrap(
            (np.arange(len(table)),),
            of_deals,
            n_resamples=RESAMPLES,
            batch=_AT_A_TIME,
            vectorized=True,
            confidence_level=CONFIDENCE,
            method="percentile",
            random_state=np.random.default_rng(0),
        )
        .confidence_interval
    )
    return Estimate(value, float(interval.low), float(interval.high))


def mean_of(values: NDArray[Any]) -> NDArray[Any]:
    """The mean, as a ``Statistic``."""
    return np.asarray(values.mean(-1))


def median_of(values: NDArray[Any]) -> NDArray[Any]:
    """The median, as a ``Statistic``."""
    return np.asarray(np.median(values, -1))


def iqm_of(values: NDArray[Any]) -> NDArray[Any]:
    """The interquartile mean, as a ``Statistic``: the mean without the lowest and the highest quarter.

    A quarter is rounded down to whole values, as rliable does it.

    >>> float(iqm_of(np.array([0, 0, 1, 2, 3, 50])))
    1.5
    """
    return np.asarray(scipy_stats().trim_mean(values, 0.25, axis=-1))


def mcnemar(better: int, worse: int) -> float:
    """The exact two-sided p-value of McNemar's test, from the numbers of deals that only one or only the other won.

    >>> mcnemar(0, 5), mcnemar(3, 3), mcnemar(0, 0)
    (0.0625, 1.0, 1.0)
    """
    n = better + worse
    return float(scipy_stats().binomtest(better, n, 0.5).pvalue) if n else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for multiple comparisons by Holm's method.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected
