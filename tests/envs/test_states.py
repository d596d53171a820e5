"""``get_state`` and ``set_state``: games go on exactly as they would have."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from support.batch_and_singles import DISABLED, MODES, Player, assert_same_observation
from support.example_starts import SOLVED, example_starts

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game
from boulanger_env.envs.states import VERSION
from boulanger_env.game.moves import TO_FOUNDATION

N = 5
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "undo": {"allow_undo": True, "prune": True, "reward": {"step": -0.25, "stuck": -1 / 3}},
    "terminate": {"illegal_action": "terminate", "n_cells": 2, "observation": "cards"},
    "sequential": {"deals": SOLVED, "deal_order": "sequential", "max_episode_steps": 4},
    "list": {
        "deals": ["MS-C1-7", "MS-C4-1", "BK1-C2-BOULANG"],
        "max_episode_steps": 3,
        "observation": "cards",
    },
    "arrays": {"array_infos": True, "max_episode_steps": 7, "num_threads": 2},
    "automatic": {"auto_foundation": True, "deals": SOLVED, "allow_undo": True, "actions": "cards"},
    "no repeats": {"no_repeats": True, "actions": "cards", "max_episode_steps": 60},
    "starts": {"deals": example_starts(0.3), "max_episode_steps": 5, "reward": "win"},
}


def same(one: Any, two: Any) -> bool:
    """Whether results of a step or a reset are equal, also in type."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray) and one.dtype == object:
        return all((a is None and b is None) or same(a, b) for a, b in zip(one, two, strict=True))
    return type(one) is type(two) and np.array_equal(one, two)


def play(envs: BoulangerVectorEnv, actions: list[np.ndarray]) -> list[Any]:
    """The results of these actions, and of the resets between them."""
    results: list[Any] = []
    for step in actions:
        result = envs.step(step)
        results.append(result)
        over = result[2] | result[3]
        if envs.autoreset_mode is DISABLED and over.any():
            results.append(envs.reset(options={"reset_mask": over}))
    return results


def record(
    envs: BoulangerVectorEnv, infos: dict[str, Any], player: Player, steps: int
) -> tuple[list[Any], list[Any]]:
    actions, results = [], []
    for _ in range(steps):
        actions.append(player.choose(infos["action_mask"], infos if "code" in infos else {}))
        results += play(envs, actions[-1:])
        infos = results[-1][-1]
    return actions, results


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("name", SETTINGS)
def test_games_go_on_exactly_as_before(name: str, mode: AutoresetMode, tmp_path: Path) -> None:
    keywords = {"max_episode_steps": 9, **SETTINGS[name], "autoreset_mode": mode}
    envs = BoulangerVectorEnv(N, **keywords)
    player = Player((name, mode), N, int(envs.single_action_space.n), illegal=0.05)
    record(envs, envs.reset(seed=4)[1], player, 13)
    state = envs.get_state()
    shown = envs.set_state(state)
    actions, expected = record(envs, shown[1], player, 40)
    assert any(result[2].any() or result[3].any() for result in expected if len(result) == 5)

    np.savez(tmp_path / "state.npz", **state)
    fresh = BoulangerVectorEnv(N, **keywords)
    seeded = BoulangerVectorEnv(N, **keywords)
    seeded.reset(seed=99)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as loaded:
        for other in (envs, fresh, seeded):
            assert same(other.set_state(loaded), shown)
            assert same(play(other, actions)[-1], expected[-1])
            assert same(other.set_state(state), shown)
            assert all(map(same, play(other, actions), expected))


@pytest.mark.parametrize("name", SETTINGS)
def test_single_environments_too(name: str, tmp_path: Path) -> None:
    keywords = {key: value for key, value in SETTINGS[name].items() if key != "num_threads"}
    env = BoulangerEnv(**{"max_episode_steps": 9, **keywords})
    random = Random(name)

    def go(env: BoulangerEnv, choices: list[int] | None, info: Any) -> tuple[list[int], list[Any]]:
        taken, results, over = [], [], not env.action_masks().any()
        for turn in range(40):
            legal = np.flatnonzero(info["action_mask"]).tolist()
            action = choices[turn] if choices else random.choice(legal if random.random() < 0.95 else [3])
            taken.append(action)
            if over:
                results.append(env.reset())
                over = False
            else:
                results.append(env.step(action))
                over = results[-1][2] or results[-1][3]
            info = results[-1][-1]
        return taken, results

    _, info = env.reset(seed=1)
    for _ in range(2):
        info = env.step(np.flatnonzero(info["action_mask"])[0])[-1]
    state = env.get_state()
    shown = env.set_state(state)
    actions, expected = go(env, None, shown[1])
    np.savez(tmp_path / "state.npz", **state)
    for other in (env, BoulangerEnv(**{"max_episode_steps": 9, **keywords})):
        with np.load(tmp_path / "state.npz", allow_pickle=False) as loaded:
            assert same(other.set_state(loaded), shown)
        assert all(map(same, go(other, actions, shown[1])[1], expected))


