"""``AutoFoundation`` against an oracle whose foundation moves play themselves."""

from __future__ import annotations

from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from oracle import ID, UNDO, Oracle
from support.env_and_oracle import game_of, legal_actions, mask_of, masks_agree, same_position, start
from support.random_games import peer_games, random_move

from boulanger_env import BoulangerEnv, Game, IllegalMoveError
from boulanger_env.wrappers import AutoFoundation, CardActions

STEPS = 600
WORTH = {"foundation": 10.0, "from_cell": 5.0, "step": -0.25, "illegal": -2.0, "win": 100.0, "stuck": -50.0}


class Account:
    """One game by the oracle: what each of the agent's actions should do, and be paid.

    Every base move is a step that counts for the limit and pays like one.
    """

    def __init__(self, oracle: Oracle, limit: int) -> None:
        self.oracle = oracle
        self.limit = limit
        self.steps = 0
        self.owed = 0.0
        # The number of moves before each of the agent's own.
        self.own: list[int] = []
        self.send_home()

    @property
    def over(self) -> bool:
        return self.oracle.outcome is not None or self.steps >= self.limit

    @property
    def can_undo(self) -> bool:
        return bool(self.own) and self.oracle.moves - self.own[-1] <= len(self.oracle.past)

    def pay(self, action: int) -> bool:
        """A base step; whether it was illegal."""
        reward, illegal = self.oracle.act(action, WORTH)
        self.owed += reward
        self.steps += 1
        return illegal

    def send_home(self) -> None:
        while not self.over and (homes := [move for move in self.oracle.legal() if move[1] == 9]):
            self.pay(ID[homes[0]])

    def act(self, action: int) -> tuple[float, bool]:
        """The reward of an agent's action, and whether it was illegal."""
        if action == UNDO and self.can_undo:
            before, illegal = self.own.pop(), False
            while self.oracle.moves > before and self.steps < self.limit:
                self.pay(UNDO)
        elif action == UNDO:
            illegal = self.pay(-1)
        else:
            before = self.oracle.moves
            illegal = self.pay(action)
            if not illegal:
                self.own.append(before)
            self.send_home()
        reward, self.owed = self.owed, 0.0
        return reward, illegal


@pytest.mark.parametrize("limit", [10_000, 25])
@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_foundation_moves_play_themselves(n_cells: int, undo: bool, limit: int) -> None:
    random = Random(f"{n_cells} {undo} {limit}")
    env = AutoFoundation(BoulangerEnv(allow_undo=undo, reward=WORTH, max_episode_steps=limit))
    done, ends = 0, set()
    while done < STEPS:
        oracle, info = start(random, env, n_cells)
        account = Account(oracle, limit)
        assert same_position(env, oracle)
        assert (info["outcome"], info["is_success"]) == ("", False)
        if account.over:
            # It ended among the moves of the reset: the first step says so and plays nothing.
            _, reward, terminated, truncated, info = env.step(0)
            assert (reward, terminated) == (account.owed, oracle.outcome is not None)
            assert truncated is not terminated
            assert info["outcome"] == (oracle.outcome or "")
            assert same_position(env, oracle)
            ends.add("at reset")
            continue
        while not account.over:
            mask = mask_of(oracle)
            assert not any(mask[ID[move]] for move in oracle.legal() if move[1] == 9)
            assert info["action_mask"].tolist() == mask + [int(account.can_undo)] * undo
            assert masks_agree(env, info)
            assert (info["score"], info["moves"]) == (oracle.score, oracle.moves)
            chance = random.random()
            action = ID[random_move(random, oracle.legal(), 0.5)]
            if chance < 0.05:
                action = random.randrange(780)
            elif undo and chance < 0.3:
                action = UNDO
            expected, illegal = account.act(action)
            _, reward, terminated, truncated, info = env.step(action)
            assert (reward, info["illegal_action"]) == (expected, illegal)
            assert same_position(env, oracle)
            assert terminated is (oracle.outcome is not None)
            assert truncated is (account.over and not terminated)
            done += 1
        ends.add(info["outcome"] or "truncated")
        assert info["outcome"] == (oracle.outcome or "")
        assert masks_agree(env, info)
        assert info["action_mask"].all() == terminated
    assert ends >= ({"won", "stuck", "at reset"} if limit > 25 else {"truncated", "stuck"})


@pytest.mark.parametrize("outside", [None, CardActions])
def test_the_return_is_the_score(outside: Any) -> None:
    random = Random(9)
    env: Any = AutoFoundation(gym.make("Boulanger-C4-v0", allow_undo=True))
    if outside:
        env = outside(env)
    owed = 0
    for number in range(1, 41):
        _, info = env.reset(options={"code": f"MS-C4-{number}"})
        owed += info["score"]
        total, over = 0.0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(random.choice(legal_actions(info)))
            total += reward
            over = terminated or truncated
        assert total == info["score"]
    assert owed > 0


def test_undo_with_nothing_of_the_agents_own_raises() -> None:
    env = AutoFoundation(BoulangerEnv(allow_undo=True, illegal_action="raise"))
    code = next(
        f"MS-C4-{n}"
        for n in range(1, 100)
        if any(c[-1] % 13 == 1 for c in Game.from_code(f"MS-C4-{n}").columns)
    )
    _, info = env.reset(options={"code": code})
    assert info["moves"] > 0
    assert info["score"] == 10 * info["moves"]
    assert info["code"] == code
    assert info["action_mask"][UNDO] == 0
    game = env.unwrapped.game
    with pytest.raises(IllegalMoveError, match="nothing to undo"):
        env.step(UNDO)
    assert env.unwrapped.game == game
    # The points of the reset are still owed after the refusal.
    _, reward, _, _, after = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert reward == after["score"]


def test_undo_through_a_past_that_came_with_the_game() -> None:
    # A game given with its history: each undo goes back to a move that was not a foundation move, or is refused.
    solved = next(g for g in peer_games() if g["code"].startswith("MS-C4"))
    game = Game.from_code(solved["code"])
    for move in solved["moves"][:60]:
        game.push(tuple(move))
    env = AutoFoundation(BoulangerEnv(allow_undo=True))
    _, info = env.reset(options={"game": game})
    undone = 0
    while info["action_mask"][UNDO]:
        moves = env.unwrapped.game.moves
        _, _, _, _, info = env.step(UNDO)
        assert not info["illegal_action"]
        undone += 1
        assert not any(move.destination == 9 for move in env.unwrapped.game.legal_moves())
        assert undone <= 60
    assert undone == sum(move[1] != 9 for move in solved["moves"][:60])
    assert moves <= 60
    assert env.step(UNDO)[4]["illegal_action"]


def test_auto_foundation_ignores_the_action_after_an_end_at_reset() -> None:
    env = AutoFoundation(BoulangerEnv())
    board = Oracle([[13], *[[] for _ in range(7)]], [0] * 4, [12, 13, 13, 13])
    _, info = env.reset(options={"game": game_of(board)})
    assert info["action_mask"].all()
    assert (info["outcome"], info["is_success"]) == ("", False)
    with pytest.raises(IllegalMoveError, match="780"):
        env.step(780)
    _, reward, terminated, truncated, info = env.step(5)
    assert (reward, terminated, truncated) == (10.0, True, False)
    assert (info["outcome"], info["is_success"], info["illegal_action"]) == ("won", True, False)
    with pytest.raises(ResetNeeded):
        env.step(5)
    # A reset forgets an end that was not fetched.
    env.reset(options={"game": game_of(board)})
    env.reset(options={"code": "MS-C4-2"})
    assert env.step(728)[2] is False
