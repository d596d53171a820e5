"""Text boards: reading, writing, round trips, and every bad one rejected with its fault named."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracle import CARD, NAMES, PARENT, Oracle
from support.paths import DATA
from support.random_games import random_code, random_endgame, random_move

from boulanger_env import (
    BoulangerError,
    Game,
    IllegalMoveError,
    InvalidBoardError,
)

PLAIN = """\
JD KD 2S 4C 3S 6D 6S
2D KC KS 5C TD 8S 9C
9H 9S 9D TS 4S 8D 2H
JC 5S QD QH TH QS 6H
5D AD JS 4H 8H 6C
7H QC AS AC 2C 3D
7C KH AH 4D JH 8C
5H 3H 3C 7S 7D TC
"""
DEAL_1 = Game.from_code("MS-C4-1")

MIDDLE = """\
Foundations: H-0 C-2 D-A S-0
Freecells: 3D - 9C -
: JD KD 2S 4C 3S 6D 6S
: 2D KC KS 5C TD 8S
: 9H 9S 9D TS 4S 8D 2H
: JC 5S QD QH TH QS 6H
: 5D JS 4H 8H 6C
: 7H QC AS
: 7C KH AH 4D JH 8C
: 5H 3H 3C 7S 7D TC
"""


def middle() -> Game:
    game = Game.from_text(MIDDLE)
    assert [NAMES[card] if card else "-" for card in game.cells] == ["3D", "-", "9C", "-"]
    assert game.foundations == (0, 0, 1, 2)
    return game


def test_a_deal_as_other_programs_write_it() -> None:
    assert Game.from_text(PLAIN) == DEAL_1
    assert Game.from_text(PLAIN, n_cells=2) == Game.from_code("MS-C2-1") != DEAL_1
    game = Game.from_text(PLAIN)
    assert (game.code, game.score, game.moves, game.last_move) == (None, 0, 0, None)


def test_what_is_printed() -> None:
    game = middle()
    assert str(game) == MIDDLE.rstrip("\n").replace("Freecells: 3D - 9C -", "Freecells: 3D - 9C -")
    assert str(DEAL_1).splitlines()[:3] == [
        "Foundations: H-0 C-0 D-0 S-0",
        "Freecells: - - - -",
        ": JD KD 2S 4C 3S 6D 6S",
    ]


def tens(text: str) -> str:
    for suit in "SHDC":
        text = text.replace(f"T{suit}", f"10{suit}")
    return text


SAME = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "trailing blanks": lambda text: text.replace("\n", "   \t\n"),
    "no newline at the end": lambda text: text.rstrip("\n"),
    "newlines at the end": lambda text: text + "\n\n \n",
    "newlines before": lambda text: "\n\n" + text,
    "10 for T": tens,
    "10 for T, lowercase": lambda text: tens(text).lower(),
    "lowercase": str.lower,
    "title case": str.title,
    "Founds and FC": lambda text: text.replace("Foundations:", "Founds:").replace("Freecells:", "FC:"),
    "founds and fc": lambda text: text.replace("Foundations:", "founds:").replace("Freecells:", "fc:"),
    "no colons": lambda text: text.replace("\n: ", "\n"),
    "no blank after colons": lambda text: text.replace("\n: ", "\n:"),
    "wide blanks": lambda text: text.replace(" ", "  ").replace("Freecells:  ", "Freecells: "),
    "tabs": lambda text: text.replace("\n: ", "\n:\t").replace("D ", "D\t"),
    "indented": lambda text: text.replace("\n:", "\n  :"),
    "freecells first": lambda text: "\n".join(
        [text.split("\n")[1], text.split("\n")[0], *text.split("\n")[2:]]
    ),
    "headers last": lambda text: "\n".join([*text.rstrip().split("\n")[2:], *text.split("\n")[:2]]),
    "other order of suits": lambda text: text.replace("H-0 C-2 D-A S-0", "S-0 D-A C-2 H-0"),
    "empty suits left out": lambda text: text.replace("H-0 C-2 D-A S-0", "C-2 D-A"),
    "last cells left out": lambda text: text.replace("3D - 9C -", "3D - 9C"),
    "Foundation and Freecell": lambda text: text.replace("Foundations:", "Foundation:").replace(
        "Freecells:", "Freecell:"
    ),
    "Found": lambda text: text.replace("Foundations:", "Found:"),
    "Decks": lambda text: text.replace("Foundations:", "Decks:"),
    "Deck": lambda text: text.replace("Foundations:", "deck:"),
    "stars for empty cells": lambda text: text.replace("3D - 9C -", "3D * 9C *"),
    "a byte order mark": lambda text: f"\ufeff{text}",
    "by their places": lambda text: text.replace("Freecells: 3D - 9C -", "Freecells:  3D      9C    "),
    "by their places, cut": lambda text: text.replace("Freecells: 3D - 9C -", "Freecells:  3D      9C"),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_other_ways_to_write_it(change: Any) -> None:
    assert change(MIDDLE) != MIDDLE
    assert Game.from_text(change(MIDDLE)) == middle()


@pytest.mark.parametrize(
    ("written", "cells"),
    [
        (" 3D - - 9C", "3D -- -- 9C"),
        (" 3D 9C", "3D 9C -- --"),
        ("  3D  9C        ", "3D 9C -- --"),
        ("  3D          9C", "3D -- -- 9C"),
        ("      3D  9C    ", "-- 3D 9C --"),
        ("          3D  9C", "-- -- 3D 9C"),
        ("          3D  9C \t", "-- -- 3D 9C"),
        ("- - 3D 9C", "-- -- 3D 9C"),
    ],
)
def test_cells_by_their_places(written: str, cells: str) -> None:
    game = Game.from_text(MIDDLE.replace("Freecells: 3D - 9C -", f"Freecells:{written}"))
    assert " ".join(NAMES[card] for card in game.cells) == cells


@pytest.mark.parametrize(
    "header", ["Freecells:", "FC:", "FC: ", "Freecells:                ", "Freecells: - - - -", "FC: -"]
)
def test_empty_cells(header: str) -> None:
    assert Game.from_text(f"{header}\n{PLAIN}") == DEAL_1
    assert Game.from_text(f"Founds: H-0 C-0 D-0 S-0\n{header}\n{PLAIN}") == DEAL_1


ENDGAME = """\
Founds: H-8 C-9 D-9 S-9
FC: - - KS -
KH QH JH TH 9H
KD

