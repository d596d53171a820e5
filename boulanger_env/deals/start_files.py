"""The file of ``Starts``: an ``.npz`` archive of plain arrays, never unpickled."""

from __future__ import annotations

import io
import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.files import write_with
from boulanger_env.game.checks import is_whole, shown
from boulanger_env.game.errors import BoulangerError

from .sets import SOLVABLE, DealSet

_MAGIC = b"PK\x03\x04"  # of every archive
_VERSION = 1
_FORMAT = "boulanger_starts"
_NAMES = (_FORMAT, "positions", "left", "weights", "deal_share", "deal_set", "deal_codes")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # those that NumPy writes
_ENCRYPTED = 1  # a flag of an archive's member
_NO_STARTS = "it does not hold starts: Starts.save writes such files"


def is_file_of_starts(path: Any) -> bool:
    """Whether there is a file at ``path`` that may hold starts: other deals are read from text files."""
    if not isinstance(path, (str, os.PathLike)) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def write(
    path: str | os.PathLike[str],
    positions: NDArray[np.uint8],
    left: NDArray[np.int32],
    weights: NDArray[np.float64],
    deals: DealSet | str | None,
    deal_share: float,
) -> None:
    """Write starts whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    # Every file has every array: a missing one tells that the file is damaged.
    name, codes = (deals.name, deals.codes) if isinstance(deals, DealSet) else (deals or "", ())
    values = (_VERSION, positions, left, weights, deal_share, name, np.array(codes, np.str_))
    arrays: dict[str, Any] = dict(zip(_NAMES, values, strict=True))

    def fill(partial: Any) -> None:
        with open(partial, "wb") as file:  # given a name, NumPy would add its own ending
            np.savez_compressed(file, **arrays)

    write_with(path, fill)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arguments of ``Starts`` that a file holds, unchecked.

    Raises:
        BoulangerError: there is no such file, or it does not hold starts.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            if not zipfile.is_zipfile(file):
                raise BoulangerError(_NO_STARTS)
            with zipfile.ZipFile(file) as archive:
                return _content(archive)
    except FileNotFoundError:
        raise BoulangerError(f"there is no file {name}") from None
    except BoulangerError as error:
        raise BoulangerError(f"{name}: {error}") from None
    except Exception as error:
        # Whatever a damaged or foreign archive makes the readers raise, name this file.
        reason = shown(error) if str(error) else type(error).__name__
        raise BoulangerError(f"{name} cannot be read as starts: {reason}") from None


def _content(archive: zipfile.ZipFile) -> dict[str, Any]:
    names, expected = sorted(archive.namelist()), sorted(f"{name}.npy" for name in _NAMES)
    if f"{_FORMAT}.npy" not in names:
        raise BoulangerError(_NO_STARTS)
    version = _array(archive, _FORMAT).item()
    if not is_whole(version, _VERSION, _VERSION):
        raise BoulangerError(f"starts of version {shown(version)}: this package reads version {_VERSION}")
    if names != expected:
        raise BoulangerError(
            f"it must hold {', '.join(expected)}, each once, not {', '.join(map(shown, names))}"
        )
    content: dict[str, Any] = {name: _array(archive, name) for name in ("positions", "left", "weights")}
    content["deal_share"] = _array(archive, "deal_share").item()
    set_name, codes = _array(archive, "deal_set").item(), _array(archive, "deal_codes").tolist()
    if codes:
        content["deals"] = DealSet(set_name, codes)
    elif set_name in ("", SOLVABLE):
        content["deals"] = set_name or None
    else:
        raise BoulangerError(f"deal set {shown(set_name)} has no codes")
    return content


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """A member, read whole: only then is its checksum compared."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type not in _METHODS or member.flag_bits & _ENCRYPTED:
        raise BoulangerError(f"{name} is encrypted, or compressed in another way than NumPy does")
    file = io.BytesIO(archive.read(member))
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    if file.read(1):
        raise BoulangerError(f"{name} has more bytes than an array of {array.dtype} {array.shape}")
    return array
