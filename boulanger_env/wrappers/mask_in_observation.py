"""``MaskInObservation``: the mask as part of the observation, of one game."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import DTypeLike, NDArray

from boulanger_env.envs import BoulangerEnv
from boulanger_env.envs.sampling import as_masks, check_binary
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError

MASK = "action_mask"
_DTYPES = ("int8", "bool")


class MaskedObservations:
    """How a mask becomes part of an observation, checked once.

    Args:
        key: the observation's name.
        mask_key: the mask's name.
        dtype: the mask's dtype: int8 or bool.

    Raises:
        BoulangerError: the names are not two different texts, or the dtype is another one.
    """

    def __init__(self, key: str, mask_key: str, dtype: DTypeLike) -> None:
        for name, value in (("key", key), ("mask_key", mask_key)):
            if not isinstance(value, str) or not value:
                raise BoulangerError(f"{name}={shown(value)} must be a name, such as 'observation' or 'obs'")
        if key == mask_key:
            raise BoulangerError(
                f"key and mask_key are both {key!r}: the observation and the mask need a name each"
            )
        self.key, self.mask_key, self.dtype = key, mask_key, _read_dtype(dtype)

    def space(self, observation: spaces.Space[Any], action: spaces.Space[Any]) -> spaces.Dict:
        """The space of one observation with its mask."""
        assert isinstance(action, spaces.Discrete)
        mask = spaces.Box(0, 1, (int(action.n),), self.dtype.type)
        return spaces.Dict({self.key: observation, self.mask_key: mask})

    def join(self, observation: Any, mask: NDArray[Any]) -> dict[str, Any]:
        """One observation, or those of a batch, with a copy of the mask."""
        return {self.key: observation, self.mask_key: mask.astype(self.dtype)}


class MaskInObservation(gym.Wrapper[Any, np.int64, Any, np.int64], RecordConstructorArgs):
    """Puts the mask into the observation: ``Dict({key: observation, mask_key: Box(0, 1, (n,), dtype)})``.

    Libraries look for the two under names of their own; ``docs/libraries.md`` shows which. ``info["action_mask"]`` and
    ``action_masks()`` stay as they are. For a batch use ``boulanger_env.wrappers.vector.MaskInObservation``.

    Args:
        env: a Boulanger environment, in other wrappers or not.
        key: the observation's name, such as ``"obs"``.
        mask_key: the mask's name, such as ``"mask"``.
        dtype: int8 or bool, as NumPy's types or their names.

    Raises:
        BoulangerError: another dtype, names that are not two different texts, or another environment.

    >>> from boulanger_env import BoulangerEnv
    >>> env = MaskInObservation(BoulangerEnv(), key="obs", mask_key="mask", dtype=bool)
    >>> observation, info = env.reset(seed=1)
    >>> observation["obs"].shape, observation["mask"].shape, observation["mask"].dtype
    ((2076,), (780,), dtype('bool'))
    """

    def __init__(
        self,
        env: gym.Env[Any, np.int64],
        key: str = "observation",
        *,
        mask_key: str = "action_mask",
        dtype: DTypeLike = "int8",
    ) -> None:
        self._parts = parts = MaskedObservations(key, mask_key, dtype)
        if not isinstance(env.unwrapped, BoulangerEnv):
            raise BoulangerError(
                f"MaskInObservation wraps a Boulanger environment, such as gym.make('Boulanger-C4-v0'), not {env}"
            )
        # A spec is JSON: a dtype's name can be in it.
        RecordConstructorArgs.__init__(self, key=key, mask_key=mask_key, dtype=parts.dtype.name)
        gym.Wrapper.__init__(self, env)
        self.observation_space = parts.space(env.observation_space, env.action_space)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool ``(n,)``.

        Raises:
            gymnasium.error.ResetNeeded: there is no game yet.
        """
        masks: NDArray[np.bool_] = self.env.get_wrapper_attr("action_masks")()
        return masks

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the wrapped environment."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_mask(observation, info), info

    def step(self, action: Any) -> tuple[dict[str, Any], SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one action in the wrapped environment."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_mask(observation, info), reward, terminated, truncated, info

    def _with_mask(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        # A wrapper in between may have changed the actions or the mask.
        mask, width = as_masks(info[MASK]), self.action_space.n  # type: ignore[attr-defined]
        if mask.shape != (width,):
            raise BoulangerError(
                f"info['{MASK}'] has shape {mask.shape}, but the environment's actions are {width}"
            )
        check_binary(mask[None], f"info['{MASK}']")
        return self._parts.join(observation, mask)


def _read_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        read = np.dtype(dtype)
    except TypeError:
        read = np.dtype(object)
    if dtype is None or read.name not in _DTYPES:
        raise BoulangerError(
            f"dtype={shown(dtype)} is unknown: choose one of {', '.join(map(repr, _DTYPES))}"
        )
    return read
