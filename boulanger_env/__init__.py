"""Jeu du Boulanger (Baker's Game) as a reinforcement-learning problem.

Importing the package registers ``Boulanger-C4-v0``, ``Boulanger-C2-v0`` and ``Boulanger-C1-v0`` with Gymnasium.
"""

import gymnasium as _gym

from . import deals as deals
from .deals import DealSet
from .envs import BoulangerEnv, BoulangerVectorEnv, Reward, sample_legal
from .envs.settings import DEFAULT_LIMIT as _DEFAULT_LIMIT
from .game import (
    ACTION_TABLE,
    BoulangerError,
    Game,
    IllegalMoveError,
    InvalidBoardError,
    InvalidCodeError,
    Move,
)
from .game.state import CELL_COUNTS as _CELL_COUNTS

__version__ = "0.1.0"

__all__ = [
    "ACTION_TABLE",
    "BoulangerEnv",
    "BoulangerError",
    "BoulangerVectorEnv",
    "DealSet",
    "Game",
    "IllegalMoveError",
    "InvalidBoardError",
    "InvalidCodeError",
    "Move",
    "Reward",
    "__version__",
    "sample_legal",
]

for _n_cells in _CELL_COUNTS:
    _gym.register(
        f"Boulanger-C{_n_cells}-v0",
        entry_point="boulanger_env.envs:registered_env",
        vector_entry_point="boulanger_env.envs:BoulangerVectorEnv",
        max_episode_steps=_DEFAULT_LIMIT,
        kwargs={"n_cells": _n_cells},
    )
