"""``RecordReplay`` around an environment whose states are taken and set."""

from __future__ import annotations

from pathlib import Path

import pytest

from boulanger_env import BoulangerEnv
from boulanger_env.replay import Replay, ReplayError
from boulanger_env.wrappers import RecordReplay


def test_a_search_in_the_environment_is_not_recorded(tmp_path: Path) -> None:
    env = RecordReplay(BoulangerEnv(max_episode_steps=6), tmp_path)
    _, info = env.reset(seed=0)
    base = env.unwrapped
    assert isinstance(base, BoulangerEnv)
    played = []
    for _ in range(6):
        state = base.get_state()
        for _ in range(2):
            base.step(int(base.action_masks().nonzero()[0][-1]))
            if base.get_state()["episodes"][0, 1] == 6:
                break
        base.set_state(state)
        played.append(int(info["action_mask"].argmax()))
        *_, info = env.step(played[-1])
    replay = Replay.load(*tmp_path.iterdir())
    assert replay.actions == tuple(played)
    assert replay.end == base.game


def test_an_episode_that_was_left_is_not_written(tmp_path: Path) -> None:
    env = RecordReplay(BoulangerEnv(max_episode_steps=6), tmp_path)
    _, info = env.reset(seed=0)
    base = env.unwrapped
    assert isinstance(base, BoulangerEnv)
    state = base.get_state()
    for _ in range(3):
        *_, info = env.step(int(info["action_mask"].argmax()))
    assert len(env.replay.actions) == 3
    _, info = base.set_state(state)
    with pytest.raises(
        ReplayError, match=r"set_state\(\), or a step past this wrapper, has left the episode"
    ):
        _ = env.replay
    for _ in range(6):
        *_, truncated, info = env.step(int(info["action_mask"].argmax()))
    assert truncated
    _, info = env.reset()
    assert list(tmp_path.iterdir()) == []
    # The next one is recorded again.
    base.step(int(info["action_mask"].argmax()))
    env.reset()
    assert list(tmp_path.iterdir()) == []
    *_, info = env.step(int(base.action_masks().argmax()))
    env.close()
    assert len(Replay.load(*tmp_path.iterdir()).actions) == 1
