"""``greedy``: a fixed order of preference, one move ahead."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.hashing import position_hash
from boulanger_env.game.jit import allocating_kernel, i64, kernel
from boulanger_env.game.kernels import apply, copy_row, legal_moves, run_length
from boulanger_env.game.moves import ACTION_TABLE, N_ACTIONS, TO_CELL, TO_FOUNDATION
from boulanger_env.game.state import (
    BOARD_SIZE,
    FOUNDATIONS,
    HEIGHTS,
    MAX_HEIGHT,
    N_COLUMNS,
    TABLEAU,
    Array,
    Board,
)

from .base import NO_ACTION, BatchAgent, board_rows
from .memory import NEVER, Visited, last_visit

# The order of preference. Ties go to the column in which the next card to go home is easiest to uncover, then to the
# lowest action id.
HOME, CELL_ONTO_PARENT, RUN_ONTO_PARENT, RUN_TO_EMPTY, CELL_TO_EMPTY, DIG_TO_CELL, REST = range(7)
_NONE = 1 << 30


class GreedyAgent(BatchAgent):
    """Plays the first of these moves that leads to a position not yet seen in this game.

    1. a card home
    2. a card from a cell onto its parent (the next higher card of its suit)
    3. a whole run from a column onto the parent of its first card
    4. a whole run that lies on other cards to an empty column
    5. a card from a cell to an empty column
    6. a top card that lies on a card other than its parent to a cell
    7. any other move

    **Why it does not go round in circles.** Moves 1 to 6 only raise cards in the order *on a card that is not
    its parent* < *in a cell* < *first of its column* < *on its parent* < *home*: one card rises and no card
    falls, since a run keeps its order and a covered card is not moved. The 52 cards can rise at most 208 times in
    all, so these moves alone can never return to a position. The other moves (splitting a run, a lone card to a
    cell) could, so the agent remembers the positions of the game: it returns to one only when every legal move does,
    and then to the one seen longest ago. Such games exist: some positions allow only moves back and forth.

    ``info["moves"]`` is 0 when a new game begins. Undo is never chosen.
    """

    name = "greedy"

    def __init__(self) -> None:
        super().__init__()
        self._visited = Visited()

    def _grow(self, n: int) -> None:
        self._visited.grow(max(n, len(self._visited.lengths)))
        self._visited.lengths[self._slots :] = 0

    def _restart(self, slots: NDArray[np.int64], games: NDArray[np.uint64]) -> None:
        self._visited.lengths[slots] = 0

    def _choose(self, observation: Any, masks: NDArray[Any], new: NDArray[np.int64]) -> NDArray[np.int64]:
        boards = board_rows(observation, len(masks))
        self._visited.lengths[new] = 0
        self._visited.make_room()
        actions = np.empty(len(masks), np.int64)
        _choose_rows(boards, masks, self._visited.keys, self._visited.lengths, actions)
        return actions


@allocating_kernel
def _choose_rows(boards: Array, masks: Array, keys: Array, lengths: Array, actions: Array) -> None:
    """Choose for each board, and note its position in ``keys``."""
    legal = np.empty(N_ACTIONS, np.int8)
    after = np.empty(BOARD_SIZE, np.uint8)
    for i in range(len(actions)):
        keys[i, lengths[i]] = position_hash(boards[i])
        lengths[i] += 1
        if allowed_moves(boards[i], masks[i], legal) == 0:
            actions[i] = first_allowed(masks[i])
        else:
            actions[i] = choose(boards[i], legal, keys[i], lengths[i], after)


@kernel
def allowed_moves(board: Board, mask: Array, legal: Array) -> int:
    """Write the legal moves that ``mask`` allows into ``legal``, and count them.

    Of several moves to equivalent positions only one is kept, if it is allowed.
    """
    for prune in (True, False):
        legal_moves(board, legal, prune)
        count = 0
        for action in range(N_ACTIONS):
            if not mask[action]:
                legal[action] = 0
            count += i64(legal[action])
        if count > 0:
            return count
    return 0


@kernel
def first_allowed(mask: Array) -> int:
    """The first action that the mask allows, except undo, or ``NO_ACTION``: for games that have ended."""
    for action in range(N_ACTIONS):
        if mask[action]:
            return action
    return NO_ACTION


@kernel
def choose(board: Board, legal: Array, keys: Array, length: int, after: Array) -> int:
    """The greedy action among those marked in ``legal``; ``NO_ACTION`` if there is none.

    Args:
        board: the position, with ``length`` positions of its game in ``keys``.
        legal: int8 ``(780,)``, legal moves only.
        keys: uint64, position hashes in the order of the game.
        after: uint8 ``(BOARD_SIZE,)``, overwritten.
    """
    best, best_visit, best_rank = NO_ACTION, _NONE, _NONE
    for action in range(N_ACTIONS):
        if not legal[action]:
            continue
        rank = preference(board, action)
        # Worse than the best move to a position never seen: it cannot be chosen.
        if best_visit == NEVER and rank >= best_rank:
            continue
        copy_row(board, after)
        apply(after, action)
        visit = last_visit(keys, length, position_hash(after))
        if visit < best_visit or (visit == best_visit and rank < best_rank):
            best, best_visit, best_rank = action, visit, rank
    return best


@kernel
def preference(board: Board, action: int) -> int:
    """Rank of a legal move; lower is better."""
    source = i64(ACTION_TABLE[action, 0])
    destination = i64(ACTION_TABLE[action, 1])
    size = i64(ACTION_TABLE[action, 2])
    if destination == TO_FOUNDATION:
        return HOME << 8
    to_parent = destination != TO_CELL and board[HEIGHTS + destination] > 0
    if source >= N_COLUMNS:
        return (CELL_ONTO_PARENT if to_parent else CELL_TO_EMPTY) << 8
    height = i64(board[HEIGHTS + source])
    effort = digging(board, source)
    if to_parent:
        return (RUN_ONTO_PARENT << 8) + effort
    # Anything but a whole run that lies on other cards splits a run or moves a column.
    if size != run_length(board, source) or size == height:
        return (REST << 8) + effort
    return ((DIG_TO_CELL if destination == TO_CELL else RUN_TO_EMPTY) << 8) + effort


@kernel
def digging(board: Board, column: int) -> int:
    """Cards above the topmost card of a column that is next on its foundation; without one, 20 + height."""
    base = TABLEAU + column * MAX_HEIGHT
    height = i64(board[HEIGHTS + column])
    for above in range(height):
        card = i64(board[base + height - 1 - above])
        suit = (card - 1) // 13
        if card == suit * 13 + i64(board[FOUNDATIONS + suit]) + 1:
            return above
    return 20 + height
