"""What a batch should be: single environments in a plain loop, and how to compare them with a batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from oracle import NAMINGS, UNDO, Episode, Oracle

from boulanger_env import BoulangerEnv, BoulangerVectorEnv, IllegalMoveError
from boulanger_env.deals import load
from boulanger_env.envs._batch.stepping import RAISE
from support.random_games import peer_games

NEXT_STEP, SAME_STEP, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
MODES = (NEXT_STEP, SAME_STEP, DISABLED)
# In addition to the keys of single environments: summed over an episode, so a loop over single steps lacks them.
EPISODE_KEYS = ("episode_return", "episode_length")

Info = dict[str, Any]


class Singles:
    """``n`` single environments, reset as Gymnasium's vector environments reset theirs."""

    def __init__(self, n: int, mode: AutoresetMode, **keywords: Any) -> None:
        self.envs = [BoulangerEnv(**share(i, n, keywords)) for i in range(n)]
        self.mode = mode
        self.over = [False] * n
        self.returns = [0.0] * n
        self.lengths = [0] * n
        self.observations: list[Any] = [None] * n
        self.infos: list[Info] = [{} for _ in range(n)]

    def reset(self, seeds: Sequence[int | None], codes: Any = None, chosen: Any = None) -> None:
        for i, env in enumerate(self.envs):
            if chosen is None or chosen[i]:
                options = None if codes is None else {"code": codes[i]}
                self._begin(i, *env.reset(seed=seeds[i], options=options))
            else:
                # As it stands; only SAME_STEP reports an episode that ended in the previous step.
                kept = {key: value for key, value in self.infos[i].items() if not key.startswith("final_")}
                self.infos[i] = kept | {"illegal_action": False}

    def _begin(self, i: int, observation: Any, info: Info) -> None:
        self.observations[i] = observation
        self.infos[i] = info | {"episode_return": 0.0, "episode_length": 0}
        self.over[i], self.returns[i], self.lengths[i] = False, 0.0, 0

    def step(self, actions: Sequence[int]) -> tuple[list[float], list[bool], list[bool]]:
        rewards, terminations, truncations = [], [], []
        for i, env in enumerate(self.envs):
            reward, terminated, truncated = 0.0, False, False
            if self.over[i]:
                assert self.mode is NEXT_STEP
                self._begin(i, *env.reset())
            else:
                self.observations[i], reward, terminated, truncated, info = env.step(actions[i])
                self.infos[i] = info
                self.returns[i] += reward
                self.lengths[i] += 1
                self.over[i] = terminated or truncated
                over = self.over[i]
                info["episode_return"] = self.returns[i] if over else 0.0
                info["episode_length"] = self.lengths[i] if over else 0
                if over and self.mode is SAME_STEP:
                    final = {"final_obs": self.observations[i], "final_info": info}
                    self._begin(i, *env.reset())
                    self.infos[i] |= final
            rewards.append(reward)
            terminations.append(terminated)
            truncations.append(truncated)
        return rewards, terminations, truncations


def share(i: int, n: int, keywords: dict[str, Any]) -> dict[str, Any]:
    """Keywords for the i-th of n: of a sequence of deals it plays i, i + n, i + 2n, ..., wrapping round."""
    if keywords.get("deal_order") != "sequential":
        return keywords
    deals = keywords["deals"]
    codes = list(load(deals)) if isinstance(deals, str) else list(deals)
    return {**keywords, "deals": [codes[(i + turn * n) % len(codes)] for turn in range(len(codes))]}


def assert_same_observation(row: Any, expected: Any, context: Any = None) -> None:
    if isinstance(expected, dict):
        assert set(row) == set(expected), context
        for key, array in expected.items():
            assert row[key].dtype == array.dtype, context
            assert np.array_equal(row[key], array), (context, key)
    else:
        assert row.dtype == expected.dtype, context
        assert np.array_equal(row, expected), context


def row_of(observation: Any, i: int) -> Any:
    if isinstance(observation, dict):
        return {key: array[i] for key, array in observation.items()}
    return observation[i]


