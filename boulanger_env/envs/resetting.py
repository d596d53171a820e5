"""Checks of the arguments of ``reset``, of the single environment and of the batch."""

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

from .settings import Settings

GAME_OPTIONS = ("code", "board", "game")
"""The forms of a game to start from; a batch takes lists of one of them, under the plural."""

RESET_OPTIONS = (*(f"{option}s" for option in GAME_OPTIONS), "reset_mask")
_MOST_SEED = 2**128 - 1


def read_game_option(options: Any, settings: Settings) -> Game | None:
    """The game that the options of a single environment's reset ask for, a copy; None for its next deal.

    Raises:
        BoulangerError: an option is unknown or has an invalid value, or more than one is given.
    """
    takes = f"it takes one of {', '.join(GAME_OPTIONS)}"
    if options is not None and not isinstance(options, Mapping):
        raise BoulangerError(f"reset: options={shown(options)} is not a dict: {takes}")
    if not options:
        return None
    unknown = [name for name in options if name not in GAME_OPTIONS]
    if unknown:
        raise BoulangerError(f"reset: option {shown(unknown[0])} is unknown: {takes}")
    if len(options) > 1:
        raise BoulangerError(f"reset: {len(options)} options are given: {takes}")
    [(option, given)] = options.items()
    return _read_game(option, given, settings)


def _read_game(option: str, given: Any, settings: Settings) -> Game:
    if option == "code":
        return Game.from_code(given)
    if option == "board":
        game = Game.from_text(given, settings.source.n_cells)
    elif isinstance(given, Game):
        game = given.copy()
    else:
        raise BoulangerError(f"reset: option 'game' is {type(given).__name__}, it must be a Game")
    check_start(game, settings.auto_foundation)
    return game


def read_reset_options(
    options: Any, n: int, settings: Settings
) -> tuple[NDArray[np.bool_], dict[int, Game] | None]:
    """The sub-environments of ``n`` to reset, bool ``(n,)``, and the games to start there, None for their next deals.

    Raises:
        BoulangerError: an option is unknown or has an invalid value, or games are given in more than one form.
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
    forms = [option for option in GAME_OPTIONS if f"{option}s" in options]
    if not forms:
        return chosen, None
    if len(forms) > 1:
        raise BoulangerError(f"reset: both {forms[0]}s and {forms[1]}s are given: it takes one of them")
    option = forms[0]
    listed = options[f"{option}s"]
    if not is_list(listed) or len(listed) != n:
        given = len(listed) if is_list(listed) else shown(listed)
        raise BoulangerError(f"reset: {option}s must be one {option} per sub-environment, {n}, not {given}")
    games = {}
    for i in np.flatnonzero(chosen).tolist():
        try:
            games[i] = _read_game(option, listed[i], settings)
        except BoulangerError as error:
            raise type(error)(f"sub-environment {i}: {error}") from None
    return chosen, games


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
