"""A person's game in the terminal: a session does what is typed, a loop draws the board and reads lines.

The game is saved as soon as it is dealt and after every line that changes it, so that whatever ends the
program, a closed terminal included, loses nothing.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from boulanger_env.escaping import printable
from boulanger_env.files.texts import decode, read_text
from boulanger_env.game import BoulangerError, Game, IllegalMoveError, Move
from boulanger_env.game.codes import RANDOM, draw_random, format_code
from boulanger_env.game.moves import TO_FOUNDATION
from boulanger_env.render import render_ansi
from boulanger_env.render.ansi import CLEAR_SCREEN

from . import saves
from .advice import HELP, Advisor, move_of, moves_by_aim

PROMPT = "move (h: help): "

_SOURCES = tuple("12345678abcd")
_TAP = re.compile(r"\bt\s+(?=\S)")


def random_code(n_cells: int) -> str:
    """The code of a random game.

    Raises:
        InvalidCodeError: ``n_cells`` is not 4, 2 or 1.
    """
    _, number = draw_random(np.uint64(secrets.randbits(64)))
    return format_code(RANDOM, n_cells, int(number))


class Session:
    """One player's game, and the games that follow it.

    Args:
        start: a game before its first move.
        moves: ids of the moves played so far.
        known: the moves in the game's file, None if there is no file.

    Attributes:
        game: the current game.
        note: a message for the player, "" for none.
        done: whether the player has quit.
        unsaved: the error that prevented the last save, or None.
        path: the file in which the game was last saved; it is a replay.
    """

    def __init__(self, start: Game, moves: Sequence[int] = (), known: Sequence[int] | None = None) -> None:
        self.done = False
        self.note = ""
        self.unsaved: OSError | saves.SavedGameError | None = None
        self.path: Path | None = None
        self._begin(start, moves, known)

    def _begin(self, start: Game, moves: Sequence[int], known: Sequence[int] | None) -> None:
        self._start, self._known = start, known
        self._advisor = Advisor()
        self._moves: list[int] = []
        self.game = start.copy()
        for action in moves:
            self._push(Move.from_id(action))
        if self._moves:
            self.note = "\n".join(filter(None, [self.note, f"Resumed at move {len(self._moves)}."]))
        self.store()

    def store(self) -> None:
        """Save the game."""
        self.unsaved = None
        try:
            self.path = saves.save(self._start, self._moves, self._known)
        except (OSError, saves.SavedGameError) as error:
            self.unsaved = error
        else:
            # A won game has moved to another folder.
            self._known = None if self.game.is_won else list(self._moves)

    def enter(self, line: str) -> None:
        """Execute a line, word by word up to the first that fails."""
        self.note = ""
        words = _TAP.sub("t", line.lower()).split()
        before = list(self._moves)
        for place, word in enumerate(words):
            if word in ("n", "new"):
                self.store()
                self._new_game(words[place + 1 :])
                return
            try:
                self._do(word)
            except IllegalMoveError as error:
                self.note = str(error)
                break
            if self.done:
                break
        if self._moves != before:
            self.store()

    def _do(self, word: str) -> None:
        if word in _COMMANDS:
            _COMMANDS[word](self)
        elif word in _SOURCES:
            self._double_tap(word)
        elif word[0] == "t" and word[1:] in _SOURCES:
            self._push(Move(_SOURCES.index(word[1:]), TO_FOUNDATION))
        else:
            self._push(move_of(self.game, word))

    def _push(self, move: Move) -> None:
        self.game.push(move)
        self._moves.append(move.id)
        self._advisor.played(move)

    def _double_tap(self, source: str) -> None:
        move = self.game.double_tap_move(_SOURCES.index(source))
        if move is None:
            raise IllegalMoveError(f"{source}: no card there that can move")
        self._push(move)

    def _undo(self) -> None:
        move = self.game.undo()
        self._moves.pop()
        self._advisor.played(None)
        self.note = f"Took back {self.game.notation(move)}."

    def _quit(self) -> None:
        self.done = True

    def _help(self) -> None:
        self.note = HELP

    def _list_moves(self) -> None:
        self.note = moves_by_aim(self.game) or "There is no legal move."

    def _hint(self) -> None:
        self.note = self._advisor.hint(self.game)
        if not self.game.is_won and self._advisor.is_lost(self.game):
            self.note = " ".join(filter(None, [self.note, self._where_lost()]))

    def _where_lost(self) -> str:
        return self._advisor.where_lost(self._start, self._moves)

    @property
    def lesson(self) -> str:
        """Once the game is stuck: which move lost it, and what would have kept the win; otherwise ""."""
        return self._where_lost() if self.game.is_stuck and self._moves else ""

    @property
    def warning(self) -> str:
        """A warning once it is proved that the game can no longer be won; otherwise, or once it is over, ""."""
        if self.game.outcome or not self._advisor.is_lost(self.game):
            return ""
        return "This game can no longer be won." if self._moves else "This deal cannot be won."

    def _new_game(self, words: Sequence[str]) -> None:
        """Leave this game for a random one with the same number of cells, or for a given code."""
        try:
            if len(words) > 1:
                raise BoulangerError("n takes one game code, such as MS-C4-617, or none")
            code = words[0] if words else random_code(self.game.n_cells)
            following = _saved(Game.from_code(code))
        except (BoulangerError, OSError) as error:
            self.note = printable(str(error))
            return
        if self._moves and self.unsaved:
            self.note = f"The last game could not be saved: {printable(str(self.unsaved))}"
        elif self._moves and not self.game.is_won and self._start.code:
            self.note = f"{self._start.code} is kept: n {self._start.code} goes back to it."
        elif not self._moves:
            with contextlib.suppress(BoulangerError, OSError):
                saves.remove_unplayed(self._start)
        self._begin(*following)


_COMMANDS: dict[str, Callable[[Session], None]] = {
    "u": Session._undo,
    "undo": Session._undo,
    "hint": Session._hint,
    "?": Session._list_moves,
    "h": Session._help,
    "help": Session._help,
    "q": Session._quit,
    "quit": Session._quit,
}


def open_session(
    code: str | None = None, n_cells: int | None = None, board: Path | None = None, start_over: bool = False
) -> Session:
    """The game to play: from a code or a text board, else the one last saved, else a random one.

    Args:
        code: a game code.
        n_cells: the board's cells, 4 if None; without a board, start a random game with this many.
        board: a file with a text board.
        start_over: even if the game is saved; without code and board, start a random game.

    Raises:
        BoulangerError: code or board cannot be read, both are given, or the saved game's file is damaged; the file
            is left as it is.
        OSError: a file cannot be read.
    """
    if code is not None and (board is not None or n_cells is not None):
        raise BoulangerError(f"{code} brings its own cards and cells: give no --board and no --cells with it")
    cells = 4 if n_cells is None else n_cells
    if code is not None:
        return Session(*_saved(Game.from_code(code), start_over))
    if board is not None:
        return Session(*_saved(read_board(board, cells), start_over))
    last = saves.newest() if n_cells is None and not start_over else None
    if last is None:
        return Session(Game.from_code(random_code(cells)))
    start, moves = saves.load(last)
    return Session(start, moves, moves)


def _saved(start: Game, start_over: bool = False) -> tuple[Game, list[int], list[int] | None]:
    """A game, its moves (none to ``start_over``), and the moves in its file, None if it is not saved."""
    # Read even if not needed: a damaged file may be worth repairing and must not be overwritten.
    known = saves.moves_in(saves.path_of(start))
    return start, [] if start_over or known is None else known, known


def read_board(path: Path, n_cells: int) -> Game:
    """Read a game from a text board in a file, ``-`` for standard input.

    Raises:
        BoulangerError: it is not a text board.
        OSError: the file cannot be read.
    """
    if str(path) != "-":
        return Game.from_text(read_text(path), n_cells)
    return Game.from_text(decode(sys.stdin.buffer.read(), "standard input"), n_cells)


def play(session: Session, *, color: bool, ascii: bool = False, clear: bool = False) -> None:
    """Play in the terminal until the player quits, with ``q``, Ctrl-C or the end of the input.

    Args:
        session: the game.
        color: draw with colours.
        ascii: draw without suit symbols.
        clear: clear the screen before each board.

    Raises:
        SavedGameError: the game could not be saved at the end.
    """
    if sys.stdin.isatty():
        # Gives input() a line editor and a history.
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401
    try:
        while not session.done:
            print(_screen(session, color, ascii, clear))
            session.enter(input(PROMPT))
    except (EOFError, KeyboardInterrupt):
        print()
    finish(session)


def finish(session: Session) -> None:
    """Save the game one last time and say goodbye.

    Raises:
        SavedGameError: the game could not be saved.
    """
    session.store()
    if session.unsaved:
        raise saves.SavedGameError(f"the game could not be saved: {session.unsaved}")
    if session.game.is_won:
        print(f"Well played. To see it again: boulanger replay {printable(str(session.path))}")
    else:
        print("The game is kept: boulanger play resumes it.")


def _screen(session: Session, color: bool, ascii: bool, clear: bool) -> str:
    board = render_ansi(session.game, color=color, ascii=ascii)
    notes = [session.note] if session.note else []
    if session.warning:
        notes.append(f"{session.warning} (proved)   u: undo   n: a new game")
    if session.lesson:
        notes.append(f"{session.lesson} (proved)")
    if session.game.outcome:
        notes.append("n: a new game   u: undo   q: quit")
    if session.unsaved:
        notes.append(f"The game cannot be saved: {printable(str(session.unsaved))}")
    return "\n".join([(CLEAR_SCREEN if clear else "") + board, "", *notes])
