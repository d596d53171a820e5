"""Results in pieces: a folder of Parquet files, each written whole, that a run which was stopped goes on with."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from boulanger_env.files import write_text, write_with
from boulanger_env.game.errors import BoulangerError

from .pools import Pool

Columns = Mapping[str, Sequence[Any]]
"""Columns of equal length by name."""

MANIFEST = "run.json"


def parquet() -> Any:
    """The module ``pyarrow.parquet``.

    Raises:
        BoulangerError: PyArrow is not installed; the message names the extra that brings it.
    """
    try:
        return importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise BoulangerError('Parquet files need pyarrow: pip install "boulanger-env[ray]"') from None


class Shards:
    """A folder of shards.

    Args:
        folder: made if it is not there; one of the same run is gone on with.
        run: what the shards are pieces of, as JSON has it.
        types: Arrow's names for the types of the columns, such as ``"int64"``.

    Raises:
        BoulangerError: the folder holds another run, or something else; or PyArrow is missing.
        OSError: the folder cannot be made or read.
    """

    def __init__(self, folder: Path, run: Mapping[str, Any], types: Mapping[str, str]) -> None:
        parquet()
        self.folder = folder
        self._types = types
        manifest, wanted = folder / MANIFEST, json.dumps(run, indent=1) + "\n"
        if manifest.is_file():
            found = manifest.read_text(encoding="utf-8")
            if found != wanted:
                raise BoulangerError(
                    f"{folder} holds a run with other settings (see {MANIFEST} there): choose another folder for "
                    "this one, or remove that one"
                )
        elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BoulangerError(f"{folder} is there, but holds no run: choose a new or empty folder")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            write_text(manifest, wanted)

    def path(self, name: str) -> Path:
        """Where a shard is, or will be."""
        return self.folder / f"{name}.parquet"

    def read(self, name: str) -> dict[str, list[Any]]:
        """A shard's columns.

        Raises:
            BoulangerError: the file is damaged.
        """
        try:
            columns: dict[str, list[Any]] = parquet().read_table(self.path(name)).to_pydict()
        except Exception as error:
            # PyArrow has its own errors for each kind of damage.
            raise BoulangerError(
                f"{self.path(name)} is not a shard of this run: {error}; remove it to have it made again"
            ) from error
        return columns

    def write(self, name: str, columns: Columns) -> None:
        """Write a shard; it is there whole or not at all."""
        arrow = importlib.import_module("pyarrow")
        table = arrow.table(
            {
                name: arrow.array(columns[name], arrow.type_for_alias(kind))
                for name, kind in self._types.items()
            }
        )
        write_with(self.path(name), lambda partial: parquet().write_table(table, partial))

    def complete(
        self,
        work: Callable[..., Columns],
        jobs: Mapping[str, tuple[Any, ...]],
        pool: Pool,
        each: Callable[[str, Columns], object],
    ) -> None:
        """Make the shards that are missing, and hand every one to ``each``, those first that are there already.

        Args:
            work: makes a shard's columns; it can be imported by its name, since it runs in other processes.
            jobs: its arguments for each shard, by the shard's name.
            pool: where it runs.
            each: gets the name and the columns of each shard.
        """
        missing = {}
        for name, job in jobs.items():
            if self.path(name).is_file():
                each(name, self.read(name))
            else:
                missing[name] = job
        for name, columns in pool.run(work, missing):
            self.write(name, columns)
            each(name, columns)


def ranges(count: int, size: int) -> Iterable[range]:
    """``0 .. count - 1`` in pieces of ``size``, the last one shorter."""
    return (range(start, min(start + size, count)) for start in range(0, count, size))
