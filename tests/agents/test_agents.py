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
from support.random_games import random_endgame, random_start

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game, Move
from boulanger_env.agents import AGENTS, Agent, GreedyAgent, HeuristicAgent, RandomAgent, SolverAgent, make
from boulanger_env.agents.greedy import DIG_TO_CELL, preference
from boulanger_env.agents.lookahead import LOST, OPEN, WON, new_tree, search
from boulanger_env.agents.position_value import evaluate_position
from boulanger_env.deals import code_range
from boulanger_env.envs.observations import board_from_observation
from boulanger_env.game.hashing import position_hash
from boulanger_env.game.moves import TO_FOUNDATION
from boulanger_env.solver import solve

NAMES = tuple(AGENTS)
EASY = "BK1-C4-AAAAA24"
GOES_BACK = "MS-C4-342"
"""Here greedy reaches a position from which every move goes back to an earlier one."""

# The first deals that can be won with 4 cells.
SOLVABLE = tuple(f"MS-C4-{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 18))


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


def codes(count: int, n_cells: int = 4) -> tuple[str, ...]:
    return code_range(f"MS-C{n_cells}-101", count)


class TestMake:
    def test_the_agents_follow_the_protocol(self) -> None:
        for name in NAMES:
            agent = make(name, seed=1)
            assert isinstance(agent, Agent)
            assert agent.name == name

    def test_an_unknown_name(self) -> None:
        with pytest.raises(
            BoulangerError, match="no agent 'clever': the agents are random, greedy, heuristic, solver"
        ):
            make("clever")

    @pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", None, True])
    def test_a_bad_seed(self, seed: Any) -> None:
        with pytest.raises(BoulangerError, match="whole number"):
            make("random", seed)

    @pytest.mark.parametrize("nodes", [0, -1, 1.5, True, "100"])
    def test_a_bad_budget(self, nodes: Any) -> None:
        with pytest.raises(BoulangerError, match="whole number"):
            HeuristicAgent(nodes)


class TestSolver:
    @pytest.mark.parametrize("quality", ["any", "short", "shortest"])
    def test_it_wins_what_can_be_won(self, quality: str) -> None:
        agent = SolverAgent(quality)
        for code in SOLVABLE[:8]:
            agent.reset()
            game = Game.from_code(code)
            for action in moves_of(agent, code, 500):
                game.push(Move.from_id(action))
            assert game.is_won
            if quality == "shortest":
                assert game.moves == len(solve(Game.from_code(code), quality="shortest").moves)

    def test_it_plays_as_greedy_what_cannot_be_won(self) -> None:
        for code in ("MS-C4-10", "MS-C4-14"):
            assert moves_of(SolverAgent(), code) == moves_of(GreedyAgent(), code)

    def test_a_limit_that_comes_first(self) -> None:
        assert moves_of(SolverAgent(nodes=1), SOLVABLE[0]) == moves_of(GreedyAgent(), SOLVABLE[0])

    @pytest.mark.parametrize("options", [{"quality": "best"}, {"nodes": 0}])
    def test_bad_options(self, options: dict[str, Any]) -> None:
        with pytest.raises(BoulangerError):
            SolverAgent(**options)


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
            if over.any():  # a game that has ended gets any action and does not affect the others
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
        for games, slots, words in (
            ([1, 2], [0], "2 games for 1 slots"),
            ([-1], [0], "games .* whole numbers from 0"),
            ([1], [-1], "slots .* whole numbers from 0"),
            ([1], [2**40], "slots .* to 16777215"),
            ([1.5], [0], "games .* whole numbers from 0"),
        ):
            with pytest.raises(BoulangerError, match=words):
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

    def test_games_without_numbers_continue(self) -> None:
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
    for code in (*codes(20, n_cells), GOES_BACK):
        repeats = 0
        seen: set[bytes] = set()
        for game, action in positions(agent, code, 200):
            seen.add(game.position_key())
            if after(game, action) in seen:
                repeats += 1
                assert all(after(game, move.id) in seen for move in game.legal_moves())
    if name == "greedy":
        assert repeats > 0


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
        """How far each card has risen: 0 on another card, 1 in a cell, 2 first of its column, 3 on its parent,
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
        text = """
            Foundations: H-9 C-9 D-8 S-9
            Freecells: JH KC - -
            : KH QH
            : QD TS
            : KS JS
            : QS
            : 9D KD JD TD
            : TH TC QC JC
            :
            :
        """
        game = Game.from_text(text)
        kinds = {str(move): int(preference(game._board, move.id)) >> 8 for move in game.legal_moves()}
        in_order = ["2h", "a1", "34", "57v2", "b7", "3f", "57"]
        assert [kinds[move] for move in in_order] == list(range(7))
        assert {move for move, kind in kinds.items() if kind == DIG_TO_CELL} == {"2f", "3f"}
        assert [kinds[move] for move in ("17v2", "47", "5f", "67")] == [DIG_TO_CELL + 1] * 4

        env = BoulangerEnv(observation="cards")
        observation, info = env.reset(options={"game": game})
        agent, played = GreedyAgent(), []
        for _ in range(5):
            action = agent(observation, info["action_mask"], info)
            played.append(str(Move.from_id(action)))
            observation, *_, info = env.step(action)
        assert played == ["2h", "3h", "4h", "3h", "a1"]


class TestHeuristic:
    def test_it_wins_many_of_the_games_that_can_be_won_and_more_with_more_nodes(self) -> None:
        assert make("heuristic").name == "heuristic"
        wins = []
        for nodes in (1, 400):
            agent = HeuristicAgent(nodes)
            assert agent.name == f"heuristic-{nodes}"
            played = [list(positions(agent, code, 300))[-1] for code in SOLVABLE]
            wins.append(sum(game.cards_home == 51 for game, _ in played))
        assert wins[1] >= len(SOLVABLE) // 2 > wins[0]

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
                observation, _, terminated, truncated, info = env.step(
                    agent(observation, info["action_mask"], info)
                )
                over = terminated or truncated
            if status == WON:
                won += 1
                assert info["outcome"] == "won"
        assert won > 10


def look(game: Game, nodes: int, avoid: NDArray[np.uint64] | None = None) -> tuple[int, list[int]]:
    """A search from a game after its foundation moves: status and path."""
    avoid = np.zeros(0, np.uint64) if avoid is None else avoid
    tree = new_tree(nodes, len(avoid))
    start = after_foundation_moves(game)
    status, length = search(start._board, start.legal_mask(prune=True), avoid, len(avoid), nodes, tree)
    return int(status), tree.path[:length].tolist()


def after_foundation_moves(game: Game) -> Game:
    game = game.copy()
    while home := [move for move in game.legal_moves() if move.destination == TO_FOUNDATION]:
        game.push(home[0])
    return game


class TestSearch:
    def test_a_path_to_a_win_wins(self) -> None:
        random = Random(9)
        found = 0
        for _ in range(60):
            start = random_endgame(random, random.choice((4, 2, 1)))
            game = Game.from_columns(start.columns, start.cells, start.home, len(start.cells))
            status, path = look(game, 500)
            for action in path:
                game = after_foundation_moves(game)
                game.push(Move.from_id(action))
            if status == WON:
                found += 1
                assert after_foundation_moves(game).is_won
        assert found > 20

    def test_games_that_cannot_be_won_are_seen_to_be_lost(self) -> None:
        lost = 0
        for number in range(1, 11):  # none of them can be won with one cell
            game = Game.from_code(f"MS-C1-{number}")
            status, path = look(game, 2000)
            assert status != WON
            if status == LOST:
                lost += 1
                for action in path:
                    game = after_foundation_moves(game)
                    game.push(Move.from_id(action))
        assert lost > 5

    def test_positions_to_be_avoided_are_not_entered(self) -> None:
        game = after_foundation_moves(Game.from_code(EASY))
        status, path = look(game, 1)
        assert status == OPEN
        assert len(path) == 1
        entered = {move.id: hash_after(game, move) for move in game.legal_moves()}
        _, other = look(game, 1, np.array([entered[path[0]]], np.uint64))
        assert other != path
        assert look(game, 5, np.array(list(entered.values()), np.uint64)) == (LOST, [])


def hash_after(game: Game, move: Move) -> int:
    game = game.copy()
    game.push(move)
    return int(position_hash(after_foundation_moves(game)._board))


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
        assert evaluate_position(shuffled._board) == evaluate_position(game._board)
    assert len(seen) == len(set(seen.values()))


def test_the_board_of_an_observation_is_the_board() -> None:
    game = Game.from_code(EASY)
    for kind in ("cards", "features"):
        observation, _ = BoulangerEnv(observation=kind).reset(options={"code": EASY})
        assert (board_from_observation(observation) == game._board).all()
