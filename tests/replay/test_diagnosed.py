"""What is said of a diagnosed game in words, and how much time that may take."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.sample_replays import lost, won
from typer.testing import CliRunner

from boulanger_env import Game, Move
from boulanger_env.cli import app
from boulanger_env.game.moves import UNDO
from boulanger_env.replay import Replay, diagnosed, replay_of
from boulanger_env.replay.diagnosed import diagnose_within, headline, in_words, left_out
from boulanger_env.solver import diagnose

START = "MS-C4-617"  # 2f keeps the win, and 1f loses it


def ids(*texts: str) -> tuple[int, ...]:
    return tuple(Move.parse(text).id for text in texts)


def said(*actions: int, **limits: int) -> tuple[str, list[str]]:
    start = Game.from_code(START)
    found = diagnose(start, actions, **limits)
    return headline(found, None), in_words(found)


def test_words_name_the_losing_move_and_the_others() -> None:
    good, bad, illegal = ids("2f", "1f", "1h")
    start = Game.from_code(START)
    head, words = said(bad, UNDO, good, illegal, bad)
    others = [start.notation(move) for move in start.legal_moves() if move.id != bad]
    assert words[0].startswith("this move threw the win away (keep: ")
    assert sorted(re.findall(r"\w+\b(?=[ );])", words[0].split("(")[1])) == sorted(others)
    assert words[1] == "the game can be won again"
    assert words[2].startswith("keeps the win (keep: ")
    assert words[3] == ""
    assert words[4].startswith("this move lost the game (keep: ")
    assert head == "Lost by step 5, 1b: 7 of 9 moves would have kept the win."


def test_words_after_a_loss_and_without_a_verdict() -> None:
    start = Game.from_code(START)
    start.push(Move.parse("1f"))
    first = start.legal_moves()[0].id
    assert said(*ids("1f"), first)[1][1] == "the game can no longer be won"
    head, words = said(*ids("2f"), node_limit=1)
    assert words == ["not decided within the limit"]
    assert head == "Whether it can be won was not decided within the limit."
    assert said(*ids("2f"))[0] == "It can still be won."


def test_a_won_game_says_where_it_could_have_been_lost() -> None:
    replay = won()
    found = diagnose(replay.start, replay.actions)
    head = headline(found, "won")
    assert head == f"Won; at {found.choices} of {len(replay.actions)} decisions another move would have lost."
    assert found.choices > 0


def test_a_budget_leaves_out_whole_games(monkeypatch: pytest.MonkeyPatch) -> None:
    games = [(one.start, one.actions) for one in (won(), lost(), won())]
    assert left_out(diagnose_within(games)) == ""
    assert diagnose_within(games) == [diagnose(*game) for game in games]
    assert diagnose_within(games, 1e-9) == [None] * 3
    assert left_out([None] * 3, 5).startswith("3 games are not diagnosed: 5 seconds were not enough")

    # Time runs out in the second game, whatever the machine.
    clock = iter([0.0, 0.0, 1.0, 2.0, 61.0, 61.0, 61.0])
    monkeypatch.setattr(diagnosed.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(diagnosed, "diagnose", lambda *_, **__: "found")
    assert diagnose_within(games) == ["found", None, None]


def test_a_time_limit_is_for_the_whole_game() -> None:
    replay = won()
    found = diagnose(replay.start, replay.actions, time_limit=1e-9)
    # Towards the end there is nothing left to search.
    assert found.positions[:20] == (None,) * 20
    assert found.positions[-1] is True
    assert found.undecided >= 20


# -- boulanger replay -------------------------------------------------------------------------------------------


def run(*words: str) -> str:
    result = CliRunner().invoke(app, ["replay", *words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def file(tmp_path: Path) -> Path:
    replay: Replay = replay_of(Game.from_code(START), ids("2f", "1f"))
    replay.save(tmp_path / "game.json")
    return tmp_path / "game.json"


def test_the_terminal_says_the_same(file: Path) -> None:
    output = run(str(file), "--ansi", "--no-color")
    assert "step 1 of 2: 2a\nkeeps the win (keep: " in output
    assert "step 2 of 2: 1b\nthis move lost the game (keep: " in output
    assert "Lost by step 2, 1b: 7 of 9 moves would have kept the win." in output
    plain = run(str(file), "--ansi", "--no-color", "--no-diagnose")
    assert "win" not in plain
    assert "step 2 of 2: 1b" in plain


def test_the_page_is_diagnosed_unless_that_is_not_wanted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = file.with_suffix(".html")
    run(str(file), "--html", str(page))
    assert '"positions":"wwl"' in page.read_text()
    run(str(file), "--html", str(page), "--no-diagnose")
    assert '"proof":null' in page.read_text()
    assert '"solvable":true' in page.read_text()
    monkeypatch.setattr(
        "boulanger_env.cli.replay_output.diagnose_within", lambda games: [None for _ in games]
    )
    assert "1 game is not diagnosed: 60 seconds were not enough" in run(str(file), "--html", str(page))
    assert '"proof":null' in page.read_text()
