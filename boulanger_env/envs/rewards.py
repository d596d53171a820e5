"""Rewards: what each event of an episode is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.kernels import EVENT_FOUNDATION, EVENT_FROM_CELL, EVENT_NONE, N_EVENTS

MOST_REWARD = 1e30
"""Largest magnitude of an event's value: an episode's sums stay finite, even in 32 bits."""

# Places in the compiled table. Those before R_STEP are the EVENT_ numbers of moves; ``step`` is already added to each.
R_STEP, R_ILLEGAL, R_WIN, R_STUCK, R_AUTOMATIC, N_REWARDS = range(N_EVENTS, N_EVENTS + 6)


@dataclass(frozen=True)
class Reward:
    """The value of each event. A step's reward is the sum of its events.

    A foundation move that plays itself is an event of the action before it. Undo pays ``step`` like any action and
    takes back the reward of the events of what it undoes.

    Attributes:
        foundation: a card placed on its foundation.
        from_cell: a card from a cell placed on a column. It can be earned without end: see the documentation.
        win: the last card home.
        step: every action, including illegal ones and undo.
        illegal: an illegal action.
        stuck: a move to a position without a legal move.

    >>> Reward(foundation=1, from_cell=0, win=10, illegal=0).win
    10
    """

    foundation: float = 10
    from_cell: float = 5
    win: float = 0
    step: float = 0
    illegal: float = -1
    stuck: float = 0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            try:
                possible = isinstance(value, Real) and abs(float(value)) <= MOST_REWARD
            except OverflowError:
                possible = False
            if not possible:
                raise BoulangerError(
                    f"reward {name}={shown(value)} is not a finite number from {-MOST_REWARD:g} to {MOST_REWARD:g}"
                )

    def table(self) -> NDArray[np.float64]:
        """The values in the form that kernels read, float64 ``(N_REWARDS,)``."""
        step = float(self.step)
        # An event without a line here pays NaN, which no test lets pass.
        table = np.full(N_REWARDS, np.nan)
        table[EVENT_NONE] = step
        table[EVENT_FROM_CELL] = step + self.from_cell
        table[EVENT_FOUNDATION] = step + self.foundation
        table[R_STEP] = step
        table[R_ILLEGAL] = step + self.illegal
        table[R_WIN] = self.win
        table[R_STUCK] = self.stuck
        table[R_AUTOMATIC] = self.foundation
        return table


REWARDS = {
    "score": Reward(),
    "win": Reward(foundation=0, from_cell=0, win=1, illegal=0),
    "foundation": Reward(foundation=1, from_cell=0, illegal=0),
}
"""The presets: the app's score, wins only, cards home."""


def as_reward(reward: str | Reward | Mapping[str, float]) -> Reward:
    """Make a ``Reward`` from a preset's name, a ``Reward``, or a mapping with its keys.

    Raises:
        BoulangerError: a name or key is unknown, or a value is not a finite number.

    >>> as_reward({"win": 1}) == Reward(win=1)
    True
    """
    if isinstance(reward, Reward):
        return reward
    if isinstance(reward, str) and reward in REWARDS:
        return REWARDS[reward]
    if isinstance(reward, Mapping):
        known = [field.name for field in fields(Reward)]
        unknown = [key for key in reward if key not in known]
        if unknown:
            raise BoulangerError(f"unknown reward {shown(unknown[0])}: the keys are {', '.join(known)}")
        return Reward(**reward)
    raise BoulangerError(
        f"reward={shown(reward)} is neither a preset ({', '.join(REWARDS)}), nor a Reward, nor a dict with its keys"
    )
