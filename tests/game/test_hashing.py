"""Position hashes: one for each class of equivalent positions, and changed by a move as predicted."""

from __future__ import annotations

from random import Random

import pytest
from oracle import ID, Oracle
from support.random_games import new_rows, random_move, random_start

from boulanger_env.game.hashing import hash_change, position_hash
from boulanger_env.game.kernels import apply

STEPS = 4_000


@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_hashes_divide_positions_as_the_oracle_does(n_cells: int) -> None:
    random = Random(n_cells)
    classes: dict[int, object] = {}
    hashes: dict[object, int] = {}
    steps = 0
    while steps < STEPS:
        oracle = random_start(random, "MS", n_cells)
        board = new_rows(oracle)[0]
        for _ in range(40):
            steps += 1
            now, position = int(position_hash(board)), (n_cells, oracle.key())
            assert classes.setdefault(now, position) == position
            assert hashes.setdefault(position, now) == now
            legal = oracle.legal()
            if not legal:
                break
            for move in legal:
                after = oracle.copy()
                after.push(move)
                assert int(position_hash(new_rows(after)[0])) == now ^ int(hash_change(board, ID[move]))
            move = random_move(random, legal, 0.3)
            apply(board, ID[move])
            oracle.push(move)


def test_the_order_of_columns_and_cells_does_not_matter_but_their_number_does() -> None:
    random = Random(7)
    for _ in range(200):
        start = random_start(random, "MS", 4)
        shuffled = Oracle(random.sample(start.columns, 8), random.sample(start.cells, 4), start.home)
        key = position_hash(new_rows(start)[0])
        assert position_hash(new_rows(shuffled)[0]) == key
        if start.cells[2:] == [0, 0]:
            assert position_hash(new_rows(Oracle(start.columns, start.cells[:2], start.home))[0]) != key


def test_hashes_never_change() -> None:
    # People may store them.
    assert int(position_hash(new_rows(Oracle.from_code("MS-C4-1"))[0])) == 11479843650389472878
