"""``CardActions`` and ``TapActions`` against the oracle's own account of what their actions mean."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from oracle import ID, NAMES, PARENT, RANK, SUIT, UNDO, Oracle, Triple
from support.env_and_oracle import card_of, game_of, masks_agree, same_position, start
from support.random_games import random_endgame

from boulanger_env import BoulangerEnv, IllegalMoveError
from boulanger_env.wrappers import CARD_ACTION_TABLE, CardActions, TapActions

STEPS = 600


# -- what the actions mean, read from the position --------------------------------------------------------------


def card_id(card: int, kind: str) -> int:
    """Number of a card action, as the interface counts them."""
    if kind == "parent":
        assert RANK[card] < 13
        return SUIT[card] * 12 + RANK[card] - 1
    return {"empty": 48, "cell": 100, "home": 152}[kind] + card - 1


def card_moves(oracle: Oracle, moves: Sequence[Triple]) -> dict[int, Triple]:
    """Card actions that stand for one of these moves; to an empty column, the leftmost one."""
    named: dict[int, Triple] = {}
    for move in moves:
        card, d = card_of(oracle, move), move[1]
        if d == 9:
            named[card_id(card, "home")] = move
        elif d == 8:
            named[card_id(card, "cell")] = move
        elif oracle.columns[d]:
            named[card_id(card, "parent")] = move
        elif d == oracle.columns.index([]):
            named[card_id(card, "empty")] = move
    return named


def tap_moves(oracle: Oracle, moves: Sequence[Triple]) -> dict[int, Triple]:
    """Double taps whose move is one of these."""
    taps = {source: oracle.double_tap_move(source) for source in range(12)}
    return {source: move for source, move in taps.items() if move in moves}


NAMINGS = {CardActions: (card_moves, 204), TapActions: (tap_moves, 12)}


# -- CardActions and TapActions ---------------------------------------------------------------------------------


def test_card_action_table() -> None:
    assert CARD_ACTION_TABLE.shape == (204, 2)
    assert CARD_ACTION_TABLE.dtype == np.int8
    assert not CARD_ACTION_TABLE.flags.writeable
    kinds = ["parent", "empty", "cell", "home"]
    for action, (card, kind) in enumerate(CARD_ACTION_TABLE.tolist()):
        assert card_id(card, kinds[kind]) == action


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("n_cells", [4, 2, 1])
@pytest.mark.parametrize("wrapper", NAMINGS)
def test_actions_under_another_name(wrapper: Any, n_cells: int, undo: bool, prune: bool) -> None:
    random = Random(f"{wrapper} {n_cells} {undo} {prune}")
    moves_of, count = NAMINGS[wrapper]
    env = wrapper(BoulangerEnv(allow_undo=undo, prune=prune, max_episode_steps=10_000))
    assert env.action_space == gym.spaces.Discrete(count + undo)
    done = 0
    while done < STEPS:
        oracle, info = start(random, env, n_cells)
        terminated = False
        for _ in range(60):
            everything = moves_of(oracle, oracle.legal())
            listed = moves_of(oracle, oracle.pruned()) if prune else everything
            expected = [int(action in listed) for action in range(count)] + [int(bool(oracle.past))] * undo
            assert info["action_mask"].tolist() == expected
            assert masks_agree(env, info)
            # As long as the game goes on, something is listed.
            assert listed
            action = random.choice([*listed, random.randrange(count), *[count] * undo])
            # A pruned move stays legal to play, under its other name too.
            move = everything.get(action)
            base = UNDO if action == count else ID[move] if move else -1
            expected_reward, illegal = oracle.act(base)
            _, reward, terminated, truncated, info = env.step(action)
            assert (reward, info["illegal_action"]) == (expected_reward, illegal)
            assert same_position(env, oracle)
            assert not truncated
            assert terminated is (oracle.outcome is not None)
            done += 1
            if terminated:
                assert info["action_mask"].tolist() == [1] * (count + undo)
                assert masks_agree(env, info)
                assert info["outcome"] == oracle.outcome
                break


def test_every_base_move_has_a_card_action() -> None:
    random = Random(3)
    for i in range(300):
        oracle = random_endgame(random, (4, 2, 1)[i % 3])
        named = card_moves(oracle, oracle.legal())
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
    env = CardActions(BoulangerEnv())
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
    env = CardActions(BoulangerEnv(illegal_action="raise"))
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
    env = TapActions(BoulangerEnv(illegal_action="raise"))
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


@pytest.mark.parametrize("wrapper", NAMINGS)
def test_illegal_actions_terminate_and_are_punished(wrapper: Any) -> None:
    env = wrapper(BoulangerEnv(illegal_action="terminate", reward={"illegal": -7}))
    _, info = env.reset(options={"code": "MS-C1-1"})
    action = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["outcome"], info["illegal_action"]) == (-7.0, True, "illegal", True)
    assert info["action_mask"].all()
