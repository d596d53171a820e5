"""One step of one game, compiled: what the single environment and the batch both run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.envs.action_maps import as_place, legal_actions
from boulanger_env.envs.rewards import R_AUTOMATIC, R_ILLEGAL, R_STEP, R_STUCK, R_WIN
from boulanger_env.game.automatic import send_home, undo_span
from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.codes import CODE_LENGTH, deal_random, draw_random
from boulanger_env.game.hashing import hash_change
from boulanger_env.game.jit import i64, inlined_kernel
from boulanger_env.game.kernels import (
    EVENT,
    EVENT_FOUNDATION,
    EVENT_NONE,
    LEGAL,
    cards_home,
    copy_row,
    deal,
    last_card,
    pop,
    push,
    why_illegal,
)
from boulanger_env.game.outcomes import O_ILLEGAL, O_RUNNING, O_STUCK, O_TRUNCATED, O_WON, OUTCOMES, TRUNCATED
from boulanger_env.game.start_draws import NO_START, StartTables, draw_start
from boulanger_env.game.state import UNDO_LENGTH, Array, State
from boulanger_env.game.streams import uniform_below

from .repeats import forbid_repeats
from .visits import V_KEY, Visits, arrive, begin, forget, has_been, note_card

# As reported in infos: only ``truncated`` reports a truncation, which may come from a TimeLimit around the environment.
INFO_OUTCOMES = tuple(outcome if outcome != TRUNCATED else "" for outcome in ("", *OUTCOMES[1:]))

CODE_DTYPE = np.dtype(f"U{CODE_LENGTH}")

# What an illegal action does. The kernel never raises: with RAISE it leaves the game as it is.
PENALIZE, TERMINATE, RAISE = range(3)


class Rules(NamedTuple):
    """The settings that determine the effects of an action, for the kernels (``Settings.rules``)."""

    rewards: Array
    """``Reward.table()``."""
    illegal_action: int
    """``PENALIZE``, ``TERMINATE`` or ``RAISE`` (which leaves the game as it is, like the first)."""
    allow_undo: int
    """Whether there is one more action, undo. An int, since numba unpacks ints faster than bools."""
    prune: int
    """See ``legal_moves``."""
    actions: int
    """How actions are numbered: see ``action_maps``."""
    n_moves: int
    """The actions of that numbering without undo, whose number this is (``Settings.n_actions`` counts undo)."""
    auto_foundation: int
    """Whether foundation moves play themselves."""
    no_repeats: int
    """Whether moves to positions that the episode has been in are illegal."""
    limit: int
    """``Settings.limit``: the step that truncates an episode."""


class Decks(NamedTuple):
    """Where the next games come from, for the kernels (``Settings.decks``)."""

    cards: Array
    """uint8 ``(m, 52)``, the listed deals; ``m`` = 0: random deals."""
    cells: Array
    """uint8 ``(m,)``, the cells of each."""
    codes: Array
    """uint32 ``(m, CODE_LENGTH)``, the letters of each code."""
    n_cells: int
    """Cells of random games."""
    sequential: int
    """Whether listed deals are taken in order, wrapping around, instead of at random."""
    starts: StartTables
    """Positions to start from; whole deals only as often as they say, or always if there are none."""


def letters(texts: NDArray[np.str_]) -> NDArray[np.uint32]:
    """Strings ``(n,)`` of at most k letters as letters ``(n, k)``, in the same memory: kernels cannot read strings."""
    return texts.view(np.uint32).reshape(len(texts), texts.itemsize // 4)


@inlined_kernel
def step_game(
    state: State, visits: Visits, action: int, steps: int, rules: Rules, mask: Array
) -> tuple[float, bool, int]:
    """Play one action and write the next mask.

    Args:
        state: the game; modified in place.
        visits: where the episode has been; used only with ``no_repeats``.
        action: an action of the numbering, or ``rules.n_moves`` for undo.
        steps: the actions that the episode has had, including this one.
        rules: the effects of actions.
        mask: int8 ``(n_actions,)``, one more with undo; overwritten. All ones once the episode has terminated.

    Returns:
        The reward, whether the action was illegal, and the outcome (an ``O_`` number).
    """
    board, counters, history = state
    rewards = rules.rewards
    reward = rewards[R_STEP]
    outcome = O_RUNNING
    undoes = action == rules.n_moves
    place = -1 if undoes else as_place(board, action, rules.actions)
    illegal = not can_undo(state, rules) if undoes else place < 0 or why_illegal(board, place) != LEGAL
    key = np.uint64(0)
    if rules.no_repeats and not illegal:
        key = visits.head[V_KEY] ^ hash_change(board, place)
        illegal = has_been(visits, key)

    if illegal:
        reward = rewards[R_ILLEGAL]
        if rules.illegal_action == TERMINATE:
            outcome = O_ILLEGAL
    else:
        event = EVENT_NONE
        if undoes:
            for _ in range(undo_span(counters, history) if rules.auto_foundation else 1):
                undone = i64(EVENT[pop(board, counters, history)])
                reward -= rewards[undone] - rewards[EVENT_NONE]
        else:
            event = push(board, counters, history, place)
            reward = rewards[event]
        home = i64(event == EVENT_FOUNDATION)
        if rules.auto_foundation:
            automatic, change = send_home(state)
            reward += automatic * rewards[R_AUTOMATIC]
            home += automatic
            key ^= change
        if rules.no_repeats:
            if home > 0:
                forget(visits)
            else:
                note_card(visits, last_card(counters, history))
            arrive(visits, key)
    legal = write_mask(state, visits, rules, mask)
    if legal == 0 and not illegal:
        if cards_home(board) == N_CARDS:
            outcome = O_WON
            reward += rewards[R_WIN]
        else:
            outcome = O_STUCK
            reward += rewards[R_STUCK]
    if outcome != O_RUNNING:
        mask[:] = 1
    elif steps >= rules.limit:
        outcome = O_TRUNCATED
    return reward, illegal, outcome


@inlined_kernel
def is_legal(state: State, visits: Visits, action: int, rules: Rules) -> bool:
    """Whether an action may be played; a move that ``prune`` leaves out of the mask may."""
    if action == rules.n_moves:
        return can_undo(state, rules)
    place = as_place(state.board, action, rules.actions)
    if place < 0 or why_illegal(state.board, place) != LEGAL:
        return False
    return not (rules.no_repeats and has_been(visits, visits.head[V_KEY] ^ hash_change(state.board, place)))


@inlined_kernel
def can_undo(state: State, rules: Rules) -> bool:
    """Whether undo reaches a move of the player's own."""
    if rules.auto_foundation:
        return undo_span(state.counters, state.history) > 0
    return bool(state.counters[UNDO_LENGTH] > 0)


