"""The report of a benchmark: tables, plots, comparisons, what was lost, and how to read it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.agents.naming import file_stem
from boulanger_env.benchmark.action_text import played
from boulanger_env.benchmark.comparison import compare, run_names
from boulanger_env.benchmark.difficulty import by_difficulty, from_the_easiest
from boulanger_env.benchmark.lost_wins import Losses, losses_table
from boulanger_env.benchmark.results import Results
from boulanger_env.escaping import LONGEST_NAME, printable
from boulanger_env.files import write_text
from boulanger_env.game.game import Game
from boulanger_env.render.html import episode, render_html
from boulanger_env.replay import Replay
from boulanger_env.replay.diagnosed import diagnose_within, in_page, left_out
from boulanger_env.replay.recording import file_name
from boulanger_env.solver import Diagnosis

from . import plots
from .page import (
    Block,
    Code,
    Heading,
    Items,
    Line,
    Link,
    Picture,
    Rows,
    Text,
    write_html,
    write_markdown,
)
from .tables import Table, caption, comparison_table, results_table, strength

_LONGEST = 400  # characters shown of a run's settings and details
_LOSSES = 10  # lost deals listed per run

_HOW_TO_READ = (
    "Square brackets hold 95 % intervals: Wilson's for shares of deals, Student's t for means (clipped to what is "
    "possible, such as 0 and 52 cards home), the percentile bootstrap over deals for the median, the IQM and the "
    "differences. With several seeds a deal still counts once.",
    "A difference in percentage points is that of two win rates: 30 % is 10 percentage points more than 20 %.",
    "IQM is the interquartile mean of cards home: the mean of the games without the lowest and the highest quarter.",
    "Moves are those of the games won, a group of cards as one. Regret is how many more they are than in a proven "
    "shortest solution.",
    "p is McNemar's exact test on the deals that only one of the two won; Holm's correction is for all the pairs of "
    "the table together.",
    "A deal's difficulty is the number of moves of its proven shortest solution.",
)

_HOW_TO_READ_LOSSES = (
    "A choice is a decision at which one legal move keeps the win and another loses it, both proved. Thrown away is "
    "the share of the choices that lost the win, with a bootstrap interval over deals; next to it, what uniform legal "
    "moves would lose at the same choices. The curve is the Kaplan-Meier estimate."
)


def write_report(
    results: Sequence[Results],
    folder: Path,
    recorded: Mapping[str, Path] = MappingProxyType({}),
    losses: Sequence[Losses] = (),
) -> list[Path]:
    """Write ``report.md`` with its pictures, and ``report.html``, a self-contained page.

    The lost games that it lists link to pages that play them if their moves are known: from runs that kept
    them (``evaluate(..., moves=True)``), or from recorded replays. These games are diagnosed, for up to a minute.

    Args:
        results: runs on the same deals. They are compared with each other if they have the same number of seeds.
        folder: created if it does not exist.
        recorded: each policy's folder of replays, as written by ``evaluate(..., record=)``.
        losses: where each run threw its wins away (``losses``), to include that in the report.

    Returns:
        The two reports.

    Raises:
        BoulangerError: results on different deals, or none; or a library is missing.
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pages, missing = _write_replays(results, folder, recorded)
    blocks = report(results, pages, losses, missing)
    files = [folder / "report.md", folder / "report.html"]
    write_markdown(files[0], blocks)
    write_html(files[1], f"Benchmark: {results[0].deals}", blocks)
    return files


def report(
    results: Sequence[Results],
    pages: Sequence[str | None] = (),
    losses: Sequence[Losses] = (),
    missing: str = "",
) -> list[Block]:
    """The blocks of the report.

    Args:
        results: as in ``write_report``.
        pages: the file of each run's lost games, or None.
        losses: as in ``write_report``.
        missing: what the pages lack, in words.
    """
    table = results_table(results)
    first = results[0]
    blocks: list[Block] = [
        Heading(f"Benchmark: {first.deals}", 1),
        Text((f"Deals: {caption(results)}. {_known(first)}",)),
        Rows(table),
        Picture(
            "cards-home", "share of games with at least this many cards home", plots.cards_home_curve(results)
        ),
    ]
    curve = plots.win_rate_by_difficulty(results)
    if curve is not None:
        blocks += [
            Heading("Win rate by difficulty"),
            Rows(_difficulty_table(results)),
            Picture("difficulty", "win rate by difficulty", curve),
        ]
    if len(results) > 1 and len({len(run.seeds) for run in results}) == 1:
        pairs = compare(results)
        blocks += [
            Heading("Paired comparison"),
            Rows(comparison_table(pairs), 2),
            Picture("differences", "paired differences in win rate", plots.paired_differences(pairs)),
        ]
    if losses:
        names = run_names(results)
        blocks += [
            Heading("Where wins were thrown away"),
            Rows(losses_table(names, losses)),
            Picture("still-winnable", "games that can still be won", plots.still_winnable(names, losses)),
        ]
    blocks += [Heading("Runs"), Rows(_runs_table(results), 4)]
    lost = _losses(results, pages or [None] * len(results))
    if lost:
        blocks += [Heading("Deals that were lost and can be won, the easiest first"), Items(lost)]
        blocks += [Text((missing,))] if missing else []
    how = (*_HOW_TO_READ, *((_HOW_TO_READ_LOSSES,) if losses else ()))
    return [*blocks, Heading("How to read this"), Items(tuple((text,) for text in how))]


