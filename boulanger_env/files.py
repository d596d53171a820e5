"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text file; an earlier one is replaced only once the new one is complete.

    Raises:
        OSError: it cannot be written; an earlier file is left as it was.
    """

    def write(partial: Path) -> None:
        with open(partial, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    write_with(path, write)


def write_with(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let ``write`` make a file beside ``path``, with the same ending, and move it there once it is complete."""
    target = Path(path)
    partial = target.with_name(f".{secrets.token_hex(4)}.{target.name}")
    try:
        write(partial)
        os.replace(partial, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == os.fspath(partial):
            # The name that was asked for says more.
            error.filename, error.filename2 = os.fspath(target), None
        partial.unlink(missing_ok=True)
        raise
