"""The Gymnasium environments."""

from .observations import FEATURES, N_FEATURES, board_from_observation, feature
from .rewards import REWARDS, Reward
from .single import BoulangerEnv

__all__ = [
    "FEATURES",
    "N_FEATURES",
    "REWARDS",
    "BoulangerEnv",
    "Reward",
    "board_from_observation",
    "feature",
]
