"""Deal sets: a name, game codes in a fixed order and what is known about each, built in or from a text file."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from boulanger_env.files import write_text
from boulanger_env.files.texts import read_text
from boulanger_env.game import checks
from boulanger_env.game.codes import SCHEMES, parse_code
from boulanger_env.game.errors import BoulangerError, InvalidCodeError, did_you_mean
from boulanger_env.game.state import CELL_COUNTS

from . import builtin
from .labels import Labels, as_labels, checked_labels, read_label

SOLVABLE = "solvable"
"""The only name of deals that takes the number of cells from the environment."""

_NAME_LINE = "# name:"

# Name of a built-in set -> the set of which it is the beginning, and its number of deals.
_PARTS: dict[str, tuple[str, int]] = {
    name.format(n): (whole.format(n), count)
    for n in CELL_COUNTS
    for name, whole, count in (
        ("c{}-validation-100", "c{}-validation", 100),
        ("c{}-test-100", "c{}-test", 100),
        ("microsoft-c{}-1000", "microsoft-c{}", 1000),
    )
}


@dataclass(frozen=True)
class DealSet:
    """A named, immutable sequence of game codes.

    Codes are stored in canonical form. Two sets are equal if their names and codes are; a slice is a set,
    an index gives a code.

    Args:
        name: one line of text.
        codes: game codes, in any case. A code may occur more than once.
        labels: what is known about each deal, or None. Ignored when sets are compared.

    Raises:
        InvalidCodeError: one of the codes is not a game code; the message gives its index.
        BoulangerError: the name is invalid, or there is not exactly one label per code.

    >>> deals = DealSet("two", ["ms-c4-1", "BK1-C2-BOULANG"])
    >>> deals[0], len(deals), deals[1:].codes
    ('MS-C4-1', 2, ('BK1-C2-BOULANG',))
    """

    name: str
    codes: tuple[str, ...]

    def __init__(self, name: str, codes: Iterable[str], labels: Labels | None = None) -> None:
        if not isinstance(name, str) or name != name.strip() or not name or not name.isprintable():
            raise BoulangerError(
                f"{checks.shown(name)} cannot name a deal set; a name is one line of text, such as 'my deals'"
            )
        if isinstance(codes, str):
            raise BoulangerError(f"the codes of a deal set are a list: [{codes!r}], not {codes!r}")
        if not isinstance(codes, Iterable) or (isinstance(codes, np.ndarray) and not codes.ndim):
            raise BoulangerError(f"the codes of a deal set are a list, not {checks.shown(codes)}")
        canonical = []
        for place, code in enumerate(codes):
            try:
                canonical.append(str(parse_code(code)))
            except InvalidCodeError as error:
                raise InvalidCodeError(f"deal set {name!r}, place {place}: {error}") from None
        if labels is not None:
            try:
                labels = checked_labels(labels, len(canonical))
            except BoulangerError as error:
                raise BoulangerError(f"deal set {name!r}: {error}") from None
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "codes", tuple(canonical))
        object.__setattr__(self, "_labels", labels)

    @classmethod
    def _of_canonical(cls, name: str, codes: tuple[str, ...], labels: Labels | None) -> DealSet:
        """A set of codes that are already in canonical form, so that they need not be parsed again."""
        deal_set = cls(name, ())
        object.__setattr__(deal_set, "codes", codes)
        object.__setattr__(deal_set, "_labels", labels)
        return deal_set

    @property
    def labels(self) -> Labels | None:
        """What is known about each deal, or None."""
        # Not a dataclass field: specs are written as JSON field by field, and the codes alone define the set.
        labels: Labels | None = self.__dict__["_labels"]
        return labels

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.codes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> DealSet: ...
    def __getitem__(self, index: int | slice) -> str | DealSet:
        if not isinstance(index, slice):
            return self.codes[index]
        start, stop, step = index.indices(len(self))
        shown = f"{start}:{stop}" if step == 1 else f"{start}:{stop}:{step}"
        labels = None if self.labels is None else self.labels.part(index)
        return DealSet._of_canonical(f"{self.name}[{shown}]", self.codes[index], labels)

    def __repr__(self) -> str:
        return f"DealSet({self.name!r}, {len(self)} deals, fingerprint {self.fingerprint})"

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits from the SHA-256 of the codes: equal for the same codes in the same order.

        >>> load("c4-validation-100").fingerprint == load("c4-validation")[:100].fingerprint
        True
        """
        return hashlib.sha256("\n".join(self.codes).encode()).hexdigest()[:16]

    def decks(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Deal every game of the set.

        Returns:
            The decks, uint8 (n, 52), first dealt card first, and the cell counts, uint8 (n,).
        """
        decks = np.zeros((len(self), 52), np.uint8)
        n_cells = np.zeros(len(self), np.uint8)
        for i, text in enumerate(self.codes):
            code = parse_code(text)
            SCHEMES[code.scheme].deal(code.number, decks[i])
            n_cells[i] = code.n_cells
        return decks, n_cells

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> DealSet:
        """Load a built-in set by name, or a set from a text file.

        A file has one code per line, and either all or none are followed by their label (``labels.py``). Blank lines
        and anything after a ``#`` are ignored. A line ``# name: my deals`` names the set; otherwise it is named after
        the file. A built-in name takes precedence over a file of the same name; a ``Path`` is always a file.

        Raises:
            InvalidCodeError: a line is not a code with an optional label (the message gives file and line), or the
                file has no codes.
            BoulangerError: there is no such set or file, the file is not text, or only some codes have a label.
        """
        if isinstance(source, str) and source in _PARTS:
            whole, count = _PARTS[source]
            codes, labels = builtin.read(whole)
            return cls._of_canonical(source, codes[:count], labels.part(slice(count)))
        if isinstance(source, str) and source in builtin.names():
            return cls._of_canonical(source, *builtin.read(source))
        path = Path(source)
        if not os.path.isfile(path):  # also False for what cannot be a path
            raise BoulangerError(_no_set(os.fspath(source)))
        return cls._read(path)

    @classmethod
    def _read(cls, path: Path) -> DealSet:
        name, codes = path.stem, []
        labels: list[tuple[bool, int, int]] = []
        for number, line in enumerate(io.StringIO(read_text(path), newline=None), 1):
            if line.startswith(_NAME_LINE):
                name = line[len(_NAME_LINE) :].strip() or name
            code, *label = line.split("#", 1)[0].split(maxsplit=1)[:2] or [""]
            if not code:
                continue
            try:
                codes.append(str(parse_code(code)))
                labels += [read_label(text.strip()) for text in label]
            except BoulangerError as error:
                raise InvalidCodeError(f"{path}, line {number}: {error}") from None
        if not codes:
            raise InvalidCodeError(f"{path} holds no game codes; a deal file has one game code per line")
        if len(labels) not in (0, len(codes)):
            raise BoulangerError(
                f"{path} has {len(codes)} codes but {len(labels)} labels: all codes have one, or none"
            )
        return cls._of_canonical(name, tuple(codes), as_labels(labels) if labels else None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a text file that ``load`` reads back as an equal set.

        The file is written whole or not at all: an existing one is replaced only once the new one is complete.

        Raises:
            BoulangerError: the set is empty.
            OSError: the file cannot be written.
        """
        if not self.codes:
            raise BoulangerError(f"deal set {self.name!r} is empty; only a set with codes can be saved")
        rows: Iterable[str] = self.codes
        if self.labels is not None:
            rows = map(" ".join, zip(self.codes, self.labels.lines(), strict=True))
        text = "\n".join((f"{_NAME_LINE} {self.name}", f"# {len(self)} deals", *rows, ""))
        write_text(path, text)


def load(source: str | os.PathLike[str]) -> DealSet:
    """Load a built-in set by name, or a set from a text file: see :meth:`DealSet.load`.

    >>> deals = load("c4-validation-100")
    >>> deals[0], deals[99], len(deals)
    ('BK1-C4-VALAAAA', 'BK1-C4-VALAAEQ', 100)
    >>> deals.labels.length[:3]  # moves of a proven shortest solution
    array([71, 76, 74], dtype=int16)
    """
    return DealSet.load(source)


def set_names() -> tuple[str, ...]:
    """The names of the built-in sets."""
    return (*builtin.names(), *_PARTS)


def as_deal_set(deals: str | os.PathLike[str] | DealSet | Iterable[str]) -> DealSet:
    """Make a set of any value of a ``deals`` keyword: a set's name or file, a ``DealSet``, or codes.

    Raises:
        BoulangerError: it is none of these, or it is empty.

    >>> as_deal_set(["MS-C4-617"])[0]
    'MS-C4-617'
    """
    if isinstance(deals, (str, os.PathLike)):
        deals = load(deals)
    elif isinstance(deals, Mapping):
        # The form that a set takes in an environment's spec as JSON.
        if set(deals) != {"name", "codes"}:
            raise BoulangerError(
                f"a dict of deals has the keys name and codes, as a spec writes them, not {list(deals)}"
            )
        deals = DealSet(deals["name"], deals["codes"])
    elif not isinstance(deals, DealSet):
        # The order of a Python set varies between processes.
        if not isinstance(deals, Iterable) or isinstance(deals, AbstractSet):
            raise BoulangerError(
                f"deals are a set's name, a DealSet or a list of codes, not {checks.shown(deals)}"
            )
        deals = DealSet("codes", deals)
    if not deals.codes:
        raise BoulangerError(f"deal set {deals.name!r} is empty; at least one deal is needed")
    return deals


def _no_set(text: str) -> str:
    """The message for a text that does not name a set."""
    try:
        code = parse_code(text)
    except InvalidCodeError:
        return (
            f"there is no deal set and no file {text[:200]!r}{did_you_mean(text, set_names())}; "
            f"built-in sets are {', '.join(set_names())}"
        )
    return f"{code} is a code, not a deal set: put it into a file, one code per line (or, in Python, into a list)"
