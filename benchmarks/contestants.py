"""What ``throughput.py`` times: environments with random play, all behind the same three calls.

A contestant plays uniformly random legal actions live, so steps see the boards that play leads to, and the
processor's branch predictor cannot memorise a fixed input. ``sample`` and ``step`` are timed, ``account`` is
not. Steps that an environment ignores because they only start its next episode do not count.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from boulanger_env import BoulangerEnv, BoulangerVectorEnv, sample_legal

ENV_ID = "Boulanger-C4-v0"


class Contestant(ABC):
    """One environment being played."""

    n = 1

    @abstractmethod
    def sample(self) -> None:
        """Choose the next action of every game."""

    @abstractmethod
    def step(self) -> None:
        """Play them, and fetch everything needed to choose again, masks included."""

    @abstractmethod
    def account(self) -> tuple[int, int]:
        """Of the last step: the number of games in which a move was played, and of episodes that ended."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """End processes and threads."""


class Single(Contestant):
    """A Gymnasium environment with masks in its infos, sampled by us or by Gymnasium."""

    def __init__(self, env: gym.Env[Any, Any], *, own_sampler: bool = True) -> None:
        self.env = env
        self.rng = np.arange(1, dtype=np.uint64) if own_sampler else None
        env.action_space.seed(0)
        _, info = env.reset(seed=0)
        self.mask = info["action_mask"]
        self.over = False

    def sample(self) -> None:
        if self.rng is None:
            self.action = self.env.action_space.sample(self.mask)
        else:
            self.action = sample_legal(self.mask, self.rng)

    def step(self) -> None:
        _, _, terminated, truncated, info = self.env.step(self.action)
        self.over = terminated or truncated
        if self.over:
            _, info = self.env.reset()
        self.mask = info["action_mask"]

    def account(self) -> tuple[int, int]:
        return 1, int(self.over)

    def close(self) -> None:
        self.env.close()


class Batch(Contestant):
    """One of our Gymnasium vector environments, native or not."""

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any], *, own_sampler: bool = True) -> None:
        self.env, self.n = env, env.num_envs
        self.own_sampler = own_sampler
        self.rng = np.arange(self.n, dtype=np.uint64)
        self.waits = env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
        env.action_space.seed(0)
        _, self.infos = env.reset(seed=0)
        self.over = np.zeros(self.n, np.bool_)

    def sample(self) -> None:
        mask = self.infos["action_mask"]
        self.actions = (
            sample_legal(mask, self.rng) if self.own_sampler else self.env.action_space.sample(tuple(mask))
        )

    def step(self) -> None:
        self.results = self.env.step(self.actions)
        self.infos = self.results[-1]

    def account(self) -> tuple[int, int]:
        ignored = int(self.over.sum()) if self.waits else 0
        self.over = self.results[2] | self.results[3]
        assert not self.infos["illegal_action"].any()
        return self.n - ignored, int(self.over.sum())

    def close(self) -> None:
        self.env.close()


class StableBaselines(Contestant):
    """A ``VecEnv``, its masks fetched after each step as MaskablePPO does."""

    def __init__(self, env: Any) -> None:
        self.env, self.n = env, env.num_envs
        self.rng = np.arange(self.n, dtype=np.uint64)
        env.seed(0)
        env.reset()
        self.masks = np.stack(env.env_method("action_masks"))

    def sample(self) -> None:
        self.actions = sample_legal(self.masks, self.rng)

    def step(self) -> None:
        _, _, self.dones, self.infos = self.env.step(self.actions)
        self.masks = np.stack(self.env.env_method("action_masks"))

    def account(self) -> tuple[int, int]:
        assert not any(info["illegal_action"] for info in self.infos)
        return self.n, int(self.dones.sum())

    def close(self) -> None:
        self.env.close()


class CartPole(Contestant):
    """Gymnasium's native batch of CartPole. It has no illegal actions: the draw is one call to NumPy."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.env: Any = gym.make_vec("CartPole-v1", n, vectorization_mode="vector_entry_point")
        self.env.reset(seed=0)
        self.rng = np.random.default_rng(0)
        self.over = np.zeros(n, np.bool_)

    def sample(self) -> None:
        self.actions = self.rng.integers(2, size=self.n)

    def step(self) -> None:
        self.results = self.env.step(self.actions)

    def account(self) -> tuple[int, int]:
        ignored = int(self.over.sum())
        self.over = self.results[2] | self.results[3]
        return self.n - ignored, int(self.over.sum())


class EnvPool(Contestant):
    """An EnvPool batch with one thread. No illegal actions either."""

    def __init__(self, env_id: str, n: int) -> None:
        import envpool

        self.n = n
        self.env = envpool.make(env_id, env_type="gymnasium", num_envs=n, num_threads=1)
        self.env.reset()
        self.count = int(self.env.action_space.n)
        self.rng = np.random.default_rng(0)

    def sample(self) -> None:
        self.actions = self.rng.integers(self.count, size=self.n, dtype=np.int32)

    def step(self) -> None:
        self.results = self.env.step(self.actions)

    def account(self) -> tuple[int, int]:
        # The step after an episode's end only resets it.
        played = int((self.results[-1]["elapsed_step"] > 0).sum())
        return played, int((self.results[2] | self.results[3]).sum())

    def close(self) -> None:
        self.env.close()


