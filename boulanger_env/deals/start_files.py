"""The file of ``Starts``: an ``.npz`` archive of plain arrays, never unpickled."""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.files import write_with
from boulanger_env.game.errors import BoulangerError

from .sets import SOLVABLE, DealSet

_MAGIC = b"PK\x03\x04"  # of every archive
_VERSION = 1
_FORMAT = "boulanger_starts"


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
    arrays: dict[str, Any] = {
        _FORMAT: _VERSION,
        "positions": positions,
        "left": left,
        "weights": weights,
        "deal_share": deal_share,
    }
    if isinstance(deals, DealSet):
        arrays |= {"deal_set": deals.name, "deal_codes": np.array(deals.codes)}
    elif deals is not None:
        arrays["deal_set"] = deals

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
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile) or _FORMAT not in archive:
                raise BoulangerError(f"{name} does not hold starts: Starts.save writes such files")
            if archive[_FORMAT].tolist() != _VERSION:
                raise BoulangerError(
                    f"{name} holds starts of version {archive[_FORMAT].tolist()}: this package reads version {_VERSION}"
                )
            content: dict[str, Any] = {key: archive[key] for key in ("positions", "left", "weights")}
            content["deal_share"] = archive["deal_share"].item()
            if "deal_set" in archive:
                set_name = archive["deal_set"].item()
                is_set = "deal_codes" in archive
                content["deals"] = DealSet(set_name, archive["deal_codes"].tolist()) if is_set else SOLVABLE
    except BoulangerError:
        raise
    except FileNotFoundError:
        raise BoulangerError(f"there is no file {name}") from None
    except (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        raise BoulangerError(f"{name} cannot be read as starts: {error}") from None
    return content
