"""What a training run leaves behind: the benchmark of its model, tables, a curve and a game to look at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch as th

import boulanger_env
from boulanger_env.benchmark import Comparison, Results, compare, evaluate
from boulanger_env.benchmark.statistics import Estimate
from boulanger_env.deals import Starts
from boulanger_env.files import write_text
from boulanger_env.game.outcomes import WON
from boulanger_env.replay import Replay
from boulanger_env.replay.diagnosed import could_be_won, diagnose_within, left_out
from boulanger_env.report.tables import (
    Table,
    comparison_table,
    markdown_caption,
    markdown_table,
    p_text,
    results_table,
    strength,
    tenths,
)

from .checkpoint import Progress
from .curve import learning_curve
from .progress import Say
from .setup import RULES, TrainSettings

TRAINED, BASELINES = "trained", ("random", "greedy")

_LEVEL = 0.05  # of significance
_BATCH = 256


def write_outcome(
    progress: Progress, folder: Path, say: Say, starts: Starts | None, *, interrupted: bool
) -> list[list[Results]]:
    """Benchmark the saved model and the baselines, and write everything that ``job`` lists."""
    settings, model_file = progress.settings, folder / "model.zip"
    best = Best()
    by_set = []
    for number, deals in enumerate(settings.test_sets()):
        say(f"benchmark on {deals.name} ...")
        # The model plays as it was saved, the baselines as everywhere else.
        record = best.see if number == 0 else None
        results = [evaluate(model_file, deals, name=TRAINED, record=record, batch_size=_BATCH)]
        results += [evaluate(name, deals) for name in BASELINES]
        place = folder / "benchmark" / deals.name
        place.mkdir(exist_ok=True)
        for result in results:
            result.save(place / f"{result.policy}.jsonl")
        by_set.append(results)
    validation = settings.validation_set()
    on_validation = {name: evaluate(name, validation).summary.win_rate.value for name in BASELINES}

    assert best.replay is not None
    best.replay.save(folder / "replay.json")
    (diagnosis,) = found = diagnose_within([(best.replay.start, best.replay.played)])
    if missing := left_out(found):
        say(missing)
    page = best.replay.to_html(
        diagnosis=diagnosis,
        solvable=could_be_won(best.replay) if diagnosis is None else None,
        strength=strength(by_set[0][0]),
        value_unit="the chance of winning",
    )
    write_text(folder / "replay.html", page)
    pairs = compare(by_set[0])
    write_text(folder / "results.md", _markdown(settings, by_set, pairs, starts))
    learning_curve(folder / "learning_curve.png", progress.points, on_validation, settings)
    content = {
        "version": boulanger_env.__version__,
        "settings": asdict(settings),
        "rules": RULES,
        "timesteps": progress.points[-1].timesteps,
        "interrupted": interrupted,
        "seconds": round(progress.used, 1),
        "seconds_before_learning": round(progress.began, 1),
        "processor_seconds": round(progress.cpu, 1),
        "torch_threads": th.get_num_threads(),
        "start_positions": 0 if starts is None else len(starts),
        "learning_curve": [point._asdict() for point in progress.points],
        "benchmark": {
            results[0].deals: {result.policy: result.summary_dict() for result in results}
            for results in by_set
        },
        "comparison": [_plain(pair) for pair in pairs],
        "deals": {results[0].deals: results[0].fingerprint for results in by_set},
        "replay": best.replay.start.code,
    }
    write_text(folder / "results.json", json.dumps(content, indent=1) + "\n")
    return by_set


def learned_from(settings: TrainSettings, starts: Starts | None) -> str:
    """What the agent learned from, in a sentence or two."""
    told = "Learned from rewards alone: 1 for a win, 0 for anything else."
    if starts is None:
        return f"{told} Every game was a whole deal."
    return (
        f"{told} Solutions of {len(settings.training_deals()):,} training deals gave positions to start games from, "
        "never moves to play."
    )


def both_tables(by_set: Sequence[Sequence[Results]], *, narrow: bool = False) -> Table:
    """The table of the first deal set, with the share won of each further one as a column of its own."""
    rows = [list(row) for row in results_table(by_set[0], narrow=narrow)]
    if len(by_set) == 1:
        return rows
    place = rows[0].index("won")
    rows[0][place] = f"won, {by_set[0][0].deals}"
    for further in reversed(by_set[1:]):
        other = results_table(further, narrow=narrow)
        won = other[0].index("won")
        for row, cells in zip(rows, other, strict=True):
            row.insert(place + 1, f"won, {further[0].deals}" if row is rows[0] else cells[won])
    return rows


def _markdown(
    settings: TrainSettings,
    by_set: Sequence[Sequence[Results]],
    pairs: Sequence[Comparison],
    starts: Starts | None,
) -> str:
    captions = "\n\n".join(markdown_caption(results) for results in by_set)
    return (
        f"{markdown_table(both_tables(by_set))}\n{learned_from(settings, starts)} It plays the likeliest move that "
        f"leads to no earlier position.\n\n{captions}\n\n{markdown_table(comparison_table(pairs), 2)}"
    )


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
