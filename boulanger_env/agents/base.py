"""The agent protocol, and the base class of the package's agents.

An agent is a callable ``agent(observation, mask, info) -> action`` that sees only what the environment shows.
With one mask it returns an int; with masks ``(n, actions)``, and observation and info batched like a vector
environment's, an int64 array ``(n,)``. Row ``i`` of a batch is the agent's *slot* ``i``: an agent keeps its memory
of a game by slot, so a batch plays exactly as single calls would.

``info["moves"] == 0`` marks a new game. Rows whose mask is all ones are games that have ended (see the
environment); they get an arbitrary action, which is ignored.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boulanger_env.envs.observations import board_from_observation
from boulanger_env.envs.sampling import as_masks, check_binary
from boulanger_env.game.checks import MOST, as_array, shown, whole_number
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.moves import N_ACTIONS
from boulanger_env.game.state import Board
from boulanger_env.game.turns import Turn

MOST_SLOTS = 1 << 24
"""Games in the largest batch that an agent remembers."""
NO_ACTION = -1
"""Stands for "no action"."""


@runtime_checkable
class Agent(Protocol):
    """The protocol that every agent of the package follows."""

    @property
    def name(self) -> str:
        """What results are reported under."""

    def __call__(self, observation: Any, mask: NDArray[Any], info: Mapping[str, Any]) -> Any:
        """Choose an action for one game (an int) or for each game of a batch (int64 ``(n,)``)."""

    def seed(self, seed: int) -> None:
        """Start over: forget every game, and draw all random numbers from ``seed``."""

    def reset(self, games: ArrayLike | None = None, slots: ArrayLike | None = None) -> None:
        """Forget the games in ``slots``, which now hold the games numbered ``games`` (see ``BatchAgent.reset``)."""


class BatchAgent(ABC):
    """Base of the package's agents: turns single calls into batches of one and keeps track of the slots.

    Attributes:
        name: what results are reported under.
        batched: whether the agent takes batches (read by ``evaluate``).
        observation: the kind of observation that is cheapest for it; all agents accept both.
        actions: the numbering of actions that it chooses from.
    """

    name: str
    batched: ClassVar[bool] = True
    observation: ClassVar[str] = "cards"
    actions: ClassVar[str] = "places"

    def __init__(self) -> None:
        self._seed = 0
        self._slots = 0
        self._turn = Turn("agent")

    def __call__(self, observation: Any, mask: NDArray[Any], info: Mapping[str, Any]) -> Any:
        """Choose an action.

        Args:
            observation: ``"cards"`` or ``"features"``, single or batched.
            mask: ``(780,)`` or ``(n, 780)``, 1 or True = legal; 781 wide where undo is allowed.
            info: the environment's; only ``moves`` is used, if present.

        Returns:
            An int for one mask, int64 ``(n,)`` for a batch.

        Raises:
            InvalidBoardError: the observation shows something other than positions of the game.
            BoulangerError: the mask has a wrong shape, holds other numbers, or allows nothing; ``moves`` does not have
                one entry per game; another thread is using the agent.
        """
        with self._turn:
            return self._act(observation, as_masks(mask), info)

    def _act(self, observation: Any, mask: NDArray[np.uint8], info: Mapping[str, Any]) -> Any:
        if mask.ndim not in (1, 2) or mask.shape[-1] not in (N_ACTIONS, N_ACTIONS + 1):
            raise BoulangerError(
                f"a mask of shape {mask.shape}: agents take ({N_ACTIONS},) or (n, {N_ACTIONS}), one more with undo"
            )
        masks = mask.reshape(-1, mask.shape[-1])
        check_binary(masks)
        n = len(masks)
        new = _new_games(info, n)
        if n > self._slots:
            self._grow(n)
            self._slots = n
        actions = self._choose(observation, masks, new)
        if (actions < 0).any():
            which = "the mask" if mask.ndim == 1 else f"mask {int(actions.argmin())}"
            raise BoulangerError(f"{which} allows no action: it is all zeros, or allows nothing but undo")
        return int(actions[0]) if mask.ndim == 1 else actions

    def seed(self, seed: int) -> None:
        """Start over: forget every game, and draw all random numbers from ``seed``.

        Raises:
            BoulangerError: the seed is not a whole number in 0 .. 2**64 - 1.
        """
        number = checked_seed(seed)
        with self._turn:
            self._seed = number
            self._slots = 0

    def reset(self, games: ArrayLike | None = None, slots: ArrayLike | None = None) -> None:
        """Forget the games in some slots.

        Args:
            games: the number of the new game in each slot. The random numbers of game ``g`` depend only on the seed
                and on ``g``, whichever slot it is played in. Without numbers, slot ``i`` plays game ``i``.
            slots: which slots; None for all.

        Raises:
            BoulangerError: games and slots differ in number, or a number is negative.
        """
        numbers = None if games is None else _numbers("games", games, MOST)
        where = None if slots is None else _numbers("slots", slots, MOST_SLOTS - 1)
        if where is not None and numbers is not None and len(where) != len(numbers):
            raise BoulangerError(
                f"{len(numbers)} games for {len(where)} slots: give one number for each slot"
            )
        with self._turn:
            if where is None:
                # Slots beyond the given ones are forgotten too: they start over when next used.
                self._slots = 0
                if numbers is None:
                    return
                where = np.arange(len(numbers))
            if numbers is None:
                numbers = where
            if len(where) and where.max() >= self._slots:
                self._grow(int(where.max()) + 1)
                self._slots = int(where.max()) + 1
            self._restart(where, numbers.astype(np.uint64))

    def __copy__(self) -> BatchAgent:
        # Two agents with the same memory would mix up their games.
        return copy.deepcopy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Ray and joblib hand over arrays in shared memory, which cannot be written to.
        self.__dict__.update(copy.deepcopy(state))

    @abstractmethod
    def _grow(self, n: int) -> None:
        """Make room for slots ``self._slots .. n - 1``; slot ``i`` starts game ``i``."""

    @abstractmethod
    def _restart(self, slots: NDArray[np.int64], games: NDArray[np.uint64]) -> None:
        """Forget the games in ``slots``, which now hold ``games``."""

    @abstractmethod
    def _choose(self, observation: Any, masks: NDArray[Any], new: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions for masks ``(n, 780)``, or ``NO_ACTION``; the slots ``new`` hold games that have just begun."""


