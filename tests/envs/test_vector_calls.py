"""What a caller of ``BoulangerVectorEnv`` can rely on: arrays, masks, keywords, copies, threads."""

from __future__ import annotations

import copy
import pickle
from collections import deque
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from support.batch_and_singles import (
    MODES,
    NEXT_STEP,
    SAME_STEP,
    Player,
    Singles,
    assert_equal,
    compare,
    play,
)

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, sample_legal

N = 4
LEGAL = 728  # a column's top card to a free cell: legal at the start of every game
NOTHING = 779  # nothing in cell d then


def arrays_of(value: Any) -> list[np.ndarray]:
    """Every array in what a step or reset returned."""
    if isinstance(value, np.ndarray):
        nested = [arrays_of(entry) for entry in value.tolist()] if value.dtype == object else []
        return [value, *(array for arrays in nested for array in arrays)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [array for entry in value for array in arrays_of(entry)]
    return []


def last_mask(infos: dict[str, Any]) -> Any:
    """The masks at the ends of episodes, the one array that is read-only."""
    return infos.get("final_info", {}).get("action_mask")


# -- arrays -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP], ids=lambda mode: mode.name)
@pytest.mark.parametrize("observation", ["features", "cards"])
def test_arrays_are_fresh(observation: str, mode: AutoresetMode) -> None:
    batch = BoulangerVectorEnv(N, observation=observation, autoreset_mode=mode, max_episode_steps=6)
    player = Player(2, N, 780)
    held: list[tuple[np.ndarray, bytes]] = []
    keys: set[str] = set()

    def hold(*results: Any) -> dict[str, Any]:
        fresh = [array for array in arrays_of([*results, batch.action_masks()]) if array.dtype != object]
        for i, array in enumerate(fresh):
            # Rows of the batch's last observations may be views of one array, which itself is fresh.
            assert not any(np.shares_memory(array, other) for other in fresh[:i])
            assert not any(np.shares_memory(array, other) for other, _ in held)
            assert array.flags.writeable is (array is not last_mask(results[-1]))
        held.extend((array, array.tobytes()) for array in fresh)
        keys.update(results[-1])
        return results[-1]

    infos = hold(*batch.reset(seed=2))
    for _ in range(12):
        infos = hold(*batch.step(player.choose(infos["action_mask"], infos)))
    hold(*batch.reset(options={"reset_mask": np.array([True, False, True, False])}))
    assert ("final_info" if mode is SAME_STEP else "outcome") in keys
    assert all(array.tobytes() == content for array, content in held)


def test_a_callers_scribbles_change_nothing() -> None:
    batch, twin = (BoulangerVectorEnv(N, autoreset_mode=SAME_STEP, max_episode_steps=3) for _ in range(2))
    results: Any = batch.reset(seed=3)
    expected: Any = twin.reset(seed=3)
    for turn in range(9):
        assert_equal(results, expected)
        for array in arrays_of([results, batch.action_masks()]):
            if array is last_mask(results[-1]):
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0
            else:
                array[...] = 0
        batch.game(0).push(batch.game(0).legal_moves()[0])
        actions = np.full(N, LEGAL + turn % 3)
        results, expected = batch.step(actions), twin.step(actions.copy())
        actions[:] = 0


# What a caller may keep of a step's results, and no more than that.
HOLDERS: dict[str, Any] = {
    "an array": lambda results: results[0]["cells"],
    "a row": lambda results: results[0]["tableau"][2],
    "a view of a view": lambda results: results[0]["tableau"][1:][0].T[3],
    "a reversed view": lambda results: results[0]["foundations"][::-1],
    "another type": lambda results: results[-1]["action_mask"].view(np.bool_),
    "a part of an info": lambda results: results[-1]["score"][:2],
    "rewards": lambda results: results[1],
    "flags": lambda results: results[3][1:],
    "memory": lambda results: np.frombuffer(results[-1]["action_mask"].data, np.int8),
    "a subclass": lambda results: results[0]["cells"].view(np.recarray),
    "a last observation": lambda results: results[-1]["final_obs"][0]["cells"],
    "a part of the last info": lambda results: results[-1]["final_info"]["episode_return"],
    "a last mask": lambda results: results[-1]["final_info"]["action_mask"][0],
    "a tensor": lambda results: pytest.importorskip("torch").from_numpy(results[0]["tableau"]),
}


@pytest.mark.parametrize("what", HOLDERS)
def test_whatever_is_kept_stays_as_it_is(what: str) -> None:
    batch = BoulangerVectorEnv(3, observation="cards", autoreset_mode=SAME_STEP, max_episode_steps=1)
    batch.reset(seed=5)
    batch.step([LEGAL] * 3)  # arrays that are free to be used again
    for turn in range(6):
        results = batch.step([LEGAL + turn] * 3)
        kept = HOLDERS[what](results)
        before = np.asarray(kept).tobytes()
        del results
        for other in range(8):
            batch.step([LEGAL + other] * 3)
        batch.reset()
        assert np.asarray(kept).tobytes() == before, turn


@pytest.mark.parametrize("held", [0, 1, 2, 3])
def test_arrays_of_a_caller_who_keeps_few_are_used_again(held: int) -> None:
    batch = BoulangerVectorEnv(3, observation="cards")
    batch.reset(seed=5)
    kept: deque[Any] = deque(maxlen=held)
    for turn in range(20):
        kept.append(batch.step([LEGAL + turn % 3] * 3))
    # Those that are held, and those that the next step writes.
    assert len(batch._outputs._made) == held + 1


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("observation", ["features", "cards"])
def test_without_copies_the_arrays_are_used_again(observation: str, mode: AutoresetMode) -> None:
    keywords = {"observation": observation, "max_episode_steps": 8, "allow_undo": True}
    batch, singles = (
        BoulangerVectorEnv(N, autoreset_mode=mode, copy=False, **keywords),
        Singles(N, mode, **keywords),
    )
    compare(batch, singles, Player(4, N, 781), 40)
    observations, infos = batch.reset(seed=1)
    for _ in range(3):
        again, _, _, _, new_infos = batch.step(np.full(N, LEGAL))
        for array, other in zip(arrays_of(again), arrays_of(observations), strict=True):
            assert np.shares_memory(array, other)
        assert np.shares_memory(new_infos["action_mask"], infos["action_mask"])
    # What action_masks gives is the caller's all the same.
    assert not np.shares_memory(batch.action_masks(), infos["action_mask"])


def test_masks_as_bools_at_any_time() -> None:
    batch = BoulangerVectorEnv(2, max_episode_steps=3, illegal_action="terminate")
    with pytest.raises(ResetNeeded, match="no games yet"):
        batch.action_masks()
    _, infos = batch.reset(seed=1)
    assert batch.action_masks().dtype == np.bool_
    assert np.array_equal(batch.action_masks(), infos["action_mask"])
    _, _, terminations, _, infos = batch.step([LEGAL, NOTHING])
    assert terminations.tolist() == [False, True]
    assert batch.action_masks().all(axis=1).tolist() == [False, True]


# -- keywords ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"num_envs": 0}, "num_envs=0 must be a whole number of at least 1"),
        ({"num_envs": 2**63}, "num_envs=9223372036854775808 must be a whole number of at most 16777216"),
        ({"num_threads": 10**30, "num_envs": 2}, "num_threads=.*at most 1024"),
        ({"num_envs": 2.0}, "num_envs=2.0"),
        ({"num_envs": True}, "num_envs=True"),
        ({"num_threads": 0}, "num_threads=0"),
        ({"autoreset_mode": "next"}, "autoreset_mode='next' is unknown"),
        ({"n_cells": 3}, "4, 2 or 1 cells, not 3"),
        ({"observation": "pixels"}, "observation='pixels' is unknown"),
        ({"illegal_action": "ignore"}, "illegal_action='ignore' is unknown"),
        ({"deal_order": "shuffled"}, "deal_order='shuffled' is unknown"),
        ({"max_episode_steps": 0}, "max_episode_steps=0"),
    ],
)
def test_wrong_keywords(keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(BoulangerError, match=words):
        BoulangerVectorEnv(**{"num_envs": 2, **keywords})


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_modes_by_name_and_in_the_metadata(mode: AutoresetMode) -> None:
    for given in (mode, mode.value):
        batch = BoulangerVectorEnv(2, autoreset_mode=given)
        assert batch.metadata["autoreset_mode"] is mode
    assert "autoreset_mode" not in BoulangerVectorEnv.metadata


def test_drawing() -> None:
    batch, env = BoulangerVectorEnv(2, render_mode="ansi"), BoulangerEnv(render_mode="ansi")
    with pytest.raises(ResetNeeded, match="no games yet"):
        batch.render()
    batch.reset(options={"codes": ["MS-C4-617", "MS-C4-1"]})
    env.reset(options={"code": "MS-C4-617"})
    frames = batch.render()
    assert isinstance(frames, tuple)
    assert len(frames) == 2
    assert frames[0] == env.render()
    silent = BoulangerVectorEnv(2)
    silent.reset()
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert silent.render() is None


# -- copies and threads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied", [lambda b: pickle.loads(pickle.dumps(b)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
@pytest.mark.parametrize("copy_arrays", [True, False])
def test_copies_play_on_by_themselves(copied: Any, copy_arrays: bool) -> None:
    keywords: dict[str, Any] = {
        "allow_undo": True,
        "max_episode_steps": 9,
        "copy": copy_arrays,
        "num_threads": 2,
    }
    keywords |= {"deals": "c4-validation-100", "observation": "cards"}
    batch = BoulangerVectorEnv(5, **keywords)
    play(batch, 13)
    twin = copied(batch)
    # The original continues alone; the copy does the same from where it was copied.
    actions = [np.random.default_rng(turn).integers(728, 781, 5) for turn in range(30)]
    seen = [copy.deepcopy(batch.step(row)) for row in actions]
    assert_equal([copy.deepcopy(twin.step(row)) for row in actions], seen)
    for closed in (batch, twin):
        closed.close()
        closed.close()


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP], ids=lambda mode: mode.name)
@pytest.mark.parametrize("n", [1, 2, 7, 33])
def test_thread_counts_change_nothing(n: int, mode: AutoresetMode) -> None:
    keywords: dict[str, Any] = {"max_episode_steps": 12, "allow_undo": True, "autoreset_mode": mode}
    expected = play(BoulangerVectorEnv(n, **keywords), 30)
    for num_threads in (2, 3, 5):
        batch = BoulangerVectorEnv(n, num_threads=num_threads, **keywords)
        assert_equal(play(batch, 30), expected)
        batch.close()


def test_long_legal_play() -> None:
    batch = BoulangerVectorEnv(256, observation="cards", num_threads=3)
    _, infos = batch.reset(seed=0)
    states = np.arange(256, dtype=np.uint64)
    lengths: list[int] = []
    for _ in range(200):
        actions = sample_legal(infos["action_mask"], states)
        _, _, terminations, _, infos = batch.step(actions)
        assert not infos["illegal_action"].any()
        lengths += infos["episode_length"][terminations].tolist()
    # Random play is stuck after about 15 moves (as the cells fill): a very different mean would be a bug.
    assert len(lengths) > 1500
    assert 10 < np.mean(lengths) < 40
