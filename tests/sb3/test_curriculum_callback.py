"""``CurriculumCallback`` in a training, over the batch and over Stable-Baselines3's own vector environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, configure
from support.example_starts import example_starts
from support.sb3_environments import dummy

from boulanger_env import BoulangerError
from boulanger_env.deals import ReverseCurriculum
from boulanger_env.sb3 import BoulangerVecEnv, CurriculumCallback


class Written(KVWriter):
    """Keeps what was logged last."""

    def write(self, key_values: dict[str, Any], key_excluded: Any, step: int = 0) -> None:
        self.values = dict(key_values)

    def close(self) -> None:
        pass


class Counted(BaseCallback):
    """Counts what ended, in the infos alone."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[tuple[int, bool]] = []

    def _on_step(self) -> bool:
        self.ended += [
            (info["group"], info["is_success"]) for info in self.locals["infos"] if "episode" in info
        ]
        return True


@pytest.mark.parametrize("make", [BoulangerVecEnv, dummy])
def test_it_follows_a_training(make: Any) -> None:
    starts = example_starts()
    curriculum = ReverseCurriculum(starts, rate=1)
    env = make(4, deals=starts, observation="cards", max_episode_steps=5)
    model = MaskablePPO("MultiInputPolicy", env, n_steps=16, batch_size=32, n_epochs=1, seed=0, device="cpu")
    logger, written = configure(None, []), Written()
    logger.output_formats.append(written)
    model.set_logger(logger)
    counted = Counted()
    model.learn(128, callback=[CurriculumCallback(curriculum), counted])
    assert len(counted.ended) > 20
    # With a rate of 1 a group's win rate is that of the last step in which its episodes ended.
    groups = {group for group, _ in counted.ended if group >= 0}
    untouched = set(range(starts.n_groups)) - groups
    assert set(np.flatnonzero(curriculum.wins == 0.5)) >= untouched
    assert all(curriculum.wins[group] in (0, 1, 0.5) for group in groups)
    lost = groups - {group for group, won in counted.ended if won}
    assert lost
    assert (curriculum.wins[sorted(lost)] == 0).all()
    assert starts.weights[sorted(lost)].tolist() == [0.005] * len(lost)
    present = np.unique(starts.left)
    assert written.values["curriculum/starts_won"] == pytest.approx(curriculum.wins[present].mean())
    assert written.values["curriculum/deals_won"] == curriculum.deal_wins


def test_other_environments_are_refused() -> None:
    model = MaskablePPO("MlpPolicy", BoulangerVecEnv(2), n_steps=8, batch_size=16, device="cpu")
    with pytest.raises(BoulangerError, match="make the environment with deals=starts"):
        model.learn(16, callback=CurriculumCallback(ReverseCurriculum(example_starts())))
