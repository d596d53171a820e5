"""Episodes that begin at ``Starts``: the same draws in every environment, as the oracle reads them."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.batch_and_singles import DISABLED, MODES, NEXT_STEP, SAME_STEP, Player, Singles, compare
from support.example_starts import SOLVED, example_starts, expected_draws

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game
from boulanger_env.deals import Starts
from boulanger_env.replay import Replay
from boulanger_env.wrappers import RecordReplay

N = 4
EPISODES = 40
Drawn = list[tuple[int, int, str]]


def drawn_by_single(env: gym.Env[Any, Any], seed: int, count: int) -> Drawn:
    infos = [env.reset(seed=seed if turn == 0 else None)[1] for turn in range(count)]
    return [(info["start"], info["group"], info["code"]) for info in infos]


def drawn_by_batch(envs: gym.vector.VectorEnv[Any, Any, Any], seed: int, count: int) -> list[Drawn]:
    """Each game's first episodes, whatever the autoreset mode, with episodes of one step."""
    mode = envs.metadata["autoreset_mode"]
    _, infos = envs.reset(seed=seed)
    drawn: list[Drawn] = [[] for _ in range(envs.num_envs)]

    def note() -> None:
        for i, row in enumerate(zip(infos["start"], infos["group"], infos["code"], strict=True)):
            drawn[i].append((int(row[0]), int(row[1]), str(row[2])))

    note()
    while len(drawn[0]) < count:
        *_, infos = envs.step(infos["action_mask"].argmax(1))
        if mode is SAME_STEP:
            # A start may be one move from the win.
            ended = infos["final_info"]
            assert list(zip(ended["start"], ended["group"], strict=True)) == [game[-1][:2] for game in drawn]
        elif mode is DISABLED:
            _, infos = envs.reset(options={"reset_mask": np.ones(envs.num_envs, np.bool_)})
        else:
            assert list(zip(infos["start"], infos["group"], strict=True)) == [game[-1][:2] for game in drawn]
            *_, infos = envs.step(np.zeros(envs.num_envs, np.int64))
        note()
    return drawn


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_same_draws_as_the_oracles(share: float) -> None:
    starts = example_starts(share)
    expected = [expected_draws(starts, 11 + i, EPISODES) for i in range(N)]
    single = BoulangerEnv(deals=starts)
    assert [drawn_by_single(single, 11 + i, EPISODES) for i in range(N)] == expected
    kinds = {start >= 0 for game in expected for start, _, _ in game}
    assert kinds == ({True, False} if share == 0.4 else {share == 0})
    for mode in MODES:
        envs = BoulangerVectorEnv(N, deals=starts, max_episode_steps=1, autoreset_mode=mode)
        assert drawn_by_batch(envs, 11, EPISODES) == expected


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP], ids=lambda mode: mode.name)
def test_same_draws_in_gymnasiums_batches(mode: AutoresetMode) -> None:
    starts = example_starts(0.3)
    expected = [expected_draws(starts, 5 + i, EPISODES) for i in range(N)]
    for kind in ("sync", "vector_entry_point"):
        vector_kwargs = {"autoreset_mode": mode} if kind == "sync" else None
        more = {} if kind == "sync" else {"autoreset_mode": mode}
        envs = gym.make_vec(
            "Boulanger-C4-v0", N, kind, vector_kwargs=vector_kwargs, deals=starts, max_episode_steps=1, **more
        )
        assert drawn_by_batch(envs, 5, EPISODES) == expected


