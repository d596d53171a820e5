"""perft: how many ways there are to play 1..k moves, and how many different positions they reach.

The numbers were found by the oracle and by the kernels, which agreed. They change only if the rules do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from oracle import Oracle
from support.random_games import new_rows, peer_games

from boulanger_env.game import Game, kernels


class Case(NamedTuple):
    """A deal, how many moves of its known solution come first, and the counts after 1, 2, .. moves."""

    code: str
    played: int
    paths: list[int]
    positions: list[int]
    pruned: list[int]


CASES: list[Case] = [
    Case(
        "BK1-C4-AAAAA24",
        0,
        [9, 86, 858, 8856, 61265],
        [9, 51, 229, 874, 2133, 4066],
        [9, 86, 858, 8856, 61265],
    ),
    Case(
        "BK1-C2-BOULANG",
        0,
        [12, 138, 1032, 5793, 26675],
        [12, 78, 239, 479, 660, 794, 846, 894, 955],
        [12, 138, 1032, 5793, 26675],
    ),
    Case(
        "BK1-C1-7777777",
        0,
        [10, 32, 62, 98, 146, 226, 322, 482, 674],
        [10, 19, 27, 29, 29, 29, 29, 29, 29],
        [10, 32, 62, 98, 146, 226, 322, 482, 674],
    ),
    Case(
        "MS-C4-1",
        0,
        [10, 96, 903, 8452, 46796],
        [10, 55, 223, 758, 1489, 2340, 3219],
        [10, 96, 903, 8452, 46796],
    ),
    Case(
        "MS-C2-1941",
        0,
        [9, 84, 295, 907, 2392, 5547, 12134, 26423],
        [9, 50, 95, 154, 181, 199, 223, 261, 287],
        [9, 84, 295, 907, 2392, 5547, 12134, 26423],
    ),
    Case(
        "MS-C1-4294967296",
        0,
        [11, 57, 232, 835, 2701, 7656, 19151, 43001],
        [11, 35, 78, 118, 145, 157, 162, 164, 164],
        [11, 57, 232, 835, 2701, 7656, 19151, 43001],
    ),
    Case(
        "MS-C4-1",
        60,
        [14, 154, 1878, 24663],
        [12, 73, 337, 1235, 3939],
        [11, 91, 828, 7856, 76537],
    ),
    Case(
        "MS-C4-2",
        45,
        [23, 379, 5287, 72862],
        [22, 171, 814, 3148],
        [21, 304, 3710, 45147],
    ),
    Case(
        "MS-C4-17",
        50,
        [27, 569, 10184, 174085],
        [13, 110, 552, 2072, 6419],
        [12, 167, 1976, 22615],
    ),
    Case(
        "MS-C2-29",
        35,
        [2, 11, 52, 267, 1374, 7291, 41937],
        [2, 10, 28, 71, 130, 250, 582, 1419, 3002],
        [2, 11, 50, 241, 1164, 5736, 30493],
    ),
    Case(
        "MS-C2-33",
        60,
        [3, 19, 130, 982, 8004, 75898],
        [3, 16, 66, 262, 941, 3006],
        [3, 19, 130, 974, 7676, 67175],
    ),
    Case(
        "MS-C1-367",
        30,
        [10, 37, 296, 1345, 9048, 44475],
        [10, 29, 138, 260, 438, 580, 641, 684, 746],
        [10, 37, 295, 1333, 8951, 43713],
    ),
    Case(
        "MS-C1-662",
        60,
        [10, 82, 962, 11508, 141699],
        [10, 38, 162, 412, 1157, 2308, 4162],
        [9, 46, 421, 2889, 26111],
    ),
]


def start(code: str, played: int) -> Oracle:
    oracle = Oracle.from_code(code)
    if played:
        game = next(game for game in peer_games() if game["code"] == code)
        for move in game["moves"][:played]:
            oracle.push(tuple(move))
    return oracle


def oracle_paths(oracle: Oracle, depth: int, prune: bool = False) -> list[int]:
    """Sequences of 1..depth moves."""
    counts = [0] * depth

    def walk(level: int) -> None:
        moves = oracle.pruned() if prune else oracle.legal()
        counts[level] += len(moves)
        if level + 1 < depth:
            for move in moves:
                oracle.push(move)
                walk(level + 1)
                oracle.undo()

    walk(0)
    return counts


def oracle_positions(oracle: Oracle, depth: int) -> list[int]:
    """Positions after exactly 1..depth moves, those alike but for the order of columns or cells counted once."""
    level = {oracle.key(): oracle}
    counts = []
    for _ in range(depth):
        following = {}
        for position in level.values():
            for move in position.legal():
                child = Oracle(
                    [list(column) for column in position.columns], list(position.cells), list(position.home)
                )
                child.push(move)
                following[child.key()] = child
        level = following
        counts.append(len(level))
    return counts


def kernel_paths(oracle: Oracle, depth: int, prune: bool = False) -> list[int]:
    board, counters, history = new_rows(oracle)
    before = board.copy()
    masks = np.empty((depth, 780), np.int8)
    counts = [0] * depth

    def walk(level: int) -> None:
        counts[level] += kernels.legal_moves(board, masks[level], prune)
        if level + 1 < depth:
            for action in np.flatnonzero(masks[level]).tolist():
                kernels.push(board, counters, history, action)
                walk(level + 1)
                assert kernels.pop(board, counters, history) == action

    walk(0)
    assert board.tobytes() == before.tobytes()
    assert not counters.any()
    return counts


def game_positions(game: Game, depth: int) -> list[int]:
    level = {game.position_key(): game}
    counts = []
    for _ in range(depth):
        following = {}
        for position in level.values():
            for move in position.legal_moves():
                child = position.copy()
                child.push(move)
                following[child.position_key()] = child
        level = following
        counts.append(len(level))
    return counts


def as_game(oracle: Oracle) -> Game:
    return Game.from_columns(oracle.columns, oracle.cells, oracle.home, len(oracle.cells))


IDS = [f"{case.code}+{case.played}" for case in CASES]
LARGEST = 4_000  # nodes of a count in the plain run; the pinned numbers go on to larger ones


def affordable(counts: list[int], most: int) -> int:
    """The last level that takes at most this many nodes."""
    return sum(1 for before in [1, *counts[:-1]] if before <= most)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_counts(case: Case) -> None:
    counts_agree(case, LARGEST)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_counts_to_the_end(case: Case) -> None:
    counts_agree(case, 10**9)


def counts_agree(case: Case, most: int) -> None:
    oracle = start(case.code, case.played)
    depth = affordable(case.paths, most)
    assert kernel_paths(oracle, depth) == case.paths[:depth]
    # The oracle is slower: one level less.
    depth = affordable(case.paths, most // 8)
    assert oracle_paths(oracle, depth) == case.paths[:depth]
    depth = affordable(case.pruned, most // 2)
    assert kernel_paths(oracle, depth, prune=True) == case.pruned[:depth]
    depth = affordable(case.pruned, most // 8)
    assert oracle_paths(oracle, depth, prune=True) == case.pruned[:depth]
    depth = affordable(case.positions, most // 4)
    assert game_positions(as_game(oracle), depth) == case.positions[:depth]
    depth = affordable(case.positions, most // 8)
    assert oracle_positions(oracle, depth) == case.positions[:depth]


def test_first_moves_by_name() -> None:
    """The counts of 1 as lists, to check by eye."""
    game = Game.from_code("MS-C4-1")
    names = [game.notation(move) for move in game.legal_moves()]
    assert names == ["28", "72", "1a", "2a", "3a", "4a", "5a", "6a", "7a", "8a"]
    game = as_game(start("MS-C4-1", 3))
    assert str(game).splitlines()[1:] == [
        "Freecells: 3D 2C - -",
        ": JD KD 2S 4C 3S 6D 6S",
        ": 2D KC KS 5C TD 8S 9C",
        ": 9H 9S 9D TS 4S 8D 2H",
        ": JC 5S QD QH TH QS 6H",
        ": 5D AD JS 4H 8H 6C",
        ": 7H QC AS",
        ": 7C KH AH 4D JH 8C",
        ": 5H 3H 3C 7S 7D TC",
    ]
    names = [game.notation(move) for move in game.legal_moves()]
    assert names == ["28", "72", "1c", "2c", "3c", "4c", "5c", "6c", "7c", "8c", "6h", "bh"]
