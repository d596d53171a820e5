"""Text files from outside, whatever editor or shell wrote them."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

from boulanger_env.game.errors import BoulangerError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(content: bytes, name: str | os.PathLike[str]) -> str:
    """The text in a file's bytes: UTF-8, or as its byte order mark says; PowerShell's ``>`` writes UTF-16.

    Args:
        content: the bytes.
        name: the file's name, for the error.

    Raises:
        BoulangerError: it is not text.
    """
    encoding = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise BoulangerError(f"{os.fspath(name)} is not a text file in UTF-8 or UTF-16") from None


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file; see :func:`decode`.

    Raises:
        BoulangerError: it is not a text file.
        OSError: it cannot be read.
    """
    return decode(Path(path).read_bytes(), path)
