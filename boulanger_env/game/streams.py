"""Random streams for kernels: SplitMix64, independent of any library, so that draws never change.

A stream's state is one uint64, passed and returned by value. Nothing is checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import inlined_kernel

# Every operand below is a uint64: mixed with a signed number it would become a float.
_ONE, _MAX = np.uint64(1), np.uint64(2**64 - 1)
_GAMMA, _MIX_1, _MIX_2 = (
    np.uint64(constant) for constant in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)


@inlined_kernel
def splitmix64_next(state: Any) -> tuple[Any, Any]:
    """One step of SplitMix64.

    Args:
        state: uint64.

    Returns:
        The next state and the 64-bit output, both uint64.
    """
    advanced = np.uint64(state) + _GAMMA
    z = (advanced ^ (advanced >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    return advanced, z ^ (z >> _SHIFT_31)


@inlined_kernel
def uniform_below(state: Any, m: Any) -> tuple[Any, Any]:
    """A number drawn uniformly from 0 .. m - 1.

    Args:
        state: uint64.
        m: 1 .. 2**63; not checked.

    Returns:
        The next state (uint64) and the number (int64).
    """
    below = np.uint64(m)
    limit = _MAX - (_MAX % below + _ONE) % below
    state, output = splitmix64_next(state)
    while output > limit:
        state, output = splitmix64_next(state)
    return state, np.int64(output % below)
