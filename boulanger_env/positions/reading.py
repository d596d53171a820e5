"""What positions are: their masks, outcomes, keys and observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.envs.action_maps import ACTIONS, WIDTHS
from boulanger_env.envs.observations import KINDS, Observation, observation_space
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.outcomes import O_RUNNING, O_STUCK, O_WON
from boulanger_env.game.rows import as_rows, refuse_row
from boulanger_env.game.state import BOARD_SIZE

from . import loops

PLAYING, WON, STUCK = O_RUNNING, O_WON, O_STUCK
"""The outcomes, as ``outcomes`` and ``expand`` report them: 0, 1 and 2."""


def masks(positions: NDArray[np.uint8], *, actions: str = "places", prune: bool = False) -> NDArray[np.int8]:
    """The legal actions of each position.

    Args:
        positions: uint8 ``(n, WIDTH)``.
        actions: how they are numbered, as in the environment: ``"places"``, ``"cards"`` or ``"taps"``.
        prune: leave out moves that lead to an equivalent position, as in the environment.

    Returns:
        int8 ``(n, 780)``, or 204 or 12 wide; 1 = legal. All zeros where the game is won or stuck.

    Raises:
        InvalidBoardError: a row is not a position; the message says which and why.
    """
    kind = numbering(actions)
    rows = as_rows(positions)
    out = np.empty((len(rows), WIDTHS[kind]), np.int8)
    _check(rows, loops.write_masks(rows, _row(), bool(prune), kind, out))
    return out


def outcomes(positions: NDArray[np.uint8]) -> NDArray[np.int8]:
    """How each position stands, int8 ``(n,)``: ``PLAYING`` (0), ``WON`` (1) or ``STUCK`` (2).

    Raises:
        InvalidBoardError: a row is not a position; the message says which and why.
    """
    rows = as_rows(positions)
    out = np.empty(len(rows), np.int8)
    _check(rows, loops.write_outcomes(rows, _row(), out))
    return out


def keys(positions: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A hash of each position, uint64 ``(n,)``, the same in every run and on every machine.

    Positions that differ only in the order of columns or of cells have the same key. Two others share one with a
    probability of 2**-64; ``Game.position_key`` has no such risk.

    Raises:
        InvalidBoardError: a row is not a position; the message says which and why.
    """
    rows = as_rows(positions)
    out = np.empty(len(rows), np.uint64)
    _check(rows, loops.write_keys(rows, _row(), out))
    return out


def observe(positions: NDArray[np.uint8], kind: str = "features") -> Observation:
    """The observations of positions, as a batch of environments shows them.

    Args:
        positions: uint8 ``(n, WIDTH)``.
        kind: ``"features"`` or ``"cards"``.

    Returns:
        ``"features"``: uint8 ``(n, 2076)``. ``"cards"``: a dict of uint8 arrays, ``tableau`` ``(n, 8, 19)``, ``cells``
        ``(n, 4)`` and ``foundations`` ``(n, 4)``.

    Raises:
        InvalidBoardError: a row is not a position; the message says which and why.
        BoulangerError: there is no such kind.
    """
    observation_space(kind)
    rows = as_rows(positions)
    out = np.empty((len(rows), KINDS[kind].size), np.uint8)
    _check(rows, loops.write_observations(rows, _row(), out, KINDS[kind].number))
    return KINDS[kind].view(out)


def inputs(
    positions: NDArray[np.uint8], kind: str = "features", *, actions: str = "places", prune: bool = False
) -> tuple[Observation, NDArray[np.int8]]:
    """What a network needs to judge positions: ``observe`` and ``masks`` in one pass, which takes less time.

    Args:
        positions: uint8 ``(n, WIDTH)``.
        kind: ``"features"`` or ``"cards"``.
        actions: how the masks number the actions, as in the environment: ``"places"``, ``"cards"`` or ``"taps"``.
        prune: leave out moves that lead to an equivalent position, as in the environment.

    Returns:
        The observations and the masks.

    Raises:
        InvalidBoardError: a row is not a position; the message says which and why.
        BoulangerError: there is no such kind or numbering.
    """
    observation_space(kind)
    number = numbering(actions)
    rows = as_rows(positions)
    legal = np.empty((len(rows), WIDTHS[number]), np.int8)
    out = np.empty((len(rows), KINDS[kind].size), np.uint8)
    _check(rows, loops.write_inputs(rows, _row(), bool(prune), number, out, KINDS[kind].number, legal))
    return KINDS[kind].view(out), legal


def numbering(actions: Any) -> int:
    """The kernels' number for a numbering of the actions.

    Raises:
        BoulangerError: there is no such numbering.
    """
    if not isinstance(actions, str) or actions not in ACTIONS:
        raise BoulangerError(
            f"actions={shown(actions)} is unknown: choose one of {', '.join(map(repr, ACTIONS))}"
        )
    return ACTIONS[actions]


def _row() -> NDArray[np.uint8]:
    """Room for the row that a kernel is at."""
    return np.empty(BOARD_SIZE, np.uint8)


def _check(rows: NDArray[np.uint8], wrong: Any) -> None:
    if wrong >= 0:
        refuse_row(rows, int(wrong))
