"""``Game``: one game of Jeu du Boulanger, the public object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import kernels, text
from .cards import N_SUITS, RANKS, SUIT_NAMES, SUITS, card_name, suit_of
from .checks import is_list, shown, whole_bytes
from .codes import deal_code
from .errors import IllegalMoveError, InvalidBoardError
from .moves import (
    FIRST_CELL,
    N_ACTIONS,
    N_SOURCES,
    TO_CELL,
    TO_FOUNDATION,
    Move,
    action_id,
    parse_notation,
)
from .outcomes import OUTCOMES, STUCK, outcome_of
from .state import (
    CELLS,
    FOUNDATIONS,
    HEIGHTS,
    MAX_HEIGHT,
    MOVES,
    N_COLUMNS,
    NO_CARD,
    NO_CELL,
    SCORE,
    TABLEAU,
    Board,
    Counters,
    History,
    new_state,
)
from .taps import tap_action
from .turns import Turn
from .validity import check_state, complete_rows


class Game:
    """A game in play: its cards, score and undo history.

    Create games with :meth:`from_code`, :meth:`from_text`, :meth:`from_columns` or :meth:`from_deck`. Two games are
    equal if they have the same cards in the same places and the same number of cells. Score, history and code are
    ignored.

    >>> game = Game.from_code("MS-C4-1")
    >>> game.push(Move.parse("6f"))
    >>> game.undo()
    Move(source=5, destination=8, size=1)
    >>> game == Game.from_code("MS-C4-1")
    True
    """

    __slots__ = ("_board", "_code", "_counters", "_history", "_turn")
    # Mutable, so not hashable: use position_key() in sets and dicts.
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, board: Board, counters: Counters, history: History, code: str | None = None) -> None:
        """The constructor wraps the rows of a state (``state.py``) without copying them.

        Raises:
            InvalidBoardError: they are not the rows of a game.
            InvalidCodeError: ``code`` is not a game code.
        """
        check_state(board, counters, history)
        self._set(board, counters, history, self._canonical(code))

    def _set(self, board: Board, counters: Counters, history: History, code: str | None) -> None:
        self._board, self._counters, self._history, self._code = board, counters, history, code
        self._turn = Turn("game")

    @classmethod
    def _canonical(cls, code: str | None) -> str | None:
        """A code as it is written, checked: it is shown, saved and played by."""
        return None if code is None else cls.from_code(code).code

    @classmethod
    def _wrap(cls, board: Board, counters: Counters, history: History, code: str | None = None) -> Game:
        """The same for rows that are known to be valid."""
        game = cls.__new__(cls)
        game._set(board, counters, history, code)
        return game

    # -- creating games ---------------------------------------------------------------------------------------

    @classmethod
    def from_code(cls, code: str) -> Game:
        """Deal the game with a code such as ``BK1-C4-AAAAA24`` or ``MS-C4-617``.

        Raises:
            InvalidCodeError: the text is not a code, or its number is outside the scheme's range.
        """
        canonical, n_cells, deck = deal_code(code)
        board, counters, history = new_state()
        kernels.deal(board, np.array(deck, np.uint8), n_cells)
        return cls._wrap(board, counters, history, canonical)

    @classmethod
    def from_deck(cls, deck: Sequence[int], n_cells: int = 4, code: str | None = None) -> Game:
        """Deal a deck of 52 card ids row by row: card ``i`` goes to column ``i % 8``.

        Raises:
            InvalidBoardError: not the 52 cards once each, or a number of cells other than 4, 2 and 1; or ``code`` deals
                another game.
            InvalidCodeError: ``code`` is not a game code.
        """
        cards = _numbers("deck", deck)
        game = cls.from_columns([cards[i::N_COLUMNS] for i in range(N_COLUMNS)], n_cells=n_cells)
        if code is None:
            return game
        named = cls.from_code(code)
        if named != game:
            raise InvalidBoardError(f"{named.code} deals another game than this deck with {n_cells} cells")
        return named

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[Sequence[int]],
        cells: Sequence[int] = (),
        foundations: Sequence[int] = (0, 0, 0, 0),
        n_cells: int = 4,
    ) -> Game:
        """A game from 8 columns of card ids (last card on top), cells (0 = empty) and foundation ranks.

        Raises:
            InvalidBoardError: it is not a position of the game; the message says why.
        """
        text.check_n_cells(n_cells)
        if not is_list(columns) or len(columns) != N_COLUMNS:
            given = len(columns) if is_list(columns) else "no"
            raise InvalidBoardError(f"{given} columns given: a board has 8 (write an empty one as ':')")
        tableau = [_numbers(f"column {i}", column) for i, column in enumerate(columns, 1)]
        held, home = _numbers("cells", cells), _numbers("foundations", foundations, "a rank from 0 to 13")
        if len(held) > n_cells:
            raise InvalidBoardError(f"{len(held)} cells are given, but this game has {n_cells}")
        if len(home) != N_SUITS:
            raise InvalidBoardError(f"{len(home)} foundations given: a board has 4, in the order {SUITS}")
        # Values that do not fit into a row, or that a row uses for "no card" or "no cell".
        if NO_CELL in held or any(NO_CARD in column or len(column) > MAX_HEIGHT for column in tableau):
            raise InvalidBoardError(text.why_no_position(tableau, held, home))
        board, counters, history = new_state()
        for i, column in enumerate(tableau):
            start = TABLEAU + i * MAX_HEIGHT
            board[start : start + len(column)] = column
        board[CELLS : CELLS + len(held)] = held
        board[CELLS + n_cells : FOUNDATIONS] = NO_CELL
        board[FOUNDATIONS:HEIGHTS] = home
        complete_rows(board[None])
        return cls._wrap(board, counters, history)

    @classmethod
    def from_text(cls, board: str, n_cells: int = 4) -> Game:
        """Read a text board in the format of ``print(game)`` and FreeCell programs (fc-solve, PySolFC).

        Optional ``Foundations:`` (``Foundation:``, ``Founds:``, ``Found:``, ``Decks:``, ``Deck:``) and ``Freecells:``
        (``Freecell:``, ``FC:``) lines, then one line per column, last card on top. An empty cell is ``-`` or ``*``, an
        empty column ``:``, or a blank line before another column if that is needed to make 8 columns. Lines that
        start with ``#`` are ignored.

        Raises:
            InvalidBoardError: a line cannot be read (the message gives its number), or it is not a position of the
                game.
        """
        columns, cells, foundations = text.read_board(board, n_cells)
        return cls.from_columns(columns, cells, foundations, n_cells)

    def copy(self) -> Game:
        """An independent copy with the same score and undo history."""
        with self._turn:
            return self._wrap(self._board.copy(), self._counters.copy(), self._history.copy(), self.code)

    # -- the position -----------------------------------------------------------------------------------------

    @property
    def code(self) -> str | None:
        """The code that the game was dealt from, or None for a game given as a board."""
        return self._code

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """8 tuples of card ids, last card on top."""
        rows = self._board[TABLEAU:CELLS].reshape(N_COLUMNS, MAX_HEIGHT)
        heights = self._board[HEIGHTS : HEIGHTS + N_COLUMNS].tolist()
        return tuple(tuple(row[:height].tolist()) for row, height in zip(rows, heights, strict=True))

    @property
    def cells(self) -> tuple[int, ...]:
        """The card id in each of the game's cells, 0 = empty."""
        return tuple(card for card in self._board[CELLS : CELLS + 4].tolist() if card != NO_CELL)

    @property
    def n_cells(self) -> int:
        """4, 2 or 1."""
        return len(self.cells)

    @property
    def foundations(self) -> tuple[int, ...]:
        """The rank that spades, hearts, diamonds and clubs have reached, 0..13."""
        return tuple(self._board[FOUNDATIONS : FOUNDATIONS + 4].tolist())

    @property
    def cards_home(self) -> int:
        """Cards on the foundations, 0..52."""
        return sum(self.foundations)

    @property
    def score(self) -> int:
        """The app's score: 10 for a card home, 5 for a card from a cell to a column."""
        return int(self._counters[SCORE])

    @property
    def moves(self) -> int:
        """Moves that stand: undone ones are not counted."""
        return int(self._counters[MOVES])

    @property
    def last_move(self) -> Move | None:
        """The move that :meth:`undo` would take back, or None."""
        action = int(kernels.last_action(self._counters, self._history))
        return Move.from_id(action) if action >= 0 else None

    # -- how it stands ----------------------------------------------------------------------------------------

    @property
    def is_won(self) -> bool:
        """Whether all 52 cards are home."""
        return self.cards_home == 52

    @property
    def is_stuck(self) -> bool:
        """Whether the game is not won and no legal move is left."""
        return self.outcome == STUCK

    @property
    def outcome(self) -> str | None:
        """``"won"``, ``"stuck"``, or None while the game is in progress."""
        return OUTCOMES[int(outcome_of(self._board))]

    def legal_mask(self, prune: bool = False) -> NDArray[np.int8]:
        """A new int8 array ``(780,)``, 1 for each legal action.

        Args:
            prune: leave out moves that lead to an equivalent position: all but the leftmost empty column as a
                target, and a whole column to an empty column.
        """
        mask = np.empty(N_ACTIONS, np.int8)
        kernels.legal_moves(self._board, mask, bool(prune))  # another type would compile it again
        return mask

    def legal_moves(self) -> list[Move]:
        """The legal moves in the order of their ids."""
        return [Move.from_id(action) for action in np.flatnonzero(self.legal_mask()).tolist()]

    def is_legal(self, move: Move) -> bool:
        """Whether ``move`` may be played now."""
        return int(kernels.why_illegal(self._board, _as_move(move).id)) == kernels.LEGAL

    def position_key(self) -> bytes:
        """53 bytes, equal for positions that differ only in the order of columns or of cells."""
        key = np.empty(kernels.KEY_SIZE, np.uint8)
        kernels.position_key(self._board, key)
        return key.tobytes()

    # -- play -------------------------------------------------------------------------------------------------

    def push(self, move: Move) -> None:
        """Play a move.

        Raises:
            IllegalMoveError: the rules forbid it; the message says which one, and the game is unchanged.
        """
        move = _as_move(move)
        action = move.id
        with self._turn:
            reason = int(kernels.why_illegal(self._board, action))
            if reason != kernels.LEGAL:
                raise IllegalMoveError(self._explain(move, reason))
            kernels.push(self._board, self._counters, self._history, action)

    def undo(self) -> Move:
        """Take back the last move with its points, up to 100 in a row, and return it.

        Raises:
            IllegalMoveError: there is nothing to take back.
        """
        with self._turn:
            action = int(kernels.pop(self._board, self._counters, self._history))
        if action < 0:
            raise IllegalMoveError(
                "nothing to undo: no move was played, or the last 100 are already taken back"
            )
        return Move.from_id(action)

    def tap(self, source: int) -> Move | None:
        """Send the card of a source (column 0-7, cell 8-11) to its foundation if it may go.

        Returns:
            The move it made, or None.

        Raises:
            IllegalMoveError: there is no such source.
        """
        move = Move(_source(source), TO_FOUNDATION)
        if not self.is_legal(move):
            return None
        self.push(move)
        return move

    def double_tap(self, source: int) -> Move | None:
        """Move one card as the app's double tap does; see :meth:`double_tap_move`.

        Returns:
            The move it made, or None.

        Raises:
            IllegalMoveError: there is no such source.
        """
        move = self.double_tap_move(source)
        if move is not None:
            self.push(move)
        return move

    def double_tap_move(self, source: int) -> Move | None:
        """What a double tap on a source would play, without playing it.

        In this order: its foundation, the column that takes the card (only one can), the leftmost empty
        column, a free cell.

        Raises:
            IllegalMoveError: there is no such source.
        """
        move = Move.from_id(int(tap_action(self._board, _source(source))))
        return move if self.is_legal(move) else None

    # -- notation ---------------------------------------------------------------------------------------------

    def notation(self, move: Move) -> str:
        """Standard notation of a legal move: ``6b`` names the cell that will be filled.

        A single card that goes to an empty column where a longer run could go is written ``12v1``, so that
        :meth:`parse_move` reads every text back as the same move.

        Raises:
            IllegalMoveError: the move is not legal here.
        """
        move = _as_move(move)
        reason = int(kernels.why_illegal(self._board, move.id))
        if reason != kernels.LEGAL:
            raise IllegalMoveError(self._explain(move, reason))
        if move.destination == TO_CELL:
            return move.to_text("abcd"[self.cells.index(0)])
        written = move.to_text()
        return written if self.parse_move(written) == move else f"{written}v{move.size:x}"

    def parse_move(self, notation: str) -> Move:
        """Read a move in notation on this board; :meth:`push` checks whether it is legal.

        Without a size, a move between columns takes what the board implies: onto an occupied column
        the cards that fit, to an empty column the largest group that may go.

        Raises:
            IllegalMoveError: the text is not a move in notation, or it names a cell that this game does not have.
        """
        move, sized, cell = parse_notation(notation)
        if cell is not None and cell >= self.n_cells:
            raise IllegalMoveError(
                f"{shown(notation)}: there is no cell {'abcd'[cell]}: this game has {self.n_cells}"
            )
        if sized or move.source >= FIRST_CELL or move.destination >= N_COLUMNS:
            return move
        source, target = self.columns[move.source], self.columns[move.destination]
        run = int(kernels.run_length(self._board, move.source))
        if source and target:
            fitting = target[-1] - source[-1]
            return move._replace(size=fitting if fitting <= run else 1) if fitting > 0 else move
        sizes = [k for k in range(1, run + 1) if self.is_legal(move._replace(size=k))]
        return move._replace(size=sizes[-1]) if sizes else move

    def _explain(self, move: Move, reason: int) -> str:
        """The message for an illegal move."""
        source, destination, size = move
        column, target = source + 1, destination + 1
        cell = "abcd"[source - FIRST_CELL] if source >= FIRST_CELL else ""
        cards = (
            self.columns[source] if source < FIRST_CELL else (int(self._board[CELLS + source - FIRST_CELL]),)
        )[-size:]
        card = cards[0] if cards and 1 <= cards[0] <= 52 else 0
        name = card_name(card) if card else "no card"
        parent = (
            f"only {card_name(card + 1)} can take it" if card % 13 else "a king goes only to an empty column"
        )
        suit = suit_of(card) if card else 0
        reached = self.foundations[suit]
        on_top = (
            card_name(self.columns[destination][-1])
            if destination < N_COLUMNS and self.columns[destination]
            else ""
        )
        free = self.cells.count(0)
        empty = sum(not c for i, c in enumerate(self.columns) if i != destination)
        words = {
            kernels.EMPTY_COLUMN: f"column {column} is empty",
            kernels.NO_SUCH_CELL: f"there is no cell {cell}: this game has {self.n_cells}",
            kernels.EMPTY_CELL: f"cell {cell} is empty",
            kernels.TOO_FEW_CARDS: f"column {column} has fewer than {size} cards",
            kernels.NOT_A_RUN: f"the top {size} cards of column {column} are not a run: same suit, each one rank lower",
            kernels.NOT_ON_PARENT: f"{name} does not go on {on_top} of column {target}: {parent}",
            kernels.TOO_MANY_CARDS: f"{size} cards cannot move together with {free} free cells and {empty} other empty "
            f"columns: at most {kernels.group_limit(free, empty)}",
            kernels.CELLS_FULL: "no cell is free",
            kernels.NOT_NEXT_HOME: f"{name} is not next on its foundation: {SUIT_NAMES[suit]} need "
            f"{RANKS[reached] if reached < 13 else 'nothing more'}",
        }
        return f"{move} is not legal: {words[reason]}"

    # -- as an object -----------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return bool(np.array_equal(self._board, other._board))

    def __str__(self) -> str:
        """The text board; :meth:`from_text` reads it back."""
        return text.write_board(self.columns, self.cells, self.foundations)

    def __repr__(self) -> str:
        origin = f"code {self.code}" if self.code else "from a board"
        return f"<Game {origin}: {self.moves} moves, score {self.score}, {self.cards_home} cards home>"

    def _repr_html_(self) -> str:
        """A player for a notebook: the board, and the moves that undo can reach."""
        from boulanger_env.render.html import game_html  # a room above, and needed in a notebook only

        return game_html(self)

    def __getstate__(self) -> tuple[Board, Counters, History, str | None]:
        with self._turn:
            return self._board.copy(), self._counters.copy(), self._history.copy(), self.code

    def __setstate__(self, state: tuple[Board, Counters, History, str | None]) -> None:
        # copy.copy passes the original's own rows here, and Ray rows that cannot be written to.
        parts: Iterator[Any] = (part.copy() if isinstance(part, np.ndarray) else part for part in state)
        board, counters, history, code = parts
        check_state(board, counters, history)
        self._set(board, counters, history, self._canonical(code))


def _as_move(move: Any) -> Move:
    """A ``Move`` from a ``Move`` or an equivalent tuple.

    Raises:
        IllegalMoveError: it is neither.
    """
    if isinstance(move, tuple) and 2 <= len(move) <= 3:
        return Move(*move)
    raise IllegalMoveError(
        f"{shown(move)} is not a Move: make one of an action id with Move.from_id, of notation with game.parse_move"
    )


def _numbers(name: str, values: Any, right: str = "a card id: cards are numbered 1 to 52") -> list[int]:
    """The entries of a column, of the cells or foundations, or of a deck; each fits into a byte."""
    numbers = whole_bytes(name, values, InvalidBoardError, right)
    if numbers.ndim != 1:
        raise InvalidBoardError(f"{name}: {shown(values)} is not a list of numbers")
    entries: list[int] = numbers.tolist()
    return entries


def _source(source: Any) -> int:
    try:
        return action_id(source, N_SOURCES)
    except IllegalMoveError:
        raise IllegalMoveError(f"{shown(source)} is not a source: columns are 0-7, cells 8-11") from None
