"""Foundation moves that play themselves: in replays, on pages and in diagnoses they are moves like others."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from boulanger_env import BoulangerEnv, Game
from boulanger_env.agents import make
from boulanger_env.benchmark import Results, evaluate, losses
from boulanger_env.deals import load
from boulanger_env.game.moves import UNDO
from boulanger_env.game.walk import NOTHING, as_played, walk
from boulanger_env.replay import Replay
from boulanger_env.wrappers import RecordReplay

pytest.importorskip("scipy")

DEALS = load("c4-test")[:12]


def test_an_agent_that_sends_cards_home_at_once_plays_the_same_games(tmp_path: Path) -> None:
    """``heuristic`` does that itself: the games, what is seen of them and where they were lost are equal."""
    runs, replays = [], []
    for auto_foundation in (False, True):
        kept: list[Replay] = []
        run = evaluate(
            "heuristic:nodes=30",
            DEALS,
            auto_foundation=auto_foundation,
            moves=True,
            record=kept.append,
            file=tmp_path / f"{auto_foundation}.jsonl",
        )
        assert Results.load(tmp_path / f"{auto_foundation}.jsonl") == run
        runs.append(run)
        replays.append(sorted(kept, key=lambda replay: str(replay.start.code)))
    for own, automatic in zip(*(run.games for run in runs), strict=True):
        assert (own.outcome, own.score, own.moves) == (automatic.outcome, automatic.score, automatic.moves)
        assert own.steps == own.moves == automatic.steps + automatic.cards_home
    assert losses(runs[0], workers=1) == losses(runs[1], workers=1)
    for own_replay, replay in zip(*replays, strict=True):
        assert len(replay.actions) < len(replay.played)
        assert replay.played == own_replay.actions == own_replay.played
        assert replay.notation() == own_replay.notation()
        assert replay.end == own_replay.end
        assert [step.game for step in replay.steps()][-1] == replay.end
        pages = [one.to_episode() for one in (own_replay, replay)]
        for key in ("steps", "scores", "places", "outcome"):
            assert pages[0][key] == pages[1][key]
        assert len(pages[1]["rewards"]) == len(pages[1]["steps"])
        assert sum(pages[1]["rewards"]) == replay.end.score
        assert Replay.from_json(replay.to_json()) == replay


@pytest.mark.parametrize("code", ["MS-C4-1", "MS-C4-617", "MS-C1-25"])
def test_undo_takes_back_what_played_itself(code: str, tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"auto_foundation": True, "allow_undo": True, "max_episode_steps": 60}
    env = RecordReplay(BoulangerEnv(**keywords), tmp_path)
    agent, chance = make("greedy"), Random(1)
    observation, info = env.reset(options={"code": code})
    over = False
    while not over:
        mask = info["action_mask"]
        action = UNDO if mask[UNDO] and chance.random() < 0.2 else agent(observation, mask, info)
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    replay = env.replay
    assert UNDO in replay.actions
    steps = list(walk(replay.start, replay.played))
    assert not any(step.error for step in steps)
    assert steps[-1].game == replay.end == env.unwrapped.game  # type: ignore[attr-defined]
    assert len(replay.played) > len(replay.actions)
    assert sum(
        own for _, own in as_played(replay.start, replay.actions, auto_foundation=True, no_repeats=False)
    ) == len(replay.actions)


def test_an_undo_that_reaches_nothing_changes_nothing() -> None:
    game = Game.from_code("MS-C4-1")
    played = as_played(game, [UNDO, 733, UNDO, UNDO], auto_foundation=True, no_repeats=False)
    assert [action for action, own in played if own] == [NOTHING, 733, UNDO, NOTHING]
    steps = [(bool(step.error), step.game.moves) for step in walk(game, [action for action, _ in played])]
    assert (steps[0], steps[-1]) == ((True, 0), (True, 0))
