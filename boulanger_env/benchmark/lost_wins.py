"""Why an agent loses: the decisions of a run, each proved to keep the win or to throw it away."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game import Game
from boulanger_env.game.errors import BoulangerError
from boulanger_env.processes import checked_workers, run_jobs
from boulanger_env.solver import diagnose
from boulanger_env.solver.solving import MEMORY_LIMIT, check_limits

from .action_text import decode, encode, played
from .loss_file import GameLosses, LossFile, header_of
from .results import Results
from .rows import GameRow
from .statistics import CONFIDENCE, RESAMPLES, Estimate

EARLY = (5, 10, 20)
"""Choices within which a game counts as lost early."""

_CHUNK = 10  # games per job


class Runner(Protocol):
    """Where games are diagnosed, such as the pools of ``cluster``."""

    def run(self, work: Callable[..., Any], jobs: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
        """Call ``work(*job)`` for each job, and yield each name with its result, in the order of completion."""


class Losses(NamedTuple):
    """Where a run threw its wins away."""

    games: int
    hopeless: int
    """Games that could not be won from the start: they have no choices."""
    lost: int
    """Games that a choice lost."""
    choices: int
    rate: Estimate
    """Mistakes per choice, with a bootstrap interval over deals."""
    chance: float
    """The same for uniformly random legal moves at the same choices."""
    quartiles: tuple[int, int, int] | None
    """Quartiles, over the games lost, of the number of the choice that lost."""
    early: tuple[float, ...]
    """Of the games lost, the share lost within the first 5, 10 and 20 choices."""
    still_winnable: tuple[float, ...]
    """After 0, 1, 2, ... choices, the share of games that can still be won (Kaplan-Meier estimate: games that end
    earlier without being lost count up to their end)."""
    undecided: int


def losses(
    results: Results,
    *,
    node_limit: int | None = None,
    workers: int | None = None,
    pool: Runner | None = None,
    file: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Losses:
    """Diagnose every game of a run.

    Args:
        results: results that include the games' moves (``evaluate(..., moves=True)``, ``boulanger bench --moves``).
        node_limit: maximum positions to search, for each legal move.
        workers: processes; None for one per core.
        pool: where to work instead, such as a Ray cluster (``cluster.pools.OnRay``).
        file: JSON Lines that get each game as it is diagnosed. If the file exists, the diagnosis resumes: after a kill
            only the games in progress are lost. At the end the lines are put in order.
        progress: called with the number of games done and the total.

    Raises:
        BoulangerError: the moves were not kept, an argument is invalid, or the file holds something else.
        OSError: the file cannot be read or written.
    """
    if not results.moves:
        raise BoulangerError(
            f"the run of {results.policy} did not keep its moves: play it again with moves=True, or bench --moves"
        )
    games = [(row.code, _played(row, results)) for row in results.games]
    total = len(games)
    workers = checked_workers(workers)
    check_limits(node_limit, None, "any", MEMORY_LIMIT)
    header = header_of(results, games, node_limit)
    with nullcontext(None) if file is None else LossFile(Path(file), header, games) as kept:
        found = {} if kept is None else dict(kept.found)
        if progress is not None and found:
            progress(len(found), total)
        missing = [game for game in range(total) if game not in found]
        chunks = [missing[i : i + _CHUNK] for i in range(0, len(missing), _CHUNK)]
        jobs = {f"{chunk[0]}": (tuple(games[i] for i in chunk), node_limit) for chunk in chunks}
        by_name = dict(zip(jobs, chunks, strict=True))
        for name, piece in _run(jobs, workers) if pool is None else pool.run(diagnose_games, jobs):
            for game, one in zip(by_name[name], piece, strict=True):
                found[game] = one
                if kept is not None:
                    kept.add(game, one)
            if progress is not None:
                progress(len(found), total)
        if kept is not None and missing:
            kept.put_in_order()
    return summary([found[game] for game in range(total)], results.n_deals)


def _run(jobs: Mapping[str, tuple[Any, ...]], workers: int) -> Iterator[tuple[str, Any]]:
    names = list(jobs)
    for number, piece in run_jobs(diagnose_games, jobs.values(), workers):
        yield names[number], piece


def _played(row: GameRow, results: Results) -> str:
    """The text of all that was played."""
    return encode(played(row.code, row.actions, results.settings))


def diagnose_games(games: Sequence[tuple[str, str]], node_limit: int | None = None) -> list[GameLosses]:
    """The choices of games, each given by a code and the text of its actions."""
    return [_game(code, actions, node_limit) for code, actions in games]


def _game(code: str, actions: str, node_limit: int | None) -> GameLosses:
    found = diagnose(Game.from_code(code), decode(actions).tolist(), node_limit=node_limit)
    choices = [decision for decision in found.decisions if decision.was_a_choice]
    lost = found.losing_move
    return GameLosses(
        choices=len(choices),
        mistakes=len(found.mistakes),
        chance=sum(len(one.losing) / (len(one.losing) + len(one.winning)) for one in choices),
        # With a limit, a losing move may have no alternative that is known to win: then it was no proven choice.
        lost_at=1 + choices.index(lost) if lost is not None and lost in choices else 0,
        hopeless=found.decisions[0].winnable is False if found.decisions else found.winnable is False,
        undecided=found.undecided,
    )


def summary(games: Sequence[GameLosses], n_deals: int) -> Losses:
    """Summarize the games of a run, ordered by seed, then by its ``n_deals`` deals."""
    columns = {name: np.array([getattr(game, name) for game in games]) for name in GameLosses._fields}
    choices, lost_at = columns["choices"], columns["lost_at"]
    lost = lost_at[lost_at > 0]
    return Losses(
        games=len(games),
        hopeless=int(columns["hopeless"].sum()),
        lost=len(lost),
        choices=int(choices.sum()),
        rate=_rate(columns["mistakes"].reshape(-1, n_deals).sum(0), choices.reshape(-1, n_deals).sum(0)),
        chance=float(columns["chance"].sum() / max(1, choices.sum())),
        quartiles=_quartiles(lost),
        early=tuple(float((lost <= within).mean()) if len(lost) else 0.0 for within in EARLY),
        still_winnable=still_winnable(choices[~columns["hopeless"]], lost_at[~columns["hopeless"]]),
        undecided=int(columns["undecided"].sum()),
    )


def still_winnable(choices: NDArray[Any], lost_at: NDArray[Any]) -> tuple[float, ...]:
    """Kaplan-Meier estimate of the share of games that can still be won after each choice.

    Args:
        choices: int ``(n,)``, the number of choices in each game.
        lost_at: int ``(n,)``, the choice that lost it, 0 for none.

    >>> still_winnable(np.array([1, 2, 2, 3]), np.array([1, 0, 2, 0]))
    (1.0, 0.75, 0.5, 0.5)
    """
    shares = [1.0]
    for number in range(1, int(choices.max(initial=0)) + 1):
        playing = int((choices >= number).sum())
        shares.append(shares[-1] * (1 - int((lost_at == number).sum()) / playing))
    return tuple(shares)


def _quartiles(lost: NDArray[Any]) -> tuple[int, int, int] | None:
    if not len(lost):
        return None
    first, second, third = np.percentile(lost, (25, 50, 75), method="inverted_cdf").tolist()
    return first, second, third


def _rate(mistakes: NDArray[Any], choices: NDArray[Any]) -> Estimate:
    """Mistakes per choice with its percentile bootstrap interval, from those of each deal."""
    n = len(choices)
    total = int(choices.sum())
    if not total:
        return Estimate(0.0, None, None)
    value = float(mistakes.sum() / total)
    if n == 1:
        return Estimate(value, None, None)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), RESAMPLES)
    rates = (drawn @ mistakes) / np.maximum(1, drawn @ choices)
    low, high = np.quantile(rates, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)).tolist()
    return Estimate(value, low, high)


class _Column(NamedTuple):
    heading: str
    narrow: bool
    """Whether the terminal's table shows it too."""
    text: Callable[[Losses], str]


