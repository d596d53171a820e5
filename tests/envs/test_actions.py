"""``actions="cards"`` and ``actions="taps"``: what no move stands for, and why it is refused."""

from __future__ import annotations

from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from oracle import NAMES, PARENT, RANK, SUIT, Oracle, named_by_card
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from support.env_and_oracle import exact, game_of, same_position, start
from support.random_games import random_endgame

from boulanger_env import BoulangerEnv, BoulangerError, IllegalMoveError
from boulanger_env.envs import CARD_ACTION_TABLE
from boulanger_env.sb3 import BoulangerVecEnv


def test_every_base_move_has_a_card_action() -> None:
    random = Random(3)
    for i in range(300):
        oracle = random_endgame(random, (4, 2, 1)[i % 3])
        named = named_by_card(oracle, oracle.legal())
        empty = oracle.columns.index([]) if [] in oracle.columns else None
        for move in oracle.legal():
            # All empty columns count as one; otherwise a name stands for one move only.
            s, d, k = move
            if d < 8 and not oracle.columns[d]:
                move = (s, empty, k)
            assert move in named.values()
        assert len(set(named.values())) == len(named)


def test_card_actions_do_not_depend_on_the_order_of_columns_and_cells() -> None:
    random = Random(4)
    env = BoulangerEnv(actions="cards")
    for i in range(100):
        oracle = random_endgame(random, (4, 2, 1)[i % 3])
        if oracle.outcome is not None:
            continue
        other = oracle.copy()
        random.shuffle(other.columns)
        random.shuffle(other.cells)
        masks = [
            env.reset(options={"game": game_of(one)})[1]["action_mask"].tolist() for one in (oracle, other)
        ]
        assert masks[0] == masks[1]


def illegal_reason(oracle: Oracle, action: int) -> str:
    """Words that must be in the message for an illegal card action, from the position."""
    card, kind = CARD_ACTION_TABLE[action].tolist()
    name = NAMES[card]
    if RANK[card] <= oracle.home[SUIT[card]]:
        return f"{name} is on its foundation"
    in_cell = card in oracle.cells
    if not in_cell:
        column = next(column for column in oracle.columns if card in column)
        size = len(column) - column.index(card)
        run = all(PARENT[column[-i]] == column[-i - 1] for i in range(1, size))
        if kind >= 2 and size > 1:
            return f"{name} is not on top of its column"
        if not run:
            return "the cards that lie on it are not a run with it"
    if kind == 0:
        if PARENT[card] not in [column[-1] for column in oracle.columns if column]:
            return f"{name} goes only onto {NAMES[PARENT[card]]}"
        return "cards cannot move together"
    if kind == 1:
        return "there is none" if [] not in oracle.columns else "cards cannot move together"
    if kind == 2:
        return f"{name} is in a cell already" if in_cell else "no cell is free"
    return f"{name} is not next on its foundation"


def test_illegal_card_actions_raise_their_rule() -> None:
    random = Random(5)
    env = BoulangerEnv(actions="cards", illegal_action="raise")
    seen: dict[str, int] = {}
    for i in range(60):
        oracle, info = start(random, env, (4, 2, 1)[i % 3])
        for action in np.flatnonzero(info["action_mask"] == 0).tolist():
            words = illegal_reason(oracle, action)
            with pytest.raises(IllegalMoveError, match=words):
                env.step(action)
            assert same_position(env, oracle)
            key = words.split(NAMES[CARD_ACTION_TABLE[action, 0]])[-1][:20]
            seen[key] = seen.get(key, 0) + 1
        # And the game goes on.
        assert env.step(int(np.flatnonzero(info["action_mask"])[0]))[4]["illegal_action"] is False
    assert len(seen) >= 9


def test_illegal_taps_raise_their_rule() -> None:
    random = Random(6)
    env = BoulangerEnv(actions="taps", illegal_action="raise")
    seen = set()
    for i in range(150):
        n_cells = (4, 2, 1)[i % 3]
        oracle, info = start(random, env, n_cells)
        for source in np.flatnonzero(info["action_mask"] == 0).tolist():
            place = f"column {source + 1}" if source < 8 else f"cell {'abcd'[source - 8]}"
            words = f"a double tap on {place} moves nothing"
            if oracle.top(source) == 0:
                words = (
                    f"no {place}: this game has {n_cells}" if source - 8 >= n_cells else f"{place} is empty"
                )
            seen.add(words.removeprefix(place)[-12:])
            with pytest.raises(IllegalMoveError, match=words):
                env.step(source)
            assert same_position(env, oracle)
    assert len(seen) >= 4


@pytest.mark.parametrize("actions", ["cards", "taps"])
def test_illegal_actions_terminate_and_are_punished(actions: str) -> None:
    env = BoulangerEnv(actions=actions, illegal_action="terminate", reward={"illegal": -7})
    _, info = env.reset(options={"code": "MS-C1-1"})
    action = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["outcome"], info["illegal_action"]) == (-7.0, True, "illegal", True)
    assert info["action_mask"].all()


def test_an_unknown_numbering_is_refused() -> None:
    for wrong in ("card", 204, None):
        with pytest.raises(
            BoulangerError, match=r"actions=.* is unknown: choose one of 'places', 'cards', 'taps'"
        ):
            BoulangerEnv(actions=wrong)  # type: ignore[arg-type]
    for keyword in ("auto_foundation", "no_repeats"):
        with pytest.raises(BoulangerError, match=f"{keyword}='yes' is unknown: choose one of False, True"):
            BoulangerEnv(**{keyword: "yes"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "keywords",
    [
        {"actions": "cards", "auto_foundation": True, "no_repeats": True},
        {"actions": "taps", "allow_undo": True},
    ],
    ids=str,
)
def test_checkers_have_nothing_to_say(keywords: dict[str, Any]) -> None:
    env = gym.make("Boulanger-C4-v0", **keywords)
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.spec == env.spec
    assert exact(again.reset(seed=4)) == exact(env.reset(seed=4))
    check_env(
        gym.make("Boulanger-C4-v0", disable_env_checker=True, **keywords).unwrapped, skip_render_check=True
    )
    sb3_check_env(env.unwrapped)
    batch = BoulangerVecEnv(2, **keywords)
    batch.seed(1)
    batch.reset()
    assert batch.env_method("action_masks").shape == (2, env.action_space.n)
    assert [info["moves"] for info in batch.reset_infos] == [game.moves for game in batch.env_method("game")]