def test_states_go_between_batches_and_single_environments() -> None:
    keywords: dict[str, Any] = {"deals": example_starts(0.5), "max_episode_steps": 6}
    envs, single = BoulangerVectorEnv(3, **keywords), BoulangerEnv(**keywords)
    _, infos = envs.reset(seed=8)
    for _ in range(3):
        *_, infos = envs.step(infos["action_mask"].argmax(1))
    observation, info = single.set_state(envs.get_state([1]))
    assert_same_observation(observation, envs.set_state(envs.get_state())[0][1])
    for key, value in info.items():
        assert np.array_equal(infos[key][1], value), key
    other = BoulangerVectorEnv(4, **keywords)
    other.reset(seed=0)
    other.set_state(single.get_state(), indices=[2])
    twins = BoulangerVectorEnv(3, **keywords)
    state = single.get_state()
    twins.set_state({key: array.repeat(3, 0) for key, array in state.items()})
    # The return so far is part of it.
    while True:
        action = int(infos["action_mask"][1].argmax())
        *_, terminated, truncated, info = single.step(action)
        *_, infos = envs.step(
            [*infos["action_mask"].argmax(1)[:1], action, *infos["action_mask"].argmax(1)[2:]]
        )
        *_, others = other.step(np.full(4, action))
        *_, all_alike = twins.step(np.full(3, action))
        assert others["episode_return"][2] == infos["episode_return"][1]
        assert all_alike["episode_return"].tolist() == [infos["episode_return"][1]] * 3
        if terminated or truncated:
            break
    assert infos["episode_length"][1] == others["episode_length"][2] > 0
    # And so is the stream.
    assert single.reset()[1]["start"] == other.reset()[1]["start"][2] == twins.reset()[1]["start"][0]


def test_some_games_of_a_batch() -> None:
    envs = BoulangerVectorEnv(N)
    _, infos = envs.reset(seed=0)
    before = [envs.game(i) for i in range(N)]
    state = envs.get_state([3, 0, 3])
    assert all(len(array) == 3 for array in state.values())
    envs.step(infos["action_mask"].argmax(1))
    after = [envs.game(i) for i in range(N)]
    envs.set_state(state, [1, 4, 0])
    assert [envs.game(i) for i in range(N)] == [before[3], before[3], *after[2:4], before[0]]
    joined = {key: np.concatenate([array, state[key][:2]]) for key, array in state.items()}
    _, infos = envs.set_state(joined)
    assert [envs.game(i) for i in range(N)] == [before[i] for i in (3, 0, 3, 3, 0)]
    assert infos["code"].tolist() == [before[i].code for i in (3, 0, 3, 3, 0)]
    assert len(envs.get_state([])["boards"]) == 0
    envs.set_state(envs.get_state([]), [])


def test_a_state_is_a_copy() -> None:
    envs = BoulangerVectorEnv(2)
    _, infos = envs.reset(seed=0)
    state = envs.get_state()
    kept = {key: array.copy() for key, array in state.items()}
    envs.step(infos["action_mask"].argmax(1))
    assert all(np.array_equal(state[key], kept[key]) for key in kept)
    envs.set_state(state)
    envs.step(infos["action_mask"].argmax(1))
    assert all(np.array_equal(state[key], kept[key]) for key in kept)
    assert all(array.dtype != object for array in state.values())


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_ended_games(mode: AutoresetMode) -> None:
    envs = BoulangerVectorEnv(2, max_episode_steps=2, autoreset_mode=mode)
    _, infos = envs.reset(seed=0)
    for _ in range(2):
        *_, infos = envs.step(infos["action_mask"].argmax(1))
    other = BoulangerVectorEnv(2, max_episode_steps=2, autoreset_mode=mode)
    _, again = other.set_state(envs.get_state())
    assert again["episode_length"].tolist() == infos["episode_length"].tolist()
    if mode is DISABLED:
        with pytest.raises(ResetNeeded, match="have ended"):
            other.step([0, 0])
    else:
        first, second = envs.step([0, 0]), other.step([0, 0])
        assert same(first, second)
    single = BoulangerEnv(max_episode_steps=2)
    single.reset(seed=0)
    for _ in range(2):
        single.step(int(single.action_masks().argmax()))
    twin = BoulangerEnv(max_episode_steps=2)
    twin.set_state(single.get_state())
    with pytest.raises(ResetNeeded, match="has ended"):
        twin.step(0)


