"""``actions``, ``auto_foundation`` and ``no_repeats`` against a plain reading of them, in every combination allowed."""

from __future__ import annotations

import copy
import pickle
from itertools import product
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from oracle import NAMINGS, Episode, Oracle, card_id
from support.batch_and_singles import MODES, Player, Singles, compare
from support.env_and_oracle import exact, game_of, masks_agree, same_position
from support.random_games import peer_games, random_code, random_endgame, random_start

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game, IllegalMoveError, Move
from boulanger_env.envs import CARD_ACTION_TABLE
from boulanger_env.envs.action_maps import CARDS, legal_cards, place_of
from boulanger_env.game.internal import rows_of
from boulanger_env.sb3 import BoulangerVecEnv

# Sums of these are exact.
WORTH = {"foundation": 10.0, "from_cell": 5.0, "step": -0.25, "illegal": -2.0, "win": 100.0, "stuck": -50.0}
SOLVED = [game["code"] for game in sorted(peer_games(), key=lambda game: len(game["moves"]))[:5]]
KEYWORDS = [
    {"actions": actions, "auto_foundation": auto, **more}
    for actions, auto, more in product(
        NAMINGS, (False, True), ({}, {"allow_undo": True}, {"no_repeats": True})
    )
]


def test_card_action_table() -> None:
    assert CARD_ACTION_TABLE.shape == (204, 2)
    assert CARD_ACTION_TABLE.dtype == np.int8
    assert not CARD_ACTION_TABLE.flags.writeable
    kinds = ["parent", "empty", "cell", "home"]
    for action, (card, kind) in enumerate(CARD_ACTION_TABLE.tolist()):
        assert card_id(card, kinds[kind]) == action


def name(keywords: dict[str, Any]) -> str:
    return " ".join([keywords["actions"], *(key for key, value in keywords.items() if value is True)])


def begin(random: Random, env: BoulangerEnv, keywords: dict[str, Any]) -> tuple[Episode, dict[str, Any]]:
    """An episode that is not over, and the info of its reset."""
    while True:
        n_cells, kind = random.choice((4, 4, 2, 1)), random.random()
        if kind < 0.3:
            code = random_code(random, "BK1", n_cells)
            episode = Episode(Oracle.from_code(code), **keywords)
            return episode, env.reset(options={"code": code})[1]
        oracle = random_start(random, "MS", n_cells) if kind < 0.6 else random_endgame(random, n_cells)
        if oracle.outcome is None:
            game = game_of(oracle)
            episode = Episode(oracle, **keywords)
            if episode.outcome is None:
                return episode, env.reset(options={"game": game})[1]


@pytest.mark.parametrize("prune", [False, True], ids=["", "prune"])
@pytest.mark.parametrize("keywords", KEYWORDS, ids=name)
def test_same_as_the_oracle(keywords: dict[str, Any], prune: bool) -> None:
    outcomes = walk({**keywords, "prune": prune}, 400)
    assert outcomes >= {"won", "stuck"}