KC QC JC TC

QD JD TD

QS JS TS
"""


def test_blank_lines_are_empty_columns_where_they_make_it_eight() -> None:
    """So PySolFC writes an empty column."""
    game = Game.from_text(ENDGAME)
    assert [len(column) for column in game.columns] == [5, 1, 0, 4, 0, 3, 0, 3]
    colons = ENDGAME.replace("\n\n", "\n:\n")
    assert Game.from_text(colons) == Game.from_text(colons.replace("\n", "\n\n")) == game
    # A first column too, and not what stands before the board, between its headers or after it.
    first = ENDGAME.replace("KH QH JH TH 9H\nKD\n", "\nKH QH JH TH 9H KD\n")
    assert Game.from_text(f"\n\n{first}\n\n".replace("\nFC", "\n\nFC")).columns[:2] == (
        (),
        (*game.columns[0], CARD["KD"]),
    )


@pytest.mark.parametrize(
    "text",
    [
        ENDGAME.replace("KD\n\n", "KD\n"),
        ENDGAME.replace("KD\n\n", "KD\n") + "\n",
        ENDGAME.replace("KD\n\n", "KD\n\n\n"),
        ENDGAME.replace("KD\n\n", "KD\n:\n") + "\n:\n",
    ],
)
def test_blank_lines_that_do_not_make_it_eight(text: str) -> None:
    with pytest.raises(
        InvalidBoardError, match=r"columns given: a board has 8 \(write an empty one as ':'\)"
    ):
        Game.from_text(text)


def test_boards_that_fc_solve_prints() -> None:
    """Every position of its solutions, also with the other names that it reads."""
    for path in sorted((DATA / "peer_text").glob("*.txt")):
        n_cells = int(path.name[4])
        # Each position stands between two rows of signs or words.
        texts = re.findall(r"^Foundations:.*\n(?:Freecells:.*\n)(?::.*\n)+", path.read_text(), re.MULTILINE)
        games = [Game.from_text(text, n_cells) for text in texts]
        assert len(games) > 50
        assert games[0] == Game.from_code(f"MS-C{n_cells}-{int(path.stem.split('_')[-1])}")
        assert games[-1].is_won
        for text, game in zip(texts, games, strict=True):
            stars = text.replace("Foundations:", "Decks:").replace("Freecells:", "Freecell:")
            assert Game.from_text(stars, n_cells) == Game.from_text(str(game), n_cells) == game


def test_a_long_word_is_not_quoted_whole() -> None:
    for text in ("x" * 10**6, f"Founds: {'x' * 10**6}", f"FC: {'x' * 10**6}"):
        with pytest.raises(InvalidBoardError) as caught:
            Game.from_text(text)
        assert len(str(caught.value)) < 200


def test_a_won_board() -> None:
    game = Game.from_text("Foundations: H-K C-K D-K S-K\nFreecells:\n" + ":\n" * 8)
    assert game.is_won
    assert game.outcome == "won"
    assert not game.legal_moves()
    assert not game.is_stuck
    assert Game.from_text(str(game)) == game
    assert game.double_tap(0) is None
    assert game.tap(3) is None
    with pytest.raises(IllegalMoveError):
        game.undo()


# A change to the board above, and words that its error must have.
BAD = {
    "missing card": (lambda t: t.replace(" 6S\n", "\n"), ["missing", "6S"]),
    "two missing": (lambda t: t.replace(" 6S\n", "\n").replace(" TC\n", "\n"), ["missing", "6S", "TC"]),
    "doubled card": (lambda t: t.replace(" 6S\n", " 6S 2H\n"), ["doubled", "2H"]),
    "one for another": (lambda t: t.replace(" 6S\n", " 2H\n"), ["missing", "6S", "doubled", "2H"]),
    "in a cell too": (lambda t: t.replace("3D -", "3D 6S"), ["doubled", "6S"]),
    "home too": (lambda t: t.replace("S-0", "S-A"), ["doubled", "AS"]),
    "not home yet": (lambda t: t.replace("C-2", "C-A"), ["missing", "2C"]),
    "7 columns": (
        lambda t: t.replace(": 7H QC AS\n", "").replace(" TC\n", " TC 7H QC AS\n"),
        ["7 columns", "8"],
    ),
    "9 columns": (lambda t: t + ":\n", ["9 columns", "8"]),
    "no columns": (lambda t: "".join(t.splitlines(True)[:2]), ["0 columns"]),
    "empty": (lambda t: "", ["0 columns"]),
    "bad rank": (lambda t: t.replace("6S\n", "1S\n"), ["1S", "line 3"]),
    "bad rank 11": (lambda t: t.replace("6S\n", "11S\n"), ["11S", "line 3"]),
    "bad rank 0": (lambda t: t.replace("6S\n", "0S\n"), ["0S", "line 3"]),
    "bad suit": (lambda t: t.replace("6S\n", "6X\n"), ["6X", "line 3"]),
    "suit first": (lambda t: t.replace("6S\n", "S6\n"), ["S6", "line 3"]),
    "only a rank": (lambda t: t.replace("6S\n", "6\n"), ["'6'", "line 3"]),
    "no blank": (lambda t: t.replace("6D 6S\n", "6D6S\n"), ["6D6S", "line 3"]),
    "comma": (lambda t: t.replace("6D 6S\n", "6D, 6S\n"), ["6D,", "line 3"]),
    "dash in a column": (lambda t: t.replace("6D 6S\n", "6D - 6S\n"), ["'-'", "line 3"]),
    "colon twice": (lambda t: t.replace(": 7H", ":: 7H"), ["line 8"]),
    "bad foundation": (lambda t: t.replace("C-2", "C-1"), ["C-1", "line 1"]),
    "bad foundation suit": (lambda t: t.replace("C-2", "X-2"), ["X-2", "line 1"]),
    "foundation without rank": (lambda t: t.replace("C-2", "C"), ["'C'", "line 1"]),
    "foundation twice": (lambda t: t.replace("H-0", "C-2"), ["C", "twice", "line 1"]),
    "bad card in a cell": (lambda t: t.replace("9C -", "9Z -"), ["9Z", "line 2"]),
    "five cells": (lambda t: t.replace("3D - 9C -", "3D - 9C - -"), ["5", "4", "line 2"]),
    "cells twice": (lambda t: t.replace("Freecells", "FC: 3D - 9C -\nFreecells"), ["line 3", "cells"]),
    "foundations twice": (lambda t: "Founds: H-0\n" + t, ["line 2", "foundations"]),
    "unknown header": (lambda t: t.replace("Freecells:", "Cells:"), ["line 2"]),
    "a sentence": (lambda t: "Here is the board\n" + t, ["line 1", "'Here'"]),
    "not ASCII": (lambda t: t.replace("6S\n", "6♠\n"), ["6♠", "line 3"]),
    "digits not ASCII": (lambda t: t.replace("6S\n", "６S\n"), ["６S", "line 3"]),
    "long s": (lambda t: t.replace("6S\n", "6ſ\n"), ["line 3"]),
    "binary": (lambda t: t.replace("6S\n", "6S\x00\n"), ["line 3"]),
}


@pytest.mark.parametrize(("change", "words"), BAD.values(), ids=BAD)
def test_bad_boards(change: Any, words: list[str]) -> None:
    text = change(MIDDLE)
    assert text != MIDDLE
    with pytest.raises(InvalidBoardError) as caught:
        Game.from_text(text)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    assert "\n" not in message
    assert isinstance(caught.value, BoulangerError)


@pytest.mark.parametrize("n_cells", [0, 3, 5, -1, 4.5, "4", None])
def test_bad_cell_counts(n_cells: Any) -> None:
    for make in (
        lambda: Game.from_text(PLAIN, n_cells),
        lambda: Game.from_columns(DEAL_1.columns, n_cells=n_cells),
        lambda: Game.from_deck(range(1, 53), n_cells),
    ):
        with pytest.raises(InvalidBoardError):
            make()


@pytest.mark.parametrize("thing", [None, 7, b"", ["JD"], DEAL_1])
def test_a_board_is_text(thing: Any) -> None:
    with pytest.raises(InvalidBoardError):
        Game.from_text(thing)


def test_more_cards_in_cells_than_cells() -> None:
    assert Game.from_text(MIDDLE.replace("3D - 9C -", "3D 9C"), 2).cells == (CARD["3D"], CARD["9C"])
    for cells, n_cells in (("3D - 9C", 2), ("3D 9C", 1), ("3D - 9C -", 2)):
        with pytest.raises(InvalidBoardError, match="cells"):
            Game.from_text(MIDDLE.replace("3D - 9C -", cells), n_cells)


def changed(columns: Any, column: int, cards: Any) -> list[Any]:
    new = [list(cards_there) for cards_there in columns]
    new[column] = cards
    return new


def test_from_columns_and_from_deck() -> None:
    columns = DEAL_1.columns
    assert (
        Game.from_columns(columns)
        == Game.from_columns([list(column) for column in columns], [0, 0, 0, 0])
        == DEAL_1
    )
    assert Game.from_columns([np.array(column, np.uint8) for column in columns]) == DEAL_1
    deck = [columns[i % 8][i // 8] for i in range(52)]
    assert (
        Game.from_deck(deck)
        == Game.from_deck(tuple(deck))
        == Game.from_deck(np.array(deck, np.uint8))
        == DEAL_1
    )
    assert Game.from_deck(deck, 2, "MS-C2-1").code == "MS-C2-1"


@pytest.mark.parametrize(
    "deck", [[], range(52), range(1, 52), [*range(1, 52), 1], range(1, 54), [*range(1, 52), 53], [-1] * 52]
)
def test_bad_decks(deck: Any) -> None:
    with pytest.raises(InvalidBoardError):
        Game.from_deck(deck)


BAD_POSITIONS = {
    "a card of 0": (lambda c: (changed(c, 5, [0, *c[5][1:]]),), "0 is not a card"),
    "a card of 53": (lambda c: (changed(c, 5, [53, *c[5][1:]]),), "53"),
    "a card of 256": (lambda c: (changed(c, 5, [256 + c[5][0], *c[5][1:]]),), "is not a card"),
    "a card below 0": (lambda c: (changed(c, 5, [c[5][0] - 256, *c[5][1:]]),), "is not a card"),
    "a cell of 53": (lambda c: (changed(c, 5, c[5][1:]), [53]), "53"),
    "a cell below 0": (lambda c: (changed(c, 5, c[5][1:]), [-1]), "-1"),
    "too many cells": (lambda c: (c, [0] * 5), "5 cells"),
    "3 foundations": (lambda c: (c, [], [0, 0, 0]), "3 foundations"),
    "a foundation of 14": (lambda c: (c, [], [14, 0, 0, 0]), "14"),
    "a foundation below 0": (lambda c: (c, [], [-1, 0, 0, 0]), "-1"),
    "7 columns": (lambda c: (c[:7],), "7 columns"),
    "9 columns": (lambda c: ([*c, []],), "9 columns"),
}


@pytest.mark.parametrize(("position", "words"), BAD_POSITIONS.values(), ids=BAD_POSITIONS)
def test_bad_positions(position: Any, words: str) -> None:
    with pytest.raises(InvalidBoardError, match=words):
        Game.from_columns(*position(DEAL_1.columns))


def test_columns_that_are_too_tall() -> None:
    """A state has room for 19 cards in a column, which is what play from a deal can reach."""
    for height in (20, 52):
        with pytest.raises(InvalidBoardError, match="19"):
            Game.from_columns([list(range(1, height + 1)), list(range(height + 1, 53)), *[[]] * 6])
    # One that is not yet too tall, and could grow: a king on 8 cards takes 12 more.
    king = [*range(CARD["2S"], CARD["9S"] + 1), CARD["KH"]]
    rest = [card for card in range(52, 0, -1) if card not in king]
    others = [rest[i::7] for i in range(7)]
    with pytest.raises(InvalidBoardError, match="21"):
        Game.from_columns([king, *others])
    # On 6 it may stand, and the queen to the ace go on it.
    lower = king[:6] + king[-1:]
    queen = list(range(CARD["QH"], CARD["AH"] - 1, -1))
    rest = [card for card in range(52, 0, -1) if card not in lower and card not in queen]
    game = Game.from_columns([lower, [], queen, [], *(rest[i::4] for i in range(4))])
    game.push(game.parse_move("31"))
    assert len(game.columns[0]) == 19
    assert game.columns[2] == ()
    assert Game.from_text(str(game)) == game
    assert game.undo() == (2, 0, 12)


@given(st.integers(0, 2**32), st.sampled_from([4, 2, 1]), st.sampled_from(["BK1", "MS"]), st.integers(0, 60))
def test_texts_go_round_through_play(seed: int, n_cells: int, scheme: str, length: int) -> None:
    random = Random(seed)
    oracle = Oracle.from_code(random_code(random, scheme, n_cells))
    for _ in range(length):
        legal = oracle.legal()
        if not legal:
            break
        oracle.push(random_move(random, legal, 0.5))
    text_goes_round(oracle, random)


@given(st.integers(0, 2**32), st.sampled_from([4, 2, 1]))
def test_texts_go_round_in_endgames(seed: int, n_cells: int) -> None:
    text_goes_round(random_endgame(Random(seed), n_cells), Random(seed))


def text_goes_round(oracle: Oracle, random: Random) -> None:
    n_cells = len(oracle.cells)
    game = Game.from_columns(oracle.columns, oracle.cells, oracle.home, n_cells)
    text = str(game)
    again = Game.from_text(text, n_cells)
    assert again == game
    assert again.cells == game.cells
    assert str(again) == text
    assert text == plain_text(oracle)
    # As fc-solve writes cells, four characters each, an empty one blank.
    spaced = "".join(f"{NAMES[card] if card else '':>4}" for card in oracle.cells)
    founds, _, *rows = text.splitlines()
    theirs = "\n".join(
        [f"{founds} ", f"Freecells:{spaced}", *(f"{row} " if row == ":" else row for row in rows)]
    )
    assert Game.from_text(theirs, n_cells) == game
    # Columns in another order are another game in the same class.
    random.shuffle(rows)
    other = Game.from_text("\n".join([founds, text.splitlines()[1], *rows]), n_cells)
    assert other.position_key() == game.position_key()


def plain_text(oracle: Oracle) -> str:
    """The oracle's own writing of a board."""
    home = dict(zip("SHDC", oracle.home, strict=True))
    lines = [
        "Foundations: " + " ".join(f"{suit}-{'0A23456789TJQK'[home[suit]]}" for suit in "HCDS"),
        "Freecells: " + " ".join(NAMES[card] if card else "-" for card in oracle.cells),
    ]
    return "\n".join(
        [*lines, *((": " + " ".join(NAMES[card] for card in column)).rstrip() for column in oracle.columns)]
    )