@inlined_kernel
def write_mask(state: State, visits: Visits, rules: Rules, mask: Array) -> int:
    """Write a position's mask, including undo; return the number of legal actions, not counting undo."""
    legal = legal_actions(state.board, mask, rules.prune, rules.actions)
    if rules.no_repeats:
        legal -= forbid_repeats(state.board, visits, mask, rules.actions)
    if rules.allow_undo:
        mask[rules.n_moves] = can_undo(state, rules)
    return legal


@inlined_kernel
def begin_episode(state: State, visits: Visits, rules: Rules) -> float:
    """Begin the episode of a game: play what plays itself; return the reward for it, which the first action gets."""
    owed = send_home(state)[0] * rules.rewards[R_AUTOMATIC] if rules.auto_foundation else 0.0
    if rules.no_repeats:
        begin(visits, state.board)
    return owed


@inlined_kernel
def new_game(
    state: State, stream: Any, position: int, decks: Decks, scratch: Array
) -> tuple[Any, int, int, int]:
    """Start the next game of an episode stream.

    Args:
        state: overwritten.
        stream: uint64, the deal stream.
        position: the next index in a sequence of decks.
        decks: where the game comes from.
        scratch: uint8 ``(52,)``.

    Returns:
        The stream's next state; the deal: its number in the ``RANDOM`` scheme, or its index in the list; the index and
        the group of the position to start from. What does not apply is -1.
    """
    state.counters[:] = 0
    if decks.starts.boards.shape[0] > 0:
        stream, row, start, group = draw_start(stream, decks.starts)
        if row >= 0:
            copy_row(decks.starts.boards[row], state.board)
            return stream, -1, start, group
    count = decks.cards.shape[0]
    if count == 0:
        stream, number = draw_random(stream)
        deal_random(number, scratch)
        deal(state.board, scratch, decks.n_cells)
        return stream, i64(number), NO_START, NO_START
    if decks.sequential:
        index = position % count
    else:
        stream, index = uniform_below(stream, count)
    deal(state.board, decks.cards[index], i64(decks.cells[index]))
    return stream, i64(index), NO_START, NO_START
