"""The body of ``boulanger bench``: what is played, where it is written, and what is printed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from boulanger_env.agents import AgentSpec, Policy
from boulanger_env.agents.naming import file_stem
from boulanger_env.benchmark.evaluation import evaluate, header_of
from boulanger_env.benchmark.lost_wins import Losses, losses_table
from boulanger_env.benchmark.replay_folder import claim
from boulanger_env.benchmark.results import Results
from boulanger_env.benchmark.runs import RunFile
from boulanger_env.cluster.distributed import evaluate_on
from boulanger_env.cluster.pools import OnRay
from boulanger_env.deals import DealSet, as_deal_set
from boulanger_env.escaping import printable
from boulanger_env.files import files_in
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.outcomes import WON
from boulanger_env.replay.diagnosed import diagnose_within, left_out
from boulanger_env.replay.recording import Games, check_games, replays_in
from boulanger_env.report.document import write_report
from boulanger_env.report.tables import markdown, markdown_caption, markdown_table, rich_table

from .diagnose_runs import find_losses, loss_tables
from .output import print_tables, print_text, progress_bars
from .threads import torch_threads

LOSSES = "losses"
"""The folder in the output folder for what a diagnosis finds, one file per agent."""


class Entry(NamedTuple):
    """One agent of a benchmark."""

    spec: AgentSpec
    policy: Policy
    file: Path | None
    """Where its games are written, if anywhere."""
    replays: Path | None
    """The folder of its replays, if any are kept."""


def bench(
    agents: Sequence[str],
    deals: str | os.PathLike[str],
    *,
    limit: int | None = None,
    seeds: Sequence[int] = (0,),
    sample: bool | None = None,
    output: str | os.PathLike[str] | None = None,
    ray: str | None = None,
    workers: int | None = None,
    record: str | os.PathLike[str] | None = None,
    record_games: Games = "losses",
    moves: bool = False,
    diagnose: bool = False,
    threads: int = 1,
    as_markdown: bool = False,
    color: bool | None = None,
    **settings: Any,
) -> list[Results]:
    """Play a set of deals with each agent, and print a table.

    Args:
        agents: what plays, as ``AgentSpec.parse`` reads it.
        deals: a set's name or file.
        limit: play only the first ``limit`` deals.
        seeds: random seeds; each agent plays every deal once per seed.
        sample: whether models sample their actions; None for as each was saved.
        output: a folder that gets ``NAME.jsonl`` for each agent, game by game, and a report at the end. An interrupted
            run resumes.
        ray: a Ray cluster to play on, see ``OnRay``; it needs ``output``.
        workers: maximum Ray tasks at a time.
        record: a folder for replays of the games, with a subfolder ``NAME`` for each agent.
        record_games: which ones: ``"all"``, ``"losses"``, or a number N, for the first N.
        moves: keep the moves of every game in ``NAME.jsonl``, see ``evaluate``.
        diagnose: find out where each agent threw wins away, for a second table and the report; keeps the moves. What
            is found goes to the folder ``losses`` in the output folder; it resumes, too.
        threads: PyTorch threads; not for a run on Ray, which sets them itself.
        as_markdown: print a Markdown table.
        color: see ``print_tables``.
        settings: keywords of the environment, as ``evaluate`` takes them, for all agents.

    Returns:
        The results in the order of the agents.

    Raises:
        BoulangerError: an agent, the deals or the limit is invalid, two agents have the same name, a folder holds
            another run, or a library is missing. Nothing has been played then.
        OSError: a file cannot be read or written.
    """
    check_games(record_games)
    deal_set = _limited(as_deal_set(deals), limit)
    _check_where(ray, workers, threads, output, record)
    moves = moves or diagnose
    entries = _entries(agents, sample, output, record)
    # An error in the last agent's arguments stops the command before the first agent plays.
    headers = [header_of(entry.policy, deal_set, seeds, settings, moves) for entry in entries]
    if output is not None:
        Path(output).mkdir(parents=True, exist_ok=True)
    for entry, header in zip(entries, headers, strict=True):
        if entry.file is not None and entry.file.exists():
            RunFile(entry.file, header).close()
        if entry.replays is not None:
            claim(entry.replays, header).close()
    pool = None if ray is None else OnRay(ray, workers)

    shared = {"seed": seeds, "moves": moves, **settings}
    results = []
    with progress_bars() as start, torch_threads(threads):
        for entry in entries:
            progress = start(entry.policy.name, len(deal_set) * len(seeds))
            if pool is not None and entry.file is not None:
                run = evaluate_on(pool, entry.spec, deal_set, entry.file, progress=progress, **shared)
            else:
                run = evaluate(
                    entry.policy,
                    deal_set,
                    file=entry.file,
                    record=entry.replays,
                    record_games=record_games,
                    progress=progress,
                    **shared,
                )
            results.append(run)
    found = []
    if diagnose:
        found = find_losses(results, None if output is None else Path(output, LOSSES), pool=pool)
    # Before anything is printed: the reader of the output may be gone.
    said = "" if output is None else _report(results, Path(output), entries, found)
    _show(results, found, as_markdown, color)
    print_text(said)
    if record is not None:
        games = len(files_in(record, "**/*.json"))
        print_text(
            f"The replays are in {printable(str(record))}, {games} in all: boulanger replay makes a page of them\n"
        )
        print_text(_lost_games(entries))
    return results


def _limited(deals: DealSet, limit: int | None) -> DealSet:
    if limit is None:
        return deals
    if limit < 1:
        raise BoulangerError(f"limit {limit} leaves no deal: it must be at least 1")
    return deals[:limit]


def _check_where(ray: str | None, workers: int | None, threads: int, output: Any, record: Any) -> None:
    """Refuse options that do not go with where the games are played."""
    if ray is None:
        if workers is not None:
            raise BoulangerError("workers are for a run on Ray")
        return
    if threads != 1:
        raise BoulangerError(
            f"threads={threads} is for a run without Ray, which sets PyTorch's threads itself"
        )
    if output is None:
        raise BoulangerError("a run on Ray needs an output folder for its shards")
    if record is not None:
        raise BoulangerError("games on Ray are not recorded: record them in a run without it")


def _entries(
    agents: Sequence[str],
    sample: bool | None,
    output: str | os.PathLike[str] | None,
    record: str | os.PathLike[str] | None,
) -> list[Entry]:
    """The agents, loaded, with their files."""
    entries = []
    for agent in agents:
        spec = AgentSpec.parse(agent)
        # One option for all: it says nothing to the package's agents.
        spec = spec if spec.kind == "agent" else replace(spec, sample=sample)
        policy = spec.make()
        stem = file_stem(policy.name)
        file = None if output is None else Path(output, f"{stem}.jsonl")
        entries.append(Entry(spec, policy, file, None if record is None else Path(record, stem)))
    names = [entry.policy.name for entry in entries]
    # Some file systems ignore case.
    if not names or len({name.casefold() for name in names}) < len(names):
        raise BoulangerError(
            f"agents {', '.join(names) or 'none'}: give at least one, and names that differ by more than capitals "
            "(NAME=AGENT gives one)"
        )
    return entries


def _report(
    results: Sequence[Results], folder: Path, entries: Sequence[Entry], found: Sequence[Losses]
) -> str:
    """Write the report, and say where it is."""
    replays = {entry.policy.name: entry.replays for entry in entries if entry.replays is not None}
    report, page = (printable(str(path)) for path in write_report(results, folder, replays, found))
    return f"The report is {report}, the same as a page {page}\n"


def _lost_games(entries: Sequence[Entry]) -> str:
    """Where the recorded games that were not won were lost, a line for each agent, for as many as a minute suffices."""
    recorded = []
    for entry in entries:
        if entry.replays is not None and files_in(entry.replays, "**/*.json"):
            replays = [replay for _, replay in replays_in(entry.replays)]
            recorded.append((entry.policy.name, [one for one in replays if one.outcome != WON]))
    found = diagnose_within((one.start, one.played) for _, lost in recorded for one in lost)
    diagnoses, lines = iter(found), []
    for name, lost in recorded:
        known = [one for _ in lost if (one := next(diagnoses)) is not None]
        steps = sorted(one.losing_move.step for one in known if one.losing_move is not None)
        if steps:
            quarters = ", ".join(str(steps[len(steps) * quarter // 4]) for quarter in (1, 2, 3))
            lines.append(
                f"{printable(name)}: {len(steps)} of {len(known)} games that were not won were lost by a move, at step "
                f"{quarters} (quartiles)\n"
            )
    missing = left_out(found)
    return "".join([*lines, f"{missing}\n" if missing else ""])


def _show(results: Sequence[Results], found: Sequence[Losses], as_markdown: bool, color: bool | None) -> None:
    """Print the tables."""
    names = [run.policy for run in results]
    if as_markdown:
        table = f"\n{markdown_table(losses_table(names, found))}" if found else ""
        print_text(f"{markdown(results)}\n{markdown_caption(results)}\n{table}")
    else:
        print_tables([rich_table(results), *loss_tables(names, found)], color)
