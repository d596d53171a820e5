"""The arrays that a batch returns, and when they may be reused."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .frames import Frames, in_letters, new_events
from .infos import StepInfos
from .loops import B_TERMINATED, B_TRUNCATED, F_REWARD, Events, Written


class Outputs:
    """What a step writes.

    Attributes:
        frames: masks and observations.
        events: what happened.
        finals: the ends of episodes, which only SAME_STEP keeps separately.
        results: views of the rewards, terminations and truncations.
        infos: everything else that is reported.
        written: all of them, in the form that ``step_batch`` takes.
    """

    def __init__(
        self, n: int, n_actions: int, observation: str, finals: bool, left_out: Sequence[str]
    ) -> None:
        self.frames = Frames(n, n_actions, observation)
        self.events = new_events(n, n * finals)
        self.finals = Frames(n * finals, n_actions, observation)
        self.finals.mask.fill(0)
        self.results = _results(self.events)
        self.infos = StepInfos(self.frames, self.events, self.finals, left_out)
        self.written = Written(
            in_letters(self.events), self.frames.seen, self.finals.seen, np.zeros(n * finals, np.bool_)
        )
        self._arrays = (
            *self.frames.arrays,
            *self.events,
            *self.finals.arrays,
            *self.results,
            *self.infos.arrays,
        )
        # The reference counts while nobody else holds an array; they depend on the Python version.
        self._alone = self._references()

    def _references(self) -> list[int]:
        """Reference count of each array, including this function's own references."""
        return list(map(sys.getrefcount, self._arrays))

    def is_free(self) -> bool:
        """Whether nobody else holds any of the arrays or a view of one."""
        return self._references() == self._alone


def _results(events: Events) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    return events.floats[F_REWARD], events.bools[B_TERMINATED], events.bools[B_TRUNCATED]


class OutputPool:
    """New arrays for every step, without allocating new memory at every step.

    The first touch of new memory costs as much as playing the moves. So arrays of earlier steps are reused, but
    only when nobody holds them any more, not even a view of them: to the caller every array is new.

    Args:
        n: games.
        n_actions: width of a mask.
        observation: ``"features"`` or ``"cards"``.
        finals: whether ends of episodes are kept separately.
        left_out: keys of infos that the environment does not have.
        reuse_always: return the same arrays every time, even if the caller still holds them.
    """

    _LARGEST = 4

    def __init__(
        self,
        n: int,
        n_actions: int,
        observation: str,
        *,
        finals: bool,
        left_out: Sequence[str],
        reuse_always: bool,
    ) -> None:
        self._shape = (n, n_actions, observation, finals, left_out)
        self._reuse_always = reuse_always
        # Without a global lock, reference counts do not show who holds what.
        self._counts = getattr(sys, "_is_gil_enabled", lambda: True)()
        self._made: list[Outputs] = []

    def take(self) -> Outputs:
        """Arrays to write into; their content is undefined."""
        made = self._made
        for outputs in made:
            if self._reuse_always or outputs.is_free():
                # The longest unused come first: they are the most likely to be free.
                made.remove(outputs)
                break
        else:
            outputs = Outputs(*self._shape)
            if not self._counts and not self._reuse_always:
                return outputs
            del made[: max(0, len(made) + 1 - self._LARGEST)]
        made.append(outputs)
        return outputs

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_made": []}
