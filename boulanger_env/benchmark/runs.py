"""A run's file while it is played: killed at any point and restarted, it resumes where it was."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from boulanger_env.files.locks import append, open_locked
from boulanger_env.game.errors import BoulangerError

from . import rows
from .reading import read
from .rows import Content, GameRow, Header

if TYPE_CHECKING:
    from typing_extensions import Self


class Unsaved:
    """A run kept in memory.

    Args:
        header: what is played.

    Attributes:
        content: the games so far.
    """

    def __init__(self, header: Header) -> None:
        self.content = Content(header)
        self._last = 0.0

    def missing(self, seed: int) -> list[int]:
        """The places of the deals that have not been played with a seed."""
        return [place for place in range(self.content.header.count) if (seed, place) not in self.content.rows]

    def append(self, row: GameRow) -> None:
        """Add a game, with the time since the previous one."""
        now = time.monotonic()
        seconds, self._last = now - self._last, now
        self._write(row, seconds)
        self.content.rows[row.seed, row.place] = row
        self.content.seconds += seconds

    def _write(self, row: GameRow, seconds: float) -> None:
        """Store the row elsewhere too; not needed in memory."""

    def __enter__(self) -> Self:
        self._last = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close."""


class RunFile(Unsaved):
    """A file that gets a line for each game as it ends.

    Args:
        path: the file; one of the same run is resumed, and a line that a kill cut off is dropped.
        header: what is played.

    Raises:
        BoulangerError: the file belongs to another run or to none, or another process is writing to it.
        OSError: the file cannot be read or written.
    """

    def __init__(self, path: Path, header: Header) -> None:
        super().__init__(header)
        if not path.parent.is_dir():
            raise BoulangerError(f"there is no folder {path.parent} to save {path.name} in")
        try:
            line = header.line().encode()
        except (TypeError, ValueError) as error:
            raise BoulangerError(
                f"a run with the settings {dict(header.settings)} cannot be saved: {error}"
            ) from None
        self._file: BinaryIO = open_locked(path)
        try:
            # A new file, or one whose first line a kill cut off.
            if not line.startswith(self._file.read()):
                self.content = read(path)
                check_same(self.content.header, header, path)
            self._file.truncate(self.content.whole)
            if not self.content.whole:
                append(self._file, line)
        except BaseException:
            self._file.close()
            raise

    def _write(self, row: GameRow, seconds: float) -> None:
        """Write the game; it is in the file when this returns."""
        append(self._file, rows.row_line(row, seconds).encode())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file, which releases the lock."""
        self._file.close()


def check_same(found: Header, wanted: Header, path: Path) -> None:
    """Refuse to resume another run.

    Raises:
        BoulangerError: it is another run; the message says what differs.
    """
    different = differences(found.as_dict(), wanted.as_dict())
    if different:
        raise BoulangerError(
            f"{path} is a run with other settings ({different}): choose another place for this one, or remove that file"
        )


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """What differs between two runs, in words; empty if nothing does."""
    # As in JSON, so that a tuple equals a list.
    old, new = (json.loads(json.dumps(run)) for run in (found, wanted))
    return "; ".join(
        f"{key} {old.get(key)!r} there, {new.get(key)!r} here"
        for key in {**new, **old}
        if old.get(key) != new.get(key)
    )
