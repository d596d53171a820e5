"""Arrays and rows that are not a game's, and threads that share an object: an error each, never a crash."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest
from support.hostile_arrays import attack, is_board, names

from boulanger_env import (
    BoulangerEnv,
    BoulangerError,
    BoulangerVectorEnv,
    DealSet,
    Game,
    InvalidBoardError,
    agents,
    deals,
    sample_legal,
)
from boulanger_env.envs import N_FEATURES, board_from_observation
from boulanger_env.game.state import CELLS, HEIGHTS, HISTORY_SIZE, SCORE, UNDO_HEAD, UNDO_LENGTH
from boulanger_env.game.validity import is_position
from boulanger_env.solver import verdicts
from boulanger_env.wrappers import MaskInObservation

FEW = 300


@pytest.mark.parametrize("door", names())
def test_hostile_arrays(door: str) -> None:
    seen = attack(door, 1, FEW)
    assert seen["taken"] >= FEW // 20
    assert seen["refused"] >= FEW // 40


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("door", names())
def test_many_hostile_arrays(door: str, seed: int) -> None:
    attack(door, 2 + seed, 50_000 // len(names()))


# -- what ended in a segmentation fault, or never ----------------------------------------------------------------

CRASHES = {
    "all bits": "for _ in range(300): refused(lambda: board_from_observation(np.ones(2076, np.uint8)))",
    "samples of the space": """
env = BoulangerEnv()
_, info = env.reset(seed=1)
env.observation_space.seed(1)
agent = agents.make("solver")
for _ in range(200): refused(lambda: agent(env.observation_space.sample(), info["action_mask"], info))""",
    "scaled cards": """
observation, info = BoulangerEnv(observation="cards").reset(seed=1)
scaled = {**observation, "tableau": observation["tableau"] * 4}
for _ in range(200): refused(lambda: agents.make("heuristic")(scaled, info["action_mask"], info))""",
    "cards of 60": """
observation, info = BoulangerEnv(observation="cards").reset(seed=1)
wrong = {**observation, "tableau": np.full((8, 19), 60)}
refused(lambda: agents.make("solver")(wrong, info["action_mask"], info))""",
    "rows": """
board, counters, history, _ = Game.from_code("MS-C4-1").__getstate__()
for _ in range(200): refused(lambda: Game(np.full_like(board, 200), counters, history).legal_moves())
counters[2] = 90
for _ in range(200): refused(lambda: [Game(board, counters, history + 1000).undo() for _ in range(90)])""",
}


@pytest.mark.parametrize("name", CRASHES)
def test_crashes(name: str) -> None:
    script = f"""
import numpy as np
from boulanger_env import BoulangerEnv, Game, InvalidBoardError, agents
from boulanger_env.envs import board_from_observation
def refused(call):
    try:
        call()
    except InvalidBoardError:
        return
    raise SystemExit("not refused")
{CRASHES[name]}
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


# -- observations --------------------------------------------------------------------------------------------------


def cards(**changes: Any) -> dict[str, Any]:
    observation, _ = BoulangerEnv(observation="cards").reset(options={"code": "MS-C4-1"})
    assert isinstance(observation, dict)
    return {**observation, **changes}


TABLEAU = cards()["tableau"]


@pytest.mark.parametrize(
    ("observation", "words"),
    [
        (np.ones(N_FEATURES, np.uint8), "gap"),
        (np.zeros(N_FEATURES), "4, 2 or 1"),
        (np.full(N_FEATURES, 2), "2 in it: 'features' are 0 and 1"),
        (np.full(N_FEATURES, 0.5), "0.5 is not a whole number"),
        (np.full(N_FEATURES, np.nan), "nan is not a whole number"),
        (np.zeros(5), r"shape \(5,\)"),
        ("cards", "'cards'"),
        (None, "None"),
        (cards(tableau=TABLEAU * 4), "is not a card id"),
        (cards(tableau=TABLEAU.astype(int) + 256), "is not a whole number from 0 to 255"),
        (cards(tableau=TABLEAU[:, ::-1]), "gap"),
        (cards(tableau=TABLEAU[:7]), "tableau of shape"),
        (cards(tableau=np.where(TABLEAU == 1, 2, TABLEAU)), "missing AS; doubled 2S|missing AS, doubled 2S"),
        (cards(cells=[0, 0, 0]), "cells of shape"),
        (cards(cells=[0, 53, 0, 0]), "4, 2 or 1"),
        (cards(cells=[53] * 4), "4, 2 or 1"),
        (cards(cells=[54, 0, 0, 0]), "54 is not a card id"),
        (cards(foundations=[14, 0, 0, 0]), "rank 14"),
        (cards(foundations=[1, 0, 0, 0]), "doubled AS"),
        ({"cells": np.zeros(4)}, "no 'tableau'"),
    ],
)
def test_observations(observation: Any, words: str) -> None:
    with pytest.raises(InvalidBoardError, match=words):
        board_from_observation(observation)
    _, info = BoulangerEnv().reset(seed=1)
    for name in ("greedy", "heuristic", "solver"):
        with pytest.raises(InvalidBoardError, match=words):
            agents.make(name)(observation, info["action_mask"], info)


