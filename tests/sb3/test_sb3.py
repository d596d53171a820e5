"""``BoulangerVecEnv`` against Stable-Baselines3's own ``DummyVecEnv``, step for step."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import TimeLimit
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from support.batch_and_singles import Player, assert_same_observation
from support.example_starts import example_starts
from support.random_games import peer_games
from support.sb3_environments import N, assert_same_info, dummy

from boulanger_env import BoulangerError, Game, IllegalMoveError
from boulanger_env.deals import Starts
from boulanger_env.sb3 import BoulangerVecEnv

SOLVED = [game["code"] for game in sorted(peer_games(), key=lambda game: len(game["moves"]))[:3]]


def starts_with_solved() -> Starts:
    """Starts mixed with deals that players know a solution of."""
    starts = example_starts()
    return Starts(starts.positions, starts.left, weights=starts.weights, deals=SOLVED, deal_share=0.5)


def without_mask(info: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in info.items() if key != "action_mask"}


@pytest.mark.parametrize("observation", ["features", "cards"])
@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"allow_undo": True, "max_episode_steps": 11, "reward": {"step": -0.1, "stuck": -1 / 3}},
        {"illegal_action": "terminate", "n_cells": 2, "max_episode_steps": 9, "num_threads": 2},
        {"deals": SOLVED, "reward": "win"},
        {"deals": starts_with_solved(), "max_episode_steps": 80},
    ],
    ids=["plain", "undo", "terminate", "solved", "starts"],
)
def test_same_as_dummy_vec_env(keywords: dict[str, Any], observation: str) -> None:
    ours = BoulangerVecEnv(N, observation=observation, **keywords)
    single = {key: value for key, value in keywords.items() if key != "num_threads"}
    theirs = dummy(observation=observation, **single)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.num_envs == theirs.num_envs == N
    player = Player(str(keywords), N, ours.action_space.n, illegal=0.05)
    assert ours.seed(6) == theirs.seed(6) == [6, 7, 8]
    seen: list[dict[str, Any]] = []
    for _ in range(2):  # the second reset has no seed
        observations, expected = ours.reset(), theirs.reset()
        assert_same_observation(observations, expected)
        assert ours.reset_infos == [without_mask(info) for info in theirs.reset_infos]
        begun = set(range(N))
        for _ in range(90 if "deals" in keywords else 40):
            masks = ours.env_method("action_masks")
            assert np.array_equal(masks, np.stack(theirs.env_method("action_masks")))
            news = {
                "_code": [i in begun for i in range(N)],
                "code": [info["code"] for info in ours.reset_infos],
                "moves": [0] * N,
            }
            actions = player.choose(masks, news)
            observations, rewards, dones, infos = ours.step(actions)
            expected, their_rewards, their_dones, their_infos = theirs.step(actions)
            assert_same_observation(observations, expected)
            assert rewards.dtype == their_rewards.dtype == np.float32
            assert rewards.tolist() == their_rewards.tolist()
            assert dones.dtype == their_dones.dtype
            assert dones.tolist() == their_dones.tolist()
            for info, other in zip(infos, their_infos, strict=True):
                assert_same_info(info, other)
            assert ours.reset_infos == [without_mask(info) for info in theirs.reset_infos]
            begun = set(np.flatnonzero(dones).tolist())
            seen += [infos[i] for i in begun]
    assert len(seen) > 3
    assert any(info["TimeLimit.truncated"] for info in seen) is ("max_episode_steps" in keywords)
    assert any(info["is_success"] for info in seen) is ("deals" in keywords)


def test_arrays_are_the_callers() -> None:
    env = BoulangerVecEnv(N, observation="cards", max_episode_steps=3)
    env.seed(0)
    held: list[tuple[np.ndarray, bytes]] = []
    observations = env.reset()
    for turn in range(8):
        for array in (*observations.values(), env.env_method("action_masks")):
            held.append((array, array.tobytes()))
        observations, rewards, dones, infos = env.step(np.full(N, 728 + turn % 4))
        held += [(rewards, rewards.tobytes()), (dones, dones.tobytes())]
        for i in np.flatnonzero(dones):
            held += [(array, array.tobytes()) for array in infos[i]["terminal_observation"].values()]
    assert all(array.tobytes() == content for array, content in held)


# -- masks and other methods ------------------------------------------------------------------------------------


def test_masks_of_some_environments() -> None:
    env = BoulangerVecEnv(N, max_episode_steps=5)
    env.seed(3)
    env.reset()
    env.step(np.array([728, 729, 730]))
    masks = env.env_method("action_masks")
    assert masks.shape == (N, 780)
    assert masks.dtype == np.bool_
    assert np.array_equal(masks, env.action_masks())
    for indices, rows in (
        (None, [0, 1, 2]),
        (1, [1]),
        ([2, 0], [2, 0]),
        (range(2), [0, 1]),
        (np.array([2]), [2]),
    ):
        assert np.array_equal(env.env_method("action_masks", indices=indices), masks[rows])
        assert [game.moves for game in env.env_method("game", indices=indices)] == [1] * len(rows)
    assert is_masking_supported(env)
    assert np.array_equal(get_action_masks(env), masks)
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")


def test_masks_are_like_any_other_array() -> None:
    env = BoulangerVecEnv(3, observation="cards")
    env.seed(2)
    env.reset()
    masks = env.env_method("action_masks")
    plain = np.array(masks)
    assert type(plain) is np.ndarray
    out = np.empty((3, 780), np.int8)
    for stacked, expected in (
        (np.stack(masks), plain),
        (np.stack(masks, axis=1), plain.T),
        (np.stack(masks, 1), plain.T),
        (np.stack(masks, dtype=np.int8), plain.astype(np.int8)),
        (np.stack(masks, out=out, casting="unsafe"), plain.astype(np.int8)),
        (np.stack([masks, masks]), np.array([plain, plain])),
        (np.stack(masks[0]), plain[0]),
        (np.concatenate([masks, plain]), np.vstack([plain, plain])),
    ):
        assert type(stacked) is np.ndarray
        assert stacked.dtype == expected.dtype
        assert np.array_equal(stacked, expected)
        assert not np.shares_memory(stacked, masks)
    # What is computed from them is no longer a set of masks.
    assert isinstance(masks.sum(), np.integer)
    assert type(masks[0].any()) is np.bool_
    assert type(masks.sum(axis=1)) is np.ndarray
    assert type(~masks) is np.ndarray
    assert np.array_equal(pickle.loads(pickle.dumps(masks)), plain)


def test_masks_before_the_first_reset_and_right_after() -> None:
    env = BoulangerVecEnv(2)
    with pytest.raises(ResetNeeded, match="no games yet"):
        env.env_method("action_masks")
    env.reset()
    env.action_masks()[:] = False  # a copy: what one caller does to it does not affect others
    assert env.env_method("action_masks").any(axis=1).all()


def test_attributes() -> None:
    env = BoulangerVecEnv(N, 2, render_mode="ansi")
    assert env.render_mode == "ansi"
    assert env.get_attr("render_mode") == ["ansi"] * N
    assert env.get_attr("num_envs", indices=[0, 2]) == [N, N]
    with pytest.raises(AttributeError, match="has no method 'close'"):
        env.env_method("close")
    with pytest.raises(AttributeError, match="other keywords"):
        env.set_attr("render_mode", None)
    env.reset()
    assert len(env.render()) == N
    games = env.env_method("game")
    assert all(isinstance(game, Game) and game.n_cells == 2 for game in games)
    env.close()


def test_it_says_that_it_is_monitored() -> None:
    env = BoulangerVecEnv(N)
    assert env.env_is_wrapped(Monitor) == [True] * N
    assert env.env_is_wrapped(Monitor, indices=[1]) == [True]
    assert env.env_is_wrapped(TimeLimit) == [False] * N


def test_fixed_keywords() -> None:
    for keyword in ({"autoreset_mode": "NextStep"}, {"copy": False}):
        with pytest.raises(BoulangerError, match="cannot be chosen here"):
            BoulangerVecEnv(2, **keyword)
    with pytest.raises(BoulangerError, match="num_envs=0"):
        BoulangerVecEnv(0)
    with pytest.raises(TypeError):
        BoulangerVecEnv(2, colour="red")


def test_wrong_actions() -> None:
    env = BoulangerVecEnv(2, illegal_action="raise")
    env.reset()
    with pytest.raises(IllegalMoveError, match="sub-environment 1: "):
        env.step(np.array([728, 779]))


# -- seeds and options ------------------------------------------------------------------------------------------


def codes_of(env: BoulangerVecEnv) -> list[str]:
    return [info["code"] for info in env.reset_infos]


def test_seeds_count_once() -> None:
    env, twin = BoulangerVecEnv(N), dummy()
    codes = []
    for _ in range(2):
        for seed in (5, None):
            for each in (env, twin):
                if seed is not None:
                    each.seed(seed)
                each.reset()
            codes.append(codes_of(env))
            assert codes_of(env) == codes_of(twin)
    assert codes[0] == codes[2]
    assert codes[1] == codes[3] != codes[0]
    # Stable-Baselines3 draws a seed of its own for this.
    assert len(set(env.seed())) == N


def test_codes_as_options_count_once() -> None:
    env = BoulangerVecEnv(2)
    env.seed(1)
    env.set_options([{"code": "MS-C4-1"}, {"code": "MS-C2-7"}])
    env.reset()
    assert codes_of(env) == ["MS-C4-1", "MS-C2-7"]
    assert [game.code for game in env.env_method("game")] == ["MS-C4-1", "MS-C2-7"]
    twin = BoulangerVecEnv(2)
    twin.seed(1)
    twin.reset()
    env.reset()
    assert codes_of(env) == codes_of(twin)
    env.set_options({"code": "MS-C1-3"})
    env.reset()
    assert codes_of(env) == ["MS-C1-3"] * 2


def test_boards_and_games_as_options_too() -> None:
    env = BoulangerVecEnv(3)
    games = [Game.from_code(f"MS-C4-{number}") for number in (1, 2, 3)]
    games[2].push(games[2].legal_moves()[0])
    env.set_options([{"code": "MS-C4-1"}, {"board": str(games[1])}, {"game": games[2]}])
    env.reset()
    assert env.env_method("game") == games
    assert codes_of(env) == ["MS-C4-1", "", "MS-C4-3"]
    assert [info["moves"] for info in env.reset_infos] == [0, 0, 1]


def test_states() -> None:
    env = BoulangerVecEnv(3, deals=example_starts(0.3), max_episode_steps=4)
    env.seed(2)
    env.reset()
    actions = env.action_masks().argmax(1)
    env.step(actions)
    state = env.get_state()

    def go(env: BoulangerVecEnv) -> list[Any]:
        results = []
        for _ in range(6):
            result = env.step(env.action_masks().argmax(1))
            results.append((result[1].tolist(), result[2].tolist(), [info["group"] for info in result[3]]))
        return results

    expected = go(env)
    other = BoulangerVecEnv(3, deals=example_starts(0.3), max_episode_steps=4)
    assert np.array_equal(other.set_state(state), env.set_state(state))
    assert [info["start"] for info in other.reset_infos] == [info["start"] for info in env.reset_infos]
    assert go(other) == go(env) == expected
    with pytest.raises(BoulangerError, match="is of 3 games, but 2"):
        BoulangerVecEnv(2).set_state(state)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"codes": "x"}, "'codes' is unknown: it takes one of code, board, game"),
        ({"code": "MS-C4-1", "game": Game.from_code("MS-C4-1")}, "2 options are given"),
        ({"board": "x"}, "line 1: 'x' is not a card"),
        ([{"game": Game.from_code("MS-C4-1")}, {"game": 7}], "'game' is int, it must be a Game"),
        ([{"code": "MS-C4-1"}, {}], "to every game of the batch, or to none"),
        ([{"code": "MS-C4-1"}], "games must be one game per sub-environment, 2, not 1"),
        ({"code": "MS-C4-0"}, "MS-C4-0"),
    ],
)
def test_wrong_options(options: Any, words: str) -> None:
    env = BoulangerVecEnv(2)
    env.set_options(options)
    with pytest.raises(BoulangerError, match=words):
        env.reset()
    env.set_options()
    env.reset()


def test_a_wrong_option_for_the_vec_env_counts_once() -> None:
    sb3 = pytest.importorskip("boulanger_env.sb3")
    env = sb3.BoulangerVecEnv(2)
    env.set_options({"x": 1})
    with pytest.raises(BoulangerError, match="'x'"):
        env.reset()
    env.reset()
