"""Checks of callers' numbers before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from boulanger_env.escaping import printable

from .errors import BoulangerError

MOST = 2**63 - 1
"""The largest number that kernels take."""


def is_whole(value: Any, least: float = -inf, most: float = inf) -> TypeGuard[int]:
    """Whether a value is a whole number within bounds, Python's or NumPy's; a bool is not."""
    is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_number and bool(least <= value <= most)


def whole_number(name: str, value: Any, least: int = 1, most: int = MOST) -> int:
    """A whole number within bounds, as an int.

    Raises:
        BoulangerError: it is not one; the message calls it ``name``.

    >>> whole_number("num_envs", np.int32(3))
    3
    """
    if is_whole(value, least, most):
        return int(value)
    bound = f"at most {most}" if is_whole(value, least, value) else f"at least {least}"
    raise BoulangerError(f"{name}={shown(value)} must be a whole number of {bound}")


def is_list(value: Any) -> bool:
    """Whether a value is a list of any kind: not a string, not a single number."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def as_array(name: str, values: Any, error: type[BoulangerError] = BoulangerError) -> NDArray[Any]:
    """A caller's value as a plain array.

    Raises:
        BoulangerError: (or its subclass ``error``) it cannot be converted.
    """
    try:
        return np.asarray(values)
    except Exception as reason:  # whatever an object's own __array__ raises
        raise error(f"{name}: {shown(values)} does not make an array: {shown(reason)}") from None


def whole_bytes(
    name: str,
    values: Any,
    error: type[BoulangerError] = BoulangerError,
    right: str = "a whole number from 0 to 255",
) -> NDArray[np.uint8]:
    """Whole numbers from 0 to 255 as uint8, in an array of any shape; a uint8 array is not copied.

    Raises:
        BoulangerError: (or its subclass ``error``) an entry is out of range or not a number. The message says that it
            is not what is ``right``.
    """
    given = as_array(name, values, error)
    if given.dtype == np.uint8:
        return given
    if given.dtype.kind not in "biuf":
        raise error(f"{name}: {shown(values)} has something in it that is not {right}")
    with np.errstate(invalid="ignore"):
        whole: NDArray[np.uint8] = given.astype(np.uint8)
    wrong = given[whole != given]
    if wrong.size:
        raise error(f"{name}: {wrong.flat[0].item()!r} is not {right}")
    return whole


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """An array, copied if necessary, in the form that kernels are compiled for: writable and in C order."""
    return array if array.flags.carray else array.copy()


def shown(value: object) -> str:
    """A value as error messages show it: on one line, shortened if it is long."""
    try:
        text = " ".join(str(value if isinstance(value, Exception) else repr(value)).split())
    except Exception:  # an int of too many digits, or an object's own repr
        text = f"a value of type {type(value).__name__}"
    return printable(text, 60)
