"""``BoulangerEnv`` against the oracle and against what Gymnasium and Stable-Baselines3 ask of an environment."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import warnings
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import TimeLimit
from oracle import ID, UNDO, Oracle
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from stable_baselines3.common.monitor import Monitor
from support.env_and_oracle import cards_of, legal_actions, mask_of, masks_agree
from support.random_games import peer_games, random_code, random_move, random_start

import boulanger_env
from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game, IllegalMoveError
from boulanger_env.deals import load
from boulanger_env.envs.settings import Settings

IDS = [f"Boulanger-C{n}-v0" for n in (4, 2, 1)]
STEPS = 1_500
# interface.md gives the tableau this shape; Stable-Baselines3 recommends vectors and images to everyone.
SB3_SHAPE_ADVICE = "Your observation tableau has an unconventional shape (neither an image, nor a 1D vector)."


def as_text(oracle: Oracle) -> str:
    """The oracle's position as a text board."""
    names = ["-", *(rank + suit for suit in "SHDC" for rank in "A23456789TJQK")]
    founds = " ".join(
        f"{suit}-{'0A23456789TJQK'[rank]}" for suit, rank in zip("SHDC", oracle.home, strict=True)
    )
    cells = " ".join(names[card] for card in oracle.cells)
    columns = "\n".join(": " + " ".join(names[card] for card in column) for column in oracle.columns)
    return f"Foundations: {founds}\nFreecells: {cells}\n{columns}\n"


def as_lists(observation: Any) -> dict[str, list[Any]]:
    return {key: array.tolist() for key, array in observation.items()}


# -- what the ecosystem's checkers say --------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["score", "win", "foundation", {"step": -0.5, "stuck": -3}])
@pytest.mark.parametrize("observation", ["features", "cards"])
@pytest.mark.parametrize("env_id", IDS)
def test_checkers_have_nothing_to_say(env_id: str, observation: str, reward: Any) -> None:
    options = {"observation": observation, "reward": reward}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(gym.make(env_id, **options).unwrapped)
        check_env(gym.make(env_id, render_mode="ansi", **options).unwrapped)
    assert [str(warning.message) for warning in caught] == []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sb3_check_env(gym.make(env_id, **options))
    said = [str(warning.message) for warning in caught]
    if observation == "cards":
        assert len(said) == 1
        assert said.pop().startswith(SB3_SHAPE_ADVICE)
    assert said == []


@pytest.mark.parametrize(
    "options",
    [
        {"allow_undo": True},
        {"illegal_action": "terminate"},
        {"prune": True, "n_cells": 2},
        {"deals": ["MS-C4-1", "MS-C2-29"], "deal_order": "sequential"},
        {"deals": "c1-test-100", "illegal_action": "terminate", "allow_undo": True},
    ],
    ids=str,
)
def test_checkers_accept_every_keyword(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make("Boulanger-C4-v0", **options).unwrapped)
        sb3_check_env(gym.make("Boulanger-C4-v0", **options))
        sb3_check_env(BoulangerEnv(max_episode_steps=3, **options))


