"""The compiled rules of Jeu du Boulanger, and ``Game``, the public object."""

from .cards import card_name, parse_card
from .errors import BoulangerError, IllegalMoveError, InvalidBoardError, InvalidCodeError
from .game import Game
from .moves import ACTION_TABLE, N_ACTIONS, UNDO, Move

__all__ = [
    "ACTION_TABLE",
    "N_ACTIONS",
    "UNDO",
    "BoulangerError",
    "Game",
    "IllegalMoveError",
    "InvalidBoardError",
    "InvalidCodeError",
    "Move",
    "card_name",
    "parse_card",
]
