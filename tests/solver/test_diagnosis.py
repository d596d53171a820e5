"""``diagnose`` against a plain loop of ``solve`` over the positions of a game and their children."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from boulanger_env import BoulangerEnv, Game, Move
from boulanger_env.agents import make
from boulanger_env.cli import app
from boulanger_env.deals import load
from boulanger_env.game import BoulangerError
from boulanger_env.game.moves import UNDO
from boulanger_env.replay import Replay, replay_of
from boulanger_env.solver import SOLVED, diagnose, solve

START = "MS-C4-617"
GOOD, BAD = "2f", "1f"  # first moves that keep and lose the win of that deal


def ids(*texts: str) -> list[int]:
    return [Move.parse(text).id for text in texts]


def wins(game: Game, move: Move) -> bool:
    after = game.copy()
    after.push(move)
    return after.is_won or solve(after).status is SOLVED


def random_game(code: str, random: Random) -> list[int]:
    """A game that keeps the win more often than chance does, so that it is lost late."""
    game, actions = Game.from_code(code), []
    while game.outcome is None and len(actions) < 60:
        moves = game.legal_moves()
        home = [move for move in moves if move.destination == 9]
        move = random.choice(home or moves)
        if random.random() < 0.8:
            solution = solve(game)
            move = solution.moves[0] if solution.moves else move
        game.push(move)
        actions.append(move.id)
    return actions


@pytest.mark.parametrize(
    "code", ["MS-C4-617", "MS-C4-1", "MS-C4-11982", "MS-C4-30", "MS-C2-29", "MS-C1-1012", "BK1-C4-TSTAAAI"]
)
def test_every_verdict_is_that_of_a_plain_loop(code: str) -> None:
    actions = random_game(code, Random(code))
    found = diagnose(Game.from_code(code), actions)
    assert [decision.step for decision in found.decisions] == list(range(1, len(actions) + 1))
    game = Game.from_code(code)
    lost_at = None
    for decision, action in zip(found.decisions, actions, strict=True):
        move = Move.from_id(action)
        assert (decision.move, decision.text, decision.before) == (move, game.notation(move), game)
        verdicts = {legal: wins(game, legal) for legal in game.legal_moves()}
        assert decision.winning == tuple(legal for legal, won in verdicts.items() if won)
        assert decision.losing == tuple(legal for legal, won in verdicts.items() if not won)
        assert not decision.undecided
        assert decision.winnable is any(verdicts.values())
        mistake = decision.winnable and not verdicts[move]
        assert decision.is_mistake is mistake
        lost_at = decision.step if mistake else lost_at
        game.push(move)
    assert found.winnable is (game.is_won or solve(game).status is SOLVED)
    assert (found.losing_move.step if found.losing_move else None) == lost_at
    assert found.undecided == 0


def test_games_that_agents_lose_have_one_losing_move() -> None:
    lost = 0
    agent = make("greedy")
    env = BoulangerEnv(deals=load("c4-test").codes[:25], deal_order="sequential", max_episode_steps=100)
    for code in load("c4-test").codes[:25]:
        observation, info = env.reset()
        over, actions = False, []
        while not over:
            actions.append(int(agent(observation, info["action_mask"], info)))
            observation, _, terminated, truncated, info = env.step(actions[-1])
            over = terminated or truncated
        found = diagnose(Game.from_code(code), actions)
        if found.winnable is False:
            lost += 1
            assert found.mistakes == (found.losing_move,)
            assert found.losing_move is not None
            # What it could have played instead does win.
            assert all(wins(found.losing_move.before, move) for move in found.losing_move.winning)
    assert lost > 10


def test_shortest_solution_gets_one_move_shorter_at_each_step() -> None:
    deals = load("c2-test")
    start = Game.from_code(deals[0])
    solution = solve(start, quality="shortest")
    found = diagnose(start, [move.id for move in solution.moves], fewest=True)
    assert deals.labels is not None
    fewest = int(deals.labels.length[0])
    assert [decision.fewest for decision in found.decisions] == list(range(fewest, 0, -1))
    assert (found.winnable, found.losing_move, found.mistakes) == (True, None, ())


def test_undone_mistake_loses_nothing() -> None:
    start = Game.from_code(START)
    found = diagnose(start, [*ids(BAD), UNDO, *ids(GOOD)])
    assert found.winnable
    assert found.losing_move is None
    assert [decision.step for decision in found.mistakes] == [1]
    assert [decision.step for decision in found.decisions] == [1, 3]
    again = diagnose(start, [*ids(GOOD), UNDO, *ids(BAD), UNDO, *ids(BAD)])
    assert again.losing_move is not None
    assert again.losing_move.step == 5


def test_illegal_actions_are_not_decisions() -> None:
    found = diagnose(Game.from_code(START), [*ids("1h"), *ids(BAD), *ids("1h")])
    assert [decision.step for decision in found.decisions] == [2]
    assert found.losing_move is not None


def test_limit_leaves_open_what_it_did_not_decide() -> None:
    found = diagnose(Game.from_code(START), ids(GOOD, BAD), node_limit=1)
    assert found.winnable is None
    assert found.losing_move is None
    assert found.undecided == 2
    assert all(decision.undecided for decision in found.decisions)


def test_lost_from_the_start() -> None:
    start = Game.from_code("MS-C2-1")
    found = diagnose(start, [start.legal_moves()[0].id])
    assert (found.winnable, found.losing_move, found.choices) == (False, None, 0)


def test_nothing_played() -> None:
    assert diagnose(Game.from_code(START), []) == diagnose(Game.from_code(START), iter(()))
    assert diagnose(Game.from_code(START), []).winnable


@pytest.mark.parametrize("bad", [{"node_limit": 0}, {"node_limit": -1}, {"memory_limit": 0}])
def test_bad_limits_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(BoulangerError, match=next(iter(bad))):
        diagnose(Game.from_code(START), [], **bad)


def test_only_games_are_diagnosed() -> None:
    with pytest.raises(BoulangerError, match="diagnose"):
        diagnose("MS-C4-1", [])  # type: ignore[arg-type]


# -- the command ------------------------------------------------------------------------------------------------


def run(*words: str) -> str:
    result = CliRunner().invoke(app, ["diagnose", *words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def games(tmp_path: Path) -> Path:
    start = Game.from_code(START)
    replay_of(start, ids(GOOD, BAD), agent="a\x1b[31m").save(tmp_path / "1-lost.json")
    replay_of(start, [move.id for move in solve(start).moves]).save(tmp_path / "2-won.json")
    replay_of(start, ids(GOOD)).save(tmp_path / "3-left.json")
    hopeless = Game.from_code("MS-C2-1")
    replay_of(hopeless, [hopeless.legal_moves()[0].id]).save(tmp_path / "4-hopeless.json")
    return tmp_path


def test_command_names_the_losing_move_and_a_win(games: Path) -> None:
    output = run(str(games / "1-lost.json"))
    assert "lost at step 2 of 2: 1b" in output
    assert "\x1b" not in output
    kept, win = (line.split(": ")[1].split() for line in output.splitlines()[2:])
    game = Game.from_code(START)
    game.push(Move.parse(GOOD))
    assert [game.notation(move) for move in game.legal_moves() if wins(game, move)] == kept
    for text in win:
        game.push(game.parse_move(text))
    assert game.is_won


def test_command_counts_over_several_games(games: Path) -> None:
    output = run(str(games))
    assert "It can still be won." in output
    assert "It could not be won: " in output
    assert output.splitlines()[-1].startswith("4 games, 1 lost by a move; 1 mistake")


def test_command_lists_decisions(games: Path) -> None:
    replay = Replay.load(games / "2-won.json")
    lines = run(str(games / "2-won.json"), "--steps").splitlines()
    rows = [line.split() for line in lines if line.strip()[:1].isdigit()]
    assert [row[1] for row in rows] == replay.notation()
    assert run(str(games / "1-lost.json"), "--fewest").splitlines()[-1].endswith("lost")


def test_command_with_a_limit(games: Path) -> None:
    assert "not decided within the limit" in run(str(games / "1-lost.json"), "--nodes", "1")
