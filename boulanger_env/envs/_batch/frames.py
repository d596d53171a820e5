"""The arrays that a step of a batch writes, as users see them and as the kernels take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.envs.features import N_FEATURES
from boulanger_env.envs.observations import Observation
from boulanger_env.game.state import CELLS, FOUNDATIONS, HEIGHTS, MAX_HEIGHT, N_COLUMNS, TABLEAU

from .loops import CARD_BYTES, N_BOOLS, N_FLOATS, N_INTS, OUTCOME_TEXTS, Events, Seen
from .stepping import CODE_DTYPE, letters


class Frames:
    """Masks and observations of ``n`` games, with undefined content.

    Attributes:
        mask: int8 ``(n, n_actions)``.
        seen: the same arrays for the kernels.
    """

    def __init__(self, n: int, n_actions: int, observation: str) -> None:
        cards = observation == "cards"
        self.mask: NDArray[np.int8] = np.empty((n, n_actions), np.int8)
        self._features = np.empty((0 if cards else n, N_FEATURES), np.uint8)
        # One row per game, so that the kernel copies whole words; each part returned is a view.
        self._rows = rows = np.empty((n if cards else 0, CARD_BYTES), np.uint8)
        self._cards = _parts(rows)
        self._is_cards = cards
        self.seen = Seen(self.mask, self._features, rows.view(np.uint64))

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Every array that is returned, and the arrays that these are views of."""
        return (self.mask, self._features, self._rows, *self._cards.values())

    def observation(self) -> Observation:
        """The observation that was written."""
        return self._cards.copy() if self._is_cards else self._features

    def rows(self, places: NDArray[np.int64]) -> Iterator[Observation]:
        """The observations of some games, one by one, copied."""
        if not self._is_cards:
            yield from self._features.take(places, 0)
            return
        # Not from the parts: np.take would copy the whole of a non-contiguous array.
        copies = _parts(self._rows.take(places, 0)).values()
        for tableau, cells, foundations in zip(*copies, strict=True):
            yield {"tableau": tableau, "cells": cells, "foundations": foundations}


def _parts(rows: NDArray[np.uint8]) -> dict[str, NDArray[np.uint8]]:
    """The ``"cards"`` observation of rows ``(n, CARD_BYTES)``, as views."""
    return {
        "tableau": rows[:, TABLEAU:CELLS].reshape(-1, N_COLUMNS, MAX_HEIGHT),
        "cells": rows[:, CELLS:FOUNDATIONS],
        "foundations": rows[:, FOUNDATIONS:HEIGHTS],
    }


def new_events(n: int, ends: int) -> Events:
    """Events of ``n`` games with undefined content, outcomes as text; with room for ``ends`` ended episodes."""
    return Events(
        ints=np.empty((N_INTS, n), np.int64),
        floats=np.empty((N_FLOATS, n)),
        bools=np.empty((N_BOOLS, n), np.bool_),
        outcomes=np.empty(n, OUTCOME_TEXTS.dtype),
        codes=np.empty(n, CODE_DTYPE),
        end_outcomes=np.empty(ends, OUTCOME_TEXTS.dtype),
        end_codes=np.empty(ends, CODE_DTYPE),
    )


def in_letters(events: Events) -> Events:
    """The same arrays for the kernels, which see text as letters."""
    return Events(*events[:3], *map(letters, events[3:]))
