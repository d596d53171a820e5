"""From and to games, deals and observations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.deals import DealSet, as_deal_set
from boulanger_env.envs.observations import Observation, board_from_observation
from boulanger_env.game import BoulangerError, Game
from boulanger_env.game.checks import shown
from boulanger_env.game.internal import game_of, rows_of
from boulanger_env.game.rows import checked_rows, deal_rows
from boulanger_env.game.state import BOARD_SIZE, new_state

WIDTH = BOARD_SIZE
"""Bytes of a position.

0-151: the 8 columns of 19 places, first card first, 0 above the top card; 152-155: the 4 cells, 0 = empty, 53 = a cell
that this game does not have; 156-159: the rank that each suit has reached on its foundation; 160-183: the number of
cards in each column, then the top cards, then the lengths of the runs at the top. The last 24 follow from the others,
and must agree with them; rows of the first 160 bytes, as ``Starts.positions`` has them, are taken too and completed.
"""


def from_games(games: Iterable[Game]) -> NDArray[np.uint8]:
    """The positions of games, uint8 ``(n, WIDTH)``.

    Raises:
        BoulangerError: they are not a list of games.

    >>> from_games([Game.from_code("MS-C4-1"), Game.from_code("MS-C2-1")]).shape
    (2, 184)
    """
    if isinstance(games, Game) or not isinstance(games, Iterable):
        raise BoulangerError(f"games are {shown(games)}, they must be a list of Game")
    rows = []
    for i, game in enumerate(games):
        if not isinstance(game, Game):
            raise BoulangerError(f"game {i} is {shown(game)}, it must be a Game")
        rows.append(rows_of(game.copy()).board)
    return np.array(rows, np.uint8).reshape(-1, WIDTH)


def from_deals(deals: str | DealSet | Iterable[str]) -> NDArray[np.uint8]:
    """The positions before the first move, uint8 ``(n, WIDTH)``.

    Args:
        deals: a list of game codes, a ``DealSet``, or the name or file of one.

    Raises:
        InvalidCodeError: one of the codes is not a game code.
        BoulangerError: there is no such set.

    >>> from_deals("c4-validation").shape
    (1000, 184)
    """
    decks, n_cells = as_deal_set(deals).decks()
    rows = np.zeros((len(decks), WIDTH), np.uint8)
    deal_rows(decks, n_cells, rows)
    return rows


def from_observation(observation: Observation | Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """The positions that an observation shows, uint8 ``(n, WIDTH)``; a single one gives one row.

    Args:
        observation: ``"cards"`` or ``"features"``, with any batch axes.

    Raises:
        InvalidBoardError: it does not show positions of the game.
    """
    return board_from_observation(observation).reshape(-1, WIDTH)


def to_games(positions: NDArray[np.uint8]) -> list[Game]:
    """The positions as games with no score, no history and no code.

    Raises:
        InvalidBoardError: a row is not a position; the message says which and why.

    >>> to_games(from_deals(["MS-C4-1"]))[0] == Game.from_code("MS-C4-1")
    True
    """
    return [game_of(new_state()._replace(board=row.copy())) for row in checked_rows(positions)]