def test_undo_history_and_given_games() -> None:
    game = Game.from_code("MS-C4-1")
    for _ in range(5):
        game.push(game.legal_moves()[0])
    envs = BoulangerVectorEnv(2, allow_undo=True)
    envs.reset(options={"games": [game, game]})
    other = BoulangerVectorEnv(2, allow_undo=True)
    other.set_state(envs.get_state())
    assert (other.game(0).moves, other.game(0).code) == (5, "MS-C4-1")
    for _ in range(5):
        other.step([780, 780])
    assert other.game(1) == Game.from_code("MS-C4-1")


# -- bad input --------------------------------------------------------------------------------------------------


def without(state: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: array for key, array in state.items() if key != name}


def changed(state: dict[str, Any], name: str, row: int) -> dict[str, Any]:
    array = state[name].copy()
    array[row : row + 1].view(np.uint8).reshape(-1)[-1] ^= 1
    return {**state, name: array}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda state: None, "None is not a state"),
        (lambda state: [1, 2], "is not a state"),
        (lambda state: {}, "is not a state"),
        (lambda state: {"wins": np.zeros(3)}, "is not a state"),
        (lambda state: without(state, "digest"), "is not a state"),
        (lambda state: without(state, "version"), "is not a state"),
        (
            lambda state: without(state, "boards"),
            "lacks 'boards': it was made by an environment with other keywords",
        ),
        (lambda state: {**state, "more": state["boards"]}, "has 'more', which this one does not know"),
        (
            lambda state: {key: array[:2] for key, array in state.items()},
            "is of 2 games, but 3 are to be set",
        ),
        (lambda state: {key: array.repeat(2, 0) for key, array in state.items()}, "is of 6 games, but 3"),
        (
            lambda state: {**state, "version": state["version"] + 1},
            rf"version \[{VERSION + 1}\]: this package reads",
        ),
        (lambda state: {**state, "version": np.array(["a"] * 3)}, "version"),
        (lambda state: {**state, "boards": state["boards"][:2]}, r"boards of uint8 \(2, .*must be uint8 \(3"),
        (lambda state: {**state, "boards": state["boards"].astype(int)}, "boards of int64 .* must be uint8"),
        (lambda state: {**state, "counters": None}, "counters of object"),
        (lambda state: {**state, "digest": state["digest"].astype(float)}, "digest of float64"),
        (
            lambda state: changed(state, "boards", 1),
            r"game 1 of the state has been modified since get_state\(\)",
        ),
        (lambda state: changed(state, "history", 2), "game 2 of the state has been modified"),
        (lambda state: changed(state, "streams", 0), "game 0 of the state has been modified"),
        (lambda state: changed(state, "digest", 0), "game 0 of the state has been modified"),
        (
            lambda state: {**state, "codes": state["codes"][::-1].copy()},
            "game 0 of the state has been modified",
        ),
    ],
)
def test_what_is_no_state_changes_nothing(make: Any, words: str) -> None:
    envs, twin = BoulangerVectorEnv(3), BoulangerVectorEnv(3)
    other = BoulangerVectorEnv(3)
    other.reset(seed=1)
    bad = make(other.get_state())
    for batch in (envs, twin):
        batch.reset(seed=5)
    with pytest.raises(BoulangerError, match=words):
        envs.set_state(bad)
    assert same(envs.get_state(), twin.get_state())
    assert same(envs.reset(), twin.reset())
    fresh = BoulangerVectorEnv(3)
    with pytest.raises(BoulangerError, match=words):
        fresh.set_state(bad)
    with pytest.raises(ResetNeeded):
        fresh.get_state()


