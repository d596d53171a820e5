"""``BoulangerVectorEnv`` step for step: against single environments, the oracle, and Gymnasium's own batch."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from oracle import ID, Oracle
from support.batch_and_singles import (
    DISABLED,
    EPISODE_KEYS,
    MODES,
    NEXT_STEP,
    SAME_STEP,
    Player,
    Singles,
    assert_same_infos,
    assert_same_observation,
    compare,
    row_of,
)
from support.env_and_oracle import cards_of, mask_of
from support.random_games import peer_games

from boulanger_env import BoulangerVectorEnv, Reward

N = 4
SOLVED = [game["code"] for game in sorted(peer_games(), key=lambda game: len(game["moves"]))[:5]]
MIXED = ["MS-C4-1", "BK1-C1-7777777", "MS-C2-8589934591", "BK1-C4-AAAAA24", "MS-C4-4294967296"]
DEALS: dict[str, dict[str, Any]] = {
    "BK1": {"max_episode_steps": 7},
    "list": {"deals": MIXED, "max_episode_steps": 30},
    "solved": {"deals": SOLVED, "deal_order": "sequential", "max_episode_steps": 200},
    "set": {"deals": "c2-validation-100", "deal_order": "sequential", "max_episode_steps": 1},
}
REWARDS = ("score", "win", "foundation", Reward(3, 0.25, 100, -0.125, -7, -20), {"step": -0.1, "illegal": 0})


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("undo", [False, True], ids=["", "undo"])
@pytest.mark.parametrize("illegal_action", ["penalize", "terminate", "raise"])
@pytest.mark.parametrize("observation", ["features", "cards"])
def test_same_as_singles(observation: str, illegal_action: str, undo: bool, mode: AutoresetMode) -> None:
    outcomes = set()
    for deals in DEALS:
        random = Random(f"{observation} {illegal_action} {undo} {mode} {deals}")
        keywords: dict[str, Any] = {
            "n_cells": random.choice([4, 2, 1]),
            "observation": observation,
            "reward": random.choice(REWARDS),
            "illegal_action": illegal_action,
            "allow_undo": undo,
            "prune": random.choice([False, True]),
            **DEALS[deals],
        }
        n = random.choice([3, N])
        batch = BoulangerVectorEnv(n, autoreset_mode=mode, **keywords)
        player = Player(random.random(), n, 780 + undo, illegal=0.03 if deals == "solved" else 0.1)
        outcomes |= set(
            compare(batch, Singles(n, mode, **keywords), player, 110 if deals == "solved" else 40, 11)
        )
    assert outcomes >= {"won", "truncated"}
    # Where illegal actions end episodes, few last until they are stuck.
    assert ("illegal" if illegal_action == "terminate" else "stuck") in outcomes


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_same_as_the_oracle(n_cells: int, mode: AutoresetMode) -> None:
    for prune, undo in product([False, True], repeat=2):
        batch = BoulangerVectorEnv(
            N,
            n_cells,
            observation="cards",
            allow_undo=undo,
            prune=prune,
            max_episode_steps=60,
            autoreset_mode=mode,
        )
        player = Player((n_cells, mode, prune, undo), N, 780 + undo)
        observation, infos = batch.reset(seed=n_cells)
        oracles = [Oracle.from_code(code) for code in infos["code"].tolist()]
        over = [False] * N
        for _ in range(40):
            for i, oracle in enumerate(oracles):
                if not over[i]:
                    assert_is(oracle, row_of(observation, i), infos, i, prune, undo)
            actions = player.choose(infos["action_mask"], infos)
            observation, rewards, terminated, truncated, infos = batch.step(actions)
            for i, oracle in enumerate(oracles):
                if over[i]:
                    assert (rewards[i], terminated[i], infos["illegal_action"][i]) == (0.0, False, False)
                    oracles[i], over[i] = Oracle.from_code(str(infos["code"][i])), False
                    continue
                expected, illegal = oracle.act(int(actions[i]))
                assert rewards[i] == expected
                assert bool(terminated[i]) is (oracle.outcome is not None)
                over[i] = bool(terminated[i] or truncated[i])
                last = infos
                if over[i] and mode is SAME_STEP:
                    last = infos["final_info"]
                    assert_shows(oracle, infos["final_obs"][i])
                    oracles[i], over[i] = Oracle.from_code(str(infos["code"][i])), False
                assert bool(last["illegal_action"][i]) is illegal
                assert (last["score"][i], last["moves"][i]) == (oracle.score, oracle.moves)
                assert last["outcome"][i] == (oracle.outcome or "")
                assert bool(last["is_success"][i]) is (oracle.outcome == "won")
                if terminated[i]:
                    assert last["action_mask"][i].all()
            if mode is DISABLED and any(over):
                observation, infos = batch.reset(options={"reset_mask": np.array(over)})
                for i in np.flatnonzero(over).tolist():
                    oracles[i], over[i] = Oracle.from_code(str(infos["code"][i])), False


def assert_shows(oracle: Oracle, observation: Any) -> None:
    assert {key: array.tolist() for key, array in observation.items()} == cards_of(oracle)


def assert_is(
    oracle: Oracle, observation: Any, infos: dict[str, Any], i: int, prune: bool, undo: bool
) -> None:
    assert_shows(oracle, observation)
    assert infos["action_mask"][i].tolist() == mask_of(oracle, prune, undo)
    assert (infos["score"][i], infos["moves"][i]) == (oracle.score, oracle.moves)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("observation", ["features", "cards"])
@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"illegal_action": "terminate", "allow_undo": True},
        {"deals": MIXED, "prune": True, "reward": {"stuck": -5}},
        {"actions": "cards", "prune": True},
        {"actions": "taps", "allow_undo": True, "auto_foundation": True},
    ],
    ids=["plain", "terminate", "list", "cards", "taps"],
)
def test_same_as_gymnasiums_own_batch(
    keywords: dict[str, Any], observation: str, mode: AutoresetMode
) -> None:
    keywords = {"observation": observation, **keywords}
    native = gym.make_vec("Boulanger-C4-v0", N, autoreset_mode=mode, **keywords)
    sync = gym.make_vec(
        "Boulanger-C4-v0", N, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **keywords
    )
    assert type(native) is BoulangerVectorEnv
    assert isinstance(sync, gym.vector.SyncVectorEnv)
    for name in (
        "num_envs",
        "single_action_space",
        "action_space",
        "single_observation_space",
        "observation_space",
    ):
        assert getattr(native, name) == getattr(sync, name)
    assert native.metadata == sync.metadata
    player = Player((keywords, mode), N, native.single_action_space.n)
    observations, infos = native.reset(seed=5)
    assert_same_batches((observations, infos), sync.reset(seed=5))
    for step in range(60):
        actions = player.choose(infos["action_mask"], infos)
        results = native.step(actions)
        assert_same_batches(results, sync.step(actions), step)
        observations, _, terminations, truncations, infos = results
        assert native.observation_space.contains(observations)
        over = terminations | truncations
        if mode is DISABLED and over.any():
            observations, infos = native.reset(options={"reset_mask": over})
            theirs, their_infos = sync.reset(options={"reset_mask": over})
            assert_same_observation(observations, theirs)
            # Gymnasium leaves out the infos of games in progress; here a partial reset reports everything current.
            assert their_infos["_code"].tolist() == over.tolist()
            assert infos["_code"].all()
            assert infos["code"][over].tolist() == their_infos["code"][over].tolist()
            assert np.array_equal(infos["action_mask"][over], their_infos["action_mask"][over])
            assert infos["_action_mask"].all()
    native.close()
    sync.close()


def assert_same_batches(ours: tuple[Any, ...], theirs: tuple[Any, ...], context: Any = None) -> None:
    assert_same_observation(ours[0], theirs[0], context)
    for array, expected in zip(ours[1:-1], theirs[1:-1], strict=True):
        assert array.dtype == expected.dtype, context
        assert array.tolist() == expected.tolist(), context
    assert_same_infos(without_episode_keys(ours[-1]), entries(theirs[-1]), context)


def without_episode_keys(infos: dict[str, Any]) -> dict[str, Any]:
    """Ours less the keys that only we have."""
    kept = {key: value for key, value in infos.items() if key.removeprefix("_") not in EPISODE_KEYS}
    if "final_info" in kept:
        kept["final_info"] = without_episode_keys(kept["final_info"])
    return kept


def entries(infos: dict[str, Any]) -> list[dict[str, Any]]:
    """A batch's infos as a dict for each sub-environment, in the types that a single environment has."""
    result: list[dict[str, Any]] = [{} for _ in range(N)]
    for key, values in infos.items():
        if key.startswith("_"):
            continue
        rows = entries(values) if key == "final_info" else values
        for i in np.flatnonzero(infos[f"_{key}"]).tolist():
            value = rows[i]
            result[i][key] = value.item() if isinstance(value, np.generic) else value
    return result


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP], ids=lambda mode: mode.name)
def test_solved_games_are_won(mode: AutoresetMode) -> None:
    games = peer_games()[:12]
    batch = BoulangerVectorEnv(len(games), autoreset_mode=mode, observation="cards")
    _, infos = batch.reset(options={"codes": [game["code"] for game in games]})
    assert infos["code"].tolist() == [game["code"] for game in games]
    player = Player(3, len(games), 780)
    player.plans = [plan_of(game) for game in games]
    won = 0
    for step in range(max(len(game["moves"]) for game in games)):
        # No code is given to the player: it goes on with the plans above and then plays at random.
        actions = player.choose(infos["action_mask"], {"moves": infos["moves"]})
        _, _, terminations, _, infos = batch.step(actions)
        for i, game in enumerate(games):
            if step == len(game["moves"]) - 1:
                last = infos["final_info"] if mode is SAME_STEP else infos
                assert terminations[i]
                assert (last["outcome"][i], last["is_success"][i], last["code"][i]) == (
                    "won",
                    True,
                    game["code"],
                )
                assert (last["score"][i], last["moves"][i]) == (game["score"], len(game["moves"]))
                assert (last["episode_return"][i], last["episode_length"][i]) == (
                    game["score"],
                    len(game["moves"]),
                )
                won += 1
    assert won == len(games)


def plan_of(game: dict[str, Any]) -> list[int]:
    return [ID[tuple(move)] for move in game["moves"][::-1]]
