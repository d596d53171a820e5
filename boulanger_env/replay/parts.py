"""Parts of a replay, checked: where a game began, actions, numbers, annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from numbers import Real
from typing import Any

from boulanger_env.game.annotation import Annotation
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.game import Game
from boulanger_env.game.internal import rows_of
from boulanger_env.game.moves import UNDO, action_id
from boulanger_env.game.state import MOVES, SCORE
from boulanger_env.game.walk import walk

ROUNDING = 1e-6
"""How far outside 0 .. 1 a probability may be: float32 rounds that much."""


class ReplayError(BoulangerError):
    """Not a replay, or an impossible episode; the message names the step."""


_MOST_MOVES = 10**8
"""More than any game has; with their points they still fit a state's counters."""


def origin(start: Game) -> dict[str, Any]:
    """How a game began, as stored in files.

    A code or a board, the moves since then that undo can take back, and the score and the number of moves before
    those, if any: undo reaches back over 100 moves, and a game may have had more.
    """
    first, before = start.copy(), []
    while first.last_move is not None:
        before.append(first.undo().id)
    found: dict[str, Any] = {"board": str(first), "n_cells": first.n_cells}
    if first.code and first == Game.from_code(first.code):
        found = {"code": first.code}
    if first.score or first.moves:
        found |= {"score_before": first.score, "moves_before": first.moves}
    return {**found, "before": before[::-1]} if before else found


def begin(found: Mapping[str, Any]) -> Game:
    """The game of an ``origin``, which is untrusted.

    Raises:
        BoulangerError: it is not a valid origin.
    """
    if "code" in found and "board" in found:
        raise ReplayError("it has a code and a board: one of them says it all")
    if "code" in found:
        game = Game.from_code(found["code"])
    elif isinstance(found.get("board"), str) and type(found.get("n_cells")) is int:
        game = Game.from_text(found["board"], found["n_cells"])
    else:
        raise ReplayError("it has neither a code nor a board with its n_cells")
    score, moves = (found.get(f"{name}_before", 0) for name in ("score", "moves"))
    if type(moves) is not int or not 0 <= moves <= _MOST_MOVES:
        raise ReplayError(
            f"moves_before is {shown(moves)}: it must be a whole number from 0 to {_MOST_MOVES}"
        )
    if type(score) is not int or not 0 <= score <= 10 * moves or score % 5:
        raise ReplayError(
            f"score_before is {shown(score)}: {moves} moves bring a multiple of 5 from 0 to {10 * moves}"
        )
    rows_of(game).counters[[SCORE, MOVES]] = score, moves
    before = [*numbered(found.get("before", []), "earlier move", as_action)]
    for i, step in enumerate(walk(game, before)):
        if step.error or step.action == UNDO:
            raise ReplayError(f"earlier move {i + 1} of {len(before)}: {step.error or 'undo is not a move'}")
        game = step.game
    return game


def number(value: Any) -> float:
    """A finite number as a float.

    Raises:
        ReplayError: it is not one.
    """
    try:
        # NumPy's numbers are Real too, but its bool is not.
        if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value):
            raise TypeError
        return float(value)
    except (TypeError, OverflowError):
        raise ReplayError(f"{shown(value)} is not a finite number") from None


def as_action(value: Any) -> int:
    return action_id(value, UNDO + 1)


def _probability(value: Any) -> float:
    """A number within 0 .. 1; an excess from float rounding is clipped."""
    probability = number(value)
    if not -ROUNDING <= probability <= 1 + ROUNDING:
        raise ReplayError(f"probability {shown(probability)} is not within 0 to 1")
    return min(max(probability, 0.0), 1.0)


def as_annotation(value: Any) -> Annotation | None:
    if value is None:
        return None
    if not isinstance(value, Annotation):
        raise ReplayError(f"{shown(value)} is not an Annotation")
    choices = []
    for choice in numbered(value.choices, "choice", lambda choice: choice):
        if not isinstance(choice, (tuple, list)) or len(choice) != 2:
            raise ReplayError(f"{shown(choice)} is not a choice: an action and its probability")
        choices.append((as_action(choice[0]), _probability(choice[1])))
    note = as_text("note", value.note)
    return Annotation(tuple(choices), None if value.value is None else number(value.value), note)


def as_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ReplayError(f"{name} {shown(value)} is not a string")
    return value


def numbered(values: Any, what: str, check: Any) -> Iterator[Any]:
    """The checked values of a list; an error says which value is wrong."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ReplayError(f"the {what}s are not a list")
    for i, value in enumerate(values, 1):
        try:
            yield check(value)
        except BoulangerError as error:
            raise ReplayError(f"{what} {i}: {error}") from None
