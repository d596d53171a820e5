"""JSON from untrusted files: anything that programs disagree on is rejected."""

from __future__ import annotations

import json
from collections import Counter
from math import isfinite
from typing import Any, NoReturn

from boulanger_env.game.errors import BoulangerError

_MOST_DIGITS = 20  # those of 2**64


class JSONError(BoulangerError):
    """A text that is not strict JSON; the message says what is wrong with it."""


def parse(text: str | bytes) -> Any:
    """The value of a JSON text, or of its UTF-8.

    Raises:
        JSONError: it is not JSON, a key occurs twice in an object, or a number does not fit into a double or 64 bits
            (some programs read ``NaN`` and ``1e999``, others reject them).

    >>> parse('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    boulanger_env.files.strict_json.JSONError: key 'a' comes twice
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int
        )
    except JSONError:
        raise
    except RecursionError:
        raise JSONError("it is not JSON: nested too deeply") from None
    except ValueError as error:
        raise JSONError(f"it is not JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise JSONError(f"key {twice!r} comes twice")
    return found


def _constant(name: str) -> NoReturn:
    raise JSONError(f"{name} is not a number in JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise JSONError(f"{digits[:_MOST_DIGITS]} is too large a number")
    return value


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > _MOST_DIGITS:
        raise JSONError(f"{digits[:_MOST_DIGITS]}... is a number of {len(digits.lstrip('-'))} digits")
    return int(digits)
