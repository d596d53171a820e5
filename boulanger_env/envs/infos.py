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
    I_OUTCOME,
    I_SCORE,
)
from .outputs import Frames, Outputs
from .stepping import OUTCOMES

Infos = dict[str, Any]

_OUTCOME_TEXT = np.array([outcome or "" for outcome in OUTCOMES])


def marked(infos: Infos, which: NDArray[np.bool_] | bool, n: int) -> Infos:
    """Infos of ``n`` games with their marks beside them, fresh arrays all: ``which`` entries count."""
    marks = np.empty((len(infos), n), np.bool_)
    marks[:] = which
    infos.update(zip([f"_{key}" for key in infos], marks, strict=True))
    return infos


def step_infos(outputs: Outputs, n_named: int, n_ended: int, same_step: bool) -> Infos:
    """The infos of a step in which ``n_named`` games ended or were dealt, and ``n_ended`` of them ended."""
    ints, floats, bools, codes, end_codes = outputs.events
    n = ints.shape[1]
    infos: Infos = {
        "action_mask": outputs.frames.mask,
        "score": ints[I_SCORE],
        "moves": ints[I_MOVES],
        "illegal_action": bools[B_ILLEGAL],
    }
    marked(infos, True, n)
    if not n_named:
        return infos
    infos["code"], infos["_code"] = codes, bools[B_NAMED]
    if not n_ended:
        return infos
    ended = bools[B_ENDED]
    last: Infos = {
        "outcome": _OUTCOME_TEXT.take(ints[I_OUTCOME]),
        "is_success": bools[B_WON],
        "episode_return": floats[F_RETURN],
        "episode_length": ints[I_LENGTH],
    }
    if not same_step:
        infos.update(marked(last, ended, n))
        return infos
    finals = outputs.finals
    last["code"] = end_codes
    last["action_mask"] = finals.mask
    last["score"] = ints[I_END_SCORE]
    last["moves"] = ints[I_END_MOVES]
    last["illegal_action"] = bools[B_END_ILLEGAL]
    last = marked(last, ended, n)
    infos.update(marked({"final_info": last, "final_obs": _final_obs(finals, ended)}, ended, n))
    return infos


def _final_obs(finals: Frames, ended: NDArray[np.bool_]) -> NDArray[np.object_]:
    """The last observations of the ended games, as Gymnasium's own vector environments hold them."""
    out = np.full(len(ended), None, object)
    places = ended.nonzero()[0]
    for i, row in zip(places.tolist(), finals.rows(places), strict=True):
        out[i] = row
    return out
