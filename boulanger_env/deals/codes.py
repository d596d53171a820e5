"""Game codes such as ``BK1-C4-AAAAA24``, the schemes they name, and the BK1 way of dealing.

A code is a scheme, a cell count and a deal. BK1 is this package's own scheme: a 35-bit number as 7 base32
symbols, dealt by a SplitMix64 shuffle that rests on no library's random stream, so that a code names the
same deal for ever.

The compiled functions here (``splitmix64_next``, ``uniform_below``, ``draw_bk1_number``, ``deal_bk1``) can be
called from other kernels, and check nothing. A random state is one uint64 and is passed and returned by value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.checks import shown
from boulanger_env.game.errors import InvalidCodeError
from boulanger_env.game.jit import inlined_kernel
from boulanger_env.game.state import CELL_COUNTS

from . import microsoft

EXAMPLE = "BK1-C4-AAAAA24"

_CELLS = {f"C{n}": n for n in CELL_COUNTS}

SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
N_SYMBOLS = 7
LAST_BK1 = 2**35 - 1

# Every operand below is a uint64 on purpose: mixed with a signed number it would become a float.
_ONE, _MAX = np.uint64(1), np.uint64(2**64 - 1)
_GAMMA, _MIX_1, _MIX_2 = (
    np.uint64(constant) for constant in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_MASK_35 = np.uint64(LAST_BK1)

# Largest output that a draw below m accepts: the last one before 2**64 - 2**64 % m.
_LIMITS = np.array([0] + [2**64 - 2**64 % m - 1 for m in range(1, 53)], dtype=np.uint64)


def _base32(text: str) -> int:
    number = 0
    for symbol in text:
        number = number * 32 + SYMBOLS.index(symbol)
    return number


RESERVED_PREFIXES = ("TST", "VAL")
"""First three symbols of the codes that random draws leave out: they are kept for evaluation."""

_TST, _VAL = (_base32(prefix) for prefix in RESERVED_PREFIXES)
_PREFIX_SHIFT = 5 * (N_SYMBOLS - len(RESERVED_PREFIXES[0]))


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


@inlined_kernel
def draw_bk1_number(state: Any) -> tuple[Any, Any]:
    """The number of a random BK1 game: uniform over 35 bits, less the codes reserved for evaluation.

    Args:
        state: uint64, the deal stream.

    Returns:
        The next state (uint64) and the number (int64).
    """
    while True:
        # 2**35 divides 2**64: no output is turned down, and the remainder is the low bits.
        state, output = splitmix64_next(state)
        number = np.int64(output & _MASK_35)
        prefix = number >> _PREFIX_SHIFT
        if prefix != _TST and prefix != _VAL:
            return state, number


@inlined_kernel
def deal_bk1(number: Any, deck_out: NDArray[Any]) -> None:
    """Write the deck of a BK1 deal, in the order in which it is dealt.

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


def _parse_bk1(text: str) -> int | None:
    """Number of a BK1 deal's 7 symbols (in upper case), or None if they are not 7 symbols."""
    if len(text) != N_SYMBOLS or any(symbol not in SYMBOLS for symbol in text):
        return None
    return _base32(text)


def _format_bk1(number: int) -> str:
    return "".join(SYMBOLS[number >> shift & 31] for shift in range(5 * (N_SYMBOLS - 1), -1, -5))


class Scheme(NamedTuple):
    """One way of numbering deals."""

    first: int
    """The lowest deal number."""
    last: int
    """The highest deal number."""
    parse: Callable[[str], int | None]
    """Number of the deal part of a code (upper case, ASCII), None if it is not one."""
    format: Callable[[int], str]
    """The deal part of a number's code."""
    deal: Callable[[Any, NDArray[Any]], None]
    """Compiled, and unchecked: write the 52 card ids of a number's deck, first dealt first, into an array."""
    deal_part: str
    """What the deal part must be, for error messages."""


SCHEMES: dict[str, Scheme] = {
    "BK1": Scheme(
        0, LAST_BK1, _parse_bk1, _format_bk1, deal_bk1, "7 symbols of A-Z and 2-7, such as AAAAA24"
    ),
    "MS": Scheme(
        microsoft.FIRST,
        microsoft.LAST,
        microsoft.parse_number,
        str,
        microsoft.deal_microsoft,
        f"a number from {microsoft.FIRST} to {microsoft.LAST}, such as 617",
    ),
}
"""Every scheme by the name that its codes begin with. Another scheme is another row."""


