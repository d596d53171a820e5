"""A complete solver: wins that replay, proofs that there is none, and proven shortest solutions."""

from .deal_verdicts import verdicts
from .diagnosis import Decision, Diagnosis, diagnose
from .many import solve_many
from .solving import Solution, Status, solve
from .winning import winning_moves

SOLVED, UNSOLVABLE, LIMIT = Status.SOLVED, Status.UNSOLVABLE, Status.LIMIT

__all__ = [
    "LIMIT",
    "SOLVED",
    "UNSOLVABLE",
    "Decision",
    "Diagnosis",
    "Solution",
    "Status",
    "diagnose",
    "solve",
    "solve_many",
    "verdicts",
    "winning_moves",
]
