"""Files that only one process at a time may continue."""

from __future__ import annotations

import contextlib
import os
import warnings
from pathlib import Path
from typing import BinaryIO

from boulanger_env.game.errors import BoulangerError


def open_locked(path: Path) -> BinaryIO:
    """Open a file for reading and appending, creating it if needed, with a lock that closing it releases.

    The lock ends with the process, however that ends.

    Raises:
        BoulangerError: another process holds the lock, or the path is a folder, a pipe or a device.
        OSError: it cannot be opened.
    """
    if path.exists() and not path.is_file():
        # A pipe or a device cannot be read from its beginning, and may have no end.
        raise BoulangerError(f"{path} is not a file in which a run can resume: name another")
    while True:
        file = open(path, "a+b")  # noqa: SIM115 - it stays open
        try:
            _lock(file, path)
            if _is_still(file, path):
                file.seek(0)
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def append(file: BinaryIO, content: bytes) -> None:
    """Write to such a file; the content is in it when this returns.

    Raises:
        OSError: it cannot be written; the error names the file.
    """
    try:
        file.write(content)
        file.flush()
    except OSError as error:
        with contextlib.suppress(OSError):  # closing tries to write the rest again
            file.close()
        raise OSError(error.errno, error.strerror, file.name) from None


def _lock(file: BinaryIO, path: Path) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:  # not a Unix
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BoulangerError(f"another process is working on the run in {path}: wait for it to end") from None
    except OSError as error:
        # Some network file systems have no locks, which must not keep anyone from playing.
        warnings.warn(
            f"{path} cannot be locked here ({error.strerror}): start no other process on the same run",
            RuntimeWarning,
            stacklevel=2,
        )


def _is_still(file: BinaryIO, path: Path) -> bool:
    """Whether the path still leads to the file: the previous holder of the lock may have replaced it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
