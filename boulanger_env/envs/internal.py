"""Access to an environment's internals for this package's wrappers, recordings and integrations only.

It may change without notice. Code outside this folder accesses an environment's internals only through this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.game import Game
from boulanger_env.game.moves import UNDO
from boulanger_env.game.state import State
from boulanger_env.game.turns import Turn

from ._batch.infos import as_arrays
from ._batch.loops import (
    B_END_ILLEGAL,
    B_END_WON,
    B_ENDED,
    B_ILLEGAL,
    B_TRUNCATED,
    F_END_RETURN,
    I_END_LENGTH,
    I_END_MOVES,
    I_END_SCORE,
    I_GROUP,
    I_MOVES,
    I_SCORE,
    I_START,
)
from ._batch.outputs import Outputs
from .action_maps import PLACES, never_legal, place_of, places_of
from .settings import Settings
from .single import BoulangerEnv
from .vector import BoulangerVectorEnv

__all__ = [
    "B_ENDED",
    "B_END_ILLEGAL",
    "B_END_WON",
    "B_ILLEGAL",
    "B_TRUNCATED",
    "F_END_RETURN",
    "I_END_LENGTH",
    "I_END_MOVES",
    "I_END_SCORE",
    "I_GROUP",
    "I_MOVES",
    "I_SCORE",
    "I_START",
    "Outputs",
    "as_arrays",
    "check_reset",
    "origins_of",
    "outcome_of",
    "place_in_episode",
    "place_of_action",
    "places_of_actions",
    "play",
    "rows_of",
    "settings_of",
    "start_of",
    "turn_of",
]


def settings_of(env: BoulangerEnv | BoulangerVectorEnv) -> Settings:
    """The environment's keywords."""
    return env._settings


# -- the single environment -----------------------------------------------------------------------------------


def rows_of(env: BoulangerEnv) -> State:
    """The rows of the current game, the same arrays in every episode; read-only by convention."""
    return env._rows


def outcome_of(env: BoulangerEnv) -> str | None:
    """How the episode ended, by the environment's own rules and limit; None while it is in progress."""
    return env._outcome


def turn_of(env: BoulangerEnv) -> Turn:
    """The environment's guard: a wrapper whose step consists of several holds it over all of them."""
    return env._turn


def check_reset(env: BoulangerEnv) -> None:
    """Check that there is a game.

    Raises:
        gymnasium.error.ResetNeeded: there was no reset yet.
    """
    env._check_reset()


def place_in_episode(env: BoulangerEnv) -> tuple[bytes, bytes, int]:
    """What no action leaves as it is, for comparison: ``set_state`` may lead anywhere."""
    rows = env._rows
    return rows.board.tobytes(), rows.counters.tobytes(), env._steps


def start_of(env: BoulangerEnv) -> Game:
    """The game that the episode began with, before its first action and what played itself at its reset.

    Call it right after the reset.
    """
    game = env.game
    for _ in range(env._moves_at_reset):
        game.undo()
    return game


def place_of_action(env: BoulangerEnv, action: int) -> int:
    """The action of the action table, or undo, that an action stands for now; an illegal one if it stands for none.

    Args:
        env: it has been reset.
        action: one of its action space.
    """
    rules, board = env._rules, env._rows.board
    if action == rules.n_moves:
        return UNDO
    place = int(place_of(board, action, rules.actions))
    return place if place >= 0 else int(never_legal(board))


# -- the batch ------------------------------------------------------------------------------------------------


def play(batch: BoulangerVectorEnv, actions: Any) -> tuple[Outputs, int]:
    """Make a ``step`` without building its infos; return its outputs and the number of games that ended."""
    return batch._play(actions)


def origins_of(batch: BoulangerVectorEnv) -> list[tuple[str, int, int]]:
    """The current games' codes ("" for none), and the index and group of the positions that they started from."""
    return batch._origins()


def places_of_actions(
    batch: BoulangerVectorEnv, actions: NDArray[np.int64], games: NDArray[np.int64]
) -> NDArray[np.int64]:
    """``place_of_action`` for one action, int64 ``(k,)``, of each of these games, int64 ``(k,)``."""
    if batch._rules.actions == PLACES:
        return actions
    places = np.empty(len(actions), np.int64)
    places_of(batch._games.boards, games, actions, batch._rules.actions, places)
    return places
