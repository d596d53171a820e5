"""A complete solver: wins that replay, proofs that there is none, and proven shortest solutions."""

from .solve import Solution, Status, solve

SOLVED, UNSOLVABLE, LIMIT = Status.SOLVED, Status.UNSOLVABLE, Status.LIMIT

__all__ = ["LIMIT", "SOLVED", "UNSOLVABLE", "Solution", "Status", "solve"]
