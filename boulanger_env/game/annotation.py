"""``Annotation``: what an agent thought, for recording and showing an episode."""

from __future__ import annotations

from typing import NamedTuple


class Annotation(NamedTuple):
    """What an agent thought before an action.

    Attributes:
        choices: the likeliest actions with their probabilities, likeliest first.
        value: how good the position seemed to it, on its own scale (named by ``value_unit`` of ``episode``).
        note: any text.
    """

    choices: tuple[tuple[int, float], ...] = ()
    value: float | None = None
    note: str = ""