@given(st.text(alphabet="ATK2190SHDCshdc:-#FC \n\t♠", max_size=80))
@example(":\n" * 8)
def test_any_text_is_a_board_or_an_error(text: str) -> None:
    with pytest.raises(InvalidBoardError):
        Game.from_text(text)


@given(st.data())
def test_a_damaged_board_is_refused_or_read_as_written(data: st.DataObject) -> None:
    """Replace one character of a good board: the result is a board of 52 cards, or an error of ours."""
    place = data.draw(st.integers(0, len(MIDDLE) - 1))
    text = MIDDLE[:place] + data.draw(st.sampled_from("ATK2190SHDC:-# \n\tx")) + MIDDLE[place + 1 :]
    try:
        game = Game.from_text(text)
    except InvalidBoardError:
        return
    cards = [card for column in game.columns for card in column] + [card for card in game.cells if card]
    cards += [suit * 13 + rank for suit in range(4) for rank in range(1, game.foundations[suit] + 1)]
    assert sorted(cards) == list(range(1, 53))
    assert Game.from_text(str(game)) == game


def test_games_as_objects() -> None:
    game = Game.from_code("MS-C4-1")
    copy = game.copy()
    copy.push(copy.legal_moves()[-1])
    assert copy != game
    assert game.moves == 0
    assert copy.moves == 1
    assert copy.code == game.code
    copy.undo()
    assert copy == game
    for other in ("MS-C4-1", None, 1):
        assert game != other
    with pytest.raises(TypeError):
        hash(game)
    assert hash(game.position_key()) == hash(copy.position_key())
    assert game == Game.from_text(str(game)) != Game.from_code("MS-C2-1")
    assert (
        game.position_key()
        != Game.from_code("MS-C2-1").position_key()
        != Game.from_code("MS-C1-1").position_key()
    )
    assert PARENT[CARD["QH"]] == CARD["KH"]
    mask = game.legal_mask()
    mask[:] = 0
    assert game.legal_mask().any()
    assert game.legal_mask().dtype == np.int8
    assert game.legal_mask().shape == (780,)


def test_a_board_may_begin_with_a_byte_order_mark() -> None:
    game = Game.from_code("MS-C4-1")
    assert Game.from_text("\ufeff" + str(game)) == game
