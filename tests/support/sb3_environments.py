"""Stable-Baselines3's own vector environment around ours, and what its infos are compared by."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from boulanger_env import BoulangerEnv
from support.batch_and_singles import assert_same_observation

N = 3


def dummy(n: int = N, **keywords: Any) -> DummyVecEnv:
    return DummyVecEnv([lambda: Monitor(BoulangerEnv(**keywords))] * n)


def assert_same_info(info: dict[str, Any], expected: dict[str, Any]) -> None:
    assert set(info) == set(expected) - {"action_mask"}
    for key, value in info.items():
        if key == "terminal_observation":
            assert_same_observation(value, expected[key])
        elif key == "episode":
            assert set(value) == {"r", "l", "t"}
            assert (value["r"], value["l"]) == (expected[key]["r"], expected[key]["l"])
            assert value["t"] >= 0
        else:
            assert value == expected[key], key
        if key != "terminal_observation":
            assert type(value) is type(expected[key]), key
