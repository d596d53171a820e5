"""The main job, end to end and small, and what it relies on: sampled models, replays, the folder it writes."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from support.paths import ROOT
from typer.testing import CliRunner

from boulanger_env import BoulangerEnv
from boulanger_env.agents import as_policy
from boulanger_env.benchmark import Comparison, Results, evaluate
from boulanger_env.benchmark.statistics import Estimate
from boulanger_env.cli import app
from boulanger_env.cli.train import new_folder
from boulanger_env.envs.sampling import draw_by_probability
from boulanger_env.game import BoulangerError
from boulanger_env.replay import Replay
from boulanger_env.solver import diagnose
from boulanger_env.training import TrainSettings, job, train, validation

FILES = {
    "model.zip",
    "results.json",
    "results.md",
    "learning_curve.png",
    "replay.json",
    "replay.html",
    "benchmark",
}
SMALL = TrainSettings(timesteps=512, n_envs=8, n_steps=16, evaluations=2, max_episode_steps=40)


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def folder(one_thread: None, few_deals: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    run = CliRunner().invoke(
        app,
        [
            "train",
            "--timesteps",
            "512",
            "--test-deals",
            str(few_deals),
            "--output",
            str(folder),
            "--seed",
            "3",
        ],
    )
    assert run.exit_code == 0, run.output
    assert all(word in run.output for word in ("trained", "random", "greedy", "validation"))
    # Not a terminal: no control codes, no bar, a line for each evaluation, and none of them cut.
    assert all(character.isprintable() or character == "\n" for character in run.output)
    assert run.output.count("cards home on the validation deals\n") == 2
    assert run.output.count("between trained and") == 2
    assert run.output.endswith(f" are in {folder}\n")
    return folder


def test_the_folder_is_complete(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == FILES
    assert (folder / "learning_curve.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_results_say_what_was_done(folder: Path) -> None:
    content = json.loads((folder / "results.json").read_text())
    assert content["interrupted"] is False
    assert content["settings"]["seed"] == 3
    assert content["learning_curve"][0]["timesteps"] == 0
    assert all(len(point["cards_home"]) == 100 for point in content["learning_curve"])
    assert set(content["benchmark"]) == {"trained", "random", "greedy"}
    pairs = {(pair["first"], pair["second"]) for pair in content["comparison"]}
    assert pairs == {("trained", "random"), ("trained", "greedy"), ("random", "greedy")}
    assert content["torch_threads"] == 1
    table = (folder / "results.md").read_text()
    assert "| trained | greedy |" in table
    for name in content["benchmark"]:
        results = Results.load(folder / "benchmark" / f"{name}.jsonl")
        assert results.summary.cards_home.value == content["benchmark"][name]["cards_home"]["value"]
        assert results.games[0].code == "MS-C4-1"


def test_the_replay_is_the_best_game_of_the_benchmark(folder: Path) -> None:
    replay = Replay.load(folder / "replay.json")
    rows = Results.load(folder / "benchmark" / "trained.jsonl").games
    best = max((row.won, row.cards_home, -row.moves) for row in rows)
    assert (replay.outcome == "won", replay.end.cards_home, -replay.end.moves) == best
    assert replay.settings is not None
    assert replay.settings["prune"] is True
    assert json.loads((folder / "results.json").read_text())["replay"] == replay.start.code
    results = Results.load(folder / "benchmark" / "trained.jsonl")
    assert (folder / "replay.html").read_text() == replay.to_html(
        diagnosis=diagnose(replay.start, replay.actions),
        strength=f"wins {100 * results.summary.win_rate.value:.1f} % of {results.deals}",
        value_unit="the reward still expected, 0.1 for each card home",
    )


def test_the_replay_says_what_the_model_thought(folder: Path) -> None:
    replay = Replay.load(folder / "replay.json")
    model = MaskablePPO.load(folder / "model.zip", device="cpu")
    env = BoulangerEnv(observation="cards", prune=True)
    observation, info = env.reset(options={"code": replay.start.code})
    for action, annotation in list(zip(replay.actions, replay.annotations, strict=True))[:5]:
        tensor, _ = model.policy.obs_to_tensor({key: value[None] for key, value in observation.items()})
        with torch.no_grad():
            distribution = model.policy.get_distribution(tensor, info["action_mask"][None] == 1)
            probabilities = distribution.probs[0].numpy()
            value = float(model.policy.predict_values(tensor)[0, 0])
        assert annotation is not None
        assert annotation.value == pytest.approx(value, abs=1e-5)
        assert len(annotation.choices) <= 5
        shares = [share for _, share in annotation.choices]
        assert shares == pytest.approx(sorted(probabilities)[::-1][: len(shares)], abs=1e-5)
        for choice, share in annotation.choices:
            assert info["action_mask"][choice]
            assert share == pytest.approx(float(probabilities[choice]), abs=1e-5)
        observation, _, _, _, info = env.step(action)


def test_the_saved_model_gives_the_saved_benchmark_again(folder: Path, few_deals: Path) -> None:
    saved = Results.load(folder / "benchmark" / "trained.jsonl")
    assert saved.settings["prune"] is True
    assert saved.settings["max_episode_steps"] == 200
    assert saved.details["sample"] is True
    player = as_policy(folder / "model.zip", "trained")
    for batch_size in (64, 1):
        again = evaluate(player, few_deals, batch_size=batch_size)
        assert again.games == saved.games
        assert again.settings == saved.settings
    other = evaluate(player, few_deals, seed=1)
    assert other.games != saved.games


def test_bench_gives_the_same_games(folder: Path, few_deals: Path, tmp_path: Path) -> None:
    agent = f"trained={folder / 'model.zip'}"
    command = ["bench", "--agent", agent, "--deals", str(few_deals), "--output", str(tmp_path)]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output
    again = Results.load(tmp_path / "trained.jsonl")
    assert again == Results.load(folder / "benchmark" / "trained.jsonl")


def test_a_folder_in_use_is_refused(folder: Path, few_deals: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    run = CliRunner().invoke(app, ["train", "--test-deals", str(few_deals), "--output", str(folder)])
    assert run.exit_code == 1
    assert "not empty" in run.output
    assert sorted(path.name for path in folder.iterdir()) == before


def test_what_is_not_a_folder_is_rejected(few_deals: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run = CliRunner().invoke(
        app, ["train", "--test-deals", str(few_deals), "--output", str(tmp_path / "file")]
    )
    assert run.exit_code == 1
    assert "file is a file: choose a folder with --output" in run.output


def test_a_folder_with_nothing_but_what_a_kill_left_is_empty(tmp_path: Path) -> None:
    left = tmp_path / f".{'a0' * 8}.tmp"
    left.touch()
    job._claimed(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark"]


KILLED = """
import os, signal, sys
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from boulanger_env.training import TrainSettings, train
from boulanger_env.training.validation import Evaluation

