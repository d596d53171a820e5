"""BK1, this package's own scheme: a 35-bit number as 7 base32 symbols, dealt by a SplitMix64 shuffle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import inlined_kernel
from .streams import splitmix64_next

SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
N_SYMBOLS = 7
FIRST = 0
LAST = 2**35 - 1

# Every operand of a uint64 is a uint64 too: mixed with a signed number it would become a float.
_ONE = np.uint64(1)
_MASK_35 = np.uint64(LAST)

# Largest output that a draw below m accepts: 2**64 - 2**64 % m - 1.
_LIMITS = np.array([0] + [2**64 - 2**64 % m - 1 for m in range(1, 53)], dtype=np.uint64)


def _base32(text: str) -> int:
    number = 0
    for symbol in text:
        number = number * 32 + SYMBOLS.index(symbol)
    return number


_LETTERS = np.array([ord(symbol) for symbol in SYMBOLS], np.uint32)
_FIRST_SHIFT = 5 * (N_SYMBOLS - 1)

RESERVED_PREFIXES = ("TST", "VAL")
"""First three symbols of the codes that random draws leave out: they are reserved for evaluation."""

_TST, _VAL = (_base32(prefix) for prefix in RESERVED_PREFIXES)
_PREFIX_SHIFT = 5 * (N_SYMBOLS - len(RESERVED_PREFIXES[0]))


@inlined_kernel
def draw_bk1_number(state: Any) -> tuple[Any, Any]:
    """The number of a random BK1 game: uniform over 35 bits, without the codes reserved for evaluation.

    Args:
        state: uint64, the deal stream.

    Returns:
        The next state (uint64) and the number (int64).
    """
    while True:
        # 2**35 divides 2**64: no output is rejected, and the remainder is the low bits.
        state, output = splitmix64_next(state)
        number = np.int64(output & _MASK_35)
        prefix = number >> _PREFIX_SHIFT
        if prefix != _TST and prefix != _VAL:
            return state, number


@inlined_kernel
def deal_bk1(number: Any, deck_out: NDArray[Any]) -> None:
    """Write the deck of a BK1 deal, in dealing order.

    Args:
        number: the deal, 0 .. 2**35 - 1; not checked.
        deck_out: integer array of 52 card ids, overwritten.

    >>> deck = np.zeros(52, np.uint8)
    >>> deal_bk1(860, deck)
    >>> deck[:4]  # 4C 6S 7D KH
    array([43,  6, 33, 26], dtype=uint8)
    """
    for i in range(52):
        deck_out[i] = i + 1
    state = np.uint64(number)
    m = np.uint64(52)
    while m > _ONE:
        state, output = splitmix64_next(state)
        while output > _LIMITS[m]:
            state, output = splitmix64_next(state)
        j = output % m
        m -= _ONE
        card = deck_out[m]
        deck_out[m] = deck_out[j]
        deck_out[j] = card


@inlined_kernel
def write_bk1(number: Any, out: NDArray[Any], start: Any) -> None:
    """Write the 7 symbols of a BK1 deal as UCS-4 letters into a uint32 array, from place ``start`` on."""
    for place in range(N_SYMBOLS):
        out[start + place] = _LETTERS[(number >> (_FIRST_SHIFT - 5 * place)) & 31]


def parse_number(text: str) -> int | None:
    """Number of a BK1 deal's 7 symbols (in upper case), or None if they are not 7 symbols."""
    if len(text) != N_SYMBOLS or any(symbol not in SYMBOLS for symbol in text):
        return None
    return _base32(text)


def format_number(number: int) -> str:
    """The 7 symbols of a BK1 deal's number."""
    return "".join(SYMBOLS[number >> shift & 31] for shift in range(_FIRST_SHIFT, -1, -5))
