"""States: games as plain arrays that environments take back, checked before anything changes.

A state is a dict of arrays with a row for each game: the format's version, a digest of the row, and everything that an
environment knows of a game, the stream of its next deals included. So states can be saved with ``np.savez``, and rows
selected, repeated and joined, as long as all arrays are treated alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.checks import as_array, shown
from boulanger_env.game.errors import BoulangerError

from ._batch.loops import E_OUTCOME, Games
from ._batch.state_checks import add_to_digests, with_foundation_move
from ._batch.visits import VISITED, listed_visits, with_visits

GameState = dict[str, NDArray[Any]]

VERSION = 1
"""Of the arrays' meaning: it changes with any of them."""

# A view of the boards, and what listed_visits stands for.
_NOT_AS_THEY_ARE = ("words", "heads", "visited")
_VERSION, _DIGEST = "version", "digest"


def read_state(games: Games, chosen: NDArray[np.int64] | slice) -> GameState:
    """The state of some games, copied."""
    arrays = {name: array[chosen] for name, array in _parts(games)}
    count = len(arrays["boards"])
    arrays = {name: array.copy() if array.base is not None else array for name, array in arrays.items()}
    if games.visited.size:
        arrays |= listed_visits(games.heads[chosen], games.visited)
    return {
        _VERSION: np.full(count, VERSION),
        _DIGEST: _digests(arrays),
        **arrays,
    }


def checked_state(state: Any, games: Games, count: int, *, auto_foundation: bool) -> GameState:
    """The arrays of a state of ``count`` games, ready for :func:`write_state`.

    Args:
        state: as returned by ``get_state``, or what ``np.load`` makes of it.
        games: the environment's own.
        count: how many games are to be set.
        auto_foundation: whether foundation moves play themselves, so that none can be left.

    Raises:
        BoulangerError: it is not a state of so many games, of this version and of an environment with such keywords, or
            it has been modified.
    """
    if not isinstance(state, Mapping):
        raise BoulangerError(f"{shown(state)} is not a state: get_state() returns a dict of arrays")
    arrays = {name: as_array(f"state: {name}", state[name]) for name in state}
    version = arrays.pop(_VERSION, None)
    if version is None or _DIGEST not in arrays:
        raise BoulangerError(
            f"a dict with {shown(list(state))} is not a state: get_state() returns a dict of arrays"
        )
    if version.dtype.kind not in "iu" or (version != VERSION).any():
        raise BoulangerError(
            f"the state has version {shown(np.unique(version).tolist())}: this package reads version {VERSION}"
        )
    digests = arrays.pop(_DIGEST)
    expected = dict(_parts(games))
    if games.visited.size:
        expected |= listed_visits(games.heads[:1], games.visited)
    for name in (*expected, *arrays):
        if (name in expected) != (name in arrays):
            what = f"lacks {name!r}" if name in expected else f"has {name!r}, which this one does not know"
            raise BoulangerError(f"the state {what}: it was made by an environment with other keywords")
    if version.shape != (count,):
        raise BoulangerError(f"the state is of {version.size} games, but {count} are to be set")
    for name, array in (*arrays.items(), (_DIGEST, digests)):
        like = expected.get(name, np.zeros(0, np.uint64))
        if name == VISITED and array.ndim == 2:
            like = array[:0].astype(like.dtype)  # of any width
        if array.dtype != like.dtype or array.shape != (count, *like.shape[1:]):
            raise BoulangerError(
                f"state: {name} of {array.dtype} {array.shape} must be {like.dtype} {(count, *like.shape[1:])}"
            )
    wrong = np.flatnonzero(_digests(arrays) != digests)
    if len(wrong):
        raise BoulangerError(
            f"game {wrong[0]} of the state has been modified since get_state(): use reset() to start from positions of "
            "your own"
        )
    if auto_foundation:
        wrong_one = int(with_foundation_move(arrays["boards"], arrays["episodes"][:, E_OUTCOME]))
        if wrong_one >= 0:
            raise BoulangerError(
                f"game {wrong_one} of the state has a foundation move left: it was made by an environment without "
                "auto_foundation"
            )
    return arrays


def write_state(arrays: GameState, games: Games, chosen: NDArray[np.int64] | slice) -> Games:
    """Put checked arrays into the place of some games.

    Returns:
        The games, in the same arrays except for where they have been.
    """
    for name, array in _parts(games):
        array[chosen] = arrays[name]
    if not games.visited.size:
        return games
    heads, visited = with_visits(games.heads, games.visited, chosen, arrays)
    return games._replace(heads=heads, visited=visited)


def read_indices(indices: Any, n: int, *, distinct: bool) -> NDArray[np.int64] | slice:
    """Sub-environments of ``n``; None means all.

    Raises:
        BoulangerError: they are not numbers of sub-environments, or one occurs twice though they must be ``distinct``.
    """
    if indices is None:
        return slice(None)
    given = as_array("indices", indices)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise BoulangerError(f"indices {shown(indices)} must be a list of whole numbers")
    wrong = given[(given < 0) | (given >= n)]
    if wrong.size:
        raise BoulangerError(f"there is no sub-environment {wrong[0]}: they are numbered 0 to {n - 1}")
    if distinct and len(np.unique(given)) < len(given):
        raise BoulangerError(f"indices {shown(indices)} name a sub-environment twice")
    return given.astype(np.int64)


def _parts(bundle: Any, prefix: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays of games, with one row for each; those of bundles within the bundle too. Where the games have been is
    left out."""
    for name, part in zip(bundle._fields, bundle, strict=True):
        if isinstance(part, tuple):
            yield from _parts(part, f"{prefix}{name}.")
        elif not (isinstance(bundle, Games) and name in _NOT_AS_THEY_ARE):
            yield f"{prefix}{name}", part


def _digests(arrays: GameState) -> NDArray[np.uint64]:
    """A number for each row that hardly any two contents share, uint64 ``(n,)``."""
    digests = np.zeros(len(arrays["boards"]), np.uint64)
    for name in sorted(arrays):
        rows = np.ascontiguousarray(arrays[name])
        rows = rows.reshape(len(digests), math.prod(rows.shape[1:])).view(np.uint8)
        odd = rows.shape[1] % 8
        if odd:
            rows = np.pad(rows, ((0, 0), (0, 8 - odd)))
        add_to_digests(digests, rows.view(np.uint64))
    return digests
