"""A long run of the batch: the invariants of every position hold, and memory does not grow."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import NAMINGS, UNDO, Oracle
from support.batch_and_singles import NEXT_STEP, SAME_STEP

from boulanger_env import BoulangerVectorEnv, sample_legal
from boulanger_env.envs import board_from_observation
from boulanger_env.game import state

N = 512
SETTINGS: tuple[dict[str, Any], ...] = (
    {"n_cells": 4, "observation": "cards"},
    {"n_cells": 2, "observation": "cards", "allow_undo": True, "autoreset_mode": SAME_STEP, "num_threads": 2},
    {"n_cells": 1, "observation": "features", "prune": True, "copy": False},
    {"n_cells": 4, "observation": "cards", "actions": "cards", "auto_foundation": True, "no_repeats": True},
    {
        "n_cells": 4,
        "observation": "cards",
        "actions": "taps",
        "no_repeats": True,
        "autoreset_mode": SAME_STEP,
    },
)


@pytest.mark.parametrize("steps", [150_000, pytest.param(100_000_000, marks=pytest.mark.slow)])
def test_soak(steps: int) -> None:
    for settings in SETTINGS:
        soak(steps // len(SETTINGS), **settings)


def soak(steps: int, **keywords: Any) -> None:
    """Random play with a few illegal actions, looked at now and then."""
    batch = BoulangerVectorEnv(N, max_episode_steps=200, **keywords)
    rng = np.random.default_rng(1)
    states = np.arange(N, dtype=np.uint64)
    n_actions = batch.single_action_space.n
    observation, infos = batch.reset(seed=3)
    calls = steps // N
    before = ended = 0
    for call in range(calls):
        actions = sample_legal(infos["action_mask"], states)
        few = rng.integers(N, size=3)
        actions[few] = rng.integers(n_actions, size=3)
        observation, rewards, terminations, truncations, infos = batch.step(actions)
        ended += int((terminations | truncations).sum())
        if call % max(calls // 40, 1) == 0:
            over = terminations | truncations if batch.autoreset_mode is NEXT_STEP else np.zeros(N, np.bool_)
            look(batch, observation, infos, terminations & over)
            assert np.isfinite(rewards).all()
        if call == calls // 4:
            before = resident_memory()
    memory = resident_memory()
    batch.close()
    assert ended > steps / 100
    # A quarter of the run is the warm-up. Any array kept at each step would be many times this.
    assert memory - before < 32 * 2**20, f"{(memory - before) / 2**20:.0f} MiB more"


def look(batch: BoulangerVectorEnv, observation: Any, infos: dict[str, Any], finished: np.ndarray) -> None:
    """Check every board, and some masks against the oracle."""
    boards = batch._games.boards
    tableau = boards[:, state.TABLEAU : state.CELLS].reshape(N, 8, state.MAX_HEIGHT).astype(np.int64)
    cells = boards[:, state.CELLS : state.FOUNDATIONS]
    home = boards[:, state.FOUNDATIONS : state.HEIGHTS]
    heights = boards[:, state.HEIGHTS : state.HEIGHTS + 8]
    # Every card in one place.
    count = np.zeros((N, 54), np.int64)
    for places in (tableau.reshape(N, -1), cells):
        np.add.at(count, (np.arange(N)[:, None], places), 1)
    for card in range(1, 53):
        at_home = home[:, (card - 1) // 13] >= (card - 1) % 13 + 1
        assert (count[:, card] + at_home == 1).all(), card
    assert (count[:, state.NO_CELL] == 4 - batch._settings.source.n_cells).all()
    # What is kept beside the cards: heights, tops, runs.
    assert np.array_equal(tableau > 0, np.arange(state.MAX_HEIGHT) < heights[:, :, None])
    games, columns = np.indices(heights.shape)
    tops = np.where(heights > 0, tableau[games, columns, heights.astype(np.int64) - 1], 0)
    assert np.array_equal(tops, boards[:, state.TOPS : state.TOPS + 8])
    runs = np.minimum(heights, 1).astype(np.int64)
    growing = heights > 1
    for length in range(1, 13):
        at = np.maximum(heights.astype(np.int64) - length, 1)
        upper, lower = tableau[games, columns, at], tableau[games, columns, at - 1]
        growing &= (heights > length) & (lower == upper + 1) & (upper % 13 != 0)
        runs += growing
    assert np.array_equal(runs, boards[:, state.RUNS : state.RUNS + 8])
    # The observation gives the board back, and counters make sense.
    assert np.array_equal(board_from_observation(observation), boards)
    points = infos["score"] - 10 * home.sum(1)
    assert ((points >= 0) & (points % 5 == 0)).all()
    # The mask of some, from the oracle.
    assert infos["action_mask"].any(axis=1).all()
    assert infos["action_mask"][finished].all()
    for i in np.random.default_rng(int(infos["score"].sum())).choice(np.flatnonzero(~finished), 3):
        oracle = Oracle(
            [[card for card in column if card] for column in tableau[i].tolist()],
            [card for card in cells[i].tolist() if card != state.NO_CELL],
            home[i].tolist(),
        )
        legal = oracle.pruned() if batch._settings.prune else oracle.legal()
        naming, n_actions = NAMINGS[batch._settings.actions]
        mask = np.flatnonzero(infos["action_mask"][i][:n_actions]).tolist()
        named = naming(oracle, legal)
        assert set(mask) <= set(named) if batch._settings.no_repeats else mask == sorted(named)
        assert not batch._settings.auto_foundation or all(move[1] != 9 for move in legal)
        if batch._settings.allow_undo:
            assert infos["action_mask"][i][UNDO] == (batch.game(i).last_move is not None)


def resident_memory() -> int:
    """Bytes of this process in memory."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    resource = pytest.importorskip("resource")
    # The most so far: less exact, but it grows with a leak all the same.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
