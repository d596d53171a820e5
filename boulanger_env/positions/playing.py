"""What becomes of positions: moves played, home moves played, all children."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from boulanger_env.envs.action_maps import WIDTHS
from boulanger_env.envs.refusals import refuse
from boulanger_env.envs.settings import Settings
from boulanger_env.game.checks import as_array, plain, shown
from boulanger_env.game.errors import BoulangerError, IllegalMoveError
from boulanger_env.game.moves import action_id
from boulanger_env.game.rows import as_rows, checked_rows, refuse_row
from boulanger_env.game.state import BOARD_SIZE, Board

from . import loops
from .conversion import to_games
from .reading import numbering


class Expansion(NamedTuple):
    """What one move makes of positions, the children of the first position first, in the order of their actions.

    Attributes:
        children: uint8 ``(m, WIDTH)``.
        parents: int64 ``(m,)``: the index of the position that each child comes from.
        actions: int64 ``(m,)``: the action that leads to it.
        outcomes: int8 ``(m,)``: how each child stands: ``PLAYING`` (0), ``WON`` (1) or ``STUCK`` (2).
    """

    children: NDArray[np.uint8]
    parents: NDArray[np.int64]
    actions: NDArray[np.int64]
    outcomes: NDArray[np.int8]


def play(
    positions: NDArray[np.uint8], chosen: Any, *, actions: str = "places", auto_foundation: bool = False
) -> NDArray[np.uint8]:
    """Play one action in each position.

    Args:
        positions: uint8 ``(n, WIDTH)``; not changed.
        chosen: integers ``(n,)``, all legal.
        actions: how they are numbered, as in the environment: ``"places"``, ``"cards"`` or ``"taps"``.
        auto_foundation: play all legal moves home after it, as in the environment.

    Returns:
        The positions after it, uint8 ``(n, WIDTH)``.

    Raises:
        IllegalMoveError: an action is not legal; the message says where, and which rule it breaks.
        InvalidBoardError: a row is not a position; the message says which and why.
        BoulangerError: there is not one action per position.

    >>> from boulanger_env import Move
    >>> from boulanger_env.positions import from_deals
    >>> start = from_deals(["MS-C4-1"])
    >>> play(start, [Move.parse("6f").id])[0, 152:156]
    array([29,  0,  0,  0], dtype=uint8)
    """
    kind = numbering(actions)
    rows, numbers = as_rows(positions), _numbers(chosen, WIDTHS[kind])
    if numbers.shape != (len(rows),):
        raise BoulangerError(
            f"actions of shape {numbers.shape} for {len(rows)} positions: one each is ({len(rows)},)"
        )
    out = np.empty_like(rows)
    i, illegal = loops.play_rows(rows, numbers, kind, bool(auto_foundation), out)
    if i >= 0 and illegal:
        _refuse_action(rows, int(i), int(numbers[i]), actions)
    if i >= 0:
        refuse_row(rows, int(i))
    return out


def auto_foundation(positions: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Play every legal move home in each position, until there is none: what the keyword does when a game starts.

    Returns:
        The positions after that, uint8 ``(n, WIDTH)``.

    Raises:
        InvalidBoardError: a row is not a position; the message says which and why.
    """
    rows = checked_rows(positions)
    loops.play_home(rows)
    return rows


def expand(
    positions: NDArray[np.uint8],
    *,
    actions: str = "places",
    auto_foundation: bool = False,
    prune: bool = False,
) -> Expansion:
    """All children of positions: each legal action played once.

    Children that can be reached by several moves are there several times; ``np.unique(keys(children),
    return_index=True)`` finds one of each.

    Args:
        positions: uint8 ``(n, WIDTH)``. One that is won or stuck has no children.
        actions: how they are numbered, as in the environment: ``"places"``, ``"cards"`` or ``"taps"``.
        auto_foundation: play all legal moves home after each action, as in the environment.
        prune: leave out moves that lead to an equivalent position, as in the environment.

    Raises:
        InvalidBoardError: a row is not a position; the message says which and why.

    >>> from boulanger_env import Move
    >>> from boulanger_env.positions import from_deals
    >>> found = expand(from_deals(["MS-C4-1"]))
    >>> [str(Move.from_id(action)) for action in found.actions]
    ['28', '72', '1f', '2f', '3f', '4f', '5f', '6f', '7f', '8f']
    """
    ways = loops.Ways(numbering(actions), bool(prune), bool(auto_foundation))
    rows = as_rows(positions).copy()
    ends = np.empty(len(rows), np.int64)
    mask = np.zeros((WIDTHS[ways.numbering] + 7) // 8 * 8, np.int8)
    wrong = int(loops.count_children(rows, mask, ways, ends))
    if wrong >= 0:
        refuse_row(rows, wrong)
    m = int(ends[-1]) if len(ends) else 0
    found = Expansion(
        np.empty((m, BOARD_SIZE), np.uint8),
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(m, np.int8),
    )
    loops.write_children(rows, mask, mask.view(np.uint64), ways, loops.Children(*found))
    return found


def _numbers(chosen: Any, count: int) -> NDArray[np.int64]:
    """A caller's actions, each below ``count``, as int64."""
    given = as_array("actions", chosen)
    if given.dtype.kind not in "iu" and given.size:
        raise IllegalMoveError(f"actions {shown(chosen)} are not integers from 0 to {count - 1}")
    if given.size:
        action_id(given.min(), count)
        action_id(given.max(), count)
    return plain(given.astype(np.int64))


def _refuse_action(rows: Board, i: int, action: int, actions: str) -> NoReturn:
    """Report why an action is not legal in row ``i``, which is a position."""
    try:
        refuse(to_games(rows[i : i + 1])[0], action, Settings(actions=actions).rules())
    except IllegalMoveError as error:
        raise IllegalMoveError(f"position {i}: {error}") from None