def test_the_module_prefix_registers_the_ids() -> None:
    script = (
        "import gymnasium as gym\n"
        "env = gym.make('boulanger_env:Boulanger-C2-v0')\n"
        "_, info = env.reset(seed=1)\n"
        "print(info['code'], env.spec.max_episode_steps)\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    code, limit = run.stdout.split()
    assert code.startswith("BK1-C2-")
    assert limit == "500"


@pytest.mark.parametrize("env_id", IDS)
def test_registered_ids(env_id: str) -> None:
    assert gym.spec(env_id).max_episode_steps == 500
    env = gym.make(env_id)
    assert type(env.unwrapped) is BoulangerEnv is boulanger_env.BoulangerEnv
    _, info = env.reset(seed=0)
    assert info["code"].startswith(f"BK1-{env_id[10:12]}-")
    assert env.action_space == gym.spaces.Discrete(780)
    assert gym.make(env_id, allow_undo=True).action_space == gym.spaces.Discrete(781)


def test_observation_spaces() -> None:
    space = gym.make("Boulanger-C4-v0").observation_space
    assert isinstance(space, gym.spaces.Box)
    assert len(space.shape) == 1
    assert space == gym.spaces.Box(0, 1, space.shape, np.uint8)
    assert gym.make("Boulanger-C4-v0", observation="cards").observation_space == gym.spaces.Dict(
        tableau=gym.spaces.Box(0, 52, (8, 19), np.uint8),
        cells=gym.spaces.Box(0, 53, (4,), np.uint8),
        foundations=gym.spaces.Box(0, 13, (4,), np.uint8),
    )


@pytest.mark.parametrize(
    "wrap", [Monitor, lambda env: TimeLimit(env, 20), lambda env: TimeLimit(Monitor(env), 20)]
)
def test_masks_are_found_under_other_wrappers(wrap: Any) -> None:
    env = wrap(gym.make("Boulanger-C4-v0"))
    _, info = env.reset(seed=5)
    for _ in range(50):
        assert masks_agree(env, info)
        _, _, terminated, truncated, info = env.step(legal_actions(info)[0])
        if terminated or truncated:
            assert masks_agree(env, info)
            assert info["action_mask"].all() == terminated
            _, info = env.reset()


# -- step by step like the oracle -------------------------------------------------------------------------------


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_same_as_the_oracle(n_cells: int, undo: bool, prune: bool) -> None:
    random = Random(f"{n_cells} {undo} {prune}")
    env = gym.make("Boulanger-C4-v0", n_cells=n_cells, observation="cards", allow_undo=undo, prune=prune)
    done = 0
    while done < STEPS:
        if random.random() < 0.4:
            code = random_code(random, random.choice(["BK1", "MS"]), n_cells)
            oracle = Oracle.from_code(code)
            observation, info = env.reset(options={"code": code})
            assert info["code"] == code
        else:
            oracle = random_start(random, "MS", n_cells)
            if not oracle.legal():
                continue
            observation, info = env.reset(options={"board": as_text(oracle)})
        boldness = random.random()
        keys = {"action_mask", "score", "moves", "illegal_action", "code", "outcome", "is_success"}
        over, actions = False, 0
        while not over and actions < 400:
            # Everything that can be seen.
            assert set(info) == keys
            assert (info["outcome"], info["is_success"]) == ("", False)
            assert as_lists(observation) == cards_of(oracle)
            assert info["action_mask"].tolist() == mask_of(oracle, prune, undo)
            assert (
                env.get_wrapper_attr("action_masks")().tolist() == info["action_mask"].astype(bool).tolist()
            )
            assert (info["score"], info["moves"]) == (oracle.score, oracle.moves)
            # The pruned moves stay legal; a few illegal actions; an undo now and then.
            action = ID[random_move(random, oracle.legal(), boldness)]
            if random.random() < 0.1:
                action = random.randrange(780)
            if undo and random.random() < 0.2:
                action = UNDO
            observation, reward, terminated, truncated, info = env.step(action)
            expected_reward, illegal = oracle.act(action)
            assert reward == expected_reward
            assert type(reward) is float
            assert info["illegal_action"] is illegal
            over, actions, done = terminated or truncated, actions + 1, done + 1
            assert terminated is (oracle.outcome is not None)
            if terminated:
                assert info["outcome"] == oracle.outcome
                assert info["is_success"] is (oracle.outcome == "won")
                assert info["action_mask"].tolist() == [1] * (780 + undo)
                assert (info["score"], info["moves"]) == (oracle.score, oracle.moves)
                assert as_lists(observation) == cards_of(oracle)


def test_solved_games_are_won() -> None:
    env = gym.make("Boulanger-C4-v0", observation="cards")
    for game in peer_games()[:40]:
        _, info = env.reset(options={"code": game["code"].lower()})
        assert info["code"] == game["code"]
        for i, move in enumerate(game["moves"]):
            assert info["action_mask"][ID[tuple(move)]] == 1
            observation, _, terminated, truncated, info = env.step(ID[tuple(move)])
            assert terminated is (i == len(game["moves"]) - 1)
            assert not truncated
        assert info["outcome"] == "won"
        assert info["is_success"] is True
        assert info["code"] == game["code"]
        assert info["score"] == game["score"]
        assert observation["foundations"].tolist() == [13, 13, 13, 13]


def test_random_games_are_the_games_that_their_codes_name() -> None:
    env = gym.make("Boulanger-C2-v0", observation="cards")
    seen = set()
    for episode in range(100):
        observation, info = env.reset(seed=9 if episode == 0 else None)
        assert as_lists(observation) == cards_of(Oracle.from_code(info["code"]))
        seen.add(info["code"])
    assert len(seen) == 100


# -- what a caller holds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["features", "cards"])
def test_arrays_are_fresh(observation: str) -> None:
    env = BoulangerEnv(observation=observation, allow_undo=True)
    random = Random(1)
    held: list[tuple[np.ndarray, bytes]] = []

    def hold(seen: Any, info: dict[str, Any]) -> None:
        arrays = [*seen.values()] if isinstance(seen, dict) else [seen]
        for array in [*arrays, info["action_mask"], env.action_masks()]:
            assert not any(np.shares_memory(array, other) for other, _ in held)
            held.append((array, array.tobytes()))

    seen, info = env.reset(seed=2)
    hold(seen, info)
    for _ in range(30):
        seen, _, terminated, _, info = env.step(random.choice(legal_actions(info)))
        hold(seen, info)
        if terminated:
            hold(*env.reset())
    assert all(array.tobytes() == content for array, content in held)


def test_a_callers_scribbles_change_nothing() -> None:
    env, twin = BoulangerEnv(observation="cards"), BoulangerEnv(observation="cards")
    seen, info = env.reset(seed=3)
    twin.reset(seed=3)
    for array in (*seen.values(), info["action_mask"]):
        array[:] = 0
    env.action_masks()[:] = False
    game = env.game
    game.push(game.legal_moves()[0])
    assert env.action_masks().tolist() == twin.action_masks().tolist()
    assert env.game == twin.game
    assert env.step(728)[4]["action_mask"].tolist() == twin.step(728)[4]["action_mask"].tolist()


def test_a_given_game_is_copied_with_its_past() -> None:
    env = BoulangerEnv(allow_undo=True)
    game = Game.from_code("MS-C2-29")
    first = game.legal_moves()[0]
    game.push(first)
    before = str(game)
    _, info = env.reset(options={"game": game})
    assert info["code"] == "MS-C2-29"
    assert info["moves"] == 1
    assert info["action_mask"][780] == 1
    assert env.game == game
    assert env.game.n_cells == 2
    env.step(780)
    assert env.game == Game.from_code("MS-C2-29")
    assert str(game) == before
    assert game.last_move == first


def test_a_board_has_no_code() -> None:
    env = BoulangerEnv(n_cells=1, max_episode_steps=1)
    _, info = env.reset(options={"board": str(Game.from_code("MS-C1-11"))})
    assert info["code"] == ""
    _, _, _, truncated, info = env.step(728)
    assert truncated
    assert info["code"] == ""
    assert env.game.n_cells == 1
    assert env.game.code is None
    assert env.reset()[1]["code"]


def test_codes_bring_their_own_cells() -> None:
    env = BoulangerEnv(
        n_cells=4, observation="cards", deals=["MS-C1-3", "BK1-C2-BOULANG"], deal_order="sequential"
    )
    assert env.reset(seed=0)[0]["cells"].tolist() == [0, 53, 53, 53]
    assert env.reset()[0]["cells"].tolist() == [0, 0, 53, 53]
    assert env.reset(options={"code": "BK1-C4-AAAAAAA"})[0]["cells"].tolist() == [0, 0, 0, 0]


# -- how episodes end -------------------------------------------------------------------------------------------


def test_truncation_counts_every_action() -> None:
    env = BoulangerEnv(max_episode_steps=6, allow_undo=True)
    for _ in range(2):  # a new episode counts from nothing
        _, info = env.reset(seed=4)
        oracle = Oracle.from_code(info["code"])
        # Legal, illegal, undo, undo of nothing, illegal, legal.
        for i, action in enumerate([728, 779, 780, 780, 0, 729]):
            _, _, terminated, truncated, info = env.step(action)
            oracle.act(action)
            assert not terminated
            assert truncated is (i == 5)
            assert (info["outcome"], info["is_success"]) == ("", False)
        assert info["action_mask"].tolist() == mask_of(oracle, undo=True)
        assert sum(mask_of(oracle)) < 780


def test_winning_on_the_last_step_allowed_is_a_win() -> None:
    game = next(g for g in peer_games() if g["code"].startswith("MS-C4"))
    env = BoulangerEnv(max_episode_steps=len(game["moves"]))
    env.reset(options={"code": game["code"]})
    for move in game["moves"]:
        _, _, terminated, truncated, info = env.step(ID[tuple(move)])
    assert (terminated, truncated, info["outcome"]) == (True, False, "won")


def test_illegal_actions_penalized() -> None:
    env = BoulangerEnv()
    _, before = env.reset(seed=6)
    game = env.game
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, False, False, True)
    assert env.game == game
    assert info["moves"] == 0
    assert info["action_mask"].tolist() == before["action_mask"].tolist()
    assert env.step(728)[4]["illegal_action"] is False


