"""``boulanger solve``."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner, Result

from boulanger_env import Game, cli, solver
from boulanger_env.cli.solve import UNDECIDED


def run(*arguments: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(cli.app, ["solve", *arguments], input=typed)


def wins(game: Game, output: str) -> None:
    for line in output.splitlines()[1:]:
        for text in line.split():
            game.push(game.parse_move(text))
    assert game.is_won


@pytest.mark.parametrize("quality", ["any", "short", "shortest"])
def test_a_code_is_solved_in_notation(quality: str) -> None:
    result = run("ms-c4-1", "--quality", quality)
    assert result.exit_code == 0
    assert result.stderr == ""
    head = result.stdout.splitlines()[0]
    assert head.startswith("# MS-C4-1: ")
    assert head.endswith("none has fewer") == (quality == "shortest")
    wins(Game.from_code("MS-C4-1"), result.stdout)


def test_a_board_from_a_file_and_from_standard_input(tmp_path: Path) -> None:
    game = Game.from_code("MS-C2-29")
    (tmp_path / "board.txt").write_text(str(game))
    from_file = run("--board", str(tmp_path / "board.txt"), "--cells", "2")
    assert from_file.exit_code == 0
    assert from_file.stdout.startswith("# this board: ")
    wins(Game.from_code("MS-C2-29"), from_file.stdout)
    assert run("--board", "-", "--cells", "2", typed=str(game)).stdout == from_file.stdout


def test_what_cannot_be_won_and_what_is_not_decided() -> None:
    lost = run("MS-C2-1", "--stats")
    assert lost.exit_code == 0
    assert lost.stdout == "# MS-C2-1 cannot be won: proved by an exhaustive search\n"
    assert " positions in " in lost.stderr
    open_ = run("MS-C4-1", "--nodes", "1")
    assert open_.exit_code == UNDECIDED
    assert open_.stdout == "# MS-C4-1: not decided within the limit\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a game code or --board"),
        (("MS-C4-1", "--board", "x"), "give a game code or --board"),
        (("MS-C4-0",), "game code 'MS-C4-0'"),
        (("--board", "nowhere.txt"), "nowhere.txt: No such file"),
        (("MS-C4-1", "--quality", "best"), "quality 'best' is unknown"),
        (("MS-C4-1", "--cells", "2"), "brings its own"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_time_is_that_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def compiled_first(game: Game, *arguments: Any, **keywords: Any) -> solver.Solution:
        if not calls:
            time.sleep(1)
        calls.append(keywords["quality"])
        return solve(game, *arguments, **keywords)

    solve = solver.solve
    monkeypatch.setattr(solver, "solve", compiled_first)
    result = run("MS-C4-5", "--quality", "short", "--stats")
    found = re.fullmatch(r"\d+ positions in ([\d.]+) ms\n", result.stderr)
    assert found, result.stderr
    assert float(found[1]) < 1000
    assert set(calls) == {"short"}


@pytest.mark.parametrize(
    ("option", "value"), [("--nodes", "0"), ("--seconds", "0"), ("--seconds", "-1"), ("--seconds", "nan")]
)
def test_a_limit_is_named_as_it_was_typed(
    option: str, value: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["boulanger", "solve", "MS-C4-1", option, value])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(f"Error: Invalid value for '{option}': ")
    assert "_limit" not in error


@pytest.mark.parametrize(
    ("value", "wrong"),
    [("x", "'x' is not a (whole number|valid integer)"), ("0", "'?0'? is (less than 1|not in)")],
)
def test_a_number_is_named_as_it_was_typed(
    value: str, wrong: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["boulanger", "solve", "MS-C4-1", "--nodes", value])
    with pytest.raises(SystemExit):
        cli.main()
    assert re.match(rf"Error: Invalid value for '--nodes': {wrong}", capsys.readouterr().err)
