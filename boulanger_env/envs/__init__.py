"""The Gymnasium environments."""

from .action_maps import CARD_ACTION_TABLE
from .features import FEATURES, N_FEATURES, feature
from .observations import board_from_observation
from .rewards import REWARDS, Reward
from .sampling import sample_legal
from .single import BoulangerEnv, registered_env
from .vector import BoulangerVectorEnv

__all__ = [
    "CARD_ACTION_TABLE",
    "FEATURES",
    "N_FEATURES",
    "REWARDS",
    "BoulangerEnv",
    "BoulangerVectorEnv",
    "Reward",
    "board_from_observation",
    "feature",
    "registered_env",
    "sample_legal",
]
