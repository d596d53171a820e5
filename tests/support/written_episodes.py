"""Episodes written out as text, for one process to compare with another: ``python written_episodes.py SEED STEPS``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import gymnasium as gym
import numpy as np

import boulanger_env  # noqa: F401 - registers the environments
from boulanger_env.wrappers import MaskInObservation


def environments() -> dict[str, Any]:
    """Environments that between them use all that could depend on the process."""
    return {
        "features": gym.make("Boulanger-C4-v0"),
        "cards": gym.make("Boulanger-C2-v0", observation="cards", allow_undo=True, prune=True),
        "listed": gym.make("Boulanger-C1-v0", deals="c1-test-100", illegal_action="terminate"),
        "wrapped": MaskInObservation(
            gym.make(
                "Boulanger-C4-v0", actions="cards", auto_foundation=True, allow_undo=True, observation="cards"
            )
        ),
        "no repeats": gym.make("Boulanger-C4-v0", actions="taps", no_repeats=True, observation="cards"),
    }


def plain(value: Any) -> Any:
    """An observation or info as JSON: arrays as the places and values of what is not 0."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        places = np.flatnonzero(value)
        return [str(value.dtype), list(value.shape), places.tolist(), value.reshape(-1)[places].tolist()]
    assert isinstance(value, (bool, int, float, str)), value
    return value


def play(env: Any, seed: int, steps: int) -> list[Any]:
    """Seeded play, an illegal action now and then, on through resets."""
    random = Random(seed)
    observation, info = env.reset(seed=seed)
    lines = [[plain(observation), plain(info)]]
    for _ in range(steps):
        legal = np.flatnonzero(info["action_mask"]).tolist()
        action = random.choice(legal) if random.random() < 0.95 else random.randrange(env.action_space.n)
        observation, reward, terminated, truncated, info = env.step(action)
        lines.append([action, plain(observation), reward, terminated, truncated, plain(info)])
        if terminated or truncated:
            observation, info = env.reset()
            lines.append([plain(observation), plain(info)])
    return lines


def play_all(seed: int, steps: int) -> dict[str, list[Any]]:
    """Seeded play in each of the environments."""
    return {name: play(env, seed, steps) for name, env in environments().items()}


if __name__ == "__main__":
    json.dump(play_all(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
