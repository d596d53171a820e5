"""The one way kernels are compiled.

Every compiled function of the package is decorated with :func:`kernel` or one of its two variants: cached on disk,
free of the GIL and with C's division. With ``NUMBA_DISABLE_JIT=1`` the same source runs as plain Python, for debugging
and coverage; unsigned arithmetic then still wraps round, without NumPy's warning about it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit, typeof

from .cache import KernelCache

# Bytes of a board are widened before any arithmetic: small unsigned ints would wrap round in plain Python.
i64 = cast("type[int]", np.int64)

INTERPRETED = bool(getattr(config, "DISABLE_JIT"))  # noqa: B009 - numba sets its options as it reads them

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile ``function`` with the package's options, at its first call and not at import.

    A kernel allocates no arrays, so it is compiled without numba's memory manager, whose reference counting of
    every row passed on costs as much as the rules themselves.
    """
    return _compile(function, allocates=False)


def inlined_kernel(function: F) -> F:
    """A kernel that becomes part of each kernel that calls it.

    A call passes every field of every array, seven each: expensive for a function that is short or called once.
    """
    return _compile(function, allocates=False, inline=True)


def allocating_kernel(function: F) -> F:
    """A kernel that allocates arrays, which pays only if one call does the work of many."""
    return _compile(function, allocates=True)


class Resolved:
    """A kernel that looks up the types of its arguments only at its first call.

    For bundles of arrays numba's look-up takes microseconds per call. Without it nothing is checked: later calls must
    have arguments of the same types.

    Args:
        function: a kernel.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._compiled: Callable[..., Any] | None = function if INTERPRETED else None

    def __call__(self, *args: Any) -> Any:
        """Call the kernel."""
        if self._compiled is None:
            self._compiled = cast(Any, self._function).compile(tuple(map(typeof, args)))
        return self._compiled(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        """By name: what is compiled belongs to this process, and to these arrays."""
        return _resolved, (self._function.__module__, self._function.__name__)


def _resolved(module: str, name: str) -> Resolved:
    return Resolved(getattr(importlib.import_module(module), name))


def _compile(function: F, allocates: bool, inline: bool = False) -> F:
    if INTERPRETED:

        @functools.wraps(function)
        def interpreted(*args: Any) -> Any:
            with np.errstate(over="ignore"):
                return function(*args)

        return cast(F, interpreted)
    dispatcher = njit(**{**_OPTIONS, "_nrt": allocates, "forceinline": inline})(function)
    # RuntimeError: there is no place to write to, or the package is in an archive. Each process then compiles it.
    with contextlib.suppress(RuntimeError):
        dispatcher._cache = KernelCache(dispatcher.py_func)
    return cast(F, dispatcher)
