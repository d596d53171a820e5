"""``MaskInObservation``: of one game, and of a batch."""

from __future__ import annotations

from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import DtypeObservation
from gymnasium.wrappers.vector import DictInfoToList
from support.batch_and_singles import DISABLED, MODES, NEXT_STEP, SAME_STEP, Player
from support.env_and_oracle import exact, legal_actions

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv
from boulanger_env.wrappers import MaskInObservation, vector

N = 4
NAMES = [
    {},
    {"key": "observations"},
    {"key": "obs", "mask_key": "mask", "dtype": "bool"},
    {"mask_key": "legal", "dtype": np.int8},
    {"dtype": np.bool_},
]


def parts(names: dict[str, Any]) -> tuple[str, str, np.dtype[Any]]:
    return (
        names.get("key", "observation"),
        names.get("mask_key", "action_mask"),
        np.dtype(names.get("dtype", "int8")),
    )


def mask_space(width: int, dtype: np.dtype[Any]) -> spaces.Box:
    return spaces.Box(0, 1, (width,), dtype.type)


# -- one game ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["features", "cards"])
@pytest.mark.parametrize("names", NAMES, ids=str)
@pytest.mark.parametrize("undo", [False, True])
def test_of_one_game(names: dict[str, Any], kind: str, undo: bool) -> None:
    key, mask_key, dtype = parts(names)
    plain = BoulangerEnv(observation=kind, allow_undo=undo)
    env = MaskInObservation(BoulangerEnv(observation=kind, allow_undo=undo), **names)
    assert env.observation_space == spaces.Dict(
        {key: plain.observation_space, mask_key: mask_space(780 + undo, dtype)}
    )
    ours, theirs = env.reset(seed=1), plain.reset(seed=1)
    random = Random(2)
    for _ in range(40):
        observation, info = ours[0], ours[-1]
        assert env.observation_space.contains(observation)
        assert list(observation) == [key, mask_key]
        assert exact(observation[key]) == exact(theirs[0])
        assert exact(info) == exact(theirs[-1])
        mask = observation[mask_key]
        assert mask.dtype == dtype
        assert (mask == info["action_mask"]).all()
        assert (mask == env.action_masks()).all()
        assert not np.shares_memory(mask, info["action_mask"])
        action = random.choice(legal_actions(info))
        ours, theirs = env.step(action), plain.step(action)
        assert ours[1:4] == theirs[1:4]
        if ours[2]:
            ours, theirs = env.reset(), plain.reset()


@pytest.mark.parametrize("names", NAMES, ids=str)
def test_specs_keep_names_and_dtype(names: dict[str, Any]) -> None:
    env = MaskInObservation(gym.make("Boulanger-C4-v0"), **names)
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.observation_space == env.observation_space
    assert exact(again.reset(seed=3)) == exact(env.reset(seed=3))


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_checkers_accept_bool_masks() -> None:
    check_env(MaskInObservation(BoulangerEnv(), dtype=bool), skip_render_check=True)


def test_over_float_bits() -> None:
    env = MaskInObservation(DtypeObservation(gym.make("Boulanger-C4-v0"), np.float32), "observations")
    observation, _ = env.reset(seed=1)
    assert observation["observations"].dtype == np.float32
    assert env.observation_space.contains(observation)


# -- a batch ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["features", "cards"])
@pytest.mark.parametrize("names", NAMES, ids=str)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_of_a_batch(mode: AutoresetMode, names: dict[str, Any], kind: str) -> None:
    key, mask_key, dtype = parts(names)
    keywords: dict[str, Any] = {"observation": kind, "max_episode_steps": 12, "autoreset_mode": mode}
    plain = BoulangerVectorEnv(N, **keywords)
    envs = vector.MaskInObservation(BoulangerVectorEnv(N, **keywords), **names)
    assert envs.single_observation_space == spaces.Dict(
        {key: plain.single_observation_space, mask_key: mask_space(780, dtype)}
    )
    assert envs.autoreset_mode == envs.metadata["autoreset_mode"] == mode
    player = Player(str(mode), N, 780)
    ours: tuple[Any, ...] = envs.reset(seed=5)
    theirs: tuple[Any, ...] = plain.reset(seed=5)
    ends = 0
    for _ in range(40):
        observations, infos = ours[0], ours[-1]
        assert envs.observation_space.contains(observations)
        assert exact(observations[key]) == exact(theirs[0])
        masks = observations[mask_key]
        assert masks.dtype == dtype
        assert (masks == theirs[-1]["action_mask"]).all()
        assert (masks == envs.action_masks()).all()
        assert not np.shares_memory(masks, infos["action_mask"])
        for i, last in enumerate(infos.get("final_obs", ())):
            if infos["_final_obs"][i]:
                assert mode is SAME_STEP
                assert envs.single_observation_space.contains(last)
                assert exact(last[key]) == exact(theirs[-1]["final_obs"][i])
                assert (last[mask_key] == theirs[-1]["final_info"]["action_mask"][i]).all()
            else:
                assert last is None
        actions = player.choose(theirs[-1]["action_mask"], {})
        ours, theirs = envs.step(actions), plain.step(actions)
        for mine, other in zip(ours[1:4], theirs[1:4], strict=True):
            assert mine.tolist() == other.tolist()
        over = ours[2] | ours[3]
        ends += int(over.sum())
        if mode is DISABLED and over.any():
            ours = envs.reset(options={"reset_mask": over})
            theirs = plain.reset(options={"reset_mask": over})
    assert ends > 5