torch.set_num_threads(1)
evaluate, save, write = Evaluation._evaluate, MaskablePPO.save, torch.save
saves = []

def always_better(self):
    self.best_mean_reward = -np.inf
    return evaluate(self)

def counted(self, *arguments, **keywords):
    saves.append(self.num_timesteps)
    save(self, *arguments, **keywords)

def killed(content, file, *arguments, **keywords):
    if len(saves) == 2:
        file.write(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    write(content, file, *arguments, **keywords)

Evaluation._evaluate, MaskablePPO.save, torch.save = always_better, counted, killed
settings = TrainSettings(timesteps=512, n_envs=8, n_steps=16, evaluations=2, max_episode_steps=40)
train(settings, Path(sys.argv[1]), progress_bar=False)
"""


def test_a_kill_while_a_better_model_is_saved_leaves_the_earlier_one(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert run.stdout.count(" cards home on the validation deals") == 1
    assert MaskablePPO.load(tmp_path / "model.zip", device="cpu").num_timesteps == 0


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    stem = tmp_path / "runs" / "c4-20300101-000000"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(new_folder, [stem] * 24))
    assert len(set(made)) == 24
    assert made[0].parent == tmp_path / "runs"
    assert {path.name for path in made} == {
        stem.name,
        *(f"{stem.name}-{number}" for number in range(2, 25)),
    }
    empty = tmp_path / "empty"
    claims = []
    with ThreadPoolExecutor(8) as pool:
        for claim in [pool.submit(job._claimed, empty) for _ in range(24)]:
            claims.append(claim.exception())
    assert claims.count(None) == 1
    assert all(isinstance(error, BoulangerError) for error in claims if error is not None)


def test_wrong_test_deals_are_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(app, ["train", "--test-deals", "c4-tset"])
    assert run.exit_code == 1
    assert "c4-tset" in run.stderr
    assert list(tmp_path.iterdir()) == []


def paired(better: int, worse: int, p: float) -> Comparison:
    rate, home = Estimate(0.1, 0.05, 0.15), Estimate(-1.25, -2.0, -0.5)
    return Comparison("trained", "greedy", better, worse, rate, home, p / 2, p)


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (
            paired(50, 20, 0.0001),
            "trained wins more often than greedy: 50 deals won only by trained, 20 only by greedy",
        ),
        (paired(20, 50, 0.03), "trained wins less often than greedy: 20"),
        (paired(30, 20, 0.2), "no clear difference in wins between trained and greedy: 30"),
    ],
)
def test_the_verdict_is_that_of_the_test(pair: Comparison, said: str) -> None:
    line = job._verdict(pair)
    assert line.startswith(said)
    assert ("p < 0.001" if pair.p_holm < 0.001 else f"p = {pair.p_holm:.3f}") in line
    assert line.endswith("cards home -1.2 [-2.0, -0.5]")


def test_an_interrupted_run_still_reports(
    few_deals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = validation.Evaluation._on_step

    def interrupt(self: validation.Evaluation) -> bool:
        if self.num_timesteps >= 256:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(validation.Evaluation, "_on_step", interrupt)
    settings = TrainSettings(**{**SMALL.__dict__, "timesteps": 100_000, "test_deals": str(few_deals)})
    train(settings, tmp_path / "run", say=lambda line: None, progress_bar=False)
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES
    assert json.loads((tmp_path / "run" / "results.json").read_text())["interrupted"] is True


def test_the_plain_network_trains_too(few_deals: Path, tmp_path: Path) -> None:
    settings = TrainSettings(
        **{**SMALL.__dict__, "network": "mlp", "test_deals": str(few_deals), "n_cells": 2}
    )
    results = train(settings, tmp_path / "run", say=lambda line: None, progress_bar=False)
    assert [result.policy for result in results] == ["trained", "random", "greedy"]


def test_the_example_runs(
    few_deals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = ROOT / "examples" / "train_maskable_ppo.py"
    arguments = [
        "--timesteps",
        "512",
        "--test-deals",
        str(few_deals),
        "--output",
        str(tmp_path / "run"),
        "--cells",
        "1",
    ]
    monkeypatch.setattr("sys.argv", [str(example), *arguments])
    runpy.run_path(str(example), run_name="__main__")
    assert "between trained and greedy: " in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"network": "cnn"}, "cnn"), ({"timesteps": 0}, "timesteps"), ({"n_envs": -1}, "n_envs")],
)
def test_settings_are_checked(wrong: dict, named: str) -> None:
    with pytest.raises(BoulangerError, match=named):
        TrainSettings(**wrong)


def test_draws_follow_the_probabilities() -> None:
    weights = np.array([0.1, 0.0, 0.2, 0.5, 0.2], np.float32)
    legal = np.array([True, True, True, True, False])
    n = 20_000
    drawn = np.empty(n, np.int64)
    draw_by_probability(
        np.tile(weights, (n, 1)),
        np.tile(legal, (n, 1)),
        np.arange(n, dtype=np.uint64) << np.uint64(20),
        drawn,
    )
    shares = np.bincount(drawn, minlength=5) / n
    # 4 standard errors of the largest share.
    assert np.abs(shares - np.array([0.125, 0, 0.25, 0.625, 0])).max() < 4 * np.sqrt(0.625 * 0.375 / n)
    assert shares[[1, 4]].tolist() == [0, 0]
