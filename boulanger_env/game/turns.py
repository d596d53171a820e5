"""One thread at a time: keeps a game's rows consistent while kernels, which run without the GIL, change them."""

from __future__ import annotations

from threading import RLock
from typing import Any

from .errors import BoulangerError


class Turn:
    """Guards an object against concurrent use: while one thread uses it, another gets an error instead of waiting.

    A copy or an unpickled object is not in use.

    Args:
        owner: what the error calls the object.

    Attributes:
        lock: for callers for which a ``with`` is too expensive: acquire it without waiting, or call :meth:`refuse`.
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
        """Report that another thread is using the object.

        Raises:
            BoulangerError: always.
        """
        raise BoulangerError(
            f"another thread is using this {self._owner}: give each thread one of its own, or let one wait for the "
            "other"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Turn, (self._owner,)
