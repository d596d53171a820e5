"""Paired comparison of runs on the same deals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from boulanger_env.escaping import LONGEST_NAME, printable
from boulanger_env.game.errors import BoulangerError

from .results import Results
from .statistics import Estimate, bootstrap, holm, mcnemar, mean_of


class Comparison(NamedTuple):
    """Two runs, deal by deal. Differences are ``first`` minus ``second``, with bootstrap intervals over the deals."""

    first: str
    second: str
    better: int
    """Deals that the first won and the second did not (with several seeds: won more often)."""
    worse: int
    """Deals the other way round."""
    win_rate: Estimate
    cards_home: Estimate
    p_value: float
    """Two-sided, of McNemar's exact test: how likely a split this uneven would be if neither were stronger."""
    p_holm: float
    """The same after Holm's correction over all pairs compared together."""


def compare(results: Sequence[Results]) -> list[Comparison]:
    """Compare every run with every later one.

    Args:
        results: at least two, on the same deals, with the same number of seeds each.

    Raises:
        BoulangerError: they cannot be compared deal by deal.
    """
    if len(results) < 2:
        raise BoulangerError(f"a comparison needs at least two runs, not {len(results)}")
    check_same_deals(results)
    counts = [len(run.seeds) for run in results]
    if len(set(counts)) > 1:
        listed = ", ".join(f"{printable(run.policy, LONGEST_NAME)} {len(run.seeds)}" for run in results)
        raise BoulangerError(
            f"the runs have different numbers of seeds ({listed}): a deal that is played more often has more chances "
            "to be won, so give each run the same number of seeds"
        )
    named = zip(run_names(results), results, strict=True)
    pairs = [_compared(*a, *b) for a, b in combinations(named, 2)]
    return [
        pair._replace(p_holm=p) for pair, p in zip(pairs, holm([pair.p_value for pair in pairs]), strict=True)
    ]


def check_same_deals(results: Sequence[Results]) -> None:
    """Check that there are results and that all are on the same deals.

    Raises:
        BoulangerError: they are not, or there are none.
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


def run_names(results: Sequence[Results]) -> list[str]:
    """The name of each run in a table: its policy's name and, if several share it, what differs.

    Raises:
        BoulangerError: two of the runs are the same.
    """
    names = []
    for run in results:
        namesakes = [_facts(other) for other in results if other.policy == run.policy]
        mine = _facts(run)
        if namesakes.count(mine) > 1:
            raise BoulangerError(
                f"two of the runs are of {printable(run.policy, LONGEST_NAME)} with the same seeds and settings: give "
                "each run once"
            )
        different = [key for key in mine if any(other.get(key) != mine[key] for other in namesakes)]
        suffix = f" ({', '.join(f'{key}={mine[key]}' for key in different)})" if different else ""
        names.append(printable(run.policy, LONGEST_NAME) + printable(suffix, LONGEST_NAME))
    return names


def _facts(run: Results) -> dict[str, Any]:
    """Everything that a run of a policy depends on, by name."""
    seeds = ", ".join(map(str, run.seeds))
    return {
        **run.settings,
        **run.details,
        "version": run.version,
        "seeds" if len(run.seeds) > 1 else "seed": seeds,
    }


def _compared(first: str, a: Results, second: str, b: Results) -> Comparison:
    won = a.column("won").mean(1) - b.column("won").mean(1)
    home = a.column("cards_home").mean(1) - b.column("cards_home").mean(1)
    better, worse = int((won > 0).sum()), int((won < 0).sum())
    p_value = mcnemar(better, worse)
    return Comparison(
        first=first,
        second=second,
        better=better,
        worse=worse,
        win_rate=bootstrap(won, mean_of),
        cards_home=bootstrap(home, mean_of),
        p_value=p_value,
        p_holm=p_value,
    )
