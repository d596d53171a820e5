"""Whether the game of a replay could be won."""

from __future__ import annotations

from boulanger_env.game.outcomes import WON
from boulanger_env.solver import Status, solve

from .replay import Replay

_SEARCH = 100_000
"""Maximum positions that the solver searches to say whether a game could be won: less than a second."""


def could_be_won(one: Replay) -> bool | None:
    """Whether the game could be won from its start, or None if that takes too long a search."""
    if one.outcome == WON:
        return True
    status = solve(one.start, _SEARCH).status
    return None if status is Status.LIMIT else status is Status.SOLVED
