"""How many threads PyTorch works with while a command runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Let PyTorch, if it has been imported, work with so many threads; afterwards it has what it had before.

    Networks as small as those of this game gain little from a second thread, and on a machine that does other work too
    they lose most of their speed: the threads wait for each other after every layer.
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
