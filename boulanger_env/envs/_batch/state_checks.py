"""What states of games are checked by: a digest of their words, and rules that the positions must fit, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from boulanger_env.game.jit import kernel
from boulanger_env.game.outcomes import O_RUNNING
from boulanger_env.game.state import Array
from boulanger_env.game.taps import foundation_action

# Beside a uint64 every operand must be one: with a signed number it turns to float.
_MIX, _PLACE = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x9E3779B97F4A7C15)
_0, _1, _SHIFT = np.uint64(0), np.uint64(1), np.uint64(29)


@kernel
def add_to_digests(digests: Any, rows: Any) -> None:
    """Mix rows of words into one number per row, each word with its place, one after the other.

    A sum over the words would not do: changes of two of them can cancel out. Words that are 0 are passed over, so that
    a memory of positions that is padded with zeros keeps its digest.

    Args:
        digests: uint64 ``(n,)``, changed in place.
        rows: uint64 ``(n, m)``.
    """
    for i in range(rows.shape[0]):
        digest = (digests[i] + _1) * _MIX
        place = _0
        for j in range(rows.shape[1]):
            place += _PLACE
            word = rows[i, j]
            if word != _0:
                digest = (digest ^ word ^ place) * _MIX
                digest ^= digest >> _SHIFT
        digests[i] = digest


@kernel
def with_foundation_move(boards: Array, outcomes: Any) -> int:
    """The first game that is being played and has a legal foundation move, or -1."""
    for i in range(boards.shape[0]):
        if outcomes[i] == O_RUNNING and foundation_action(boards[i]) >= 0:
            return i
    return -1
