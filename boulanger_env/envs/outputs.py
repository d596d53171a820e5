"""The arrays that a batch hands out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_SUITS
from boulanger_env.game.state import MAX_CELLS, MAX_HEIGHT, N_COLUMNS

from .batch import CODE_LENGTH, N_BOOLS, N_FLOATS, N_INTS
from .observations import N_FEATURES, Observation

CODE_DTYPE = np.dtype(f"U{CODE_LENGTH}")


class Frames(NamedTuple):
    """Arrays for a batch of masks and observations; those of the other observation are empty."""

    mask: NDArray[np.int8]
    features: NDArray[np.uint8]
    tableau: NDArray[np.uint8]
    cells: NDArray[np.uint8]
    foundations: NDArray[np.uint8]

    @classmethod
    def make(cls, n: int, n_actions: int, features: bool) -> Frames:
        """Arrays for ``n`` games, with undefined content."""
        m, k = (n, 0) if features else (0, n)
        return cls(
            np.empty((n, n_actions), np.int8),
            np.empty((m, N_FEATURES if features else 0), np.uint8),
            np.empty((k, N_COLUMNS, MAX_HEIGHT), np.uint8),
            np.empty((k, MAX_CELLS), np.uint8),
            np.empty((k, N_SUITS), np.uint8),
        )

    def observation(self) -> Observation:
        """The observation that was written."""
        if self.features.shape[1]:
            return self.features
        return {"tableau": self.tableau, "cells": self.cells, "foundations": self.foundations}

    def rows(self, places: NDArray[np.int64]) -> Iterable[Any]:
        """The observations of some games, one by one, copied."""
        if self.features.shape[1]:
            return self.features[places]
        names = ("tableau", "cells", "foundations")
        arrays = (self.tableau[places], self.cells[places], self.foundations[places])
        return [dict(zip(names, row, strict=True)) for row in zip(*arrays, strict=True)]

    def for_kernels(self) -> tuple[NDArray[Any], ...]:
        """The arrays as the kernels take them: cards as words of 32 bits."""
        cards = (self.tableau, self.cells, self.foundations)
        words = (array.reshape(len(array), array[:1].size).view(np.uint32) for array in cards)
        return (self.mask, self.features, *words)


class Events(NamedTuple):
    """What a step did; see ``step_batch`` for the rows. Codes are text, of length ``CODE_LENGTH``."""

    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    bools: NDArray[np.bool_]
    codes: NDArray[np.str_]
    end_codes: NDArray[np.str_]

    @classmethod
    def make(cls, n: int, finals: int) -> Events:
        """Arrays for ``n`` games, with undefined content."""
        return cls(
            np.empty((N_INTS, n), np.int64),
            np.empty((N_FLOATS, n)),
            np.empty((N_BOOLS, n), np.bool_),
            np.empty(n, CODE_DTYPE),
            np.empty(finals, CODE_DTYPE),
        )

    def for_kernels(self) -> tuple[NDArray[Any], ...]:
        """The arrays as the kernels take them."""
        codes, end_codes = (code_letters(array) for array in (self.codes, self.end_codes))
        return (self.ints, self.floats, self.bools, codes, end_codes)


class Outputs:
    """What a step writes.

    Attributes:
        frames: masks and observations.
        events: what happened.
        finals: the ends of episodes, which only SAME_STEP keeps apart.
        for_kernels: all of them, as the last arguments of ``step_batch``.
    """

    def __init__(self, n: int, n_actions: int, features: bool, finals: bool) -> None:
        self.frames = Frames.make(n, n_actions, features)
        self.events = Events.make(n, n * finals)
        self.finals = Frames.make(n * finals, n_actions, features)
        self.for_kernels = (
            *self.events.for_kernels(),
            *self.frames.for_kernels(),
            *self.finals.for_kernels(),
        )
        self._arrays = (*self.frames, *self.events, *self.finals)
        # How many are counted where nobody else holds an array: it depends on the version of Python.
        self._alone = self._references()

    def _references(self) -> list[int]:
        """References to each array, those of this function included."""
        return list(map(sys.getrefcount, self._arrays))

    def is_free(self) -> bool:
        """Whether nobody else holds one of the arrays or a view of one."""
        return self._references() == self._alone


def code_letters(codes: NDArray[np.str_]) -> NDArray[np.uint32]:
    """Codes of dtype ``CODE_DTYPE``, ``(n,)``, as letters ``(n, CODE_LENGTH)``, in the same memory."""
    return codes.view(np.uint32).reshape(len(codes), CODE_LENGTH)


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
        self._shape = (n, n_actions, observation == "features", finals)
        self._reuse_always = reuse_always
        # Without a global lock the counts of references do not tell who holds what.
        self._counts = getattr(sys, "_is_gil_enabled", lambda: True)()
        self._made: list[Outputs] = []

    def take(self) -> Outputs:
        """Arrays to write into; their content is undefined but for ``finals.mask``, zeros."""
        for outputs in self._made:
            if self._reuse_always or outputs.is_free():
                break
        else:
            outputs = Outputs(*self._shape)
            if self._counts or self._reuse_always:
                self._made = [outputs, *self._made[: self._LARGEST - 1]]
        outputs.finals.mask.fill(0)
        return outputs

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_made": []}
