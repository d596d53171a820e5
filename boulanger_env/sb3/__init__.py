"""Stable-Baselines3: its vector interface directly on the native batch, and a callback."""

try:
    import stable_baselines3 as _stable_baselines3  # noqa: F401
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError(
        'boulanger_env.sb3 needs Stable-Baselines3: pip install "boulanger-env[train]"'
    ) from error

from .callbacks import CurriculumCallback
from .masks import Masks
from .vec_env import BoulangerVecEnv

__all__ = ["BoulangerVecEnv", "CurriculumCallback", "Masks"]
