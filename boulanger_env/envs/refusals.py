"""Why an action is refused, in words, for ``illegal_action="raise"``."""

from __future__ import annotations

from typing import NoReturn

from boulanger_env.game.cards import card_name
from boulanger_env.game.errors import IllegalMoveError
from boulanger_env.game.game import Game
from boulanger_env.game.internal import rows_of
from boulanger_env.game.kernels import NOT_NEXT_HOME, why_illegal
from boulanger_env.game.moves import FIRST_CELL, Move

from ._batch.stepping import Rules
from .action_maps import (
    ALREADY_IN_CELL,
    CARD_ACTION_TABLE,
    COVERED,
    INTO_CELL,
    IS_HOME,
    NO_EMPTY_COLUMN,
    PARENT_COVERED,
    TAPS,
    place_of,
)


def refuse(game: Game, action: int, rules: Rules) -> NoReturn:
    """Raise the reason why an action, one that is illegal now, is refused.

    Args:
        game: a copy of the game.
        action: an action of the environment.
        rules: the environment's.

    Raises:
        IllegalMoveError: always.
    """
    if action == rules.n_moves:
        raise IllegalMoveError(
            "nothing to undo: no move of the player's own is left to take back"
            if rules.auto_foundation
            else "nothing to undo: no move was played, or the last 100 are already taken back"
        )
    board = rows_of(game).board
    place = int(place_of(board, action, rules.actions))
    if place < 0:
        raise IllegalMoveError(_no_move(action, place))
    if rules.actions == TAPS and why_illegal(board, place) == NOT_NEXT_HOME:
        raise IllegalMoveError(_no_tap(action))
    move = Move.from_id(place)
    game.push(move)
    raise IllegalMoveError(
        f"{move} leads to a position that this episode has been in: no_repeats=True forbids it"
    )


def _no_move(action: int, reason: int) -> str:
    """Why a card action stands for no move."""
    card, kind = CARD_ACTION_TABLE[action].tolist()
    name = card_name(card)
    covered = (
        f"{name} is not on top of its column"
        if kind >= INTO_CELL
        else f"{name} cannot move: the cards that lie on it are not a run with it (same suit, each one rank lower)"
    )
    return {
        IS_HOME: f"{name} is on its foundation and stays there",
        COVERED: covered,
        PARENT_COVERED: f"{name} goes only onto {card_name(min(card + 1, 52))}, which is not on top of a column",
        NO_EMPTY_COLUMN: f"{name} cannot go to an empty column: there is none",
        ALREADY_IN_CELL: f"{name} is in a cell already",
    }[reason]


def _no_tap(source: int) -> str:
    if source >= FIRST_CELL:
        place, cell = f"cell {'abcd'[source - FIRST_CELL]}", ""
    else:
        place, cell = f"column {source + 1}", ", nor to a cell"
    return f"a double tap on {place} moves nothing: its card can go neither home, nor onto a column{cell}"
