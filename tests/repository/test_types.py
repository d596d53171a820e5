"""The types of a user's script, ``typed_use.py``; and that the keywords' types are those of the environments."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from support.paths import ROOT, TESTS

from boulanger_env import BoulangerEnv, BoulangerVectorEnv
from boulanger_env.envs import REWARDS, options, settings
from boulanger_env.envs.observations import KINDS

SCRIPT = TESTS / "repository" / "typed_use.py"


def checked(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )


def mypy(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mypy")
    # No cache of the checkout's, whose settings are others.
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--cache-dir",
        str(folder / "cache"),
    ]
    # PEP 561: as a package that is installed.
    return checked([*command, "--no-incremental", str(script)], folder)


def pyright(_: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = shutil.which("pyright")
    if command is None:
        pytest.skip("pyright is not installed")
    version = checked([command, "--version"], folder)
    if version.returncode:
        pytest.skip(f"pyright cannot fetch its own program, or there is no node: {version.stdout[-300:]}")
    rules = {"typeCheckingMode": "strict", "reportUnnecessaryTypeIgnoreComment": "error"}
    (folder / "pyrightconfig.json").write_text(json.dumps(rules))
    return checked([command, "--pythonpath", sys.executable, "-p", str(folder)], folder)


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_users_script(checker: object, tmp_path: Path) -> None:
    assert callable(checker)
    result = checker(Path(shutil.copy(SCRIPT, tmp_path)), tmp_path)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_checkers_see_a_wrong_type(checker: object, tmp_path: Path) -> None:
    """The script says nothing if a checker takes everything for Any."""
    assert callable(checker)
    wrong = tmp_path / "wrong.py"
    source = SCRIPT.read_text(encoding="utf-8")
    wrong.write_text(source.replace("assert_type(bits, Bits)", "assert_type(bits, Cards)"), encoding="utf-8")
    result = checker(wrong, tmp_path)
    assert result.returncode == 1, result.stdout
    assert "wrong.py:" in result.stdout
    assert "dict[str" in result.stdout


def test_options_are_those_that_environments_take() -> None:
    assert get_args(options.ObservationKind) == tuple(KINDS)
    assert get_args(options.RewardName) == tuple(REWARDS)
    for name, kind in {
        "illegal_action": options.IllegalAction,
        "deal_order": options.DealOrder,
        "render_mode": options.RenderMode,
        "actions": options.ActionKind,
    }.items():
        choices = [choice for choice in settings._CHOICES[name] if choice is not None]
        assert list(get_args(kind)) == choices, name


def test_keywords_are_those_that_environments_take() -> None:
    def keywords(of: type) -> set[str]:
        return set(inspect.signature(of).parameters) - {"num_envs", "n_cells", "observation"}

    assert set(options.Keywords.__annotations__) == keywords(BoulangerEnv)
    assert set(options.BatchKeywords.__annotations__) == keywords(BoulangerVectorEnv)
    assert {*options.VecKeywords.__annotations__} == keywords(BoulangerEnv) | {"observation", "num_threads"}
