"""What is known of the deals of a set: which can be won, in how few moves, and how hard it was to tell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.errors import BoulangerError

UNSOLVABLE, SOLVABLE = "-", "+"


class Labels(NamedTuple):
    """A verdict for each deal of a set.

    Attributes:
        solvable: bool ``(m,)``: whether it can be won; False is a proof by exhaustion.
        length: int16 ``(m,)``: moves of a proven shortest solution, a group counted as one; 0 where there is none or
            it is not known.
        nodes: int32 ``(m,)``: positions that the complete search looked at for the verdict; 0 where it is not known.
    """

    solvable: NDArray[np.bool_]
    length: NDArray[np.int16]
    nodes: NDArray[np.int32]

    def part(self, index: slice) -> Labels:
        """The labels of some of the deals."""
        return Labels(self.solvable[index], self.length[index], self.nodes[index])

    def lines(self) -> list[str]:
        """A line of text for each deal: its moves (``-`` = cannot be won, ``+`` = length not known) and its nodes."""
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
