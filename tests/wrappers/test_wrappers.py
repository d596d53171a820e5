"""What all wrappers share: masks through every stack, checkers, specs, copies, refusals."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.monitor import Monitor
from support.env_and_oracle import exact, legal_actions, masks_agree

from boulanger_env import BoulangerError, IllegalMoveError
from boulanger_env.wrappers import MaskInObservation

ALL = [MaskInObservation]
Wrap = Callable[[gym.Env[Any, Any]], gym.Env[Any, Any]]


# -- stacks -----------------------------------------------------------------------------------------------------

STACKS: list[list[Wrap]] = [
    [MaskInObservation],
    [Monitor, MaskInObservation, Monitor],
    [lambda env: TimeLimit(env, 15), MaskInObservation],
    [
        lambda env: RecordEpisodeStatistics(env, stats_key="inner"),
        MaskInObservation,
        RecordEpisodeStatistics,
    ],
]


def build(stack: Sequence[Wrap], **options: Any) -> Any:
    env: Any = gym.make("Boulanger-C4-v0", **options)
    for wrap in stack:
        env = wrap(env)
    return env


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"allow_undo": True, "prune": True},
        {"observation": "cards", "actions": "cards", "auto_foundation": True},
        {"actions": "taps", "no_repeats": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("stack", STACKS)
def test_masked_play_through_a_stack(stack: list[Wrap], options: dict[str, Any]) -> None:
    env = build(stack, **options)
    random = Random(1)
    seen, info = env.reset(seed=3)
    ended = 0
    for _ in range(250):
        assert env.observation_space.contains(seen)
        assert masks_agree(env, info)
        if MaskInObservation in stack:
            assert seen["action_mask"].tolist() == info["action_mask"].tolist()
        action = random.choice(legal_actions(info))
        seen, reward, terminated, truncated, info = env.step(action)
        assert type(reward) is float
        assert not info["illegal_action"]
        if terminated or truncated:
            ended += 1
            assert masks_agree(env, info)
            assert info["action_mask"].all() == terminated
            assert env.observation_space.contains(seen)
            seen, info = env.reset()
    assert ended


@pytest.mark.parametrize("options", [{}, {"observation": "cards", "allow_undo": True}], ids=str)
@pytest.mark.parametrize("wrapper", ALL)
def test_checkers_have_nothing_to_say_of_wrappers(wrapper: Any, options: dict[str, Any]) -> None:
    env = wrapper(gym.make("Boulanger-C4-v0", disable_env_checker=True, **options))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env, skip_render_check=True)
        if "observation" not in options:
            sb3_check_env(wrapper(gym.make("Boulanger-C4-v0", **options)))
    # Gymnasium says of every wrapper that it is one.
    assert [
        str(w.message) for w in caught if "is different from the unwrapped version" not in str(w.message)
    ] == []


@pytest.mark.parametrize("stack", STACKS[:1])
def test_specs_go_round(stack: list[Wrap]) -> None:
    env = build(stack, allow_undo=True, observation="cards")
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert str(again) == str(env)
    assert again.spec == env.spec
    assert (again.action_space, again.observation_space) == (env.action_space, env.observation_space)
    assert exact(again.reset(seed=4)) == exact(env.reset(seed=4))
    assert exact(gym.make(env.spec).reset(seed=4)) == exact(env.reset(seed=4))


@pytest.mark.parametrize("stack", STACKS[:1])
def test_copies_play_on_alone(stack: list[Wrap]) -> None:
    env = build(stack, allow_undo=True)
    random = Random(7)
    _, info = env.reset(seed=11)
    for _ in range(5):
        _, _, terminated, _, info = env.step(random.choice(legal_actions(info)))
        if terminated:
            _, info = env.reset()
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        # The copy goes its own way first: the original must not notice.
        fork = copy.deepcopy(other)
        for _ in range(3):
            if fork.step(int(np.flatnonzero(fork.action_masks())[0]))[2]:
                break
        mine = copy.deepcopy(env)
        for _ in range(30):
            action = random.choice(np.flatnonzero(mine.action_masks()).tolist())
            ours, theirs = mine.step(action), other.step(action)
            assert exact(ours) == exact(theirs)
            if ours[2] or ours[3]:
                assert exact(mine.reset()) == exact(other.reset())


@pytest.mark.parametrize("wrapper", ALL)
def test_refusals(wrapper: Any) -> None:
    env = wrapper(gym.make("Boulanger-C4-v0", allow_undo=True))
    count = env.action_space.n
    with pytest.raises(ResetNeeded):
        env.step(0)
    with pytest.raises(ResetNeeded):
        env.step(count - 1)
    env.reset(options={"code": "MS-C4-1"})
    game = env.unwrapped.game
    for bad in (-1, count, 1.5, float("nan"), "0", None, [0], np.array([0]), np.float64(0)):
        with pytest.raises(IllegalMoveError, match=f"to {count - 1}"):
            env.step(bad)
    with pytest.raises(BoulangerError, match="'deal' is unknown"):
        env.reset(options={"deal": 1})
    assert env.unwrapped.game == game
    assert env.step(int(np.flatnonzero(env.action_masks())[0]))[4]["moves"] >= 1


def test_wrong_stacks_are_refused() -> None:
    for wrapper in ALL:
        with pytest.raises(BoulangerError, match=f"{wrapper.__name__} wraps a Boulanger environment"):
            wrapper(gym.make("CartPole-v1"))


@pytest.mark.parametrize("stack", [STACKS[0], [Monitor]])
def test_maskable_ppo_sees_the_masks(stack: list[Wrap]) -> None:
    class Watch(gym.Wrapper[Any, Any, Any, Any]):
        illegal = 0
        steps = 0

        def step(self, action: Any) -> Any:
            result = super().step(action)
            Watch.steps += 1
            Watch.illegal += result[4]["illegal_action"]
            return result

    policy = "MultiInputPolicy" if MaskInObservation in stack else "MlpPolicy"
    model = MaskablePPO(
        policy, Watch(build(stack)), n_steps=64, batch_size=32, n_epochs=1, seed=0, device="cpu"
    )
    model.learn(128)
    assert Watch.steps == 128
    assert Watch.illegal == 0
