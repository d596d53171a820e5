"""A game driven in every possible way, in any order, alongside the oracle."""

from __future__ import annotations

import copy
import pickle
from random import Random

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from oracle import ID, MOVES, UNDO_DEPTH, Oracle, code_of
from support.random_games import random_endgame

from boulanger_env.game import Game, IllegalMoveError, Move

deals = st.one_of(
    st.tuples(st.just("BK1"), st.sampled_from([4, 2, 1]), st.integers(0, 2**35 - 1)),
    st.tuples(st.just("MS"), st.sampled_from([4, 2, 1]), st.integers(1, 2**33 - 1)),
)


class GameBesideOracle(RuleBasedStateMachine):
    """Each rule does the same to both; the invariants compare all that can be seen of them."""

    game: Game
    oracle: Oracle

    @initialize(deal=deals)
    def deal(self, deal: tuple[str, int, int]) -> None:
        self.oracle = Oracle.from_code(code_of(*deal))
        self.game = Game.from_code(code_of(*deal))

    @initialize(seed=st.integers(0, 2**32), n_cells=st.sampled_from([4, 2, 1]))
    def endgame(self, seed: int, n_cells: int) -> None:
        self.oracle = random_endgame(Random(seed), n_cells)
        self.game = Game.from_columns(self.oracle.columns, self.oracle.cells, self.oracle.home, n_cells)

    @precondition(lambda self: self.oracle.outcome is None)
    @rule(pick=st.integers(0, 10**6))
    def push(self, pick: int) -> None:
        legal = self.oracle.legal()
        move = legal[pick % len(legal)]
        self.game.push(Move(*move))
        self.oracle.push(move)

    @precondition(lambda self: self.oracle.outcome is None)
    @rule(pick=st.integers(0, 10**6))
    def push_in_notation(self, pick: int) -> None:
        legal = self.oracle.legal()
        move = legal[pick % len(legal)]
        self.game.push(self.game.parse_move(self.oracle.notation(move)))
        self.oracle.push(move)

    @rule(pick=st.integers(0, 10**6), count=st.integers(1, 120))
    def push_many(self, pick: int, count: int) -> None:
        random = Random(pick)
        for _ in range(count):
            legal = self.oracle.legal()
            if not legal:
                break
            move = random.choice(legal)
            self.game.push(Move(*move))
            self.oracle.push(move)

    @rule(count=st.one_of(st.just(1), st.integers(1, UNDO_DEPTH + 2)))
    def undo(self, count: int) -> None:
        for _ in range(count):
            move = self.oracle.undo()
            if move is None:
                with pytest.raises(IllegalMoveError):
                    self.game.undo()
                break
            assert self.game.undo() == move

    @rule(source=st.integers(0, 11))
    def tap(self, source: int) -> None:
        move = self.oracle.tap_move(source)
        assert self.game.tap(source) == move
        if move:
            self.oracle.push(move)

    @rule(source=st.integers(0, 11))
    def double_tap(self, source: int) -> None:
        move = self.oracle.double_tap_move(source)
        assert self.game.double_tap(source) == move
        if move:
            self.oracle.push(move)

    @rule(action=st.integers(0, 779))
    def push_anything(self, action: int) -> None:
        move = MOVES[action]
        if move in self.oracle.legal():
            self.game.push(Move(*move))
            self.oracle.push(move)
            return
        with pytest.raises(IllegalMoveError) as caught:
            self.game.push(Move(*move))
        assert str(Move(*move)) in str(caught.value)

    @rule(move=st.tuples(st.integers(-2, 13), st.integers(-2, 11), st.integers(-1, 14)))
    def push_nonsense(self, move: tuple[int, int, int]) -> None:
        if move not in ID:
            with pytest.raises(IllegalMoveError):
                self.game.push(Move(*move))

    @rule(kind=st.sampled_from(["copy", "deepcopy", "pickle", "text"]))
    def go_on_with_a_copy(self, kind: str) -> None:
        left = self.game
        if kind == "text":
            again = Game.from_text(str(left), left.n_cells)
            assert again == left
            assert (again.score, again.moves, again.last_move) == (0, 0, None)
            return
        if kind == "copy":
            self.game = left.copy()
        else:
            self.game = copy.deepcopy(left) if kind == "deepcopy" else pickle.loads(pickle.dumps(left))
        assert self.game == left
        assert self.game.code == left.code
        # What happens to the original must not show in the copy.
        for _ in range(3):
            legal = left.legal_moves()
            if legal:
                left.push(legal[-1])

    @invariant()
    def same_position(self) -> None:
        game, oracle = self.game, self.oracle
        assert game.columns == tuple(map(tuple, oracle.columns))
        assert game.cells == tuple(oracle.cells)
        assert game.n_cells == len(oracle.cells)
        assert game.foundations == tuple(oracle.home)
        assert (game.score, game.moves) == (oracle.score, oracle.moves)
        assert game.score >= 0
        assert game.last_move == (oracle.past[-1][-1] if oracle.past else None)

    @invariant()
    def same_choices(self) -> None:
        game, oracle = self.game, self.oracle
        legal = oracle.legal()
        assert game.legal_moves() == legal
        assert np.flatnonzero(game.legal_mask()).tolist() == [ID[move] for move in legal]
        assert np.flatnonzero(game.legal_mask(prune=True)).tolist() == [
            ID[move] for move in oracle.pruned(legal)
        ]
        assert game.outcome == oracle.outcome
        assert (game.is_won, game.is_stuck) == (oracle.outcome == "won", oracle.outcome == "stuck")


TestGameBesideOracle = GameBesideOracle.TestCase
TestGameBesideOracle.settings = settings(max_examples=60, stateful_step_count=25)


@pytest.mark.slow
def test_for_longer() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(GameBesideOracle, settings=settings(max_examples=3000, stateful_step_count=60))
