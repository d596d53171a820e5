"""The main job: train a masked agent, benchmark it beside two baselines, keep what there is to look at.

Everything goes into one folder:

=====================  =====================================================================================
file                   content
=====================  =====================================================================================
``model.zip``          the model that did best on the validation deals
``results.json``       settings, learning curve, and the benchmark's summary
``results.md``         the benchmark's table
``benchmark/``         the benchmark itself, a file for the model and for each baseline, a row for each game
``learning_curve.png`` cards home on the validation deals over the training, beside the baselines
``replay.html``        the test game of the model that went best, as a page that plays it
``replay.json``        the same game as a replay file
=====================  =====================================================================================
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from stable_baselines3.common.utils import LinearSchedule

import boulanger_env
from boulanger_env.benchmark import Results, as_policy, evaluate
from boulanger_env.benchmark.report import caption, markdown
from boulanger_env.deals import DealSet, load
from boulanger_env.envs import Reward
from boulanger_env.files import write_text
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.text import check_n_cells
from boulanger_env.replay import Replay
from boulanger_env.sb3 import BoulangerVecEnv

from .network import CardPolicy
from .pictures import learning_curve

BASELINES = ("random", "greedy")
NETWORKS = ("cards", "mlp")

# Cards home, so that there is something to learn before the first win; a tenth keeps the critic's targets small.
LEARNING_REWARD = Reward(foundation=0.1, from_cell=0, illegal=0)

Say = Callable[[str], None]


@dataclass(frozen=True)
class TrainSettings:
    """What a training run is made of.

    Attributes:
        timesteps: moves to play while learning.
        n_cells: cells of the games, 4, 2 or 1.
        network: ``"cards"``, the structured network over the ``"cards"`` observation; ``"mlp"``, a plain one over
            ``"features"``.
        seed: of the network, the deals and the play.
        n_envs: games at a time.
        n_steps: moves of each game between two updates.
        evaluations: how often the validation deals are played.
        max_episode_steps: moves after which an episode is cut off.
        test_deals: name or file of the deals of the final benchmark.
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

    @property
    def observation(self) -> str:
        """The observation that the network reads."""
        return "cards" if self.network == "cards" else "features"


