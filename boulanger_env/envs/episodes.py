"""Whole episodes played from their actions in one call, and how each ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.deals import DealSet
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import cards_home, deal
from boulanger_env.game.outcomes import O_RUNNING, OUTCOMES
from boulanger_env.game.state import MOVES, SCORE, Array, State, new_state

from ._batch.stepping import Rules, begin_episode, step_game
from ._batch.visits import Visits, no_visits, room_for
from .settings import Settings

_ENDED, _HOME, _SCORE, _MOVES, _STEPS, _ILLEGAL = range(6)


class _Episodes(NamedTuple):
    """Episodes to play: the deals, and ``actions[starts[g]:starts[g + 1]]`` for each."""

    decks: Array
    """uint8 ``(m, 52)``"""
    cells: Array
    """uint8 ``(m,)``"""
    actions: Array
    """int16: those of all episodes, one after the other."""
    starts: Array
    """int64 ``(m + 1,)``"""


class Ended(NamedTuple):
    """An episode's state after its actions."""

    outcome: str | None
    """None: it is in progress."""
    cards_home: int
    score: int
    moves: int
    """Moves, not counting undone ones."""
    steps: int
    """The actions that were played; actions after the end of the episode are not."""
    illegal: int


def play_out(codes: Sequence[str], actions: Sequence[NDArray[np.int16]], settings: Settings) -> list[Ended]:
    """Play the actions of many episodes, each until its actions or the episode end.

    Args:
        codes: the games.
        actions: ids of each game's actions, ``(steps,)``: 0..779, or 780 (undo) with ``allow_undo``.
        settings: the environment's settings; its reward and deals are ignored.
    """
    decks, cells = DealSet("episodes", codes).decks()
    ended = np.zeros((len(codes), 6), np.int64)
    mask = np.zeros(settings.n_actions, np.int8)
    longest = max(map(len, actions), default=0)
    heads, table = no_visits(1, room_for(longest + 1) if settings.no_repeats else 0)
    episodes = _Episodes(
        decks,
        cells,
        np.concatenate([np.zeros(0, np.int16), *actions]),
        np.cumsum([0, *map(len, actions)]),
    )
    _play_all(episodes, new_state(), Visits(heads[0], table), settings.rules(), mask, ended)
    return [Ended(OUTCOMES[outcome], *numbers) for outcome, *numbers in ended.tolist()]


@kernel
def _play_all(
    episodes: _Episodes, state: State, visits: Visits, rules: Rules, mask: Array, ended: Array
) -> None:
    """Play every episode and write its row of ``ended``."""
    starts = episodes.starts
    for g in range(episodes.decks.shape[0]):
        state.counters[:] = 0
        deal(state.board, episodes.decks[g], episodes.cells[g])
        begin_episode(state, visits, rules)
        outcome, steps, illegal = O_RUNNING, 0, 0
        for i in range(starts[g], starts[g + 1]):
            if outcome != O_RUNNING:
                break
            steps += 1
            _, refused, outcome = step_game(state, visits, i64(episodes.actions[i]), steps, rules, mask)
            illegal += refused
        ended[g, _ENDED] = outcome
        ended[g, _HOME] = cards_home(state.board)
        ended[g, _SCORE] = state.counters[SCORE]
        ended[g, _MOVES] = state.counters[MOVES]
        ended[g, _STEPS] = steps
        ended[g, _ILLEGAL] = illegal