def checked_seed(seed: Any) -> int:
    """A seed as an int.

    Raises:
        BoulangerError: it is not a whole number in 0 .. 2**64 - 1.
    """
    return whole_number("seed", seed, 0, 2**64 - 1)


def _new_games(info: Any, n: int) -> NDArray[np.int64]:
    """The rows, of ``n``, in which a game has just begun, by the environment's info."""
    if not isinstance(info, Mapping):
        raise BoulangerError(f"info {shown(info)} is not a dict, as the environment gives it")
    moves = as_array("info: moves", info.get("moves", -1))
    if "moves" in info and (moves.dtype.kind not in "biu" or moves.size != n):
        raise BoulangerError(
            f"info: moves {shown(info['moves'])} are not whole numbers, one for each of {n} masks"
        )
    return np.flatnonzero(moves.reshape(-1) == 0)


def _numbers(name: str, values: Any, most: int) -> NDArray[np.int64]:
    """Whole numbers from 0 to ``most``, as int64 ``(m,)``."""
    given = np.atleast_1d(as_array(name, values))
    whole = given.ndim == 1 and (not given.size or given.dtype.kind in "iu")
    if not whole or (given.size and not 0 <= given.min() <= given.max() <= most):
        raise BoulangerError(f"{name} {shown(values)} are not whole numbers from 0 to {most}")
    return given.astype(np.int64)


def board_rows(observation: Any, n: int) -> Board:
    """The boards of an observation of ``n`` games, uint8 ``(n, BOARD_SIZE)``; one game needs no batch axis.

    Raises:
        InvalidBoardError: the observation shows something other than positions of the game.
        BoulangerError: it shows another number of games.
    """
    boards = board_from_observation(observation)
    boards = boards.reshape(-1, boards.shape[-1])
    if len(boards) != n:
        raise BoulangerError(f"the observation shows {len(boards)} games, but there are {n} masks")
    return boards
