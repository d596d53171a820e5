"""``ReverseCurriculum``: what it counts, in every kind of training loop, and what it makes of it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from support.batch_and_singles import DISABLED, MODES, SAME_STEP
from support.example_starts import example_games, example_starts

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv
from boulanger_env.deals import ReverseCurriculum, Starts

N = 16
RATE = 0.1


def near_the_end() -> Starts:
    """Starts that the first legal move from the back wins often, and whole deals."""
    games, left = zip(*((game, left) for game, left in example_games() if left < 12), strict=True)
    return Starts(games, left, deal_share=0.2)


class Naive:
    """The same counting, one episode at a time."""

    def __init__(self, starts: Starts) -> None:
        self.wins = [0.5] * starts.n_groups + [0.0]

    def end(self, group: int, won: bool) -> None:
        self.wins[group] += RATE * (won - self.wins[group])


def last_legal(mask: np.ndarray) -> np.ndarray:
    """Moves home have the highest ids of a column or a cell: this wins endings."""
    return mask.shape[-1] - 1 - mask[..., ::-1].argmax(-1)


def masks_of(envs: Any) -> np.ndarray:
    return np.stack(envs.call("action_masks"))


def agree(curriculum: ReverseCurriculum, naive: Naive, exact: bool = True) -> None:
    if exact:
        assert np.allclose([*curriculum.wins, curriculum.deal_wins], naive.wins)
    starts = curriculum.starts
    assert np.allclose(starts.weights, curriculum.wins * (1 - curriculum.wins) + 0.005)
    assert starts.deal_share == (0.25 if curriculum.deals_opened else 0.02)


@pytest.mark.parametrize("kind", ["native", "wrapped", "sync"])
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_batches(mode: AutoresetMode, kind: str) -> None:
    # One game, so that no two episodes of a group end in one step, and their order does not matter.
    for n in (1, N):
        starts = near_the_end()
        curriculum, naive = ReverseCurriculum(starts, rate=RATE), Naive(starts)
        envs: Any
        if kind == "sync":
            envs = gym.make_vec(
                "Boulanger-C4-v0",
                n,
                "sync",
                vector_kwargs={"autoreset_mode": mode},
                deals=starts,
                max_episode_steps=12,
            )
        else:
            envs = BoulangerVectorEnv(n, deals=starts, max_episode_steps=12, autoreset_mode=mode)
            if kind == "wrapped":
                envs = RecordEpisodeStatistics(envs)
        _, infos = envs.reset(seed=0)
        ended = 0
        current = infos["group"].copy()
        for _ in range(300 if n == 1 else 60):
            *_, terminated, truncated, infos = envs.step(last_legal(infos["action_mask"]))
            over = terminated | truncated
            told = (over,) if kind == "sync" else ()
            curriculum.update(infos, *told)
            last = infos.get("final_info", infos)
            for i in np.flatnonzero(over).tolist():
                assert last["group"][i] == current[i]
                naive.end(int(current[i]), bool(last["is_success"][i]))
                ended += 1
            agree(curriculum, naive, exact=n == 1)
            if mode is DISABLED and over.any():
                _, infos = envs.reset(options={"reset_mask": over})
                infos["group"] = np.where(over, infos["group"], current)  # Gymnasium's tells only these
                infos["action_mask"] = envs.unwrapped.action_masks() if kind != "sync" else masks_of(envs)
            current = infos["group"].copy()
        assert ended > 20
        assert sum(naive.wins) > 0
        assert (np.array(naive.wins[:-1]) != 0.5).sum() > 3


def test_single_environments() -> None:
    for keywords in ({}, {"array_infos": True}):
        starts = near_the_end()
        curriculum, naive = ReverseCurriculum(starts, rate=RATE), Naive(starts)
        env = BoulangerEnv(deals=starts, max_episode_steps=12, **keywords)
        for episode in range(60):
            _, info = env.reset(seed=0 if episode == 0 else None)
            over = False
            while not over:
                *_, terminated, truncated, info = env.step(last_legal(info["action_mask"]))
                over = terminated or truncated
                curriculum.update(info, over)
            naive.end(int(info["group"]), bool(info["is_success"]))
            agree(curriculum, naive)


def test_lists_of_infos() -> None:
    starts = near_the_end()
    curriculum, naive = ReverseCurriculum(starts, rate=RATE), Naive(starts)
    infos = [
        {"group": 1, "is_success": True},
        {"group": -1, "is_success": False},
        {"group": 2, "is_success": True},
    ]
    curriculum.update(infos, [True, True, False])
    naive.end(1, True)
    naive.end(-1, False)
    agree(curriculum, naive)
    told = [info | {"TimeLimit.truncated": False} for info in infos]
    curriculum.update(told)
    agree(curriculum, naive)
    told[2]["terminal_observation"] = np.zeros(1)
    curriculum.update(told)
    naive.end(2, True)
    agree(curriculum, naive)


def test_several_ends_of_a_group_count_as_many() -> None:
    curriculum = ReverseCurriculum(near_the_end(), rate=RATE)
    group = np.full(4, 3)
    curriculum.update(
        {"group": group, "is_success": np.array([True, True, False, True])}, np.ones(4, np.bool_)
    )
    assert curriculum.wins[3] == pytest.approx(0.9**4 * 0.5 + (1 - 0.9**4) * 0.75)


def test_whole_deals_open_and_stay_open() -> None:
    for share in (0.25, 0.01, 0.0, 1.0):
        starts = near_the_end()
        curriculum = ReverseCurriculum(starts, deal_share=share, rate=0.125)
        assert starts.deal_share == min(share, 0.02)
        curriculum.update({"group": -1, "is_success": False}, True)
        assert not curriculum.deals_opened
        curriculum.update({"group": -1, "is_success": True}, True)
        assert curriculum.deals_opened
        assert starts.deal_share == share
        for _ in range(50):
            curriculum.update({"group": -1, "is_success": False}, True)
        assert curriculum.deal_wins < 0.01
        assert starts.deal_share == share
    curriculum.deal_share = 0.75
    assert starts.deal_share == 0.75
    with pytest.raises(BoulangerError, match="deal_share"):
        curriculum.deal_share = 2
    assert curriculum.deal_share == starts.deal_share == 0.75


def test_it_moves_away_from_the_win() -> None:
    starts = near_the_end()
    curriculum = ReverseCurriculum(starts)
    envs = BoulangerVectorEnv(64, deals=starts, max_episode_steps=12, autoreset_mode=SAME_STEP)
    _, infos = envs.reset(seed=0)
    for _ in range(200):
        *_, infos = envs.step(last_legal(infos["action_mask"]))
        curriculum.update(infos)
    won = [group for group in np.unique(starts.left) if curriculum.wins[group] > 0.95]
    assert won
    assert starts.weights[won].max() < 0.06


def test_its_state_is_kept() -> None:
    starts, others = near_the_end(), near_the_end()
    curriculum, other = ReverseCurriculum(starts, rate=RATE), ReverseCurriculum(others, rate=RATE)
    curriculum.update(
        {"group": np.array([-1, -1, 3]), "is_success": np.array([True] * 3)}, np.array([True] * 3)
    )
    state = curriculum.get_state()
    other.set_state(state)
    assert others.weights.tolist() == starts.weights.tolist()
    assert others.deal_share == starts.deal_share == 0.25
    kept = state["wins"].copy()
    other.update({"group": 3, "is_success": False}, True)
    assert np.array_equal(state["wins"], kept)
    before = others.weights.tolist()
    for bad, words in (
        ({}, "the state of a curriculum has wins, deal_wins, deals_opened"),
        (None, "the state of a curriculum has"),
        ({**state, "wins": kept[1:]}, "wins .* must be win rates from 0 to 1"),
        ({**state, "wins": kept + 1}, "wins .* must be win rates"),
        ({**state, "wins": kept * np.nan}, "wins .* must be win rates"),
        ({**state, "deal_wins": -0.5}, "deal_wins .* must be win rates"),
        ({**state, "deals_opened": 1}, "deals_opened 1 must be a bool"),
    ):
        with pytest.raises(BoulangerError, match=words):
            other.set_state(bad)
        assert others.weights.tolist() == before


@pytest.mark.parametrize(
    ("infos", "ended", "words"),
    [
        ({"is_success": True}, True, "no 'group': make the environment with deals=starts"),
        ({"group": 1}, True, "no 'is_success'"),
        ({"group": 1, "is_success": True}, None, "give update.infos, terminations | truncations"),
        ([{"group": 1, "is_success": True}], None, "do not tell which episodes ended"),
        ({"group": 1, "is_success": True}, 1, r"ended 1 must be terminations \| truncations, bool \(1,\)"),
        ({"group": 1, "is_success": True}, [True, True], r"must be .* bool \(1,\)"),
        ({"group": 500, "is_success": True}, True, "of other starts"),
        ({"group": 1.0, "is_success": True}, True, "must be an integer and a bool for each game"),
        ({"group": 1, "is_success": 1}, True, "must be an integer and a bool for each game"),
        (
            {"group": [1, 2], "is_success": [True]},
            [True, True],
            "must be an integer and a bool for each game",
        ),
        ({"group": [[1]], "is_success": [[True]]}, [[True]], "must be an integer and a bool for each game"),
        ({"group": -2, "is_success": True}, True, "of other starts"),
        (7, True, "a dict, or a list of dicts"),
        ([7], [True], "a dict, or a list of dicts"),
        ("infos", True, "a dict, or a list of dicts"),
        ({"final_info": {}}, None, "no '_final_info'"),
        ({"final_info": {"group": [1], "is_success": [True]}}, None, "no '_final_info'"),
        ({"final_info": None, "_final_info": [True]}, None, "final_info is None: it must be a dict"),
        ({"final_info": 5, "_final_info": [True]}, None, "final_info is 5: it must be a dict"),
        ({"final_info": {}, "_final_info": None}, None, "no 'group'"),
        ({"episode_length": ["x"], "group": [1], "is_success": [True]}, None, "must be integers"),
        ({"episode_length": None, "group": [1], "is_success": [True]}, None, "must be integers"),
    ],
)
def test_wrong_infos_change_nothing(infos: Any, ended: Any, words: str) -> None:
    starts = near_the_end()
    curriculum = ReverseCurriculum(starts)
    with pytest.raises(BoulangerError, match=words):
        curriculum.update(infos, ended)
    assert curriculum.wins.tolist() == [0.5] * starts.n_groups
    assert starts.weights.tolist() == [0.255] * starts.n_groups


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"starts": None}, "a curriculum needs Starts"),
        ({"rate": 0}, "rate=0 must be a number above 0 and at most 1"),
        ({"rate": 1.5}, "rate=1.5"),
        ({"rate": True}, "rate=True"),
        ({"rate": "a"}, "rate='a'"),
        ({"deal_share": -1}, "deal_share=-1"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], words: str) -> None:
    starts = example_starts()
    before = starts.weights.tolist()
    with pytest.raises(BoulangerError, match=words):
        ReverseCurriculum(**{"starts": starts, **arguments})
    assert starts.weights.tolist() == before
