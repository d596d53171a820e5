"""Losses of a run: each game's choices counted by hand, and their sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner

from boulanger_env import Game, Move
from boulanger_env.benchmark import Results, evaluate
from boulanger_env.benchmark.action_text import decode
from boulanger_env.benchmark.lost_wins import (
    GameLosses,
    diagnose_games,
    losses,
    losses_table,
    still_winnable,
    summary,
)
from boulanger_env.cli import app
from boulanger_env.deals import load
from boulanger_env.game import BoulangerError
from boulanger_env.solver import SOLVED, solve

N = 12


@pytest.fixture(scope="module")
def run() -> Results:
    return evaluate("greedy", load("c4-test")[:N], seed=[0, 1], moves=True)


def wins(game: Game, move: Move) -> bool:
    after = game.copy()
    after.push(move)
    return after.is_won or solve(after).status is SOLVED


def by_hand(code: str, actions: str) -> GameLosses:
    game = Game.from_code(code)
    choices, chance, lost_at = 0, 0.0, 0
    for action in decode(actions).tolist():
        verdicts = [wins(game, move) for move in game.legal_moves()]
        move = Move.from_id(action)
        if any(verdicts) and not all(verdicts):
            choices += 1
            chance += verdicts.count(False) / len(verdicts)
            lost_at = lost_at if wins(game, move) else choices
        game.push(move)
    hopeless = solve(Game.from_code(code)).status is not SOLVED
    return GameLosses(choices, int(lost_at > 0), chance, lost_at, hopeless, 0)


@pytest.mark.parametrize("place", range(4))
def test_a_games_choices_are_those_of_a_plain_loop(run: Results, place: int) -> None:
    row = run.games[place]
    (found,) = diagnose_games([(row.code, row.actions)])
    expected = by_hand(row.code, row.actions)
    assert found._replace(chance=0) == expected._replace(chance=0)
    assert found.chance == pytest.approx(expected.chance)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_is_its_games_together(run: Results, workers: int) -> None:
    games = diagnose_games([(row.code, row.actions) for row in run.games])
    done: list[tuple[int, int]] = []
    found = losses(run, workers=workers, progress=lambda *numbers: done.append(numbers))
    assert found == summary(games, N)
    assert done[-1] == (2 * N, 2 * N)
    assert found.games == 2 * N
    assert found.choices == sum(game.choices for game in games)
    assert found.lost == sum(game.lost_at > 0 for game in games)
    assert found.rate.value == sum(game.mistakes for game in games) / found.choices
    assert found.rate.low is not None
    assert found.rate.high is not None
    assert found.rate.low < found.rate.value < found.rate.high
    # All of these deals can be won: what was not lost by a choice was won, or is still winnable.
    assert found.hopeless == 0
    assert found.lost >= sum(row.outcome == "stuck" for row in run.games)


def test_numbers_of_a_summary() -> None:
    games = [
        GameLosses(5, 1, 1.5, 5, False, 0),
        GameLosses(6, 1, 1.0, 6, False, 0),
        GameLosses(30, 1, 3.0, 30, False, 2),
        GameLosses(9, 0, 2.5, 0, False, 0),
        GameLosses(0, 0, 0.0, 0, True, 0),
    ]
    found = summary(games, 5)
    assert (found.games, found.hopeless, found.lost, found.choices, found.undecided) == (5, 1, 3, 50, 2)
    assert found.rate.value == 3 / 50
    assert found.chance == 8 / 50
    assert found.quartiles == (5, 6, 30)
    assert found.early == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert found.still_winnable[4:7] == pytest.approx((1, 3 / 4, 2 / 4))
    assert len(found.still_winnable) == 31
    assert found.still_winnable[-1] == 0


def test_a_run_without_choices() -> None:
    found = summary([GameLosses(0, 0, 0.0, 0, True, 0)], 1)
    assert found.rate == (0.0, None, None)
    assert (found.quartiles, found.still_winnable) == (None, (1.0,))


def test_kaplan_meier_without_early_ends_is_the_plain_share() -> None:
    random = Random(1)
    lost_at = np.array([random.randint(1, 9) for _ in range(200)])
    shares = still_winnable(lost_at, lost_at)
    assert shares == pytest.approx([(lost_at > k).mean() for k in range(lost_at.max() + 1)])


def test_moves_are_needed() -> None:
    with pytest.raises(BoulangerError, match=r"did not keep its moves: .*moves=True"):
        losses(evaluate("random", load("c4-test")[:2]))


# -- in a file ----------------------------------------------------------------------------------------------------


def test_a_file_resumes_where_it_was_cut_off(run: Results, tmp_path: Path) -> None:
    file, cut = tmp_path / "losses.jsonl", tmp_path / "cut.jsonl"
    found = losses(run, workers=1, file=file)
    whole = file.read_bytes()
    assert losses(run, workers=1, file=file) == found
    assert file.read_bytes() == whole
    lines = whole.split(b"\n")
    # In the middle of a line; out of order; within the header; empty.
    for content in (
        whole[: len(whole) // 2],
        b"\n".join([lines[0], *lines[9:4:-1], b""]),
        whole[:9],
        b"",
    ):
        cut.write_bytes(content)
        done: list[int] = []
        assert losses(run, workers=1, file=cut, progress=lambda n, _, done=done: done.append(n)) == found
        assert cut.read_bytes() == whole
        kept = max(0, content.count(b"\n") - 1)
        assert done[0] == (kept or 10)


def test_a_files_games_are_not_diagnosed_again(
    run: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "losses.jsonl"
    found = losses(run, workers=1, file=file)

    class Idle:
        def run(self, work: object, jobs: dict[str, object]) -> Iterator[tuple[str, object]]:
            assert jobs == {}
            return iter(())

    assert losses(run, pool=Idle(), file=file) == found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: [b"{}", *lines[1:]], "its format"),
        (lambda lines: [b"not JSON"], "is not the diagnosis of a run"),
        (
            lambda lines: [lines[0].replace(b"greedy", b"other"), *lines[1:]],
            "policy 'other' there, 'greedy' here",
        ),
        (lambda lines: [*lines[:3], b"[2,5,1,1.5,6,false,0]"], "line 4: no game has"),
        (lambda lines: [*lines[:3], b"[2,5,1,1.5,5,false]"], "line 4: .* is not a list of game, choices"),
        (lambda lines: [*lines[:3], b"[2,true,1,1.5,5,false,0]"], "line 4: .* is not a list"),
        (lambda lines: [*lines[:3], b"[24,5,1,1.5,5,false,0]"], "line 4: game 24 is not in the run"),
        (lambda lines: [*lines[:3], lines[2]], "line 4: game 1 is not in the run, or comes twice"),
        (lambda lines: [*lines[:3], b"[2,5,0,1.5,5,false,0]"], "line 4: no game has"),
        (lambda lines: [*lines[:3], b"[2,5,1,0,5,false,0]"], "line 4: no game has"),
        (lambda lines: [*lines[:3], b"[2,5,1,5,5,false,0]"], "line 4: no game has"),
        (
            lambda lines: [*lines[:3], b"[2,18446744073709551615,1,1,1,false,0]"],
            "line 4: game 2 has .* actions",
        ),
        (lambda lines: [*lines[:3], b"[2,5,1,1.5,5,false,9999]"], "line 4: game 2 has .* actions"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(
    run: Results, tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], said: str
) -> None:
    file = tmp_path / "losses.jsonl"
    losses(run, workers=1, file=file)
    content = b"\n".join([*change(file.read_bytes().splitlines()), b""])
    file.write_bytes(content)
    with pytest.raises(BoulangerError, match=said):
        losses(run, workers=1, file=file)
    assert file.read_bytes() == content


def test_another_limit_is_another_diagnosis(run: Results, tmp_path: Path) -> None:
    losses(run, workers=1, file=tmp_path / "losses.jsonl")
    with pytest.raises(BoulangerError, match="node_limit None there, 5 here"):
        losses(run, workers=1, file=tmp_path / "losses.jsonl", node_limit=5)
    with pytest.raises(BoulangerError, match="no folder"):
        losses(run, workers=1, file=tmp_path / "nowhere" / "losses.jsonl")
    with pytest.raises(BoulangerError, match="node_limit is 0"):
        losses(run, node_limit=0)


# -- the command ------------------------------------------------------------------------------------------------


def test_command_prints_a_table(run: Results, tmp_path: Path) -> None:
    run.save(tmp_path / "greedy.jsonl")
    result = CliRunner().invoke(
        app, ["diagnose", str(tmp_path / "greedy.jsonl"), "--markdown", "--workers", "1"]
    )
    assert result.exit_code == 0, result.output
    cells = [cell.strip() for cell in result.output.splitlines()[-1].strip("|").split("|")]
    found = losses(run, workers=1)
    assert cells[0] == "greedy"
    assert cells[1] == str(found.choices)
    assert cells[2].startswith(f"{100 * found.rate.value:.2f} % [")
    assert cells[4] == f"{found.lost} of {2 * N}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.json", "b.jsonl"], "not both"),
        (["b.jsonl", "--steps"], "for replays"),
    ],
)
def test_command_takes_results_by_themselves(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["diagnose", *words])
    assert result.exit_code == 1
    assert said in result.output


def test_bench_diagnoses_what_it_played(tmp_path: Path) -> None:
    words = [
        "bench",
        "--agent",
        "greedy",
        "--agent",
        "random",
        "--deals",
        "c4-test",
        "--limit",
        "6",
        "--diagnose",
    ]
    result = CliRunner().invoke(app, [*words, "--output", str(tmp_path / "run"), "--markdown"])
    assert result.exit_code == 0, result.output
    kept = Results.load(tmp_path / "run" / "greedy.jsonl")
    (row,) = losses_table(["greedy"], [losses(kept, workers=1)])[1:]
    assert "| " + " | ".join(row[:2]) in result.output
    report = (tmp_path / "run" / "report.md").read_text()
    assert "Where wins were thrown away" in report
    assert (tmp_path / "run" / "still-winnable.svg").is_file()
    # What was found is kept, and nothing is diagnosed twice.
    kept_file = tmp_path / "run" / "losses" / "greedy.jsonl"
    before = kept_file.read_bytes()
    again = CliRunner().invoke(app, [*words, "--output", str(tmp_path / "run"), "--markdown"])
    assert again.output == result.output
    assert kept_file.read_bytes() == before


def test_options_for_results_are_not_for_replays(tmp_path: Path) -> None:
    for option in (["--output", str(tmp_path)], ["--workers", "2"], ["--ray", "local"]):
        result = CliRunner().invoke(app, ["diagnose", "game.json", *option])
        assert result.exit_code == 1
        assert "are for results" in result.output
