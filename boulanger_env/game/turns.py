"""One thread at a time: what keeps a game's rows whole while kernels, which hold no lock, change them."""

from __future__ import annotations

from threading import RLock
from typing import Any

from .errors import BoulangerError


class Turn:
    """Whose turn it is with an object: a thread that comes while another is at it is refused, and waits for nobody.

    A copy, and what a pickle makes, is nobody's turn.

    Args:
        owner: what it is called in the error.

    Attributes:
        lock: for those to whom the calls of a ``with`` are too dear: taken without waiting, or else :meth:`refuse`.
    """

    __slots__ = ("_owner", "lock")

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self.lock = RLock()

    def __enter__(self) -> None:
        if not self.lock.acquire(False):
            self.refuse()

    def __exit__(self, *error: Any) -> None:
        self.lock.release()

    def refuse(self) -> None:
        """Say that another thread has its turn.

        Raises:
            BoulangerError: always.
        """
        raise BoulangerError(
            f"another thread is using this {self._owner}: give each thread one of its own, or let one wait for the "
            "other"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Turn, (self._owner,)
