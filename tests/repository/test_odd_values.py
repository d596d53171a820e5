"""Values of odd types and sizes for a number, a name or a list: rejected early."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, DealSet, Game, Move, agents
from boulanger_env.benchmark import evaluate
from boulanger_env.deals import as_deal_set, code_range, deal_code
from boulanger_env.game import IllegalMoveError, InvalidBoardError, InvalidCodeError, kernels
from boulanger_env.render import episode
from boulanger_env.replay import Annotation, Replay, ReplayError, replay_of
from boulanger_env.solver import diagnose, solve
from boulanger_env.wrappers import RecordReplay

UNPRINTABLE = 10**5000  # Python refuses to write it
GAME = Game.from_code("MS-C4-617")
DECK = deal_code("MS-C4-617")[2]


class NoText:
    """An object that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("not today")


def _reset() -> BoulangerEnv:
    env = BoulangerEnv()
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("value", [UNPRINTABLE, NoText()], ids=["number", "object"])
@pytest.mark.parametrize(
    "door",
    [
        lambda value: _reset().step(value),
        lambda value: _reset().reset(options={value: 1}),
        lambda value: Move.from_id(value),
        lambda value: Move(value, 0).id,
        lambda value: GAME.tap(value),
        lambda value: GAME.copy().push(Move(value, 1)),
        lambda value: BoulangerEnv(reward={value: 1}),
        lambda value: DealSet(value, ["MS-C4-1"]),
        lambda value: agents.make(value),
        lambda value: evaluate("random", ["MS-C4-1"], name=value),
        lambda value: Replay(value, []),
        lambda value: Replay(GAME, [733], value),
        lambda value: Replay(GAME, [733], agent=value),
        lambda value: Replay(GAME, [733], settings=value),
        lambda value: Replay(GAME, [733], annotations=[value]),  # type: ignore[arg-type]
        lambda value: Replay(GAME, [733], annotations=(Annotation(value, None, ""),)),
        lambda value: Replay(GAME, [733], annotations=(Annotation(((1, value),), None, ""),)),
        lambda value: Replay(GAME, [733], rewards=[value], settings={}),  # type: ignore[arg-type]
        lambda value: solve(GAME, quality=value),
    ],
)
def test_what_cannot_be_written_is_refused_all_the_same(door: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(BoulangerError):
        door(value)


@pytest.mark.parametrize("use", [diagnose, replay_of, episode])
def test_actions_that_are_none(use: Callable[..., Any]) -> None:
    for actions in (5, None):
        with pytest.raises(BoulangerError, match="list"):
            use(GAME, actions)
    for odd in (np.array([1, 2]), UNPRINTABLE, NoText(), "733", 733.0, 780.0, True, None):
        if use is replay_of:
            with pytest.raises(ReplayError, match="action 1"):
                use(GAME, [odd])
        elif use is diagnose:
            assert use(GAME, [odd]).decisions == ()
        else:
            assert "not" in use(GAME, [odd])["steps"][0][1]


def test_a_time_limit_beyond_floats_is_none() -> None:
    assert solve(GAME, time_limit=UNPRINTABLE).moves == solve(GAME, time_limit=float("inf")).moves


def test_a_range_of_codes_ends_with_its_scheme() -> None:
    for count in (UNPRINTABLE, 10**12):
        with pytest.raises(BoulangerError):
            code_range("MS-C4-1", count)
    for count in (-1, 2.5, "3"):
        with pytest.raises(BoulangerError, match="count"):
            code_range("MS-C4-1", count)  # type: ignore[arg-type]
    assert code_range("MS-C4-1", 0) == ()


@pytest.mark.parametrize(
    "code", [5, "", "my deal", "\x1b]0;title\x07", b"MS-C4-617", np.array([1, 2]), NoText()]
)
def test_a_game_has_a_code_or_none(code: Any) -> None:
    rows = GAME.copy()._board, GAME._counters, GAME._history
    with pytest.raises(InvalidCodeError):
        Game.from_deck(DECK, code=code)
    with pytest.raises(InvalidCodeError):
        Game(*rows, code)
    with pytest.raises(InvalidCodeError):
        Game.__new__(Game).__setstate__((*rows, code))
    with pytest.raises(AttributeError):
        GAME.code = code  # type: ignore[misc]


def test_the_code_of_a_deck_is_its_own() -> None:
    assert Game.from_deck(DECK, code="ms-c4-00617").code == "MS-C4-617"
    with pytest.raises(InvalidBoardError, match="MS-C4-618 deals another game"):
        Game.from_deck(DECK, code="MS-C4-618")
    with pytest.raises(InvalidBoardError, match="another game"):
        Game.from_deck(DECK, 2, "MS-C4-617")
    for again in (copy.copy(GAME), copy.deepcopy(GAME), pickle.loads(pickle.dumps(GAME))):
        assert again == GAME
        assert again.code == "MS-C4-617"


def test_who_plays_is_asked_before_the_game(tmp_path: Path) -> None:
    for agent in (5, None, b"greedy"):
        with pytest.raises(ReplayError, match="agent"):
            RecordReplay(BoulangerEnv(), tmp_path, agent=agent)  # type: ignore[arg-type]


def test_what_the_arrays_of_a_batch_are_made_for_cannot_be_set() -> None:
    """The kernels would write out of bounds."""
    envs = BoulangerVectorEnv(4, num_threads=2)
    envs.reset(seed=1)
    for name, value in (("num_envs", 1), ("num_envs", 100), ("autoreset_mode", AutoresetMode.SAME_STEP)):
        with pytest.raises(AttributeError, match=name):
            setattr(envs, name, value)
    envs.step(np.zeros(4, np.int64))
    with pytest.raises(BoulangerError, match="sub-environment True"):
        envs.game(True)


def _as_ray_hands_it_over(value: Any) -> Any:
    """A pickle whose arrays lie in memory that cannot be written to."""
    parts: list[pickle.PickleBuffer] = []
    text = pickle.dumps(value, protocol=5, buffer_callback=parts.append)
    return pickle.loads(text, buffers=[bytes(part.raw()) for part in parts])


@pytest.mark.parametrize("keywords", [{}, {"deals": "c4-easy", "observation": "cards"}])
def test_environments_from_memory_that_cannot_be_written_to(keywords: dict[str, Any]) -> None:
    env, envs = BoulangerEnv(**keywords), BoulangerVectorEnv(3, num_threads=2, **keywords)
    env.reset(seed=3)
    envs.reset(seed=3)
    again, all_again = _as_ray_hands_it_over(env), _as_ray_hands_it_over(envs)
    action = int(env.action_masks().argmax())
    actions = envs.action_masks().argmax(1)
    assert again.step(action)[1] == env.step(action)[1]
    assert again.game == env.game
    np.testing.assert_equal(all_again.step(actions)[1], envs.step(actions)[1])
    assert [all_again.game(i) for i in range(3)] == [envs.game(i) for i in range(3)]
    assert again.reset()[1]["code"] == env.reset()[1]["code"]
    game = _as_ray_hands_it_over(GAME)
    game.push(game.legal_moves()[0])
    assert game.moves == 1


@pytest.mark.parametrize("name", agents.AGENTS)
def test_agents_from_memory_that_cannot_be_written_to(name: str) -> None:
    agent, envs = agents.make(name, 3), BoulangerVectorEnv(3)
    observation, info = envs.reset(seed=1)
    agent(observation, info["action_mask"], info)
    again = _as_ray_hands_it_over(agent)
    given = observation, info["action_mask"], info
    np.testing.assert_equal(again(*given), agent(*given))


@pytest.mark.parametrize("batched", [False, True])
def test_a_policy_that_gives_no_array(batched: bool) -> None:
    class Ragged:
        name = "ragged"

        def __init__(self) -> None:
            self.batched = batched

        def __call__(self, *given: Any) -> Any:
            return [[1], [1, 2]]

    with pytest.raises(BoulangerError, match="actions of policy ragged"):
        evaluate(Ragged(), ["MS-C4-1", "MS-C4-2"])


def test_seeds_of_a_benchmark_are_numbers() -> None:
    with pytest.raises(BoulangerError, match="seed"):
        evaluate("random", ["MS-C4-1"], seed=b"x")  # type: ignore[arg-type]
    with pytest.raises(IllegalMoveError):
        _reset().step(UNPRINTABLE)


@pytest.mark.parametrize("prune", [1, "yes", [0], np.True_])
def test_a_mask_is_pruned_or_not(prune: Any) -> None:
    game = Game.from_code("MS-C4-1")
    compiled = len(getattr(kernels.legal_moves, "signatures", ()))
    assert np.array_equal(game.legal_mask(prune=prune), game.legal_mask(prune=True))
    assert len(getattr(kernels.legal_moves, "signatures", ())) <= max(compiled, 1)


@pytest.mark.parametrize("deals", [np.array("MS-C4-1"), np.ma.masked])
def test_one_code_in_an_array_is_not_a_list(deals: Any) -> None:
    with pytest.raises(BoulangerError, match="are a list, not"):
        as_deal_set(deals)