def test_starts_are_what_is_played() -> None:
    starts = example_starts(0.3)
    single = BoulangerEnv(deals=starts)
    single.reset(seed=0)
    envs = BoulangerVectorEnv(32, deals=starts, max_episode_steps=1)
    _, infos = envs.reset(seed=0)
    for _ in range(20):
        _, info = single.reset()
        games = [
            (info, single.game),
            *(({k: infos[k][i] for k in ("start", "code")}, envs.game(i)) for i in range(32)),
        ]
        for told, game in games:
            expected = (
                starts.game(int(told["start"])) if told["start"] >= 0 else Game.from_code(str(told["code"]))
            )
            assert game == expected
            assert (game.score, game.moves, game.last_move) == (0, 0, None)
        for _ in range(2):
            *_, infos = envs.step(infos["action_mask"].argmax(1))


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("observation", ["features", "cards"])
def test_batches_play_as_single_environments(observation: str, mode: AutoresetMode) -> None:
    keywords: dict[str, Any] = {
        "deals": example_starts(0.25),
        "observation": observation,
        "max_episode_steps": 6,
        "allow_undo": True,
    }
    batch = BoulangerVectorEnv(N, autoreset_mode=mode, **keywords)
    compare(batch, Singles(N, mode, **keywords), Player(1, N, 781), 60, 3)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_with_moves_home_that_play_themselves(mode: AutoresetMode) -> None:
    starts = Starts.from_solutions(SOLVED, auto_foundation=True, workers=1, deal_share=0.2)
    keywords: dict[str, Any] = {
        "deals": starts,
        "auto_foundation": True,
        "actions": "cards",
        "max_episode_steps": 6,
    }
    expected = [expected_draws(starts, 11 + i, EPISODES) for i in range(N)]
    batch = BoulangerVectorEnv(N, autoreset_mode=mode, **{**keywords, "max_episode_steps": 1})
    assert drawn_by_batch(batch, 11, EPISODES) == expected
    batch = BoulangerVectorEnv(N, autoreset_mode=mode, **keywords)
    outcomes = compare(batch, Singles(N, mode, **keywords), Player(1, N, 204, auto_foundation=True), 200, 3)
    assert "won" in outcomes
    # A start of such solutions is a position where nothing is left to play by itself.
    single = BoulangerEnv(**{**keywords, "deals": Starts(starts.positions, starts.left)})
    for _ in range(30):
        assert single.reset()[1]["moves"] == 0


def test_starts_that_moves_home_would_end_are_refused() -> None:
    starts = Starts.from_solutions(["MS-C4-1"], workers=1)
    for make in (BoulangerEnv, BoulangerVectorEnv):
        make(deals=starts)
        with pytest.raises(BoulangerError, match="would be won before the first decision, by the moves home"):
            make(deals=starts, auto_foundation=True)


def test_infos_have_the_same_keys_at_every_step() -> None:
    for keywords in ({}, {"array_infos": True}):
        starts = example_starts(0.5)
        single = BoulangerEnv(deals=starts, max_episode_steps=3, **keywords)
        _, info = single.reset(seed=0)
        seen = {tuple(info)}
        for _ in range(3):
            info = single.step(int(info["action_mask"].argmax()))[-1]
            seen.add(tuple(info))
        envs = BoulangerVectorEnv(3, deals=starts, max_episode_steps=3, **keywords)
        keys = {key for key in envs.reset(seed=0)[1] if not key.startswith("_")}
        assert seen == {tuple(info)}
        assert keys == set(info) | {"episode_return", "episode_length"}
        assert {"start", "group"} <= keys
        if keywords:
            assert info["start"].shape == ()
    assert not {"start", "group"} & set(BoulangerEnv().reset()[1])
    assert not {"start", "group"} & set(BoulangerVectorEnv(2).reset()[1])


def test_weights_may_change_between_steps() -> None:
    starts = example_starts()
    envs = BoulangerVectorEnv(64, deals=starts, max_episode_steps=1, autoreset_mode=SAME_STEP)
    single = BoulangerEnv(deals=starts)
    assert envs.starts is single.starts is starts
    _, infos = envs.reset(seed=0)
    for group in np.unique(starts.left).tolist():
        envs.starts.weights = np.arange(starts.n_groups) == group
        *_, infos = envs.step(infos["action_mask"].argmax(1))
        assert set(infos["group"].tolist()) == {group}
        assert single.reset()[1]["group"] == group
        members = np.flatnonzero(starts.left == group)
        assert set(infos["start"].tolist()) <= set(members.tolist())
    starts.deal_share = 1
    *_, infos = envs.step(infos["action_mask"].argmax(1))
    assert infos["group"].tolist() == [-1] * 64
    assert single.reset()[1]["code"].startswith("BK1-C4-")


