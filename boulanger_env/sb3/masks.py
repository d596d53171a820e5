"""``Masks``: the masks of a batch as an array that Stable-Baselines3 stacks at no cost."""

from __future__ import annotations

from typing import Any

import numpy as np


class Masks(np.ndarray[Any, np.dtype[np.bool_]]):
    """The masks of all games, bool ``(n, actions)``: an array that is cheap to stack.

    Stable-Baselines3 calls ``np.stack`` on the masks at every step. For a single array that takes it apart into rows
    and puts it together again, which takes longer than playing the moves. Here ``np.stack`` makes a plain copy.
    """

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """``np.stack(masks)`` as one copy; every other NumPy function as usual."""
        if (
            func is np.stack
            and not kwargs
            and len(args) == 1
            and isinstance(args[0], Masks)
            and args[0].ndim == 2
        ):
            return np.array(args[0])
        return super().__array_function__(func, types, args, kwargs)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Values computed from masks, such as sums, are plain arrays or numbers."""
        plain = np.asarray(array)
        return plain if plain.ndim else plain[()]
