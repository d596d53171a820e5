"""Advice for a player: how to play, the legal moves, hints, and whether the game can still be won."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from threading import Thread

from boulanger_env.game import Game, IllegalMoveError, Move
from boulanger_env.game.cards import card_name
from boulanger_env.game.moves import FIRST_CELL, TO_CELL, TO_FOUNDATION
from boulanger_env.solver import UNSOLVABLE, Solution, diagnose, solve, winning_moves

HELP = """\
Fill the four foundations from ace to king. A card goes onto the next higher
card of its suit, into an empty column or into a free cell.
Columns are 1-8, cells a-d, home is h, and a move is from where to where:

  76    column 7 onto column 6           6f    column 6 to the first free cell
  73v2  two cards to empty column 3      b3    cell b onto column 3
  73    as many as fit                   7h    column 7 home (bh: cell b)
  7  b  double tap: home, or onto its next card, an empty column, a free cell
  t7 tb tap: home, or nothing
  u     undo                             ?     list the legal moves
  hint  a move that keeps the win        q     quit; the game is kept
  n     new game (n MS-C4-617: that one)
Several on one line are played in turn: 6f 7h 76"""

WELCOME = "Drag a card, double tap it, or tap it to send it home."

WINDOW_HELP = (
    ("Aim", "all cards home: each suit from ace to king"),
    ("A card goes", "onto the next higher card of its suit, into an empty column or into a free cell"),
    ("A group", "of one suit, each a rank lower, moves as one if free cells and empty columns allow it"),
    ("", ""),
    ("Drag", "a card to where it should go, with those on it"),
    ("Tap", "a card to send it home"),
    ("Double tap", "it: home, or onto its next card, to an empty column, to a free cell"),
    ("", ""),
    ("u", "takes back the last move"),
    ("i", "hints at a move that keeps the win"),
    ("n", "deals a new game; this one is kept"),
    ("c", "asks for a game's code, such as MS-C4-617"),
    ("q", "quits; the game is kept, and boulanger play resumes it"),
)

# Far more than any known game needs; bounds how long a player waits.
_NODES = 100_000
_SECONDS = 1.0


_NAMED = 3
"""How many of the moves that would have kept a win are named."""

_MOVE = re.compile(r"[1-8a-d][1-8a-dfh](v[1-9a-d])?")


@cache
def _loading() -> Thread:
    """Load the solver in the background: the first time on a machine it is compiled, which takes a while."""
    game = Game.from_code("MS-C4-1")
    # Only one thread can compile at a time, so compile what play needs first.
    for word in ("6a", "6a", "6h", "6h", "72"):
        move = game.parse_move(word)
        game.notation(move)
        game.double_tap_move(move.source)
        game.push(move)
    game.undo()
    game.position_key()
    thread = Thread(target=_load, args=(game,), daemon=True)
    thread.start()
    thread.join(0.5)  # usually it is already compiled
    return thread


def _load(game: Game) -> None:
    _solve(game)
    winning_moves(game)


def _is_ready(seconds: float = 0) -> bool:
    """Whether the solver is loaded, after waiting at most ``seconds``."""
    _loading().join(seconds)
    return not _loading().is_alive()


def _solve(game: Game, quality: str = "short") -> Solution:
    return solve(game, _NODES, _SECONDS, quality=quality)


class Advisor:
    """The solver's advice about the player's game."""

    def __init__(self) -> None:
        self._judged: tuple[bytes, bool] | None = None
        self._traced: tuple[tuple[int, ...], str] | None = None
        self._plan: list[Move] = []

    def played(self, move: Move | None) -> None:
        """Note a move, or an undo (None).

        Hints follow the same plan as long as the player does, so that they lead to a win, not in circles.
        """
        self._plan = self._plan[1:] if self._plan[:1] == [move] else []

    def is_lost(self, game: Game) -> bool:
        """Whether it is proved that the game can no longer be won; False while the solver is not loaded."""
        if game.outcome or not _is_ready():
            return game.is_stuck
        key = game.position_key()
        if self._judged is None or self._judged[0] != key:
            self._judged = key, _solve(game, "any").status is UNSOLVABLE
        return self._judged[1]

    def where_lost(self, start: Game, moves: Sequence[int]) -> str:
        """Which move lost a lost game and what would have kept the win, in words; "" if that is not known in time.

        Args:
            start: the game before the first move.
            moves: ids of the moves that led to where it is lost, without those taken back.
        """
        if not _is_ready():
            return ""
        if self._traced is None or self._traced[0] != tuple(moves):
            self._traced = tuple(moves), _where_lost(start, moves)
        return self._traced[1]

    def hint(self, game: Game) -> str:
        """A move that keeps the win, in words, or the reason why there is none."""
        if game.is_won:
            return "The game is won."
        if not _is_ready(3):
            return "The solver is still being compiled, which happens once: ask again in a moment."
        if self.is_lost(game):
            return "There is no hint: no move wins from here."
        self._plan = self._plan or list(_solve(game).moves)
        if not self._plan:
            return "There is no hint: the solver has found no win in time."
        move = self._plan[0]
        return f"Hint: {game.notation(move)}, {in_words(game, move)}, keeps the win: proved by the solver."


def _where_lost(start: Game, moves: Sequence[int]) -> str:
    found = diagnose(start, moves, node_limit=_NODES, time_limit=_SECONDS)
    if found.positions[0] is False:
        return "This deal could not be won."
    lost = found.losing_move
    if lost is None:
        return ""
    kept = [lost.before.notation(move) for move in lost.winning]
    if len(kept) > _NAMED + 1:
        kept[_NAMED:] = [f"{len(kept) - _NAMED} more"]
        others = f"{', '.join(kept[:-1])} and {kept[-1]}"
    else:
        others = " or ".join(filter(None, [", ".join(kept[:-1]), kept[-1]]))
    back = len(moves) - lost.step + 1
    return (
        f"Lost by move {lost.step}, {lost.text}: {others} would have kept the win (undo {back} "
        f"move{'s' * (back > 1)} to go back there)."
    )


def in_words(game: Game, move: Move) -> str:
    """A legal move as a player would say it.

    >>> in_words(Game.from_code("MS-C4-1"), Move.parse("6f"))
    'the 3D to a free cell'
    """
    if move.source >= FIRST_CELL:
        cards = [game.cells[move.source - FIRST_CELL]]
    else:
        cards = list(game.columns[move.source][-move.size :])
    what = f"the {card_name(cards[0])}" + (f" and {len(cards) - 1} more" if cards[1:] else "")
    if move.destination == TO_FOUNDATION:
        return f"{what} home"
    if move.destination == TO_CELL:
        return f"{what} to a free cell"
    onto = game.columns[move.destination]
    return f"{what} onto the {card_name(onto[-1])}" if onto else f"{what} to the empty column"


def move_of(game: Game, word: str) -> Move:
    """The move that a player typed, legal or not.

    Raises:
        IllegalMoveError: it is not a move, or it names a cell other than the one the card would go to.
    """
    if not _MOVE.fullmatch(word):
        raise IllegalMoveError(f"{word!r} is not a move or a command: h shows how to write them")
    move = game.parse_move(word)
    if word[1] in "abcd" and game.is_legal(move) and game.notation(move) != word:
        # If it were played, the next word would look for the card in the wrong cell.
        why = (
            f"cell {word[1]} is taken"
            if game.cells["abcd".index(word[1])]
            else "cells are filled from the left"
        )
        raise IllegalMoveError(f"{word}: {why}, so write {game.notation(move)}")
    return move


def moves_by_aim(game: Game) -> str:
    """The legal moves in notation, one line per kind of destination; "" if there are none."""
    kinds: dict[str, list[str]] = {
        "home": [],
        "onto a card": [],
        "to an empty column": [],
        "to a free cell": [],
    }
    for move in game.legal_moves():
        if move.destination == TO_FOUNDATION:
            kind = "home"
        elif move.destination == TO_CELL:
            kind = "to a free cell"
        else:
            kind = "onto a card" if game.columns[move.destination] else "to an empty column"
        kinds[kind].append(game.notation(move))
    return "\n".join(f"{kind + ':':20}{' '.join(moves)}" for kind, moves in kinds.items() if moves)
