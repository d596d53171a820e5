"""The ``boulanger`` command: dealing, and a person's game with its saves."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.paths import DATA

pytest.importorskip("typer")

from typer.testing import CliRunner

from boulanger_env import Game, Move, cli, files
from boulanger_env.play import advice, saves
from boulanger_env.play import session as play_module
from boulanger_env.play.session import Session, open_session
from boulanger_env.replay import Replay, replay_of
from boulanger_env.replay.format import FORMAT
from boulanger_env.solver import winning_moves

SOLUTIONS = DATA / "peer_solutions.jsonl"
BOARD = str(Game.from_code("MS-C4-1"))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for saved games."""
    monkeypatch.setenv("BOULANGER_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path / "state"


def run(*arguments: str, typed: str = "") -> str:
    """What a command prints; it must succeed and stay silent on stderr."""
    result = CliRunner().invoke(cli.app, list(arguments), input=typed)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def error(*arguments: str, typed: str = "") -> str:
    """The one line that a command ends with."""
    result = CliRunner().invoke(cli.app, list(arguments), input=typed)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]


def begin(code: str = "MS-C4-1", *lines: str) -> Session:
    session = open_session(code)
    for line in lines:
        session.enter(line)
    return session


# -- deal -------------------------------------------------------------------------------------------------------


def test_deal_draws_the_board() -> None:
    board = run("deal", " ms-c4-617 ")
    assert board.startswith("MS-C4-617   score 0")
    assert "7♦  A♦  5♣" in board
    assert "\x1b" not in board


def test_deal_text_is_the_solver_board() -> None:
    assert run("deal", "MS-C4-1", "--text") == BOARD + "\n"


def test_deal_ascii_and_colour() -> None:
    assert run("deal", "MS-C4-1", "--ascii").isascii()
    assert "\x1b[91m" in run("deal", "MS-C4-1", "--color")
    assert "\x1b" not in run("deal", "MS-C4-1", "--no-color")


@pytest.mark.parametrize(
    "code", ["", "MS-C3-1", "BK1-C4-AAAAA01", "MS-C4-0", "MS-C4-8589934592", "617", "BK1-C4-é"]
)
def test_a_bad_code_is_one_line(code: str) -> None:
    assert "game code" in error("deal", code)
    assert "game code" in error("play", code)


@pytest.mark.parametrize("command", [["deal"], ["play"], []])
def test_help_shows_examples(command: list[str]) -> None:
    assert ("Examples:\n    boulanger " in run(*command, "--help")) == bool(command)


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_a_missing_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "boulanger_env.cli")
    with pytest.raises(SystemExit, match=rf'^boulanger needs {module}: pip install "boulanger-env\[cli\]"$'):
        importlib.import_module("boulanger_env.cli")


def test_a_library_that_a_command_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch.nn")

    monkeypatch.setattr(play_module, "open_session", lacking)
    assert error("play") == 'Error: this needs torch: pip install "boulanger-env[train]"'


# -- what can be typed ------------------------------------------------------------------------------------------


def test_moves_taps_and_undo() -> None:
    session = begin("MS-C4-1")
    reference = Game.from_code("MS-C4-1")
    for typed, moves in [
        ("6a", "6a"),
        ("6", "6b"),  # double tap: no other place than a cell
        ("6", "6h"),
        ("t 6", "6h"),
        ("tB", "bh"),
        ("7", "72"),
        ("", ""),
        ("1b  1C 1d", "1b 1c 1d"),
    ]:
        session.enter(typed)
        assert session.note == ""
        for move in moves.split():
            reference.push(reference.parse_move(move))
        assert session.game == reference
        assert session.game.score == reference.score
    session.enter("u u U")
    for _ in range(3):
        reference.undo()
    assert session.game == reference
    assert session.note == "Took back 1b."


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("zz", "'zz' is not a move or a command"),
        ("9", "'9' is not a move or a command"),
        ("t", "'t' is not a move or a command"),
        ("t9", "'t9' is not a move or a command"),
        ("88", "'88' is not a move of this game"),
        ("6b", "6b: cells are filled from the left, so write 6a"),
        ("31", "only 3H can take it"),
        ("t1", "6S is not next on its foundation"),
        ("ah", "cell a is empty"),
        ("a", "no card there that can move"),
        ("u", "nothing to undo"),
        ("n 5 5", "one game code"),
        ("n MS-C9-5", "'C9' is not a cell count"),
        ("\x1b[A ♠", "is not a move or a command"),
    ],
)
def test_what_cannot_be_done_changes_nothing(line: str, words: str) -> None:
    session = begin()
    session.enter(line)
    assert words in session.note
    assert session.game == Game.from_code("MS-C4-1")
    assert session.game.moves == 0
    assert not session.done


