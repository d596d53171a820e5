"""Three ways to number the moves: by place, by card, and by a double tap; compiled, one game's row at a time.

``"places"`` is the action table itself (``game/moves.py``). An action of the other two stands for the one of the action
table that :func:`as_place` gives, and is legal when that one is. Each mask is written directly, not through another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS, N_RANKS, rank_of
from boulanger_env.game.jit import i64, inlined_kernel, kernel
from boulanger_env.game.kernels import (
    LEGAL,
    NO_ONE,
    PARENT,
    RANK,
    SUIT,
    TAKES,
    byte_index,
    bytes_equal,
    empty_cells,
    empty_columns,
    goes_home,
    group_limit,
    is_in,
    legal_moves,
    lowest_bit,
    parent_column,
    set_of_next_home,
    set_of_tops,
    top_cards,
    why_illegal,
)
from boulanger_env.game.moves import (
    COLUMN_TO_CELL,
    FIRST_CELL,
    N_ACTIONS,
    N_SOURCES,
    UNDO,
    Move,
)
from boulanger_env.game.state import (
    CELLS,
    FOUNDATIONS,
    HEIGHTS,
    MAX_CELLS,
    N_COLUMNS,
    NO_CARD,
    NO_CELL,
    RUNS,
    TOPS,
    Array,
    Board,
)
from boulanger_env.game.taps import first_empty_column, tap_action, to_column, to_foundation

PLACES, CARDS, TAPS = range(3)
ACTIONS = {"places": PLACES, "cards": CARDS, "taps": TAPS}
"""The values of the environments' keyword ``actions``, and the kernels' number for each."""

# The destination of a card action.
ONTO_PARENT, INTO_EMPTY, INTO_CELL, ONTO_FOUNDATION = range(4)

_KINDS = (
    *((card, ONTO_PARENT) for card in range(1, N_CARDS + 1) if rank_of(card) < N_RANKS),
    *((card, kind) for kind in (INTO_EMPTY, INTO_CELL, ONTO_FOUNDATION) for card in range(1, N_CARDS + 1)),
)
CARD_ACTION_TABLE: NDArray[np.int8] = np.array(_KINDS, np.int8)
"""Read-only int8 array ``(204, 2)``: the card of each card action, and where it goes: 0 = onto its parent,
1 = to an empty column, 2 = to a cell, 3 = home."""
CARD_ACTION_TABLE.flags.writeable = False

N_CARD_ACTIONS = len(_KINDS)
_BY_CARD = np.zeros((4, NO_CELL + 1), np.uint8)
for _action, (_card, _kind) in enumerate(_KINDS):
    _BY_CARD[_kind, _card] = _action
ONTO, TO_EMPTY, IN_CELL, HOME = _BY_CARD.copy()
"""The card actions by card and destination; 0 where there is none, for ``NO_CARD`` and ``NO_CELL`` too."""
RUN_ONTO = np.array([0, *ONTO[:-1]], np.uint8)
"""The card action that puts a whole run onto its parent, by the run's lowest card plus its size."""

WIDTHS = {PLACES: N_ACTIONS, CARDS: N_CARD_ACTIONS, TAPS: N_SOURCES}
"""How many actions each numbering has, without undo."""

# Why a card action is not a move on the board: negative results of as_place.
IS_HOME, COVERED, PARENT_COVERED, NO_EMPTY_COLUMN, ALREADY_IN_CELL = -1, -2, -3, -4, -5

# Two moves that undo each other are never legal together.
_THERE, _BACK = Move(0, 1).id, Move(1, 0).id


@kernel
def never_legal(board: Board) -> int:
    """An action id that is illegal on this board."""
    return _THERE if why_illegal(board, _THERE) != LEGAL else _BACK


@inlined_kernel
def as_place(board: Board, action: int, actions: int) -> int:
    """The action (0..779) that an action stands for, legal or not; negative: why it stands for none.

    Args:
        board: the position.
        action: an action of the numbering, not undo.
        actions: the numbering: ``PLACES``, ``CARDS`` or ``TAPS``.
    """
    if actions == PLACES:
        return action
    return _of_card(board, action) if actions == CARDS else tap_action(board, action)


@kernel
def place_of(board: Board, action: int, actions: int) -> int:
    """``as_place``, compiled to be called from Python."""
    return as_place(board, action, actions)


@inlined_kernel
def _of_card(board: Board, action: int) -> int:
    card = i64(CARD_ACTION_TABLE[action, 0])
    kind = i64(CARD_ACTION_TABLE[action, 1])
    if board[FOUNDATIONS + i64(SUIT[card])] >= RANK[card]:
        return IS_HOME
    source, size = NO_ONE, 1
    for c in range(MAX_CELLS):
        if board[CELLS + c] == card:
            source = FIRST_CELL + c
    for column in range(N_COLUMNS):
        above, run = card - i64(board[TOPS + column]), i64(board[RUNS + column])
        if np.uint64(above) < np.uint64(run):  # unsigned, so that below the top card is far above it
            source, size = column, above + 1
    if source < 0 or (size > 1 and kind >= INTO_CELL):
        return COVERED
    if kind <= INTO_EMPTY:
        takers = bytes_equal(top_cards(board), i64(PARENT[card]) if kind == ONTO_PARENT else NO_CARD)
        if takers == np.uint64(0):
            return PARENT_COVERED if kind == ONTO_PARENT else NO_EMPTY_COLUMN
        return to_column(source, byte_index(lowest_bit(takers)), size)
    if kind == INTO_CELL:
        return COLUMN_TO_CELL + source if source < FIRST_CELL else ALREADY_IN_CELL
    return to_foundation(source)


