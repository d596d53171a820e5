"""The arrays that a batch hands out."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.state import CELLS, MAX_CELLS, MAX_HEIGHT, N_COLUMNS, TABLEAU

from .batch import N_BOOLS, N_FLOATS, N_INTS
from .observations import N_FEATURES, Observation


class Frames(NamedTuple):
    """Arrays for a batch of masks and observations; those of the other observation are empty."""

    mask: NDArray[np.int8]
    features: NDArray[np.uint8]
    tableau: NDArray[np.uint8]
    cells: NDArray[np.uint8]
    foundations: NDArray[np.uint8]

    def observation(self) -> Observation:
        """The observation that was written."""
        if self.features.shape[1]:
            return self.features
        n = self.tableau.shape[0]
        return {
            "tableau": self.tableau.reshape(n, N_COLUMNS, MAX_HEIGHT),
            "cells": self.cells,
            "foundations": self.foundations,
        }


class Events(NamedTuple):
    """What a step did; see ``step_batch`` for the rows."""

    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    bools: NDArray[np.bool_]


class Outputs(NamedTuple):
    """What a step writes. ``finals`` are the ends of episodes, which only SAME_STEP keeps apart."""

    frames: Frames
    events: Events
    finals: Frames


def _most_references(outputs: Outputs) -> int:
    """References to the array that is held most, those of this function included."""
    most = 0
    for part in outputs:
        for array in part:
            most = max(most, sys.getrefcount(array))
    return most


class OutputPool:
    """Fresh arrays for every step, without asking the system for fresh memory at every step.

    The first touch of new memory costs as much as playing the moves. So arrays of earlier steps are used again, but
    only those that nobody holds any more, not even a view of them: to the caller every array is new.

    Args:
        n: games.
        n_actions: width of a mask.
        observation: ``"features"`` or ``"cards"``.
        finals: whether ends of episodes are kept apart.
        reuse_always: hand out the same arrays every time, whoever holds them.
    """

    _LARGEST = 4

    def __init__(self, n: int, n_actions: int, observation: str, *, finals: bool, reuse_always: bool) -> None:
        self._shape = (n, n_actions)
        self._features = observation == "features"
        self._with_finals = finals
        self._reuse_always = reuse_always
        # Without a global lock the counts of references do not tell who holds what.
        self._counts = getattr(sys, "_is_gil_enabled", lambda: True)()
        self._alone = 0
        self._made: list[Outputs] = []

    def take(self) -> Outputs:
        """Arrays to write into; their content is undefined but for ``finals.mask``, zeros."""
        for outputs in self._made:
            if self._reuse_always or _most_references(outputs) <= self._alone:
                outputs.finals.mask[:] = 0
                return outputs
        outputs = Outputs(
            self._frames(self._shape[0]), self._events(), self._frames(self._shape[0] * self._with_finals)
        )
        outputs.finals.mask[:] = 0
        # How many are counted where nobody else holds an array: it depends on the version of Python.
        self._alone = _most_references(outputs)
        if self._counts or self._reuse_always:
            self._made = [outputs, *self._made[: self._LARGEST - 1]]
        return outputs

    def _frames(self, n: int) -> Frames:
        m, k = (n, 0) if self._features else (0, n)
        return Frames(
            np.empty((n, self._shape[1]), np.int8),
            np.empty((m, N_FEATURES if self._features else 0), np.uint8),
            np.empty((k, CELLS - TABLEAU), np.uint8),
            np.empty((k, MAX_CELLS), np.uint8),
            np.empty((k, 4), np.uint8),
        )

    def _events(self) -> Events:
        n = self._shape[0]
        return Events(
            np.empty((N_INTS, n), np.int64), np.empty((N_FLOATS, n)), np.empty((N_BOOLS, n), np.bool_)
        )

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_made": []}
