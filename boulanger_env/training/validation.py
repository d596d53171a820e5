"""The validation deals, played while the agent learns; the best model is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback

from boulanger_env.agents import save_model

from .setup import LEARNING_REWARD, TrainSettings, make_envs

Say = Callable[[str], None]
"""Called with each line of progress."""


class Evaluation(MaskableEvalCallback):
    """Plays the validation deals before the first step and then at regular intervals, and keeps the best model.

    Args:
        settings: the training's settings.
        model_file: where the best model goes; written whole or not at all, even if the process is killed.
        say: called with the result of each evaluation.

    Attributes:
        curve: timesteps, and the cards home in each validation game.
    """

    def __init__(self, settings: TrainSettings, model_file: Path, say: Say) -> None:
        deals = settings.validation_set()
        n_envs = next(n for n in (25, 20, 10, 5, 4, 2, 1) if len(deals) % n == 0)
        super().__init__(
            make_envs(settings, n_envs, deals=deals, deal_order="sequential"),
            n_eval_episodes=len(deals),
            eval_freq=max(settings.n_steps, settings.timesteps // settings.evaluations // settings.n_envs),
            deterministic=False,
            verbose=0,
            warn=False,
        )
        self.model_file = model_file
        self.say = say
        self.curve: list[tuple[int, list[int]]] = []
        self._home: list[int] = []

    def _on_training_start(self) -> None:
        self._evaluate()

    def _on_step(self) -> bool:
        if self.n_calls % self.eval_freq == 0:
            return self._evaluate()
        return True

    def _evaluate(self) -> bool:
        self._home = []
        self.eval_env.seed(0)  # restart the sequence of deals: the same games every time
        calls, self.n_calls = self.n_calls, self.eval_freq
        best = self.best_mean_reward
        try:
            going_on = super()._on_step()
        finally:
            self.n_calls = calls
        if self.best_mean_reward > best:
            save_model(self.model, self.model_file, sample=True)
        self.curve.append((self.num_timesteps, self._home))
        self.say(
            f"{self.num_timesteps:>9,} moves: {np.mean(self._home):5.2f} cards home on the validation deals"
        )
        return going_on

    def _log_success_callback(self, locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        super()._log_success_callback(locals_, globals_)
        if locals_["done"]:
            self._home.append(round(locals_["info"]["episode"]["r"] / LEARNING_REWARD.foundation))
