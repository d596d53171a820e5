"""``random``: uniform over the legal moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.envs.sampling import sample_legal, stream_state
from boulanger_env.game.jit import kernel

from .base import BatchAgent


class RandomAgent(BatchAgent):
    """Draws uniformly from the actions that the mask allows, including undo.

    Each slot has its own SplitMix64 stream, derived from the seed and the number of its game.
    """

    name = "random"

    def __init__(self) -> None:
        super().__init__()
        self._states = np.zeros(0, np.uint64)

    def _grow(self, n: int) -> None:
        states = np.zeros(n, np.uint64)
        states[: self._slots] = self._states[: self._slots]
        self._states = states
        self._restart(np.arange(self._slots, n), np.arange(self._slots, n, dtype=np.uint64))

    def _restart(self, slots: NDArray[np.int64], games: NDArray[np.uint64]) -> None:
        _start_streams(self._states, slots, np.uint64(self._seed), games)

    def _choose(self, observation: Any, masks: NDArray[Any], new: NDArray[np.int64]) -> NDArray[np.int64]:
        actions: NDArray[np.int64] = sample_legal(masks, self._states[: len(masks)])
        return actions


@kernel
def _start_streams(states: NDArray[Any], slots: NDArray[Any], seed: Any, games: NDArray[Any]) -> None:
    for i in range(len(slots)):
        states[slots[i]] = stream_state(seed, games[i])
