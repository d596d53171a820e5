"""The ``boulanger`` command as a whole: its help, and what all commands share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import boulanger_env
from boulanger_env.benchmark import evaluate

pytest.importorskip("typer")

from typer.testing import CliRunner

from boulanger_env.cli import app


def test_the_command_alone_is_its_help() -> None:
    run = subprocess.run([sys.executable, "-m", "boulanger_env"], capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr == ""
    assert run.stdout.startswith("Usage: boulanger [OPTIONS] COMMAND [ARGS]...\n")
    asked = subprocess.run([sys.executable, "-m", "boulanger_env", "-h"], capture_output=True, text=True)
    assert asked.returncode == 0
    assert asked.stdout == run.stdout
    commands = run.stdout.split("Commands:\n")[1].splitlines()
    assert len(commands) >= 8
    assert not any(line.endswith("...") for line in commands), "a summary is too long for 80 columns"


def test_version() -> None:
    run = CliRunner().invoke(app, ["--version"])
    assert run.exit_code == 0
    assert run.stdout == f"boulanger_env {boulanger_env.__version__}\n"


@pytest.mark.parametrize("options", [[], ["--threads", "3"]])
def test_torch_has_one_thread_while_agents_learn_and_then_its_own(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The trainer's own threads share a minibatch (--threads).
    torch = pytest.importorskip("torch")
    training = pytest.importorskip("boulanger_env.training")
    seen = []

    def train(*arguments: object, **keywords: object) -> None:
        seen.append(torch.get_num_threads())
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train", train)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        run = CliRunner().invoke(app, ["train", "--output", str(tmp_path / "run"), *options])
        assert run.exit_code == 1
        assert "stopped before the first evaluation" in run.stderr
        assert seen == [1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("options", "threads"), [([], 1), (["--threads", "3"], 3)])
def test_bench_does_the_same(options: list[str], threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from boulanger_env.cli import bench_agents as command

    seen = []

    def counted(*arguments: Any, **keywords: Any) -> Any:
        seen.append(torch.get_num_threads())
        return evaluate(*arguments, **keywords)

    monkeypatch.setattr(command, "evaluate", counted)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        run = CliRunner().invoke(app, ["bench", "--agent", "random", "--limit", "2", *options])
        assert run.exit_code == 0, run.output
        assert seen == [threads]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    "arguments", [["deal"], ["deal", "--bad"], ["nosuch"], ["train", "--timesteps", "abc"]]
)
def test_usage_errors_are_one_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from boulanger_env.cli import main

    monkeypatch.setattr("sys.argv", ["boulanger", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert lines[0].endswith("--help)")


@pytest.mark.parametrize(
    ("arguments", "code"), [(["deal", "MS-C4-1"], 0), (["deal", "MS-C4-0"], 1), (["--help"], 0)]
)
def test_the_command_reports_how_it_ended(
    arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from boulanger_env.cli import main

    monkeypatch.setattr("sys.argv", ["boulanger", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code or 0) == code
    assert boulanger_env.__version__
