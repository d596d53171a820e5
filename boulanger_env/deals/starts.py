"""``Starts``: positions to start episodes from, in groups that are drawn by weight."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game import Game
from boulanger_env.game.checks import whole_number
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.internal import game_of
from boulanger_env.game.start_draws import StartTables
from boulanger_env.game.state import HEIGHTS, State, new_state
from boulanger_env.solver import Status, solve_many
from boulanger_env.solver.decisions import decisions

from . import start_files
from .sets import SOLVABLE, DealSet, as_deal_set
from .start_checks import read_groups, read_positions, read_share, read_weights, refuse_over

Positions = NDArray[np.integer[Any]] | Iterable[Game | str]


class Starts:
    """Positions to start episodes from, each in a group; environments take them as ``deals``.

    Each episode draws a new start: a group by ``weights``, then one of its positions, all
    equally likely. A group is a number from 0 on; :meth:`from_solutions` numbers them by the decisions left to
    the win. With ``deal_share`` whole deals are mixed in. Weights and share may be changed at any time, even
    between the steps of an environment: they apply from the next draw on.

    All environments in a process that take the same object draw by its weights; copying it returns the object itself.
    In another process it is a separate object.

    Args:
        positions: rows of cards, uint8 ``(m, 160)``: those of ``board_from_observation``, whose rows may be longer,
            or a batch of ``"cards"`` observations, each flattened and joined in the order tableau, cells,
            foundations. Or an iterable of games, whose score and history are ignored, or of text boards.
        left: the group of each position, whole numbers from 0 to 65535 ``(m,)``; None: all are in group 0.
        n_cells: of text boards; games and rows have their own.
        weights: see the attribute.
        deals: where whole deals come from, as for an environment: None for random games, a set's name, a
            ``DealSet``, a list of codes.
        deal_share: see the attribute.

    Raises:
        InvalidBoardError: one of them is not a position of the game.
        BoulangerError: a position is won or stuck, or another argument is invalid.

    >>> game = Game.from_code("MS-C4-1")
    >>> starts = Starts([game], deal_share=0.5)
    >>> game.push(game.legal_moves()[0])
    >>> Starts([starts.game(0), game], left=[83, 82])
    Starts(2 positions in 2 groups)
    """

    def __init__(
        self,
        positions: Positions,
        left: Any = None,
        *,
        n_cells: int = 4,
        weights: Any = None,
        deals: str | os.PathLike[str] | DealSet | Iterable[str] | None = None,
        deal_share: float = 0.0,
    ) -> None:
        boards = read_positions(positions, n_cells)
        groups = read_groups(left, len(boards))
        refuse_over(boards, False)
        if deals is not None and not (isinstance(deals, str) and deals == SOLVABLE):
            deals = as_deal_set(deals)
        n_groups = int(groups.max()) + 1
        present = np.unique(groups)
        checked = np.ones(n_groups) if weights is None else read_weights(weights, n_groups, present)
        self._set(boards, groups, checked, deals, read_share(deal_share))

    def _set(
        self,
        boards: NDArray[np.uint8],
        left: NDArray[np.int32],
        weights: NDArray[np.float64],
        deals: DealSet | str | None,
        deal_share: float,
    ) -> None:
        order = np.argsort(left, kind="stable")
        self._boards = boards[order]  # group by group
        self._places = np.empty(len(left), np.int64)
        self._places[order] = np.arange(len(left))
        self._left = left
        self._weights, self._deals, self._deal_share = weights, deals, deal_share
        present, first = np.unique(left[order], return_index=True)
        self._tables = StartTables(
            boards=self._boards,
            order=order.astype(np.int64),
            first=np.append(first, len(left)).astype(np.int64),
            groups=present.astype(np.int64),
            cumulative=np.zeros(len(present) + 1),
        )
        self._plays_home = False
        self._left.flags.writeable = False
        self._spread()

    # -- the positions ----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._boards)

    def __repr__(self) -> str:
        return f"Starts({len(self)} positions in {len(self._tables.groups)} groups)"

    @property
    def positions(self) -> NDArray[np.uint8]:
        """The cards of each position, uint8 ``(m, 160)``, copied and read-only."""
        cards: NDArray[np.uint8] = self._boards[self._places, :HEIGHTS]
        cards.flags.writeable = False
        return cards

    @property
    def left(self) -> NDArray[np.int32]:
        """The group of each position, int32 ``(m,)``, read-only."""
        return self._left

    @property
    def n_groups(self) -> int:
        """The number of weights: the highest group, plus 1."""
        return len(self._weights)

    @property
    def deals(self) -> DealSet | str | None:
        """Where whole deals come from: None for random games, ``"solvable"``, or a set."""
        return self._deals

    def game(self, i: int) -> Game:
        """A new game at position ``i``, 0 .. m - 1.

        Raises:
            BoulangerError: there is no such position.
        """
        rows = new_state()
        rows.board[:] = self._boards[self._places[whole_number("i", i, 0, len(self) - 1)]]
        return game_of(State(*rows))

    # -- how they are drawn -----------------------------------------------------------------------------------

    @property
    def weights(self) -> NDArray[np.float64]:
        """How often each group is drawn, relative to the others: float64 ``(n_groups,)``, read-only.

        Assign to change it: finite numbers of at least 0, with at least one above 0 for a group that has
        positions. Those of groups without positions have no effect.

        Raises:
            BoulangerError: they are invalid; nothing is changed.
        """
        weights: NDArray[np.float64] = self._weights.view()
        weights.flags.writeable = False
        return weights

    @weights.setter
    def weights(self, weights: Any) -> None:
        self._weights = read_weights(weights, self.n_groups, self._tables.groups)
        self._spread()

    @property
    def deal_share(self) -> float:
        """The share of whole deals, 0 to 1; it can be set.

        Raises:
            BoulangerError: it is invalid; nothing is changed.
        """
        return self._deal_share

    @deal_share.setter
    def deal_share(self, share: float) -> None:
        self._deal_share = read_share(share)
        self._spread()

    def _spread(self) -> None:
        """Write the chances that the kernels draw by."""
        weights = self._weights[self._tables.groups]
        chances = np.cumsum(weights / weights.max())
        chances /= chances[-1]
        # The last is exactly 1, whatever the rounding: a draw is below it.
        mixed = np.where(chances == 1, 1.0, self._deal_share + (1 - self._deal_share) * chances)
        self._tables.cumulative[:] = self._deal_share, *mixed

    # -- making, keeping and sharing them -----------------------------------------------------------------------

    @classmethod
    def from_solutions(
        cls,
        deals: str | os.PathLike[str] | DealSet | Iterable[str],
        /,
        *,
        quality: str = "short",
        auto_foundation: bool = False,
        workers: int | None = None,
        progress: Callable[[int], object] | None = None,
        node_limit: int | None = None,
        **keywords: Any,
    ) -> Starts:
        """The positions on the solutions of deals, grouped by the number of decisions left to the win.

        They only say where episodes start: the moves of the solutions are not kept.

        Args:
            deals: a set's name, a ``DealSet`` or a list of codes. Those that cannot be won are left out.
            quality: of the solutions, see ``solver.solve``.
            auto_foundation: for environments with that keyword: moves home are automatic and are not decisions.
            workers: processes, see ``solver.solve_many``.
            progress: called after each deal with the number of deals done so far.
            node_limit: maximum positions to search per deal; deals that take more are left out.
            **keywords: ``weights``, ``deals`` (as ``Starts(..., deals=...)``) and ``deal_share``.

        Raises:
            BoulangerError: an argument is invalid, or none of the deals can be won.

        >>> starts = Starts.from_solutions(["MS-C4-1", "MS-C2-1"], workers=1, auto_foundation=True)
        >>> len(starts), starts.left[:3]
        (31, array([31, 30, 29], dtype=int32))
        """
        boards, left = [], []
        solutions = solve_many(as_deal_set(deals), workers, progress, quality=quality, node_limit=node_limit)
        tried = 0
        for solution in solutions:
            tried += 1
            if solution.status is not Status.SOLVED:
                continue
            rows = decisions(solution, bool(auto_foundation))
            boards.append(rows)
            left.append(np.arange(len(rows), 0, -1))
        if not boards:
            raise BoulangerError(f"none of {tried} deals was won: these starts are taken from solutions")
        return cls(np.concatenate(boards), np.concatenate(left), **keywords)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything, weights included, to one file (``.npz``) that :meth:`load` reads.

        The file is written whole or not at all.

        Raises:
            OSError: the file cannot be written.
        """
        start_files.write(path, self.positions, self.left, self.weights, self.deals, self.deal_share)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Starts:
        """Read a file that :meth:`save` wrote. Nothing in it is unpickled, and its positions are checked.

        Raises:
            BoulangerError: there is no such file, or it does not hold starts.
        """
        path, content = os.fspath(path), start_files.read(path)
        try:
            return cls(**content)
        except BoulangerError as error:
            raise BoulangerError(f"{path}: {error}") from None

    def check_playable(self, auto_foundation: bool) -> None:
        """Check that something is left to decide in every position.

        Args:
            auto_foundation: whether the environment plays every move home by itself first.

        Raises:
            BoulangerError: a position would be over at once.
        """
        if auto_foundation and not self._plays_home:
            refuse_over(self._boards[self._places], True)
            self._plays_home = True

    @property
    def tables(self) -> StartTables:
        """What the kernels draw from; it follows later changes of the weights. Do not modify it."""
        return self._tables

    def __copy__(self) -> Starts:
        return self

    def __deepcopy__(self, memo: Any) -> Starts:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self._boards[self._places], self._left, self._weights, self._deals, self._deal_share)


def _remade(*parts: Any) -> Starts:
    starts = Starts.__new__(Starts)
    starts._set(*parts)
    return starts
