"""The compiled loops over positions: each row is copied and checked before it is used.

They return the first row that is not a position's, or -1.
"""

from __future__ import annotations

from typing import NamedTuple

from boulanger_env.envs.action_maps import as_place, legal_actions
from boulanger_env.envs.observations import write_observation
from boulanger_env.game.automatic import send_cards_home
from boulanger_env.game.hashing import position_hash
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import LEGAL, NO_ONE, apply, copy_row, why_illegal
from boulanger_env.game.outcomes import outcome_of
from boulanger_env.game.rows import is_row, take_row
from boulanger_env.game.state import Array, Board


class Ways(NamedTuple):
    """How positions are expanded."""

    numbering: int
    """How actions are numbered: see ``action_maps``."""
    prune: bool
    """Whether moves to equivalent positions are left out."""
    auto_foundation: bool
    """Whether legal moves home are played after each action."""


class Children(NamedTuple):
    """What an expansion writes, one entry per child."""

    rows: Array
    """uint8 ``(m, BOARD_SIZE)``"""
    parents: Array
    """int64 ``(m,)``"""
    actions: Array
    """int64 ``(m,)``"""
    outcomes: Array
    """int8 ``(m,)``"""


@kernel
def list_legal(board: Board, mask: Array, prune: bool, numbering: int) -> int:
    """``legal_actions``, compiled once for all loops."""
    return legal_actions(board, mask, prune, numbering)


@kernel
def observe(board: Board, out: Array, kind: int) -> None:
    """``write_observation``, compiled once for all loops."""
    write_observation(board, out, kind)


@kernel
def write_masks(rows: Array, row: Board, prune: bool, numbering: int, out: Array) -> int:
    """Write each position's legal actions, int8 ``(n, actions)``."""
    for i in range(rows.shape[0]):
        if not take_row(rows, i, row):
            return i
        list_legal(row, out[i], prune, numbering)
    return NO_ONE


@kernel
def write_outcomes(rows: Array, row: Board, out: Array) -> int:
    """Write each position's outcome, int8 ``(n,)``."""
    for i in range(rows.shape[0]):
        if not take_row(rows, i, row):
            return i
        out[i] = outcome_of(row)
    return NO_ONE


@kernel
def write_keys(rows: Array, row: Board, out: Array) -> int:
    """Write each position's hash, uint64 ``(n,)``."""
    for i in range(rows.shape[0]):
        if not take_row(rows, i, row):
            return i
        out[i] = position_hash(row)
    return NO_ONE


@kernel
def write_observations(rows: Array, row: Board, out: Array, kind: int) -> int:
    """Write each position's observation of a kind, uint8 ``(n, size)``."""
    for i in range(rows.shape[0]):
        if not take_row(rows, i, row):
            return i
        observe(row, out[i], kind)
    return NO_ONE


@kernel
def write_inputs(
    rows: Array, row: Board, prune: bool, numbering: int, out: Array, kind: int, masks: Array
) -> int:
    """Write each position's observation of a kind, uint8 ``(n, size)``, and its mask."""
    for i in range(rows.shape[0]):
        if not take_row(rows, i, row):
            return i
        observe(row, out[i], kind)
        list_legal(row, masks[i], prune, numbering)
    return NO_ONE


@kernel
def play_home(rows: Array) -> None:
    """Play every legal move home, in place; the rows are checked."""
    for i in range(rows.shape[0]):
        send_cards_home(rows[i])


@kernel
def play_rows(
    rows: Array, chosen: Array, numbering: int, auto_foundation: bool, out: Array
) -> tuple[int, bool]:
    """Write the positions after one action of the numbering each, int64 ``(n,)``.

    Returns:
        The first row that cannot be played, or -1; and whether it is a position: then its action is illegal.
    """
    for i in range(rows.shape[0]):
        row = out[i]
        if not take_row(rows, i, row):
            return i, False
        place = as_place(row, i64(chosen[i]), numbering)
        if place < 0 or why_illegal(row, place) != LEGAL:
            return i, True
        apply(row, place)
        if auto_foundation:
            send_cards_home(row)
    return NO_ONE, False


@kernel
def count_children(rows: Array, mask: Array, ways: Ways, ends: Array) -> int:
    """Check rows and write where the children of each end, int64 ``(n,)``."""
    end = 0
    for i in range(rows.shape[0]):
        if not is_row(rows[i]):
            return i
        end += list_legal(rows[i], mask, ways.prune, ways.numbering)
        ends[i] = end
    return NO_ONE


@kernel
def write_children(rows: Array, mask: Array, words: Array, ways: Ways, children: Children) -> None:
    """Write all children of checked rows; ``words`` are those of ``mask``, int8, whose end is padded with zeros."""
    k = 0
    for i in range(rows.shape[0]):
        list_legal(rows[i], mask, ways.prune, ways.numbering)
        for word in range(words.shape[0]):
            if words[word] == 0:
                continue
            for action in range(8 * word, 8 * word + 8):
                if mask[action]:
                    child = children.rows[k]
                    copy_row(rows[i], child)
                    apply(child, as_place(child, action, ways.numbering))
                    if ways.auto_foundation:
                        send_cards_home(child)
                    children.parents[k] = i
                    children.actions[k] = action
                    children.outcomes[k] = outcome_of(child)
                    k += 1
