"""Benchmarks: every deal of a set played once, and what that says about a policy."""

from .compare import Comparison, compare
from .difficulty import Grade, by_difficulty
from .document import write_report
from .evaluate import evaluate
from .lost_wins import Losses, losses
from .model_files import save_model
from .policies import Policy, as_policy
from .report import markdown, rich_table
from .results import Results, Summary
from .rows import GameRow
from .statistics import Estimate

__all__ = [
    "Comparison",
    "Estimate",
    "GameRow",
    "Grade",
    "Losses",
    "Policy",
    "Results",
    "Summary",
    "as_policy",
    "by_difficulty",
    "compare",
    "evaluate",
    "losses",
    "markdown",
    "rich_table",
    "save_model",
    "write_report",
]
