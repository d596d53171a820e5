"""Stable-Baselines3's vector interface directly on the native batch: ``BoulangerVecEnv``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import Wrapper
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from boulanger_env.envs import BoulangerVectorEnv, internal
from boulanger_env.envs.internal import (
    B_END_ILLEGAL,
    B_END_WON,
    B_ENDED,
    B_ILLEGAL,
    B_TRUNCATED,
    F_END_RETURN,
    I_END_LENGTH,
    I_END_MOVES,
    I_END_SCORE,
    I_GROUP,
    I_MOVES,
    I_SCORE,
    I_START,
    Outputs,
    as_arrays,
)
from boulanger_env.envs.observations import Observation
from boulanger_env.envs.resetting import read_game_option
from boulanger_env.envs.states import GameState
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.game import Game

from .masks import Masks

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from boulanger_env.envs.options import VecKeywords


class BoulangerVecEnv(VecEnv):
    """Stable-Baselines3's ``VecEnv`` on :class:`~boulanger_env.BoulangerVectorEnv`.

    It behaves like a ``DummyVecEnv`` of monitored ``BoulangerEnv`` and is many times faster. MaskablePPO finds
    ``action_masks`` by itself. Infos leave the mask out, since ``env_method("action_masks")`` returns all masks
    as one array; besides the single environment's keys they hold ``TimeLimit.truncated`` and, on an episode's last
    step, ``terminal_observation`` and ``episode`` (``r`` return, ``l`` length, ``t`` seconds since the environment was
    created).

    Args:
        num_envs: games in the batch, n.
        n_cells: and every other keyword: as for :class:`~boulanger_env.BoulangerVectorEnv`, except
            ``autoreset_mode`` and ``copy``, which Stable-Baselines3 prescribes.

    Raises:
        BoulangerError: a keyword has an invalid value.

    >>> env = BoulangerVecEnv(2, observation="cards")
    >>> env.seed(7)
    [7, 8]
    >>> env.reset()["tableau"].shape
    (2, 8, 19)
    >>> env.env_method("action_masks").shape
    (2, 780)
    """

    def __init__(self, num_envs: int = 1, n_cells: int = 4, **keywords: Unpack[VecKeywords]) -> None:
        fixed = [name for name in ("autoreset_mode", "copy") if name in keywords]
        if fixed:
            raise BoulangerError(f"{fixed[0]} cannot be chosen here: Stable-Baselines3 prescribes it")
        options: dict[str, Any] = {**keywords}
        self.batch: BoulangerVectorEnv[Observation] = BoulangerVectorEnv(
            num_envs, n_cells, autoreset_mode=AutoresetMode.SAME_STEP, **options
        )
        self._array_infos = internal.settings_of(self.batch).array_infos
        self._with_starts = hasattr(self.batch, "starts")
        self._origins: list[dict[str, Any]] = []
        self._started = time.time()
        self._masks: NDArray[np.bool_] | None = None
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        super().__init__(num_envs, self.batch.single_observation_space, self.batch.single_action_space)
        # Without it VecVideoRecorder would show 30 moves per second.
        self.metadata = {**self.metadata, "render_fps": self.batch.metadata["render_fps"]}

    def reset(self) -> Observation:
        """Start an episode in every game, with the seeds and games that ``seed`` and ``set_options`` left.

        Raises:
            BoulangerError: an option other than ``code``, ``board`` and ``game`` (as for ``BoulangerEnv.reset``), or
                games for only some of the batch.
        """
        try:
            observation, infos = self.batch.reset(seed=self._seeds, options=self._given_games())
        finally:
            # They apply to one reset, even one that rejects them.
            self._reset_seeds()
            self._reset_options()
        self._begin(infos)
        return observation

    def _begin(self, infos: dict[str, Any]) -> None:
        """Take over the games that a reset, or a state, left."""
        self._masks = infos["action_mask"].view(np.bool_)
        self._origins = [self._origin(*row) for row in internal.origins_of(self.batch)]
        rows = infos["score"].tolist(), infos["moves"].tolist(), self._origins
        self.reset_infos = [self._of_reset(*row) for row in zip(*rows, strict=True)]

    def _origin(self, code: str, start: int, group: int) -> dict[str, Any]:
        """What infos say about where a game came from."""
        return {"code": code, "start": start, "group": group} if self._with_starts else {"code": code}

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> tuple[Observation, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions; games that end are reset at once."""
        outputs, n_ended = internal.play(self.batch, self._actions)
        ints, _, bools = outputs.events[:3]
        self._masks = outputs.frames.mask.view(np.bool_)
        rows = ints[I_SCORE].tolist(), ints[I_MOVES].tolist(), bools[B_ILLEGAL].tolist(), self._origins
        infos: list[dict[str, Any]] = [
            {
                "score": score,
                "moves": moves,
                "illegal_action": illegal,
                **origin,
                "outcome": "",
                "is_success": False,
                "TimeLimit.truncated": False,
            }
            for score, moves, illegal, origin in zip(*rows, strict=True)
        ]
        if n_ended:
            self._end_episodes(outputs, infos)
        if self._array_infos:
            infos = [as_arrays(info) for info in infos]
        rewards = outputs.results[0].astype(np.float32)
        return outputs.frames.observation(), rewards, bools[B_ENDED].copy(), infos

    def _end_episodes(self, outputs: Outputs, infos: list[dict[str, Any]]) -> None:
        """Add the entries for ended episodes to ``infos``, and keep the infos of the resets."""
        ints, floats, bools, _, codes, end_outcomes, _ = outputs.events
        seconds = round(time.time() - self._started, 6)
        ended = bools[B_ENDED].nonzero()[0]
        for i, observation in zip(ended.tolist(), outputs.finals.rows(ended), strict=True):
            event = ints[:, i].tolist()
            returned = round(floats.item(F_END_RETURN, i), 6)
            infos[i] = {
                "score": event[I_END_SCORE],
                "moves": event[I_END_MOVES],
                "illegal_action": bools.item(B_END_ILLEGAL, i),
                **self._origins[i],
                "outcome": end_outcomes.item(i),
                "is_success": bools.item(B_END_WON, i),
                "TimeLimit.truncated": bools.item(B_TRUNCATED, i),
                "terminal_observation": observation,
                "episode": {"r": returned, "l": event[I_END_LENGTH], "t": seconds},
            }
            self._origins[i] = self._origin(codes.item(i), event[I_START], event[I_GROUP])
            self.reset_infos[i] = self._of_reset(event[I_SCORE], event[I_MOVES], self._origins[i])

    def _of_reset(self, score: int, moves: int, origin: dict[str, Any]) -> dict[str, Any]:
        info = {
            "score": score,
            "moves": moves,
            "illegal_action": False,
            **origin,
            "outcome": "",
            "is_success": False,
        }
        return as_arrays(info) if self._array_infos else info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of every game, bool ``(n, n_actions)``."""
        masks = self.batch.action_masks() if self._masks is None else self._masks.copy()
        return masks.view(Masks)

    def get_state(self) -> GameState:
        """The state of all games: see :meth:`BoulangerVectorEnv.get_state`."""
        return self.batch.get_state()

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> Observation:
        """Continue the games from a state, and return their observations: see :meth:`BoulangerVectorEnv.set_state`.

        Raises:
            BoulangerError: the state does not fit. Nothing is changed.
        """
        observation, infos = self.batch.set_state(state)
        self._begin(infos)
        return observation

    def close(self) -> None:
        """Close the batch."""
        self.batch.close()

    def render(self, mode: str | None = None) -> Any:
        """The games as texts (``render_mode="ansi"``), in one picture (``"rgb_array"``) or in the window (``"human"``).

        The picture is that of :meth:`BoulangerVectorEnv.render_together`; ``VecVideoRecorder`` films it.
        """
        if mode not in (None, self.render_mode):
            return super().render(mode)
        return self.batch.render_together() if self.render_mode == "rgb_array" else self.batch.render()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the batch, once for each game in ``indices`` (all by default).

        Raises:
            AttributeError: the batch has no such attribute.
        """
        owner = self if attr_name == "action_masks" else self.batch
        value = getattr(owner, attr_name)
        return [value] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Not possible: the games of a batch have no attributes of their own.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(
            f"cannot set {attr_name!r}: make a new BoulangerVecEnv with other keywords instead"
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> Any:
        """Call ``action_masks`` (a bool array with one row per index) or ``game`` (a list of ``Game``).

        Raises:
            AttributeError: another name.
        """
        if method_name == "action_masks":
            return (
                self.action_masks()
                if indices is None
                else self.action_masks()[list(self._get_indices(indices))]
            )
        if method_name == "game":
            return [self.batch.game(i) for i in self._get_indices(indices)]
        raise AttributeError(
            f"a batch has no method {method_name!r} for single games: it has action_masks and game"
        )

    def env_is_wrapped(
        self, wrapper_class: type[Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """True for ``Monitor``, whose ``episode`` infos every game has; a batch has no other wrappers inside."""
        return [issubclass(wrapper_class, Monitor)] * len(list(self._get_indices(indices)))

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of each game with ``render_mode="rgb_array"``, else no pictures."""
        images: Sequence[Any] | None = self.batch.render() if self.render_mode == "rgb_array" else None
        return [None] * self.num_envs if images is None else images

    def _given_games(self) -> dict[str, Any] | None:
        """The options of ``set_options`` as the batch's reset options."""
        settings = internal.settings_of(self.batch)
        games: list[Game | None] = [read_game_option(options, settings) for options in self._options]
        if all(game is None for game in games):
            return None
        if any(game is None for game in games):
            raise BoulangerError("set_options: give a game to every game of the batch, or to none")
        return {"games": games}