def assert_same_infos(infos: Info, expected: list[Info], context: Any = None) -> None:
    """A batch's infos say what these infos of single environments say, and nothing else."""
    keys = {key for key in infos if not key.startswith("_")}
    assert keys == {key for info in expected for key in info}, context
    assert set(infos) == keys | {f"_{key}" for key in keys}, context
    for key in keys:
        mask = infos[f"_{key}"]
        assert mask.dtype == np.bool_, (context, key)
        assert mask.tolist() == [key in info for info in expected], (context, key)
        chosen = np.flatnonzero(mask).tolist()
        if key == "final_info":
            assert_same_infos(infos[key], [info.get(key, {}) for info in expected], context)
        elif key == "final_obs":
            assert [entry is not None for entry in infos[key]] == mask.tolist(), context
            for i in chosen:
                assert_same_observation(infos[key][i], expected[i][key], context)
        else:
            assert len(infos[key]) == len(expected), (context, key)
            for i in chosen:
                value = expected[i][key]
                assert np.array_equal(infos[key][i], value), (context, key, i, infos[key][i], value)
            kinds = {bool: np.bool_, int: np.int64, float: np.float64, str: np.str_, np.ndarray: np.int8}
            assert isinstance(infos[key].flat[0], kinds[type(value)]), (context, key)


class Player:
    """Random play, with a solution followed here and there so that games are won too.

    Args:
        illegal: share of actions drawn from all there are.
        undo: share of undos, where there is one.
        auto_foundation: whether cards go home by themselves.
    """

    def __init__(
        self,
        seed: Any,
        n: int,
        n_actions: int,
        illegal: float = 0.1,
        undo: float = 0.15,
        auto_foundation: bool = False,
    ) -> None:
        self.random = Random(str(seed))
        self.n_actions = n_actions
        self.illegal = illegal
        self.naming, count = next(naming for naming in NAMINGS.values() if 0 <= n_actions - naming[1] <= 1)
        self.undo = undo if n_actions > count else 0.0
        self.auto_foundation = auto_foundation
        self.plans: list[list[int]] = [[] for _ in range(n)]
        self.solutions = {game["code"]: game["moves"] for game in peer_games()}

    @cache  # noqa: B019 - a player lives as long as its test
    def _plan(self, code: str) -> tuple[int, list[int]]:
        """The moves that a game begins with, and its solution's actions, if it has one that they can name."""
        if not code:
            return 0, []
        begun = Episode(Oracle.from_code(code), auto_foundation=self.auto_foundation).oracle.moves
        oracle, plan = Oracle.from_code(code), []
        for move in self.solutions.get(code, []):
            named = self.naming(oracle, [tuple(move)])
            plan += list(named)
            oracle.push(tuple(move))
        return begun, plan

    def choose(self, masks: Any, infos: Info) -> np.ndarray:
        """Actions for a batch; games with a code in ``infos`` and without a move begin."""
        random = self.random
        actions = np.empty(len(masks), np.int64)
        for i, mask in enumerate(masks):
            if infos.get("_code", [False] * len(masks))[i]:
                begun, plan = self._plan(str(infos["code"][i]))
                if infos["moves"][i] == begun:
                    self.plans[i] = plan[::-1] if random.random() < 0.8 else []
            # What has played itself is passed over.
            while self.auto_foundation and self.plans[i] and not mask[self.plans[i][-1]]:
                self.plans[i].pop()
            if self.plans[i]:
                actions[i] = self.plans[i].pop()
            elif random.random() < self.undo:
                actions[i] = self.n_actions - 1
            elif random.random() < self.illegal:
                actions[i] = random.randrange(self.n_actions)
            else:
                actions[i] = random.choice(np.flatnonzero(mask).tolist())
        return actions


