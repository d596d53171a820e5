"""``winning_moves``: which legal moves keep the win."""

from __future__ import annotations

from typing import Any

import numpy as np

from boulanger_env.game import ACTION_TABLE, Game, Move
from boulanger_env.game.internal import rows_of
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.moves import FIRST_CELL, TO_CELL, TO_FOUNDATION
from boulanger_env.game.state import CELLS as CELL_PLACES
from boulanger_env.game.state import Array, Board

from . import search
from .position import (
    HIGH,
    LOW,
    N_BYTES,
    N_WORDS,
    TOP,
    card_home,
    cell_to_column,
    head_of,
    run_to_column,
    settle,
    tail_to_empty,
    top_to_cell,
)
from .solving import MEMORY_LIMIT, Budget, check_game, check_limits, run
from .start import new_start, read_board


def winning_moves(
    game: Game,
    node_limit: int | None = None,
    time_limit: float | None = None,
    *,
    memory_limit: int = MEMORY_LIMIT,
) -> dict[Move, bool | None]:
    """For each legal move, whether the game can still be won after it.

    The searches share their results: a position proved lost for one move is not searched again for another.

    Args:
        game: any position; it is not changed.
        node_limit: maximum positions to search, for each move.
        time_limit: seconds, for all moves.
        memory_limit: maximum bytes for the positions met.

    Returns:
        The legal moves in the order of their ids, each with True (it keeps the win), False (proved lost) or None (a
        limit was reached first).

    Raises:
        BoulangerError: an argument is invalid.

    >>> from boulanger_env import Game
    >>> verdicts = winning_moves(Game.from_code("MS-C4-617"))
    >>> [str(move) for move, wins in verdicts.items() if wins]
    ['78', '2f', '4f', '5f', '6f', '7f', '8f']
    """
    check_limits(node_limit, time_limit, "any", memory_limit)
    game = check_game(game, "winning_moves")
    time_left = Budget(None, time_limit, memory_limit)
    start, room = new_start(), search.new_search()
    b, w = np.zeros(N_BYTES, np.uint8), np.zeros(N_WORDS, np.uint64)
    search.forget(room)
    won: set[tuple[int, int]] = set()
    verdicts: dict[Move, bool | None] = {}
    for move in game.legal_moves():
        budget = Budget(node_limit, None, memory_limit)
        budget.deadline = time_left.deadline
        _after(rows_of(game).board, move.id, start, b, w, room.no_log)
        if (int(w[LOW]), int(w[HIGH])) in won:
            verdicts[move] = True
            continue
        lost = room.seen.copy(), int(room.counts[search.KEYS])
        room, status = run(
            search,
            room,
            int(search.begin(room, b, w)),
            lambda room, nodes: search.search_on(start, room, nodes),
            1 << 62,
            budget,
        )
        verdicts[move] = {search.WON: True, search.LOST: False}.get(status)
        if status == search.WON:
            path = ~room.waiting[: room.counts[search.STACK]]
            won.update((int(key[LOW]), int(key[HIGH])) for key in room.words[: len(path)][path])
        if status != search.LOST:
            # Not all positions of this search are lost: keep only those of earlier searches in the table.
            room = room._replace(seen=lost[0])
            room.counts[search.KEYS] = lost[1]
    return verdicts


@kernel
def _after(board: Board, action: int, start: Any, b: Array, w: Array, no_log: Array) -> None:
    """The settled position after a legal action, with the position before it as the start."""
    read_board(board, start, b, w)
    source, to, size = (
        i64(ACTION_TABLE[action, 0]),
        i64(ACTION_TABLE[action, 1]),
        i64(ACTION_TABLE[action, 2]),
    )
    if source >= FIRST_CELL:
        card = i64(board[CELL_PLACES + source - FIRST_CELL])
        if to == TO_FOUNDATION:
            card_home(start, b, w, card, no_log)
        else:
            cell_to_column(b, w, card, to, no_log)
    elif to == TO_FOUNDATION:
        card_home(start, b, w, i64(b[TOP + source]), no_log)
    elif to == TO_CELL:
        top_to_cell(start, b, w, source, no_log)
    elif size == head_of(start, b, source) - i64(b[TOP + source]) + 1:
        run_to_column(start, b, w, source, to, no_log)
    else:
        tail_to_empty(start, b, w, source, size, to, no_log)
    settle(start, b, w, no_log)
