"""Replays: a file gives back what was played, and what cannot have been played is rejected."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.random_games import peer_games
from support.sample_replays import lost, won

from boulanger_env import BoulangerEnv, BoulangerError, Game, Move
from boulanger_env.render import episode
from boulanger_env.replay import Annotation, Replay, ReplayError, replay_of
from boulanger_env.replay.recording import check_games


def content(replay: Replay) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(replay.to_json())
    return found


def refused(found: dict[str, Any]) -> str:
    """Why a replay with this content is not read."""
    with pytest.raises(ReplayError) as caught:
        Replay.from_json(json.dumps(found))
    return str(caught.value)


# -- what comes back --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [won, lost])
def test_a_replay_comes_back_from_its_file(make: Any, tmp_path: Path) -> None:
    replay = make()
    path = tmp_path / "game.json"
    replay.save(path)
    again = Replay.load(path)
    assert again == replay
    assert again.to_json() == replay.to_json() == path.read_text()
    assert again.end == replay.end


def test_the_end_is_that_of_the_rules() -> None:
    for solved in peer_games()[:5]:
        replay = replay_of(Game.from_code(solved["code"]), [Move(*move).id for move in solved["moves"]])
        assert (replay.outcome, replay.end.score) == ("won", solved["score"])


def test_the_recorded_episode_is_the_environments() -> None:
    replay = lost()
    assert 780 in replay.actions
    env = BoulangerEnv(allow_undo=True)
    env.reset(options={"code": "MS-C4-12"})
    illegal = 0
    for action, reward in zip(replay.actions, replay.rewards or (), strict=True):
        _, given, _, _, info = env.step(action)
        assert given == reward
        illegal += info["illegal_action"]
    assert illegal > 2
    assert info["outcome"] == replay.outcome == "stuck"


def test_the_file_is_for_people_too() -> None:
    lines = won().to_json().splitlines()
    assert lines[1] == ' "format": "boulanger-env replay 1",'
    assert lines[2] == ' "code": "MS-C4-1",'
    assert len(lines) == 9
    assert str(won()).splitlines()[0] == "# MS-C4-1 · a solver"
    assert str(won()).splitlines()[1] == "6a 6b 6h 6h bh 7b 7c 7d 7h 3h"
    assert str(won()).splitlines()[-1] == "# won: 52 cards home, score 545, 86 moves"


def test_a_name_cannot_command_a_terminal() -> None:
    """Nor can it reverse the words next to it, or add a line."""
    name = "x\x1b]0;title\x07\n# won\u202e\ud800é"
    shown = str(dataclasses.replace(won(), agent=name)).splitlines()
    assert shown[0] == "# MS-C4-1 · x\\x1b]0;title\\x07\\n# won\\u202e\\ud800é"
    assert shown[1:] == str(won()).splitlines()[1:]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "game.json").write_text(won().to_json(), encoding="utf-8-sig")
    assert Replay.load(tmp_path / "game.json") == won()


def test_a_long_text_is_not_quoted_whole() -> None:
    found = content(won())
    del found["code"]
    assert len(refused({**found, "board": "x" * 10**6, "n_cells": 4})) < 600


def test_settings_are_written_out() -> None:
    settings = content(lost())["settings"]
    assert settings == {
        "reward": {"foundation": 10, "from_cell": 5, "win": 0, "step": 0, "illegal": -1, "stuck": 0},
        "illegal_action": "penalize",
        "auto_foundation": False,
        "no_repeats": False,
        "allow_undo": True,
        "prune": False,
        "max_episode_steps": 500,
    }


def test_an_episode_that_began_in_the_middle() -> None:
    game = Game.from_code("MS-C4-1")
    for text in ["6a", "6b", "6h"]:
        game.push(game.parse_move(text))
    env = BoulangerEnv(allow_undo=True, max_episode_steps=4)
    env.reset(options={"game": game})
    rewards = tuple(env.step(action)[1] for action in (780, 780, 780, 780))
    assert rewards == (-10, 0, 0, -1)
    replay = Replay(game, (780,) * 4, "truncated", rewards, {"allow_undo": True, "max_episode_steps": 4})
    assert content(replay)["before"] == [733, 733, 741]
    assert Replay.from_json(replay.to_json()) == replay
    assert replay.end == Game.from_code("MS-C4-1")


def test_a_board_without_a_code() -> None:
    board = Game.from_text(str(Game.from_code("MS-C2-617")), 2)
    replay = replay_of(board, [728])
    found = content(replay)
    assert (found["board"], found["n_cells"]) == (str(board), 2)
    assert "code" not in found
    assert Replay.from_json(replay.to_json()) == replay


def test_a_board_that_only_claims_a_code() -> None:
    game = Game.from_code("MS-C4-1")
    game = Game(game._board, game._counters, game._history, "MS-C4-2")
    assert "code" not in content(replay_of(game, []))


def game_with_a_long_past() -> tuple[Game, Move]:
    """A game of more than 100 moves, one move before it is won, and that move."""
    solved = next(game for game in peer_games() if len(game["moves"]) > 101)
    game = Game.from_code(solved["code"])
    for move in solved["moves"][:-1]:
        game.push(Move(*move))
    return game, Move(*solved["moves"][-1])


def test_a_game_whose_history_has_run_over() -> None:
    """Undo reaches back 100 moves; the score and number of those before are in the file."""
    game, last = game_with_a_long_past()
    replay = replay_of(game, [last.id])
    found = content(replay)
    assert (len(found["before"]), "code" in found, replay.outcome) == (100, False, "won")
    first = game.copy()
    for _ in range(100):
        first.undo()
    assert (found["score_before"], found["moves_before"]) == (first.score, first.moves)
    assert first.score > 0
    again = Replay.from_json(replay.to_json())
    assert again == replay
    for one in (replay, again):
        assert (one.start.score, one.start.moves) == (game.score, game.moves)
        assert (one.end.score, one.end.moves) == (game.score + 10, game.moves + 1)


def test_an_episode_from_a_long_game_counts_as_its_environment() -> None:
    game, _ = game_with_a_long_past()
    env = BoulangerEnv(allow_undo=True)
    env.reset(options={"game": game})
    actions = (780,) * 102
    rewards = tuple(env.step(action)[1] for action in actions)
    replay = Replay(game, actions, None, rewards, {"allow_undo": True})
    for one in (replay, Replay.from_json(replay.to_json())):
        assert (one.end.score, one.end.moves) == (env.game.score, env.game.moves)


def test_points_before_a_whole_deal() -> None:
    """A game can come back to its deal with points: its code says where the cards lie, not what was scored."""
    deal = Game.from_code("MS-C4-11")
    game = deal.copy()
    for _ in range(60):
        for text in ("1a", "a1"):
            game.push(game.parse_move(text))
    assert game == deal
    replay = Replay.from_json(replay_of(game, []).to_json())
    assert (replay.end.score, replay.end.moves) == (game.score, game.moves) == (300, 120)
    assert content(replay)["code"] == deal.code


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_rewards_and_actions_may_be_arrays(kind: Any) -> None:
    """A single zero is a reward, not a missing one."""
    game = Game.from_code("MS-C4-1")
    settings = {"reward": "score"}
    for actions, rewards in (([733], [0]), ([733, 733, 741], [0, 0, 10])):
        plain = Replay(game, tuple(actions), None, tuple(rewards), settings)
        given = Replay(game, np.array(actions), None, np.array(rewards, kind), settings)  # type: ignore[arg-type]
        assert given == plain
        assert given.to_json() == plain.to_json()
    for wrong in (np.array([[0]]), np.array([True]), np.array([np.nan]), np.array(["0"])):
        with pytest.raises(ReplayError, match=r"reward 1: .* is not a finite number"):
            Replay(game, (733,), None, wrong, settings)  # type: ignore[arg-type]
    noted = np.array([None, Annotation(note="x")], object)
    both = Replay(game, np.array([733, 733]), annotations=noted)  # type: ignore[arg-type]
    assert episode(game, both.actions, annotations=noted)["thoughts"] == both.to_episode()["thoughts"]  # type: ignore[arg-type]
    for argument in ({"outcome": np.array(["won", "won"])}, {"settings": np.array([1, 2])}):
        with pytest.raises(ReplayError):
            Replay(game, (733,), **argument)  # type: ignore[arg-type]
    with pytest.raises(BoulangerError, match="games to record"):
        check_games(np.array([1, 2]))  # type: ignore[arg-type]
    empty = np.array([])
    assert Replay(game, empty, None, empty, settings, annotations=empty).actions == ()  # type: ignore[arg-type]


# -- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda c: c["actions"].pop(),
            "after step 85, the last one, the episode is not over, but recorded as won",
        ),
        (lambda c: c["actions"].append(0), "step 87 of 87: 12 is not legal: column 1 is empty"),
        (lambda c: c["actions"].__setitem__(4, 736), "step 5 of 86: 1h is not legal"),
        (lambda c: c["actions"].__setitem__(4, 781), "action 5: action 781 does not exist"),
        (lambda c: c["actions"].__setitem__(4, 1.0), "action 5: 1.0 is not an action"),
        (lambda c: c["actions"].__setitem__(4, True), "action 5: True is not an action"),
        (lambda c: c.update(actions={"0": 1}), "the actions are not a list"),
        (lambda c: c.update(actions=None), "the actions are not a list"),
        (lambda c: c.update(code="MS-C4-2"), "step 3 of 86: 6h is not legal"),
        (lambda c: c.update(code="MS-C4-0"), "MS-C4-0"),
        (lambda c: c.update(code=5), "5 is not a game code"),
        (lambda c: c.pop("code"), "neither a code nor a board"),
        (lambda c: c.update(board="", n_cells=4), "a code and a board"),
        (lambda c: c.update(outcome="stuck"), "the episode is won, but recorded as stuck"),
        (lambda c: c.update(outcome=None), "the episode is won, but recorded as not over"),
        (lambda c: c.update(outcome=["won"]), "outcome ['won'] is unknown"),
        (lambda c: c.update(outcome="victory"), "outcome 'victory' is unknown"),
        (lambda c: c.update(score=550), "the score is 545, not 550"),
        (lambda c: c.update(cards_home=52.0), "the cards_home is 52, not 52.0"),
        (lambda c: c.pop("score"), "'score' is missing"),
        (lambda c: c.update(rewards=[]), "rewards without settings"),
        (lambda c: c.update(agent=5), "agent 5 is not a string"),
        (lambda c: c.update(player="me"), "key 'player' is unknown"),
        (lambda c: c.update(format="boulanger-env replay 2"), "its format is 'boulanger-env replay 1'"),
        (lambda c: c.update(score_before=5), "score_before is 5: 0 moves bring a multiple of 5 from 0 to 0"),
        (lambda c: c.update(moves_before=2, score_before=12), "score_before is 12: 2 moves bring"),
        (lambda c: c.update(moves_before=2, score_before=25), "score_before is 25: 2 moves bring"),
        (lambda c: c.update(moves_before=-1), "moves_before is -1"),
        (lambda c: c.update(moves_before=10**9), "moves_before is 1000000000"),
        (lambda c: c.update(moves_before=True), "moves_before is True"),
        (lambda c: c.update(moves_before=2, score_before=5), "the score is 550, not 545"),
        (lambda c: c.update(before=[736]), "earlier move 1 of 1: 1h is not legal"),
        (lambda c: c.update(before=[780]), "earlier move 1 of 1: nothing to undo"),
        (lambda c: c.update(before=[733, 780]), "earlier move 2 of 2: undo is not a move"),
    ],
)
def test_a_plain_game_that_cannot_have_gone_so(change: Any, message: str) -> None:
    found = content(won())
    change(found)
    assert message in refused(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["rewards"].pop(), "its reward is missing"),
        (lambda c: c["rewards"].append(0), "rewards for"),
        (lambda c: c["rewards"].__setitem__(0, 10), "step 1 of"),
        (lambda c: c["rewards"].__setitem__(0, "10"), "reward 1: '10' is not a finite number"),
        (lambda c: c["rewards"].__setitem__(0, 10**400), "a number of 401 digits"),
        (lambda c: c["rewards"].__setitem__(0, False), "reward 1: False is not a finite number"),
        (lambda c: c.pop("rewards"), "step 1 of"),
        (lambda c: c["settings"].update(allow_undo=False), "action 780 does not exist"),
        (lambda c: c["settings"].update(max_episode_steps=3), "step 4 of"),
        (
            lambda c: c["settings"].update(illegal_action="terminate"),
            "the episode had already ended (illegal)",
        ),
        (lambda c: c["settings"].update(illegal_action="raise"), "is not legal"),
        (
            lambda c: c["settings"]["reward"].update(illegal=0),
            "its reward is 0 by the rules and the settings, not -1",
        ),
        (lambda c: c["settings"].update(reward="riches"), "reward='riches'"),
        (lambda c: c["settings"].update(deals="c4-test-100"), "setting 'deals' is unknown"),
        (lambda c: c.update(settings=[1]), "settings are [1]"),
        (lambda c: c["annotations"].pop(), "annotations for"),
        (lambda c: c["annotations"][0].update(choices=[[733, 1.5]]), "annotation 1: probability 1.5"),
        (lambda c: c["annotations"][0].update(choices=[[900, 0.5]]), "annotation 1: action 900"),
        (lambda c: c["annotations"][0].update(choices=[733]), "annotation 1: 733 is not a choice"),
        (lambda c: c["annotations"][0].update(choices="ab"), "the choices are not a list"),
        (lambda c: c["annotations"][0].update(value="high"), "annotation 1: 'high' is not a finite number"),
        (lambda c: c["annotations"][0].update(note=["a"]), "annotation 1: note ['a'] is not a string"),
        (lambda c: c["annotations"][0].update(html="<b>"), "an annotation is"),
        (lambda c: c["annotations"].__setitem__(0, 3), "an annotation is 3"),
        (lambda c: c.update(annotations="abc"), "the annotations are not a list"),
    ],
)
def test_an_episode_that_cannot_have_gone_so(change: Any, message: str) -> None:
    found = content(lost())
    assert isinstance(found["annotations"][0], dict)
    change(found)
    assert message in refused(found)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "[" * 100_000, "\0", '{"format": NaN}', won().to_json()[:-30]]
)
def test_what_is_not_a_replay_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.write_text(text)
    with pytest.raises(ReplayError, match=r"game\.json is not a replay: "):
        Replay.load(path)


def test_what_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "game.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReplayError, match=r"game\.json is not a replay"):
        Replay.load(tmp_path / "game.json")
    with pytest.raises(FileNotFoundError):
        Replay.load(tmp_path / "nowhere.json")


def test_every_cut_and_every_other_action_is_found() -> None:
    """Wherever an episode is cut or an action changed, it is rejected, or nothing was different."""
    found = content(lost())
    for i in range(len(found["actions"])):
        cut = {**found, **{key: found[key][:i] for key in ("actions", "rewards", "annotations")}}
        assert f"after step {i}, the last one" in refused(cut)
    for i in range(len(won().actions)):
        actions = list(won().actions)
        actions[i] = (actions[i] + 1) % 780
        with pytest.raises(ReplayError, match="step "):
            dataclasses.replace(won(), actions=tuple(actions))


def test_objects_are_checked_like_files() -> None:
    start = Game.from_code("MS-C4-1")
    for arguments, message in [
        ({"start": "MS-C4-1"}, "start is 'MS-C4-1'"),
        ({"annotations": ("good",)}, "annotation 1: 'good' is not an Annotation"),
        ({"actions": "733"}, "the actions are not a list"),
        ({"actions": 733}, "the actions are not a list"),
        ({"annotations": (Annotation(value=float("nan")),)}, "annotation 1: nan"),
    ]:
        with pytest.raises(BoulangerError, match=message):
            Replay(**{"start": start, "actions": (733,), **arguments})


def test_a_file_in_no_folder_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        won().save(tmp_path / "nowhere" / "game.json")
    assert caught.value.filename == str(tmp_path / "nowhere" / "game.json")


def test_a_file_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.json"
    won().save(path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        lost().save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["game.json"]
    assert Replay.load(path) == won()