def test_illegal_actions_terminate() -> None:
    env = BoulangerEnv(illegal_action="terminate")
    _, info = env.reset(seed=6)
    code, game = info["code"], env.game
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (info["illegal_action"], info["outcome"], info["is_success"]) == (True, "illegal", False)
    assert info["code"] == code
    assert info["action_mask"].all()
    assert env.action_masks().all()
    assert env.game == game


RULES = {
    # From MS-C2-29 with 1a played: an action, and words that name the rule it breaks.
    779: "no cell d",
    777: "cell b is empty",
    2: "not a run",
    12: "fewer than 13",
    0: "only JC can take it",  # the ten of clubs on the five
}


@pytest.mark.parametrize(("action", "words"), RULES.items())
def test_illegal_actions_raise_the_rule(action: int, words: str) -> None:
    env = gym.make("Boulanger-C4-v0", illegal_action="raise")
    env.reset(options={"code": "MS-C2-29"})
    env.step(728)
    game = env.unwrapped.game
    assert action not in [move.id for move in game.legal_moves()]
    with pytest.raises(IllegalMoveError, match=words):
        env.step(action)
    assert env.unwrapped.game == game
    assert env.unwrapped.game.moves == 1
    assert env.step(729)[4]["illegal_action"] is False


def test_raising_for_undo_of_nothing() -> None:
    env = gym.make("Boulanger-C4-v0", illegal_action="raise", allow_undo=True)
    env.reset(seed=1)
    with pytest.raises(IllegalMoveError, match="nothing to undo"):
        env.step(780)
    env.step(728)
    assert env.step(780)[4]["moves"] == 0