def test_a_line_stops_at_the_first_word_that_cannot_be_done() -> None:
    session = begin("MS-C4-1", "6a 31 6b")
    assert "31 is not legal" in session.note
    assert session.game.moves == 1
    assert saves.load(saves.path_of(session.game))[1] == [733]


def test_quit_and_n_end_a_line() -> None:
    session = begin("MS-C4-1", "6a q 6b")
    assert session.done
    assert session.game.moves == 1
    session = begin("MS-C4-1", "6b n MS-C4-2")
    assert session.game.code == "MS-C4-2"
    assert open_session("MS-C4-1").game.moves == 2


def test_legal_moves_are_listed_by_where_they_lead() -> None:
    assert begin("MS-C4-1", "6a 6b 6h 6h ?").note.splitlines() == [
        "home:               bh",
        "onto a card:        28 72",
        "to a free cell:     1c 2c 3c 4c 5c 6c 7c 8c",
    ]


def test_listed_moves_read_back() -> None:
    for line in SOLUTIONS.read_text().splitlines()[:3]:
        solution = json.loads(line)
        session = open_session(solution["code"])
        for move in solution["moves"]:
            session.enter("?")
            listed = [word for row in session.note.splitlines() for word in row[20:].split()]
            legal = session.game.legal_moves()
            assert sorted(listed) == sorted(map(session.game.notation, legal))
            assert {session.game.parse_move(word) for word in listed} == set(legal)
            session.enter(session.game.notation(Move(*move)))
        assert session.game.is_won
        assert session.game.score == solution["score"]
        session.enter("?")
        assert session.note == "There is no legal move."


def test_help_fits_a_terminal_and_is_plain() -> None:
    note = begin("MS-C4-1", "h").note
    assert note.isascii()
    assert max(map(len, note.splitlines())) < 80


# -- what the solver says ---------------------------------------------------------------------------------------


@pytest.fixture
def solver() -> None:
    """A solver that is loaded, however long it takes."""
    advice._loading().join()


def hinted(session: Session) -> str:
    session.enter("hint")
    found = re.fullmatch(r"Hint: (\w+), the .*, keeps the win: proved by the solver\.", session.note)
    assert found, session.note
    return found[1]


def test_hints_lead_to_a_win(solver: None) -> None:
    session = begin("MS-C4-617", "6a 2b")
    for _ in range(200):
        if session.game.is_won:
            break
        assert session.warning == ""
        session.enter(hinted(session))
    assert session.game.is_won
    session.enter("hint")
    assert session.note == "The game is won."


def test_a_hint_looks_again_after_another_move(solver: None) -> None:
    session = begin("MS-C4-1")
    first = hinted(session)
    session.enter(f"{first} u")
    assert hinted(session) == first
    others = [
        m for m, wins in winning_moves(session.game).items() if wins and session.game.notation(m) != first
    ]
    session.enter(session.game.notation(others[0]))
    move = session.game.parse_move(hinted(session))
    assert winning_moves(session.game)[move]


def test_what_can_no_longer_be_won_is_said_and_undo_takes_it_back(solver: None) -> None:
    session = begin("MS-C4-1")
    lost = next(move for move, wins in winning_moves(session.game).items() if wins is False)
    session.enter(session.game.notation(lost))
    assert session.warning == "This game can no longer be won."
    session.enter("hint")
    assert session.note.startswith("There is no hint: no move wins from here. Lost by move 1, ")
    session.enter("undo")
    assert session.warning == ""
    assert session.note.startswith("Took back")


def test_a_lost_game_says_which_move_lost_it_and_how_to_get_back(solver: None) -> None:
    session = begin("MS-C4-617", "2f")
    session.enter("1f")  # loses, as proved in the solver's own tests
    while session.game.outcome is None:
        assert session.lesson == ""
        session.enter(session.game.notation(session.game.legal_moves()[0]))
    said = re.fullmatch(
        r"Lost by move 2, 1b: (\w+), (\w+), (\w+) and (\d) more would have kept the win "
        r"\(undo (\d+) moves to go back there\)\.",
        session.lesson,
    )
    assert said, session.lesson
    kept, more, back = said.groups()[:3], int(said[4]), int(said[5])
    assert f"{session.lesson} (proved)" in play_module._screen(session, False, False, False)
    session.enter("u " * back)
    assert session.game.moves == 1
    wins = [session.game.notation(move) for move, won in winning_moves(session.game).items() if won]
    assert (list(kept), more) == (wins[:3], len(wins) - 3)
    assert session.lesson == session.warning == ""


