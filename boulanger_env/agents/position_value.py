"""Position evaluation: a weighted sum of features that a player would count, in one pass over the columns."""

from __future__ import annotations

from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import PARENT, RANK, SUIT, cards_home, empty_cells
from boulanger_env.game.state import FOUNDATIONS, HEIGHTS, MAX_HEIGHT, N_COLUMNS, TABLEAU, Board

# Tuned by an evolution strategy on the win rate over random solvable deals with 4 cells, none of them reserved.
HOME = 77
ON_PARENT = 45
FREE_CELL = 108
NO_FREE_CELL = -49
EMPTY_COLUMN = 26
NO_ROOM = -31  # neither a free cell nor an empty column
BLOCKER = -19  # a card above a lower one of its suit, not on its parent
BLOCKER_ON_PARENT = -13
ABOVE_NEXT = -24  # a card above one that is next on its foundation
RUN_ABOVE_NEXT = -4  # the same, counting a run as one
RUN_ABOVE_SECOND = -10  # a run above the second next card of a suit
ORDERED_COLUMN = 11  # a column that is one run
UNDER_KING = 7  # a card in such a column that begins with a king

_NO_LOWER = 0xEEEE  # a digit 14 for each suit: no card seen yet


@kernel
def evaluate_position(board: Board) -> int:
    """The value of a position; the higher, the closer it looks to a win."""
    free = empty_cells(board)
    value = HOME * cards_home(board) + FREE_CELL * free
    empty = 0
    for column in range(N_COLUMNS):
        height = i64(board[HEIGHTS + column])
        if height == 0:
            empty += 1
            continue
        base = TABLEAU + column * MAX_HEIGHT
        lowest = _NO_LOWER
        on_parent, blockers, blocking_runs = 0, 0, 0
        runs = 0  # runs so far, not counting the first
        next_seen, next_places, next_runs, second_seen, second_runs = 0, 0, 0, 0, 0
        below = 0
        for i in range(height):
            card = i64(board[base + i])
            suit, rank = i64(SUIT[card]), i64(RANK[card])
            joined = i > 0 and below == i64(PARENT[card])
            if joined:
                on_parent += 1
            elif i > 0:
                runs += 1
            if rank > (lowest >> (4 * suit)) & 15:
                if joined:
                    blocking_runs += 1
                else:
                    blockers += 1
            else:
                lowest = (lowest & ~(15 << (4 * suit))) | (rank << (4 * suit))
            ahead = rank - i64(board[FOUNDATIONS + suit])
            if ahead == 1:
                next_seen += 1
                next_places += i
                next_runs += runs
            elif ahead == 2:
                second_seen += 1
                second_runs += runs
            below = card
        value += ON_PARENT * on_parent + BLOCKER * blockers + BLOCKER_ON_PARENT * blocking_runs
        value += ABOVE_NEXT * (next_seen * (height - 1) - next_places)
        value += RUN_ABOVE_NEXT * (next_seen * runs - next_runs)
        value += RUN_ABOVE_SECOND * (second_seen * runs - second_runs)
        if runs == 0:
            value += ORDERED_COLUMN
            if i64(RANK[i64(board[base])]) == 13:
                value += UNDER_KING * height
    value += EMPTY_COLUMN * empty
    if free == 0:
        value += NO_FREE_CELL
        if empty == 0:
            value += NO_ROOM
    return value