def test_of_a_batch_the_wrong_game_is_named() -> None:
    observation, _ = BoulangerVectorEnv(4, observation="cards").reset(seed=1)
    assert isinstance(observation, dict)
    observation["tableau"][2] = 0
    with pytest.raises(InvalidBoardError, match=r"game 2: .*missing AS"):
        board_from_observation(observation)


def test_other_types_of_the_same_numbers_are_accepted() -> None:
    expected = board_from_observation(cards())
    for kind in (np.int64, np.float32, bool, "O"):
        bits = BoulangerEnv().reset(options={"code": "MS-C4-1"})[0]
        assert isinstance(bits, np.ndarray)
        if kind != "O":
            assert (board_from_observation(bits.astype(kind)) == expected).all()
    assert (board_from_observation(cards(tableau=TABLEAU.astype(np.int64))) == expected).all()
    assert (board_from_observation(cards(tableau=TABLEAU.tolist())) == expected).all()


def test_a_column_that_could_outgrow_its_room_is_refused() -> None:
    tableau = np.zeros((8, 19), np.uint8)
    king = [*range(2, 10), 26]  # eight spades, then the king of hearts: 12 more may come
    rest = [card for card in range(52, 0, -1) if card not in king]
    for i, column in enumerate([king, *(rest[i::7] for i in range(7))]):
        tableau[i, : len(column)] = column
    with pytest.raises(InvalidBoardError, match="column 1 could grow to 21 cards"):
        board_from_observation(cards(tableau=tableau))


# -- rows of a game --------------------------------------------------------------------------------------------------


def played() -> Game:
    game = Game.from_code("MS-C4-1")
    for text in ("6a", "6b", "6c"):
        game.push(game.parse_move(text))
    return game


def change(**places: Any) -> Callable[[Game], tuple[Any, ...]]:
    """The rows of a game with some entries changed: ``board_152=3``."""

    def rows(game: Game) -> tuple[Any, ...]:
        named = {"board": game._board, "counters": game._counters, "history": game._history}
        for place, value in places.items():
            name, index = place.split("_")
            named[name][int(index)] = value
        return tuple(named.values())

    return rows


ROWS = {
    "a card doubled": change(board_0=3),
    "a card above 52": change(board_0=200),
    "a height": change(**{f"board_{HEIGHTS}": 40}),
    "a top card": change(**{f"board_{HEIGHTS + 8}": 3}),
    "a run": change(**{f"board_{HEIGHTS + 16}": 9}),
    "cells": change(**{f"board_{CELLS + 3}": 53}),
    "more steps than kept": change(**{f"counters_{UNDO_LENGTH}": HISTORY_SIZE + 1}),
    "fewer steps than 0": change(**{f"counters_{UNDO_LENGTH}": -1}),
    "steps never made": change(**{f"counters_{UNDO_LENGTH}": 4}),
    "a place outside": change(**{f"counters_{UNDO_HEAD}": HISTORY_SIZE}),
    "another place": change(**{f"counters_{UNDO_HEAD}": 2}),
    "points never made": change(**{f"counters_{SCORE}": -1}),
    "no action": change(history_2=1023),
    "no card": change(history_2=729),
    "another move": change(history_2=5 | 3 << 10),
    "another type": lambda game: (game._board, game._counters.astype(np.int64), game._history),
    "another shape": lambda game: (game._board, game._counters, game._history[:50]),
    "not writable": lambda game: (
        np.frombuffer(game._board.tobytes(), np.uint8),
        game._counters,
        game._history,
    ),
    "lists": lambda game: (game._board.tolist(), game._counters, game._history),
    "nothing": lambda game: (None, None, None),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name: str) -> None:
    rows = ROWS[name](played())
    with pytest.raises(InvalidBoardError):
        Game(*rows)
    if name != "not writable":  # a pickle's rows are copied
        with pytest.raises(InvalidBoardError):
            played().__setstate__((*rows, None))