def compare(
    batch: BoulangerVectorEnv, singles: Singles, player: Player, steps: int, seeds: Any = 0, first: Any = None
) -> list[str]:
    """Play both and compare everything after each step; returns the outcomes that were met.

    ``first`` is the batch's last ``(observation, infos)``, where both have begun already.
    """
    n = batch.num_envs
    if first is None:
        observation, infos = batch.reset(seed=seeds)
        singles.reset([seeds + i for i in range(n)] if isinstance(seeds, int) else seeds)
        check(batch, singles, observation, infos, "reset")
    else:
        observation, infos = first
    outcomes: list[str] = []
    for step in range(steps):
        actions = player.choose(infos["action_mask"], infos)
        actions = refused_as_by_singles(batch, singles, actions)
        observation, rewards, terminations, truncations, infos = batch.step(actions)
        expected = singles.step(actions.tolist())
        assert (rewards.dtype, terminations.dtype, truncations.dtype) == (np.float64, np.bool_, np.bool_)
        assert (rewards.tolist(), terminations.tolist(), truncations.tolist()) == expected, step
        check(batch, singles, observation, infos, step)
        last = infos.get("final_info", {}) if batch.autoreset_mode is SAME_STEP else infos
        outcomes += [outcome for outcome in last.get("outcome", np.empty(0)).tolist() if outcome]
        outcomes += ["truncated"] * int(truncations.sum())
        if batch.autoreset_mode is DISABLED and any(singles.over):
            # Not at once, to see that the others are unaffected.
            over = np.array(singles.over)
            observation, infos = batch.reset(options={"reset_mask": over})
            singles.reset([None] * n, chosen=over)
            check(batch, singles, observation, infos, (step, "partial reset"))
    return outcomes


def check(batch: BoulangerVectorEnv, singles: Singles, observation: Any, infos: Info, context: Any) -> None:
    for i, expected in enumerate(singles.observations):
        assert_same_observation(row_of(observation, i), expected, (context, i))
    assert_same_infos(infos, singles.infos, context)
    masks = batch.action_masks()
    assert masks.dtype == np.bool_
    assert np.array_equal(masks, infos["action_mask"]), context
    i = int(infos["moves"].sum()) % batch.num_envs  # any one
    game, twin = batch.game(i), singles.envs[i].game
    assert game == twin, (context, i)
    assert (game.score, game.moves, game.code, game.last_move) == (
        twin.score,
        twin.moves,
        twin.code,
        twin.last_move,
    )


def refused_as_by_singles(batch: BoulangerVectorEnv, singles: Singles, actions: np.ndarray) -> np.ndarray:
    """With ``illegal_action="raise"``: both refuse in the same words; then a legal action instead."""
    if batch.unwrapped._settings.when_illegal != RAISE:
        return actions
    actions = actions.copy()
    for i, env in enumerate(singles.envs):
        if not singles.over[i] and not is_legal(env, int(actions[i])):
            with pytest.raises(IllegalMoveError) as refusal:
                env.step(int(actions[i]))
            with pytest.raises(IllegalMoveError) as refusal_of_batch:
                batch.step(actions)
            assert str(refusal_of_batch.value) == f"sub-environment {i}: {refusal.value}"
            actions[i] = np.flatnonzero(env.action_masks())[0]
    return actions


def is_legal(env: BoulangerEnv, action: int) -> bool:
    if env._settings.prune and action < UNDO:  # a move that the mask leaves out is legal
        assert env._settings.actions == "places"
        return bool(env.game.legal_mask()[action])
    return bool(env.action_masks()[action])


def play(batch: BoulangerVectorEnv, steps: int, seed: int = 0, illegal: float = 0.1) -> list[Any]:
    """All that a game of chance returns."""
    n = batch.num_envs
    player = Player(seed, n, batch.single_action_space.n, illegal=illegal)
    seen: list[Any] = [batch.reset(seed=seed)]
    infos = seen[0][1]
    for _ in range(steps):
        seen.append(batch.step(player.choose(infos["action_mask"], infos)))
        infos = seen[-1][-1]
    return seen


def assert_equal(value: Any, other: Any) -> None:
    """Nested results of ``play`` are equal, types and all."""
    assert type(value) is type(other)
    if isinstance(value, dict):
        assert list(value) == list(other)
        value, other = list(value.values()), list(other.values())
    if isinstance(value, np.ndarray):
        assert value.dtype == other.dtype
        if value.dtype != object:
            assert np.array_equal(value, other)
            return
        value, other = value.tolist(), other.tolist()
    if isinstance(value, (tuple, list)):
        for mine, theirs in zip(value, other, strict=True):
            assert_equal(mine, theirs)
    else:
        assert value == other
