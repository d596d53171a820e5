"""``benchmarks/starts_and_states.py`` runs and reports every figure."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import starts_and_states


def test_the_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(starts_and_states, "GAMES", 16)
    path = tmp_path / "figures.json"
    arguments = ["--repeats", "1", "--deals", "5", "--json", str(path)]
    monkeypatch.setattr(sys, "argv", ["starts_and_states.py", *arguments])
    starts_and_states.main()
    figures = {row["name"]: row["value"] for row in json.loads(path.read_text())}
    assert figures["positions to start from"] > 100
    assert all(value > 0 for value in figures.values())
    assert {
        "an episode's start, drawn to dealt",
        "get_state of 1024 games",
        "set_state of 1024 games",
    } <= set(figures)
    assert "(goal <= 1)" in capsys.readouterr().out
