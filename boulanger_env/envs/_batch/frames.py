"""Masks, observations and events of a batch: each array as users see it and as the kernels take it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.envs.observations import CARD_BYTES, CARDS_KIND, KINDS, Observation

from .loops import N_BOOLS, N_FLOATS, N_INTS, OUTCOME_TEXTS, Events, Seen
from .stepping import CODE_DTYPE, letters


class Frames:
    """Masks and observations of ``n`` games, with undefined content.

    Attributes:
        mask: int8 ``(n, n_actions)``.
        seen: the same arrays for the kernels.
    """

    def __init__(self, n: int, n_actions: int, observation: str) -> None:
        kind = KINDS[observation]
        self.mask: NDArray[np.int8] = np.empty((n, n_actions), np.int8)
        # One row per game, so that a kernel can copy whole words; what is returned are views of it.
        self._rows: NDArray[np.uint8] = np.empty((n, kind.size), np.uint8)
        self._view = kind.view
        self._observation = kind.view(self._rows)
        in_words = kind.number == CARDS_KIND
        words = (self._rows if in_words else np.empty((0, CARD_BYTES), np.uint8)).view(np.uint64)
        self.seen = Seen(self.mask, self._rows, words, kind.number)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Every array that is returned, and the arrays that these are views of."""
        parts = self._observation.values() if isinstance(self._observation, dict) else ()
        return (self.mask, self._rows, *parts)

    def observation(self) -> Observation:
        """The observation that was written."""
        return self._observation.copy() if isinstance(self._observation, dict) else self._observation

    def rows(self, places: NDArray[np.int64]) -> Iterator[Observation]:
        """The observations of some games, one by one, copied."""
        # Not from the parts: np.take would copy the whole of a non-contiguous array.
        yield from map(self._view, self._rows.take(places, 0))


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
