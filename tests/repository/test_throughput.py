"""``benchmarks/throughput.py`` runs, counts the right steps and reports what it has left out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import children
import contestants
import throughput
from contestants import Contestant, Entry

from boulanger_env import positions


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(
        sys, "argv", ["throughput.py", "--quick", "--seconds", "0.001", "--rounds", "1", *arguments]
    )
    throughput.main()


def test_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run(monkeypatch, "--only", "BoulangerVec", "--json", str(tmp_path / "out.json"))
    shown = capsys.readouterr().out
    for text in (
        "| step, steps/s |",
        "| BoulangerVectorEnv, SAME_STEP ",
        "| SB3 BoulangerVecEnv ",
        "| >= 1.7 ",
    ):
        assert text in shown
    found = json.loads((tmp_path / "out.json").read_text())
    assert {row["games"] for row in found["rows"]} >= {16, 1024}
    for row in found["rows"]:
        assert row["step"] > row["end to end"] > 0
        assert len(row["rounds"]) == 1
    assert found["machine"]["cores"] >= 1


def test_missing_peers_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("envpool", "pyspiel"):
        monkeypatch.setitem(sys.modules, name, None)  # as if not installed
    run(monkeypatch, "--only", "EnvPool")
    said = capsys.readouterr()
    assert said.err.count("left out: EnvPool") == 3
    assert "| environment" in said.out
    run(monkeypatch, "--only", "OpenSpiel", "--json", "-")
    said = capsys.readouterr()
    assert "left out: OpenSpiel solitaire: " in said.err
    assert json.loads(said.out)["rows"] == []


class Counted(Contestant):
    """Ten games of which one has ended, so that every other step of it is ignored."""

    n = 10
    calls = 0

    def sample(self) -> None:
        pass

    def step(self) -> None:
        self.calls += 1

    def account(self) -> tuple[int, int]:
        return (9, 0) if self.calls % 2 else (10, 1)


def test_only_real_steps_count() -> None:
    counted = Counted()
    result = throughput.measure(counted, 0.001)
    pairs, odd = divmod(counted.calls, 2)
    assert (result.steps, result.episodes) == (19 * pairs + 9 * odd, pairs)
    entry = Entry("x", 10, 1, "", Counted)
    assert throughput.row(entry, [result])["episode length"] == result.steps / pairs


@pytest.mark.parametrize("observation", ["cards", "features"])
def test_ignored_steps_of_the_batch(observation: str) -> None:
    batch = contestants._native(16, 1, observation, max_episode_steps=4)()
    played = ended = 0
    for _ in range(50):
        batch.sample()
        batch.step()
        steps, ends = batch.account()
        played += steps
        ended += ends
    # Four steps, then one that deals the next game.
    assert (played, ended) == (16 * 40, 16 * 10)


def test_children(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "children.json"
    monkeypatch.setattr(
        sys,
        "argv",
        ["children.py", "--games", "40", "--rounds", "1", "--seconds", "0.001", "--json", str(file)],
    )
    children.main()
    assert "features and masks: ratio to the loop" in capsys.readouterr().out
    figures = {row["name"]: row["value"] for row in json.loads(file.read_text())}
    assert figures["features and masks"] > figures["the same by a loop over games"] > 0
    rows = children.played(40)
    assert len(rows) == 40
    both = children.contestants(rows)
    assert both["features and masks"]() == both["children alone"]() == len(positions.expand(rows).children)
    games = positions.to_games(rows[::2])  # those that the loop takes, 32 at most
    assert both["cards and masks by a loop"]() == sum(len(game.legal_moves()) for game in games)
