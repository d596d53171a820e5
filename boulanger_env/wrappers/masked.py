"""What wrappers with a mask of their own share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from boulanger_env.envs import BoulangerEnv, internal
from boulanger_env.envs.sampling import as_masks, check_binary
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.moves import action_id

Mask = NDArray[np.int8]
StepResult = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]

MASK = "action_mask"


class MaskWrapper(gym.Wrapper[Any, np.int64, Any, np.int64], RecordConstructorArgs):
    """A wrapper of a Boulanger environment that has its own mask."""

    def __init__(self, env: gym.Env[Any, np.int64], **arguments: Any) -> None:
        RecordConstructorArgs.__init__(self, **arguments)
        gym.Wrapper.__init__(self, env)
        base = env.unwrapped
        if not isinstance(base, BoulangerEnv):
            raise BoulangerError(
                f"{type(self).__name__} wraps a Boulanger environment, such as gym.make('Boulanger-C4-v0'), not {base}"
            )
        self._base = base
        self._turn = internal.turn_of(base)
        self._inner_width = self._width = width_of(env)
        self._mask: Mask = np.zeros(self._width, np.int8)

    @property
    def _mask_in_observation(self) -> bool:
        return isinstance(self.observation_space, spaces.Dict) and MASK in self.observation_space.spaces

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of this wrapper's action space, bool ``(n,)``.

        Raises:
            gymnasium.error.ResetNeeded: there is no game yet.
        """
        internal.check_reset(self._base)
        return self._mask.astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the wrapped environment; the mask is this wrapper's own."""
        with self._turn:
            return self._with_mask(*self.env.reset(seed=seed, options=options))

    def step(self, action: Any) -> StepResult:
        """Play one action of this wrapper's action space.

        Raises:
            IllegalMoveError: the action is not an integer of the action space; or, with
                ``illegal_action="raise"``, the rules forbid it. The game is unchanged.
            gymnasium.error.ResetNeeded: no episode is being played.
        """
        with self._turn:
            observation, reward, terminated, truncated, info = self._play(action_id(action, self._width))
            observation, info = self._with_mask(observation, info)
            return observation, reward, terminated, truncated, info

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        mask = as_masks(info[MASK])
        if mask.shape != (self._inner_width,):
            raise BoulangerError(
                f"info['{MASK}'] has shape {mask.shape}, but the environment's actions are {self._inner_width}"
            )
        check_binary(mask[None], f"info['{MASK}']")
        self._mask = self._own_mask(mask.view(np.int8))
        if self._mask_in_observation:
            observation = {**observation, MASK: self._mask.copy()}
        return observation, {**info, MASK: self._mask.copy()}

    def _play(self, action: int) -> StepResult:
        return self.env.step(np.int64(action))

    @abstractmethod
    def _own_mask(self, mask: Mask) -> Mask:
        """This wrapper's mask, fresh, from that of the wrapped environment."""


def width_of(env: gym.Env[Any, Any]) -> int:
    assert isinstance(env.action_space, spaces.Discrete)
    return int(env.action_space.n)


def mask_space(width: int) -> spaces.Box:
    return spaces.Box(0, 1, (width,), np.int8)
