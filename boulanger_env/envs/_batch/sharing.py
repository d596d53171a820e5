"""How threads share the games of a step: idle threads claim the next chunk, until none is left.

A late thread delays nobody, and a slow one only by its last chunk. Each thread keeps claiming chunks from the
same end of the batch, so that its games stay in its core's caches.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from boulanger_env.game.jit import INTERPRETED, inlined_kernel, kernel
from boulanger_env.game.state import Array

# Indices of the counters, int64 (N_SHARED,), initially zero, each in its own cache line: parts claimed, parts taken
# from the front and from the back, games done, and how many of these ended.
S_CLAIMED, S_FRONT, S_BACK, S_DONE, S_ENDED = range(0, 40, 8)
N_SHARED = 40

_SPINS = 20_000
_PARTS_A_THREAD = 8
_SMALLEST_PART = 8

if INTERPRETED:

    def atomic_add(array: Array, place: int, value: int) -> int:
        """The same for interpreted kernels, which run in one thread."""
        before = int(array[place])
        array[place] += value
        return before

else:

    @intrinsic
    def atomic_add(context: Any, array: Any, place: Any, value: Any) -> Any:
        """Add atomically to an entry of an int64 array; return its previous value."""

        def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            struct = target.make_array(signature.args[0])(target, builder, arguments[0])
            pointer = cgutils.get_item_pointer(target, builder, signature.args[0], struct, [arguments[1]])  # type: ignore[no-untyped-call]
            return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

        return types.int64(array, types.intp, types.int64), generate


def games_a_part(n: int, num_threads: int) -> int:
    """How many of ``n`` games a thread claims at once."""
    return n if num_threads == 1 else max(_SMALLEST_PART, -(-n // (num_threads * _PARTS_A_THREAD)))


@inlined_kernel
def claim(shared: Array, thread: int, n_parts: int) -> int:
    """Claim a free part for this thread; -1 if none is left."""
    if atomic_add(shared, S_CLAIMED, 1) >= n_parts:
        return -1
    if thread % 2 == 0:
        return atomic_add(shared, S_FRONT, 1)
    return n_parts - 1 - atomic_add(shared, S_BACK, 1)


@kernel
def wait_for(shared: Array, n: int) -> bool:
    """Wait for all ``n`` games, but only for a while; return whether they are done."""
    spins = 0
    while atomic_add(shared, S_DONE, 0) != n and spins < _SPINS:
        spins += 1
    return spins < _SPINS
