"""The main job, end to end and small, and what it relies on: sampled models, replays, the folder it writes."""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from support.example_starts import example_starts
from support.paths import ROOT
from typer.testing import CliRunner

from boulanger_env import BoulangerEnv
from boulanger_env.agents import as_policy
from boulanger_env.benchmark import Comparison, Results, evaluate
from boulanger_env.benchmark.statistics import Estimate
from boulanger_env.cli import app
from boulanger_env.cli.train import new_folder
from boulanger_env.deals import ReverseCurriculum
from boulanger_env.envs.sampling import draw_by_probability
from boulanger_env.files.locks import open_locked
from boulanger_env.game import BoulangerError
from boulanger_env.replay import Replay
from boulanger_env.training import TrainSettings, checkpoint, job, outcome, progress, resume, train
from boulanger_env.training.budget import Budget
from boulanger_env.training.setup import RULES

FILES = {
    "model.zip",
    "checkpoint.pt",
    "starts.npz",
    "log.txt",
    "results.json",
    "results.md",
    "learning_curve.png",
    "replay.json",
    "replay.html",
    "benchmark",
}
SMALL = TrainSettings(
    timesteps=512, n_envs=8, n_steps=16, evaluations=2, validation_deals=10, max_episode_steps=40
)


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
    assert "solutions say where games start, never what to play" in run.output
    # Not a terminal: no control codes, no bar, a line for each evaluation, and none of them cut.
    assert all(character.isprintable() or character == "\n" for character in run.output)
    assert run.output.count(" of 300 validation deals won") == 2
    assert "decisions before their end; 0:00 left\n" in run.output
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
    assert all(point["deals"] == 300 for point in content["learning_curve"])
    assert content["timesteps"] == content["learning_curve"][-1]["timesteps"] >= 512
    assert content["start_positions"] > 500
    assert list(content["benchmark"]) == ["few"]
    benchmark = content["benchmark"]["few"]
    assert set(benchmark) == {"trained", "random", "greedy"}
    pairs = {(pair["first"], pair["second"]) for pair in content["comparison"]}
    assert pairs == {("trained", "random"), ("trained", "greedy"), ("random", "greedy")}
    assert content["torch_threads"] == 1
    table = (folder / "results.md").read_text()
    assert "| trained | greedy |" in table
    assert "1 for a win, 0 for anything else. Solutions of 32 training deals gave positions" in table
    assert "never moves to play" in table
    for name in benchmark:
        results = Results.load(folder / "benchmark" / "few" / f"{name}.jsonl")
        assert results.summary.cards_home.value == benchmark[name]["cards_home"]["value"]
        assert results.games[0].code == "MS-C4-1"


def test_the_replay_is_the_best_game_of_the_benchmark(folder: Path) -> None:
    replay = Replay.load(folder / "replay.json")
    rows = Results.load(folder / "benchmark" / "few" / "trained.jsonl").games
    best = max((row.won, row.cards_home, -row.moves) for row in rows)
    assert (replay.outcome == "won", replay.end.cards_home, -replay.end.moves) == best
    assert replay.settings is not None
    assert replay.settings["auto_foundation"] is True
    assert replay.settings["no_repeats"] is True
    assert json.loads((folder / "results.json").read_text())["replay"] == replay.start.code
    results = Results.load(folder / "benchmark" / "few" / "trained.jsonl")
    page = (folder / "replay.html").read_text()
    assert f"wins {100 * results.summary.win_rate.value:.1f} % of {results.deals}" in page
    assert "the chance of winning" in page


def test_the_replay_says_what_the_model_thought(folder: Path) -> None:
    replay = Replay.load(folder / "replay.json")
    model = MaskablePPO.load(folder / "model.zip", device="cpu")
    env = BoulangerEnv(**RULES)
    observation, info = env.reset(options={"code": replay.start.code})
    for action, annotation in list(zip(replay.actions, replay.annotations, strict=True))[:5]:
        tensor, _ = model.policy.obs_to_tensor({key: value[None] for key, value in observation.items()})
        with torch.no_grad():
            distribution = model.policy.get_distribution(tensor, info["action_mask"][None] == 1)
            probabilities = distribution.probs[0].numpy()
            value = float(model.policy.predict_values(tensor)[0, 0])
        assert annotation is not None
        assert annotation.value == pytest.approx(value, abs=1e-5)
        assert 0 < value < 1
        assert len(annotation.choices) <= 5
        shares = [share for _, share in annotation.choices]
        assert shares == pytest.approx(sorted(probabilities)[::-1][: len(shares)], abs=1e-5)
        # It plays the likeliest: by place in the replay, by card in the environment.
        assert action == annotation.choices[0][0]
        observation, _, _, _, info = env.step(int(probabilities.argmax()))


