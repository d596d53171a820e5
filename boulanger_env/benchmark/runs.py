"""A run's file while it is played: killed at any point and started again, it goes on where it was."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from boulanger_env.files import write_text
from boulanger_env.game.errors import BoulangerError

from . import rows
from .rows import Content, GameRow, Header

if TYPE_CHECKING:
    from typing_extensions import Self


class Unsaved:
    """A run that is kept in memory.

    Args:
        header: what is played.

    Attributes:
        content: what there is so far.
    """

    def __init__(self, header: Header) -> None:
        self.content = Content(header)
        self._last = 0.0

    def missing(self, seed: int) -> list[int]:
        """The places of the deals that have not been played with a seed."""
        return [place for place in range(self.content.header.count) if (seed, place) not in self.content.rows]

    def append(self, row: GameRow) -> None:
        """Note a game, and that it took the time since the one before it."""
        now = time.monotonic()
        seconds, self._last = now - self._last, now
        self._write(row, seconds)
        self.content.rows[row.seed, row.place] = row
        self.content.seconds += seconds

    def _write(self, row: GameRow, seconds: float) -> None:
        """Where it is kept: nowhere else."""

    def __enter__(self) -> Self:
        self._last = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is to be closed."""


class RunFile(Unsaved):
    """A file that gets a line for each game as it ends.

    Args:
        path: where; a file of the same run is gone on with, and a line that a kill cut off is dropped.
        header: what is played.

    Raises:
        BoulangerError: the file is of another run, is none, or another process is writing to it.
        OSError: the file cannot be read or written.
    """

    def __init__(self, path: Path, header: Header) -> None:
        super().__init__(header)
        if not path.parent.is_dir():
            raise BoulangerError(f"there is no folder {path.parent} to save {path.name} in")
        if not path.exists():
            write_text(path, header.line())
        self._file: BinaryIO = open(path, "r+b")  # noqa: SIM115 - it stays open
        try:
            _lock(self._file, path)
            self.content = rows.read(path)
            check_same(self.content.header, header, path)
            self._file.truncate(self.content.whole)
            self._file.seek(self.content.whole)
        except BaseException:
            self._file.close()
            raise

    def _write(self, row: GameRow, seconds: float) -> None:
        """Write the game down; it is in the file when this returns."""
        self._file.write(rows.row_line(row, seconds).encode())
        self._file.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, which ends the lock."""
        self._file.close()


def check_same(found: Header, wanted: Header, path: Path) -> None:
    """Refuse to go on with a run that was another one.

    Raises:
        BoulangerError: it was; the message says what differs.
    """
    # As JSON has it, so that a tuple is no difference to a list.
    old, new = (json.loads(header.line()) for header in (found, wanted))
    different = [
        f"{key} {old.get(key)!r} there, {new.get(key)!r} here" for key in new if old.get(key) != new.get(key)
    ]
    if different:
        raise BoulangerError(
            f"{path} is a run with other settings ({'; '.join(different)}): choose another place for this one, or "
            "remove that file"
        )


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep other processes from writing to the file; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ModuleNotFoundError:  # not a Unix
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BoulangerError(f"another process is playing the run in {path}") from None
