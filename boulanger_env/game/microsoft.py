"""Microsoft FreeCell's numbered deals, 1 .. 2**33 - 1, which every solver and every FreeCell player knows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import inlined_kernel, kernel
from .streams import uniform_below

FIRST = 1
LAST = 2**33 - 1

_ZERO = ord("0")
_COUNT = np.uint64(LAST - FIRST + 1)


@kernel
def deal_microsoft(number: Any, deck_out: NDArray[Any]) -> None:
    """Write the deck of a Microsoft deal, in dealing order.

    Args:
        number: the deal, 1 .. 2**33 - 1; not checked.
        deck_out: integer array of 52 card ids, overwritten.

    >>> deck = np.zeros(52, np.uint8)
    >>> deal_microsoft(1, deck)
    >>> deck[:4]  # JD 2D 9H JC
    array([37, 28, 22, 50], dtype=uint8)
    """
    n = np.int64(number)
    # Ace of clubs, diamonds, hearts, spades, then the twos. The dealer takes cards from the end, so the deck
    # is stored back to front: index p of the dealer's list is deck_out[51 - p], and dealt cards stay in place.
    for place in range(52):
        deck_out[51 - place] = (3 - place % 4) * 13 + place // 4 + 1
    x = n & 0xFFFFFFFF
    for left in range(52, 0, -1):
        x = (x * 214013 + 2531011) & 0xFFFFFFFF
        if n >= 0x1_0000_0000:
            draw = ((x >> 16) & 0xFFFF) + 1
        elif n >= 0x8000_0000:
            draw = ((x >> 16) & 0x7FFF) | 0x8000
        else:
            draw = (x >> 16) & 0x7FFF
        chosen = 51 - draw % left
        last = 52 - left
        card = deck_out[chosen]
        deck_out[chosen] = deck_out[last]
        deck_out[last] = card


@inlined_kernel
def draw_microsoft_number(state: Any) -> tuple[Any, Any]:
    """The number of a random Microsoft deal, uniform over all of them.

    Args:
        state: uint64, the deal stream.

    Returns:
        The next state (uint64) and the number (int64).
    """
    state, number = uniform_below(state, _COUNT)
    return state, number + FIRST


@inlined_kernel
def write_microsoft(number: Any, out: NDArray[Any], start: Any) -> None:
    """Write the digits of a Microsoft deal as UCS-4 letters into a uint32 array, from index ``start`` on."""
    end, rest = start, number
    while rest > 0:
        end, rest = end + 1, rest // 10
    rest = number
    while end > start:
        end -= 1
        out[end] = _ZERO + rest % 10
        rest //= 10


def parse_number(text: str) -> int | None:
    """Deal number written as decimal digits, or None if the text is not a number in range."""
    digits = text.lstrip("0")
    # Check the length first: int() raises its own error for thousands of digits.
    if not (text.isascii() and digits.isdigit() and len(digits) <= len(str(LAST))):
        return None
    number = int(digits)
    return number if FIRST <= number <= LAST else None
