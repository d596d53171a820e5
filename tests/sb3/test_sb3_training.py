"""``BoulangerVecEnv`` with what users of Stable-Baselines3 put around it: wrappers, MaskablePPO, evaluation."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize
from support.batch_and_singles import Player, assert_same_observation, row_of
from support.sb3_environments import N, assert_same_info, dummy

from boulanger_env.sb3 import BoulangerVecEnv

TINY: dict[str, Any] = {
    "n_steps": 16,
    "batch_size": 24,
    "n_epochs": 1,
    "policy_kwargs": {"net_arch": [8]},
    "seed": 0,
    "device": "cpu",
}


pytestmark = pytest.mark.usefixtures("one_thread")


def test_under_vec_monitor(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        env = VecMonitor(
            BoulangerVecEnv(N, 1), str(tmp_path / "log"), info_keywords=("outcome", "is_success", "code")
        )
    player = Player(1, N, 780, illegal=0)
    env.seed(2)
    env.reset()
    ends = 0
    for _ in range(40):
        _, _, dones, infos = env.step(player.choose(env.env_method("action_masks"), {}))
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["l"] > 0
            assert infos[i]["episode"]["outcome"] == "stuck"
            ends += 1
    env.close()
    lines = (tmp_path / "log.monitor.csv").read_text().splitlines()
    assert lines[1] == "r,l,t,outcome,is_success,code"
    assert len(lines) == ends + 2 > 5


@pytest.mark.parametrize("observation", ["features", "cards"])
def test_under_vec_normalize(observation: str) -> None:
    options: dict[str, Any] = {"norm_obs_keys": ["tableau"]} if observation == "cards" else {}
    pair = [
        VecNormalize(make(observation=observation, max_episode_steps=9), **options)
        for make in (lambda **keywords: BoulangerVecEnv(N, **keywords), dummy)
    ]
    player = Player(1, N, 780)
    for env in pair:
        env.seed(2)
    assert_same_observation(pair[0].reset(), pair[1].reset())
    for _ in range(30):
        actions = player.choose(pair[0].env_method("action_masks"), {})
        ours, theirs = (env.step(actions) for env in pair)
        assert_same_observation(ours[0], theirs[0])
        assert ours[1].tolist() == theirs[1].tolist()
        for info, expected in zip(ours[3], theirs[3], strict=True):
            assert_same_info(info, expected)
    for i in range(N):
        assert_same_observation(row_of(pair[0].get_original_obs(), i), row_of(pair[1].get_original_obs(), i))


@pytest.mark.parametrize(
    ("observation", "policy"), [("features", "MlpPolicy"), ("cards", "MultiInputPolicy")]
)
def test_maskable_ppo_learns_the_same_as_on_dummy_vec_env(
    observation: str, policy: str, tmp_path: Path
) -> None:
    weights = []
    for make in (lambda **keywords: BoulangerVecEnv(N, **keywords), dummy):
        env = make(observation=observation, max_episode_steps=12)
        model = MaskablePPO(policy, env, **TINY)
        model.learn(2 * 16 * N)
        weights.append([p.detach().numpy().copy() for p in model.policy.parameters()])
        assert len(model.ep_info_buffer) > 3
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(*weights, strict=True))
    # Saved and loaded, with our environment and without one.
    model.save(tmp_path / "model")
    env = BoulangerVecEnv(2, observation=observation)
    loaded = MaskablePPO.load(
        tmp_path / "model", env=BoulangerVecEnv(N, observation=observation), device="cpu"
    )
    loaded.learn(16 * N)
    again = MaskablePPO.load(tmp_path / "model", device="cpu")
    observations = env.reset()
    for _ in range(10):
        masks = get_action_masks(env)
        actions, _ = again.predict(observations, action_masks=masks, deterministic=True)
        assert masks[np.arange(2), actions].all()
        observations, _, _, infos = env.step(actions)
        assert not any(info["illegal_action"] for info in infos)


def test_evaluation_callback(tmp_path: Path) -> None:
    env = VecNormalize(BoulangerVecEnv(N, 1), norm_obs=False)
    eval_env = VecNormalize(BoulangerVecEnv(2, 1), norm_obs=False, training=False)
    callback = MaskableEvalCallback(
        eval_env, n_eval_episodes=4, eval_freq=16, log_path=str(tmp_path), verbose=0
    )
    model = MaskablePPO("MlpPolicy", env, **TINY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn(2 * 16 * N, callback=callback)
    found = np.load(tmp_path / "evaluations.npz")
    assert found["results"].shape == found["ep_lengths"].shape == found["successes"].shape == (2, 4)
    assert not found["successes"].any()
    # Whole points: the episodes' own returns, not what VecNormalize makes of the rewards.
    assert (found["results"] % 5 == 0).all()


def test_evaluate_policy_gives_what_it_gives_on_dummy_vec_env() -> None:
    model = MaskablePPO("MlpPolicy", BoulangerVecEnv(N), **TINY)
    results = []
    for env in (BoulangerVecEnv(N, max_episode_steps=20), dummy(max_episode_steps=20)):
        env.seed(4)
        results.append(evaluate_policy(model, env, n_eval_episodes=7, return_episode_rewards=True))
    assert results[0] == results[1]
