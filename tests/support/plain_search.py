"""Breadth-first search by the rules alone: nothing is forced, ordered or pruned except equal positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from boulanger_env.game import Game
from boulanger_env.game.hashing import position_hash
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import apply, cards_home, copy_row, legal_moves
from boulanger_env.game.moves import N_ACTIONS
from boulanger_env.game.state import BOARD_SIZE

MOST = 20_000


def fewest_moves(game: Game) -> int | None:
    """Length of a shortest win, -1 if there is none, None if there are too many positions to search."""
    boards = np.empty((MOST + N_ACTIONS, BOARD_SIZE), np.uint8)
    depths = np.zeros(len(boards), np.int64)
    seen = np.zeros(1 << 16, np.uint64)
    boards[0] = game._board
    found = int(_search(boards, depths, seen, np.zeros(N_ACTIONS, np.int8)))
    return None if found == -2 else found


@kernel
def _search(boards: Any, depths: Any, seen: Any, mask: Any) -> int:
    count, node = 1, 0
    last = np.uint64(len(seen) - 1)
    while node < count:
        if cards_home(boards[node]) == 52:
            return i64(depths[node])
        if count > MOST:
            return -2
        legal_moves(boards[node], mask, False)
        for action in range(N_ACTIONS):
            if mask[action] == 0:
                continue
            copy_row(boards[node], boards[count])
            apply(boards[count], action)
            key = position_hash(boards[count])
            place = key & last
            while seen[place] != 0 and seen[place] != key:
                place = (place + np.uint64(1)) & last
            if seen[place] == key and key != 0:
                continue
            seen[place] = key
            depths[count] = depths[node] + 1
            count += 1
        node += 1
    return -1