class GameCode(NamedTuple):
    """A game code taken apart. ``str()`` writes it in its one canonical form."""

    scheme: str
    n_cells: int
    number: int

    def __str__(self) -> str:
        return format_code(*self)


def parse_code(text: str) -> GameCode:
    """Read a game code, in any case and with spaces around it.

    Raises:
        InvalidCodeError: the text is not a game code; the message says which part is wrong.

    >>> parse_code(" bk1-c4-aaaaa24 ")
    GameCode(scheme='BK1', n_cells=4, number=860)
    >>> str(parse_code("ms-c2-00617"))
    'MS-C2-617'
    """
    if not isinstance(text, str):
        raise InvalidCodeError(f"{shown(text)} is not a game code: a code is a text such as {EXAMPLE}")
    code = f"game code {shown(text)}"
    # Before upper(), which would turn some other letters into A-Z.
    if not text.isascii():
        raise InvalidCodeError(f"{code} has characters outside ASCII; right would be {EXAMPLE}")
    if not text.strip():
        raise InvalidCodeError(f"{code} is empty; right would be {EXAMPLE}")
    parts = text.strip().upper().split("-", 2)
    if parts[0] not in SCHEMES:
        raise InvalidCodeError(
            f"{code}: {shown(parts[0])} is not a dealing scheme; codes begin with {' or '.join(SCHEMES)}, "
            f"such as {EXAMPLE}"
        )
    if len(parts) < 3:
        raise InvalidCodeError(
            f"{code} is not made of scheme, cells and deal joined by '-', such as {EXAMPLE}"
        )
    name, cells, deal = parts
    if cells not in _CELLS:
        raise InvalidCodeError(
            f"{code}: {shown(cells)} is not a cell count; it must be {' or '.join(_CELLS)}"
        )
    number = SCHEMES[name].parse(deal)
    if number is None:
        raise InvalidCodeError(
            f"{code}: {shown(deal)} is not a deal of {name}; it must be {SCHEMES[name].deal_part}"
        )
    return GameCode(name, _CELLS[cells], number)


def format_code(scheme: str, n_cells: int, number: int) -> str:
    """Write the code of a deal.

    Args:
        scheme: a key of ``SCHEMES``.
        n_cells: 4, 2 or 1.
        number: the deal, within the scheme's range.

    Raises:
        InvalidCodeError: one of them is not possible.

    >>> format_code("BK1", 4, 860)
    'BK1-C4-AAAAA24'
    """
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise InvalidCodeError(f"{shown(scheme)} is not a dealing scheme; it must be {' or '.join(SCHEMES)}")
    if not isinstance(n_cells, (int, np.integer)) or n_cells not in CELL_COUNTS:
        raise InvalidCodeError(f"a game cannot have {shown(n_cells)} cells; it must have 4, 2 or 1")
    first, last = SCHEMES[scheme].first, SCHEMES[scheme].last
    try:
        number = operator.index(number)
    except TypeError:
        raise InvalidCodeError(f"deal number {shown(number)} is not an integer") from None
    if not first <= number <= last:
        raise InvalidCodeError(
            f"deal number {shown(number)} is not in {scheme}; it must be from {first} to {last}"
        )
    return f"{scheme}-C{int(n_cells)}-{SCHEMES[scheme].format(number)}"


def code_range(first: str, count: int) -> tuple[str, ...]:
    """The codes of ``count`` deals that follow each other, from ``first`` on.

    Raises:
        InvalidCodeError: ``first`` is not a code, or the scheme ends before ``count`` deals.

    >>> code_range("MS-C1-9", 3)
    ('MS-C1-9', 'MS-C1-10', 'MS-C1-11')
    """
    scheme, n_cells, number = parse_code(first)
    return tuple(format_code(scheme, n_cells, number + i) for i in range(count))


def deal_code(text: str) -> tuple[str, int, tuple[int, ...]]:
    """Deal a game code.

    Returns:
        The canonical code, the number of cells and the 52 card ids, first dealt first.

    Raises:
        InvalidCodeError: the text is not a game code.

    >>> code, n_cells, deck = deal_code("ms-c4-1")
    >>> code, n_cells, deck[:4]
    ('MS-C4-1', 4, (37, 28, 22, 50))
    """
    code = parse_code(text)
    deck = np.zeros(52, np.uint8)
    SCHEMES[code.scheme].deal(code.number, deck)
    return str(code), code.n_cells, tuple(deck.tolist())
