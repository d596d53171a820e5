"""Games to test with: where a walk starts, how it goes on, and a state in the layout that kernels read."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import numpy as np
from oracle import RANK, SUIT, Oracle, Triple, code_of

from boulanger_env.game import kernels
from boulanger_env.game.state import CELLS, FOUNDATIONS, TABLEAU, Board, Counters, History, new_state
from support.paths import DATA

TALLEST = 19
N_CARD_BYTES = 8 * TALLEST + 4 + 4
assert (TABLEAU, CELLS, FOUNDATIONS) == (0, 8 * TALLEST, 8 * TALLEST + 4)


@cache
def peer_games() -> list[dict[str, Any]]:
    """The solved games: `code`, `score` and `moves`."""
    return [json.loads(line) for line in (DATA / "peer_solutions.jsonl").read_text().splitlines()]


def random_code(random: Random, scheme: str, n_cells: int) -> str:
    """A code from everywhere in its scheme; the three kinds of Microsoft numbers about equally often."""
    if scheme == "MS":
        low, high = random.choice([(1, 32000), (1, 2**31), (2**31, 2**32), (2**32, 2**33)])
        return code_of("MS", n_cells, random.randrange(low, high))
    return code_of("BK1", n_cells, random.randrange(2**35))


def random_endgame(random: Random, n_cells: int) -> Oracle:
    """A position with some cards home and the rest in runs on few columns: where groups are large."""
    while True:
        home = [random.randrange(14) for _ in range(4)]
        runs = []
        for suit in range(4):
            ranks = list(range(13, home[suit], -1))
            while ranks:
                size = random.randint(1, len(ranks))
                runs.append([suit * 13 + rank for rank in ranks[:size]])
                ranks = ranks[size:]
        random.shuffle(runs)
        columns: list[list[int]] = [[] for _ in range(8)]
        used = random.sample(range(8), random.randint(2, 8))
        cells = [0] * n_cells
        for run in runs:
            if len(run) == 1 and 0 in cells and random.random() < 0.4:
                cells[random.choice([c for c in range(n_cells) if not cells[c]])] = run[0]
            else:
                columns[random.choice(used)] += run
        # A column must not be able to outgrow what play can reach.
        if all(
            place + RANK[card] - 1 - home[SUIT[card]] <= TALLEST
            for column in columns
            for place, card in enumerate(column, 1)
        ):
            return Oracle(columns, cells, home)


def random_start(random: Random, scheme: str, n_cells: int) -> Oracle:
    """A fresh deal, a position within a solved game, or an endgame."""
    kind = random.random()
    if kind < 0.3:
        return Oracle.from_code(random_code(random, scheme, n_cells))
    if kind < 0.6 and scheme == "MS":
        game = random.choice([g for g in peer_games() if g["code"].startswith(f"MS-C{n_cells}-")])
        oracle = Oracle.from_code(game["code"])
        for move in game["moves"][: random.randrange(len(game["moves"]))]:
            oracle.push(tuple(move))
        return Oracle(oracle.columns, oracle.cells, oracle.home)
    return random_endgame(random, n_cells)


def random_move(random: Random, legal: list[Triple], boldness: float) -> Triple:
    """A legal move: any, or with probability `boldness` rather one that goes home or moves a group."""
    if random.random() < boldness:
        chosen = [move for move in legal if move[1] == 9 or move[2] > 1]
        if chosen:
            return random.choice(chosen)
    return random.choice(legal)


def encode(oracle: Oracle) -> bytes:
    """A position as the bytes of `boulanger_env/game/state.py` that hold cards: all the others follow from these."""
    tableau = b"".join(bytes(column) + bytes(TALLEST - len(column)) for column in oracle.columns)
    cells = bytes(oracle.cells) + bytes([53]) * (4 - len(oracle.cells))
    return tableau + cells + bytes(oracle.home)


def new_rows(oracle: Oracle) -> tuple[Board, Counters, History]:
    """The rows of a game that starts from here."""
    board, counters, history = new_state()
    board[:N_CARD_BYTES] = np.frombuffer(encode(oracle), np.uint8)
    kernels.reindex(board)
    return board, counters, history
