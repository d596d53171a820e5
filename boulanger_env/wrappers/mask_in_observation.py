"""``MaskInObservation``: the mask as part of the observation."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError

from .masked import MASK, Mask, MaskWrapper, mask_space


class MaskInObservation(MaskWrapper):
    """Puts the mask into the observation: ``Dict({key: observation, "action_mask": Box(0, 1, (n,), int8)})``.

    Args:
        key: the observation's name: ``"observation"``, or ``"observations"``, which RLlib's masking examples expect.

    Raises:
        BoulangerError: any other key.
    """

    def __init__(self, env: gym.Env[Any, np.int64], key: str = "observation") -> None:
        if key not in ("observation", "observations"):
            raise BoulangerError(f"key={shown(key)} is unknown: choose one of 'observation', 'observations'")
        super().__init__(env, key=key)
        self._key = key
        self.observation_space = spaces.Dict({key: env.observation_space, MASK: mask_space(self._width)})

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return super()._with_mask({self._key: observation}, info)

    def _own_mask(self, mask: Mask) -> Mask:
        return np.array(mask, np.int8)
