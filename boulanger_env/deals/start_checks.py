"""Checks of what ``Starts`` are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game import Game
from boulanger_env.game.checks import as_array, shown, whole_bytes
from boulanger_env.game.errors import BoulangerError, InvalidBoardError
from boulanger_env.game.internal import rows_of
from boulanger_env.game.moves import N_ACTIONS
from boulanger_env.game.outcomes import OUTCOMES
from boulanger_env.game.start_draws import first_over
from boulanger_env.game.state import BOARD_SIZE, HEIGHTS
from boulanger_env.game.validity import index_positions, why_no_position

MOST_GROUPS = 1 << 16


def read_positions(positions: Any, n_cells: int) -> NDArray[np.uint8]:
    """The positions of ``Starts`` as complete board rows ``(m, BOARD_SIZE)``, new.

    Raises:
        InvalidBoardError: one is not a position of the game.
        BoulangerError: they are not rows, games or text boards.
    """
    if isinstance(positions, np.ndarray) and positions.dtype != object:
        given = whole_bytes("positions", positions, InvalidBoardError)
        if given.ndim != 2 or given.shape[1] not in (HEIGHTS, BOARD_SIZE):
            raise InvalidBoardError(
                f"positions of shape {given.shape}: rows of cards are (m, {HEIGHTS}) or (m, {BOARD_SIZE})"
            )
        boards = np.zeros((len(given), BOARD_SIZE), np.uint8)
        boards[:, :HEIGHTS] = given[:, :HEIGHTS]
    else:
        if isinstance(positions, (str, Game)) or not isinstance(positions, Iterable):
            raise BoulangerError(
                f"positions are an array or a list of games or boards, not {shown(positions)}"
            )
        rows = [rows_of(_read_game(i, given, n_cells)).board for i, given in enumerate(positions)]
        boards = np.array(rows, np.uint8).reshape(-1, BOARD_SIZE)
    if not len(boards):
        raise BoulangerError("there are no positions: at least one is needed")
    wrong = int(index_positions(boards))
    if wrong >= 0:
        raise InvalidBoardError(f"position {wrong}: {why_no_position(boards[wrong])}")
    return boards


def _read_game(i: int, given: Any, n_cells: int) -> Game:
    if isinstance(given, Game):
        return given
    if not isinstance(given, str):
        raise BoulangerError(f"position {i} is {shown(given)}: it must be a Game or a text board")
    try:
        return Game.from_text(given, n_cells)
    except BoulangerError as error:
        raise type(error)(f"position {i}: {error}") from None


def refuse_over(boards: NDArray[np.uint8], homes_first: bool) -> None:
    """Check that no position is over.

    Args:
        boards: valid board rows.
        homes_first: whether every legal move home is played before the first decision.

    Raises:
        BoulangerError: a position is won or stuck.
    """
    wrong, outcome = first_over(
        boards, homes_first, np.zeros(BOARD_SIZE, np.uint8), np.zeros(N_ACTIONS, np.int8)
    )
    if wrong < 0:
        return
    if homes_first:
        raise BoulangerError(
            f"position {wrong} would be {OUTCOMES[outcome]} before the first decision, by the moves home that "
            "auto_foundation=True plays: leave it out (Starts.from_solutions(..., auto_foundation=True) does)"
        )
    raise BoulangerError(f"position {wrong} is already {OUTCOMES[outcome]}: nothing is left to play")


def read_groups(left: Any, m: int) -> NDArray[np.int32]:
    """The group of each of ``m`` positions.

    Raises:
        BoulangerError: they are not ``m`` whole numbers within bounds.
    """
    if left is None:
        return np.zeros(m, np.int32)
    given = as_array("left", left)
    if given.shape != (m,):
        raise BoulangerError(
            f"left of shape {given.shape}: there is one group for each of {m} positions, ({m},)"
        )
    if given.dtype.kind not in "iu" or not 0 <= given.min() <= given.max() < MOST_GROUPS:
        raise BoulangerError(
            f"left {shown(left)}: groups are whole numbers from 0 to {MOST_GROUPS - 1}, such as decisions left"
        )
    return given.astype(np.int32)


def read_weights(weights: Any, n_groups: int, present: NDArray[Any]) -> NDArray[np.float64]:
    """A weight for each group, copied.

    Args:
        weights: as given.
        n_groups: how many there must be.
        present: the groups that have positions.

    Raises:
        BoulangerError: they are not so many finite numbers from 0 on, one of ``present`` above 0.
    """
    given = as_array("weights", weights)
    if given.shape != (n_groups,):
        raise BoulangerError(
            f"weights of shape {given.shape}: there is one for each of the groups 0 to {n_groups - 1}, ({n_groups},)"
        )
    if given.dtype.kind not in "biuf":
        raise BoulangerError(f"weights {shown(weights)} are not numbers")
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, which is refused below
        checked = given.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(checked) & (checked >= 0)))
    if len(wrong):
        raise BoulangerError(
            f"weight {wrong[0]} is {checked[wrong[0]]}: each must be a finite number of at least 0"
        )
    if not checked[present].any():
        raise BoulangerError("all weights of groups with positions are 0: at least one must be above 0")
    return checked


def read_share(share: Any) -> float:
    """A share of whole deals as a float.

    Raises:
        BoulangerError: it is not a number from 0 to 1.
    """
    if (
        isinstance(share, (int, float, np.integer, np.floating))
        and not isinstance(share, bool)
        and 0 <= share <= 1
    ):
        return float(share)
    raise BoulangerError(f"deal_share={shown(share)} must be a number from 0 to 1")
