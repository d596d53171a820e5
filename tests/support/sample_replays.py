"""Replays to test with, played by rules that are not the package's own."""

from __future__ import annotations

from functools import cache
from random import Random

from oracle import ID as MOVE_ID
from oracle import REWARDS, UNDO, Oracle

from boulanger_env import Game
from boulanger_env.replay import Annotation, Replay
from support.random_games import peer_games


@cache
def won() -> Replay:
    """A solved game, without settings."""
    solved = peer_games()[0]
    actions = [MOVE_ID[tuple(move)] for move in solved["moves"]]
    return Replay(Game.from_code(solved["code"]), tuple(actions), "won", agent="a solver")


@cache
def lost(code: str = "MS-C4-12", seed: int = 7) -> Replay:
    """An episode that ends stuck, with undo, illegal actions, rewards and annotations."""
    random, game = Random(seed), Oracle.from_code(code)
    actions: list[int] = []
    rewards: list[float] = []
    annotations: list[Annotation | None] = []
    while game.outcome is None:
        legal = game.legal_ids()
        kind = random.random()
        action = random.randrange(780) if kind < 0.1 else UNDO if kind < 0.2 else random.choice(legal)
        shares = [random.random() for _ in legal[:4]]
        choices = tuple(
            (move, share / sum(shares)) for move, share in zip(legal, sorted(shares)[::-1], strict=False)
        )
        annotations.append(
            Annotation(choices, random.gauss(0, 1), "undo" * (action == UNDO)) if kind < 0.9 else None
        )
        actions.append(action)
        rewards.append(game.act(action, REWARDS["score"])[0])
    return Replay(
        Game.from_code(code),
        tuple(actions),
        game.outcome,
        rewards=tuple(rewards),
        settings={"allow_undo": True},
        agent="chance",
        annotations=tuple(annotations),
    )
