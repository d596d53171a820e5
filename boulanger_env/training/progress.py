"""What happens between updates: the validation deals are played, the best model is kept, and the run's state."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch as th
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import set_random_seed

from boulanger_env.agents import save_model
from boulanger_env.benchmark import evaluate
from boulanger_env.deals import ReverseCurriculum

from . import checkpoint
from .budget import Budget
from .checkpoint import Point, Progress

Say = Callable[[str], None]
"""Called with each line of progress."""

DEAL_SHARE, LATE_DEAL_SHARE, LATE = 0.25, 0.5, 0.4
"""The share of whole deals once a tenth of them is won, and from which part of the training on it is larger."""

_BATCH = 256


class Watch(BaseCallback):
    """Follows the training: moves the curriculum on, plays the validation deals, saves, and ends it in time.

    Args:
        progress: how far the run has come; its points grow.
        budget: when learning ends.
        folder: where the best model and the checkpoint go; each is written whole or not at all.
        curriculum: what changes the start positions, or None.
        say: called with the result of each evaluation.
    """

    def __init__(
        self,
        progress: Progress,
        budget: Budget,
        folder: Path,
        curriculum: ReverseCurriculum | None,
        say: Say,
    ) -> None:
        super().__init__()
        self.progress, self.budget, self.curriculum, self.say = progress, budget, curriculum, say
        self.model_file, self.checkpoint_file = folder / "model.zip", folder / checkpoint.FILE
        self._deals = progress.settings.validation_set()
        self._over = False
        self._cpu = time.process_time() - progress.cpu
        self._next = 0.0
        """The part of the training after which the validation deals are played again."""

    def _on_rollout_start(self) -> None:
        done = self.budget.progress(self.num_timesteps)
        points = self.progress.points
        resumed = bool(points) and points[-1].timesteps == self.num_timesteps
        if done >= self._next and not resumed:
            self._evaluate()
        if done >= self._next:
            count = self.progress.settings.evaluations
            self._next = (math.floor(done * count) + 1) / count
        self._over = done >= 1
        if self.curriculum is not None:
            self.curriculum.deal_share = DEAL_SHARE if done < LATE else LATE_DEAL_SHARE
        # From here on all random numbers follow from the number of moves: so a run can be resumed exactly.
        set_random_seed((self.progress.settings.seed + self.num_timesteps) % 2**32)

    def _on_step(self) -> bool:
        if self.curriculum is not None:
            self.curriculum.update(self.locals["infos"])
        return not self._over

    def _evaluate(self) -> None:
        """Play the validation deals, keep the model if none was better, and save the run's state."""
        with th.autocast("cpu", enabled=False):
            results = evaluate(self.model, self._deals, sample=False, batch_size=_BATCH)
        won = int(results.column("won").sum())
        best = max((point.won for point in self.progress.points), default=0)
        point = Point(self.budget.used, self.num_timesteps, won, len(self._deals), front(self.curriculum))
        self.progress.points.append(point)
        if won >= best:
            save_model(self.model, self.model_file, sample=False)
        self.progress.used, self.progress.began = self.budget.used, self.budget.began
        self.progress.cpu = time.process_time() - self._cpu
        checkpoint.save(self.checkpoint_file, self.progress, self.model, self.curriculum)  # type: ignore[arg-type]
        self.say(told(point, self.budget.left(self.num_timesteps)))


def front(curriculum: ReverseCurriculum | None) -> int | None:
    """Decisions from the end up to which half of the games are won, by the running win rates of the starts."""
    if curriculum is None:
        return None
    groups = np.unique(curriculum.starts.left)
    lost = np.flatnonzero(curriculum.wins[groups] < 0.5)
    won = groups if not len(lost) else groups[: lost[0]]
    return int(won[-1]) if len(won) else 0


def told(point: Point, left: float | None) -> str:
    """A line about an evaluation."""
    text = (
        f"{minutes(point.seconds):>6} {point.timesteps:>10,} decisions: "
        f"{100 * point.won / point.deals:5.1f} % of {point.deals} validation deals won"
    )
    if point.front is not None and point.timesteps:
        text += f", half of the games from {point.front} decisions before their end"
    return text if left is None else f"{text}; {minutes(left)} left"


def minutes(seconds: float) -> str:
    """Minutes and seconds, as ``2:05``."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
