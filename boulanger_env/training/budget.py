"""How much a training run has used of its time, or of its moves."""

from __future__ import annotations

import time
from collections.abc import Callable

RESERVE, LONGEST_RESERVE = 0.1, 60.0
"""The share of the time that is kept for the benchmark, and the most, in seconds."""


class Budget:
    """A budget of time or of moves.

    The time counts from the run's beginning, and in a run that goes on it counts on from where that was.

    Args:
        seconds: the time for everything, the benchmark included; None if ``timesteps`` counts.
        timesteps: moves to play while learning; None if ``seconds`` counts.
        used: seconds that the run has used before.
        began: when learning began, in seconds since the run's beginning; see ``begin_learning``.
        clock: seconds since any fixed moment.
    """

    def __init__(
        self,
        seconds: float | None,
        timesteps: int | None,
        used: float = 0.0,
        began: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._timesteps, self._clock = seconds, timesteps, clock
        self._start = clock() - used
        self.began = began

    @property
    def used(self) -> float:
        """Seconds since the run's beginning, those between its sessions not counted."""
        return self._clock() - self._start

    def begin_learning(self) -> None:
        """What came before, such as solving deals, is no part of the progress."""
        self.began = self.used

    def progress(self, timesteps: int) -> float:
        """The part of the learning that is done after so many moves, 0 to 1."""
        if self._timesteps is not None:
            return min(1.0, timesteps / self._timesteps)
        span = self._end - self.began
        return min(1.0, (self.used - self.began) / span) if span > 0 else 1.0

    def left(self, timesteps: int) -> float | None:
        """Seconds of learning left after so many moves; None if nothing is known yet."""
        if self._timesteps is None:
            return max(0.0, self._end - self.used)
        if timesteps == 0:
            return None
        return (self.used - self.began) * max(0.0, self._timesteps / timesteps - 1)

    @property
    def _end(self) -> float:
        """When learning ends, in seconds since the run's beginning."""
        assert self._seconds is not None
        return self._seconds - min(RESERVE * self._seconds, LONGEST_RESERVE)
