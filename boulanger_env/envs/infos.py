"""The infos of a batch: arrays with an entry a game, and beside each a bool array that marks the entries that count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batch import (
    B_END_ILLEGAL,
    B_ENDED,
    B_ILLEGAL,
    B_NAMED,
    B_WON,
    F_RETURN,
    I_END_MOVES,
    I_END_SCORE,
    I_LENGTH,
    I_MOVES,
    I_SCORE,
)
from .frames import Events, Frames

Infos = dict[str, Any]


def marked(infos: Infos, which: NDArray[np.bool_] | bool, n: int) -> Infos:
    """Infos of ``n`` games with their marks beside them, fresh arrays all: ``which`` entries count."""
    marks = np.empty((len(infos), n), np.bool_)
    marks[:] = which
    infos.update(_marks(infos, marks))
    return infos


class StepInfos:
    """The infos of a step, made once over the arrays that steps write: to hand them out costs a copy of a dict.

    Args:
        frames: masks and observations.
        events: what happened.
        finals: the ends of episodes, of no games where they are not kept apart (as SAME_STEP does).
    """

    def __init__(self, frames: Frames, events: Events, finals: Frames) -> None:
        ints, floats, bools = events.ints, events.floats, events.bools
        self._ended, self._finals = bools[B_ENDED], finals
        self._n = n = len(self._ended)
        always = {
            "action_mask": frames.mask,
            "score": ints[I_SCORE],
            "moves": ints[I_MOVES],
            "illegal_action": bools[B_ILLEGAL],
        }
        last = {
            "outcome": events.outcomes,
            "is_success": bools[B_WON],
            "episode_return": floats[F_RETURN],
            "episode_length": ints[I_LENGTH],
        }
        self._same_step = len(finals.mask) > 0
        if self._same_step:
            # Nobody may write into it, since the next step only clears what this one wrote.
            mask = finals.mask.view()
            mask.flags.writeable = False
            last |= {
                "code": events.end_codes,
                "action_mask": mask,
                "score": ints[I_END_SCORE],
                "moves": ints[I_END_MOVES],
                "illegal_action": bools[B_END_ILLEGAL],
            }
        self._marks_always = np.empty((len(always), n), np.bool_)
        self._marks_last = np.empty((len(last) + 2 * self._same_step, n), np.bool_)
        self._always = always | _marks(always, self._marks_always)
        self._named = self._always | {"code": events.codes, "_code": bools[B_NAMED]}
        self._last = last | _marks(last, self._marks_last)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Every array that is handed out."""
        return (*self._named.values(), *self._last.values(), self._marks_always, self._marks_last)

    def take(self, n_named: int, n_ended: int) -> Infos:
        """The infos of a step in which ``n_named`` games ended or were dealt, and ``n_ended`` of them ended."""
        self._marks_always.fill(True)
        if not n_named:
            return self._always.copy()
        infos = self._named.copy()
        if not n_ended:
            return infos
        self._marks_last[:] = self._ended
        if not self._same_step:
            infos.update(self._last)
            return infos
        infos["final_info"], infos["final_obs"] = self._last.copy(), self._final_obs()
        infos["_final_info"], infos["_final_obs"] = self._marks_last[-2], self._marks_last[-1]
        return infos

    def _final_obs(self) -> NDArray[np.object_]:
        """The last observations of the ended games, as Gymnasium's own vector environments hold them."""
        out = np.empty(self._n, object)
        places = self._ended.nonzero()[0]
        for i, row in zip(places.tolist(), self._finals.rows(places), strict=True):
            out[i] = row
        return out


def _marks(infos: Infos, rows: NDArray[np.bool_]) -> Infos:
    # There may be rows for more.
    return {f"_{key}": row for key, row in zip(infos, rows, strict=False)}