class OpenSpiel(Contestant):
    """OpenSpiel's solitaire through its Python API. Chance nodes are part of a step."""

    def __init__(self, *, observed: bool = True) -> None:
        import pyspiel

        self.observed = observed  # an observation and a mask, as our steps return, or legal actions alone
        self.game = pyspiel.load_game("solitaire")
        self.random = random.Random(0)
        self.begin()

    def begin(self) -> None:
        self.state = self.game.new_initial_state()
        self.go_on()

    def go_on(self) -> None:
        self.over = self.state.is_terminal()
        # At its length limit a game can end while a card is still to be turned.
        while not self.over and self.state.is_chance_node():
            self.state.apply_action(self.random.choice(self.state.legal_actions()))
            self.over = self.state.is_terminal()
        if self.observed and not self.over:
            self.observation = self.state.observation_tensor(0)
            self.mask = self.state.legal_actions_mask()
        self.legal = self.state.legal_actions()

    def sample(self) -> None:
        self.action = self.random.choice(self.legal)

    def step(self) -> None:
        self.state.apply_action(self.action)
        self.go_on()
        self.ended = self.over
        if self.over:
            self.begin()

    def account(self) -> tuple[int, int]:
        return 1, int(self.ended)


# Other ways to play. Random games under no_repeats are short, so more is dealt: with a low limit as much as without.
NEW_GAMES: dict[str, dict[str, Any]] = {
    "actions=cards": {"actions": "cards"},
    "actions=taps": {"actions": "taps"},
    "auto_foundation": {"auto_foundation": True},
    "no_repeats": {"no_repeats": True},
    "10 steps": {"max_episode_steps": 10},
    "no_repeats, 10 steps": {"no_repeats": True, "max_episode_steps": 10},
}


class Entry(NamedTuple):
    """One row of the table: what it is, and how to make it."""

    name: str
    games: int
    threads: int
    observation: str
    make: Callable[[], Contestant]


def _native(n: int, threads: int, observation: str, **keywords: Any) -> Callable[[], Contestant]:
    own_sampler = keywords.pop("own_sampler", True)
    return lambda: Batch(
        BoulangerVectorEnv(n, observation=observation, num_threads=threads, **keywords),
        own_sampler=own_sampler,
    )


def _gymnasium(kind: str, n: int) -> Callable[[], Contestant]:
    return lambda: Batch(gym.make_vec(ENV_ID, n, vectorization_mode=kind, observation="cards"))


def _single(env_id: str, *, own_sampler: bool = True, **keywords: Any) -> Callable[[], Contestant]:
    return lambda: Single(gym.make(env_id, disable_env_checker=True, **keywords), own_sampler=own_sampler)


def _dummy(n: int, observation: str) -> Contestant:
    """As ``make_vec_env`` makes it, with ``Monitor``, since the batch reports the same."""
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    return StableBaselines(DummyVecEnv([lambda: Monitor(BoulangerEnv(observation=observation))] * n))


def _vec_env(n: int, observation: str) -> Contestant:
    from boulanger_env.sb3 import BoulangerVecEnv

    return StableBaselines(BoulangerVecEnv(n, observation=observation))


def entries(quick: bool, peers: bool) -> Iterator[Entry]:
    """The rows, ours first."""
    for observation in ("cards", "features"):
        yield Entry("BoulangerEnv", 1, 1, observation, _single(ENV_ID, observation=observation))
    yield Entry(
        "BoulangerEnv, action_space.sample",
        1,
        1,
        "cards",
        _single(ENV_ID, own_sampler=False, observation="cards"),
    )
    few = 4 if quick else 16
    yield Entry("SyncVectorEnv", few, 1, "cards", _gymnasium("sync", few))
    yield Entry("AsyncVectorEnv", few, few, "cards", _gymnasium("async", few))
    for observation in ("cards", "features"):
        for n in (16, 1024) if quick else (1, 16, 256, 1024, 4096):
            for threads in (1, 2) if n > 1 else (1,):
                yield Entry("BoulangerVectorEnv", n, threads, observation, _native(n, threads, observation))
        for name, keywords in (
            ("copy=False", {"copy": False}),
            ("SAME_STEP", {"autoreset_mode": AutoresetMode.SAME_STEP}),
        ):
            make = _native(1024, 1, observation, **keywords)
            yield Entry(f"BoulangerVectorEnv, {name}", 1024, 1, observation, make)
    for name, keywords in NEW_GAMES.items():
        yield Entry(f"BoulangerVectorEnv, {name}", 1024, 1, "cards", _native(1024, 1, "cards", **keywords))
    make = _native(256, 1, "cards", own_sampler=False)
    yield Entry("BoulangerVectorEnv, action_space.sample", 256, 1, "cards", make)
    for observation in ("cards", "features"):
        yield Entry("SB3 DummyVecEnv", 64, 1, observation, lambda o=observation: _dummy(64, o))
        for n in (64,) if quick else (64, 1024):
            yield Entry("SB3 BoulangerVecEnv", n, 1, observation, lambda n=n, o=observation: _vec_env(n, o))
    if peers:
        yield Entry("Gymnasium CartPole, native batch", 1024, 1, "", lambda: CartPole(1024))
        yield Entry("Gymnasium Taxi with mask", 1, 1, "", _single("Taxi", own_sampler=False))
        yield Entry("OpenSpiel solitaire", 1, 1, "", OpenSpiel)
        yield Entry("OpenSpiel solitaire, unobserved", 1, 1, "", lambda: OpenSpiel(observed=False))
        for env_id in ("FrozenLake-v1", "Taxi-v3", "Blackjack-v1"):
            yield Entry(f"EnvPool {env_id}", 1024, 1, "", lambda env_id=env_id: EnvPool(env_id, 1024))
