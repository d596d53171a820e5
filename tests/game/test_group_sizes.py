"""The table of group sizes: by exhaustive search over single-card moves, and on real boards."""

from __future__ import annotations

from collections import deque

import pytest
from oracle import CARD, ID, RANK, Oracle, notation_of

from boulanger_env.game import Game, IllegalMoveError, Move, kernels

# Free cells down; across: onto an occupied column with 0, 1, 2 empty columns, to an empty one of 1, 2 in all.
TABLE = {
    0: (1, 2, 4, 1, 2),
    1: (2, 4, 8, 2, 4),
    2: (3, 6, 12, 3, 6),
    3: (4, 8, 16, 4, 8),
    4: (5, 10, 20, 5, 10),
}
ACROSS = ((False, 0), (False, 1), (False, 2), (True, 1), (True, 2))

NUMBERS = [
    pytest.param(
        free, empty, to_empty, most, id=f"{free}free-{empty}empty-{'to-empty' if to_empty else 'occupied'}"
    )
    for free, row in TABLE.items()
    for (to_empty, empty), most in zip(ACROSS, row, strict=True)
]

Steps = list[tuple[int, int | None]]


def single_card_moves(size: int, free: int, empty: int, to_empty: bool) -> Steps | None:
    """How to bring a run from column 0 to column 1 by single cards, by breadth-first search; None if there is no way.

    The cards are `size` (the head) down to 1, with something else beneath them; `size + 1` is the card that takes the
    head. A step is a card and the column that it goes to, or None for a cell. Of the other columns only the empty
    ones matter: no top card but a run's own next one takes a card of the run.
    """
    run = tuple(range(size, 0, -1))
    beneath = 99
    goal = run if to_empty else (size + 1, *run)
    start = (((beneath, *run), goal[:-size], *[()] * (empty - to_empty)), frozenset[int]())
    steps: dict[object, tuple[object, tuple[int, int | None]] | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        columns, cells = state
        if columns[1] == goal:
            path: Steps = []
            link = steps[state]
            while link is not None:
                path.append(link[1])
                link = steps[link[0]]
            return path[::-1]
        movable = [(column[-1], i) for i, column in enumerate(columns) if column and column[-1] <= size]
        for card, source in [*movable, *((card, None) for card in sorted(cells))]:
            lifted = tuple(column[:-1] if i == source else column for i, column in enumerate(columns))
            left = cells - {card}
            following = [
                ((tuple((*c, card) if i == d else c for i, c in enumerate(lifted)), left), (card, d))
                for d, column in enumerate(lifted)
                if d != source and (not column or column[-1] == card + 1)
            ]
            if source is not None and len(cells) < free:
                following.append(((lifted, cells | {card}), (card, None)))
            for new, step in following:
                if new not in steps:
                    steps[new] = (state, step)
                    queue.append(new)
    return None


@pytest.mark.parametrize(("free", "empty", "to_empty", "most"), NUMBERS)
def test_from_first_principles(free: int, empty: int, to_empty: bool, most: int) -> None:
    assert most == (free + 1) * 2 ** (empty - to_empty)
    assert single_card_moves(most, free, empty, to_empty) is not None
    assert single_card_moves(most + 1, free, empty, to_empty) is None


def real_board(size: int, n_cells: int, free: int, empty: int, to_empty: bool) -> Oracle:
    """All 52 cards, with the hearts from `size` down to the ace as a run in column 0, something else beneath it.

    Column 1 holds the next heart alone, or is the empty one to go to; other empty columns follow it.
    """
    run = list(range(CARD["AH"] + size - 1, CARD["AH"] - 1, -1))
    parent = [run[0] + 1] if size < 13 and not to_empty else [CARD["KC"]]
    cells = [CARD["KS"], CARD["QS"], CARD["JS"], CARD["TS"]][: n_cells - free] + [0] * free
    beneath = CARD["2C"]
    used = {*run, *cells, beneath} | (set() if to_empty else set(parent))
    # In order of rank, so that no column can outgrow what play can reach.
    rest = sorted(set(range(1, 53)) - used, key=lambda card: -RANK[card])
    first_filled = 1 + empty if to_empty else 2 + empty
    columns: list[list[int]] = [[beneath, *run], [] if to_empty else parent, *([] for _ in range(6))]
    for i, card in enumerate(rest):
        columns[first_filled + i % (8 - first_filled)].append(card)
    return Oracle(columns, cells, [0, 0, 0, 0])


def as_game(oracle: Oracle) -> Game:
    return Game.from_columns(oracle.columns, oracle.cells, oracle.home, len(oracle.cells))


def refused(game: Game, oracle: Oracle, move: Move, words: str) -> None:
    """A move that neither the mask, the oracle nor `Game` allows; nothing changes."""
    before = game.copy()
    assert not game.legal_mask()[move.id]
    assert move.id not in oracle.legal_ids()
    assert not game.is_legal(move)
    with pytest.raises(IllegalMoveError, match=words):
        game.push(move)
    assert game == before
    assert game.moves == before.moves


def allowed(game: Game, oracle: Oracle, move: Move) -> None:
    """A move that mask, oracle and `Game` allow; it brings the whole run over, and undo brings it back."""
    assert game.legal_mask()[move.id] == 1
    assert move.id in oracle.legal_ids()
    before, run = game.copy(), game.columns[move.source][-move.size :]
    game.push(move)
    assert game.columns[move.destination] == before.columns[move.destination] + run
    assert game.columns[move.source] == before.columns[move.source][: -move.size]
    assert game.undo() == move
    assert game == before


@pytest.mark.parametrize(("free", "n_cells"), [(f, n) for f in TABLE for n in (4, 2, 1) if f <= n])
@pytest.mark.parametrize(("to_empty", "empty"), ACROSS)
def test_on_real_boards(free: int, empty: int, to_empty: bool, n_cells: int) -> None:
    most = TABLE[free][ACROSS.index((to_empty, empty))]
    # A run onto a card has 12 cards at most: the king is the card that takes it.
    size = min(most, 13 if to_empty else 12)
    oracle = real_board(size, n_cells, free, empty, to_empty)
    game = as_game(oracle)
    assert (game.cells.count(0), game.columns.count(())) == (free, empty)
    assert kernels.run_length(game._board, 0) == size
    allowed(game, oracle, Move(0, 1, size))

    oracle = real_board(size + 1, n_cells, free, empty, to_empty)
    game = as_game(oracle)
    refused(game, oracle, Move(0, 1, size + 1), f"at most {most}$" if to_empty or size < 12 else "a king")
    if to_empty:
        # A part of it may go, and a bare move takes as much as may go.
        allowed(game, oracle, Move(0, 1, size))
        assert game.parse_move("12") == Move(0, 1, size)
    elif size > 1:
        refused(game, oracle, Move(0, 1, size), "can take it")


@pytest.mark.parametrize(("free", "empty", "to_empty", "most"), NUMBERS)
def test_a_group_is_short_for_single_moves(free: int, empty: int, to_empty: bool, most: int) -> None:
    """The search's way, card by card, comes to the position that the group move makes."""
    size = min(most, 13 if to_empty else 12)
    game = as_game(real_board(size, 4, free, empty, to_empty))
    grouped = game.copy()
    grouped.push(Move(0, 1, size))
    others = [i for i in range(2, 8) if not game.columns[i]]
    steps = single_card_moves(size, free, empty, to_empty)
    assert steps is not None
    for number, destination in steps:
        card = CARD["AH"] + number - 1
        source = next(
            (i for i, column in enumerate(game.columns) if card in column),
            8 + [*game.cells, card].index(card),
        )
        target = 8 if destination is None else destination if destination < 2 else others[destination - 2]
        game.push(Move(source, target))
    assert game == grouped


def test_cells_that_a_game_lacks_do_not_count() -> None:
    """The same columns: six cards go over with 2 free cells and an empty column, but with one cell four."""
    for n_cells, most in ((4, 10), (2, 6), (1, 4)):
        oracle = real_board(most, n_cells, n_cells, 1, False)
        allowed(as_game(oracle), oracle, Move(0, 1, most))
        oracle = real_board(most + 1, n_cells, n_cells, 1, False)
        refused(as_game(oracle), oracle, Move(0, 1, most + 1), f"at most {most}$")


def test_sizes_are_written_in_hexadecimal() -> None:
    oracle = real_board(10, 4, 4, 1, False)
    game = as_game(oracle)
    move = Move(0, 1, 10)
    assert ID[tuple(move)] == move.id
    assert game.notation(move) == str(move) == notation_of(move) == "12va"
    assert game.parse_move("12") == game.parse_move("12vA") == move
