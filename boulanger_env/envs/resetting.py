"""What a batch's ``reset`` is told, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.game import Game

RESET_OPTIONS = ("codes", "reset_mask")


def read_reset_options(options: Any, n: int) -> tuple[NDArray[np.bool_], dict[int, Game] | None]:
    """The sub-environments of ``n`` to reset, bool ``(n,)``, and the games to start there, None for their next deals.

    Raises:
        BoulangerError: an unknown option, or one with a value that does not fit.
    """
    chosen = np.ones(n, np.bool_)
    if options is not None and not isinstance(options, Mapping):
        raise BoulangerError(
            f"reset: options={options!r}: it must be a dict with {' or '.join(RESET_OPTIONS)}"
        )
    options = options or {}
    for name in options:
        if name not in RESET_OPTIONS:
            raise BoulangerError(f"reset: option {name!r} is unknown: it takes {', '.join(RESET_OPTIONS)}")
    if "reset_mask" in options:
        chosen = np.asarray(options["reset_mask"])
        if chosen.dtype != np.bool_ or chosen.shape != (n,) or not chosen.any():
            raise BoulangerError(
                f"reset: reset_mask has dtype {chosen.dtype} and shape {chosen.shape}: it must be bool ({n},) "
                "with at least one True"
            )
    if "codes" not in options:
        return chosen, None
    codes = options["codes"]
    listed = isinstance(codes, Sequence | np.ndarray) and not isinstance(codes, str)
    if not listed or len(codes) != n:
        given = len(codes) if listed else repr(codes)
        raise BoulangerError(f"reset: codes must be one code per sub-environment, {n}, not {given}")
    return chosen, {i: Game.from_code(codes[i]) for i in np.flatnonzero(chosen).tolist()}


def read_seeds(seed: int | Sequence[int | None] | None, n: int) -> list[int | None]:
    """The seed of each of ``n`` sub-environments, None where its stream of deals stays as it is.

    Raises:
        BoulangerError: neither a whole number nor one for each, or a negative one.
    """
    if seed is None:
        return [None] * n
    if isinstance(seed, (int, np.integer)):
        seeds: list[int | None] = [int(seed) + i for i in range(n)]
    else:
        try:
            if not isinstance(seed, Sequence | np.ndarray):
                raise TypeError
            seeds = [None if s is None else index(s) for s in seed]
        except TypeError:
            raise BoulangerError(
                f"reset: seed={seed!r} is neither a whole number nor one for each sub-environment"
            ) from None
    if len(seeds) != n:
        raise BoulangerError(f"reset: {len(seeds)} seeds are given for {n} sub-environments")
    if any(s is not None and s < 0 for s in seeds):
        raise BoulangerError(f"reset: seed {seed!r} must not be negative")
    return seeds
