"""Following a list of actions through a game, to draw or describe an episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from .automatic import undo_span
from .checks import shown
from .errors import BoulangerError, IllegalMoveError
from .game import Game
from .moves import UNDO, Move, action_id
from .taps import foundation_action

NOTHING = -1
"""Stands for an action that an episode's settings refuse: an undo that reaches no move of the player's own, a move to a
position that the episode has been in."""


class Step(NamedTuple):
    """One action of an episode.

    Attributes:
        action: its id, 0..780, or whatever was given instead.
        text: the move in notation, or ``"undo"``.
        error: why the rules forbid it, "" if they do not; an illegal action changes nothing.
        game: the game after it. The same object at every step: copy it to keep it.
    """

    action: int
    text: str
    error: str
    game: Game


def walk(start: Game, actions: Iterable[int]) -> Iterator[Step]:
    """Play actions one by one, including illegal ones and undo (780).

    Args:
        start: the game before the first action; it is not changed.
        actions: action ids. An invalid id is treated like an illegal move.

    Raises:
        BoulangerError: ``start`` is not a game, or ``actions`` are not a list of anything.

    >>> [(step.text, step.error[:20], step.game.moves) for step in walk(Game.from_code("MS-C4-1"), [733, 736, 780])]
    [('6a', '', 1), ('1h', '1h is not legal: 6S ', 1), ('undo', '', 0)]
    """
    if not isinstance(start, Game):
        raise BoulangerError(f"start is {shown(start)}, it must be a Game")
    if not isinstance(actions, Iterable):
        raise BoulangerError(f"actions are {shown(actions)}, they must be a list of action ids")
    game = start.copy()
    for action in actions:
        text, error = shown(action), ""
        try:
            if isinstance(action, int) and action == NOTHING:
                raise IllegalMoveError(
                    "refused by the episode's settings: with auto_foundation undo takes back own moves only, and "
                    "no_repeats forbids a position that the episode has been in"
                )
            action = action_id(action, UNDO + 1)
            if action == UNDO:
                text = "undo"
                game.undo()
            else:
                move = Move.from_id(action)
                text = str(move)
                text = game.notation(move)
                game.push(move)
        except IllegalMoveError as refused:
            error = str(refused)
        yield Step(action, text, error, game)


def as_played(
    start: Game, actions: Iterable[int], *, auto_foundation: bool, no_repeats: bool
) -> list[tuple[int, bool]]:
    """The actions of an episode, and the foundation moves that played themselves, in the order of play.

    Args:
        start: the game before anything was played; it is not changed.
        actions: the player's own action ids.
        auto_foundation: whether foundation moves played themselves.
        no_repeats: whether a move to a position that the episode had been in was illegal.

    Returns:
        Action ids for ``walk``, each with whether it is the player's own. Undo takes back the player's last move and
        all after it, one ``UNDO`` each. What the settings refused is ``NOTHING``.

    >>> game = Game.from_code("MS-C4-1")
    >>> as_played(game, [733, 733], auto_foundation=True, no_repeats=False)
    [(733, True), (733, True), (741, False), (741, False), (777, False)]
    """
    game = start.copy()
    played: list[tuple[int, bool]] = []
    been: set[bytes] = set()

    def finish() -> None:
        while auto_foundation and (action := int(foundation_action(game._board))) >= 0:
            game.push(Move.from_id(action))
            played.append((action, False))
        been.add(game.position_key())

    finish()
    for action in actions:
        if action == UNDO and auto_foundation:
            span = int(undo_span(game._counters, game._history))
            for i in range(span):
                game.undo()
                played.append((UNDO, i == 0))
            if not span:
                played.append((NOTHING, True))
        else:
            after, refused = game.copy(), False
            with suppress(IllegalMoveError):
                after.undo() if action == UNDO else after.push(Move.from_id(action))
                refused = no_repeats and after.position_key() in been
            played.append((NOTHING if refused else action, True))
            game = game if refused else after
        finish()
    return played