def test_a_lesson_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch, solver: None) -> None:
    session = begin("MS-C4-617", "2f 1f")
    monkeypatch.setattr(advice, "_SECONDS", 1e-9)
    assert advice.Advisor().where_lost(Game.from_code("MS-C4-617"), session._moves) == ""


def test_a_deal_that_cannot_be_won_says_so_at_once(solver: None) -> None:
    assert "This deal cannot be won. (proved)" in run("play", "MS-C2-1")
    assert begin("MS-C2-1", "hint").note.endswith("no move wins from here. This deal could not be won.")
    assert "can" not in begin("MS-C2-29").warning


def test_play_does_not_wait_for_the_solver_to_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "_is_ready", lambda seconds=0: False)
    session = begin("MS-C2-1", "hint")
    assert session.warning == ""
    assert "still being compiled" in session.note


@pytest.mark.parametrize(
    ("before", "move", "words"),
    [
        ("", "6f", "the 3D to a free cell"),
        ("6a 6b", "6h", "the AC home"),
        ("6a 6b 6h 6h", "bh", "the 2C home"),
        ("6a 6b 6h 6h", "72", "the 8C onto the 9C"),
    ],
)
def test_moves_in_words(before: str, move: str, words: str) -> None:
    game = begin("MS-C4-1", before).game
    assert advice.in_words(game, game.parse_move(move)) == words


def test_groups_in_words() -> None:
    hearts, diamonds, clubs = (list(range(13 * suit + 13, 13 * suit, -1)) for suit in (1, 2, 3))
    columns = [hearts, diamonds, clubs, [10], [9, 8, 7, 6], [], [13, 12, 11, 5, 4], [3, 2, 1]]
    game = Game.from_columns(columns)
    assert advice.in_words(game, game.parse_move("54")) == "the 9S and 3 more onto the TS"
    assert advice.in_words(game, game.parse_move("56v2")) == "the 7S and 1 more to the empty column"


def test_a_cell_that_is_taken_is_named() -> None:
    session = begin("MS-C4-1", "6a 6a")
    assert session.note == "6a: cell a is taken, so write 6b"
    session.enter("6f 6c u new ms-c2-617 1c")
    assert session.game.code == "MS-C4-1"
    assert "6c: " not in session.note
    session.enter("new ms-c2-617")
    session.enter("1c")
    assert "no cell c: this game has 2" in session.note


# -- a whole session --------------------------------------------------------------------------------------------


def test_play_to_a_win(state: Path) -> None:
    solution = json.loads(SOLUTIONS.read_text().splitlines()[0])
    typed = "\n".join(str(Move(*move)) for move in solution["moves"])
    output = run("play", solution["code"], typed=f"{typed}\nq\n")
    assert f"score {solution['score']}   moves {len(solution['moves'])}   home 52/52" in output
    assert "WON: all 52 cards are home" in output
    path = state / "won" / f"{solution['code']}.json"
    assert output.endswith(f"Well played. To see it again: boulanger replay {path}\n")
    assert list(state.iterdir()) == [path.parent]
    replay = Replay.load(path)
    assert (replay.outcome, replay.end.score) == ("won", solution["score"])
    assert "# won: 52 cards home" in run("replay", str(path))


def test_a_win_can_be_undone_and_is_then_saved_again(state: Path) -> None:
    solution = json.loads(SOLUTIONS.read_text().splitlines()[0])
    session = begin(solution["code"], " ".join(str(Move(*move)) for move in solution["moves"]))
    assert session.game.is_won
    assert not list(state.glob("*.json"))
    session.enter("u")
    assert open_session().game == session.game


@pytest.mark.parametrize("leaving", ["q\n", "", "6a\nquit\n", "6a\n"])
def test_quitting_saves_and_play_resumes(leaving: str) -> None:
    output = run("play", "MS-C4-1", typed=leaving)
    assert output.endswith("The game is kept: boulanger play resumes it.\n")
    again = run("play")
    moves = leaving.count("6a")
    assert f"MS-C4-1   score 0   moves {moves}" in again
    assert ("Resumed at move 1." in again) == (moves == 1)