def walk(keywords: dict[str, Any], steps: int, seed: object = 0) -> set[str]:
    """Random play with illegal actions and undo; returns the outcomes that were met."""
    random = Random(f"{keywords} {seed}")
    illegal = random.choice(["penalize", "terminate"])
    env = BoulangerEnv(reward=WORTH, max_episode_steps=10_000, illegal_action=illegal, **keywords)
    keywords = {**keywords, "worth": WORTH, "illegal_action": illegal}
    n_actions = NAMINGS[keywords["actions"]][1] + keywords.get("allow_undo", False)
    assert env.action_space == gym.spaces.Discrete(n_actions)
    done, outcomes = 0, set()
    while done < steps:
        episode, info = begin(random, env, keywords)
        terminated = False
        for _ in range(60):
            assert info["action_mask"].tolist() == episode.mask()
            assert masks_agree(env, info)
            assert (info["illegal_action"], info["outcome"]) == (
                info["illegal_action"] and not terminated,
                "",
            )
            assert same_position(env, episode.oracle)
            assert (info["score"], info["moves"]) == (episode.oracle.score, episode.oracle.moves)
            listed = np.flatnonzero(info["action_mask"]).tolist()
            allowed = episode.allowed(episode.oracle.legal())
            homes = [action for action, move in allowed.items() if move[1] == 9]
            # Cards go home rather than not, so that some games are won.
            action = random.choice(homes if homes and random.random() < 0.7 else listed)
            if random.random() < 0.05:
                action = random.randrange(n_actions)
            expected = episode.act(action)
            _, reward, terminated, truncated, info = env.step(action)
            assert (reward, info["illegal_action"]) == expected
            assert terminated is (episode.outcome is not None)
            assert not truncated
            done += 1
            if terminated:
                outcomes.add(info["outcome"])
                assert info["outcome"] == episode.outcome
                assert info["action_mask"].tolist() == episode.mask()
                assert masks_agree(env, info)
                assert same_position(env, episode.oracle)
                break
    return outcomes


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("keywords", KEYWORDS, ids=name)
def test_batches_play_like_singles(keywords: dict[str, Any], mode: Any) -> None:
    outcomes = set()
    for prune, deals in product([False, True], [None, SOLVED]):
        more: dict[str, Any] = {"prune": prune, "max_episode_steps": 9}
        if deals:
            more |= {"deals": deals, "deal_order": "sequential", "max_episode_steps": 150}
        illegal = "raise" if prune is False and deals is None else "penalize"
        batch = BoulangerVectorEnv(
            3, autoreset_mode=mode, reward=WORTH, illegal_action=illegal, **keywords, **more
        )
        singles = Singles(3, mode, reward=WORTH, illegal_action=illegal, **keywords, **more)
        player = Player(
            (keywords, mode, prune),
            3,
            batch.single_action_space.n,
            illegal=0.02 if deals else 0.1,
            auto_foundation=keywords.get("auto_foundation", False),
        )
        outcomes |= set(compare(batch, singles, player, 110 if deals else 40, 7))
    assert outcomes >= {"truncated", "stuck"}
    assert "won" in outcomes or keywords["actions"] == "taps" or "no_repeats" in keywords


def almost_won() -> Game:
    """All but two kings are home."""
    return Game.from_columns([[13], [26], [], [], [], [], [], []], [], [12, 12, 13, 13], 4)


@pytest.mark.parametrize("actions", NAMINGS)
def test_a_start_that_plays_itself_is_refused(actions: str) -> None:
    env = BoulangerEnv(auto_foundation=True, actions=actions)
    _, info = env.reset(seed=1)
    for options in ({"game": almost_won()}, {"board": str(almost_won())}):
        with pytest.raises(BoulangerError, match="won by foundation moves that play themselves"):
            env.reset(options=options)
    assert env.game.code == info["code"]
    assert BoulangerEnv(actions=actions).reset(options={"game": almost_won()})[1]["outcome"] == ""


def test_undo_of_nothing_of_ones_own_is_refused_in_words() -> None:
    code = next(
        f"MS-C4-{n}"
        for n in range(1, 100)
        if any(c[-1] % 13 == 1 for c in Game.from_code(f"MS-C4-{n}").columns)
    )
    env = BoulangerEnv(allow_undo=True, auto_foundation=True, illegal_action="raise")
    _, info = env.reset(options={"code": code})
    assert info["score"] == 10 * info["moves"] > 0
    with pytest.raises(IllegalMoveError, match="no move of the player's own is left to take back"):
        env.step(780)


def test_automatic_moves_count_as_moves_and_not_as_steps() -> None:
    random = Random(3)
    env = BoulangerEnv(auto_foundation=True, actions="cards", max_episode_steps=12, reward={"step": 1.0})
    for seed in range(30):
        _, info = env.reset(seed=seed)
        at_reset, total = info["moves"], 0.0
        assert info["score"] == 10 * at_reset
        for step in range(1, 13):
            _, reward, terminated, truncated, info = env.step(
                random.choice(np.flatnonzero(info["action_mask"]))
            )
            total += reward
            if terminated:
                break
            assert truncated is (step == 12)
        # Every action pays its step, and the score counts every card home.
        assert total == info["score"] + step
        assert info["moves"] == env.game.cards_home + step


