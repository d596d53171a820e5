"""What the built-in sets say about deals, and which deals may use their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from boulanger_env.game.errors import BoulangerError

from . import load, set_names
from .builtin import names
from .labels import Labels, as_labels

_SLICE = re.compile(r"\[(\d+):(-1|\d+)(?::(-?\d+))?\]")


class Label(NamedTuple):
    """What is known about a deal, see ``Labels``."""

    solvable: bool
    length: int
    nodes: int


@cache
def _places(name: str) -> dict[str, int]:
    return {code: place for place, code in enumerate(load(name).codes)}


def built_in_labels(codes: Sequence[str]) -> dict[str, Label]:
    """The labels of the deals that are in any built-in set."""
    found: dict[str, Label] = {}
    missing = set(codes)
    for name in names():
        labels = load(name).labels
        if labels is None or not missing:
            continue
        places = _places(name)
        for code in missing & places.keys():
            found[code] = Label(*(array[places[code]].item() for array in labels))
        missing -= found.keys()
    return found


def known_labels(deals: str, codes: Sequence[str]) -> Labels | None:
    """The labels of deals from the built-in set that a name begins with; None if there are none.

    Args:
        deals: a set's name, or a slice's, such as ``c4-test[0:100]``.
        codes: deals of that set.
    """
    if not codes or deals.partition("[")[0] not in set_names():
        return None
    found = built_in_labels(codes)
    return as_labels(found[code] for code in codes) if found.keys() >= set(codes) else None


def check_name(deals: str, codes: Sequence[str]) -> None:
    """Reject other deals under the name of a built-in set, or of a slice of one, such as ``c4-test[0:100]``.

    Raises:
        BoulangerError: the deals are not those of that name.
    """
    name, bracket, _ = deals.partition("[")
    if name.casefold() not in set_names():
        return
    # In other capitals it is not the name of a built-in set, but looks like one.
    right: Sequence[str] | None = load(name).codes if name in set_names() else None
    slices = deals[len(name) :]
    for part in _SLICE.findall(slices):
        places = range(*(int(number or 1) for number in part))
        right = (
            [right[place] for place in places] if right is not None and _within(places, len(right)) else None
        )
    if _SLICE.sub("", slices) or right is None or tuple(codes) != tuple(right):
        raise BoulangerError(
            f"these are not the deals of the built-in set {name}{' of that slice' if bracket else ''}: "
            "name your own set otherwise"
        )


def _within(places: range, count: int) -> bool:
    # Only the ends are compared: the file decides how long a range is.
    return not places or 0 <= min(places[0], places[-1]) <= max(places[0], places[-1]) < count
