"""How many threads PyTorch works with while a command runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Limit PyTorch, if it has been imported, to ``number`` threads within the context.

    Networks as small as those of this game gain little from a second thread, and on a machine that is also doing other
    work they lose most of their speed: the threads wait for each other after every layer.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