def _known(run: Results) -> str:
    if run.labels is None:
        return "Which of the deals can be won is not recorded."
    return f"{int(run.labels.solvable.sum())} of the {run.n_deals} deals can be won."


def _difficulty_table(results: Sequence[Results]) -> Table:
    graded = [by_difficulty(run) for run in results]
    rows = [["policy", *(f"{low} to {high} moves" for low, high in (g.length for g in graded[0]))]]
    for name, grades in zip(run_names(results), graded, strict=True):
        rows.append([name, *(f"{100 * grade.win_rate.value:.1f} %" for grade in grades)])
    return rows


def _runs_table(results: Sequence[Results]) -> Table:
    rows = [["policy", "seeds", "settings", "version", "seconds", "games/s", "actions/s"]]
    for name, run in zip(run_names(results), results, strict=True):
        rates = (run.seconds or None, run.games_per_second, run.steps_per_second)
        rows.append(
            [
                name,
                printable(", ".join(map(str, run.seeds)), _LONGEST),
                printable(json.dumps({**run.settings, **run.details}, ensure_ascii=False), _LONGEST),
                printable(run.version, LONGEST_NAME),
                *("-" if rate is None else f"{rate:,.1f}" for rate in rates),
            ]
        )
    return rows


def _lost(run: Results) -> list[int]:
    """The places of the deals that can be won and were lost with every seed, the easiest first."""
    if run.labels is None:
        return []
    won: NDArray[np.bool_] = np.asarray(run.column("won").any(1))
    return [place for place in from_the_easiest(run.labels).tolist() if not won[place]]


def _losses(results: Sequence[Results], pages: Sequence[str | None]) -> tuple[Line, ...]:
    """For each run, the easiest solvable deals that it lost."""
    items: list[Line] = []
    for name, run, page in zip(run_names(results), results, pages, strict=True):
        lost = _lost(run)
        if not lost:
            continue
        line: list[str | Code | Link] = [f"Lost by {name}, {len(lost)}: "]
        for place in lost[:_LOSSES]:
            line += [Code(run.codes[place]), ", "]
        line[-1:] = [", ..."] if len(lost) > _LOSSES else []
        items.append((*line, " (", Link("watch them", page), ")") if page else tuple(line))
    return tuple(items)


class _Shown(NamedTuple):
    """A lost game whose moves are known."""

    start: Game
    actions: Sequence[int]
    page_of: Callable[[Diagnosis | None], dict[str, Any]]
    """The data for the player, from the game's diagnosis if there is one."""


def _write_replays(
    results: Sequence[Results], folder: Path, recorded: Mapping[str, Path]
) -> tuple[list[str | None], str]:
    """For each run whose moves are known, write a page that plays the lost games listed in the report.

    Returns:
        The page of each run, or None; and how many games time did not suffice to diagnose, in words, or "".
    """
    runs = []
    for run in results:
        shown = [_shown(run, place, recorded.get(run.policy)) for place in _lost(run)[:_LOSSES]]
        runs.append([game for game in shown if game is not None])
    all_games = [game for games in runs for game in games]
    found = diagnose_within((game.start, game.actions) for game in all_games) if all_games else []
    diagnoses = iter(found)
    pages: list[str | None] = []
    for name, games in zip(run_names(results), runs, strict=True):
        episodes = [game.page_of(next(diagnoses)) for game in games]
        pages.append(f"lost-{file_stem(name)}.html" if episodes else None)
        if episodes:
            write_text(folder / f"lost-{file_stem(name)}.html", render_html(episodes, f"Lost by {name}"))
    return pages, left_out(found)


def _shown(run: Results, place: int, recorded: Path | None) -> _Shown | None:
    """A lost game for the player; None if its moves are not known."""
    row = run.games[place]
    known: dict[str, Any] = {"solvable": True, "strength": strength(run)}
    if recorded is not None:
        # With what the policy thought, which the results do not have.
        file = recorded / (f"seed-{row.seed}" if len(run.seeds) > 1 else "") / file_name(place, row.code)
        if file.is_file():
            replay = Replay.load(file)
            return _Shown(
                replay.start, replay.played, lambda found: replay.to_episode(diagnosis=found, **known)
            )
    if not run.moves:
        return None
    start, actions = Game.from_code(row.code), played(row.code, row.actions, run.settings)

    def page_of(found: Diagnosis | None) -> dict[str, Any]:
        proof = None if found is None else in_page(found, row.outcome)
        return episode(start, actions, outcome=row.outcome, agent=run.policy, proof=proof, **known)

    return _Shown(start, actions, page_of)
