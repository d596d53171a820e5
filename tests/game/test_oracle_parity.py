"""Random play, step by step the same in the package and in the oracle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from oracle import ID, UNDO_DEPTH, Oracle, Triple
from support.paths import ROOT, TESTS
from support.random_games import N_CARD_BYTES, encode, new_rows, random_code, random_move, random_start

from boulanger_env.game import Game, IllegalMoveError, Move, kernels
from boulanger_env.game.state import MOVES, SCORE, new_state

CASES = [(scheme, n_cells) for scheme in ("BK1", "MS") for n_cells in (4, 2, 1)]
KERNEL_STEPS = 10_000  # of each case; with --slow 400,000
GAME_STEPS = 1_000
KEYS_KEPT = 50_000


def same_partition(
    pairs: dict[object, bytes], back: dict[bytes, object], ours: object, theirs: bytes
) -> bool:
    """Whether two kinds of keys still divide the positions seen into the same classes."""
    if ours not in pairs and theirs not in back:
        if len(pairs) < KEYS_KEPT:
            pairs[ours] = theirs
            back[theirs] = ours
        return True
    return pairs.get(ours) == theirs and back.get(theirs) == ours


def as_mask(moves: list[Triple]) -> bytes:
    """Moves as the bytes of a mask."""
    mask = bytearray(780)
    for move in moves:
        mask[ID[move]] = 1
    return bytes(mask)


def shuffled(random: Random, oracle: Oracle) -> Oracle:
    """The same position with its columns and its cells in another order."""
    columns, cells = list(oracle.columns), list(oracle.cells)
    random.shuffle(columns)
    random.shuffle(cells)
    return Oracle(columns, cells, oracle.home)


def walk_kernels(scheme: str, n_cells: int, steps: int, seed: str) -> int:
    """Random legal moves and undos on a state's rows, everything compared at every step."""
    random = Random(seed)
    pairs: dict[object, bytes] = {}
    back: dict[bytes, object] = {}
    mask, pruned = np.ones(780, np.int8), np.ones(780, np.int8)
    key, other_key = np.empty(53, np.uint8), np.empty(53, np.uint8)
    scratch = new_state()[0]
    done = 0
    while done < steps:
        oracle = random_start(random, scheme, n_cells)
        board, counters, history = new_rows(oracle)
        boldness = random.choice([0, 0, 0.3, 0.9])
        undo_share = random.choice([0, 0.05, 0.3])
        undoing = 0
        for _ in range(min(random.choice([40, 150, 400]), steps - done)):
            legal = oracle.legal()
            context = (oracle.columns, oracle.cells, oracle.home)
            assert board[:N_CARD_BYTES].tobytes() == encode(oracle), context
            # What is kept beside the cards is what a look at the cards alone would find.
            scratch[:N_CARD_BYTES] = board[:N_CARD_BYTES]
            scratch[N_CARD_BYTES:] = 255
            kernels.reindex(scratch)
            assert scratch.tobytes() == board.tobytes(), context
            assert (counters[SCORE], counters[MOVES]) == (oracle.score, oracle.moves), context
            count = kernels.legal_moves(board, mask, False)
            assert mask.tobytes() == as_mask(legal), context
            assert count == len(legal)
            count = kernels.legal_moves(board, pruned, True)
            kept = oracle.pruned(legal)
            assert pruned.tobytes() == as_mask(kept), context
            assert count == len(kept)
            assert bool(kept) == bool(legal), "pruning leaves no move only where there is none"
            kernels.position_key(board, key)
            assert same_partition(pairs, back, oracle.key(), key.tobytes()), context
            if random.random() < 0.02:
                kernels.position_key(new_rows(shuffled(random, oracle))[0], other_key)
                assert other_key.tobytes() == key.tobytes(), context
                for action in random.sample(range(780), 20):
                    reason = kernels.why_illegal(board, action)
                    assert (reason == kernels.LEGAL) == bool(mask[action]), f"{context}: {action}"
            done += 1

            if not legal and random.random() < 0.5:
                undoing = random.choice([1, 5, UNDO_DEPTH + 1])
            elif random.random() < undo_share:
                undoing = random.choice([1, 1, 1, 3, 20, UNDO_DEPTH + 1])
            if undoing:
                undoing -= 1
                move = oracle.undo()
                action = kernels.pop(board, counters, history)
                assert action == (-1 if move is None else ID[move]), context
                undoing = 0 if move is None else undoing
            elif legal:
                move = random_move(random, legal, boldness)
                before = oracle.score
                oracle.push(move)
                event = kernels.push(board, counters, history, ID[move])
                assert kernels.POINTS[event] == oracle.score - before, context
                assert kernels.last_action(counters, history) == ID[move]
            else:
                break
    return done


