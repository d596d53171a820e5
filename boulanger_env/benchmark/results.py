"""The results of a benchmark run: one row per game, and their summary."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.deals.known import known_labels
from boulanger_env.deals.labels import Labels
from boulanger_env.files import write_text
from boulanger_env.game.cards import N_CARDS

from . import rows
from .reading import check_complete, read
from .rows import Content, GameRow, Header
from .statistics import Estimate, bootstrap, iqm_of, mean, median_of, share


class Summary(NamedTuple):
    """A run in a few numbers, each with its 95 % interval; None if there is not enough data."""

    games: int
    """Deals times seeds."""
    wins: int
    win_rate: Estimate
    """With Wilson's interval, whose sample size is the number of deals."""
    solvable_won: Estimate | None
    """The win rate over the solvable deals, likewise. Needs labels, as ``regret`` does."""
    cards_home: Estimate
    """Mean over all games, with Student's t interval over deals, clipped to 0 .. 52. The numbers below are means of the
    same kind, clipped at 0, unless they say otherwise."""
    cards_home_median: Estimate
    """With a bootstrap interval, like the next one."""
    cards_home_iqm: Estimate
    """The interquartile mean: the mean without the lowest and the highest quarter of the games."""
    score: Estimate
    moves: Estimate | None
    """Over the games won."""
    regret: Estimate | None
    """Over the games won: moves beyond the length of the shortest solution, a group counting as one."""
    illegal: float
    """Illegal actions per game."""


@dataclass(frozen=True)
class Results:
    """A policy on a set of deals, each played once with each seed.

    Two results are equal if everything but the time taken is equal: the same policy, seeds, deals, settings
    and package version give equal results.

    Attributes:
        policy: its name.
        details: what else identifies the policy, such as a model file's digest.
        seeds: the policy's random seeds, one per round through the deals.
        deals: name of the deal set.
        fingerprint: of the deal set (``DealSet.fingerprint``).
        settings: the environment's keywords.
        version: of this package.
        games: one row per seed and deal, ordered by seed, then as in the set.
        seconds: playing time.
        labels: what is known about the deals, or None.
        moves: whether each row keeps its actions.
    """

    policy: str
    seeds: tuple[int, ...]
    deals: str
    fingerprint: str
    version: str
    games: tuple[GameRow, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)
    labels: Labels | None = field(default=None, compare=False, repr=False)
    moves: bool = False

    def __hash__(self) -> int:
        """Equal results have equal hashes; settings and details are dicts and are left out."""
        return hash((self.policy, self.seeds, self.fingerprint, self.version, self.games))

    @property
    def n_deals(self) -> int:
        """How many deals there are."""
        return len(self.games) // len(self.seeds)

    @property
    def codes(self) -> tuple[str, ...]:
        """The deals, in the order of the set."""
        return tuple(row.code for row in self.games[: self.n_deals])

    def column(self, name: str) -> NDArray[Any]:
        """A field of the rows, such as ``"won"``, as an array ``(deals, seeds)``."""
        values: NDArray[Any] = np.array([getattr(row, name) for row in self.games])
        by_deal: NDArray[Any] = values.reshape(len(self.seeds), self.n_deals).T
        return by_deal

    @cached_property
    def summary(self) -> Summary:
        """The run in a few numbers with their intervals (needs SciPy)."""
        won, moves, home = self.column("won"), self.column("moves"), self.column("cards_home")
        rates = won.mean(1)
        solvable_won = regret = None
        if self.labels is not None:
            solvable, length = self.labels.solvable, self.labels.length
            if solvable.any():
                solvable_won = share(float(rates[solvable].sum()), int(solvable.sum()))
            regret = _mean_where(moves - length[:, None].astype(int), won & (length > 0)[:, None])
        return Summary(
            games=len(self.games),
            wins=int(won.sum()),
            win_rate=share(float(rates.sum()), self.n_deals),
            solvable_won=solvable_won,
            cards_home=mean(home.mean(1), 0, N_CARDS),
            cards_home_median=bootstrap(home, median_of),
            cards_home_iqm=bootstrap(home, iqm_of),
            score=mean(self.column("score").mean(1), 0),
            moves=_mean_where(moves, won),
            regret=regret,
            illegal=float(self.column("illegal").mean()),
        )

    def summary_dict(self) -> dict[str, Any]:
        """The summary as plain dicts and numbers, for JSON."""
        return {
            name: value._asdict() if isinstance(value, Estimate) else value
            for name, value in self.summary._asdict().items()
        }

    @property
    def games_per_second(self) -> float | None:
        """Games per second while playing; None if the time is unknown."""
        return len(self.games) / self.seconds if self.seconds > 0 else None

    @property
    def steps_per_second(self) -> float | None:
        """Actions per second while playing; None if the time is unknown."""
        return int(self.column("steps").sum()) / self.seconds if self.seconds > 0 else None

    @property
    def header(self) -> Header:
        """What was played, as the file's first line has it."""
        return Header(
            policy=self.policy,
            details=self.details,
            seeds=self.seeds,
            deals=self.deals,
            fingerprint=self.fingerprint,
            count=self.n_deals,
            settings=self.settings,
            version=self.version,
            moves=self.moves,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results as JSON Lines (see ``rows``), whole or not at all.

        Raises:
            OSError: the file cannot be written.
        """
        write_text(Path(path), rows.text(self.header, self.games, self.seconds))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Results:
        """Read a file that :meth:`save` or a finished run wrote.

        Every row is checked against the rules and the run's settings, every win against the labels of the built-in
        sets, and games whose actions were kept are replayed. Results on a built-in set, or on a slice of one, get its
        labels.

        Raises:
            BoulangerError: it is not such a file, its games are not those that it names, some are missing, or one is
                impossible; the message says what is wrong.
            OSError: the file cannot be read.
        """
        content = read(Path(path))
        check_complete(content, Path(path))
        return cls.of(content)

    @classmethod
    def of(cls, content: Content, labels: Labels | None = None) -> Results:
        """The results in a complete file's content; without labels, with those of the built-in set of that name."""
        header, games = content.header, content.in_order()
        codes = [row.code for row in games[: header.count]]
        return cls(
            policy=header.policy,
            seeds=header.seeds,
            deals=header.deals,
            fingerprint=header.fingerprint,
            version=header.version,
            games=games,
            settings=header.settings,
            details=header.details,
            seconds=content.seconds,
            labels=known_labels(header.deals, codes) if labels is None else labels,
            moves=header.moves,
        )


def _mean_where(values: NDArray[Any], chosen: NDArray[np.bool_]) -> Estimate | None:
    """The mean of the chosen values ``(deals, seeds)``: first within each deal, then over the deals that have any."""
    deals = chosen.any(1)
    if not deals.any():
        return None
    return mean((values * chosen)[deals].sum(1) / chosen[deals].sum(1), 0)