class Evaluation(MaskableEvalCallback):
    """Plays the validation deals before the first step and then at even distances, and says how it went.

    Attributes:
        curve: timesteps, and the cards home in each validation game.
    """

    def __init__(self, deals: DealSet, settings: TrainSettings, folder: Path, say: Say) -> None:
        n_envs = next(n for n in (25, 20, 10, 5, 4, 2, 1) if len(deals) % n == 0)
        envs = make_envs(settings, n_envs, deals=deals, deal_order="sequential")
        super().__init__(
            envs,
            n_eval_episodes=len(deals),
            eval_freq=max(settings.n_steps, settings.timesteps // settings.evaluations // settings.n_envs),
            best_model_save_path=str(folder),
            deterministic=False,
            verbose=0,
            warn=False,
        )
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
        self.eval_env.seed(0)  # the sequence of deals starts anew: the same games every time
        calls, self.n_calls = self.n_calls, self.eval_freq
        try:
            going_on = super()._on_step()
        finally:
            self.n_calls = calls
        self.curve.append((self.num_timesteps, self._home))
        self.say(
            f"{self.num_timesteps:>9,} moves: {np.mean(self._home):5.2f} cards home on the validation deals"
        )
        return going_on

    def _log_success_callback(self, locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        super()._log_success_callback(locals_, globals_)
        if locals_["done"]:
            self._home.append(round(locals_["info"]["episode"]["r"] / LEARNING_REWARD.foundation))


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


def train(
    settings: TrainSettings, folder: Path, say: Say = print, progress_bar: bool = True
) -> list[Results]:
    """Train, benchmark and save; Ctrl-C ends the training early and keeps the best model so far.

    Args:
        settings: what to do.
        folder: where the files go; it must be empty or not exist yet.
        say: told how it goes, a line at a time.
        progress_bar: show one while learning.

    Returns:
        The benchmark of the model and of the baselines.

    Raises:
        BoulangerError: the folder holds something already, or there is no such set of test deals.
        OSError: a file cannot be written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BoulangerError(f"{folder} is not empty: choose another folder with --output, or move it away")
    test_deals = load(settings.test_deals or f"c{settings.n_cells}-test-all")
    validation = load(f"c{settings.n_cells}-validation-100")
    (folder / "benchmark").mkdir(parents=True, exist_ok=True)

    started = time.monotonic()
    model = make_model(settings, make_envs(settings, settings.n_envs))
    assert model.env is not None
    model.env.seed(settings.seed)
    evaluation = Evaluation(validation, settings, folder, say)
    interrupted = False
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="rich is experimental"
            )  # the progress bar's, about itself
            model.learn(settings.timesteps, callback=evaluation, progress_bar=progress_bar)
    except KeyboardInterrupt:
        interrupted = True
        say("interrupted: the best model so far is kept; the benchmark follows (Ctrl-C again stops it, too)")
    learned = time.monotonic() - started
    if not evaluation.curve:
        raise KeyboardInterrupt
    os.replace(folder / "best_model.zip", folder / "model.zip")

    say(f"benchmark on {test_deals.name} ...")
    rules: dict[str, Any] = {"prune": True, "max_episode_steps": settings.max_episode_steps}
    player = as_policy(str(folder / "model.zip"), "trained", sample=True)
    best = Best()
    results = [evaluate(player, test_deals, record=best.see, **rules)]
    results += [evaluate(name, test_deals, **rules) for name in BASELINES]
    for result in results:
        result.save(folder / "benchmark" / f"{result.policy}.jsonl")
    on_validation = {name: evaluate(name, validation, **rules).summary.cards_home.value for name in BASELINES}
    assert best.replay is not None
    _save(
        folder,
        settings,
        evaluation,
        results,
        on_validation,
        best.replay,
        learned,
        interrupted,
        model.num_timesteps,
    )
    return results


class Best:
    """Keeps the game most worth showing: won, many cards home, few moves.

    Attributes:
        replay: the best one seen so far, or None.
    """

    def __init__(self) -> None:
        self.replay: Replay | None = None

    def see(self, replay: Replay) -> None:
        """Look at one more game."""
        if self.replay is None or _merit(replay) > _merit(self.replay):
            self.replay = replay


def _merit(replay: Replay) -> tuple[bool, int, int]:
    return replay.outcome == "won", replay.end.cards_home, -replay.end.moves


def _save(
    folder: Path,
    settings: TrainSettings,
    evaluation: Evaluation,
    results: list[Results],
    on_validation: dict[str, float],
    replay: Replay,
    seconds: float,
    interrupted: bool,
    timesteps: int,
) -> None:
    content = {
        "version": boulanger_env.__version__,
        "settings": asdict(settings),
        "timesteps": timesteps,
        "interrupted": interrupted,
        "seconds_of_training": round(seconds, 1),
        "learning_curve": [
            {"timesteps": step, "mean_cards_home": float(np.mean(home)), "cards_home": home}
            for step, home in evaluation.curve
        ],
        "benchmark": {result.policy: result.summary_dict() for result in results},
        "deals": {"name": results[0].deals, "fingerprint": results[0].fingerprint},
        "replay": replay.start.code,
    }
    write_text(folder / "results.json", json.dumps(content, indent=1) + "\n")
    write_text(folder / "results.md", f"{markdown(results)}\n{caption(results)}\n")
    replay.save(folder / "replay.json")
    write_text(folder / "replay.html", replay.to_html())
    title = f"MaskablePPO, {settings.n_cells} cells, 100 validation deals"
    learning_curve(folder / "learning_curve.png", evaluation.curve, on_validation, title)
