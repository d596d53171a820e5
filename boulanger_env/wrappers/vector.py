"""Wrappers of ``BoulangerVectorEnv``, as ``gymnasium.wrappers.vector`` has them for other batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike, NDArray

from boulanger_env.envs import BoulangerVectorEnv
from boulanger_env.game.errors import BoulangerError

from .mask_in_observation import MASK, MaskedObservations

__all__ = ["MaskInObservation"]


class MaskInObservation(VectorWrapper):
    """Puts the masks into a batch's observations: ``Dict({key: observations, mask_key: Box(0, 1, (n, 780), dtype)})``.

    The last observations in SAME_STEP's ``infos["final_obs"]`` have their masks too. A batch of single environments, as
    of ``gym.make_vec(..., vectorization_mode="sync")``, takes ``boulanger_env.wrappers.MaskInObservation`` in each.

    Args:
        env: a ``BoulangerVectorEnv``, in other wrappers or not.
        key: the observations' name, such as ``"obs"``.
        mask_key: the masks' name, such as ``"mask"``.
        dtype: int8 or bool, as NumPy's types or their names.

    Raises:
        BoulangerError: another dtype, names that are not two different texts, or another environment.

    >>> from boulanger_env import BoulangerVectorEnv
    >>> envs = MaskInObservation(BoulangerVectorEnv(3), dtype=bool)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations["action_mask"].shape, observations["action_mask"].dtype
    ((3, 780), dtype('bool'))
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        key: str = "observation",
        *,
        mask_key: str = "action_mask",
        dtype: DTypeLike = "int8",
    ) -> None:
        self._parts = MaskedObservations(key, mask_key, dtype)
        if not isinstance(env.unwrapped, BoulangerVectorEnv):
            raise BoulangerError(
                f"this MaskInObservation wraps a BoulangerVectorEnv, not {env}: for a single environment, alone or in "
                "a batch of Gymnasium's, use boulanger_env.wrappers.MaskInObservation"
            )
        super().__init__(env)
        self._base = env.unwrapped
        self.single_observation_space = self._parts.space(
            env.single_observation_space, env.single_action_space
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """How the next episode of a game begins. TorchRL asks the outermost wrapper."""
        return self._base.autoreset_mode

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of every game, bool ``(n, 780)``, or ``(n, 781)`` with undo.

        Raises:
            gymnasium.error.ResetNeeded: there are no games yet.
        """
        return self._base.action_masks()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the wrapped batch."""
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        return self._with_masks(observations, infos), infos

    def step(
        self, actions: NDArray[np.int64] | Sequence[int]
    ) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one action in every game of the wrapped batch."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if "final_obs" in infos:
            last, masks = np.empty(self.num_envs, object), infos["final_info"][MASK]
            for i in infos["_final_obs"].nonzero()[0].tolist():
                last[i] = self._parts.join(infos["final_obs"][i], masks[i])
            infos = {**infos, "final_obs": last}
        return self._with_masks(observations, infos), rewards, terminations, truncations, infos

    def _with_masks(self, observations: Any, infos: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(infos, dict):
            raise BoulangerError(
                "the infos that MaskInObservation takes the masks from are a list of dicts: wrap it in DictInfoToList, "
                "not the other way round"
            )
        return self._parts.join(observations, infos[MASK])
