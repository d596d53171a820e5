"""Uniform draws from action masks, compiled: one call for a whole batch.

A row of 780 bytes is read as 64-bit words. The bytes are 0 or 1, so the words of a row can be added as they
are: no byte of the sum reaches 256, and the number of legal actions is the sum of its eight bytes.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.checks import as_array, plain, shown, whole_bytes
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.jit import allocating_kernel, i64, kernel
from boulanger_env.game.streams import splitmix64_next

MAX_WIDTH = 255 * 8
"""Maximum width of a mask: beyond it, adding up words could overflow a byte."""

# Every operand of a uint64 is a uint64 too: mixed with a signed number it would become a float.
_LOW_BYTES = np.uint64(0x00FF00FF00FF00FF)
_SUM_PAIRS = np.uint64(0x0001000100010001)
_SUM_BYTES = np.uint64(0x0101010101010101)
_8, _32, _48, _56 = np.uint64(8), np.uint64(32), np.uint64(48), np.uint64(56)
_LOW_HALF = np.uint64(0xFFFFFFFF)

_ONE, _THREE, _SEVEN = np.uint64(1), np.uint64(3), np.uint64(7)
_BLOCK = 16  # words whose sum is stored, so that the search for the chosen action can skip them
_BLOCK_WORDS = np.uint64(_BLOCK)

_STATE = np.dtype(np.uint64)

DONE = -1


@kernel
def stream_state(seed: Any, number: Any) -> Any:
    """The SplitMix64 state (uint64) of random stream ``number`` of ``seed`` (both uint64)."""
    # Two outputs apart: neighbouring seeds and numbers must not give streams that are shifts of each other.
    _, high = splitmix64_next(seed)
    _, state = splitmix64_next(high ^ np.uint64(number))
    return state


@kernel
def draw_below(state: Any, count: Any) -> tuple[Any, Any]:
    """A number drawn uniformly from ``0 .. count - 1`` without a division (Lemire's method, exact).

    Args:
        state: uint64.
        count: 1 .. 2**31; not checked.

    Returns:
        The next state (uint64) and the number (int64).
    """
    m = np.uint64(count)
    state, output = splitmix64_next(state)
    product = (output >> _32) * m
    if (product & _LOW_HALF) < m:
        # 2**32 values do not divide evenly among count: reject the excess and draw again.
        surplus = (_LOW_HALF - m + np.uint64(1)) % m
        while (product & _LOW_HALF) < surplus:
            state, output = splitmix64_next(state)
            product = (output >> _32) * m
    return state, np.int64(product >> _32)


@kernel
def _sum_bytes(word: Any) -> Any:
    """Sum of the eight bytes of a uint64, as int64."""
    pairs = (word & _LOW_BYTES) + ((word >> _8) & _LOW_BYTES)
    return np.int64((pairs * _SUM_PAIRS) >> _48)


@allocating_kernel
def sample_rows(
    flat: NDArray[Any], words: NDArray[Any], width: int, states: NDArray[Any], actions: NDArray[Any]
) -> int:
    """Draw a legal action for each row of a batch of masks.

    Args:
        flat: the masks, uint8 ``(n * width,)``, each byte 0 or 1.
        words: the same memory as uint64, without a partial last word.
        width: bytes per row, at most ``MAX_WIDTH``.
        states: uint64 ``(n,)``, SplitMix64 states, advanced.
        actions: int64 ``(n,)``, written.

    Returns:
        ``DONE``, or the first row that has no legal action or where the draw met a byte other than 0 and 1.
    """
    blocks = np.empty(width // (8 * _BLOCK) + 1, np.int64)
    # Unsigned indices need no check for negative values.
    for row in range(len(actions)):
        start = np.uint64(row * width)
        end = np.uint64(row * width + width)
        # The words entirely within this row, which may begin and end inside a word.
        first = (start + _SEVEN) >> _THREE
        last = end >> _THREE
        head_end = min(first << _THREE, end)

        head = 0
        i = start
        while i < head_end:
            head += i64(flat[i])
            i += _ONE
        count = head
        n_blocks = np.uint64(0)
        w = first
        while w + _BLOCK_WORDS <= last:
            total = np.uint64(0)
            for k in range(_BLOCK):
                total += words[w + np.uint64(k)]
            blocks[n_blocks] = _sum_bytes(total)
            count += blocks[n_blocks]
            n_blocks += _ONE
            w += _BLOCK_WORDS
        total = np.uint64(0)
        while w < last:
            total += words[w]
            w += _ONE
        count += _sum_bytes(total)
        i = max(last << _THREE, head_end)
        while i < end:
            count += i64(flat[i])
            i += _ONE
        if count == 0:
            return row

        # Find the byte with `left` ones before it: by blocks, then words, then bytes.
        states[row], left = draw_below(states[row], count)
        i = start
        if left >= head:
            left -= head
            b = np.uint64(0)
            while b < n_blocks and left >= blocks[b]:
                left -= blocks[b]
                b += _ONE
            w = first + b * _BLOCK_WORDS
            while w < last:
                ones = i64((words[w] * _SUM_BYTES) >> _56)
                if left < ones:
                    break
                left -= ones
                w += _ONE
            i = max(w << _THREE, head_end)
        while i + _ONE < end and left >= i64(flat[i]):
            left -= i64(flat[i])
            i += _ONE
        if flat[i] != 1:
            return row
        actions[row] = i64(i - start)
    return DONE


@overload
def sample_legal(masks: np.ndarray[tuple[int], Any], rng_state: NDArray[np.uint64]) -> int: ...


@overload
def sample_legal(
    masks: np.ndarray[tuple[int, int], Any], rng_state: NDArray[np.uint64]
) -> NDArray[np.int64]: ...


@overload
def sample_legal(masks: NDArray[Any], rng_state: NDArray[np.uint64]) -> Any: ...


def sample_legal(masks: NDArray[Any], rng_state: NDArray[np.uint64]) -> Any:
    """Draw uniformly from the legal actions of a mask, or of each mask of a batch.

    Args:
        masks: int8, uint8 or bool ``(n, width)``, 1 = legal; or one mask ``(width,)``. Other types are
            converted first.
        rng_state: uint64 ``(n,)``, ``(1,)`` for one mask: SplitMix64 states, advanced in place. Row ``i`` draws
            from state ``i`` alone, so a batch gives the same as single calls.

    Returns:
        int64 ``(n,)``, or an int for one mask.

    Raises:
        BoulangerError: a mask has no legal action or holds something other than 0 and 1, or the shape or
            dtype of ``rng_state`` is wrong. The states of rows before a bad mask have advanced.

    >>> state = np.array([7], np.uint64)
    >>> sample_legal(np.array([0, 0, 1, 0], np.int8), state)
    2
    """
    masks = as_masks(masks)
    if masks.ndim not in (1, 2) or not 1 <= masks.shape[-1] <= MAX_WIDTH:
        raise BoulangerError(f"masks have the shape (actions,) or (n, actions), not {masks.shape}")
    rows = masks.reshape(-1, masks.shape[-1])
    if not isinstance(rng_state, np.ndarray) or rng_state.dtype != _STATE or not rng_state.flags.writeable:
        raise BoulangerError(f"rng_state is {shown(rng_state)}: it must be a writable array of uint64")
    if rng_state.shape != (len(rows),):
        raise BoulangerError(
            f"rng_state has the shape {rng_state.shape}: one state per mask is {(len(rows),)}"
        )
    flat = rows.reshape(-1)
    words = flat[: len(flat) & ~7].view(np.uint64)
    actions = np.empty(len(rows), np.int64)
    states = plain(rng_state)
    bad = sample_rows(flat, words, rows.shape[1], states, actions)
    if states is not rng_state:
        rng_state[:] = states
    if bad != DONE:
        which = "the mask" if masks.ndim == 1 else f"mask {bad}"
        check_binary(rows[bad : bad + 1], which)
        raise BoulangerError(
            f"{which} is all zeros: no action is legal there, so there is none to draw (is the game over?)"
        )
    return int(actions[0]) if masks.ndim == 1 else actions


def as_masks(masks: Any) -> NDArray[np.uint8]:
    """Masks as uint8 in the memory order that kernels need; copied only if necessary.

    Raises:
        BoulangerError: they hold something other than whole numbers from 0 to 255.
    """
    given = as_array("mask", masks)
    return plain(given.view(np.uint8) if given.dtype.char in "bB?" else whole_bytes("mask", given))


def check_binary(rows: NDArray[np.uint8], which: str = "mask") -> None:
    """Check that masks, uint8 ``(n, width)``, hold only 0 and 1.

    Raises:
        BoulangerError: one does not.
    """
    wrong = int(first_not_binary(rows))
    if wrong >= 0:
        values = sorted(set(rows[wrong].tolist()))
        raise BoulangerError(f"{which} holds {shown(values)}; 1 is legal and 0 is not")


@kernel
def first_not_binary(rows: NDArray[Any]) -> int:
    """The first row with a number other than 0 and 1, or -1."""
    for i in range(rows.shape[0]):
        together = 0
        for byte in rows[i]:
            together |= byte
        if together > 1:
            return i
    return DONE


@kernel
def draw_by_probability(
    probabilities: NDArray[Any], legal: NDArray[Any], states: NDArray[Any], actions: NDArray[Any]
) -> None:
    """Sample an action for each row of probabilities ``(n, actions)``; each row has its own uint64 state."""
    for row in range(len(actions)):
        states[row], output = splitmix64_next(states[row])
        total = 0.0
        for action in range(legal.shape[1]):
            if legal[row, action]:
                total += probabilities[row, action]
        # 53 bits, as many as a float holds.
        left = np.float64(output >> np.uint64(11)) * 2.0**-53 * total
        chosen = 0
        for action in range(legal.shape[1]):
            if legal[row, action]:
                chosen = action
                left -= probabilities[row, action]
                if left < 0:
                    break
        actions[row] = chosen
