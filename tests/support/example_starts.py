"""Starts to test with, in many small groups, and what the oracle makes of them."""

from __future__ import annotations

from functools import cache

import numpy as np
from gymnasium.utils import seeding
from oracle import Oracle, SplitMix64, code_of, draw_start

from boulanger_env import Game
from boulanger_env.deals import Starts
from boulanger_env.game import Move
from support.random_games import N_CARD_BYTES, peer_games

SOLVED = tuple(game["code"] for game in sorted(peer_games(), key=lambda game: len(game["moves"]))[:4])


@cache
def example_games() -> tuple[tuple[Game, int], ...]:
    """Positions on solutions of others, three moves apart, with the moves left."""
    found = []
    for peer in peer_games():
        if peer["code"] not in SOLVED:
            continue
        game = Game.from_code(peer["code"])
        for number, move in enumerate(peer["moves"]):
            if number % 3 == 0:
                found.append((game.copy(), len(peer["moves"]) - number))
            game.push(Move(*move))
    return tuple(found)


def example_starts(deal_share: float = 0.0) -> Starts:
    """Starts with groups of all sizes, some of them empty, drawn with weights of all sizes."""
    games, left = zip(*example_games(), strict=True)
    groups = np.array(left) // 4 * 2
    weights = np.random.default_rng(3).random(groups.max() + 1) ** 3
    weights[4] = 0
    return Starts(games, groups, weights=weights, deal_share=deal_share)


def expected_draws(starts: Starts, seed: int, count: int, n_cells: int = 4) -> list[tuple[int, int, str]]:
    """Start, group and code of the first episodes of a single environment with this seed."""
    stream = SplitMix64(int(seeding.np_random(seed)[0].integers(2**64, dtype=np.uint64)))
    left, weights = starts.left.tolist(), starts.weights.tolist()
    drawn = []
    for _ in range(count):
        start = draw_start(stream, left, weights, starts.deal_share)
        if start is None:
            drawn.append((-1, -1, code_of("BK1", n_cells, stream.random_game())))
        else:
            drawn.append((start, left[start], ""))
    return drawn


def oracle_of(row: np.ndarray) -> Oracle:
    """A row of ``Starts.positions`` as the oracle sees it."""
    assert row.shape == (N_CARD_BYTES,)
    columns = [[card for card in column if card] for column in row[:152].reshape(8, 19).tolist()]
    return Oracle(columns, [card for card in row[152:156].tolist() if card != 53], row[156:160].tolist())
