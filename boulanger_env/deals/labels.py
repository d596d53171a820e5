"""What is known of the deals of a set: which can be won, in how few moves, and how hard it was to tell."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
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


def read_labels(lines: Sequence[str]) -> Labels:
    """Read what :meth:`Labels.lines` wrote.

    Raises:
        BoulangerError: a line is not a label; the message gives its place.

    >>> read_labels(["83 312", "- 1208"]).solvable.tolist()
    [True, False]
    """
    m = len(lines)
    labels = Labels(np.zeros(m, np.bool_), np.zeros(m, np.int16), np.zeros(m, np.int32))
    for place, line in enumerate(lines):
        moves, _, nodes = line.partition(" ")
        known = moves.isdigit() and moves.isascii() and 0 < int(moves) < 1000
        if not (known or moves in (UNSOLVABLE, SOLVABLE)) or not (nodes.isdigit() and len(nodes) < 10):
            raise BoulangerError(
                f"label {place + 1}, {line!r}, is not a number of moves (or {UNSOLVABLE} or {SOLVABLE}) and of nodes"
            )
        labels.solvable[place] = moves != UNSOLVABLE
        labels.length[place] = int(moves) if known else 0
        labels.nodes[place] = int(nodes)
    for array in labels:
        array.flags.writeable = False
    return labels


def digest(lines: Sequence[str]) -> str:
    """16 hexadecimal digits from the SHA-256 of some lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
