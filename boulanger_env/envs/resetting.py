"""Checks of the arguments of a batch's ``reset``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.automatic import finish
from boulanger_env.game.checks import as_array, is_list, plain, shown, whole_number
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.game import Game
from boulanger_env.game.internal import rows_of

RESET_OPTIONS = ("codes", "reset_mask")
_MOST_SEED = 2**128 - 1


def read_reset_options(options: Any, n: int) -> tuple[NDArray[np.bool_], dict[int, Game] | None]:
    """The sub-environments of ``n`` to reset, bool ``(n,)``, and the games to start there, None for their next deals.

    Raises:
        BoulangerError: an option is unknown or has an invalid value.
    """
    chosen = np.ones(n, np.bool_)
    if options is not None and not isinstance(options, Mapping):
        raise BoulangerError(
            f"reset: options={shown(options)}: it must be a dict with {' or '.join(RESET_OPTIONS)}"
        )
    options = options or {}
    for name in options:
        if name not in RESET_OPTIONS:
            raise BoulangerError(
                f"reset: option {shown(name)} is unknown: it takes {', '.join(RESET_OPTIONS)}"
            )
    if "reset_mask" in options:
        chosen = plain(as_array("reset: reset_mask", options["reset_mask"]))
        if chosen.dtype != np.bool_ or chosen.shape != (n,) or not chosen.any():
            raise BoulangerError(
                f"reset: reset_mask has dtype {chosen.dtype} and shape {chosen.shape}: it must be bool ({n},) "
                "with at least one True"
            )
    if "codes" not in options:
        return chosen, None
    codes = options["codes"]
    if not is_list(codes) or len(codes) != n:
        given = len(codes) if is_list(codes) else shown(codes)
        raise BoulangerError(f"reset: codes must be one code per sub-environment, {n}, not {given}")
    return chosen, {i: Game.from_code(codes[i]) for i in np.flatnonzero(chosen).tolist()}


def check_start(game: Game, auto_foundation: bool) -> None:
    """Check that there is something to play in a game.

    Raises:
        BoulangerError: it is over, or foundation moves that play themselves would end it.
    """
    if game.outcome is not None:
        raise BoulangerError(f"reset: the game given is already {game.outcome}: nothing is left to play")
    if auto_foundation:
        end = game.copy()
        finish(rows_of(end))
        if end.outcome is not None:
            raise BoulangerError(
                f"reset: the game given is {end.outcome} by foundation moves that play themselves: nothing is left to "
                "play with auto_foundation=True"
            )


def read_seed(seed: Any, name: str = "reset: seed") -> int | None:
    """A seed as an int, or None.

    Raises:
        BoulangerError: it is neither None nor a whole number in 0 .. 2**128 - 1.
    """
    return None if seed is None else whole_number(name, seed, 0, _MOST_SEED)


def read_seeds(seed: int | Sequence[int | None] | None, n: int) -> list[int | None]:
    """The seed of each of ``n`` sub-environments, None to leave its deal stream as it is.

    Raises:
        BoulangerError: it is neither a whole number in 0 .. 2**128 - 1 nor a list with one for each.
    """
    if seed is None:
        return [None] * n
    if not is_list(seed):
        first = whole_number("reset: seed", seed, 0, _MOST_SEED)
        return [first + i for i in range(n)]
    assert isinstance(seed, Sequence | np.ndarray)
    if len(seed) != n:
        raise BoulangerError(f"reset: {len(seed)} seeds are given for {n} sub-environments")
    return [read_seed(each, f"reset: seed of sub-environment {i}") for i, each in enumerate(seed)]
