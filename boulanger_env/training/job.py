"""The main job: train a masked agent, benchmark it against two baselines, and save the results.

Everything goes into one folder:

=====================  =====================================================================================
file                   content
=====================  =====================================================================================
``model.zip``          the model that did best on the validation deals, there from the first evaluation on
``results.md``         the benchmark's tables
``benchmark/``         the benchmark's games, one file per agent, one row per game
``learning_curve.png`` cards home on the validation deals over the training, beside the baselines
``replay.html``        the model's best test game, as a page that plays it
``replay.json``        the same game as a replay file
``results.json``       settings, learning curve, and the benchmark's summary; written last
=====================  =====================================================================================
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch as th

import boulanger_env
from boulanger_env.benchmark import Comparison, Results, compare, evaluate
from boulanger_env.benchmark.statistics import Estimate
from boulanger_env.files import is_empty, remove_partial, write_text
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.outcomes import WON
from boulanger_env.replay import Replay
from boulanger_env.replay.diagnosed import could_be_won, diagnose_within, left_out
from boulanger_env.report.tables import (
    comparison_table,
    markdown,
    markdown_caption,
    markdown_table,
    p_text,
    strength,
    tenths,
)

from .curve import learning_curve
from .setup import LEARNING_REWARD, TrainSettings, make_envs, make_model
from .validation import Evaluation, Say

TRAINED, BASELINES = "trained", ("random", "greedy")

_LEVEL = 0.05  # of significance


def train(
    settings: TrainSettings, folder: Path, say: Say = print, progress_bar: bool = True
) -> list[Results]:
    """Train, benchmark and save; Ctrl-C ends the training early and keeps the best model so far.

    PyTorch's number of threads is left as it is; for networks this small ``torch.set_num_threads(1)`` is best on
    a machine that is also doing other work.

    Args:
        settings: the training run.
        folder: where the files go; it must be empty or not exist yet.
        say: called with each line of progress.
        progress_bar: show a progress bar while learning.

    Returns:
        The benchmark of the model and of the baselines.

    Raises:
        BoulangerError: the folder is not empty.
        OSError: a file cannot be written.
        KeyboardInterrupt: Ctrl-C before the first evaluation, or during the benchmark.
    """
    benchmark_folder = _claimed(folder)
    say(f"{settings.timesteps:,} moves of training; what comes out goes to {folder}")
    model_file = folder / "model.zip"
    started = time.monotonic()
    model = make_model(settings, make_envs(settings, settings.n_envs))
    assert model.env is not None
    model.env.seed(settings.seed)
    evaluation = Evaluation(settings, model_file, say)
    interrupted = False
    try:
        with warnings.catch_warnings():
            # The progress bar's, about itself.
            warnings.filterwarnings("ignore", message="rich is experimental")
            model.learn(settings.timesteps, callback=evaluation, progress_bar=progress_bar)
    except KeyboardInterrupt:
        if not evaluation.curve:
            raise
        interrupted = True
        say("interrupted: the best model so far is kept; the benchmark follows (Ctrl-C again stops it, too)")
    learned = time.monotonic() - started

    test_deals, validation = settings.test_set(), settings.validation_set()
    say(f"benchmark on {test_deals.name} ...")
    best = Best()
    # The model plays as it was saved; the baselines play under the same rules.
    results = [evaluate(model_file, test_deals, name=TRAINED, record=best.see)]
    rules = {key: results[0].settings[key] for key in ("prune", "max_episode_steps")}
    results += [evaluate(name, test_deals, **rules) for name in BASELINES]
    pairs = compare(results)
    for result in results:
        result.save(benchmark_folder / f"{result.policy}.jsonl")
    on_validation = {name: evaluate(name, validation, **rules).summary.cards_home.value for name in BASELINES}
    assert best.replay is not None
    best.replay.save(folder / "replay.json")
    (diagnosis,) = found = diagnose_within([(best.replay.start, best.replay.played)])
    if missing := left_out(found):
        say(missing)
    page = best.replay.to_html(
        diagnosis=diagnosis,
        solvable=could_be_won(best.replay) if diagnosis is None else None,
        strength=strength(results[0]),
        value_unit=f"the reward still expected, {LEARNING_REWARD.foundation:g} for each card home",
    )
    write_text(folder / "replay.html", page)
    write_text(
        folder / "results.md",
        f"{markdown(results)}\n{markdown_caption(results)}\n\n{markdown_table(comparison_table(pairs), 2)}",
    )
    title = f"MaskablePPO, {settings.n_cells} cells, {len(validation)} validation deals"
    learning_curve(folder / "learning_curve.png", evaluation.curve, on_validation, title)
    content = {
        "version": boulanger_env.__version__,
        "settings": asdict(settings),
        "timesteps": model.num_timesteps,
        "interrupted": interrupted,
        "seconds_of_training": round(learned, 1),
        "torch_threads": th.get_num_threads(),
        "learning_curve": [
            {"timesteps": step, "mean_cards_home": float(np.mean(home)), "cards_home": home}
            for step, home in evaluation.curve
        ],
        "benchmark": {result.policy: result.summary_dict() for result in results},
        "comparison": [_plain(pair) for pair in pairs],
        "deals": {"name": test_deals.name, "fingerprint": test_deals.fingerprint},
        "replay": best.replay.start.code,
    }
    write_text(folder / "results.json", json.dumps(content, indent=1) + "\n")
    return results


def _claimed(folder: Path) -> Path:
    """Create the folder and its benchmark subfolder; of two concurrent runs only one can."""
    if folder.exists() and not folder.is_dir():
        raise BoulangerError(f"{folder} is a file: choose a folder with --output")
    folder.mkdir(parents=True, exist_ok=True)
    benchmark_folder = folder / "benchmark"
    try:
        if not is_empty(folder):
            raise FileExistsError
        benchmark_folder.mkdir()
    except FileExistsError:
        raise BoulangerError(
            f"{folder} is not empty: choose another folder with --output, or move it away"
        ) from None
    remove_partial(folder)
    return benchmark_folder


def verdicts(results: Sequence[Results]) -> list[str]:
    """Whether the first run wins more often than each of the others, one line for each."""
    return [_verdict(pair) for pair in compare(results)[: len(results) - 1]]


def _verdict(pair: Comparison) -> str:
    if pair.p_holm < _LEVEL:
        said = f"{pair.first} wins {'more' if pair.better > pair.worse else 'less'} often than {pair.second}"
    else:
        said = f"no clear difference in wins between {pair.first} and {pair.second}"
    home = pair.cards_home
    bounds = "" if home.low is None or home.high is None else f" [{tenths(home.low)}, {tenths(home.high)}]"
    return (
        f"{said}: {pair.better} deals won only by {pair.first}, {pair.worse} only by {pair.second} "
        f"(p {_p(pair.p_holm)}, McNemar's exact test with Holm's correction); "
        f"cards home {tenths(home.value, '+')}{bounds}"
    )


def _p(p: float) -> str:
    return p_text(p) if p < 0.001 else f"= {p_text(p)}"


def _plain(pair: Comparison) -> dict[str, Any]:
    return {
        name: value._asdict() if isinstance(value, Estimate) else value
        for name, value in pair._asdict().items()
    }


class Best:
    """Keeps the game most worth showing: won, many cards home, few moves.

    Attributes:
        replay: the best one seen so far, or None.
    """

    def __init__(self) -> None:
        self.replay: Replay | None = None

    def see(self, replay: Replay) -> None:
        """Consider one more game."""
        if self.replay is None or _merit(replay) > _merit(self.replay):
            self.replay = replay


def _merit(replay: Replay) -> tuple[bool, int, int]:
    return replay.outcome == WON, replay.end.cards_home, -replay.end.moves
