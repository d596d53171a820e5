"""How hard a deal is, and how often the deals of each grade are won.

A deal's difficulty is the number of positions that the complete solver looked at before it could prove the deal won
(``Labels.nodes``). It is measured, not judged; it is the same for every policy; and players meet something like it: a
win that a plain search finds at once is one to which many ways lead. It is no count of moves: a long solution can be
an easy one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .results import Results
from .statistics import Estimate, share

GRADES = 5


class Grade(NamedTuple):
    """One of the grades: equally many solvable deals each, from the easiest."""

    nodes: tuple[int, int]
    """The fewest and the most positions that a deal of the grade took."""
    deals: int
    win_rate: Estimate


def by_difficulty(run: Results, grades: int = GRADES) -> list[Grade]:
    """Win rates by grade; empty without labels or with fewer solvable deals than grades.

    Deals that took equally many positions are kept in the order of the set, so that each deal is of one grade.
    """
    if run.labels is None:
        return []
    solvable = np.flatnonzero(run.labels.solvable)
    if len(solvable) < grades:
        return []
    nodes, rates = run.labels.nodes, run.column("won").mean(1)
    by_nodes = solvable[np.argsort(nodes[solvable], kind="stable")]
    return [
        Grade(
            (int(nodes[part[0]]), int(nodes[part[-1]])), len(part), share(float(rates[part].sum()), len(part))
        )
        for part in np.array_split(by_nodes, grades)
    ]