def test_the_saved_model_gives_the_saved_benchmark_again(folder: Path, few_deals: Path) -> None:
    saved = Results.load(folder / "benchmark" / "few" / "trained.jsonl")
    assert {name: saved.settings[name] for name in RULES} == RULES
    assert saved.settings["max_episode_steps"] == 200
    assert saved.details["sample"] is False
    player = as_policy(folder / "model.zip", "trained")
    for batch_size in (64, 1):
        again = evaluate(player, few_deals, batch_size=batch_size)
        assert again.games == saved.games
        assert again.settings == saved.settings


def test_bench_gives_the_same_games(folder: Path, few_deals: Path, tmp_path: Path) -> None:
    agent = f"trained={folder / 'model.zip'}"
    command = ["bench", "--agent", agent, "--deals", str(few_deals), "--output", str(tmp_path)]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0, run.output
    again = Results.load(tmp_path / "trained.jsonl")
    assert again == Results.load(folder / "benchmark" / "few" / "trained.jsonl")


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
    job._claim(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["benchmark"]


KILLED = """
import os, signal, sys
from pathlib import Path

import torch
from sb3_contrib import MaskablePPO
from boulanger_env.training import TrainSettings, train

torch.set_num_threads(1)
save, write = MaskablePPO.save, torch.save
saves = []

def counted(self, *arguments, **keywords):
    saves.append(self.num_timesteps)
    save(self, *arguments, **keywords)

def killed(content, file, *arguments, **keywords):
    if len(saves) == 2:
        file.write(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    write(content, file, *arguments, **keywords)

MaskablePPO.save, torch.save = counted, killed
settings = TrainSettings(
    timesteps=512, n_envs=8, n_steps=16, evaluations=2, validation_deals=10, max_episode_steps=40
)
train(settings, Path(sys.argv[1]))
"""


def test_a_kill_while_a_better_model_is_saved_leaves_the_earlier_one(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert run.stdout.count(" validation deals won") == 1
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
        for claim in [pool.submit(job._claim, empty) for _ in range(24)]:
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
    line = outcome._verdict(pair)
    assert line.startswith(said)
    assert ("p < 0.001" if pair.p_holm < 0.001 else f"p = {pair.p_holm:.3f}") in line
    assert line.endswith("cards home -1.2 [-2.0, -0.5]")


def interrupt_after(monkeypatch: pytest.MonkeyPatch, timesteps: int) -> None:
    """Let Ctrl-C come after so many moves of a training."""
    step = progress.Watch._on_step

    def interrupt(self: progress.Watch) -> bool:
        if self.num_timesteps >= timesteps:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(progress.Watch, "_on_step", interrupt)


def test_an_interrupted_run_still_reports(
    few_deals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(monkeypatch, 256)
    settings = replace(SMALL, timesteps=100_000, test_deals=str(few_deals))
    train(settings, tmp_path / "run", say=lambda line: None)
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES
    assert json.loads((tmp_path / "run" / "results.json").read_text())["interrupted"] is True


@pytest.mark.parametrize("curriculum", [True, False])
def test_a_resumed_run_goes_on_exactly(
    few_deals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, curriculum: bool
) -> None:
    settings = replace(SMALL, test_deals=str(few_deals), curriculum=curriculum, n_cells=2)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(settings, whole, say=lambda line: None)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 400)
        train(settings, parts, say=lambda line: None)
    assert checkpoint.load(parts / "checkpoint.pt").content["timesteps"] == 256
    said: list[str] = []
    results = resume(parts, say=said.append)
    assert said[0].startswith("going on after 256 decisions")
    ours, theirs = (checkpoint.load(folder / "checkpoint.pt") for folder in (whole, parts))
    points = [[point[1:] for point in found.progress.points] for found in (ours, theirs)]
    assert points[0] == points[1]
    assert [point[0] for point in points[0]] == [0, 256, 512]
    for name in ("policy", "games", "curriculum"):
        assert list(ours.content[name]) == list(theirs.content[name])
        assert all(torch.equal(a, theirs.content[name][key]) for key, a in ours.content[name].items()), name
    assert results[0][0].games == Results.load(whole / "benchmark" / "few" / "trained.jsonl").games
    # With a new limit it goes on from there, and evaluates again.
    resume(parts, timesteps=1024, say=said.append)
    assert checkpoint.load(parts / "checkpoint.pt").progress.points[-1].timesteps == 1024
    lines = (parts / "log.txt").read_text().splitlines()
    assert [line for line in lines if line.startswith("going on")] == [
        line for line in said if line.startswith("going on")
    ]


def test_what_cannot_be_resumed(folder: Path, tmp_path: Path) -> None:
    def refused(*arguments: object) -> str:
        run = CliRunner().invoke(app, ["train", *map(str, arguments)])
        assert run.exit_code == 1
        return run.stderr

    assert "no run in" in refused("--resume", tmp_path)
    assert "goes on as the run began" in refused("--resume", folder, "--seed", 4)
    assert "ends by one of them" in refused("--resume", folder, "--minutes", 1, "--timesteps", 5)
    with open_locked(folder / "log.txt"):
        assert "another process is working on the run" in refused("--resume", folder)
    (tmp_path / "checkpoint.pt").write_bytes(b"PK")
    assert "not a checkpoint of boulanger train" in refused("--resume", tmp_path)
    whole = (folder / "checkpoint.pt").read_bytes()
    (tmp_path / "checkpoint.pt").write_bytes(whole[: len(whole) // 2])
    assert "not a checkpoint of boulanger train" in refused("--resume", tmp_path)


def test_a_budget_of_time_ends_a_run(few_deals: Path, tmp_path: Path) -> None:
    settings = replace(SMALL, timesteps=None, minutes=0.1, test_deals=str(few_deals))
    said: list[str] = []
    train(settings, tmp_path / "run", say=said.append)
    content = json.loads((tmp_path / "run" / "results.json").read_text())
    assert content["timesteps"] > 0
    assert said[0].startswith("0.1 minutes in all")
    assert any(line.endswith("0:00 left") for line in said)


def test_progress_of_a_budget() -> None:
    now = [100.0]
    timed = Budget(600, None, used=20, began=10, clock=lambda: now[0])
    # 540 seconds of learning end it, 60 are kept for the benchmark.
    assert timed.progress(5) == pytest.approx(10 / 530)
    assert timed.left(5) == 520
    now[0] += 265
    assert timed.used == 285
    assert timed.progress(5) == pytest.approx(275 / 530)
    timed.begin_learning()
    assert timed.progress(5) == 0
    now[0] += 1000
    assert (timed.progress(5), timed.left(5)) == (1, 0)
    moves = Budget(None, 200, clock=lambda: now[0])
    assert (moves.progress(0), moves.left(0)) == (0, None)
    now[0] += 30
    assert (moves.progress(50), moves.left(50)) == (0.25, 90)
    assert moves.progress(201) == 1
    # Whoever spends all the time on solving deals learns nothing.
    assert Budget(60, None, used=58, began=58, clock=lambda: 0.0).progress(0) == 1


def test_the_front_is_where_half_of_the_games_are_won() -> None:
    starts = example_starts()
    curriculum = ReverseCurriculum(starts)
    groups = np.unique(starts.left)
    assert progress.front(None) is None
    assert progress.front(curriculum) == groups[-1]
    curriculum.wins[:] = 0.4
    assert progress.front(curriculum) == 0
    curriculum.wins[groups[:3]] = 0.6
    curriculum.wins[groups[5]] = 0.9
    assert progress.front(curriculum) == groups[2]


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
    [
        ({"timesteps": 0}, "timesteps"),
        ({"n_envs": -1}, "n_envs"),
        ({"minutes": 0}, "minutes=0 must be"),
        ({"minutes": float("nan")}, "minutes=nan"),
        ({"minutes": 1, "timesteps": 5}, "ends by one of them"),
    ],
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