def test_undo_reaches_back_100_moves() -> None:
    env = BoulangerEnv(allow_undo=True, max_episode_steps=1000)
    game = next(g for g in peer_games() if g["code"].startswith("MS-C4") and len(g["moves"]) > 110)
    env.reset(options={"code": game["code"]})
    oracle = Oracle.from_code(game["code"])
    for move in game["moves"][:110]:
        env.step(ID[tuple(move)])
        oracle.push(tuple(move))
    for i in range(101):
        _, _, _, _, info = env.step(UNDO)
        assert info["illegal_action"] is (i == 100)
        assert (oracle.undo() is None) is (i == 100)
        assert (info["score"], info["moves"]) == (oracle.score, oracle.moves)
    assert info["moves"] == 10
    assert info["action_mask"][UNDO] == 0


# -- sequences of deals -----------------------------------------------------------------------------------------


def test_sequential_deals_go_round() -> None:
    codes = ["MS-C4-3", "BK1-C4-AAAAA24", "MS-C4-1"]
    env = BoulangerEnv(deals=codes, deal_order="sequential")
    assert [env.reset()[1]["code"] for _ in range(7)] == [*codes, *codes, codes[0]]
    # A given game does not use up a turn; a seed starts over.
    env.reset(options={"code": "MS-C4-99"})
    assert env.reset()[1]["code"] == codes[1]
    assert env.reset(seed=3)[1]["code"] == codes[0]
    assert env.reset()[1]["code"] == codes[1]


