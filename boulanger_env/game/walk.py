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
"""An action id that is never legal."""


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


def with_automatic(start: Game, actions: Iterable[int]) -> list[tuple[int, bool]]:
    """The actions of an episode in which foundation moves play themselves, and these moves, in the order of play.

    Args:
        start: the game before anything was played; it is not changed.
        actions: the player's own action ids.

    Returns:
        Action ids for ``walk``, each with whether it is the player's own. Undo takes back the player's last move and
        all after it, one ``UNDO`` each. An undo that reaches none is -1, which no game can play.

    >>> game = Game.from_code("MS-C4-1")
    >>> [(step.text, own) for action, own in with_automatic(game, [733, 728]) for step in walk(game, [action])]
    [('6a', True), ('1a', True)]
    """
    game = start.copy()
    played: list[tuple[int, bool]] = []

    def finish() -> None:
        while (action := int(foundation_action(game._board))) >= 0:
            game.push(Move.from_id(action))
            played.append((action, False))

    finish()
    for action in actions:
        if action == UNDO:
            span = int(undo_span(game._counters, game._history))
            for i in range(span):
                game.undo()
                played.append((UNDO, i == 0))
            if not span:
                played.append((NOTHING, True))
            continue
        played.append((action, True))
        with suppress(IllegalMoveError):
            game.push(Move.from_id(action))
        finish()
    return played
