"""The one way kernels are compiled.

Every compiled function of the package is decorated with :func:`kernel`: cached on disk, free of the GIL and
with C's division. With ``NUMBA_DISABLE_JIT=1`` the same source runs as plain Python, for debugging and
coverage; unsigned arithmetic then still wraps round, without NumPy's warning about it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit

# Bytes of a board are widened before any arithmetic: small unsigned ints would wrap round in plain Python.
i64 = cast("type[int]", np.int64)

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile ``function`` with the package's options, at its first call and not at import."""
    if getattr(config, "DISABLE_JIT"):  # noqa: B009 - numba sets its options as it reads them

        @functools.wraps(function)
        def interpreted(*args: Any) -> Any:
            with np.errstate(over="ignore"):
                return function(*args)

        return cast(F, interpreted)
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))
