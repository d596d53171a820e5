"""Writing files whole or not at all, wherever their path leads, and finding files in a folder."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

_PARTIAL = re.compile(r"\.[0-9a-f]{16}\.tmp")
"""The names of files that are being written: short, so that they are valid wherever the final name is."""

_PATIENCE = 10.0  # seconds


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text file as :func:`write_with` does.

    Raises:
        OSError: it cannot be written; an existing file is left as it was.
    """
    write_with(path, lambda partial: partial.write_bytes(text.encode()))


def write_with(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let ``write`` create a temporary file, and move it to ``path`` once it is complete.

    A regular file is replaced, with its permissions kept; a symbolic link stays, and its target is replaced; a device,
    a pipe or an open file such as ``/dev/stdout`` is written to.

    Args:
        path: the final file.
        write: fills the file with the given name, which ends in ``.tmp``, so that no reader mistakes a partial
            file for a complete one.

    Raises:
        OSError: it cannot be written; an existing file is left as it was. The error names ``path``.
    """
    asked = os.fspath(path)
    place = _followed(asked)
    before = _status(asked)
    if before and stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(errno.EISDIR, "a folder is in the way", asked)
    if _is_open_file(place) or (before and not stat.S_ISREG(before.st_mode)):
        with tempfile.TemporaryDirectory() as folder:
            partial = Path(folder, "whole.tmp")
            with _named(partial, asked):
                partial.touch()
                write(partial)
                with open(partial, "rb") as whole, _opened(place) as out:
                    shutil.copyfileobj(whole, out)
        return
    if before and not os.access(place, os.W_OK):
        # Renaming would ignore permissions.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), asked)
    partial = Path(place).with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with _named(partial, asked):
            # Find out before the work whether the place is writable, with the system's own error.
            partial.touch(exist_ok=False)
            if before:
                _take_over(partial, before)
            write(partial)
            with open(partial, "ab") as whole:
                os.fsync(whole.fileno())
            os.replace(partial, place)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def alone_in(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep out others who ask for the same folder, so that what has just been compared is not replaced meanwhile.

    Without locks, on Windows and on some network file systems, others are not kept out.

    Raises:
        TimeoutError: another has kept the folder for ten seconds; perhaps it is a suspended process.
    """
    number = _lock_of(folder)
    try:
        yield
    finally:
        if number is not None:
            os.close(number)


def _lock_of(folder: str | os.PathLike[str]) -> int | None:
    """The open folder, locked; a file for the lock would stay behind. None where there are no locks."""
    try:
        import fcntl

        number = os.open(folder, os.O_RDONLY)
    except (ModuleNotFoundError, OSError):  # the write itself will report what is wrong
        return None
    deadline = time.monotonic() + _PATIENCE
    try:
        while True:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    what = f"another process has been writing there for {_PATIENCE:g} seconds"
                    raise TimeoutError(errno.ETIMEDOUT, what, os.fspath(folder)) from None
                time.sleep(0.005)
            except OSError:  # some network file systems
                return number
            else:
                return number
    except BaseException:
        os.close(number)
        raise


def is_empty(folder: Path) -> bool:
    """Whether a folder holds nothing but what kills have left of files that were being written there."""
    return all(_PARTIAL.fullmatch(path.name) for path in folder.iterdir())


def remove_partial(folder: Path) -> None:
    """Remove what kills have left of files that were being written in a folder which no other process writes to."""
    for path in folder.iterdir():
        if _PARTIAL.fullmatch(path.name):
            path.unlink(missing_ok=True)


def files_in(folder: str | os.PathLike[str], pattern: str) -> list[Path]:
    """The files in a folder that match a pattern, sorted, except hidden ones and those in hidden folders."""
    return sorted(
        path
        for path in Path(folder).glob(pattern)
        if not any(part.startswith(".") for part in path.relative_to(folder).parts) and _may_be_read(path)
    )


def _may_be_read(path: Path) -> bool:
    """Whether what a folder holds is a file: a pipe would be waited for, and a device may have no end."""
    before = None
    with contextlib.suppress(OSError):  # the read itself will report what is wrong
        before = path.stat()
    return before is None or stat.S_ISREG(before.st_mode)


def _status(path: str) -> os.stat_result | None:
    """The status of the target of a path's links, or None."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _followed(path: str) -> str:
    """The path with its symbolic links followed, except a link to an open file."""
    place = os.path.join(os.getcwd(), path)  # abspath would collapse ".." after a link
    for _ in range(40):
        place = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
        if _is_open_file(place) or not os.path.islink(place):
            break
        place = os.path.join(os.path.dirname(place), os.readlink(place))
    return place


def _is_open_file(place: str) -> bool:
    return os.path.dirname(place) == "/dev/fd" or place.startswith("/proc/")


def _opened(place: str) -> BinaryIO:
    """A device, a pipe or an open file to write to; this process's own are shared, with their current position."""
    folder, name = os.path.split(place)
    if folder in ("/dev/fd", f"/proc/{os.getpid()}/fd") and name.isdecimal():
        return os.fdopen(os.dup(int(name)), "wb")
    # Not open(): that would pass O_CREAT, which systems reject for another user's pipe.
    return os.fdopen(os.open(place, os.O_WRONLY), "wb")


def _take_over(partial: Path, before: os.stat_result) -> None:
    """Give a file the owner and the permissions of the one that it replaces."""
    with contextlib.suppress(OSError, AttributeError):  # another user's file, or not Unix
        os.chown(partial, before.st_uid, before.st_gid)
    if partial.stat().st_mode != before.st_mode:  # file systems without permissions may refuse
        os.chmod(partial, stat.S_IMODE(before.st_mode))


@contextlib.contextmanager
def _named(partial: Path, asked: str) -> Iterator[None]:
    """Make errors name the requested file instead of the temporary one."""
    try:
        yield
    except Exception as error:
        hidden = os.fspath(partial)
        error.args = tuple(arg.replace(hidden, asked) if isinstance(arg, str) else arg for arg in error.args)
        if isinstance(error, OSError) and error.errno is not None:
            error.strerror = str(error.strerror).replace(hidden, asked)
            if error.filename in (None, hidden):
                error.filename = asked
                del error.filename2  # None would be printed
        raise
