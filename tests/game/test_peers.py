"""Games that other programs solved, and boards that other programs wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from oracle import CARD, Oracle
from support.paths import DATA
from support.random_games import peer_games

from boulanger_env.game import Game, Move

TEXTS = sorted((DATA / "peer_text").glob("*.txt"))


def test_there_are_games_and_texts() -> None:
    assert len(peer_games()) == 265
    assert [path.name for path in TEXTS] == [
        "ms_c2_000029.txt", "ms_c4_000001.txt", "ms_c4_000005.txt", "ms_c4_000017.txt"
    ]  # fmt: skip


@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_solutions_replay_to_a_win(n_cells: int) -> None:
    games = [record for record in peer_games() if record["code"].startswith(f"MS-C{n_cells}-")]
    assert len(games) == {4: 152, 2: 107, 1: 6}[n_cells]
    for i, record in enumerate(games):
        replay(record, in_notation=i % 5 == 0)


def replay(record: dict[str, Any], in_notation: bool) -> None:
    game, oracle = Game.from_code(record["code"]), Oracle.from_code(record["code"])
    start = game.copy()
    for triple in record["moves"]:
        move = Move(*triple)
        context = (record["code"], game.moves, triple)
        assert not game.is_won
        assert game.legal_mask()[move.id], context
        assert tuple(triple) in oracle.legal(), context
        if in_notation:
            notation = game.notation(move)
            assert notation == oracle.notation(tuple(triple)), context
            assert game.parse_move(notation) == move, context
        game.push(move)
        oracle.push(tuple(triple))
        assert game.columns == tuple(map(tuple, oracle.columns)), context
        assert game.cells == tuple(oracle.cells), context
    assert game.outcome == oracle.outcome == "won"
    assert game.is_won
    assert not game.is_stuck
    assert game.score == oracle.score == record["score"]
    assert game.moves == len(record["moves"])
    assert game.foundations == (13, 13, 13, 13)
    assert not game.legal_mask().any()
    # Undo takes back its last moves, with their points.
    undone = min(100, len(record["moves"]))
    assert [game.undo() for _ in range(undone)] == [tuple(m) for m in record["moves"][: -undone - 1 : -1]]
    if undone == len(record["moves"]):
        assert game == start
        assert game.score == 0


class Written(NamedTuple):
    """One position of a text and the line that leads to it, None for the first."""

    line: str | None
    board: str


def positions(text: str) -> list[Written]:
    """The boards of a text, in order."""
    found = []
    for block in text.split("===================="):
        line = re.search(r"^Move .*$", block, re.MULTILINE)
        board = re.search(r"^Foundations:.*\n^Freecells:.*\n(?::.*\n){8}", block, re.MULTILINE)
        if board:
            found.append(Written(line[0] if line else None, board[0]))
    return found


def read_plainly(board: str) -> tuple[list[list[int]], list[int], dict[str, str]]:
    """Columns, the cards in cells in their order, and foundations of a board in this form."""
    founds, cells, *rows = board.splitlines()
    home = dict(item.split("-") for item in founds.split()[1:])
    columns = [[CARD[name] for name in row.split()[1:]] for row in rows]
    return columns, [CARD[name] for name in cells.split()[1:]], home


MOVE_LINE = re.compile(
    r"Move (?P<size>a|\d+) cards? from (?P<from>stack|freecell) (?P<source>\d) "
    r"to (?:the (?P<home>foundations)|(?P<to>stack|freecell) (?P<destination>\d))"
)


def read_line(line: str) -> Move:
    """The move in a line, without the cell that it fills."""
    match = MOVE_LINE.fullmatch(line.strip())
    assert match, line
    source = int(match["source"]) + (8 if match["from"] == "freecell" else 0)
    destination = 9 if match["home"] else 8 if match["to"] == "freecell" else int(match["destination"])
    return Move(source, destination, 1 if match["size"] == "a" else int(match["size"]))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_text_replays_from_board_to_board(path: Path) -> None:
    n_cells, number = int(path.stem[4]), int(path.stem[6:])
    text = path.read_text()
    written = positions(text)
    assert len(written) == text.count("\nMove ") + 1 > 50
    game = Game.from_code(f"MS-C{n_cells}-{number}")
    start = re.search(r"# board:\n((?:.+\n){8})", text)
    assert start
    assert Game.from_text(start[1], n_cells) == game
    before = game.copy()
    for line, board in written:
        shown = Game.from_text(board, n_cells)
        columns, cells, home = read_plainly(board)
        assert shown.columns == tuple(map(tuple, columns))
        assert [card for card in shown.cells if card] == cells
        assert shown.foundations == tuple("0A23456789TJQK".index(home[suit]) for suit in "SHDC")
        if line is not None:
            move = read_line(line)
            if move.source >= 8:
                # Their program fills its cells in another order, so the card says which cell it is here.
                game.push(Move(8 + game.cells.index(before.cells[move.source - 8]), move.destination))
            else:
                game.push(move)
            before.push(move)
        for played in (game, before):
            assert (played.columns, played.foundations) == (shown.columns, shown.foundations), line
            assert sorted(played.cells) == sorted(shown.cells)
            assert played.position_key() == shown.position_key()
        assert Game.from_text(str(game), n_cells) == game
        before = shown
    assert game.is_won
    assert game.moves == len(written) - 1
