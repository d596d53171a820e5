"""Game codes such as ``BK1-C4-AAAAA24``, and the schemes that they name.

A code is a scheme, a cell count and a deal, and always names the same game.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import bk1, microsoft
from .checks import is_whole, shown, whole_number
from .errors import InvalidCodeError
from .jit import inlined_kernel
from .state import CELL_COUNTS

EXAMPLE = "BK1-C4-AAAAA24"

_CELLS = {f"C{n}": n for n in CELL_COUNTS}


class Scheme(NamedTuple):
    """A numbering of deals. Its kernels do not check their arguments."""

    first: int
    """The lowest deal number."""
    last: int
    """The highest deal number."""
    deal_part: str
    """What the deal part of a code must look like, for error messages."""
    parse: Callable[[str], int | None]
    """Number of the deal part of a code (upper case, ASCII), None if it is not one."""
    format: Callable[[int], str]
    """The deal part of a number's code."""
    write: Callable[[Any, NDArray[Any], Any], None]
    """Compiled: write the deal part as UCS-4 letters into a uint32 array of zeros, from an index on."""
    deal: Callable[[Any, NDArray[Any]], None]
    """Compiled: write the 52 card ids of a number's deck into an array, in dealing order."""
    draw: Callable[[Any], tuple[Any, Any]]
    """Compiled: from a stream's state (``streams.py``), its next state and the number of a random deal."""


SCHEMES: dict[str, Scheme] = {
    "BK1": Scheme(
        first=bk1.FIRST,
        last=bk1.LAST,
        deal_part="7 symbols of A-Z and 2-7, such as AAAAA24",
        parse=bk1.parse_number,
        format=bk1.format_number,
        write=bk1.write_bk1,
        deal=bk1.deal_bk1,
        draw=bk1.draw_bk1_number,
    ),
    "MS": Scheme(
        first=microsoft.FIRST,
        last=microsoft.LAST,
        deal_part=f"a number from {microsoft.FIRST} to {microsoft.LAST}, such as 617",
        parse=microsoft.parse_number,
        format=str,
        write=microsoft.write_microsoft,
        deal=microsoft.deal_microsoft,
        draw=microsoft.draw_microsoft_number,
    ),
}
"""The schemes by the name that their codes begin with. To add a scheme, add a row."""

CODE_LENGTH = 16
"""The most letters of a code. Batches keep codes as rows of this many letters."""

assert all(
    len(f"{name}-C4-{scheme.format(number)}") <= CODE_LENGTH
    for name, scheme in SCHEMES.items()
    for number in (scheme.first, scheme.last)
), "a scheme has longer codes than CODE_LENGTH"

RANDOM = "BK1"
"""The one scheme that all environments draw random games from; changing it changes every seed's games."""

# Kernels use these functions: compiled code cannot look them up in a table.
draw_random, deal_random, _write_random = SCHEMES[RANDOM].draw, SCHEMES[RANDOM].deal, SCHEMES[RANDOM].write
_HEADS = np.array(
    [[ord(letter) for letter in f"{RANDOM}-C{n}-"] for n in range(max(CELL_COUNTS) + 1)], np.uint32
)


@inlined_kernel
def write_random_code(number: Any, n_cells: Any, out: NDArray[Any]) -> None:
    """Write the code of a random game as UCS-4 letters into a uint32 array, zeros after it; unchecked."""
    out[:] = 0
    for i in range(_HEADS.shape[1]):
        out[i] = _HEADS[n_cells, i]
    _write_random(number, out, _HEADS.shape[1])


class GameCode(NamedTuple):
    """A parsed game code. ``str()`` gives its canonical form."""

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
        raise InvalidCodeError(f"{shown(text)} is not a game code: a code is a string such as {EXAMPLE}")
    code = f"game code {shown(text)}"
    # Before upper(), which would turn some non-ASCII letters into A-Z.
    if not text.isascii():
        raise InvalidCodeError(f"{code} has characters outside ASCII; write it like {EXAMPLE}")
    if not text.strip():
        raise InvalidCodeError(f"{code} is empty; write it like {EXAMPLE}")
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
        InvalidCodeError: one of them is invalid.

    >>> format_code("BK1", 4, 860)
    'BK1-C4-AAAAA24'
    """
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise InvalidCodeError(f"{shown(scheme)} is not a dealing scheme; it must be {' or '.join(SCHEMES)}")
    if not is_whole(n_cells, 1) or n_cells not in CELL_COUNTS:
        raise InvalidCodeError(f"a game has 4, 2 or 1 cells, not {shown(n_cells)}")
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
    """The codes of ``count`` consecutive deals, starting from ``first``.

    Raises:
        InvalidCodeError: ``first`` is not a code, or the scheme ends before ``count`` deals.
        BoulangerError: ``count`` is not a whole number.

    >>> code_range("MS-C1-9", 3)
    ('MS-C1-9', 'MS-C1-10', 'MS-C1-11')
    """
    scheme, n_cells, number = parse_code(first)
    count = whole_number("count", count, 0)
    # The last one first: numbers without end would fill the memory before one is refused.
    format_code(scheme, n_cells, number + max(count, 1) - 1)
    return tuple(format_code(scheme, n_cells, number + i) for i in range(count))


def deal_code(text: str) -> tuple[str, int, tuple[int, ...]]:
    """Deal a game code.

    Returns:
        The canonical code, the number of cells and the 52 card ids, in dealing order.

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