def test_ctrl_c_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["6a"])

    def typed(_: str) -> str:
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", typed)
    run("play", "MS-C4-1")
    assert open_session().game.moves == 1


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no SIGHUP on this system")
def test_a_closed_terminal_loses_nothing() -> None:
    process = subprocess.Popen(
        [sys.executable, "-um", "boulanger_env", "play", "MS-C4-1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        # Under nohup the tests, and what they start, would not hear the signal.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    watchdog = threading.Timer(120, process.kill)
    watchdog.start()
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("6a 6b\n")
        process.stdin.flush()
        assert any("last 6b" in line for line in process.stdout)
        process.send_signal(signal.SIGHUP)
        assert process.wait() == -signal.SIGHUP
    watchdog.cancel()
    assert open_session().game.moves == 2


def test_resuming_brings_score_and_undo_back() -> None:
    solution = json.loads(SOLUTIONS.read_text().splitlines()[0])
    half = [str(Move(*move)) for move in solution["moves"][:60]]
    session = begin(solution["code"], " ".join(half))
    resumed = open_session()
    assert resumed.game == session.game
    assert (resumed.game.score, resumed.game.moves) == (session.game.score, 60)
    resumed.enter("u " * 60)
    assert resumed.game == Game.from_code(solution["code"])
    assert resumed.game.score == 0


@pytest.mark.skipif(os.name != "posix", reason="a Unix shell closes the input")
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ("play MS-C4-1", 0, "The game is kept"),
        ("solve --board -", 1, "Error: 0 columns given"),
        ("play --board -", 1, "Error: 0 columns given"),
        ("deal MS-C4-1", 0, "MS-C4-1"),
    ],
)
def test_a_closed_input_is_an_empty_one(arguments: str, code: int, says: str) -> None:
    command = f'exec "{sys.executable}" -m boulanger_env {arguments} <&-'
    ended = subprocess.run(["sh", "-c", command], capture_output=True, encoding="utf-8", timeout=120)
    assert ended.returncode == code, ended.stderr
    assert says in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr


def test_bytes_that_are_not_text_are_not_a_move() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "boulanger_env", "play", "MS-C4-1", "--ascii"],
        input=b"\xff\xc3\n6a\n\xc3",
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert rb"xff\\xc3' is not a move" in ended.stdout
    assert "Resumed at move 1." in open_session("MS-C4-1").note


def test_an_early_end_inside_a_command_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*_: object) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr(play_module, "open_session", damaged)
    result = CliRunner().invoke(cli.app, ["play"])
    assert result.exit_code == 1
    assert isinstance(result.exception, RuntimeError)
    assert isinstance(result.exception.__cause__, EOFError)


# -- which game -------------------------------------------------------------------------------------------------


def test_without_a_code_a_random_game_is_dealt() -> None:
    first = open_session()
    assert first.game.code
    assert first.game.code.startswith("BK1-C4-")
    assert open_session(start_over=True).game.code != first.game.code
    assert (open_session(n_cells=1).game.code or "").startswith("BK1-C1-")


def test_the_last_game_is_resumed_and_others_are_kept() -> None:
    begin("MS-C4-1", "6a")
    begin("MS-C2-617", "1a")
    os.utime(saves.path_of(Game.from_code("MS-C4-1")), (1, 1))
    assert open_session().game.code == "MS-C2-617"
    other = open_session(start_over=True)
    assert other.game.moves == 0
    assert open_session("ms-c4-1").game.moves == 1
    assert open_session("MS-C4-1", start_over=True).game.moves == 0
    assert open_session("MS-C4-1").game.moves == 0


def test_n_keeps_the_game_and_n_with_its_code_returns(state: Path) -> None:
    session = begin("MS-C2-617", "1a", "n")
    assert session.note == "MS-C2-617 is kept: n MS-C2-617 goes back to it."
    code = session.game.code or ""
    assert code.startswith("BK1-C2-")
    # A game without a move leaves no file.
    session.enter("n ms-c2-617")
    assert session.note == "Resumed at move 1."
    assert session.game.moves == 1
    assert [path.name for path in state.iterdir()] == ["MS-C2-617.json"]


