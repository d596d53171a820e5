"""One game of a policy, kept move by move for people to look at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boulanger_env.benchmark import Policy
from boulanger_env.envs import BoulangerEnv
from boulanger_env.game import Game, Move
from boulanger_env.render import render_ansi


class Replay(NamedTuple):
    """A game that was played.

    Attributes:
        game: how it ended.
        moves: its moves in standard notation.
        boards: the board before the first move and after each, as coloured text.
        outcome: ``"won"``, ``"stuck"`` or ``"truncated"``.
    """

    game: Game
    moves: list[str]
    boards: list[str]
    outcome: str

    def boards_text(self) -> str:
        """The boards one below the other."""
        return "\n\n".join(self.boards) + "\n"

    def moves_text(self) -> str:
        """The code, the moves, ten a line, and how the game ended."""
        lines = [" ".join(self.moves[i : i + 10]) for i in range(0, len(self.moves), 10)]
        end = f"# {self.outcome}: {self.game.cards_home} cards home, score {self.game.score}, {len(self.moves)} moves"
        return "\n".join([f"# {self.game.code}", *lines, end]) + "\n"


def record_game(player: Policy, code: str, seed: int = 0, **settings: Any) -> Replay:
    """Play one deal with a policy that takes batches.

    Args:
        player: the policy.
        code: the deal.
        seed: of the policy's chance.
        settings: keywords of ``BoulangerEnv``.
    """
    env = BoulangerEnv(observation=player.observation, **settings)
    observation, info = env.reset(options={"code": code})
    player.start(seed)
    player.new_games(np.zeros(1, np.int64), np.zeros(1, np.int64))
    moves: list[str] = []
    boards = [render_ansi(env.game, color=True)]
    while True:
        batch: Any = (
            {key: value[None] for key, value in observation.items()}
            if isinstance(observation, dict)
            else observation[None]
        )
        infos = {key: np.array([value]) for key, value in info.items() if key != "action_mask"}
        action = int(player.act(batch, info["action_mask"][None], infos)[0])
        moves.append(env.game.notation(Move.from_id(action)))
        observation, _, terminated, truncated, info = env.step(action)
        boards.append(render_ansi(env.game, color=True))
        if terminated or truncated:
            return Replay(env.game, moves, boards, info["outcome"])
