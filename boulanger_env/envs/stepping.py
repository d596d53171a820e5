"""One step of one game, compiled: what the single environment and the batch both run."""

from __future__ import annotations

from typing import Any

from boulanger_env.deals.codes import deal_bk1, draw_bk1_number, uniform_below
from boulanger_env.game.jit import i64, inlined_kernel
from boulanger_env.game.kernels import EVENT, LEGAL, cards_home, deal, legal_moves, pop, push, why_illegal
from boulanger_env.game.moves import N_ACTIONS, UNDO
from boulanger_env.game.state import UNDO_LENGTH, Array, Board, Counters, History

from .rewards import R_ILLEGAL, R_NONE, R_STEP, R_STUCK, R_WIN

# How an episode stands after a step.
RUNNING, WON, STUCK, ILLEGAL, TRUNCATED = range(5)
OUTCOMES = (None, "won", "stuck", "illegal", "truncated")
# As infos tell it: a truncation, which a TimeLimit around the environment may decide, is told by truncated alone.
INFO_OUTCOMES = ("", "won", "stuck", "illegal", "")

# What an illegal action does. Raising is the single environment's own affair: the game does not change.
PENALIZE, TERMINATE, RAISE = range(3)


@inlined_kernel
def step_game(
    board: Board,
    counters: Counters,
    history: History,
    action: int,
    rewards: Array,
    illegal_action: int,
    allow_undo: bool,
    prune: bool,
    mask: Array,
) -> tuple[float, bool, int]:
    """Play one action and write the next mask.

    Args:
        board: the game's rows, with ``counters`` and ``history``; changed in place.
        action: 0..779, or 780 for undo.
        rewards: ``Reward.table()``.
        illegal_action: ``PENALIZE``, ``TERMINATE`` or ``RAISE`` (which leaves the game as it was, too).
        allow_undo: whether there is an action 780.
        prune: see ``legal_moves``.
        mask: int8 ``(780,)``, or ``(781,)`` with undo; overwritten. All ones once the episode has terminated.

    Returns:
        The reward, whether the action was illegal, and the outcome (``RUNNING``, ``WON``, ``STUCK`` or ``ILLEGAL``).
    """
    illegal = False
    moved = False
    reward = 0.0
    if action == UNDO:
        undone = pop(board, counters, history)
        if undone < 0:
            illegal = True
        else:
            event = i64(EVENT[undone])
            reward = rewards[R_STEP] - (rewards[event] - rewards[R_NONE])
    elif why_illegal(board, action) == LEGAL:
        reward = rewards[push(board, counters, history, action)]
        moved = True
    else:
        illegal = True

    outcome = RUNNING
    if illegal:
        reward = rewards[R_ILLEGAL]
        if illegal_action == TERMINATE:
            outcome = ILLEGAL
    legal = write_mask(board, counters, allow_undo, prune, mask)
    if moved and legal == 0:
        if cards_home(board) == 52:
            outcome = WON
            reward += rewards[R_WIN]
        else:
            outcome = STUCK
            reward += rewards[R_STUCK]
    if outcome != RUNNING:
        mask[:] = 1
    return reward, illegal, outcome


@inlined_kernel
def write_mask(board: Board, counters: Counters, allow_undo: bool, prune: bool, mask: Array) -> int:
    """Write a position's own mask, undo included; returns the number of legal moves, undo not counted."""
    legal = legal_moves(board, mask, prune)
    if allow_undo:
        mask[N_ACTIONS] = counters[UNDO_LENGTH] > 0
    return legal


@inlined_kernel
def new_game(
    board: Board,
    counters: Counters,
    stream: Any,
    position: int,
    decks: Array,
    deck_cells: Array,
    n_cells: int,
    sequential: bool,
    scratch: Array,
) -> tuple[Any, int]:
    """Deal the next game of an episode stream.

    Args:
        board: the game's rows, with ``counters``; overwritten.
        stream: uint64, the deal stream.
        position: the next place in a sequence of deals, for ``sequential``.
        decks: uint8 ``(m, 52)``, the listed deals; ``m`` = 0: random BK1 deals with ``n_cells`` cells.
        deck_cells: uint8 ``(m,)``, the cells of each.
        n_cells: cells of random games.
        sequential: take the deal at ``position``, wrapping round, instead of a random one.
        scratch: uint8 ``(52,)``.

    Returns:
        The stream's next state, and the deal: its BK1 number, or its index in the list.
    """
    counters[:] = 0
    count = decks.shape[0]
    if count == 0:
        stream, number = draw_bk1_number(stream)
        deal_bk1(number, scratch)
        deal(board, scratch, n_cells)
        return stream, number
    if sequential:
        index = position % count
    else:
        stream, index = uniform_below(stream, count)
    deal(board, decks[index], i64(deck_cells[index]))
    return stream, index
