"""Observations: what an agent sees, and the way back from it to the board.

``"cards"`` is the board as it is stored; ``"features"`` is described in ``features.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from boulanger_env.game.cards import N_CARDS, N_RANKS, N_SUITS
from boulanger_env.game.checks import plain, shown, whole_bytes
from boulanger_env.game.errors import BoulangerError, InvalidBoardError
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
    Board,
)
from boulanger_env.game.validity import complete_rows

from .features import N_FEATURES, read_features

Cards = dict[str, NDArray[np.uint8]]
Observation = NDArray[np.uint8] | Cards

OBSERVATIONS = ("features", "cards")
_CARDS_SHAPES = {"tableau": (N_COLUMNS, MAX_HEIGHT), "cells": (MAX_CELLS,), "foundations": (N_SUITS,)}


def observation_space(kind: str) -> spaces.Space[Any]:
    """The space of one observation: ``"features"`` or ``"cards"``.

    Raises:
        BoulangerError: another name.
    """
    if not isinstance(kind, str):
        raise BoulangerError(f"observation={shown(kind)}: it must be one of {', '.join(OBSERVATIONS)}")
    if kind == "features":
        return spaces.Box(0, 1, (N_FEATURES,), np.uint8)
    if kind == "cards":
        return spaces.Dict(
            tableau=spaces.Box(0, N_CARDS, _CARDS_SHAPES["tableau"], np.uint8),
            cells=spaces.Box(0, NO_CELL, _CARDS_SHAPES["cells"], np.uint8),
            foundations=spaces.Box(0, N_RANKS, _CARDS_SHAPES["foundations"], np.uint8),
        )
    raise BoulangerError(f"observation={shown(kind)} is unknown: choose one of {', '.join(OBSERVATIONS)}")


def cards_of(boards: Board) -> Cards:
    """The ``"cards"`` observation of board rows ``(..., BOARD_SIZE)``, copied."""
    lead = boards.shape[:-1]
    return {
        "tableau": boards[..., TABLEAU:CELLS].reshape(*lead, N_COLUMNS, MAX_HEIGHT).copy(),
        "cells": boards[..., CELLS:FOUNDATIONS].copy(),
        "foundations": boards[..., FOUNDATIONS:HEIGHTS].copy(),
    }


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
    boards[..., TABLEAU:CELLS] = parts[0].reshape(*lead, -1)
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
