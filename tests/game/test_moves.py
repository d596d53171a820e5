"""Action ids, moves and notation correspond exactly, and every text that is not a move is rejected."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracle import ID, MOVES, Triple, id_of, notation_of
from support.random_games import random_endgame

from boulanger_env import (
    ACTION_TABLE,
    BoulangerError,
    Game,
    IllegalMoveError,
    Move,
)
from boulanger_env.game import N_ACTIONS, UNDO

# One from each end of each row of the table of actions.
KNOWN = {
    0: ((0, 1, 1), "12"),
    12: ((0, 1, 13), "12vd"),
    13: ((0, 2, 1), "13"),
    90: ((0, 7, 13), "18vd"),
    91: ((1, 0, 1), "21"),
    727: ((7, 6, 13), "87vd"),
    728: ((0, 8, 1), "1f"),
    735: ((7, 8, 1), "8f"),
    736: ((0, 9, 1), "1h"),
    743: ((7, 9, 1), "8h"),
    744: ((8, 0, 1), "a1"),
    751: ((8, 7, 1), "a8"),
    752: ((9, 0, 1), "b1"),
    775: ((11, 7, 1), "d8"),
    776: ((8, 9, 1), "ah"),
    779: ((11, 9, 1), "dh"),
}


def test_every_id_goes_round() -> None:
    assert N_ACTIONS == UNDO == len(MOVES) == len(set(MOVES)) == 780
    texts = set()
    for action, triple in enumerate(MOVES):
        move = Move.from_id(action)
        assert move == triple
        assert isinstance(move, Move)
        assert move == Move(*triple)
        assert move.id == action == id_of(triple)
        assert type(move.id) is int
        assert all(type(part) is int for part in move)
        assert str(move) == notation_of(triple)
        assert Move.parse(str(move)) == move
        assert Move.parse(f"  {str(move).upper()}\n") == move
        assert f"{move}" == str(move)
        assert eval(repr(move)) == move
        texts.add(str(move))
    assert len(texts) == 780


@pytest.mark.parametrize("action", KNOWN)
def test_known_ids(action: int) -> None:
    triple, text = KNOWN[action]
    assert Move.from_id(action) == triple
    assert Move(*triple).id == action
    assert str(Move(*triple)) == text
    assert Move.parse(text) == triple


def test_the_table() -> None:
    assert ACTION_TABLE.shape == (780, 3)
    assert ACTION_TABLE.dtype == np.int8
    assert ACTION_TABLE.tolist() == [list(move) for move in MOVES]
    with pytest.raises(ValueError, match="read-only"):
        ACTION_TABLE[0, 0] = 1


def test_a_move_is_a_named_tuple() -> None:
    move = Move(3, 8)
    assert (move.source, move.destination, move.size) == tuple(move) == (3, 8, 1)
    assert move == (3, 8, 1)
    assert len({move, Move(3, 8, 1)}) == 1
    assert repr(move) == "Move(source=3, destination=8, size=1)"


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint16, np.array])
def test_an_id_may_be_any_integer(kind: Any) -> None:
    assert Move.from_id(kind(100)) == MOVES[100]


@pytest.mark.parametrize(
    "action",
    [-1, 780, 781, 10**30, 1.5, 1.0, float("nan"), "1", "", None, [1], (0, 1, 1), np.array([1]), np.array([1, 2]), b"1",
     np.float64(3), np.int64(-1), 1j],
    ids=repr,
)  # fmt: skip
def test_ids_that_are_none(action: Any) -> None:
    with pytest.raises(IllegalMoveError) as caught:
        Move.from_id(action)
    assert isinstance(caught.value, BoulangerError)


def test_triples_that_are_not_moves() -> None:
    for triple in product(range(-1, 13), range(-1, 11), range(-1, 15)):
        if triple in ID:
            assert Move(*triple).id == ID[triple]
            continue
        with pytest.raises(IllegalMoveError):
            _ = Move(*triple).id
        with pytest.raises(IllegalMoveError):
            str(Move(*triple))


@pytest.mark.parametrize(
    "triple", [("1", 2, 1), (None, 1, 1), (0.5, 1, 1), ([0], 1, 1), (0, 1, "1"), (0, float("nan"), 1)]
)
def test_things_that_are_not_moves(triple: Any) -> None:
    game = Game.from_code("MS-C4-1")
    with pytest.raises(IllegalMoveError):
        _ = Move(*triple).id
    with pytest.raises(IllegalMoveError):
        game.push(Move(*triple))
    assert game.moves == 0


ALSO_READ = {
    "6a": (5, 8, 1), "6b": (5, 8, 1), "6c": (5, 8, 1), "6d": (5, 8, 1), "6f": (5, 8, 1), "6F": (5, 8, 1),
    "12v1": (0, 1, 1), "12v3": (0, 1, 3), "12V3": (0, 1, 3), "12vA": (0, 1, 10), "12va": (0, 1, 10), "12vD": (0, 1, 13),
    "BH": (9, 9, 1), "bh": (9, 9, 1), "D8": (11, 7, 1), " 76 ": (6, 5, 1),
}  # fmt: skip


@pytest.mark.parametrize("text", ALSO_READ)
def test_other_ways_to_write_a_move(text: str) -> None:
    assert Move.parse(text) == ALSO_READ[text]


NO_MOVES = [
    "", " ", "1", "11", "88", "19", "91", "01", "10", "1e", "1g", "e1", "f1", "h1", "hh", "aa", "ab", "af", "ff", "1-2",
    "1 2", "12 v3", "12v", "12v0", "12ve", "12vf", "12v10", "12v03", "12v-1", "12v 3", "123", "12x3", "12v3v3", "a1v2",
    "a1v3", "1fv2", "6bv2", "1hv2", "ahv2", "a12", "1ah", "move 1 2", "undo", "quit", "１２", "1²", "12v３", "ª1", "ﬀ1",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_MOVES, ids=ascii)
def test_texts_that_are_not_moves(text: str) -> None:
    game = Game.from_code("MS-C4-1")
    for read in (Move.parse, game.parse_move):
        with pytest.raises(IllegalMoveError) as caught:
            read(text)
        message = str(caught.value)
        assert repr(text) in message, "the message shows what was given"
        assert "such as" in message, "and what would be right"


@pytest.mark.parametrize("thing", [None, 12, 1.5, b"12", ["12"], (0, 1, 1)])
def test_notation_is_text(thing: Any) -> None:
    game = Game.from_code("MS-C4-1")
    for read in (Move.parse, game.parse_move):
        with pytest.raises(IllegalMoveError):
            read(thing)


@given(st.text(alphabet="123456789abcdefhvABH 0x-", max_size=6))
@example("12v3")
def test_any_text_is_a_move_or_an_error(text: str) -> None:
    try:
        move = Move.parse(text)
    except IllegalMoveError:
        return
    assert Move.parse(str(move)) == move
    assert text.strip().lower()[0] == str(move)[0]


# A board with runs of 4 and of 3, a parent for each, and two empty columns.
BOARD = """
Foundations: H-0 C-2 D-3 S-0
Freecells: 9D - 4D
: KH QH JH 8S 7S 6S 5S
: KD QD JD TD KC 9S
: TS 9H 8H 7H
: 3C AS 2S 6C TH
:
: JC TC 9C 8C 7C 4C 3S QS 4S AH
:
: KS JS QC 5C 2H 3H 4H 5D 6D 7D 8D 5H 6H
"""


@pytest.fixture
def game() -> Game:
    game = Game.from_text(BOARD)
    assert game.cells.count(0) == 2
    assert game.columns.count(()) == 2
    return game


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("12", (0, 1, 4)),  # the nine takes 8 7 6 5
        ("12v4", (0, 1, 4)),
        ("34", (2, 3, 3)),  # the ten takes 9 8 7
        ("34v3", (2, 3, 3)),
        ("83", (7, 2, 1)),  # one card, and it fits
        ("15", (0, 4, 4)),  # to an empty column, the largest group: (2 + 1) * 2 = 6 would go, the run has 4
        ("15v4", (0, 4, 4)),
        ("15v2", (0, 4, 2)),
        ("15v1", (0, 4, 1)),
        ("37", (2, 6, 3)),
        ("25", (1, 4, 1)),
        ("a5", (8, 4, 1)),
        ("1b", (0, 8, 1)),
        ("1f", (0, 8, 1)),
        ("1d", (0, 8, 1)),
        ("6h", (5, 9, 1)),
        ("ch", (10, 9, 1)),
    ],
)
def test_parse_move_on_a_board(game: Game, text: str, move: Triple) -> None:
    parsed = game.parse_move(text)
    assert parsed == move
    assert isinstance(parsed, Move)
    assert game.parse_move(text.upper()) == move
    assert game.is_legal(parsed)
    written = game.notation(parsed)
    assert game.parse_move(written) == move
    game.push(parsed)
    assert game.last_move == move


def test_a_bare_move_takes_no_more_than_may_go(game: Game) -> None:
    """With the cells full and one empty column, one card of the run of four."""
    game.push(game.parse_move("25"))  # an empty column less
    game.push(game.parse_move("8f"))
    assert game.parse_move("17") == (0, 6, 2)
    game.push(game.parse_move("8f"))
    assert game.cells.count(0) == 0
    assert game.parse_move("17") == (0, 6, 1)
    assert game.notation(Move(0, 6)) == "17"
    with pytest.raises(IllegalMoveError, match="at most 1"):
        game.push(game.parse_move("17v2"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("13", "does not go on"),
        ("51", "column 5 is empty"),
        ("57", "column 5 is empty"),
        ("b1", "cell b is empty"),
        ("12v3", "does not go on"),
        ("12v5", "not a run"),
        ("25v2", "not a run"),
        ("12v9", "fewer than 9"),
        ("1h", "not next"),
        ("ah", "not next"),
        ("a1", "does not go on"),
        ("5f", "column 5 is empty"),
        ("5h", "column 5 is empty"),
    ],
)
def test_moves_that_the_board_refuses(game: Game, text: str, words: str) -> None:
    before = game.copy()
    move = game.parse_move(text)
    assert not game.is_legal(move)
    assert not game.legal_mask()[move.id]
    for play in (game.push, game.notation):
        with pytest.raises(IllegalMoveError, match=words):
            play(move)
    assert game == before
    assert game.moves == 0
    assert game.score == 0


def test_notation_names_the_cell_that_fills(game: Game) -> None:
    assert game.notation(Move(0, 8)) == "1b"
    assert str(Move(0, 8)) == "1f"
    game.push(Move(0, 8))
    assert game.notation(Move(1, 8)) == "2d"
    game.push(Move(1, 8))
    with pytest.raises(IllegalMoveError, match="no cell is free"):
        game.push(Move(2, 8))


def test_a_cell_that_a_game_lacks() -> None:
    game = Game.from_code("MS-C2-1")
    with pytest.raises(IllegalMoveError, match=r"no cell c.*2"):
        game.push(Move.parse("c1"))
    with pytest.raises(IllegalMoveError):
        game.push(Move.parse("dh"))
    assert game.double_tap(10) is None
    assert game.tap(11) is None


@pytest.mark.parametrize("source", [-1, 12, 100, 1.5, "1", None])
@pytest.mark.parametrize("tap", [Game.tap, Game.double_tap, Game.double_tap_move])
def test_no_such_source(tap: Any, source: Any) -> None:
    game = Game.from_code("MS-C4-1")
    with pytest.raises(IllegalMoveError):
        tap(game, source)
    assert game.moves == 0


@given(st.integers(0, 2**32), st.sampled_from([4, 2, 1]))
def test_notation_goes_round_on_any_board(seed: int, n_cells: int) -> None:
    oracle = random_endgame(Random(seed), n_cells)
    game = Game.from_columns(oracle.columns, oracle.cells, oracle.home, n_cells)
    legal = oracle.legal()
    largest = {(s, d): k for s, d, k in legal}
    for triple in legal:
        move = Move(*triple)
        text = game.notation(move)
        assert text == oracle.notation(triple)
        assert game.parse_move(text) == move
        if triple[0] < 8 and triple[1] < 8:
            # Bare, as other programs write it.
            bare = notation_of(triple)[:2]
            assert game.parse_move(bare) == (*triple[:2], largest[triple[:2]])
        else:
            assert Move.parse(text) == move
        assert game.parse_move(str(move)) == move or triple[2] == 1
    for triple in Random(seed).sample(MOVES, 20):
        if triple not in legal:
            with pytest.raises(IllegalMoveError):
                game.notation(Move(*triple))


@pytest.mark.parametrize("text", ["6c", "6d", "7d"])
def test_a_cell_that_the_game_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(IllegalMoveError, match="there is no cell"):
        Game.from_code("MS-C2-617").parse_move(text)
    assert Game.from_code("MS-C4-617").parse_move(text).destination == 8


@pytest.mark.parametrize("move", [3, "12", None, (1,), (0, 1, 2, 3)])
def test_what_is_not_a_move_is_rejected_with_advice(move: object) -> None:
    game = Game.from_code("MS-C4-1")
    for play in (game.push, game.is_legal, game.notation):
        with pytest.raises(IllegalMoveError, match=r"Move\.from_id"):
            play(move)  # type: ignore[arg-type]
    assert game == Game.from_code("MS-C4-1")


def test_a_tuple_will_do_for_a_move() -> None:
    game = Game.from_code("MS-C4-1")
    game.push((5, 8, 1))  # type: ignore[arg-type]
    assert game.last_move == Move(5, 8)


@pytest.mark.parametrize("source", [12, -1, "a", 1.0])
def test_a_tap_on_nothing(source: object) -> None:
    game = Game.from_code("MS-C4-1")
    for tap in (game.tap, game.double_tap):
        with pytest.raises(IllegalMoveError, match="is not a source"):
            tap(source)  # type: ignore[arg-type]