def test_the_same_for_a_single_environment() -> None:
    env, twin = BoulangerEnv(), BoulangerEnv()
    for each in (env, twin):
        each.reset(seed=5)
    state = env.get_state()
    envs = BoulangerVectorEnv(2)
    envs.reset(seed=0)
    for bad, words in (
        (envs.get_state(), "is of 2 games, but 1 are to be set|of 2 games"),
        (changed(state, "boards", 0), "has been modified"),
        (without(state, "codes"), "lacks 'codes'"),
        ({**state, "version": state["version"] + 1}, "version"),
    ):
        with pytest.raises(BoulangerError, match=words):
            env.set_state(bad)
        fresh = BoulangerEnv()
        with pytest.raises(BoulangerError, match=words):
            fresh.set_state(bad)
        with pytest.raises(ResetNeeded):
            fresh.get_state()
    assert same(env.get_state(), twin.get_state())
    assert env.game == twin.game


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([0, 3], "there is no sub-environment 3: they are numbered 0 to 2"),
        ([-1, 0], "there is no sub-environment -1"),
        ([0.0, 1.0], "must be a list of whole numbers"),
        ([True, False], "must be a list of whole numbers"),
        (1, "must be a list of whole numbers"),
        ("ab", "must be a list of whole numbers"),
        ([[0, 1]], "must be a list of whole numbers"),
    ],
)
def test_wrong_indices(indices: Any, words: str) -> None:
    envs = BoulangerVectorEnv(3)
    envs.reset(seed=0)
    state = envs.get_state([0, 1])
    with pytest.raises(BoulangerError, match=words):
        envs.get_state(indices)
    with pytest.raises(BoulangerError, match=words):
        envs.set_state(state, indices)
    with pytest.raises(BoulangerError, match=r"\[1, 1\] name a sub-environment twice"):
        envs.set_state(state, [1, 1])


def test_before_the_first_reset() -> None:
    envs = BoulangerVectorEnv(3)
    with pytest.raises(ResetNeeded):
        envs.get_state()
    with pytest.raises(ResetNeeded):
        BoulangerEnv().get_state()
    other = BoulangerVectorEnv(3)
    other.reset(seed=0)
    with pytest.raises(ResetNeeded):
        envs.set_state(other.get_state([1]), [1])
    envs.set_state(other.get_state())
    assert envs.game(1) == other.game(1)


def test_memories_of_different_lengths_are_joined_with_zeros() -> None:
    keywords: dict[str, Any] = {"no_repeats": True, "max_episode_steps": -1, "observation": "cards"}
    envs = BoulangerVectorEnv(64, **keywords)
    _, infos = envs.reset(seed=0)
    short = envs.get_state([5])
    player = Player(0, 64, 780, illegal=0.0)
    while envs.get_state()["visited"].shape[1] == short["visited"].shape[1]:
        # Without moves home nothing is forgotten.
        mask = infos["action_mask"].copy()
        mask[:, 736:744] = mask[:, 776:780] = 0
        *_, infos = envs.step(player.choose(np.where(mask.any(1)[:, None], mask, infos["action_mask"]), {}))
    longest = np.count_nonzero(envs.get_state()["visited"], axis=1).argmax()
    long = envs.get_state([longest])
    padding = long["visited"].shape[1] - short["visited"].shape[1]
    assert padding > 0
    padded = {**short, "visited": np.pad(short["visited"], [(0, 0), (0, padding)])}
    both = BoulangerVectorEnv(2, **keywords)
    _, infos = both.set_state({key: np.concatenate([padded[key], long[key]]) for key in short})
    for i, state in enumerate((short, long)):
        one = BoulangerVectorEnv(1, **keywords)
        _, alone = one.set_state(state)
        assert np.array_equal(infos["action_mask"][i], alone["action_mask"][0])
        assert both.game(i) == one.game(0)
        again = both.get_state([i])
        assert np.count_nonzero(again["visited"]) == np.count_nonzero(state["visited"])


def test_changes_of_two_words_do_not_cancel_out() -> None:
    envs = BoulangerVectorEnv(2)
    envs.reset(seed=1)
    state = envs.get_state()
    for first, second in ((167, 175), (7, 15), (3, 11)):
        bad = {**state, "boards": state["boards"].copy()}
        bad["boards"][0, [first, second]] ^= 0x80
        with pytest.raises(BoulangerError, match="game 0 of the state has been modified"):
            envs.set_state(bad)
    bad = {**state, "boards": state["boards"].copy()}
    words = bad["boards"][1].view(np.uint64)
    words[[0, 1]] = words[[1, 0]]
    with pytest.raises(BoulangerError, match="game 1 of the state has been modified"):
        envs.set_state(bad)


def test_a_state_with_a_foundation_move_is_not_one_of_auto_foundation() -> None:
    code = next(
        code
        for code in (f"MS-C4-{number}" for number in range(1, 100))
        if any(move.destination == TO_FOUNDATION for move in Game.from_code(code).legal_moves())
    )
    plain = BoulangerVectorEnv(1)
    plain.reset(options={"codes": [code]})
    state = plain.get_state()
    for env in (BoulangerVectorEnv(1, auto_foundation=True), BoulangerEnv(auto_foundation=True)):
        env.reset(seed=3)
        before = env.get_state()
        with pytest.raises(BoulangerError, match="game 0 of the state has a foundation move left"):
            env.set_state(state)
        assert same(env.get_state(), before)
