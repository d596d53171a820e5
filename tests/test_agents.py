"""The agents: legal play, batch equal to single, seeds, memory, and what each promises."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from oracle import Oracle
from scipy import stats
from walks import random_endgame, random_start

from boulanger_env import BoulangerError, BoulangerEnv, BoulangerVectorEnv, Game, Move
from boulanger_env.agents import AGENTS, Agent, GreedyAgent, HeuristicAgent, RandomAgent, make
from boulanger_env.agents.evaluation import evaluate_position
from boulanger_env.agents.greedy import DIG_TO_CELL, preference
from boulanger_env.agents.lookahead import LOST, OPEN, WON, new_tree, play, search
from boulanger_env.agents.positions import position_hash
from boulanger_env.deals import code_range
from boulanger_env.envs.observations import board_from_observation

NAMES = tuple(AGENTS)
EASY = "BK1-C4-AAAAA24"


def moves_of(agent: Agent, code: str, limit: int = 150, **settings: Any) -> list[int]:
    """The actions of one game, each checked against the mask."""
    env = BoulangerEnv(max_episode_steps=limit, **settings)
    observation, info = env.reset(options={"code": code})
    actions = []
    over = False
    while not over:
        action = agent(observation, info["action_mask"], info)
        assert isinstance(action, int)
        assert info["action_mask"][action] == 1
        actions.append(action)
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    return actions


def codes(count: int, n_cells: int = 4, scheme: str = "MS") -> tuple[str, ...]:
    return code_range(f"MS-C{n_cells}-101" if scheme == "MS" else f"BK1-C{n_cells}-BOULANG", count)


class TestMake:
    def test_the_agents_follow_the_protocol(self) -> None:
        for name in NAMES:
            agent = make(name, seed=1)
            assert isinstance(agent, Agent)
            assert agent.name == name

    def test_an_unknown_name(self) -> None:
        with pytest.raises(BoulangerError, match="no agent 'clever': the agents are random, greedy, heuristic"):
            make("clever")

    @pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", None, True])
    def test_a_bad_seed(self, seed: Any) -> None:
        with pytest.raises(BoulangerError, match="whole number"):
            make("random", seed)

    @pytest.mark.parametrize("nodes", [0, -1, 1.5, True, "100"])
    def test_a_bad_budget(self, nodes: Any) -> None:
        with pytest.raises(BoulangerError, match="whole number"):
            HeuristicAgent(nodes)


@pytest.mark.parametrize("name", NAMES)
class TestEveryAgent:
    @pytest.mark.parametrize("n_cells", [4, 2, 1])
    def test_both_observations_give_the_same_legal_moves(self, name: str, n_cells: int) -> None:
        agent = make(name, seed=5)
        for code in codes(6, n_cells):
            agent.reset()
            cards = moves_of(agent, code, observation="cards")
            agent.reset()
            assert moves_of(agent, code, observation="features") == cards

    def test_a_batch_plays_what_single_games_play(self, name: str) -> None:
        n, rounds = 9, 60
        deals = codes(n)
        envs = BoulangerVectorEnv(n, observation="cards", autoreset_mode=AutoresetMode.DISABLED)
        observation, info = envs.reset(options={"codes": list(deals)})
        together = make(name, seed=8)
        batch: list[list[int]] = [[] for _ in deals]
        over = np.zeros(n, np.bool_)
        for _ in range(rounds):
            actions = together(observation, info["action_mask"], info)
            assert actions.dtype == np.int64
            for i in np.flatnonzero(~over):
                batch[i].append(int(actions[i]))
            if over.any():  # what has ended plays something, far from the others
                envs.reset(options={"codes": [EASY] * n, "reset_mask": over})
                actions[over] = 728
            observation, _, terminated, truncated, info = envs.step(actions)
            over |= terminated | truncated
            if over.all():
                break
        for game, code in enumerate(deals):
            alone = make(name, seed=8)
            alone.reset(games=game)
            assert moves_of(alone, code, rounds)[: len(batch[game])] == batch[game]

    def test_a_seed_gives_the_same_games_again(self, name: str) -> None:
        agent = make(name, seed=3)
        first = [moves_of(agent, code) for code in codes(4)]
        agent.seed(3)
        assert [moves_of(agent, code) for code in codes(4)] == first
        assert [moves_of(agent, code) for code in codes(4)] == [moves_of(agent, code) for code in codes(4)] or (
            name == "random"
        )

    def test_the_mask_is_obeyed_where_it_allows_less(self, name: str) -> None:
        random, agent = np.random.default_rng(4), make(name)
        env = BoulangerEnv(observation="cards")
        for code in codes(5):
            observation, info = env.reset(options={"code": code})
            for _ in range(30):
                mask = info["action_mask"]
                fewer = mask * (random.random(780) < 0.4)
                if not fewer.any():
                    fewer = mask
                action = agent(observation, fewer, info)
                assert fewer[action]
                observation, _, terminated, _, info = env.step(action)
                if terminated:
                    break

    @pytest.mark.parametrize("width", [780, 781])
    def test_a_finished_game_gets_some_action(self, name: str, width: int) -> None:
        won = Game.from_columns([[]] * 8, foundations=(13,) * 4)
        boards = {
            "tableau": np.zeros((2, 8, 19), np.uint8),
            "cells": np.zeros((2, 4), np.uint8),
            "foundations": np.full((2, 4), 13, np.uint8),
        }
        assert won.is_won
        actions = make(name)(boards, np.ones((2, width), np.int8), {"moves": np.array([80, 80])})
        assert ((actions >= 0) & (actions < width)).all()

    def test_masks_of_another_kind_are_refused(self, name: str) -> None:
        agent, env = make(name), BoulangerEnv()
        observation, info = env.reset(seed=0)
        for mask in (np.ones(204), np.ones((2, 3, 780)), np.array(1)):
            with pytest.raises(BoulangerError, match="a mask of shape"):
                agent(observation, mask, info)
        with pytest.raises(BoulangerError, match="zeros"):
            agent(observation, np.zeros(780, np.int8), info)

    def test_games_must_fit_their_slots(self, name: str) -> None:
        for games, slots in (([1, 2], [0]), ([-1], [0]), ([1], [-1])):
            with pytest.raises(BoulangerError, match="one number from 0 up"):
                make(name).reset(games=games, slots=slots)


class TestRandom:
    def test_moves_are_uniform(self) -> None:
        env = BoulangerEnv()
        observation, info = env.reset(options={"code": EASY})
        legal = np.flatnonzero(info["action_mask"])
        n = 300 * len(legal)
        masks = np.tile(info["action_mask"], (n, 1))
        counts = np.bincount(make("random", seed=1)(observation, masks, {}), minlength=780)
        assert counts.sum() == counts[legal].sum()
        assert stats.chisquare(counts[legal]).pvalue > 1e-3

    def test_a_game_depends_on_its_number_and_the_seed_alone(self) -> None:
        agent = RandomAgent()
        agent.seed(11)
        played = []
        for game in (7, 3, 7, 8):
            agent.reset(games=[game], slots=[0])
            played.append(moves_of(agent, EASY))
        assert played[0] == played[2]
        assert len({tuple(game) for game in played}) == 3
        agent.seed(12)
        agent.reset(games=[7], slots=[0])
        assert moves_of(agent, EASY) != played[0]

    def test_games_go_on_where_nobody_numbers_them(self) -> None:
        agent = make("random", seed=2)
        assert moves_of(agent, EASY) != moves_of(agent, EASY)

    def test_undo_is_drawn_too(self) -> None:
        agent = make("random", seed=0)
        assert 780 in [a for code in codes(5) for a in moves_of(agent, code, allow_undo=True)]


def positions(agent: Agent, code: str, limit: int, **settings: Any) -> Iterator[tuple[Game, int]]:
    """Each position of a game, and the action that the agent chose there."""
    game = Game.from_code(code)
    for action in moves_of(agent, code, limit, **settings):
        yield game.copy(), action
        game.push(Move.from_id(action))


def after(game: Game, action: int) -> bytes:
    game = game.copy()
    game.push(Move.from_id(action))
    return game.position_key()


@pytest.mark.parametrize("name", ["greedy", "heuristic"])
@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_a_position_comes_twice_only_where_every_move_repeats(name: str, n_cells: int) -> None:
    agent: Agent = GreedyAgent() if name == "greedy" else HeuristicAgent(20)
    repeats = 0
    for code in codes(25, n_cells):
        seen: set[bytes] = set()
        for game, action in positions(agent, code, 200):
            seen.add(game.position_key())
            if after(game, action) in seen:
                repeats += 1
                assert all(after(game, move.id) in seen for move in game.legal_moves())
    if name == "greedy" and n_cells == 4:
        assert repeats > 0, "this test should meet a position in which all moves go back"


@pytest.mark.parametrize("name", ["greedy", "heuristic"])
def test_undo_is_left_to_others(name: str) -> None:
    agent = make(name)
    for code in codes(3):
        agent.reset()
        without = moves_of(agent, code)
        agent.reset()
        assert moves_of(agent, code, allow_undo=True) == without


class TestGreedy:
    @staticmethod
    def height_of_cards(oracle: Oracle) -> list[int]:
        """For each card how far it has risen: 0 on another card, 1 in a cell, 2 first of its column, 3 on its parent,
        4 home."""
        risen = [4] * 53
        for card in oracle.cells:
            risen[card] = 1
        for column in oracle.columns:
            for place, card in enumerate(column):
                if place == 0:
                    risen[card] = 2
                else:
                    risen[card] = 3 if column[place - 1] == card + 1 and card % 13 else 0
        return risen[1:]

    def test_its_first_six_kinds_of_moves_lift_a_card_and_lower_none(self) -> None:
        random = Random(1)
        kinds: set[int] = set()
        for i in range(300):
            n_cells = random.choice((4, 2, 1))
            start = random_endgame(random, n_cells) if i % 2 else random_start(random, "MS", n_cells)
            for _ in range(30):
                legal = start.legal()
                if not legal:
                    break
                game = Game.from_columns(start.columns, start.cells, start.home, n_cells)
                before = self.height_of_cards(start)
                for move in legal:
                    kind = int(preference(game._board, Move(*move).id)) >> 8
                    child = start.copy()
                    child.push(move)
                    change = np.subtract(self.height_of_cards(child), before)
                    if kind <= DIG_TO_CELL:
                        kinds.add(kind)
                        assert change.min() == 0
                        assert change.max() > 0
                start.push(random.choice(legal))
        assert kinds == set(range(DIG_TO_CELL + 1))

    def test_the_order_of_preference(self) -> None:
        board = """
            Foundations: H-0 C-0 D-0 S-A
            Freecells: 3H KC
            : 5D 2S
            : 9S 4H
            : 7C 6C
            : 9H 8C
            :
        """
        rest = [c for c in range(1, 53) if c not in (1, 2, 16, 52, 31, 9, 17, 46, 45, 22, 47)]
        rest_rows = [rest[:14], rest[14:28], rest[28:]]
        text = board + "\n".join(": " + " ".join(_name(c) for c in row) for row in rest_rows)
        game = Game.from_text(text)
        agent = GreedyAgent()
        env = BoulangerEnv(observation="cards")
        observation, info = env.reset(options={"game": game})
        played = []
        for _ in range(3):
            action = agent(observation, info["action_mask"], info)
            played.append(str(Move.from_id(action)))
            observation, *_, info = env.step(action)
        assert played[:2] == ["1h", "a2"]


def _name(card: int) -> str:
    return "A23456789TJQK"[(card - 1) % 13] + "SHDC"[(card - 1) // 13]


class TestHeuristic:
    def test_it_wins_most_of_the_games_that_can_be_won(self) -> None:
        # All of these can be won; see tests/data.
        agent = HeuristicAgent()
        won = 0
        for code in SOLVABLE:
            game = Game.from_code(code)
            for action in moves_of(agent, code, 300):
                game.push(Move.from_id(action))
            won += game.is_won
        assert won >= len(SOLVABLE) // 2

    def test_more_nodes_win_more(self) -> None:
        wins = []
        for nodes in (1, 400):
            agent = HeuristicAgent(nodes)
            assert agent.name == f"heuristic-{nodes}"
            total = 0
            for code in SOLVABLE:
                game = Game.from_code(code)
                for action in moves_of(agent, code, 300):
                    game.push(Move.from_id(action))
                total += game.is_won
            wins.append(total)
        assert wins[1] > wins[0]

    def test_a_search_that_wins_is_played_to_the_win(self) -> None:
        random, agent = Random(3), HeuristicAgent(300)
        won = 0
        for _ in range(40):
            start = random_endgame(random, 4)
            game = Game.from_columns(start.columns, start.cells, start.home)
            if game.outcome is not None:
                continue
            env = BoulangerEnv(observation="cards")
            observation, info = env.reset(options={"game": game})
            status, _ = look(game, 300)
            over = False
            while not over:
                observation, _, terminated, truncated, info = env.step(agent(observation, info["action_mask"], info))
                over = terminated or truncated
            if status == WON:
                won += 1
                assert info["outcome"] == "won"
        assert won > 10


SOLVABLE = tuple(f"MS-C4-{number}" for number in (1, 2, 3, 4, 5, 7, 8, 10, 12, 13, 15, 16, 17, 18, 19, 21))


def look(game: Game, nodes: int, avoid: NDArray[np.uint64] | None = None) -> tuple[int, list[int]]:
    """A search from a game after its foundation moves: status and path."""
    board = game._board.copy()
    send_home(board)
    tree = new_tree(nodes, 64)
    given = np.zeros(0, np.uint64) if avoid is None else avoid
    legal = Game(board, *Game.from_code(EASY).__getstate__()[1:3]).legal_mask(prune=True)
    status, length = search(board, legal, given, len(given), nodes, tree)
    return int(status), tree.path[:length].tolist()


def send_home(board: NDArray[np.uint8]) -> None:
    from boulanger_env.agents.lookahead import home_action

    action = int(home_action(board))
    if action >= 0:
        play(board, action)


class TestSearch:
    def test_a_path_to_a_win_wins(self) -> None:
        random = Random(9)
        found = 0
        for _ in range(60):
            start = random_endgame(random, random.choice((4, 2, 1)))
            game = Game.from_columns(start.columns, start.cells, start.home, len(start.cells))
            status, path = look(game, 500)
            board = game._board.copy()
            send_home(board)
            for action in path:
                copy = Game(board, *Game.from_code(EASY).__getstate__()[1:3])
                assert copy.is_legal(Move.from_id(action))
                play(board, action)
            if status == WON:
                found += 1
                assert board[156:160].tolist() == [13] * 4
        assert found > 20

    def test_a_game_that_cannot_be_won_is_seen_to_be_lost(self) -> None:
        # Every ace lies under its two, and nothing can move: one cell, no empty column.
        text = """
            Freecells: KS
            : AS 3S 2S
            : AH 3H 2H
            : AD 3D 2D
            : AC 3C 2C
            : 4S 6S 8S TS QS 4H 6H 8H TH QH
            : 5S 7S 9S JS 5H 7H 9H JH KH
            : 4D 6D 8D TD QD 4C 6C 8C TC QC
            : 5D 7D 9D JD KD 5C 7C 9C JC KC
        """
        game = Game.from_text(text, n_cells=1)
        status, path = look(game, 1000)
        assert status in (LOST, OPEN)
        assert status == LOST
        assert all(isinstance(action, int) for action in path)

    def test_positions_to_be_avoided_are_not_entered(self) -> None:
        game = Game.from_code(EASY)
        status, path = look(game, 1)
        assert status == OPEN
        board = game._board.copy()
        play(board, path[0])
        avoid = np.array([position_hash(board)], np.uint64)
        _, other = look(game, 1, avoid)
        assert other
        assert other != path
        every = [after_hash(game, move.id) for move in game.legal_moves()]
        assert look(game, 5, np.array(every, np.uint64)) == (LOST, [])


def after_hash(game: Game, action: int) -> int:
    board = game._board.copy()
    play(board, action)
    return int(position_hash(board))


def test_hashes_are_those_of_positions() -> None:
    random = Random(5)
    seen: dict[int, bytes] = {}
    for _ in range(200):
        start = random_endgame(random, 4)
        game = Game.from_columns(start.columns, start.cells, start.home)
        key = int(position_hash(game._board))
        assert seen.setdefault(key, game.position_key()) == game.position_key()
        order = random.sample(range(8), 8)
        shuffled = Game.from_columns(
            [start.columns[i] for i in order], random.sample(start.cells, 4), start.home
        )
        assert int(position_hash(shuffled._board)) == key
        assert evaluate_position(shuffled._board) == pytest.approx(evaluate_position(game._board))
    assert len(seen) == len(set(seen.values()))


def test_the_board_of_an_observation_is_the_board() -> None:
    game = Game.from_code(EASY)
    for kind in ("cards", "features"):
        observation, _ = BoulangerEnv(observation=kind).reset(options={"code": EASY})
        assert (board_from_observation(observation) == game._board).all()
