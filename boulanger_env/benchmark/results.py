"""What a benchmark run gives: a row for every game, a summary, and the JSON file that holds both."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from boulanger_env.deals import DealSet
from boulanger_env.envs.stepping import OUTCOMES
from boulanger_env.files import write_text
from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.errors import BoulangerError

from .statistics import Estimate, mean, share

FORMAT = "boulanger-env results 1"


class GameRow(NamedTuple):
    """How one game of a benchmark went."""

    code: str
    won: bool
    score: int
    cards_home: int
    moves: int
    """Moves that stand at the end: undone ones are not counted."""
    outcome: str
    """``"won"``, ``"stuck"``, ``"illegal"`` or ``"truncated"``."""


class Summary(NamedTuple):
    """A run in a few numbers, each with its 95 % interval."""

    games: int
    wins: int
    win_rate: Estimate
    """With Wilson's interval."""
    cards_home: Estimate
    """Mean over all games, with Student's t interval; so are the next two."""
    score: Estimate
    moves: Estimate


@dataclass(frozen=True)
class Results:
    """A policy on a set of deals, each played once.

    Two results are equal when everything in them is: the same policy, seed, deals, settings and package version give
    equal results.

    Attributes:
        policy: its name.
        details: what else identifies the policy, such as a model file's digest.
        seed: of all the policy's chance.
        deals: name of the deal set.
        fingerprint: of the deal set (``DealSet.fingerprint``).
        settings: the environment's keywords.
        version: of this package.
        games: a row for every deal, in the order of the set.
    """

    policy: str
    seed: int
    deals: str
    fingerprint: str
    version: str
    games: tuple[GameRow, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def summary(self) -> Summary:
        """Win rate and means with their intervals (needs SciPy)."""
        wins = sum(row.won for row in self.games)
        return Summary(
            games=len(self.games),
            wins=wins,
            win_rate=share(wins, len(self.games)),
            cards_home=mean([row.cards_home for row in self.games]),
            score=mean([row.score for row in self.games]),
            moves=mean([row.moves for row in self.games]),
        )

    def summary_dict(self) -> dict[str, Any]:
        """The summary as plain dicts and numbers, for JSON."""
        return {
            name: value._asdict() if isinstance(value, Estimate) else value
            for name, value in self.summary._asdict().items()
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results as JSON, a line a game; the file is there whole or not at all.

        Raises:
            OSError: the file cannot be written.
        """
        head = {
            "format": FORMAT,
            "version": self.version,
            "policy": {"name": self.policy, "seed": self.seed, **self.details},
            "deals": {"name": self.deals, "fingerprint": self.fingerprint},
            "settings": dict(self.settings),
            "summary": self.summary_dict(),
        }
        rows = ",\n".join(f"  {json.dumps(row._asdict())}" for row in self.games)
        lines = json.dumps(head, indent=1, allow_nan=False).removesuffix("\n}")
        write_text(Path(path), f'{lines},\n "games": [\n{rows}\n ]\n}}\n')

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Results:
        """Read a file that :meth:`save` wrote.

        Raises:
            BoulangerError: it is no such file, or its games are not those that it names; the message says what is
                wrong.
            OSError: the file cannot be read.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            return _read(content)
        except (ValueError, RecursionError) as error:
            # BoulangerError is a ValueError, as are JSON's own errors.
            raise BoulangerError(f"{os.fspath(path)} is not a file of benchmark results: {error}") from None


def _read(content: Any) -> Results:
    """Results from a file's content, trusting nothing."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BoulangerError(f"it does not say that its format is {FORMAT!r}")
    try:
        policy, deals = dict(content["policy"]), content["deals"]
        results = Results(
            policy=_as(str, policy.pop("name")),
            seed=_as(int, policy.pop("seed")),
            deals=_as(str, deals["name"]),
            fingerprint=_as(str, deals["fingerprint"]),
            version=_as(str, content["version"]),
            games=tuple(_read_row(row) for row in content["games"]),
            settings=_as(dict, content["settings"]),
            details=policy,
        )
    except KeyError as error:
        raise BoulangerError(f"{error} is missing") from None
    except TypeError as error:
        raise BoulangerError(f"a value of another kind than results have ({error})") from None
    if not results.games:
        raise BoulangerError("it holds no games")
    if DealSet(results.deals, [row.code for row in results.games]).fingerprint != results.fingerprint:
        raise BoulangerError(
            f"its games are not those of the deal set with fingerprint {results.fingerprint}"
        )
    return results


def _read_row(row: Any) -> GameRow:
    if not isinstance(row, dict) or set(row) != set(GameRow._fields):
        raise BoulangerError(f"a game is {row!r}: it must have {', '.join(GameRow._fields)}")
    game = GameRow(**{name: _as(kind, row[name]) for name, kind in get_type_hints(GameRow).items()})
    if (
        game.outcome not in OUTCOMES[1:]
        or game.won != (game.outcome == "won")
        or game.won != (game.cards_home == N_CARDS)
        or not 0 <= game.cards_home <= N_CARDS
    ):
        raise BoulangerError(f"a game is {row!r}: no game ends so")
    return game


def _as(kind: type, value: Any) -> Any:
    # A bool is an int to isinstance, but not in JSON.
    if type(value) is not kind:
        raise BoulangerError(f"{value!r} stands where a value of type {kind.__name__} must be")
    return value
