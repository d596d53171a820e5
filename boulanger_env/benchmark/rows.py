"""The rows of a benchmark and the JSON Lines they are kept in: a line that says what was played, then a line a game."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from boulanger_env.deals import DealSet
from boulanger_env.envs.stepping import OUTCOMES
from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.errors import BoulangerError

FORMAT = "boulanger-env results 2"


class GameRow(NamedTuple):
    """How one game of a benchmark went."""

    place: int
    """Of the deal in its set, from 0."""
    code: str
    seed: int
    outcome: str
    """``"won"``, ``"stuck"``, ``"illegal"`` or ``"truncated"``."""
    cards_home: int
    score: int
    moves: int
    """Moves that stand at the end, a group as one: undone ones are not counted."""
    steps: int
    """Actions that the policy gave."""
    illegal: int
    """How many of them were illegal."""

    @property
    def won(self) -> bool:
        """Whether the game was won."""
        return self.outcome == "won"


_KINDS = get_type_hints(GameRow)
_SECONDS = "seconds"


@dataclass(frozen=True)
class Header:
    """What was played: all that the games depend on.

    Attributes:
        policy: its name.
        details: what else identifies it.
        seeds: of its chance, one for each round through the deals.
        deals: name of the deal set.
        fingerprint: of the deal set.
        count: how many deals it has.
        settings: the environment's keywords.
        version: of this package.
    """

    policy: str
    details: Mapping[str, Any]
    seeds: tuple[int, ...]
    deals: str
    fingerprint: str
    count: int
    settings: Mapping[str, Any]
    version: str

    @property
    def games(self) -> int:
        """How many games there are to play."""
        return self.count * len(self.seeds)

    def as_dict(self) -> dict[str, Any]:
        """As it stands in a file."""
        return {
            "format": FORMAT,
            "version": self.version,
            "policy": {"name": self.policy, **self.details},
            "seeds": list(self.seeds),
            "deals": {"name": self.deals, "fingerprint": self.fingerprint, "count": self.count},
            "settings": dict(self.settings),
        }

    def line(self) -> str:
        """As a line, with its end."""
        return json.dumps(self.as_dict(), allow_nan=False) + "\n"


@dataclass
class Content:
    """A file's content: rows by seed and place, the seconds that they took, and how many bytes are whole lines."""

    header: Header
    rows: dict[tuple[int, int], GameRow] = field(default_factory=dict)
    seconds: float = 0.0
    whole: int = 0

    def in_order(self) -> tuple[GameRow, ...]:
        """The rows by the order of the seeds, then of the deals."""
        order = {seed: i for i, seed in enumerate(self.header.seeds)}
        return tuple(sorted(self.rows.values(), key=lambda row: (order[row.seed], row.place)))


def row_line(row: GameRow, seconds: float) -> str:
    """A game as a line, with its end, and the time since the game before it ended."""
    return json.dumps({**row._asdict(), _SECONDS: round(seconds, 6)}) + "\n"


def text(header: Header, rows: Iterable[GameRow], seconds: float) -> str:
    """A whole file."""
    rows = list(rows)
    each = seconds / max(1, len(rows))
    return header.line() + "".join(row_line(row, each) for row in rows)


def read(path: Path) -> Content:
    """Read a file, trusting nothing. A last line without an end was cut off by a kill: it is left out.

    Raises:
        BoulangerError: it is no such file.
        OSError: it cannot be read.
    """
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    lines = data[:whole].split(b"\n")[:-1]
    try:
        content = Content(_read_header(_parsed(lines[0] if lines else data)), whole=whole)
        known = set(content.header.seeds)
        for number, line in enumerate(lines[1:], 2):
            try:
                row, seconds = _read_row(_parsed(line))
                if row.seed not in known or not 0 <= row.place < content.header.count:
                    raise BoulangerError(f"{row!r} is a game of another run")
            except ValueError as error:
                raise BoulangerError(f"line {number}: {error}") from None
            if (row.seed, row.place) in content.rows:
                raise BoulangerError(
                    f"line {number}: the deal at place {row.place} was played before with that seed"
                )
            content.rows[row.seed, row.place] = row
            content.seconds += seconds
    except (ValueError, RecursionError) as error:
        # BoulangerError is a ValueError, as are JSON's own errors.
        raise BoulangerError(f"{path} is not a file of benchmark results: {error}") from None
    return content


def check_complete(content: Content, path: Path) -> None:
    """Refuse a file with games missing, or with other games than its header names.

    Raises:
        BoulangerError: it is such a file.
    """
    header = content.header
    if len(content.rows) < header.games:
        raise BoulangerError(
            f"{path} holds {len(content.rows)} of {header.games} games: the run was stopped, and goes on when it is "
            "started again as it was"
        )
    for seed in header.seeds:
        codes = [content.rows[seed, place].code for place in range(header.count)]
        try:
            if DealSet(header.deals, codes).fingerprint != header.fingerprint:
                raise BoulangerError(
                    f"its games are not those of the deal set with fingerprint {header.fingerprint}"
                )
        except BoulangerError as error:
            raise BoulangerError(f"{path} is not a file of benchmark results: {error}") from None


def _parsed(line: bytes) -> Any:
    return json.loads(line.decode("utf-8"))


def _read_header(content: Any) -> Header:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BoulangerError(f"it does not say that its format is {FORMAT!r}")
    try:
        policy, deals = dict(content["policy"]), content["deals"]
        header = Header(
            policy=_as(str, policy.pop("name")),
            details=policy,
            seeds=tuple(_as(int, seed) for seed in content["seeds"]),
            deals=_as(str, deals["name"]),
            fingerprint=_as(str, deals["fingerprint"]),
            count=_as(int, deals["count"]),
            settings=_as(dict, content["settings"]),
            version=_as(str, content["version"]),
        )
    except KeyError as error:
        raise BoulangerError(f"{error} is missing") from None
    except TypeError as error:
        raise BoulangerError(f"a value of another kind than results have ({error})") from None
    if header.games < 1 or len(set(header.seeds)) < len(header.seeds):
        raise BoulangerError(f"{header.count} deals with the seeds {list(header.seeds)} are no run")
    return header


def _read_row(row: Any) -> tuple[GameRow, float]:
    fields = (*GameRow._fields, _SECONDS)
    if not isinstance(row, dict) or set(row) != set(fields):
        raise BoulangerError(f"a game is {row!r}: it must have {', '.join(fields)}")
    seconds = row[_SECONDS]
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e12:
        raise BoulangerError(f"{seconds!r} is no number of seconds")
    game = GameRow(**{name: _as(kind, row[name]) for name, kind in _KINDS.items()})
    if (
        game.outcome not in OUTCOMES[1:]
        or game.won != (game.cards_home == N_CARDS)
        or not 0 <= game.cards_home <= N_CARDS
        or not 0 <= game.moves <= game.steps
        or not 0 <= game.illegal <= game.steps
    ):
        raise BoulangerError(f"a game is {row!r}: no game ends so")
    return game, float(seconds)


def _as(kind: type, value: Any) -> Any:
    # A bool is an int to isinstance, but not in JSON.
    if type(value) is not kind:
        raise BoulangerError(f"{value!r} stands where a value of type {kind.__name__} must be")
    return value
