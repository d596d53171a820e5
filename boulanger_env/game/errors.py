"""The package's errors. Each message says what was given, what is wrong with it and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class BoulangerError(ValueError):
    """Base class of every error that this package raises for bad input."""


class InvalidCodeError(BoulangerError):
    """A text that is not a game code, or a deal number outside its scheme's range."""


class InvalidBoardError(BoulangerError):
    """A board that is not a position of the game: missing or duplicate cards, or an impossible shape."""


class IllegalMoveError(BoulangerError):
    """A move that the rules forbid in this position, or a text or number that does not name a move."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The end of a message about an unknown word: the closest choice, or nothing."""
    near = get_close_matches(word[:100], list(choices), 1, cutoff=0.7)
    return f" (did you mean {near[0]!r}?)" if near else ""