# -- no_repeats -------------------------------------------------------------------------------------------------


def test_undo_and_no_repeats_exclude_each_other() -> None:
    for make in (BoulangerEnv, BoulangerVectorEnv, BoulangerVecEnv):
        with pytest.raises(BoulangerError, match="no_repeats=True and allow_undo=True exclude each other"):
            make(no_repeats=True, allow_undo=True)


def test_a_move_that_leads_back_is_refused_in_words() -> None:
    env = BoulangerEnv(no_repeats=True, illegal_action="raise", actions="cards")
    game = aces_in_cells()
    _, info = env.reset(options={"game": game})
    ace_to_empty, ace_to_cell = 48, 100
    assert info["action_mask"][ace_to_empty] == 1
    info = env.step(ace_to_empty)[-1]
    # Back to its cell, or on to another empty column, which is where it is.
    for action in (ace_to_cell, ace_to_empty):
        assert info["action_mask"][action] == 0
        with pytest.raises(
            IllegalMoveError, match="leads to a position that this episode has been in: no_rep"
        ):
            env.step(action)
    # A card goes home, and all is forgotten: the other ace may come and go once more.
    env.step(152)
    info = env.step(ace_to_empty + 13)[-1]
    assert info["action_mask"][ace_to_cell + 13] == 0
    assert env.step(153)[-1]["action_mask"][ace_to_cell + 13] == 1


def test_memory_grows_with_the_episode() -> None:
    """No card goes home for many hundred steps: nothing is forgotten, and nothing new is forbidden."""
    n, game = 3, aces_in_cells()
    randoms = [Random(seed) for seed in (0, 2, 10)]  # whose games last
    keywords: dict[str, Any] = {"no_repeats": True, "max_episode_steps": -1, "actions": "cards"}
    envs, batch = [BoulangerEnv(**keywords) for _ in range(n)], BoulangerVectorEnv(n, **keywords)
    infos = [env.reset(options={"game": game})[1] for env in envs]
    batch.reset(seed=0)
    for i in range(n):
        batch._give(i, game)
    been = [{game.position_key()} for _ in range(n)]
    for step in range(500):
        assert batch.action_masks().astype(np.int8).tolist() == [
            info["action_mask"].tolist() for info in infos
        ]
        actions = []
        for i, env in enumerate(envs):
            mask = infos[i]["action_mask"]
            board = rows_of(env.game).board
            legal = np.zeros(204, np.int8)
            legal_cards(board, legal, 0)
            for action in np.flatnonzero(legal[:152]).tolist() if step % 20 == 0 else ():
                after = env.game
                after.push(Move.from_id(int(place_of(board, action, CARDS))))
                assert mask[action] == (after.position_key() not in been[i])
            actions.append(randoms[i].choice(np.flatnonzero(mask[:152]).tolist()))
        batch.step(np.array(actions))
        for i, (env, action) in enumerate(zip(envs, actions, strict=True)):
            infos[i] = env.step(action)[-1]
            been[i].add(env.game.position_key())
            assert batch.game(i) == env.game
    assert [len(positions) for positions in been] == [501] * n
    for other in (copy.deepcopy(envs[0]), pickle.loads(pickle.dumps(envs[0]))):
        assert other.action_masks().tolist() == envs[0].action_masks().tolist()
        action = int(np.flatnonzero(other.action_masks())[0])
        assert exact(other.step(action)) == exact(copy.deepcopy(envs[0]).step(action))


def aces_in_cells() -> Game:
    """Four runs, from king to deuce, four empty columns, and the aces in cells."""
    columns = [list(range(suit * 13 + 13, suit * 13 + 1, -1)) for suit in range(4)]
    return Game.from_columns([*columns, [], [], [], []], [1, 14, 27, 40], [0, 0, 0, 0], 4)
