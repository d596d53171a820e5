"""Rewards against an independent sum of what happened."""

from __future__ import annotations

from dataclasses import fields
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from oracle import ID, REWARDS, UNDO, Oracle
from support.paths import ROOT
from support.random_games import peer_games, random_code, random_move

from boulanger_env import BoulangerEnv, BoulangerError, Reward
from boulanger_env.envs import REWARDS as PRESETS

# No two sums of a few of these are equal, so a reward shows what was counted.
WEIGHTS = {
    "foundation": 1.0,
    "from_cell": 16.0,
    "win": 256.0,
    "step": 4096.0,
    "illegal": 65536.0,
    "stuck": 1048576.0,
}


@pytest.mark.parametrize("name", ["score", "win", "foundation"])
def test_presets_are_those_of_the_interface(name: str) -> None:
    preset = PRESETS[name]
    assert {key: getattr(preset, key) for key in REWARDS[name]} == REWARDS[name]
    assert set(PRESETS) == set(REWARDS)


def test_reward_defaults_are_the_score() -> None:
    assert (
        Reward() == PRESETS["score"] == Reward(foundation=10, from_cell=5, win=0, step=0, illegal=-1, stuck=0)
    )


@pytest.mark.parametrize(
    ("given", "worth"),
    [
        ("score", REWARDS["score"]),
        ("win", REWARDS["win"]),
        ("foundation", REWARDS["foundation"]),
        (WEIGHTS, WEIGHTS),
        (Reward(**WEIGHTS), WEIGHTS),
        ({"win": 7}, {**REWARDS["score"], "win": 7}),
    ],
    ids=["score", "win", "foundation", "dict", "Reward", "one key"],
)
@pytest.mark.parametrize("illegal_action", ["penalize", "terminate"])
def test_every_reward_is_the_sum_of_its_events(
    given: Any, worth: dict[str, float], illegal_action: str
) -> None:
    random = Random(f"{given} {illegal_action}")
    env = BoulangerEnv(reward=given, allow_undo=True, illegal_action=illegal_action, max_episode_steps=300)
    outcomes: dict[str, int] = {}
    for episode in range(40):
        solved = peer_games()[episode] if episode < 15 else None
        code = solved["code"] if solved else random_code(random, "BK1", random.choice([4, 2, 1]))
        env.reset(options={"code": code})
        oracle = Oracle.from_code(code)
        line = [ID[tuple(move)] for move in solved["moves"]] if solved else []
        over = False
        while not over:
            if solved:
                # The solution, with a detour taken back or a slip now and then.
                chance = random.random()
                if oracle.past and ID[oracle.past[-1][-1]] != line[oracle.moves - 1]:
                    action = UNDO
                elif chance < 0.1:
                    action = ID[random.choice(oracle.legal())]
                elif chance < 0.15 and illegal_action == "penalize":
                    action = random.randrange(780)
                else:
                    action = line[oracle.moves]
            else:
                action = ID[random_move(random, oracle.legal(), 0.5)]
                if random.random() < 0.2:
                    action = UNDO
                if random.random() < 0.03:
                    action = random.randrange(780)
            _, reward, terminated, truncated, info = env.step(action)
            expected, illegal = oracle.act(action, worth)
            assert reward == expected
            assert type(reward) is float
            assert info["illegal_action"] is illegal
            over = terminated or truncated
        outcomes[info["outcome"]] = outcomes.get(info["outcome"], 0) + 1
    assert outcomes["won"] >= 10
    assert sum(outcomes.values()) - outcomes["won"] >= 10
    assert illegal_action == "penalize" or outcomes["illegal"] > 0


def test_the_return_under_score_is_the_score() -> None:
    env = gym.make("Boulanger-C4-v0", reward="score", allow_undo=True)
    random = Random(8)
    for episode in range(30):
        _, info = env.reset(seed=episode)
        total, over = 0.0, False
        while not over:
            mask = info["action_mask"].copy()
            mask[UNDO] = mask[UNDO] and random.random() < 0.3
            _, reward, terminated, truncated, info = env.step(random.choice(np.flatnonzero(mask).tolist()))
            total += reward
            over = terminated or truncated
        assert total == info["score"]


def test_farming_the_cell_pays_until_the_limit() -> None:
    # What the documentation warns about: a card to a cell and back onto its parent, forever.
    env = BoulangerEnv(max_episode_steps=10)
    env.reset(
        options={
            "board": "6H 5H\n: 4H AH\n: 3H 2H\n: KH QH JH TH 9H 8H 7H\n: KS QS JS TS 9S 8S 7S 6S 5S 4S\n"
            ": 3S 2S AS KD QD JD TD 9D 8D 7D 6D 5D\n: 4D 3D 2D AD KC QC JC TC 9C 8C 7C 6C\n"
            ": 5C 4C 3C 2C AC"
        }
    )
    rewards = [env.step(action)[1] for action in [728, 744] * 5]
    assert rewards == [0.0, 5.0] * 5


def test_every_event_and_preset_has_a_value_and_a_description() -> None:
    for name, preset in PRESETS.items():
        assert np.isfinite(preset.table()).all()
        assert f'`"{name}"`' in str(BoulangerEnv.__doc__)
    page = (ROOT / "docs" / "rewards.md").read_text(encoding="utf-8")
    for event in fields(Reward):
        assert f"`{event.name}`" in str(BoulangerEnv.__doc__)
        assert f"| `{event.name}` |" in page


@pytest.mark.parametrize(
    ("reward", "words"),
    [
        ("points", "points"),
        ({"wins": 1}, "'wins'"),
        ({"win": "much"}, "win='much'"),
        ({"win": float("nan")}, "win=nan"),
        ({"step": float("inf")}, "step=inf"),
        ({"step": None}, "step=None"),
        (3, "3 is neither"),
        (None, "None is neither"),
    ],
    ids=str,
)
def test_bad_rewards(reward: Any, words: str) -> None:
    with pytest.raises(BoulangerError, match=words):
        BoulangerEnv(reward=reward)