def test_draws_are_in_proportion_to_the_weights() -> None:
    starts = example_starts(0.2)
    envs = BoulangerVectorEnv(4000, deals=starts)
    _, infos = envs.reset(seed=1)
    weights = starts.weights * np.bincount(starts.left).astype(bool)
    chances = 0.8 * weights / weights.sum()
    counts = np.bincount(infos["group"] + 1, minlength=starts.n_groups + 1)
    expected = 4000 * np.append(0.2, chances)
    assert counts[expected == 0].tolist() == [0] * int((expected == 0).sum())
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected) + 1).all()


def test_whole_deals_come_from_where_they_should() -> None:
    example = example_starts()
    for deals, codes in ((list(SOLVED), set(SOLVED)), ("solvable", None)):
        starts = Starts(example.positions, example.left, deals=deals, deal_share=1)
        for n_cells in (4, 2):
            env = BoulangerEnv(n_cells, deals=starts)
            drawn = {env.reset()[1]["code"] for _ in range(20)}
            assert drawn <= (codes or drawn)
            if codes is None:
                assert all(f"-C{n_cells}-" in code for code in drawn)


def test_games_given_to_reset_are_no_starts() -> None:
    starts = example_starts()
    game = starts.game(0)
    single, envs = BoulangerEnv(deals=starts), BoulangerVectorEnv(2, deals=starts)
    for options in ({"code": "MS-C4-1"}, {"board": str(game)}, {"game": game}):
        info = single.reset(seed=0, options=options)[1]
        assert (info["start"], info["group"]) == (-1, -1)
        [(name, value)] = options.items()
        infos = envs.reset(seed=0, options={f"{name}s": [value] * 2})[1]
        assert infos["start"].tolist() == infos["group"].tolist() == [-1, -1]
    # Given games take no turn.
    assert single.reset()[1]["start"] == BoulangerEnv(deals=starts).reset(seed=0)[1]["start"]


def test_a_spec_with_a_file(tmp_path: Path) -> None:
    starts = example_starts(0.5)
    path = tmp_path / "starts.npz"
    starts.save(path)
    expected = expected_draws(starts, 3, 20)
    assert drawn_by_single(BoulangerEnv(deals=path), 3, 20) == expected
    env = gym.make("Boulanger-C4-v0", deals=str(path))
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert drawn_by_single(again, 3, 20) == expected
    assert again.unwrapped.starts is not env.unwrapped.starts


def test_copies_and_pickles_draw_on() -> None:
    starts = example_starts(0.3)
    expected = expected_draws(starts, 9, 12)
    env = BoulangerEnv(deals=starts)
    assert drawn_by_single(env, 9, 4) == expected[:4]
    envs = BoulangerVectorEnv(2, deals=starts)
    envs.reset(seed=9)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        infos = [other.reset()[1] for _ in range(8)]
        assert [info["start"] for info in infos] == [start for start, _, _ in expected[4:]]
        # Its own starts are those that it draws from.
        other.starts.deal_share = 1
        assert other.reset()[1]["start"] == -1
        other.starts.deal_share = 0.3
    for batch in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
        assert batch.reset()[1]["start"][0] == expected[1][0]
        batch.starts.deal_share = 1
        assert batch.reset()[1]["start"].tolist() == [-1, -1]
        batch.starts.deal_share = 0.3
    assert copy.deepcopy(env).starts is starts


def test_replays_of_starts(tmp_path: Path) -> None:
    starts = example_starts()
    env = RecordReplay(BoulangerEnv(deals=starts, max_episode_steps=2), tmp_path)
    _, info = env.reset(seed=2)
    first = info["start"]
    for _ in range(2):
        info = env.step(int(info["action_mask"].argmax()))[-1]
    env.close()
    [path] = tmp_path.glob("*.json")
    assert Replay.load(path).start == starts.game(first)


def test_wrong_keywords() -> None:
    starts = example_starts()
    with pytest.raises(BoulangerError, match="starts are drawn by weight"):
        BoulangerEnv(deals=starts, deal_order="sequential")
    for env in (BoulangerEnv(), BoulangerVectorEnv(2, deals=list(SOLVED))):
        assert not hasattr(env, "starts")
        with pytest.raises(AttributeError, match=r"make it with deals=Starts\(\.\.\.\)"):
            _ = env.starts  # type: ignore[attr-defined]
