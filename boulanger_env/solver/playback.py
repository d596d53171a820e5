"""From a search's record of its moves back to the actions of the game."""

from __future__ import annotations

from typing import Any

import numpy as np

from boulanger_env.game import Game, Move
from boulanger_env.game.internal import rows_of
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import LEGAL, apply, column_action, run_length, why_illegal
from boulanger_env.game.moves import CELL_HOME, CELL_TO_COLUMN, COLUMN_HOME, COLUMN_TO_CELL
from boulanger_env.game.state import CELLS, MAX_CELLS, N_COLUMNS, TOPS, Array, Board

from . import search, shortest
from .position import N_BYTES, N_WORDS, STEP, TO_CELL, TO_HOME, settle
from .start import Start, read_board
from .steps import take_step

_LOGGED_A_STEP = 160  # no step moves each card three times


def search_moves(game: Game, start: Start, found: search.Search) -> tuple[Move, ...]:
    """The moves of the win that a complete search has found."""
    rows = np.flatnonzero(~found.waiting[: found.counts[search.STACK]])
    return _moves(game, start, found.words[rows[1:], STEP].astype(np.int64), _replay_steps)


def graph_moves(game: Game, start: Start, graph: shortest.Graph) -> tuple[Move, ...]:
    """The moves of the solution that A* has found."""
    node = int(graph.counts[shortest.GOAL]) - 1
    steps = []
    while node:
        steps.append(int(graph.words[node, STEP]))
        node = int(graph.parent[node])
    return _moves(game, start, np.array(steps[::-1], np.int64), _replay_moves)


def _moves(game: Game, start: Start, steps: Array, replay: Any) -> tuple[Move, ...]:
    board = rows_of(game).board.copy()
    log = np.zeros(1 + _LOGGED_A_STEP * (len(steps) + 1), np.int64)
    replay(start, board, np.zeros(N_BYTES, np.uint8), np.zeros(N_WORDS, np.uint64), steps, log)
    actions = log[1 : log[0] + 1]
    if not _to_actions(board, actions):
        raise AssertionError(f"the solver made a move that the rules forbid, from\n{game}")
    return tuple(Move.from_id(action) for action in actions.tolist())


@kernel
def _replay_steps(start: Any, board: Board, b: Array, w: Array, steps: Array, log: Array) -> None:
    """Log the moves of a complete search's steps."""
    read_board(board, start, b, w)
    settle(start, b, w, log)
    for i in range(len(steps)):
        take_step(start, b, w, steps[i], log)


@kernel
def _replay_moves(start: Any, board: Board, b: Array, w: Array, moves: Array, log: Array) -> None:
    """Log the moves of an A* search."""
    read_board(board, start, b, w)
    shortest.all_home(start, b, w, log)
    for i in range(len(moves)):
        shortest.take_move(start, b, w, shortest.find_columns(b, moves[i]), log)


@kernel
def _to_actions(board: Board, log: Array) -> bool:
    """Turn logged moves into action ids, in place, while playing them; False if the rules forbid one."""
    for i in range(len(log)):
        action = _action(board, log[i] & 255, (log[i] >> 8) & 255, log[i] >> 16)
        if action < 0 or why_illegal(board, action) != LEGAL:
            return False
        apply(board, action)
        log[i] = action
    return True


@kernel
def _action(board: Board, card: int, size: int, to: int) -> int:
    """The action that moves ``card`` with the cards built on it, -1 if the card is not found."""
    for column in range(N_COLUMNS):
        if i64(board[TOPS + column]) == card - size + 1 and run_length(board, column) >= size:
            if to == TO_CELL:
                return COLUMN_TO_CELL + column
            if to == TO_HOME:
                return COLUMN_HOME + column
            return column_action(column, to, size)
    for cell in range(MAX_CELLS):
        if i64(board[CELLS + cell]) == card:
            return CELL_HOME + cell if to == TO_HOME else CELL_TO_COLUMN + N_COLUMNS * cell + to
    return -1
