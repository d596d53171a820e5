"""Paired comparison of runs on the same deals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from boulanger_env.game.errors import BoulangerError

from .results import Results
from .statistics import Estimate, bootstrap, holm, mcnemar, mean_of


class Comparison(NamedTuple):
    """Two runs, deal by deal. Differences are ``first`` less ``second``, with bootstrap intervals over the deals."""

    first: str
    second: str
    better: int
    """Deals that the first won and the second did not (with several seeds: won more often)."""
    worse: int
    """Deals the other way round."""
    win_rate: Estimate
    cards_home: Estimate
    p_value: float
    """Of McNemar's exact test, two-sided: how likely so uneven a split would be if neither were the stronger."""
    p_holm: float
    """The same after Holm's correction for all the pairs that were compared together."""


def compare(results: Sequence[Results]) -> list[Comparison]:
    """Compare every run with every later one.

    Args:
        results: at least two, on the same deals with as many seeds each.

    Raises:
        BoulangerError: they cannot be compared deal by deal.
    """
    if len(results) < 2:
        raise BoulangerError(f"a comparison needs at least two runs, not {len(results)}")
    check_same_deals(results)
    counts = {run.policy: len(run.seeds) for run in results}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise BoulangerError(
            f"the runs have different numbers of seeds ({told}): a deal that is played more often has more chances to "
            "be won, so give each as many seeds"
        )
    pairs = [_compared(a, b) for a, b in combinations(results, 2)]
    return [
        pair._replace(p_holm=p) for pair, p in zip(pairs, holm([pair.p_value for pair in pairs]), strict=True)
    ]


def check_same_deals(results: Sequence[Results]) -> None:
    """Refuse results that do not belong together.

    Raises:
        BoulangerError: results on different deals, two under one name, or none.
    """
    if not results:
        raise BoulangerError("there are no results to put into a table")
    first = results[0]
    for other in results[1:]:
        if other.fingerprint != first.fingerprint:
            raise BoulangerError(
                f"results on different deals do not belong together: {first.policy} played {first.deals} "
                f"({first.fingerprint}), {other.policy} played {other.deals} ({other.fingerprint})"
            )


def _compared(a: Results, b: Results) -> Comparison:
    won = a.column("won").mean(1) - b.column("won").mean(1)
    home = a.column("cards_home").mean(1) - b.column("cards_home").mean(1)
    better, worse = int((won > 0).sum()), int((won < 0).sum())
    p_value = mcnemar(better, worse)
    return Comparison(
        first=a.policy,
        second=b.policy,
        better=better,
        worse=worse,
        win_rate=bootstrap(won, mean_of),
        cards_home=bootstrap(home, mean_of),
        p_value=p_value,
        p_holm=p_value,
    )
