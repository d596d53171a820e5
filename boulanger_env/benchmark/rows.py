"""The rows of a benchmark and their JSON Lines: a line that says what was played, then one line per game."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_type_hints

from boulanger_env.game.outcomes import WON

FORMAT = "boulanger-env results 2"


class GameRow(NamedTuple):
    """How one game of a benchmark went."""

    place: int
    """The deal's index in its set, from 0."""
    code: str
    seed: int
    outcome: str
    """``"won"``, ``"stuck"``, ``"illegal"`` or ``"truncated"``."""
    cards_home: int
    score: int
    moves: int
    """Moves at the end, a group counting as one; undone moves do not count."""
    steps: int
    """Actions that the policy chose."""
    illegal: int
    """How many of them were illegal."""
    actions: str = ""
    """All actions chosen, by place, two base32 symbols each, if they were kept (``evaluate(..., moves=True)``)."""

    @property
    def won(self) -> bool:
        """Whether the game was won."""
        return self.outcome == WON


KINDS = get_type_hints(GameRow)
ACTIONS, SECONDS = "actions", "seconds"


@dataclass(frozen=True)
class Header:
    """What was played: everything that the games depend on.

    Attributes:
        policy: its name.
        details: what else identifies it.
        seeds: its random seeds, one per round through the deals.
        deals: name of the deal set.
        fingerprint: of the deal set.
        count: how many deals it has.
        settings: the environment's keywords.
        version: of this package.
        moves: whether each row keeps its actions.
    """

    policy: str
    details: Mapping[str, Any]
    seeds: tuple[int, ...]
    deals: str
    fingerprint: str
    count: int
    settings: Mapping[str, Any]
    version: str
    moves: bool = False

    @property
    def games(self) -> int:
        """How many games there are to play."""
        return self.count * len(self.seeds)

    def as_dict(self) -> dict[str, Any]:
        """As it is written to a file."""
        return {
            "format": FORMAT,
            "version": self.version,
            "policy": {"name": self.policy, **self.details},
            "seeds": list(self.seeds),
            "deals": {"name": self.deals, "fingerprint": self.fingerprint, "count": self.count},
            "settings": dict(self.settings),
            "moves": self.moves,
        }

    def line(self) -> str:
        """As a line, with its newline."""
        return json.dumps(self.as_dict(), allow_nan=False) + "\n"


@dataclass
class Content:
    """A file's content: rows by seed and place, their total seconds, and how many bytes are complete lines."""

    header: Header
    rows: dict[tuple[int, int], GameRow] = field(default_factory=dict)
    seconds: float = 0.0
    whole: int = 0

    def in_order(self) -> tuple[GameRow, ...]:
        """The rows, ordered by seed, then by deal."""
        order = {seed: i for i, seed in enumerate(self.header.seeds)}
        return tuple(sorted(self.rows.values(), key=lambda row: (order[row.seed], row.place)))


def row_line(row: GameRow, seconds: float) -> str:
    """A game as a line, with its newline, and the time since the previous game ended."""
    content: dict[str, Any] = row._asdict()
    if not row.actions:
        del content[ACTIONS]
    return json.dumps({**content, SECONDS: round(seconds, 6)}) + "\n"


def text(header: Header, rows: Iterable[GameRow], seconds: float) -> str:
    """A whole file."""
    rows = list(rows)
    each = seconds / max(1, len(rows))
    return header.line() + "".join(row_line(row, each) for row in rows)
