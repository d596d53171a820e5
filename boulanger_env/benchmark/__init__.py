"""Benchmarks: every deal of a set played once, and what that says about a policy."""

from .comparison import Comparison, compare
from .difficulty import Grade, by_difficulty
from .evaluation import evaluate
from .lost_wins import Losses, losses
from .results import Results, Summary
from .rows import GameRow
from .statistics import Estimate

__all__ = [
    "Comparison",
    "Estimate",
    "GameRow",
    "Grade",
    "Losses",
    "Results",
    "Summary",
    "by_difficulty",
    "compare",
    "evaluate",
    "losses",
]
