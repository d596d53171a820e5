"""What a training run is made of: its settings, the environment, the start positions and the model."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stable_baselines3.common.utils import LinearSchedule

from boulanger_env.deals import DealSet, Starts, load
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.text import check_n_cells
from boulanger_env.sb3 import BoulangerVecEnv

from .budget import Budget
from .network import CardPolicy
from .ppo import ChancePPO

MINUTES = 6.0
LEAST_MINUTES = 0.1

RULES: dict[str, Any] = {
    "observation": "cards",
    "actions": "cards",
    "auto_foundation": True,
    "no_repeats": True,
}
"""The environment's keywords that the agent is trained with, and plays with."""


def default_threads() -> int:
    """Two threads, if there are as many cores: more gain little on minibatches as small as these."""
    return min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


@dataclass(frozen=True)
class TrainSettings:
    """The settings of a training run.

    Attributes:
        minutes: the time for everything: solving deals for start positions, learning, and the benchmark. None: 6, or
            as long as ``timesteps`` take.
        timesteps: moves to play while learning, instead of a time. On the same machine, with the same number of
            threads, the result is then the same every time.
        n_cells: cells of the games, 4, 2 or 1.
        curriculum: whether games start from positions near the end at first, and later farther from it. False: all
            games are whole deals.
        seed: random seed of the network, the deals and the play.
        n_envs: games at a time.
        n_steps: moves per game between two updates.
        evaluations: how often the validation deals are played, the untrained agent not counted.
        validation_deals: how many of ``cN-validation`` are played.
        max_episode_steps: decisions after which an episode is truncated.
        threads: threads that learn from parts of each minibatch; see ``ChancePPO``.
        test_deals: name or file of the final benchmark's deal set; empty for ``cN-test`` and then ``cN-test-all``.

    Raises:
        BoulangerError: a setting is invalid.
        OSError: the file of the test deals cannot be read.
    """

    minutes: float | None = None
    timesteps: int | None = None
    n_cells: int = 4
    curriculum: bool = True
    seed: int = 0
    n_envs: int = 512
    n_steps: int = 32
    evaluations: int = 10
    validation_deals: int = 300
    max_episode_steps: int = 200
    threads: int = 1
    test_deals: str = ""

    def __post_init__(self) -> None:
        check_n_cells(self.n_cells)
        if self.minutes is not None and self.timesteps is not None:
            raise BoulangerError(
                f"minutes={shown(self.minutes)} and timesteps={shown(self.timesteps)}: a run ends by one of them"
            )
        if self.timesteps is None and not (
            isinstance(self.limit_minutes, int | float)
            and math.isfinite(self.limit_minutes)
            and self.limit_minutes >= LEAST_MINUTES
        ):
            raise BoulangerError(
                f"minutes={shown(self.minutes)} must be a number of at least {LEAST_MINUTES}"
            )
        for name in (
            "timesteps",
            "n_envs",
            "n_steps",
            "evaluations",
            "validation_deals",
            "max_episode_steps",
            "threads",
        ):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BoulangerError(f"{name}={value} must be at least 1")
        self.test_sets()  # a wrong name should fail before the training, not after it

    @property
    def limit_minutes(self) -> float:
        """The minutes, if the run is not limited by ``timesteps``."""
        return MINUTES if self.minutes is None else self.minutes

    def budget(self, used: float = 0.0, began: float = 0.0) -> Budget:
        """The budget of a run that has used some seconds before."""
        seconds = 60 * self.limit_minutes if self.timesteps is None else None
        return Budget(seconds, self.timesteps, used, began)

    def test_sets(self) -> list[DealSet]:
        """The deals of the final benchmark."""
        names = (
            [self.test_deals] if self.test_deals else [f"c{self.n_cells}-test", f"c{self.n_cells}-test-all"]
        )
        return [load(name) for name in names]

    def validation_set(self) -> DealSet:
        """The deals on which the best model is chosen."""
        return load(f"c{self.n_cells}-validation")[: self.validation_deals]

    def training_deals(self) -> DealSet:
        """Solvable deals whose solutions give start positions: enough for the length of the training."""
        enough = 500 * self.limit_minutes if self.timesteps is None else self.timesteps / 600
        return load(f"solvable-c{self.n_cells}")[: max(32, min(15_000, round(enough)))]


def make_starts(settings: TrainSettings, progress: Callable[[int], object] | None = None) -> Starts:
    """Positions on solutions of training deals, each with the decisions from it to the win.

    They only say where games start: which moves the solutions take is not kept.
    """
    deals = settings.training_deals()
    return Starts.from_solutions(
        deals,
        quality="short",
        auto_foundation=True,
        # A process takes about a second to start.
        workers=None if len(deals) > 1000 else 1,
        progress=progress,
        deals="solvable",
    )


def make_envs(settings: TrainSettings, starts: Starts | None = None, **keywords: Any) -> BoulangerVecEnv:
    """The environment that the agent learns in: one point for a win, and nothing else."""
    return BoulangerVecEnv(
        settings.n_envs,
        settings.n_cells,
        deals="solvable" if starts is None else starts,
        reward="win",
        max_episode_steps=settings.max_episode_steps,
        **RULES,
        **keywords,
    )


def make_model(settings: TrainSettings, envs: BoulangerVecEnv, budget: Budget | None = None) -> ChancePPO:
    """PPO as this job trains it."""
    return ChancePPO(
        CardPolicy,
        envs,
        budget=budget,
        threads=settings.threads,
        n_steps=settings.n_steps,
        batch_size=min(512, settings.n_envs * settings.n_steps),
        n_epochs=2,
        learning_rate=LinearSchedule(1.5e-3, 7.5e-5, 1),
        # A win counts the same however long it takes.
        gamma=1.0,
        gae_lambda=0.95,
        seed=settings.seed,
        device="cpu",
    )
