"""Gymnasium's wrappers for vector environments give the same over our batch as over Gymnasium's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import vector as wrappers
from support.batch_and_singles import DISABLED, EPISODE_KEYS, MODES, NEXT_STEP, SAME_STEP, Player

from boulanger_env import BoulangerVectorEnv

N = 3
BITS = spaces.Box(0, 2, (2076,), np.uint8)

Wrap = Callable[[VectorEnv[Any, Any, Any]], VectorEnv[Any, Any, Any]]

# Each with the kind of observation it takes.
WRAPPERS: dict[str, tuple[str, Wrap]] = {
    "RecordEpisodeStatistics": ("cards", wrappers.RecordEpisodeStatistics),
    "NormalizeReward": ("cards", wrappers.NormalizeReward),
    "ClipReward": ("cards", lambda env: wrappers.ClipReward(env, -0.5, 6)),
    "TransformReward": ("features", lambda env: wrappers.TransformReward(env, lambda reward: 2 * reward + 1)),
    "NormalizeObservation": ("features", wrappers.NormalizeObservation),
    "TransformObservation": (
        "features",
        lambda env: wrappers.TransformObservation(
            env, lambda observation: observation * np.uint8(2), single_observation_space=BITS
        ),
    ),
    "VectorizeTransformObservation": (
        "features",
        lambda env: wrappers.VectorizeTransformObservation(
            env,
            gym.wrappers.TransformObservation,
            func=lambda bits: bits * np.uint8(2),
            observation_space=BITS,
        ),
    ),
    "FlattenObservation": ("cards", wrappers.FlattenObservation),
    "FilterObservation": ("cards", lambda env: wrappers.FilterObservation(env, ["tableau", "cells"])),
    "DtypeObservation": ("features", lambda env: wrappers.DtypeObservation(env, np.float32)),
    "ReshapeObservation": ("features", lambda env: wrappers.ReshapeObservation(env, (12, 173))),
    "DictInfoToList": ("cards", wrappers.DictInfoToList),
    "several": (
        "cards",
        lambda env: wrappers.DictInfoToList(
            wrappers.NormalizeReward(wrappers.ClipReward(wrappers.RecordEpisodeStatistics(env), 0, 7))
        ),
    ),
}


def wrapped(name: str, mode: AutoresetMode) -> tuple[VectorEnv[Any, Any, Any], VectorEnv[Any, Any, Any]]:
    """The wrapper over our batch and over Gymnasium's."""
    observation, wrap = WRAPPERS[name]
    batch = gym.make_vec("Boulanger-C2-v0", N, observation=observation, autoreset_mode=mode)
    sync = gym.make_vec(
        "Boulanger-C2-v0",
        N,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        observation=observation,
    )
    return wrap(batch), wrap(sync)


def plain(value: Any) -> Any:
    """Without what is ours alone, without measured times, and with NumPy's scalars as Python's."""
    if isinstance(value, dict):
        drop = {"t", *EPISODE_KEYS}
        return {
            key: plain(entry) for key, entry in sorted(value.items()) if key.removeprefix("_") not in drop
        }
    if isinstance(value, (tuple, list)):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape, value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def blank(infos: Any) -> Any:
    """Infos in which the entries that do not count are all the same."""
    if not isinstance(infos, dict):
        return infos
    return {
        key: blank(values)
        if isinstance(values, dict) or f"_{key}" not in infos
        else [entry if counts else None for entry, counts in zip(values, infos[f"_{key}"], strict=True)]
        for key, values in infos.items()
    }


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP], ids=lambda mode: mode.name)
@pytest.mark.parametrize("name", WRAPPERS)
def test_as_over_gymnasiums_own_batch(name: str, mode: AutoresetMode) -> None:
    if name.endswith("Observation") and mode is SAME_STEP:
        # Gymnasium's observation wrappers reject it, whatever they wrap.
        with pytest.raises((AssertionError, ValueError)):
            wrapped(name, mode)
        return
    ours, theirs = wrapped(name, mode)
    assert ours.observation_space == theirs.observation_space
    player = Player(name, N, 780, illegal=0.05)
    results: tuple[Any, ...] = ours.reset(seed=8)
    expected: tuple[Any, ...] = theirs.reset(seed=8)
    ends = 0
    for step in range(50):
        assert plain(results[:-1]) == plain(expected[:-1]), step
        assert plain(blank(results[-1])) == plain(blank(expected[-1])), step
        # Some releases forget to change a wrapper's space.
        assert ours.observation_space.contains(results[0]) == theirs.observation_space.contains(
            expected[0]
        ), step
        actions = player.choose(ours.unwrapped.action_masks(), {})
        results, expected = ours.step(actions), theirs.step(actions)
        ends += int((results[2] | results[3]).sum())
    assert ends > 3
    ours.close()
    theirs.close()


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_recorded_statistics_are_the_batchs_own(mode: AutoresetMode) -> None:
    if mode is SAME_STEP and tuple(map(int, gym.__version__.split(".")[:2])) < (1, 4):
        pytest.skip("in earlier releases the wrapper itself counts one step too few")
    batch = wrappers.RecordEpisodeStatistics(BoulangerVectorEnv(N, autoreset_mode=mode, observation="cards"))
    player = Player(mode, N, 780)
    _, infos = batch.reset(seed=2)
    ends = 0
    for _ in range(80):
        _, _, terminations, truncations, infos = batch.step(player.choose(infos["action_mask"], {}))
        over = terminations | truncations
        assert ("episode" in infos) == over.any()
        if over.any():
            last = infos["final_info"] if mode is SAME_STEP else infos
            assert infos["_episode"].tolist() == over.tolist()
            assert infos["episode"]["r"][over].tolist() == last["episode_return"][over].tolist()
            assert infos["episode"]["l"][over].tolist() == last["episode_length"][over].tolist()
            ends += int(over.sum())
            if mode is DISABLED:
                # The wrapper takes reset_mask out of the dict itself, which it must find there.
                _, infos = batch.reset(options={"reset_mask": over})
    assert ends == batch.episode_count > 5


@pytest.mark.parametrize("how", ["vector_entry_point", "sync"])
def test_as_tensors(how: str) -> None:
    torch = pytest.importorskip("torch")
    envs = gym.make_vec(
        "Boulanger-C4-v0",
        N,
        vectorization_mode=how,
        observation="cards",
        array_infos=True,
        max_episode_steps=2,
    )
    batch = wrappers.NumpyToTorch(envs)
    observations, infos = batch.reset(seed=1)
    assert observations["tableau"].shape == (N, 8, 19)
    assert infos["action_mask"].dtype == torch.int8
    for step in (1, 2):
        observations, rewards, terminations, truncations, infos = batch.step(torch.full((N,), 727 + step))
        assert rewards.tolist() == [0.0] * N
        assert terminations.dtype == torch.bool
        assert truncations.tolist() == [step == 2] * N
        assert infos["moves"].tolist() == [step] * N
        assert infos["is_success"].dtype == infos["_is_success"].dtype == torch.bool


def test_texts_cannot_be_tensors() -> None:
    pytest.importorskip("torch")
    with pytest.raises((BufferError, TypeError)):
        wrappers.NumpyToTorch(BoulangerVectorEnv(N)).reset(seed=1)
