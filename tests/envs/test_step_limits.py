"""A step limit means the same wherever it is given: to ``make``, to ``make_vec`` in every mode, directly, in SB3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import TimeAwareObservation
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv
from support.batch_and_singles import MODES
from support.paths import ROOT

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv
from boulanger_env.envs.settings import DEFAULT_LIMIT
from boulanger_env.sb3 import BoulangerVecEnv

ID = "Boulanger-C4-v0"
NOTHING = 779  # no card in the last cell: illegal, and no change

Make = Callable[..., Any]

WAYS: dict[str, Make] = {
    "make": lambda **k: gym.make(ID, **k),
    "make without checks": lambda **k: gym.make(ID, disable_env_checker=True, **k),
    "direct": BoulangerEnv,
    "make_vec": lambda **k: gym.make_vec(ID, 2, **k),
    "make_vec, native": lambda **k: gym.make_vec(ID, 2, vectorization_mode="vector_entry_point", **k),
    "make_vec, sync": lambda **k: gym.make_vec(ID, 2, vectorization_mode="sync", **k),
    "make_vec, async": lambda **k: gym.make_vec(ID, 2, vectorization_mode="async", **k),
    "batch": lambda **k: BoulangerVectorEnv(2, **k),
    "make_vec_env": lambda **k: make_vec_env(ID, 2, env_kwargs=k),
    "make_vec_env of the class": lambda **k: make_vec_env(BoulangerEnv, 2, env_kwargs=k),
    "VecEnv": lambda **k: BoulangerVecEnv(2, **k),
}


def steps_to_truncation(env: Any, most: int) -> int | None:
    """After how many steps the first episode is truncated; None if it is not after ``most``."""
    if isinstance(env, VecEnv):
        env.reset()
    else:
        env.reset(seed=3)
    actions = NOTHING if isinstance(env, gym.Env) else np.full(2, NOTHING)
    for step in range(1, most + 1):
        results = env.step(actions)
        if isinstance(env, VecEnv):
            truncated = [info["TimeLimit.truncated"] for info in results[3]]
            assert results[2].tolist() == truncated
        else:
            truncated = np.atleast_1d(results[3]).tolist()
            assert not np.any(results[2])
        if any(truncated):
            assert all(truncated)
            return step
    return None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({}, 500),
        ({"max_episode_steps": None}, 500),
        ({"max_episode_steps": 1}, 1),
        ({"max_episode_steps": 7}, 7),
        ({"max_episode_steps": 503}, 503),
        ({"max_episode_steps": -1}, None),
    ],
    ids=str,
)
def test_everybody_truncates_at_the_number_given(
    way: str, keywords: dict[str, Any], expected: int | None
) -> None:
    env = WAYS[way](observation="cards", **keywords)
    assert steps_to_truncation(env, 510) == expected
    env.close()


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_the_batch_in_every_mode(mode: AutoresetMode) -> None:
    for limit in (3, 501):
        batch = BoulangerVectorEnv(2, observation="cards", max_episode_steps=limit, autoreset_mode=mode)
        assert steps_to_truncation(batch, limit) == limit


def test_the_largest_limit_is_the_same_everywhere() -> None:
    most = 2**63 - 1
    for env in (
        BoulangerEnv(max_episode_steps=most),
        BoulangerVectorEnv(2, max_episode_steps=np.int64(most)),
    ):
        assert steps_to_truncation(env, 3) is None
    for make in (BoulangerEnv, BoulangerVectorEnv, BoulangerVecEnv):
        with pytest.raises(
            BoulangerError, match=r"max_episode_steps=9223372036854775808 must be .* -1 for no"
        ):
            make(max_episode_steps=2**63)


# -- specs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, 9, 2000])
def test_specs_name_the_limit_and_build_it_again(given: int | None) -> None:
    limit = given or 500
    env = gym.make(ID, max_episode_steps=given)
    assert env.spec is not None
    assert env.spec.max_episode_steps == limit
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert steps_to_truncation(again, 2001) == limit
    keywords = {} if given is None else {"max_episode_steps": given}
    for mode in ("vector_entry_point", "sync"):
        batch = gym.make_vec(ID, 2, vectorization_mode=mode, observation="cards", **keywords)
        assert batch.spec is not None
        if mode != "sync":  # Gymnasium's own batch keeps the registered number
            assert batch.spec.max_episode_steps == limit
        assert steps_to_truncation(gym.make_vec(batch.spec), 2001) == limit


def test_no_limit_in_specs() -> None:
    env, batch = gym.make(ID, max_episode_steps=-1), gym.make_vec(ID, 2, max_episode_steps=-1)
    assert env.spec is not None
    assert batch.spec is not None
    assert env.spec.max_episode_steps is batch.spec.max_episode_steps is None
    assert steps_to_truncation(gym.make_vec(batch.spec), 505) is None
    assert BoulangerVectorEnv(2).spec is None


def test_wrappers_that_ask_for_the_limit() -> None:
    env = TimeAwareObservation(gym.make(ID, max_episode_steps=4), flatten=False, normalize_time=True)
    env.reset(seed=0)
    times = [float(env.step(NOTHING)[0]["time"][0]) for _ in range(4)]
    assert times == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("mode", ["rgb_array", "rgb_array_list", "ansi"])
def test_render_modes_are_found_before_the_environment_is_made(mode: str) -> None:
    # Gymnasium asks whatever it calls to make the environment for its metadata.
    env = gym.make(ID, render_mode=mode, render_size=(320, 240))
    env.reset(seed=0)
    env.step(728)
    frame = env.render()
    assert len(frame) == 2 if mode == "rgb_array_list" else frame is not None


def test_masks_after_a_limit_outside_are_the_positions_own() -> None:
    env = gym.make(ID, max_episode_steps=2)
    _, before = env.reset(seed=1)
    assert env.step(NOTHING)[3] is False
    _, _, terminated, truncated, info = env.step(NOTHING)
    assert (terminated, truncated) == (False, True)
    assert info["action_mask"].tolist() == before["action_mask"].tolist()


def test_texts_name_the_default_limit() -> None:
    assert f"| `max_episode_steps` | {DEFAULT_LIMIT} |" in str(BoulangerEnv.__doc__)
    bench = (ROOT / "boulanger_env" / "cli" / "bench.py").read_text(encoding="utf-8")
    assert f"the limit that the model was saved with, else {DEFAULT_LIMIT}]" in bench
    assert gym.spec(ID).max_episode_steps == DEFAULT_LIMIT
