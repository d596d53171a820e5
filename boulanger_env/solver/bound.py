"""``least_moves``: what the layout of a position alone says about the length of its solutions."""

from __future__ import annotations

import numpy as np

from boulanger_env.game import Game

from .position import N_BYTES, N_WORDS
from .shortest import moves_left
from .start import new_start, read_board


def least_moves(game: Game) -> int:
    """A lower bound of the moves of any solution, groups counted as one.

    Each card that is not home takes a move to get there. And a card that lies above a lower card of its suit, and not
    on its parent, takes one more: it has to make way first.

    >>> least_moves(Game.from_code("MS-C4-1"))
    64
    """
    start, b, w = new_start(), np.zeros(N_BYTES, np.uint8), np.zeros(N_WORDS, np.uint64)
    read_board(game._board, start, b, w)
    return int(moves_left(start, b))
