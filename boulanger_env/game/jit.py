"""The one way kernels are compiled.

Every compiled function of the package is decorated with :func:`kernel` or one of its two variants: cached on disk,
free of the GIL and with C's division. With ``NUMBA_DISABLE_JIT=1`` the same source runs as plain Python, for debugging
and coverage; unsigned arithmetic then still wraps round, without NumPy's warning about it.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit

# Bytes of a board are widened before any arithmetic: small unsigned ints would wrap round in plain Python.
i64 = cast("type[int]", np.int64)

INTERPRETED = bool(getattr(config, "DISABLE_JIT"))  # noqa: B009 - numba sets its options as it reads them

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

F = TypeVar("F", bound=Callable[..., Any])


def _package_stamp() -> str:
    """Changes when any source file of the package does."""
    root = Path(__file__).parents[1]
    stats = sorted((str(path.relative_to(root)), path.stat()) for path in root.rglob("*.py"))
    seen = [(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats]
    return hashlib.sha256(repr(seen).encode()).hexdigest()


_STAMP = _package_stamp()


def kernel(function: F) -> F:
    """Compile ``function`` with the package's options, at its first call and not at import.

    A kernel makes no arrays of its own. So it is compiled without numba's memory manager, whose counting of
    references to every row that is passed on costs as much as the rules themselves.
    """
    return _compile(function, allocates=False)


def inlined_kernel(function: F) -> F:
    """A kernel that becomes part of each kernel that calls it.

    A call hands over every field of every row it names, seven each: for what is short or called once, that is dear.
    """
    return _compile(function, allocates=False, inline=True)


def allocating_kernel(function: F) -> F:
    """A kernel that makes arrays, which is worth it only where one call does the work of many."""
    return _compile(function, allocates=True)


def _compile(function: F, allocates: bool, inline: bool = False) -> F:
    if INTERPRETED:

        @functools.wraps(function)
        def interpreted(*args: Any) -> Any:
            with np.errstate(over="ignore"):
                return function(*args)

        return cast(F, interpreted)
    return cast(F, _cached(njit(**{**_OPTIONS, "_nrt": allocates, "forceinline": inline})(function)))


def _cached(dispatcher: Any) -> Any:
    """Keep a compiled function on disk for as long as no source of the package changes.

    Numba looks only at the function's own file. But a kernel holds the code of those that it calls: after a change
    in another file, what it kept would still run the old rules, on memory laid out anew.
    """
    try:
        dispatcher.enable_caching()
    except (
        RuntimeError
    ):  # no place to write to, or the package is in an archive: compiled anew in each process
        return dispatcher
    file = dispatcher._cache._cache_file
    if not hasattr(file, "_source_stamp"):
        raise ImportError("this version of numba keeps its cache in a way that boulanger_env does not know")
    file._source_stamp = (file._source_stamp, _STAMP)
    return dispatcher
