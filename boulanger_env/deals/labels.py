"""What is known about the deals of a set: which can be won, in how few moves, and the effort of the proof."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.checks import as_array, shown
from boulanger_env.game.errors import BoulangerError

UNSOLVABLE, SOLVABLE = "-", "+"
# Limits of the file format.
_MOST: dict[str, tuple[type[np.generic], int]] = {
    "solvable": (np.bool_, 1),
    "length": (np.int16, 999),
    "nodes": (np.int32, 999_999_999),
}


class Labels(NamedTuple):
    """A verdict for each deal of a set.

    Attributes:
        solvable: bool ``(m,)``: whether it can be won; False is a proof by exhaustion.
        length: int16 ``(m,)``: moves of a proven shortest solution, a group counting as one; 0 if there is none or
            it is unknown.
        nodes: int32 ``(m,)``: positions that the complete search visited for the verdict; 0 if unknown.
    """

    solvable: NDArray[np.bool_]
    length: NDArray[np.int16]
    nodes: NDArray[np.int32]

    def part(self, index: slice) -> Labels:
        """The labels of some of the deals."""
        return Labels(self.solvable[index], self.length[index], self.nodes[index])

    def lines(self) -> list[str]:
        """One line of text per deal: its moves (``-`` = cannot be won, ``+`` = length unknown) and its nodes."""
        return [
            f"{length or SOLVABLE if solvable else UNSOLVABLE} {nodes}"
            for solvable, length, nodes in zip(
                self.solvable.tolist(), self.length.tolist(), self.nodes.tolist(), strict=True
            )
        ]


def read_label(text: str) -> tuple[bool, int, int]:
    """A deal's verdict, length and nodes from the text that :meth:`Labels.lines` wrote.

    Raises:
        BoulangerError: it is not a label.

    >>> read_label("83 312"), read_label("- 1208")
    ((True, 83, 312), (False, 0, 1208))
    """
    moves, *nodes = text.split()
    known = moves.isascii() and moves.isdigit() and len(moves) < 4 and int(moves) > 0
    if (
        not (known or moves in (UNSOLVABLE, SOLVABLE))
        or len(nodes) != 1
        or not (nodes[0].isascii() and nodes[0].isdigit() and len(nodes[0]) < 10)
    ):
        raise BoulangerError(
            f"{text[:40]!r} is not a label: a number of moves ({UNSOLVABLE} = cannot be won, {SOLVABLE} = not known) "
            "and a number of nodes, such as 83 312"
        )
    return moves != UNSOLVABLE, int(moves) if known else 0, int(nodes[0])


def checked_labels(labels: Any, n: int) -> Labels:
    """The labels of ``n`` deals as :class:`Labels` of read-only arrays.

    Raises:
        BoulangerError: there are not three arrays with one entry per deal, or a number is invalid.
    """
    if not isinstance(labels, Sequence) or len(labels) != len(_MOST):
        raise BoulangerError(f"{shown(labels)} are not labels: they are the arrays {', '.join(_MOST)}")
    arrays = []
    for (name, (dtype, most)), given in zip(_MOST.items(), labels, strict=True):
        array = as_array(f"labels: {name}", given)
        if array.shape != (n,):
            count = array.shape[0] if array.ndim == 1 else f"shape {array.shape}"
            raise BoulangerError(f"{n} codes need {n} labels, not {count}, in {name}")
        wrong = array.dtype.kind not in "biu" or (n and not 0 <= array.min() <= array.max() <= most)
        if wrong:
            raise BoulangerError(f"labels: {name} {shown(given)} must be whole numbers from 0 to {most}")
        arrays.append(array.astype(dtype))
        arrays[-1].flags.writeable = False
    found = Labels(*arrays)
    if (found.length[~found.solvable] != 0).any():
        raise BoulangerError("labels: length must be 0 where a deal is not solvable")
    return found


def as_labels(labels: Iterable[tuple[bool, int, int]]) -> Labels:
    """Labels from each deal's verdict, length and nodes."""
    solvable, length, nodes = zip(*labels, strict=True)
    arrays = Labels(np.array(solvable, np.bool_), np.array(length, np.int16), np.array(nodes, np.int32))
    for array in arrays:
        array.flags.writeable = False
    return arrays


def digest(lines: Sequence[str]) -> str:
    """16 hexadecimal digits from the SHA-256 of some lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
