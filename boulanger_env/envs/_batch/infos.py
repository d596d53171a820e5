"""The infos of a batch: arrays with one entry per game, each with a bool array that marks the valid entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .frames import Frames
from .loops import (
    B_END_ILLEGAL,
    B_END_WON,
    B_ENDED,
    B_ILLEGAL,
    B_WON,
    F_END_RETURN,
    F_RETURN,
    I_END_GROUP,
    I_END_LENGTH,
    I_END_MOVES,
    I_END_SCORE,
    I_END_START,
    I_GROUP,
    I_LENGTH,
    I_MOVES,
    I_SCORE,
    I_START,
    Events,
)

Infos = dict[str, Any]

TEXT_KEYS = ("code", "outcome")
START_KEYS = ("start", "group")
_NUMBER_KEYS = ("score", "moves", "illegal_action", "is_success", *START_KEYS)


def as_arrays(info: Infos) -> Infos:
    """One game's info for tensors: without strings, and with numbers as zero-dimensional arrays.

    NumPy scalars would not do: Gymnasium's vector environments turn its bools into object arrays.
    """
    return {
        key: np.array(value) if key in _NUMBER_KEYS else value
        for key, value in info.items()
        if key not in TEXT_KEYS
    }


class StepInfos:
    """The infos of a step, built once over the arrays that steps write: returning them costs one dict copy.

    Args:
        frames: masks and observations.
        events: what happened.
        finals: the ends of episodes; without games unless they are kept separately (as in SAME_STEP).
        left_out: keys that this environment does not have.
    """

    def __init__(self, frames: Frames, events: Events, finals: Frames, left_out: Sequence[str]) -> None:
        ints, floats, bools = events.ints, events.floats, events.bools
        self._ended, self._finals = bools[B_ENDED], finals
        self._n = n = len(self._ended)
        infos = {
            "action_mask": frames.mask,
            "score": ints[I_SCORE],
            "moves": ints[I_MOVES],
            "illegal_action": bools[B_ILLEGAL],
            "code": events.codes,
            "outcome": events.outcomes,
            "is_success": bools[B_WON],
            "episode_return": floats[F_RETURN],
            "episode_length": ints[I_LENGTH],
            "start": ints[I_START],
            "group": ints[I_GROUP],
        }
        self._infos, self._marks = _marked(infos, left_out, n)
        self._last: Infos = {}
        self._last_marks: NDArray[np.bool_] = np.empty((0, n), np.bool_)
        if len(finals.mask):
            # Read-only, since the next step only clears what this one wrote.
            mask = finals.mask.view()
            mask.flags.writeable = False
            last = {
                "action_mask": mask,
                "score": ints[I_END_SCORE],
                "moves": ints[I_END_MOVES],
                "illegal_action": bools[B_END_ILLEGAL],
                "code": events.end_codes,
                "outcome": events.end_outcomes,
                "is_success": bools[B_END_WON],
                "episode_return": floats[F_END_RETURN],
                "episode_length": ints[I_END_LENGTH],
                "start": ints[I_END_START],
                "group": ints[I_END_GROUP],
            }
            self._last, self._last_marks = _marked(last, left_out, n)
            self._marks_of_last = np.empty((2, n), np.bool_)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Every array that is returned."""
        apart = (self._last_marks, self._marks_of_last) if self._last else ()
        return (*self._infos.values(), self._marks, *self._last.values(), *apart)

    def take(self, n_ended: int) -> Infos:
        """The infos of a step in which ``n_ended`` games ended."""
        self._marks.fill(True)
        infos = self._infos.copy()
        if n_ended and self._last:
            self._last_marks[:] = self._ended
            self._marks_of_last[:] = self._ended
            infos["final_info"], infos["final_obs"] = self._last.copy(), self._final_obs()
            infos["_final_info"], infos["_final_obs"] = self._marks_of_last
        return infos

    def _final_obs(self) -> NDArray[np.object_]:
        """The last observations of the ended games, in the form of Gymnasium's own vector environments."""
        out = np.empty(self._n, object)
        places = self._ended.nonzero()[0]
        for i, row in zip(places.tolist(), self._finals.rows(places), strict=True):
            out[i] = row
        return out


def _marked(infos: Infos, left_out: Sequence[str], n: int) -> tuple[Infos, NDArray[np.bool_]]:
    """The infos of ``n`` games together with the array, of undefined content, that marks the valid entries."""
    kept = {key: array for key, array in infos.items() if key not in left_out}
    marks = np.empty((len(kept), n), np.bool_)
    return kept | {f"_{key}": row for key, row in zip(kept, marks, strict=True)}, marks
