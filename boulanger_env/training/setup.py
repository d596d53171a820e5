"""What a training run is made of: its settings, the environment and the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import LinearSchedule

from boulanger_env.deals import DealSet, load
from boulanger_env.envs import Reward
from boulanger_env.envs.options import ObservationKind
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.text import check_n_cells
from boulanger_env.sb3 import BoulangerVecEnv

from .network import CardPolicy

NETWORKS = ("cards", "mlp")

# Cards home, so that there is something to learn before the first win; a tenth keeps the critic's targets small.
LEARNING_REWARD = Reward(foundation=0.1, from_cell=0, illegal=0)


@dataclass(frozen=True)
class TrainSettings:
    """The settings of a training run.

    Attributes:
        timesteps: moves to play while learning.
        n_cells: cells of the games, 4, 2 or 1.
        network: ``"cards"``, the structured network over the ``"cards"`` observation; ``"mlp"``, a plain one over
            ``"features"``.
        seed: random seed of the network, the deals and the play.
        n_envs: games at a time.
        n_steps: moves per game between two updates.
        evaluations: how often the validation deals are played.
        max_episode_steps: actions after which an episode is truncated; fewer than an environment's default, since
            won games take about 85.
        test_deals: name or file of the final benchmark's deal set; empty for ``cN-test-all``.

    Raises:
        BoulangerError: a setting is invalid.
        OSError: the file of the test deals cannot be read.
    """

    timesteps: int = 400_000
    n_cells: int = 4
    network: str = "cards"
    seed: int = 0
    n_envs: int = 128
    n_steps: int = 32
    evaluations: int = 8
    max_episode_steps: int = 200
    test_deals: str = ""

    def __post_init__(self) -> None:
        if self.network not in NETWORKS:
            raise BoulangerError(f"network {self.network!r} is unknown: choose one of {', '.join(NETWORKS)}")
        check_n_cells(self.n_cells)
        for name in ("timesteps", "n_envs", "n_steps", "evaluations", "max_episode_steps"):
            if getattr(self, name) < 1:
                raise BoulangerError(f"{name}={getattr(self, name)} must be at least 1")
        self.test_set()  # a wrong name should fail before the training, not after it

    @property
    def observation(self) -> ObservationKind:
        """The observation that the network reads."""
        return "cards" if self.network == "cards" else "features"

    def test_set(self) -> DealSet:
        """The deals of the final benchmark."""
        return load(self.test_deals or f"c{self.n_cells}-test-all")

    def validation_set(self) -> DealSet:
        """The deals on which the best model is chosen."""
        return load(f"c{self.n_cells}-validation-100")


def make_envs(settings: TrainSettings, n_envs: int, **keywords: Any) -> BoulangerVecEnv:
    """The environment that the agent learns in: a tenth of a point for each card home, and for nothing else."""
    return BoulangerVecEnv(
        n_envs,
        settings.n_cells,
        observation=settings.observation,
        reward=LEARNING_REWARD,
        prune=True,
        max_episode_steps=settings.max_episode_steps,
        **keywords,
    )


def make_model(settings: TrainSettings, envs: BoulangerVecEnv) -> MaskablePPO:
    """MaskablePPO as this job trains it."""
    return MaskablePPO(
        CardPolicy if settings.network == "cards" else "MlpPolicy",
        envs,
        n_steps=settings.n_steps,
        batch_size=min(512, settings.n_envs * settings.n_steps),
        n_epochs=2,
        learning_rate=LinearSchedule(2e-3, 0, 1),
        gamma=0.99,
        gae_lambda=0.95,
        ent_coef=0.01,
        seed=settings.seed,
        device="cpu",
    )
