"""Infos have the same keys and types at every step of an episode, whichever environment returns them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import TimeLimit
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
from support.batch_and_singles import DISABLED, MODES, NEXT_STEP, SAME_STEP

from boulanger_env import BoulangerEnv, BoulangerVectorEnv, Game
from boulanger_env.sb3 import BoulangerVecEnv
from boulanger_env.wrappers import MaskInObservation

N = 3
BOARD = str(Game.from_code("MS-C4-5"))
TEXTS = {"code", "outcome"}
KEYS = {"action_mask", "score", "moves", "illegal_action", "is_success"} | TEXTS
EPISODE = {"episode_return", "episode_length"}

Info = dict[str, Any]
Wrap = Callable[[gym.Env[Any, Any]], Any]


def kinds(info: Info) -> dict[str, Any]:
    """What must not change from step to step: the types, and of arrays their dtypes and shapes."""
    return {
        key: (value.dtype, value.shape) if isinstance(value, np.ndarray) else type(value)
        for key, value in info.items()
    }


def choose(rng: np.random.Generator, mask: Any) -> int:
    return int(rng.integers(len(mask)) if rng.random() < 0.1 else rng.choice(np.flatnonzero(mask)))


# -- one game ---------------------------------------------------------------------------------------------------

WRAPS: dict[str, Wrap] = {
    "nothing": lambda env: env,
    "TimeLimit": lambda env: TimeLimit(env, 9),
    "MaskInObservation": MaskInObservation,
}


@pytest.mark.parametrize("array_infos", [False, True], ids=["", "arrays"])
@pytest.mark.parametrize("wrap", WRAPS)
def test_a_single_environment(wrap: str, array_infos: bool) -> None:
    env = WRAPS[wrap](BoulangerEnv(array_infos=array_infos, max_episode_steps=40, illegal_action="terminate"))
    rng = np.random.default_rng(3)
    met: set[str] = set()
    expected: dict[str, Any] = {}
    for episode in range(20):
        options = {"board": BOARD} if episode % 3 == 2 else None
        _, info = env.reset(seed=4 if episode == 0 else None, options=options)
        expected = expected or kinds(info)
        ends = (False, False)
        code = info.get("code")
        while True:
            assert kinds(info) == expected
            over = any(ends)
            if not array_infos:
                assert info["code"] == code
                assert (code == "") == (options is not None)
                assert (info["outcome"] != "") == ends[0]
            assert not info["is_success"]
            if over:
                met.add("truncated" if not ends[0] else info.get("outcome", ""))
                break
            _, _, *ends, info = env.step(choose(rng, info["action_mask"]))
    assert set(expected) == (KEYS - TEXTS if array_infos else KEYS)
    if array_infos:
        mask = expected.pop("action_mask")
        assert mask == (np.dtype(np.int8), (env.action_space.n,))
        assert expected == {
            "score": (np.dtype(np.int64), ()),
            "moves": (np.dtype(np.int64), ()),
            "illegal_action": (np.dtype(np.bool_), ()),
            "is_success": (np.dtype(np.bool_), ()),
        }
    else:
        assert "truncated" in met or "TimeLimit" not in wrap
        assert len(met) > 1 or "TimeLimit" in wrap


def test_wins_are_reported_on_the_last_step_alone() -> None:
    for array_infos in (False, True):
        env = BoulangerEnv(array_infos=array_infos)
        board = Game.from_text("Foundations: H-K C-K D-K S-J\nQS\nKS\n:\n:\n:\n:\n:\n:\n", 4)
        _, info = env.reset(options={"game": board})
        reported = [bool(info["is_success"])]
        for source in (0, 1):
            *_, info = env.step(736 + source)
            reported.append(bool(info["is_success"]))
        assert reported == [False, False, True]
        assert info.get("outcome") == (None if array_infos else "won")


# -- many games -------------------------------------------------------------------------------------------------


def batch_of(how: str, array_infos: bool, mode: AutoresetMode) -> Any:
    keywords: dict[str, Any] = {"array_infos": array_infos, "max_episode_steps": 12, "observation": "cards"}
    if how == "native":
        return BoulangerVectorEnv(N, autoreset_mode=mode, **keywords)
    return gym.make_vec(
        "Boulanger-C4-v0", N, vectorization_mode=how, vector_kwargs={"autoreset_mode": mode}, **keywords
    )


@pytest.mark.parametrize("array_infos", [False, True], ids=["", "arrays"])
@pytest.mark.parametrize(
    ("how", "mode"),
    # Gymnasium merges the infos of "async" like those of "sync".
    [*((how, mode) for how in ("native", "sync") for mode in MODES), ("async", NEXT_STEP)],
    ids=str,
)
def test_a_batch(how: str, mode: AutoresetMode, array_infos: bool) -> None:
    envs = batch_of(how, array_infos, mode)
    rng = np.random.default_rng(5)
    _, infos = envs.reset(seed=6)
    keys = (KEYS - TEXTS if array_infos else KEYS) | (EPISODE if how == "native" else set())
    expected, last_expected = kinds(infos), None
    assert set(infos) == keys | {f"_{key}" for key in keys}
    assert not array_infos or all(array.dtype != object for array in infos.values())
    ends = 0
    for _ in range(60):
        actions = np.array([choose(rng, mask) for mask in infos["action_mask"]])
        _, _, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        ends += int(over.sum())
        last = infos
        finals = {key: infos.pop(key) for key in list(infos) if key.lstrip("_").startswith("final_")}
        # As Gymnasium has it, these are there when an episode ended, and at no other time.
        assert bool(finals) is (mode is SAME_STEP and bool(over.any()))
        if finals:
            last = finals["final_info"]
            last_expected = last_expected or kinds(last)
            assert kinds(last) == last_expected
            assert set(last) == set(expected)
            assert last["_score"].tolist() == over.tolist()
        assert kinds(infos) == expected
        assert all(infos[f"_{key}"].all() for key in keys)
        if how == "native":
            assert (last["episode_length"] > 0).tolist() == over.tolist()
            playing = infos if mode is SAME_STEP else {key: infos[key][~over] for key in EPISODE}
            assert not any(np.any(playing[key]) for key in EPISODE)
        if not array_infos:
            assert [bool(text) for text in last["outcome"] if text is not None] == [
                bool(end) for end, text in zip(terminated, last["outcome"], strict=True) if text is not None
            ]
        if mode is DISABLED and over.any():
            _, infos = envs.reset(options={"reset_mask": over})
            if how != "native":  # theirs cover only the games that were reset
                infos["action_mask"] = np.stack([env.action_masks() for env in unwrapped(envs)])
    assert ends > 5
    envs.close()


def unwrapped(envs: Any) -> list[BoulangerEnv]:
    return [env.unwrapped for env in envs.envs]


def test_a_partial_reset_reports_the_others_state() -> None:
    batch = BoulangerVectorEnv(2, max_episode_steps=2, autoreset_mode=DISABLED, illegal_action="terminate")
    _, infos = batch.reset(seed=1)
    codes = infos["code"].tolist()
    batch.step([728, 728])
    _, _, terminated, truncated, infos = batch.step([0, 729])
    assert (terminated.tolist(), truncated.tolist()) == ([True, False], [False, True])
    _, infos = batch.reset(options={"reset_mask": np.array([False, True])})
    assert infos["code"][0] == codes[0]
    assert infos["code"][1] != codes[1]
    assert infos["outcome"].tolist() == ["illegal", ""]
    assert infos["episode_length"].tolist() == [2, 0]
    assert infos["episode_return"].tolist() == [-1, 0]
    assert all(infos[key].all() for key in infos if key.startswith("_"))


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_games_given_as_codes_keep_them_and_the_next_have_their_own(mode: AutoresetMode) -> None:
    batch = BoulangerVectorEnv(2, max_episode_steps=1, autoreset_mode=mode)
    codes = ["MS-C4-7", "MS-C2-8"]
    _, infos = batch.reset(seed=1, options={"codes": codes})
    assert infos["code"].tolist() == codes
    _, _, _, _, infos = batch.step([728, 728])
    assert infos.get("final_info", infos)["code"].tolist() == codes
    if mode is not SAME_STEP:
        _, infos = batch.reset() if mode is DISABLED else (None, batch.step([0, 0])[4])
    assert [code[:6] for code in infos["code"].tolist()] == ["BK1-C4"] * 2
    assert [batch.game(i).code for i in range(2)] == infos["code"].tolist()


# -- Stable-Baselines3 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("array_infos", [False, True], ids=["", "arrays"])
@pytest.mark.parametrize("how", ["BoulangerVecEnv", "DummyVecEnv"])
def test_in_stable_baselines3(how: str, array_infos: bool) -> None:
    keywords: dict[str, Any] = {"max_episode_steps": 12, "observation": "cards", "array_infos": array_infos}
    env: VecEnv = (
        BoulangerVecEnv(N, **keywords)
        if how == "BoulangerVecEnv"
        else DummyVecEnv([lambda: Monitor(BoulangerEnv(**keywords))] * N)
    )
    env.seed(8)
    env.reset()
    keys = (KEYS - TEXTS if array_infos else KEYS) - ({"action_mask"} if how == "BoulangerVecEnv" else set())
    expected = kinds(env.reset_infos[0])
    assert set(expected) == keys
    rng = np.random.default_rng(8)
    ends = 0
    for _ in range(60):
        masks = env.env_method("action_masks")
        _, _, dones, infos = env.step(np.array([choose(rng, mask) for mask in masks]))
        for info, done in zip(infos, dones.tolist(), strict=True):
            # Stable-Baselines3's own keys for the last step.
            assert {"terminal_observation", "episode"} <= set(info) if done else True
            ours = {key: value for key, value in info.items() if key in keys}
            assert set(info) - keys <= {"TimeLimit.truncated", "terminal_observation", "episode"}
            assert type(info["TimeLimit.truncated"]) is bool
            assert kinds(ours) == expected
            assert array_infos or bool(info["outcome"]) is (done and not info["TimeLimit.truncated"])
            ends += int(done)
        assert all(kinds(info) == expected for info in env.reset_infos)
    assert ends > 5