def test_as_in_a_batch_of_wrapped_singles() -> None:
    ours = vector.MaskInObservation(gym.make_vec("Boulanger-C4-v0", N), "obs", mask_key="mask", dtype=bool)
    theirs = gym.make_vec(
        "Boulanger-C4-v0",
        N,
        vectorization_mode="sync",
        wrappers=[lambda env: MaskInObservation(env, "obs", mask_key="mask", dtype=bool)],
    )
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is NEXT_STEP
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space
    player = Player("wrapped", N, 780)
    mine: tuple[Any, ...] = ours.reset(seed=2)
    other: tuple[Any, ...] = theirs.reset(seed=2)
    for _ in range(60):
        assert exact(mine[0]) == exact(other[0])
        actions = player.choose(mine[-1]["action_mask"], {})
        mine, other = ours.step(actions), theirs.step(actions)
        assert mine[2].tolist() == other[2].tolist()


# -- refusals ---------------------------------------------------------------------------------------------------

BAD = [
    ({"key": ""}, "key='' must be a name"),
    ({"key": 1}, "key=1 must be a name"),
    ({"mask_key": None}, "mask_key=None must be a name"),
    ({"key": "mask", "mask_key": "mask"}, "both 'mask'"),
    ({"key": "action_mask"}, "both 'action_mask'"),
    ({"dtype": "float32"}, "dtype='float32' is unknown: choose one of 'int8', 'bool'"),
    ({"dtype": np.uint8}, "uint8.* is unknown"),
    ({"dtype": None}, "dtype=None is unknown"),
    ({"dtype": "mask"}, "dtype='mask' is unknown"),
    ({"dtype": [1]}, "is unknown"),
]


@pytest.mark.parametrize(("names", "message"), BAD, ids=lambda value: str(value))
def test_bad_names_and_dtypes(names: dict[str, Any], message: str) -> None:
    with pytest.raises(BoulangerError, match=message):
        MaskInObservation(BoulangerEnv(), **names)
    with pytest.raises(BoulangerError, match=message):
        vector.MaskInObservation(BoulangerVectorEnv(2), **names)


def test_other_environments() -> None:
    with pytest.raises(BoulangerError, match="MaskInObservation wraps a Boulanger environment"):
        MaskInObservation(gym.make("CartPole-v1"))
    sync = gym.make_vec("Boulanger-C4-v0", 2, vectorization_mode="sync")
    with pytest.raises(BoulangerError, match=r"use boulanger_env\.wrappers\.MaskInObservation"):
        vector.MaskInObservation(sync)


def test_before_the_first_reset() -> None:
    with pytest.raises(ResetNeeded):
        MaskInObservation(BoulangerEnv()).action_masks()
    with pytest.raises(ResetNeeded):
        vector.MaskInObservation(BoulangerVectorEnv(2)).action_masks()


def test_infos_that_are_lists() -> None:
    with pytest.raises(BoulangerError, match="wrap it in DictInfoToList, not the other way round"):
        vector.MaskInObservation(DictInfoToList(BoulangerVectorEnv(2))).reset()
    envs = DictInfoToList(vector.MaskInObservation(BoulangerVectorEnv(2)))
    observations, _ = envs.reset(seed=1)
    assert observations["action_mask"].shape == (2, 780)


@pytest.mark.parametrize("mask", [np.ones(779, np.int8), np.full(780, 2, np.int8)])
def test_a_mask_that_a_wrapper_has_spoilt(mask: Any) -> None:
    class Spoilt(gym.Wrapper[Any, Any, Any, Any]):
        def reset(self, **keywords: Any) -> Any:
            observation, info = super().reset(**keywords)
            return observation, {**info, "action_mask": mask}

    with pytest.raises(BoulangerError, match=r"info\['action_mask'\]"):
        MaskInObservation(Spoilt(BoulangerEnv())).reset()