def test_a_board_from_a_file(tmp_path: Path) -> None:
    board = tmp_path / "board.txt"
    board.write_text(BOARD + "\r\n")
    assert "no code   score 0   moves 1" in run("play", "--board", str(board), typed="6a\n")
    assert open_session(board=board).game.moves == 1
    assert open_session().game == begin("MS-C4-1", "6a").game
    board.write_text(BOARD.split("\n", 2)[2])
    assert open_session(board=board, n_cells=2).game.n_cells == 2
    board.write_text("7H 8H\n")
    assert "columns" in error("play", "--board", str(board))
    board.write_bytes(b"\xff\x00")
    assert "not a text file" in error("play", "--board", str(board))
    assert "nowhere.txt: No such file" in error("play", "--board", str(tmp_path / "nowhere.txt"))


def test_a_code_brings_its_own_cells() -> None:
    assert "brings its own" in error("play", "MS-C4-1", "--cells", "2")
    assert "cells, not 3" in error("play", "--cells", "3")
    assert "cells, not 0" in error("play", "--cells", "0")


# -- two sessions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [[], ["6a"]])
def test_an_idle_session_leaves_what_another_has_played(begun: list[str]) -> None:
    idle, other = begin("MS-C4-1", *begun), begin("MS-C4-1")
    other.enter("6 1c u 1d")
    idle.enter("?")
    play_module.finish(idle)
    assert open_session("MS-C4-1").game == other.game
    other.enter("u u")
    assert other.unsaved is None
    play_module.finish(other)
    assert open_session("MS-C4-1").game == other.game


@pytest.mark.parametrize("left", ["n", "n MS-C2-617"])
def test_an_idle_session_that_goes_to_another_game_deletes_nothing(left: str) -> None:
    idle, other = begin("MS-C4-1"), begin("MS-C4-1")
    other.enter("6a")
    idle.enter(left)
    assert open_session("MS-C4-1").game == other.game


