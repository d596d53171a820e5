"""What this package's wrappers, recordings and integrations use of an environment beside its public methods.

Users have no use for it, and it may change without notice. Nothing outside this folder reaches into an environment in
another way.
"""

from __future__ import annotations

from typing import Any

from boulanger_env.game.state import State
from boulanger_env.game.turns import Turn

from .outputs import Outputs
from .settings import Settings
from .single import BoulangerEnv
from .vector import BoulangerVectorEnv


def settings_of(env: BoulangerEnv | BoulangerVectorEnv) -> Settings:
    """The environment's keywords."""
    return env._settings


# -- the single environment -----------------------------------------------------------------------------------


def rows_of(env: BoulangerEnv) -> State:
    """The rows of the game in play, the same from one episode to the next; to be read only."""
    return env._rows


def outcome_of(env: BoulangerEnv) -> str | None:
    """How the episode ended, by the environment's own rules and limit; None while it goes on."""
    return env._outcome


def turn_of(env: BoulangerEnv) -> Turn:
    """Whose turn it is: a wrapper whose step is made of several holds it over all of them."""
    return env._turn


def check_reset(env: BoulangerEnv) -> None:
    """Refuse what needs a game where there is none.

    Raises:
        gymnasium.error.ResetNeeded: there was no reset yet.
    """
    env._check_reset()


# -- the batch ------------------------------------------------------------------------------------------------


def play(batch: BoulangerVectorEnv, actions: Any) -> tuple[Outputs, int]:
    """A ``step`` without its infos: what it wrote, and how many games ended."""
    return batch._play(actions)


def codes_of(batch: BoulangerVectorEnv) -> list[str]:
    """The codes of the games in play, "" for one that was given as a board."""
    codes: list[str] = batch._codes.tolist()
    return codes
