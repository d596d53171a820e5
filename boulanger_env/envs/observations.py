"""Observations: what an agent sees, and the way back from it to the board.

``"cards"`` is the board as it is stored; ``"features"`` is described in ``features.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS, N_RANKS, N_SUITS
from boulanger_env.game.checks import plain, shown, whole_bytes
from boulanger_env.game.errors import BoulangerError, InvalidBoardError
from boulanger_env.game.jit import inlined_kernel
from boulanger_env.game.state import (
    BOARD_SIZE,
    CELLS,
    FOUNDATIONS,
    HEIGHTS,
    MAX_CELLS,
    MAX_HEIGHT,
    N_COLUMNS,
    NO_CELL,
    TABLEAU,
    Array,
    Board,
)
from boulanger_env.game.validity import complete_rows

from .features import N_FEATURES, read_features, write_features

Bits = NDArray[np.uint8]
Cards = dict[str, NDArray[np.uint8]]
Observation = Bits | Cards

CARD_BYTES = HEIGHTS
"""Bytes of a board that hold cards."""
_CARDS_SHAPES = {"tableau": (N_COLUMNS, MAX_HEIGHT), "cells": (MAX_CELLS,), "foundations": (N_SUITS,)}

FEATURES_KIND, CARDS_KIND = range(2)


class Kind(NamedTuple):
    """A kind of observation. To add one, add a row to ``KINDS`` and a branch to ``write_observation``."""

    number: int
    """Its number in kernels."""
    size: int
    """Its bytes, for one game."""
    space: Callable[[], spaces.Space[Any]]
    """A new space of one observation."""
    view: Callable[[NDArray[np.uint8]], Observation]
    """From bytes ``(..., size)`` to the observation of one game or of a batch; nothing is copied."""


def _features_space() -> spaces.Space[Any]:
    return spaces.Box(0, 1, (N_FEATURES,), np.uint8)


def _cards_space() -> spaces.Space[Any]:
    return spaces.Dict(
        tableau=spaces.Box(0, N_CARDS, _CARDS_SHAPES["tableau"], np.uint8),
        cells=spaces.Box(0, NO_CELL, _CARDS_SHAPES["cells"], np.uint8),
        foundations=spaces.Box(0, N_RANKS, _CARDS_SHAPES["foundations"], np.uint8),
    )


def _whole_rows(rows: NDArray[np.uint8]) -> Observation:
    return rows


def _parts(rows: NDArray[np.uint8]) -> Observation:
    return {
        "tableau": rows[..., TABLEAU:CELLS].reshape(*rows.shape[:-1], N_COLUMNS, MAX_HEIGHT),
        "cells": rows[..., CELLS:FOUNDATIONS],
        "foundations": rows[..., FOUNDATIONS:HEIGHTS],
    }


KINDS: dict[str, Kind] = {
    "features": Kind(FEATURES_KIND, N_FEATURES, _features_space, _whole_rows),
    "cards": Kind(CARDS_KIND, CARD_BYTES, _cards_space, _parts),
}
"""The kinds of observation, by the value of the keyword ``observation``."""


@inlined_kernel
def write_observation(board: Board, out: Array, kind: int) -> None:
    """Write what a kind shows of a board into its bytes, uint8 ``(size,)``."""
    if kind == FEATURES_KIND:
        write_features(board, out)
    elif kind == CARDS_KIND:
        for i in range(CARD_BYTES):
            out[i] = board[i]


def observation_space(kind: str) -> spaces.Space[Any]:
    """The space of one observation of a kind.

    Raises:
        BoulangerError: there is no such kind.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise BoulangerError(f"observation={shown(kind)} is unknown: choose one of {', '.join(KINDS)}")
    return KINDS[kind].space()


def board_from_observation(observation: Observation | Mapping[str, NDArray[Any]]) -> Board:
    """The board rows shown by an observation, single or batched.

    Args:
        observation: ``"cards"`` or ``"features"``, with or without leading batch axes. Of ``"features"`` only the bits
            of places and of the number of cells are used.

    Returns:
        A new uint8 array ``(BOARD_SIZE,)`` or ``(..., BOARD_SIZE)``.

    Raises:
        InvalidBoardError: it does not show positions of the game, or has the wrong shape or dtype; of several games,
            the message names the first that is wrong.
    """
    boards = _from_cards(observation) if isinstance(observation, Mapping) else _from_features(observation)
    complete_rows(boards.reshape(-1, BOARD_SIZE))
    return boards


def _whole(observation: Mapping[str, Any], name: str) -> NDArray[np.uint8]:
    if name not in observation:
        raise InvalidBoardError(f"observation: there is no {name!r} in it, only {shown(list(observation))}")
    return whole_bytes(f"observation: {name}", observation[name], InvalidBoardError)


def _from_cards(observation: Mapping[str, Any]) -> Board:
    parts = [_whole(observation, name) for name in _CARDS_SHAPES]
    lead = parts[0].shape[:-2]
    for name, part, shape in zip(_CARDS_SHAPES, parts, _CARDS_SHAPES.values(), strict=True):
        if part.shape != (*lead, *shape):
            raise InvalidBoardError(
                f"observation: {name} of shape {part.shape}: 'cards' have {shape}, in a batch (n, {shape[0]}, ...)"
            )
    boards = np.zeros((*lead, BOARD_SIZE), np.uint8)
    boards[..., TABLEAU:CELLS] = parts[0].reshape(*lead, CELLS - TABLEAU)
    boards[..., CELLS:FOUNDATIONS] = parts[1]
    boards[..., FOUNDATIONS:HEIGHTS] = parts[2]
    return boards


def _from_features(observation: Any) -> Board:
    bits = whole_bytes("observation", observation, InvalidBoardError)
    if bits.shape[-1:] != (N_FEATURES,):
        raise InvalidBoardError(f"an observation of shape {bits.shape}: 'features' end in {N_FEATURES} bits")
    boards = np.zeros((*bits.shape[:-1], BOARD_SIZE), np.uint8)
    rows = plain(bits.reshape(-1, N_FEATURES))
    wrong = int(read_features(rows, boards.reshape(-1, BOARD_SIZE)))
    if wrong >= 0:
        raise InvalidBoardError(f"an observation with {rows[wrong].max()} in it: 'features' are 0 and 1")
    return boards