_COLUMNS = (
    _Column("choices", True, lambda run: str(run.choices)),
    _Column("thrown away", True, lambda run: with_bounds(run.rate)),
    _Column("by uniform moves", True, lambda run: f"{100 * run.chance:.1f} %"),
    _Column("games lost", False, lambda run: f"{run.lost} of {run.games}"),
    _Column("at choice (quartiles)", True, lambda run: ", ".join(map(str, run.quartiles or "-"))),
    _Column(f"within {', '.join(map(str, EARLY))} choices", False, lambda run: _shares(run.early)),
    _Column("never winnable", False, lambda run: str(run.hopeless)),
    _Column("undecided", False, lambda run: str(run.undecided)),
)


def losses_table(names: Sequence[str], found: Sequence[Losses], *, narrow: bool = False) -> list[list[str]]:
    """The losses of runs as rows of text, the headings first."""
    columns = [column for column in _COLUMNS if column.narrow or not narrow]
    rows = [[column.text(run) for column in columns] for run in found]
    return [
        ["policy", *(column.heading for column in columns)],
        *([name, *row] for name, row in zip(names, rows, strict=True)),
    ]


def with_bounds(rate: Estimate) -> str:
    """A share in per cent, with its interval."""
    bounds = (
        "" if rate.low is None or rate.high is None else f" [{100 * rate.low:.2f}, {100 * rate.high:.2f}]"
    )
    return f"{100 * rate.value:.2f} %{bounds}"


def _shares(shares: Sequence[float]) -> str:
    return ", ".join(f"{100 * share:.0f} %" for share in shares)