def walk_game(scheme: str, n_cells: int, steps: int, seed: str) -> int:
    """The same through `Game`, by its public names only."""
    random = Random(seed)
    done = 0
    while done < steps:
        if random.random() < 0.5:
            code = random_code(random, scheme, n_cells)
            oracle, game = Oracle.from_code(code), Game.from_code(code.lower())
            assert game.code == code
        else:
            oracle = random_start(random, scheme, n_cells)
            game = Game.from_columns(oracle.columns, oracle.cells, oracle.home, n_cells)
            assert game.code is None
        boldness = random.choice([0, 0.3, 0.9])
        for _ in range(min(random.choice([40, 250]), steps - done)):
            legal = oracle.legal()
            assert game.columns == tuple(map(tuple, oracle.columns))
            assert game.cells == tuple(oracle.cells)
            assert game.foundations == tuple(oracle.home)
            assert (game.n_cells, game.score, game.moves) == (n_cells, oracle.score, oracle.moves)
            assert game.legal_moves() == legal
            assert np.flatnonzero(game.legal_mask()).tolist() == [ID[move] for move in legal]
            assert np.flatnonzero(game.legal_mask(prune=True)).tolist() == [
                ID[m] for m in oracle.pruned(legal)
            ]
            assert game.outcome == oracle.outcome
            assert game.is_won == (oracle.outcome == "won")
            assert game.is_stuck == (oracle.outcome == "stuck")
            assert game.last_move == (oracle.past[-1][-1] if oracle.past else None)
            source = random.randrange(12)
            assert game.double_tap_move(source) == oracle.double_tap_move(source)
            done += 1

            if random.random() < 0.1 or not legal:
                for _ in range(random.choice([1, 1, 4, UNDO_DEPTH + 1])):
                    move = oracle.undo()
                    if move is not None:
                        undone = game.undo()
                        assert undone == move
                        assert isinstance(undone, Move)
                        continue
                    with pytest.raises(IllegalMoveError, match="undo"):
                        game.undo()
                    break
            else:
                move = random_move(random, legal, boldness)
                assert game.notation(Move(*move)) == oracle.notation(move)
                assert game.parse_move(oracle.notation(move)) == move
                oracle.push(move)
                game.push(Move(*move))
    return done


@pytest.mark.parametrize(("scheme", "n_cells"), CASES)
def test_kernels(scheme: str, n_cells: int) -> None:
    assert walk_kernels(scheme, n_cells, KERNEL_STEPS, f"{scheme}{n_cells}") == KERNEL_STEPS


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "n_cells"), CASES)
def test_kernels_millions(scheme: str, n_cells: int) -> None:
    for part in range(20):
        walk_kernels(scheme, n_cells, 20_000, f"slow {scheme}{n_cells} {part}")


@pytest.mark.parametrize(("scheme", "n_cells"), CASES)
def test_game(scheme: str, n_cells: int) -> None:
    assert walk_game(scheme, n_cells, GAME_STEPS, f"game {scheme}{n_cells}") == GAME_STEPS


def test_without_compilation() -> None:
    """The same source as plain Python: a sum that only wraps round, or only widens, when compiled would show."""
    program = (
        "import test_oracle_parity as parity\n"
        "for scheme, n_cells in parity.CASES[::2]:\n"
        "    parity.walk_kernels(scheme, n_cells, 100, 'plain kernels')\n"
        "    parity.walk_game(scheme, n_cells, 25, 'plain game')\n"
    )
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, TESTS, Path(__file__).parent))),
    }
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_undo_reaches_back_100_moves() -> None:
    """A card that goes back and forth between its cell and its parent makes any number of moves."""
    spades, hearts, diamonds, clubs = ([suit * 13 + rank for rank in range(13, 0, -1)] for suit in range(4))
    columns = [spades, hearts[:-6], hearts[-5:], diamonds, clubs, [], [], []]
    game = Game.from_columns(columns, [hearts[-6]])
    oracle = Oracle([list(column) for column in columns], [hearts[-6], 0, 0, 0], [0, 0, 0, 0])
    moves = [(8, 1, 1), (1, 8, 1)] * 65
    for move in moves:
        oracle.push(move)
        game.push(Move(*move))
    assert (game.score, game.moves) == (oracle.score, oracle.moves) == (65 * 5, 130)
    assert [game.undo() for _ in range(UNDO_DEPTH)] == moves[:29:-1]
    assert (game.score, game.moves) == (15 * 5, 30)
    assert game.last_move is None
    position = game.copy()
    for _ in range(2):
        with pytest.raises(IllegalMoveError):
            game.undo()
    assert game == position
    assert (game.score, game.moves) == (75, 30)
    game.push(Move(8, 1))
    assert game.undo() == (8, 1, 1)


def test_a_new_move_after_undo_continues_from_there() -> None:
    game = Game.from_code("MS-C4-1")
    first, second = game.legal_moves()[:2]
    game.push(first)
    game.push(game.legal_moves()[0])
    game.undo()
    game.undo()
    game.push(second)
    assert game.last_move == second
    assert game.moves == 1
    assert game.undo() == second
    assert game == Game.from_code("MS-C4-1")
    with pytest.raises(IllegalMoveError):
        game.undo()
