"""Marks on cards, the same in text, pictures, films, windows and web pages. To add a mark, add a row to ``MARKS``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from boulanger_env.game import Game
from boulanger_env.game.cards import N_RANKS

from .last_move import LastMove

ACCENT = (242, 190, 84)


class Mark(NamedTuple):
    """A mark on cards."""

    sign: str
    """The character before a card in text."""
    colour: tuple[int, int, int]
    """The line around a card in pictures."""
    cards: Callable[[Game, LastMove | None], Iterable[int]]
    """The cards that carry it, from a game and its last move."""


def moved(game: Game, last: LastMove | None) -> Iterable[int]:
    """The cards of the last move."""
    if last is None:
        return ()
    if last.to_column is not None:
        return game.columns[last.to_column][-last.size :]
    if last.to_cell is not None:
        return (game.cells[last.to_cell],)
    assert last.to_home is not None
    return (last.to_home * N_RANKS + game.foundations[last.to_home],)


MOVED = "moved"

MARKS: dict[str, Mark] = {MOVED: Mark(">", ACCENT, moved)}
"""The marks by name. A card carries the first that applies to it."""


def marks_of(game: Game, last: LastMove | None) -> dict[int, str]:
    """The name of each marked card's mark, by card.

    >>> from boulanger_env.render.last_move import last_move_of
    >>> game = Game.from_code("MS-C4-1")
    >>> game.push(game.parse_move("6a"))
    >>> marks_of(game, last_move_of(game))
    {29: 'moved'}
    """
    marked: dict[int, str] = {}
    for name, mark in MARKS.items():
        for card in mark.cards(game, last):
            marked.setdefault(card, name)
    return marked
