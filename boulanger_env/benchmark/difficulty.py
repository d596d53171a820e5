"""How hard a deal is, and how often the deals of each grade are won.

A deal's difficulty is the length of its shortest solution; ties are broken by the positions that the complete solver
visited. The sets ``c4-easy`` and ``c4-hard`` were chosen by the same measure. It is proven and independent of any
agent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.deals.labels import Labels

from .results import Results
from .statistics import Estimate, share

GRADES = 5


class Grade(NamedTuple):
    """One of several grades of equally many solvable deals, from the easiest."""

    length: tuple[int, int]
    """The least and greatest length of a shortest solution among its deals."""
    deals: int
    win_rate: Estimate


def by_difficulty(run: Results, grades: int = GRADES) -> list[Grade]:
    """Win rates by grade; empty if shortest solutions are unknown or there are fewer solvable deals than grades."""
    if run.labels is None:
        return []
    ranked = from_the_easiest(run.labels)
    if len(ranked) < grades:
        return []
    rates, length = run.column("won").mean(1), run.labels.length
    return [
        Grade(
            (int(length[part[0]]), int(length[part[-1]])),
            len(part),
            share(float(rates[part].sum()), len(part)),
        )
        for part in np.array_split(ranked, grades)
    ]


def from_the_easiest(labels: Labels) -> NDArray[np.int64]:
    """The places of the solvable deals, from the easiest to the hardest; none unless all their lengths are known."""
    solvable = np.flatnonzero(labels.solvable)
    if (labels.length[solvable] == 0).any():
        return solvable[:0]
    ranked: NDArray[np.int64] = solvable[np.lexsort((labels.nodes[solvable], labels.length[solvable]))]
    return ranked
