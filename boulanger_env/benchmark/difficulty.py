"""How hard a deal is, and how often the deals of each grade are won.

A deal's difficulty is its *detour*: how many moves its shortest solution has beyond the bound that the layout alone
sets (``solver.bound.least_moves``), by which the sets ``c4-easy`` and ``c4-hard`` were chosen too. A deal without a
detour is won by making way for cards that are in the way and nothing else; every move more is one that a player has to
find. Deals with the same detour are ranked by the positions that the complete solver looked at. No agent has a part in
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.deals.labels import Labels
from boulanger_env.game import Game
from boulanger_env.solver.bound import least_moves

from .results import Results
from .statistics import Estimate, share

GRADES = 5


class Grade(NamedTuple):
    """One of the grades: equally many solvable deals each, from the easiest."""

    detour: tuple[int, int]
    """The shortest and the longest detour of its deals."""
    deals: int
    win_rate: Estimate


def by_difficulty(run: Results, grades: int = GRADES) -> list[Grade]:
    """Win rates by grade; empty where shortest solutions are not known, or with fewer solvable deals than grades."""
    if run.labels is None:
        return []
    ranked = from_the_easiest(run.codes, run.labels)
    if len(ranked) < grades:
        return []
    rates, detours = run.column("won").mean(1), _detours(run.codes, run.labels)
    return [
        Grade(
            (int(detours[part[0]]), int(detours[part[-1]])),
            len(part),
            share(float(rates[part].sum()), len(part)),
        )
        for part in np.array_split(ranked, grades)
    ]


def from_the_easiest(codes: Sequence[str], labels: Labels) -> NDArray[np.int64]:
    """The places of the solvable deals, from the easiest to the hardest; none unless all their lengths are known."""
    solvable = np.flatnonzero(labels.solvable)
    if (labels.length[solvable] == 0).any():
        return solvable[:0]
    detours = _detours(codes, labels)
    ranked: NDArray[np.int64] = solvable[np.lexsort((labels.nodes[solvable], detours[solvable]))]
    return ranked


def _detours(codes: Sequence[str], labels: Labels) -> NDArray[np.int64]:
    """The detour of each solvable deal, int64 ``(m,)``; 0 for the others."""
    return np.array(
        [
            length - least_moves(Game.from_code(code)) if solvable else 0
            for code, length, solvable in zip(
                codes, labels.length.tolist(), labels.solvable.tolist(), strict=True
            )
        ],
        np.int64,
    )
