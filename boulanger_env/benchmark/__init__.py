"""Benchmarks: every deal of a set played once, and what that says about a policy."""

from .evaluate import evaluate
from .policies import Policy, as_policy
from .report import markdown, rich_table
from .results import GameRow, Results, Summary
from .statistics import Estimate

__all__ = [
    "Estimate",
    "GameRow",
    "Policy",
    "Results",
    "Summary",
    "as_policy",
    "evaluate",
    "markdown",
    "rich_table",
]
