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
from boulanger_env.game.errors import BoulangerError, InvalidBoardError
from boulanger_env.game.jit import kernel
from boulanger_env.game.kernels import reindex
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

from .features import N_FEATURES, read_features

Cards = dict[str, NDArray[np.uint8]]
Observation = NDArray[np.uint8] | Cards

OBSERVATIONS = ("features", "cards")


def observation_space(kind: str) -> spaces.Space[Any]:
    """The space of one observation: ``"features"`` or ``"cards"``.

    Raises:
        BoulangerError: another name.
    """
    if not isinstance(kind, str):
        raise BoulangerError(f"observation={kind!r}: it must be one of {', '.join(OBSERVATIONS)}")
    if kind == "features":
        return spaces.Box(0, 1, (N_FEATURES,), np.uint8)
    if kind == "cards":
        return spaces.Dict(
            tableau=spaces.Box(0, N_CARDS, (N_COLUMNS, MAX_HEIGHT), np.uint8),
            cells=spaces.Box(0, NO_CELL, (MAX_CELLS,), np.uint8),
            foundations=spaces.Box(0, N_RANKS, (N_SUITS,), np.uint8),
        )
    raise BoulangerError(f"observation={kind!r} is unknown: choose one of {', '.join(OBSERVATIONS)}")


def cards_of(boards: Board) -> Cards:
    """The ``"cards"`` observation of board rows ``(..., BOARD_SIZE)``, copied."""
    lead = boards.shape[:-1]
    return {
        "tableau": boards[..., TABLEAU:CELLS].reshape(*lead, N_COLUMNS, MAX_HEIGHT).copy(),
        "cells": boards[..., CELLS:FOUNDATIONS].copy(),
        "foundations": boards[..., FOUNDATIONS:HEIGHTS].copy(),
    }


def board_from_observation(observation: Observation | Mapping[str, NDArray[np.uint8]]) -> Board:
    """The board rows that an observation, single or batched, shows.

    Args:
        observation: ``"cards"`` or ``"features"``, with or without a leading batch axis.

    Returns:
        uint8 ``(BOARD_SIZE,)`` or ``(n, BOARD_SIZE)``, fresh.

    Raises:
        InvalidBoardError: an array of another shape than the observations have.
    """
    if isinstance(observation, Mapping):
        tableau = np.asarray(observation["tableau"])
        lead = tableau.shape[:-2]
        boards = np.zeros((*lead, BOARD_SIZE), np.uint8)
        boards[..., TABLEAU:CELLS] = tableau.reshape(*lead, -1)
        boards[..., CELLS:FOUNDATIONS] = observation["cells"]
        boards[..., FOUNDATIONS:HEIGHTS] = observation["foundations"]
        _reindex_all(boards.reshape(-1, BOARD_SIZE))
    else:
        bits = np.asarray(observation)
        if bits.shape[-1:] != (N_FEATURES,):
            raise InvalidBoardError(
                f"an observation of shape {bits.shape}: 'features' end in {N_FEATURES} bits"
            )
        boards = np.zeros((*bits.shape[:-1], BOARD_SIZE), np.uint8)
        read_features(bits.reshape(-1, N_FEATURES), boards.reshape(-1, BOARD_SIZE))
    return boards


@kernel
def _reindex_all(boards: Array) -> None:
    for game in range(boards.shape[0]):
        reindex(boards[game])
