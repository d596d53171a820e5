"""Observations against an independent reading of the position, and back to the board."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import ID, PARENT, RANK, SUIT, Oracle
from support.random_games import random_code, random_endgame, random_move, random_start

from boulanger_env import BoulangerEnv, BoulangerError, Game, InvalidBoardError
from boulanger_env.envs import FEATURES, N_FEATURES, board_from_observation, feature

seeds = st.integers(0, 2**32 - 1)
cell_counts = st.sampled_from([4, 2, 1])


def position(seed: int, n_cells: int) -> Oracle:
    """A position in progress: a deal, the middle or the end of a game, and some random moves."""
    random = Random(seed)
    while True:
        if random.random() < 0.5:
            oracle = random_endgame(random, n_cells)
        elif random.random() < 0.5:
            oracle = random_start(random, "MS", n_cells)
        else:
            oracle = Oracle.from_code(random_code(random, "BK1", n_cells))
        for _ in range(random.randrange(20)):
            if legal := oracle.legal():
                oracle.push(random_move(random, legal, 0.5))
        if oracle.outcome is None:
            return oracle


def game_of(oracle: Oracle) -> Game:
    return Game.from_columns(oracle.columns, oracle.cells, oracle.home, len(oracle.cells))


def observe(oracle: Oracle, kind: str) -> Any:
    env = BoulangerEnv(observation=kind)
    observation, _ = env.reset(options={"game": game_of(oracle)})
    assert env.observation_space.contains(observation)
    return observation


def expected_features(oracle: Oracle) -> dict[str, set[tuple[int, ...]]]:
    """The bits that are set in each range, as indexes; cards count from 0 here."""
    columns, cells, home = oracle.columns, oracle.cells, oracle.home
    bits: dict[str, set[tuple[int, ...]]] = {name: set() for name in FEATURES}
    for i, column in enumerate(columns):
        for place, card in enumerate(column):
            bits["column"].add((card - 1, i))
            bits["cards_above"].add((card - 1, len(column) - 1 - place))
            if place and column[place - 1] == PARENT[card]:
                bits["on_parent"].add((card - 1,))
            tail = column[place:]
            if all(PARENT[upper] == lower for lower, upper in pairwise(tail)):
                bits["in_run"].add((card - 1,))
            if any(SUIT[below] == SUIT[card] and RANK[below] < RANK[card] for below in column[:place]):
                bits["blocks"].add((card - 1,))
    for c, card in enumerate(cells):
        if card:
            bits["cell"].add((card - 1, c))
    for card in range(1, 53):
        if RANK[card] <= home[SUIT[card]]:
            bits["home"].add((card - 1,))
        if RANK[card] == home[SUIT[card]] + 1:
            bits["next_home"].add((card - 1,))
    for s, d, k in oracle.legal():
        card = columns[s][-k] if s < 8 else cells[s - 8]
        if d == 9:
            bits["can_go_home"].add((card - 1,))
        elif d < 8 and columns[d]:
            bits["can_go_to_parent"].add((card - 1,))
    for suit in range(4):
        bits["foundation_rank"].add((suit, home[suit]))
    bits["n_cells"].add(({4: 0, 2: 1, 1: 2}[len(cells)],))
    bits["empty_cells"].add((cells.count(0),))
    bits["empty_columns"].add((columns.count([]),))
    bits["group_limit"].add((min(oracle.group_limit(to_empty=False), 13) - 1,))
    to_empty = min(oracle.group_limit(to_empty=True), 13) if [] in columns else 0
    bits["group_limit_to_empty"].add((int(to_empty),))
    return bits


def test_ranges_cover_the_vector_once() -> None:
    assert gym.make("Boulanger-C4-v0").observation_space == gym.spaces.Box(0, 1, (N_FEATURES,), np.uint8)
    end = 0
    for name, entry in FEATURES.items():
        assert entry.start == end
        end = entry.stop
        assert entry.stop - entry.start == np.prod(entry.shape)
        assert entry.meaning
        assert name.isidentifier()
    assert end == N_FEATURES


@settings(max_examples=150, deadline=None)
@given(seeds, cell_counts)
def test_every_bit_is_what_its_range_says(seed: int, n_cells: int) -> None:
    oracle = position(seed, n_cells)
    observation = observe(oracle, "features")
    for name, expected in expected_features(oracle).items():
        bits = feature(observation, name)
        assert bits.shape == FEATURES[name].shape
        assert {tuple(index) for index in np.argwhere(bits).tolist()} == expected, name
    assert int(observation.sum()) == sum(map(len, expected_features(oracle).values()))


def test_every_bit_that_can_be_set_is_set_somewhere() -> None:
    # Guards the comparison above: a range that no position exercises would pass unnoticed.
    seen = np.zeros(N_FEATURES, np.uint8)
    for seed in range(600):
        seen |= observe(position(seed, (4, 2, 1)[seed % 3]), "features")
    for name in FEATURES:
        share = feature(seen, name).mean()
        assert share > {"cell": 0.5, "cards_above": 0.5, "empty_columns": 0.7}.get(name, 0.75), name


@settings(max_examples=60, deadline=None)
@given(seeds, cell_counts, st.sampled_from(["features", "cards"]))
def test_back_to_the_board(seed: int, n_cells: int, kind: str) -> None:
    oracle = position(seed, n_cells)
    game = game_of(oracle)
    board = board_from_observation(observe(oracle, kind))
    assert board.dtype == np.uint8
    assert board.tobytes() == game._board.tobytes()
    back = Game(board, game._counters, game._history)
    assert [list(column) for column in back.columns] == oracle.columns
    assert list(back.cells) == oracle.cells
    assert list(back.foundations) == oracle.home
    assert [move.id for move in back.legal_moves()] == [ID[move] for move in oracle.legal()]


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(seeds, cell_counts), min_size=1, max_size=6), st.sampled_from(["features", "cards"])
)
def test_back_to_the_boards_of_a_batch(starts: list[tuple[int, int]], kind: str) -> None:
    games = [game_of(position(seed, n_cells)) for seed, n_cells in starts]
    singles = [observe(position(seed, n_cells), kind) for seed, n_cells in starts]
    batch: Any = (
        np.stack(singles)
        if kind == "features"
        else {k: np.stack([s[k] for s in singles]) for k in singles[0]}
    )
    boards = board_from_observation(batch)
    assert boards.tolist() == [game._board.tolist() for game in games]
    # Two leading axes are kept too.
    deeper: Any = batch[None] if kind == "features" else {k: v[None] for k, v in batch.items()}
    assert board_from_observation(deeper).tolist() == [boards.tolist()]
    assert not np.shares_memory(boards, batch if kind == "features" else batch["tableau"])


@settings(max_examples=30, deadline=None)
@given(seeds, cell_counts)
def test_cards_show_the_position(seed: int, n_cells: int) -> None:
    oracle = position(seed, n_cells)
    observation = observe(oracle, "cards")
    assert observation["tableau"].tolist() == [column + [0] * (19 - len(column)) for column in oracle.columns]
    assert observation["cells"].tolist() == oracle.cells + [53] * (4 - n_cells)
    assert observation["foundations"].tolist() == oracle.home
    assert {array.dtype for array in observation.values()} == {np.dtype(np.uint8)}


def test_feature_takes_batches_and_is_a_view() -> None:
    batch = np.stack([observe(position(seed, 4), "features") for seed in range(3)])
    for name, entry in FEATURES.items():
        part = feature(batch, name)
        assert part.shape == (3, *entry.shape)
        assert np.shares_memory(part, batch)
        assert part[1].tolist() == feature(batch[1], name).tolist()
    with pytest.raises(KeyError, match="colour"):
        feature(batch, "colour")


def test_a_won_board_is_seen_too() -> None:
    env = BoulangerEnv()
    last = Game.from_columns([(13,), *[()] * 7], foundations=(12, 13, 13, 13))
    env.reset(options={"game": last})
    observation, _, terminated, _, _ = env.step(736)
    assert terminated
    assert feature(observation, "home").all()
    assert not feature(observation, "next_home").any()
    board = board_from_observation(observation)
    assert Game(board, last._counters, last._history).is_won


def test_other_shapes_are_refused() -> None:
    with pytest.raises(InvalidBoardError, match=rf"\(7,\).*{N_FEATURES}"):
        board_from_observation(np.zeros(7, np.uint8))
    with pytest.raises(BoulangerError, match="'pixels' is unknown"):
        BoulangerEnv(observation="pixels")