def test_rows_of_a_game_in_play_are_taken() -> None:
    game = Game.from_code("MS-C2-29")
    for _ in range(150):
        moves = game.legal_moves()
        if not moves:
            break
        game.push(moves[-1])
        assert Game(game._board, game._counters, game._history) == game
        assert pickle.loads(pickle.dumps(game)) == game


def test_a_position_is_what_the_rules_say() -> None:
    random = np.random.default_rng(3)
    for _ in range(400):
        board = played()._board
        for _ in range(random.integers(3)):
            board[random.integers(HEIGHTS)] = random.integers([2, 54, 256][random.integers(3)])
        if is_position(board):
            assert is_board(board)
        elif is_board(board):  # only a column that is too tall is refused beside
            assert any(board[19 * c + 6] for c in range(8))


# -- copies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, Game.copy, lambda game: pickle.loads(pickle.dumps(game))]
)
def test_copies_of_a_game_are_games_of_their_own(make: Callable[[Game], Game]) -> None:
    game = played()
    before = str(game)
    other = make(game)
    other.push(other.legal_moves()[0])
    assert (str(game), game.moves, game.last_move) == (before, 3, game.parse_move("6c"))
    game.undo()
    assert other.moves == 4


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_of_environments_and_agents_too(make: Callable[[Any], Any]) -> None:
    env, batch = BoulangerEnv(), BoulangerVectorEnv(2)
    env.reset(seed=1)
    batch.reset(seed=1)
    agent = agents.make("greedy")
    agent.reset(games=[0])
    for one in (env, batch):
        other = make(one)
        before = one.action_masks().tolist()
        for _ in range(3):
            other.step(728 if one is env else [728, 728])
        assert one.action_masks().tolist() == before
    other = make(agent)
    observation, info = env.reset(seed=1)
    other(observation, info["action_mask"], info)
    assert agent._visited.lengths.tolist() == [0]


# -- threads -------------------------------------------------------------------------------------------------------


def in_another_thread(call: Callable[[], Any]) -> str:
    """What a call raises there, or ""."""
    said: list[str] = []

    def run() -> None:
        try:
            call()
            said.append("")
        except BoulangerError as error:
            said.append(str(error))

    thread = Thread(target=run)
    thread.start()
    thread.join()
    return said[0]


def test_what_another_thread_is_using_is_refused() -> None:
    env, batch, agent, game = (
        BoulangerEnv(render_mode="ansi"),
        BoulangerVectorEnv(2),
        agents.make("greedy"),
        played(),
    )
    observation, info = env.reset(seed=1)
    batch.reset(seed=1)
    cards_env = MaskInObservation(BoulangerEnv(actions="cards"))
    cards_env.reset(seed=1)
    doors: list[tuple[Any, Callable[[], Any]]] = [
        (env, lambda: env.step(728)),
        (env, lambda: env.reset(seed=1)),
        (env, lambda: env.game),
        (env, env.render),
        (batch, lambda: batch.step([728, 728])),
        (batch, lambda: batch.reset(seed=1)),
        (batch, lambda: batch.game(0)),
        (batch, batch.action_masks),
        (agent, lambda: agent(observation, info["action_mask"], info)),
        (agent, agent.reset),
        (game, lambda: game.push(game.legal_moves()[0])),
        (game, game.undo),
        (game, game.copy),
        (game, lambda: pickle.dumps(game)),
        (cards_env.unwrapped, lambda: cards_env.step(0)),
    ]
    for owner, call in doors:
        with owner._turn:
            assert "another thread is using" in in_another_thread(call)
        assert in_another_thread(call) == ""  # one after the other is fine
    assert env.step(729)[4]["moves"] == 1


def test_an_error_ends_the_turn() -> None:
    env = BoulangerEnv()
    env.reset(seed=1)
    with pytest.raises(BoulangerError):
        env.step("x")
    assert in_another_thread(lambda: env.step(728)) == ""


THREADS = """
import sys
from threading import Thread
import numpy as np
from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game
sys.setswitchinterval(1e-6)
env, batch, game = BoulangerEnv(), BoulangerVectorEnv(50), Game.from_code("MS-C4-1")
env.reset(seed=1)
batch.reset(seed=1)
refused = []

def play(seed):
    random = np.random.default_rng(seed)
    for _ in range(3000):
        try:
            masks = batch.action_masks()
            batch.step(masks.argmax(axis=1))
            _, _, terminated, truncated, _ = env.step(int(random.choice(np.flatnonzero(env.action_masks()))))
            if terminated or truncated:
                env.reset()
            moves = game.legal_moves()
            game.undo() if not moves or random.random() < 0.3 and game.moves else game.push(moves[0])
        except (BoulangerError, RuntimeError) as error:
            refused.append(str(error))

threads = [Thread(target=play, args=(seed,)) for seed in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert any("another thread is using" in text for text in refused), set(refused)
print("done")
"""


