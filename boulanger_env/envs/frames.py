"""The arrays that a step of a batch writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.cards import N_SUITS
from boulanger_env.game.state import MAX_CELLS, MAX_HEIGHT, N_COLUMNS

from .batch import B_TERMINATED, B_TRUNCATED, CODE_LENGTH, F_REWARD, N_BOOLS, N_FLOATS, N_INTS, OUTCOME_TEXTS
from .features import N_FEATURES
from .observations import Observation

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

    def rows(self, places: NDArray[np.int64]) -> Iterator[Observation]:
        """The observations of some games, one by one, copied."""
        if self.features.shape[1]:
            yield from self.features.take(places, 0)
            return
        arrays = (self.tableau, self.cells, self.foundations)
        for tableau, cells, foundations in zip(*(a.take(places, 0) for a in arrays), strict=True):
            yield {"tableau": tableau, "cells": cells, "foundations": foundations}

    def for_kernels(self) -> tuple[NDArray[Any], ...]:
        """The arrays as the kernels take them: a row of cards in words, of 64 bits for the tableau, else of 32."""
        n = len(self.tableau)
        tableau = self.tableau.reshape(n, N_COLUMNS * MAX_HEIGHT).view(np.uint64)
        return (
            self.mask,
            self.features,
            tableau,
            self.cells.view(np.uint32),
            self.foundations.view(np.uint32),
        )


class Events(NamedTuple):
    """What a step did; see ``step_batch`` for the rows. Codes are text, of length ``CODE_LENGTH``."""

    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    bools: NDArray[np.bool_]
    outcomes: NDArray[np.str_]
    codes: NDArray[np.str_]
    end_outcomes: NDArray[np.str_]
    end_codes: NDArray[np.str_]

    @classmethod
    def make(cls, n: int, finals: int) -> Events:
        """Arrays for ``n`` games, with undefined content."""
        return cls(
            np.empty((N_INTS, n), np.int64),
            np.empty((N_FLOATS, n)),
            np.empty((N_BOOLS, n), np.bool_),
            np.empty(n, OUTCOME_TEXTS.dtype),
            np.empty(n, CODE_DTYPE),
            np.empty(finals, OUTCOME_TEXTS.dtype),
            np.empty(finals, CODE_DTYPE),
        )

    def results(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Views of the rewards, the terminations and the truncations."""
        return self.floats[F_REWARD], self.bools[B_TERMINATED], self.bools[B_TRUNCATED]

    def for_kernels(self) -> tuple[NDArray[Any], ...]:
        """The arrays as the kernels take them."""
        return (self.ints, self.floats, self.bools, *map(letters, self[3:]))


def letters(texts: NDArray[np.str_]) -> NDArray[np.uint32]:
    """Texts ``(n,)`` of at most k letters as their letters ``(n, k)``, in the same memory."""
    return texts.view(np.uint32).reshape(len(texts), texts.itemsize // 4)
