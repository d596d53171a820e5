"""How an episode ends: as a number in kernels, as a name everywhere else, and in words for people."""

from __future__ import annotations

WON, STUCK, ILLEGAL, TRUNCATED = "won", "stuck", "illegal", "truncated"

O_RUNNING, O_WON, O_STUCK, O_ILLEGAL, O_TRUNCATED = range(5)
OUTCOMES = (None, WON, STUCK, ILLEGAL, TRUNCATED)
"""The name of each outcome number; None: the episode is in progress."""

OUTCOME_WORDS = {
    WON: "all 52 cards are home",
    STUCK: "no legal move is left",
    ILLEGAL: "an illegal action ended it",
    TRUNCATED: "the limit of steps is reached",
}
