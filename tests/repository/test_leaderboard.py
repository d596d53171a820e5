"""The committed leaderboard is complete, matches what the agents play now, and is what the README's table shows."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from support.paths import ROOT

from boulanger_env.agents.naming import file_stem
from boulanger_env.benchmark import Results, evaluate
from boulanger_env.benchmark.loss_file import LossFile, header_of
from boulanger_env.benchmark.lost_wins import diagnose_games
from boulanger_env.deals import load

pytest.importorskip("scipy")

FILES = sorted((ROOT / "leaderboard").glob("*/*.jsonl"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_leaderboard", ROOT / "scripts" / "make_leaderboard.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_agent_is_there(script: ModuleType) -> None:
    names = {file.relative_to(ROOT / "leaderboard").as_posix() for file in FILES}
    wanted = {agent.replace(":", "-").replace("=", "-") for agent in script.CONTESTANTS}
    assert {f"{name}/{agent}.jsonl" for name in script.SETS for agent in wanted} <= names


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_run(file: Path) -> None:
    run = Results.load(file)
    deals = load(file.parent.name)
    assert (run.deals, run.fingerprint) == (deals.name, deals.fingerprint)
    # Reading it has played every game again by its moves.
    assert run.moves
    assert run.labels is not None
    assert run.labels.solvable.all()
    for row, shortest in zip(run.games, [*run.labels.length.tolist()] * len(run.seeds), strict=True):
        if row.won:
            assert row.moves >= shortest, row
    # Some of its games again, by the seed and the place in the set alone.
    if run.policy in ("random", "greedy", "heuristic-30"):
        again = evaluate(run.policy.replace("-", ":nodes="), deals[:40], seed=run.seeds[0], moves=True)
        assert again.games == run.games[:40]


def test_the_solver_plays_what_is_possible() -> None:
    for file in FILES:
        if file.stem == "solver-quality-shortest":
            summary = Results.load(file).summary
            assert summary.wins == summary.games == 1000
            assert summary.regret == (0, 0, 0)


def test_the_tables_are_those_of_the_files(script: ModuleType) -> None:
    for path, text in script.pages().items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name} is not up to date: run python scripts/make_leaderboard.py --tables"
        )


def test_what_was_lost_is_what_the_solver_finds_now(script: ModuleType) -> None:
    """The kept verdicts are of these runs, complete, and those of some games are found again."""
    for name in script.DIAGNOSED:
        for file in FILES:
            if file.parent.name != name:
                continue
            run = Results.load(file)
            games = [(row.code, row.actions) for row in run.games]
            kept_in = file.parent / "losses" / f"{file_stem(run.policy)}.jsonl"
            with LossFile(kept_in, header_of(run, games, None), games) as kept:
                assert sorted(kept.found) == list(range(len(games)))
                some = range(0, len(games), 250)
                assert diagnose_games([games[i] for i in some]) == [kept.found[i] for i in some]