def test_named_sets_and_their_order() -> None:
    deals = boulanger_env.deals.load("c4-validation-100")
    for given in ("c4-validation-100", deals, list(deals)):
        env = BoulangerEnv(deals=given, deal_order="sequential")
        assert [env.reset()[1]["code"] for _ in range(101)] == [*deals, deals[0]]


def test_random_order_draws_from_the_list() -> None:
    codes = ["MS-C4-3", "BK1-C4-AAAAA24", "MS-C4-1"]
    env = BoulangerEnv(deals=codes)
    drawn = [env.reset(seed=0 if i == 0 else None)[1]["code"] for i in range(300)]
    counts = [drawn.count(code) for code in codes]
    assert sum(counts) == 300
    assert min(counts) > 70  # 100 expected, standard deviation 8


# -- drawing ----------------------------------------------------------------------------------------------------


def test_ansi_frame() -> None:
    env = gym.make("Boulanger-C4-v0", render_mode="ansi")
    env.reset(options={"code": "MS-C4-617"})
    frame = env.render()
    assert isinstance(frame, str)
    assert "MS-C4-617" in frame
    env.step(728)
    assert env.render() != frame


def test_drawing_needs_a_mode_and_a_game() -> None:
    env = BoulangerEnv()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert env.render() is None
    with pytest.raises(ResetNeeded, match="no game yet"):
        BoulangerEnv(render_mode="ansi").render()


@pytest.mark.parametrize("environment", [BoulangerEnv, BoulangerVectorEnv])
def test_settings_and_signatures_have_the_same_defaults(environment: type[Any]) -> None:
    parameters = inspect.signature(environment).parameters
    shared = [field for field in dataclasses.fields(Settings) if field.init]
    assert {field.name: field.default for field in shared} == {
        field.name: parameters[field.name].default for field in shared
    }
    own = {"num_envs", "autoreset_mode", "num_threads", "copy"}
    assert set(parameters) - own == {field.name for field in shared}


def test_settings_are_checked_where_they_are_made() -> None:
    with pytest.raises(BoulangerError, match="deal_order='shuffled' is unknown"):
        Settings(deal_order="shuffled")
    given = Settings(n_cells=np.int64(2), deals=["ms-c1-9"], prune=np.True_, max_episode_steps=None)  # type: ignore[arg-type]
    assert (given.n_cells, given.prune, given.limit, given.size) == (2, True, 500, (960, 640))
    assert (type(given.n_cells), type(given.prune)) == (int, bool)
    assert given.source.codes == ("MS-C1-9",)


def test_a_spec_with_a_deal_set_goes_through_json() -> None:
    env = gym.make("Boulanger-C4-v0", deals=load("c4-test-100"), deal_order="sequential")
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.reset()[1]["code"] == env.reset()[1]["code"] == "BK1-C4-TSTAAAA"