@inlined_kernel
def legal_actions(board: Board, mask: Array, prune: int, actions: int) -> int:
    """Write the legal actions of a numbering into a mask (1 = legal), without undo, and count them.

    The result is 0 only if there are no legal moves, whatever the numbering and ``prune`` (see ``legal_moves``).
    """
    if actions == PLACES:
        return legal_moves(board, mask, prune)
    return legal_cards(board, mask, prune) if actions == CARDS else legal_taps(board, mask, prune)


@inlined_kernel
def legal_cards(board: Board, mask: Array, prune: int) -> int:
    """``legal_actions`` for ``CARDS``."""
    mask[:N_CARD_ACTIONS] = 0
    free, n_empty = empty_cells(board), empty_columns(board)
    limit = group_limit(free, n_empty)
    on_top, going = set_of_tops(board), set_of_next_home(board)
    count = 0
    # What is not there has a number too, and moves nothing: there are few branches to mispredict.
    for s in range(N_COLUMNS):
        top, run = i64(board[TOPS + s]), i64(board[RUNS + s])
        home = i64(is_in(top, going))
        cell = i64((free > 0) & (top != NO_CARD))
        # Onto an occupied column only a whole run can go: its other cards lie on their parents.
        onto = i64(is_in(i64(TAKES[np.uint64(top + run)]), on_top)) & i64(run <= limit)
        mask[np.uint64(HOME[top])] |= home
        mask[np.uint64(IN_CELL[top])] |= cell
        mask[np.uint64(RUN_ONTO[np.uint64(top + run)])] |= onto
        count += home + cell + onto
    for c in range(MAX_CELLS):
        card = np.uint64(board[CELLS + c])
        home = i64(is_in(i64(card), going))
        onto = i64(is_in(i64(PARENT[card]), on_top))
        mask[np.uint64(HOME[card])] |= home
        mask[np.uint64(ONTO[card])] |= onto
        count += home + onto
    if n_empty > 0:
        count += _cards_to_empty(board, mask, limit >> 1, prune)
    return count


@inlined_kernel
def _cards_to_empty(board: Board, mask: Array, limit: int, prune: int) -> int:
    count = 0
    for s in range(N_COLUMNS):
        size = min(i64(board[RUNS + s]), limit)
        if prune and size == i64(board[HEIGHTS + s]):
            size -= 1
        first = np.uint64(TO_EMPTY[i64(board[TOPS + s])])
        for k in range(size):
            mask[first + np.uint64(k)] = 1
        count += max(size, 0)
    for c in range(MAX_CELLS):
        card = i64(board[CELLS + c])
        if card not in (NO_CARD, NO_CELL):
            mask[np.uint64(TO_EMPTY[card])] = 1
            count += 1
    return count


@kernel
def legal_taps(board: Board, mask: Array, prune: int) -> int:
    """``legal_actions`` for ``TAPS``."""
    free, empty = empty_cells(board), first_empty_column(board)
    count = 0
    for source in range(N_SOURCES):
        column = source < FIRST_CELL
        card = i64(board[TOPS + source] if column else board[CELLS + source - FIRST_CELL])
        moves = 0
        if card not in (NO_CARD, NO_CELL):
            if goes_home(board, card) or parent_column(board, card) >= 0:
                moves = 1
            elif empty >= 0:
                # A lone card would only change its column.
                moves = i64(not (prune and column and board[HEIGHTS + source] == 1))
            elif column:
                moves = i64(free > 0)
        mask[source] = moves
        count += moves
    return count


@kernel
def places_of(boards: Array, games: Array, chosen: Array, actions: int, out: Array) -> None:
    """The action of the action table, or undo, for which each of some actions stands; an illegal one if for none.

    Args:
        boards: uint8 ``(n, BOARD_SIZE)``.
        games: int64 ``(k,)``, the rows of ``boards``.
        chosen: int64 ``(k,)``, actions of the numbering, or undo; of others the result means nothing.
        actions: the numbering: ``PLACES``, ``CARDS`` or ``TAPS``.
        out: int64 ``(k,)``, overwritten.
    """
    width = N_ACTIONS if actions == PLACES else N_CARD_ACTIONS if actions == CARDS else N_SOURCES
    for i in range(len(out)):
        action, board = i64(chosen[i]), boards[games[i]]
        place = NO_ONE
        if action == width:
            place = UNDO
        elif 0 <= action < width:
            place = as_place(board, action, actions)
        out[i] = place if place >= 0 else never_legal(board)
