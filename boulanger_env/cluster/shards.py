"""Results in shards: a folder of Parquet files, each written whole, from which an interrupted run resumes."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from boulanger_env.benchmark.runs import differences
from boulanger_env.escaping import printable
from boulanger_env.files import is_empty, remove_partial, write_with
from boulanger_env.files.locks import append, open_locked
from boulanger_env.files.strict_json import JSONError, parse
from boulanger_env.game.errors import BoulangerError

from .pools import Pool

if TYPE_CHECKING:
    from typing_extensions import Self

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
    """A folder of shards that one process at a time works on: a context manager, which releases the folder at its end.

    Args:
        folder: created if it does not exist; one of the same run is resumed.
        run: everything that the shards' content depends on, as JSON values.
        types: Arrow's names for the types of the columns, such as ``"int64"``.
        nullable: columns that may lack a value.

    Raises:
        BoulangerError: the folder holds another run, or something else, or another process works on it; or PyArrow is
            missing.
        OSError: the folder cannot be created or read.
    """

    def __init__(
        self, folder: Path, run: Mapping[str, Any], types: Mapping[str, str], nullable: Container[str] = ()
    ) -> None:
        parquet()
        arrow = importlib.import_module("pyarrow")
        self._schema = arrow.schema(
            [
                arrow.field(name, arrow.type_for_alias(kind), nullable=name in nullable)
                for name, kind in types.items()
            ]
        )
        self.folder = folder
        manifest = folder / MANIFEST
        if folder.exists() and (not folder.is_dir() or (not is_empty(folder) and not manifest.is_file())):
            raise BoulangerError(f"{folder} is there, but holds no run: choose a new or empty folder")
        folder.mkdir(parents=True, exist_ok=True)
        self._manifest: BinaryIO = open_locked(manifest)
        try:
            self._go_on(run)
            remove_partial(folder)
        except BaseException:
            self._manifest.close()
            raise

    def _go_on(self, run: Mapping[str, Any]) -> None:
        """Record a new run; refuse to resume another one."""
        wanted, found = (json.dumps(run, indent=1) + "\n").encode(), self._manifest.read()
        if found == wanted:
            return
        if wanted.startswith(found) and not any(self.folder.glob("*.parquet")):  # new, or cut off by a kill
            self._manifest.truncate(0)
            append(self._manifest, wanted)
            return
        manifest = self.folder / MANIFEST
        try:
            content = parse(found)
        except JSONError as error:
            raise BoulangerError(f"{manifest} does not say what run is in its folder: {error}") from None
        different = differences(content if isinstance(content, dict) else {}, run)
        if different:
            raise BoulangerError(
                f"{self.folder} holds a run with other settings ({different}): choose another folder for this one, or "
                "remove that one"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Release the folder."""
        self._manifest.close()

    def path(self, name: str) -> Path:
        """Where a shard is, or will be."""
        return self.folder / f"{name}.parquet"

    def read(self, name: str, known: Columns) -> dict[str, list[Any]]:
        """A shard's columns.

        Args:
            name: the shard.
            known: what some of its columns must be.

        Raises:
            BoulangerError: the file is damaged, or is not this shard.
        """
        try:
            with parquet().ParquetFile(self.path(name)) as file:
                table = file.read()
            if not table.schema.equals(self._schema):
                raise BoulangerError(f"its columns are {_told(table.schema)}, not {_told(self._schema)}")
            columns: dict[str, list[Any]] = table.to_pydict()
            for column, wanted in known.items():
                _check_equal(column, columns[column], wanted)
        except Exception as error:
            # PyArrow raises different errors for each kind of damage.
            raise BoulangerError(
                f"{self.path(name)} is not a shard of this run: {error}; remove it to have it made again"
            ) from error
        return columns

    def write(self, name: str, columns: Columns) -> None:
        """Write a shard, whole or not at all."""
        table = importlib.import_module("pyarrow").table(dict(columns), self._schema)
        write_with(self.path(name), lambda partial: parquet().write_table(table, partial))

    def complete(
        self,
        work: Callable[..., Columns],
        known: Callable[..., Columns],
        jobs: Mapping[str, tuple[Any, ...]],
        pool: Pool,
        each: Callable[[str, Columns], object],
    ) -> None:
        """Make the missing shards, and pass every shard to ``each``, existing ones first.

        Args:
            work: makes a shard's columns; importable by name, since it runs in other processes.
            known: the columns of a shard that are known without any work; an existing shard must have them.
            jobs: the arguments of both for each shard, by the shard's name.
            pool: where it runs.
            each: called with the name and the columns of each shard.
        """
        missing = {}
        for name, job in jobs.items():
            if self.path(name).is_file():
                each(name, self.read(name, known(*job)))
            else:
                missing[name] = job
        for name, columns in pool.run(work, missing):
            self.write(name, columns)
            each(name, columns)


def _told(schema: Any) -> str:
    return ", ".join(
        f"{printable(field.name)} ({field.type}{', may be missing' if field.nullable else ''})"
        for field in schema
    )


def _check_equal(column: str, found: Sequence[Any], wanted: Sequence[Any]) -> None:
    if len(found) != len(wanted):
        raise BoulangerError(f"it has {len(found)} rows, not {len(wanted)}")
    for row, (is_there, must_be) in enumerate(zip(found, wanted, strict=True)):
        if is_there != must_be:
            raise BoulangerError(f"{column} in row {row} is {is_there!r}, not {must_be!r}")


def ranges(count: int, size: int) -> Iterable[range]:
    """``0 .. count - 1`` in ranges of ``size``; the last may be shorter."""
    return (range(start, min(start + size, count)) for start in range(0, count, size))