def test_sessions_that_save_at_the_same_moment_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = begin("MS-C4-1"), begin("MS-C4-1")
    found = saves.moves_in

    def slowly(path: Path) -> list[int] | None:
        moves = found(path)
        time.sleep(0.2)
        return moves

    monkeypatch.setattr(saves, "moves_in", slowly)
    threads = [
        threading.Thread(target=session.enter, args=(line,))
        for session, line in zip(sessions, ("6a", "6a 1b"), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (saved,) = (session for session in sessions if session.unsaved is None)
    assert saved._moves == found(saves.path_of(Game.from_code("MS-C4-1")))


def test_a_folder_that_another_keeps_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fcntl")
    session = begin("MS-C4-1")
    monkeypatch.setattr(files.writing, "_PATIENCE", 0.1)
    with files.alone_in(saves.folder()):
        session.enter("6a")
    assert "another process has been writing there" in str(session.unsaved)
    session.enter("1b")
    assert session.unsaved is None
    assert open_session("MS-C4-1").game == session.game


def test_a_second_session_gets_an_error_at_once_and_wipes_nothing() -> None:
    late, other = begin("MS-C4-1", "6a"), begin("MS-C4-1")
    other.enter("6b 1c")
    late.enter("7b")
    assert "another session has played MS-C4-1 on" in str(late.unsaved)
    assert open_session("MS-C4-1").game == other.game
    with pytest.raises(saves.SavedGameError, match="another session has played MS-C4-1 on"):
        play_module.finish(late)
    late.enter("n")
    assert "The last game could not be saved: another session" in late.note
    late.enter("n MS-C4-1")
    assert late.game == other.game
    assert late.unsaved is None


def test_a_game_that_another_session_has_left_or_won_is_saved_again(state: Path) -> None:
    solution = json.loads(SOLUTIONS.read_text().splitlines()[0])
    half = " ".join(str(Move(*move)) for move in solution["moves"][:60])
    rest = " ".join(str(Move(*move)) for move in solution["moves"][60:])
    late, other = begin(solution["code"], half), begin(solution["code"])
    other.enter(rest)
    assert other.game.is_won
    late.enter("u")
    assert late.unsaved is None
    assert open_session(solution["code"]).game == late.game
    other.enter("u")
    assert "another session" in str(other.unsaved)
    late.enter(str(Move(*solution["moves"][59])) + " " + rest)
    assert not list(state.glob("*.json"))
    assert Replay.load(state / "won" / f"{solution['code']}.json").outcome == "won"


def test_a_win_leaves_the_game_of_another_session(state: Path) -> None:
    solution = json.loads(SOLUTIONS.read_text().splitlines()[0])
    winner, other = begin(solution["code"]), begin(solution["code"], str(Move(*solution["moves"][0])))
    winner.enter(" ".join(str(Move(*move)) for move in solution["moves"]))
    assert winner.unsaved is None
    play_module.finish(winner)
    assert (state / "won" / f"{solution['code']}.json").is_file()
    assert open_session(solution["code"]).game == other.game


def test_hidden_files_are_not_saved_games(state: Path) -> None:
    begin("MS-C4-1", "6a")
    (state / ".0123abcd.MS-C4-2.json").write_text("half")
    assert open_session().game.code == "MS-C4-1"


# -- saved games ------------------------------------------------------------------------------------------------


def test_a_save_is_small_and_readable(state: Path) -> None:
    begin("MS-C4-1", "6a 6b")
    (path,) = state.iterdir()
    assert path.name == "MS-C4-1.json"
    assert len(path.read_text().splitlines()) == 8
    assert Replay.load(path) == replay_of(Game.from_code("MS-C4-1"), [733, 733])


VALID = {"format": FORMAT, "code": "MS-C4-1", "actions": [733], "outcome": None, "score": 0, "cards_home": 0}


def valid(**changes: object) -> bytes:
    return json.dumps(
        {key: value for key, value in {**VALID, **changes}.items() if value != "absent"}
    ).encode()


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "not JSON"),
        (valid()[:-4], "not JSON"),
        (b"\xff\xfe\x00", "is not a replay"),
        (b"[" * 100_000, "not JSON"),
        (b"[1, 2]", "format"),
        (b"null", "format"),
        (valid(format="something else"), "format"),
        (valid(code="MS-C4-0"), "MS-C4-0"),
        (valid(code=7), "7 is not a game code"),
        (valid(code="MS-C4-2"), "is really MS-C4-2"),
        (valid(code="absent"), "neither a code nor a board"),
        (valid(code="absent", board=BOARD, n_cells=4.0), "neither a code"),
        (valid(code="absent", board=BOARD, n_cells=3), "4, 2 or 1 cells"),
        (valid(code="absent", board="7H", n_cells=4), "columns"),
        (valid(actions=["6a"]), "action 1: '6a' is not an action"),
        (valid(actions=[733, 741, 733]), "step 2 of 3: 6h is not legal"),
        (valid(actions=[733, 780]), "undo among its actions"),
        (valid(settings={}, rewards=[0]), "an agent's episode"),
    ],
)
def test_a_damaged_save_is_named_and_left_as_it_is(state: Path, content: bytes, wrong: str) -> None:
    state.mkdir()
    path = state / "MS-C4-1.json"
    path.write_bytes(content)
    for arguments in ([], ["MS-C4-1"], ["MS-C4-1", "--new"]):
        message = error("play", *arguments)
        assert str(path) in message
        assert wrong in message
    assert path.read_bytes() == content
    # Another game can be played, also from within a session.
    session = open_session(start_over=True)
    code = session.game.code
    session.enter("n MS-C4-1")
    assert wrong in session.note
    assert session.game.code == code
    assert path.read_bytes() == content


def test_a_save_that_fails_leaves_the_last_one(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = begin("MS-C4-1", "6a")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        session.enter("6b")
        assert session.unsaved
        assert session.game.moves == 2
    assert [path.name for path in state.iterdir()] == ["MS-C4-1.json"]
    assert open_session().game.moves == 1


def test_a_game_that_cannot_be_saved_is_played_and_says_so(state: Path) -> None:
    state.write_text("a file where the folder should be")
    result = CliRunner().invoke(cli.app, ["play", "MS-C4-1"], input="6a\nq\n")
    assert "last 6a" in result.stdout
    assert "The game cannot be saved" in result.stdout
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: the game could not be saved: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"BOULANGER_STATE": "/there", "XDG_STATE_HOME": "/state"}, "/there"),
        ({"XDG_STATE_HOME": "/state"}, "/state/boulanger_env"),
        ({"XDG_STATE_HOME": "relative"}, "/home/me/.local/state/boulanger_env"),
        ({}, "/home/me/.local/state/boulanger_env"),
    ],
)
def test_where_games_are_saved(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BOULANGER_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert saves.folder() == Path(folder)