def test_threads_that_share_an_environment_do_not_crash() -> None:
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


# -- the rest ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "deck",
    [
        list(range(52)),
        list(range(1, 52)),
        [*range(1, 52), 52.5],
        [*range(1, 52), "KC"],
        [*range(1, 52), None],
        [*range(1, 52), 308],
        np.arange(1, 53).reshape(4, 13),
        {*range(1, 53)},
        iter(range(1, 53)),
        None,
        "A" * 52,
    ],
    ids=lambda deck: str(type(deck)),
)
def test_decks(deck: Any) -> None:
    with pytest.raises(InvalidBoardError):
        Game.from_deck(deck)
    with pytest.raises(InvalidBoardError):
        verdicts([deck] if isinstance(deck, list) else deck, 4)  # type: ignore[arg-type]


def test_decks_of_other_types_are_accepted() -> None:
    deck = np.arange(1, 53)
    expected = Game.from_deck(deck.tolist())
    for other in (deck.astype(np.float64), deck.astype(np.int8), deck.astype(">i4"), np.repeat(deck, 2)[::2]):
        assert Game.from_deck(other) == expected  # type: ignore[arg-type]
        assert verdicts(other[None], 4)[0].shape == (1,)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (([True, True], [3, 3], [1]), "labels, not 1, in nodes"),
        (([True, 2], [3, 3], [1, 1]), "solvable .* from 0 to 1"),
        (([True, True], [3, -3], [1, 1]), "length .* from 0 to 999"),
        (([True, True], [3, 1000], [1, 1]), "length .* from 0 to 999"),
        (([True, True], [3.0, 3.0], [1, 1]), "length"),
        (([True, True], ["a", "b"], [1, 1]), "length"),
        (([True, False], [3, 3], [1, 1]), "length must be 0"),
        (([True, True], [3, 3]), "they are the arrays solvable, length, nodes"),
        (7, "are not labels"),
    ],
)
def test_labels(labels: Any, words: str) -> None:
    with pytest.raises(BoulangerError, match=f"deal set 'two': .*{words}"):
        DealSet("two", ["MS-C4-1", "MS-C4-2"], labels)


def test_labels_that_fit_are_kept_and_cannot_be_changed() -> None:
    solvable = np.array([True, False])
    labels = DealSet("two", ["MS-C4-1", "MS-C4-2"], deals.Labels(solvable, [80, 0], [9, 9])).labels  # type: ignore[arg-type]
    assert labels is not None
    assert labels.lines() == ["80 9", "- 9"]
    solvable[0] = False
    assert labels.solvable.tolist() == [True, False]
    with pytest.raises(ValueError, match="read-only"):
        labels.solvable[0] = False


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.full(780, 2, np.int8), "holds"),
        (np.full(780, -1, np.int8), "holds"),
        (np.full(780, np.nan), "nan"),
        (np.full(780, 0.5), "0.5"),
        (["a"] * 780, "mask"),
        ([[1], [2, 3]], "does not make an array"),
        (None, "mask"),
    ],
    ids=repr,
)
def test_masks(mask: Any, words: str) -> None:
    with pytest.raises(BoulangerError, match=words):
        sample_legal(mask, np.zeros(1, np.uint64))
    observation, info = BoulangerEnv().reset(seed=1)
    for name in agents.AGENTS:
        with pytest.raises(BoulangerError, match=words):
            agents.make(name)(observation, mask, info)


@pytest.mark.parametrize(
    "info",
    [None, {"moves": [0, 0]}, {"moves": "a"}, {"moves": None}, {"moves": 0.0}, {"moves": [[1], [2, 3]]}],
)
def test_infos(info: Any) -> None:
    observation, shown = BoulangerEnv().reset(seed=1)
    for name in agents.AGENTS:
        with pytest.raises(BoulangerError, match="info"):
            agents.make(name)(observation, shown["action_mask"], info)


def test_random_states_in_any_order_advance() -> None:
    masks = np.ones((3, 780), bool)
    plain = np.arange(3, dtype=np.uint64)
    strided = np.repeat(np.arange(3, dtype=np.uint64), 2)[::2]
    assert sample_legal(masks, plain).tolist() == sample_legal(masks, strided).tolist()
    assert plain.tolist() == strided.tolist()
    plain.flags.writeable = False
    with pytest.raises(BoulangerError, match="writable"):
        sample_legal(masks, plain)
