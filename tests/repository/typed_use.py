"""What a user writes, for type checkers: test_types.py hands it to mypy and pyright, both as strict as they can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from typing_extensions import assert_type

from boulanger_env import BoulangerEnv, BoulangerVectorEnv, Reward, sample_legal

Bits = NDArray[np.uint8]
Cards = dict[str, NDArray[np.uint8]]


def one_game() -> None:
    env = BoulangerEnv(reward="win", deals="c4-test", no_repeats=True)
    assert_type(env, BoulangerEnv[Bits])
    bits, info = env.reset(seed=7)
    assert_type(bits, Bits)
    assert_type(info, dict[str, Any])
    action = sample_legal(env.action_masks(), np.array([7], np.uint64))
    assert_type(action, int)
    bits, reward, terminated, truncated, info = env.step(action)
    assert_type((bits, reward, terminated, truncated), tuple[Bits, float, bool, bool])
    other = BoulangerEnv(2, observation="cards", actions="taps", illegal_action="raise", reward=Reward(win=1))
    cards, info = other.reset()
    assert_type(cards, Cards)


def a_batch() -> None:
    envs = BoulangerVectorEnv(8, observation="cards", autoreset_mode=AutoresetMode.SAME_STEP, num_threads=2)
    cards, infos = envs.reset(seed=7)
    assert_type(cards, Cards)
    states = np.arange(8, dtype=np.uint64)
    actions = sample_legal(envs.action_masks(), states)
    assert_type(actions, NDArray[np.int64])
    cards, rewards, terminations, truncations, infos = envs.step(actions)
    assert_type(cards, Cards)
    assert_type(rewards, NDArray[np.float64])
    assert_type(terminations | truncations, NDArray[np.bool_])
    assert_type(infos, dict[str, Any])
    masks: np.ndarray[tuple[int, int], np.dtype[np.int8]] = infos["action_mask"]
    envs.step(sample_legal(masks, states))
    assert_type(BoulangerVectorEnv(autoreset_mode="Disabled").reset()[0], Bits)


def either_kind(env: BoulangerEnv, cards: bool) -> None:
    env.reset(options={"game": env.game})
    chosen = BoulangerEnv(observation="cards" if cards else "features")
    assert_type(chosen.reset()[0], Bits | Cards)


def mistakes() -> None:
    """Each comment hides an error; one that hides none is an error itself."""
    BoulangerEnv(reward="wins")  # type: ignore
    BoulangerEnv(observation="pixels")  # type: ignore
    BoulangerEnv(illegal_action="ignore")  # type: ignore
    BoulangerEnv(actions="moves")  # type: ignore
    BoulangerEnv(deal_order="shuffled")  # type: ignore
    BoulangerEnv(render_mode="pygame")  # type: ignore
    BoulangerEnv(autoreset_mode="Disabled")  # type: ignore
    BoulangerEnv(no_repeat=True)  # type: ignore
    BoulangerVectorEnv(2, autoreset_mode="Never")  # type: ignore
    BoulangerVectorEnv(2, observation="pixels")  # type: ignore
    sample_legal([0, 1], np.arange(1))  # type: ignore
