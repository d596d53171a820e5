"""The deal sets that come with the package: small text files, each with what it is, how it was made and its digest."""

from __future__ import annotations

from functools import cache
from importlib import resources
from itertools import accumulate

from boulanger_env.game.codes import code_range, format_code, parse_code
from boulanger_env.game.errors import BoulangerError

from .labels import Labels, as_labels, digest, read_label

_FOLDER = resources.files("boulanger_env.deals") / "data"


@cache
def names() -> tuple[str, ...]:
    """The sets that have a file."""
    return tuple(
        sorted(file.name.removesuffix(".txt") for file in _FOLDER.iterdir() if file.name.endswith(".txt"))
    )


@cache
def read(name: str) -> tuple[tuple[str, ...], Labels]:
    """The codes and labels of a set.

    Raises:
        BoulangerError: the file is damaged: its lines do not match its digest.
    """
    lines = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    rows = [line for line in lines if not line.startswith("#")]
    if digest(rows) != head.get("digest"):
        raise BoulangerError(f"the file of deal set {name} is damaged: install the package again")
    if "gaps from" in head:
        return _from_gaps(head["gaps from"], " ".join(rows))
    if "first" in head:
        return code_range(head["first"], len(rows)), as_labels(map(read_label, rows))
    codes, labels = zip(*(row.split(" ", 1) for row in rows), strict=True)
    return codes, as_labels(map(read_label, labels))


def _from_gaps(first: str, gaps: str) -> tuple[tuple[str, ...], Labels]:
    """Solvable deals from the gaps between their numbers; nothing else is known about them."""
    scheme, n_cells, number = parse_code(first)
    codes = tuple(format_code(scheme, n_cells, number + n) for n in accumulate(map(int, gaps.split())))
    return codes, as_labels([(True, 0, 0)] * len(codes))
