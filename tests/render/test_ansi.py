"""The text board: every card once and in its place, marks, colours, and what it does not touch."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest
from support.paths import DATA

from boulanger_env import Game, Move
from boulanger_env.game.cards import parse_card
from boulanger_env.render import render_ansi

ESCAPE = re.compile(r"\x1b\[\d+m")
SOLUTIONS = DATA / "peer_solutions.jsonl"


def random_positions(code: str, steps: int = 60) -> Iterator[Game]:
    """A game after each move of a random play that likes cards to go home."""
    rng = random.Random(code)
    game = Game.from_code(code)
    yield game
    for _ in range(steps):
        moves = game.legal_moves()
        if not moves:
            return
        home = [move for move in moves if move.destination == 9]
        game.push(rng.choice(home or moves))
        yield game


def solved_positions(count: int = 2) -> Iterator[Game]:
    """The games of some solutions after each move: groups, empty columns, a win."""
    lines = SOLUTIONS.read_text().splitlines()
    for solution in map(json.loads, lines[:count] + lines[-count:]):
        game = Game.from_code(solution["code"])
        for move in solution["moves"]:
            game.push(Move(*move))
            yield game


def slots(line: str) -> list[str]:
    """The places of a line: a mark and two characters each, a space between them."""
    assert all(line[i] == " " for i in range(3, len(line), 4))
    return [line[i : i + 3] for i in range(0, len(line), 4)]


def card(slot: str) -> int:
    """Card id of a place, 0 for one without a card."""
    assert len(slot) == 3
    text = slot[1:].translate(str.maketrans("♠♥♦♣", "SHDC"))
    return 0 if text.strip() in ("", "--", "..") or text[0] == "-" else parse_card(text)


def read_back(board: str, n_cells: int) -> Game:
    """The position that a drawn board shows."""
    lines = board.split("\n")
    assert lines[1] == lines[4] == ""
    places = slots(lines[3])
    assert lines[2] == " a   b   c   d  "[: 4 * n_cells].ljust(16) + " home"
    assert places[n_cells:4] == ["   "] * (4 - n_cells)
    assert lines[5] == " 1   2   3   4   5   6   7   8"
    columns: list[list[int]] = [[] for _ in range(8)]
    for line in lines[6:]:
        if not line:
            break
        for column, slot in enumerate(slots(line)):
            columns[column] += [card(slot)] if card(slot) else []
    foundations = [(card(place) - 1) % 13 + 1 if card(place) else 0 for place in places[4:]]
    return Game.from_columns(columns, [card(place) for place in places[:n_cells]], foundations, n_cells)


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("code", ["BK1-C4-AAAAA24", "MS-C2-617", "BK1-C1-7777777"])
def test_shows_the_position(code: str, ascii: bool) -> None:
    for game in random_positions(code):
        board = render_ansi(game, color=False, ascii=ascii)
        assert read_back(board, game.n_cells) == game
        assert board.isascii() == ascii
        assert ESCAPE.sub("", render_ansi(game, color=True, ascii=ascii)) == board
        assert all(line == line.rstrip() for line in board.split("\n"))
        assert board == board.strip("\n")
        status = board.split("\n")[0]
        assert status.startswith(
            f"{code}   score {game.score}   moves {game.moves}   home {game.cards_home}/52"
        )


def test_marks_the_last_move() -> None:
    for game in solved_positions():
        board = render_ansi(game, color=False)
        assert read_back(board, game.n_cells) == game
        before = game.copy()
        move = before.undo()
        assert board.count(">") == move.size
        assert board.count("..") == 1
        notation = before.notation(move)
        assert board.split("\n")[0].endswith(f"   last {notation}")
        lines = board.split("\n")
        places, rows = slots(lines[3]), [slots(line) for line in lines[6:] if line[:1] in " >"]
        source, destination, size = move
        height = len(game.columns[source]) if source < 8 else 0
        left = rows[height][source] if source < 8 else places[source - 8]
        assert left == " .."
        if destination < 8:
            shown = [
                row[destination] for row in rows if len(row) > destination and row[destination][0] == ">"
            ]
            assert [card(slot) for slot in shown] == list(game.columns[destination][-size:])
        elif destination == 8:
            assert places["abcd".index(notation[1])][0] == ">"
        else:
            assert [place[0] for place in places[4:]].count(">") == 1


def test_undo_marks_the_move_before() -> None:
    game = Game.from_code("MS-C4-1")
    fresh = render_ansi(game)
    game.push(game.parse_move("6a"))
    one = render_ansi(game)
    game.push(game.parse_move("6b"))
    game.undo()
    assert render_ansi(game) == one
    game.undo()
    assert render_ansi(game) == fresh
    assert ">" not in fresh
    assert ".." not in fresh
    assert "last" not in fresh


def test_marks_the_cell_that_was_filled_even_between_others() -> None:
    game = Game.from_code("MS-C4-1")
    for text in ("6a", "6b", "1c", "6h", "6h", "bh", "1b"):
        game.push(game.parse_move(text))
    lines = render_ansi(game, ascii=True).split("\n")
    assert lines[0].endswith("last 1b")
    assert lines[3] == " 3D >6D  6S  --  AS  -H  -D  2C"


def test_whole_board() -> None:
    game = Game.from_code("MS-C4-1")
    for text in ("6a", "6b", "6h", "6h", "72"):
        game.push(game.parse_move(text))
    assert render_ansi(game, color=False) == (
        "MS-C4-1   score 20   moves 5   home 2/52   last 72\n"
        "\n"
        " a   b   c   d   home\n"
        " 3♦  2♣  --  --  A♠  -♥  -♦  A♣\n"
        "\n"
        " 1   2   3   4   5   6   7   8\n"
        " J♦  2♦  9♥  J♣  5♦  7♥  7♣  5♥\n"
        " K♦  K♣  9♠  5♠  A♦  Q♣  K♥  3♥\n"
        " 2♠  K♠  9♦  Q♦  J♠      A♥  3♣\n"
        " 4♣  5♣  T♠  Q♥  4♥      4♦  7♠\n"
        " 3♠  T♦  4♠  T♥  8♥      J♥  7♦\n"
        " 6♦  8♠  8♦  Q♠  6♣      ..  T♣\n"
        " 6♠  9♣  2♥  6♥\n"
        "    >8♣"
    )


def test_red_suits_are_red_and_the_moved_card_reversed() -> None:
    game = Game.from_code("MS-C4-1")
    game.push(game.parse_move("6a"))
    board = render_ansi(game, color=True)
    assert "\x1b[7m\x1b[91m>3♦\x1b[0m" in board
    assert " \x1b[91mJ♦\x1b[0m  \x1b[91m2♦\x1b[0m  \x1b[91m9♥\x1b[0m  J♣  " in board
    # No line leaves a colour behind.
    codes = [ESCAPE.findall(line) for line in board.split("\n")]
    assert all(line[-1] == "\x1b[0m" for line in codes if line)
    assert len(re.findall(r"\x1b\[91m>?[A2-9TJQK]?[♥♦]", board)) == 26 + 2  # and two empty foundations
    assert not re.search(r"\x1b\[91m>?[A2-9TJQK]?[♠♣]", board)


@pytest.mark.parametrize(
    ("variable", "color", "ascii", "coloured"),
    [
        (None, None, False, True),
        ("", None, False, True),
        ("1", None, False, False),
        ("0", None, False, False),
        (None, None, True, False),
        ("1", True, False, True),
        (None, True, True, True),
        (None, False, False, False),
    ],
)
def test_colour_follows_no_color_and_the_keyword(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, color: bool | None, ascii: bool, coloured: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if variable is not None:
        monkeypatch.setenv("NO_COLOR", variable)
    board = render_ansi(Game.from_code("MS-C4-1"), color=color, ascii=ascii)
    assert ("\x1b" in board) == coloured


def test_says_how_the_game_ended() -> None:
    *_, game = solved_positions(1)
    board = render_ansi(game, color=False)
    assert board.endswith("\n\nWON: all 52 cards are home")
    assert game.is_won
    assert " --  --  --  --  --  --  --  --" in board.replace("..", "--")
    *_, stuck = random_positions("BK1-C1-7777777")
    assert stuck.is_stuck
    assert render_ansi(stuck, color=False).endswith("\n\nSTUCK: no legal move is left")


def test_a_game_without_a_code_and_nothing_changed() -> None:
    game = Game.from_text(str(Game.from_code("MS-C4-1")))
    game.push(game.parse_move("6a"))
    before = game.copy()
    assert render_ansi(game, color=False).startswith("no code   score 0   moves 1   home 0/52   last 6a\n")
    assert game == before
    assert (game.score, game.moves, game.last_move) == (0, 1, before.last_move)
