"""The body of ``boulanger bench``: several agents on one set of deals, a progress bar, a table, result files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from boulanger_env.agents import AGENTS
from boulanger_env.deals import as_deal_set
from boulanger_env.game.errors import BoulangerError
from boulanger_env.replay.recording import Games

from .evaluate import Progress, evaluate
from .policies import as_policy
from .report import caption, markdown, rich_table
from .results import Results

Report = Callable[[str], Progress]
"""Starts the progress of one agent: from its name to what ``evaluate`` calls."""


def bench(
    agents: Sequence[str],
    deals: str | os.PathLike[str],
    *,
    limit: int | None = None,
    seed: int = 0,
    sample: bool = False,
    output: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    record_games: Games = "losses",
    as_markdown: bool = False,
    color: bool | None = None,
) -> list[Results]:
    """Play a set of deals with each agent, and print a table.

    Args:
        agents: names of agents, or ``.zip`` files of models.
        deals: a set's name or file.
        limit: only so many deals, from the first.
        seed: of all chance.
        sample: models draw their actions by their probabilities, instead of taking the likeliest.
        output: where to save: with one agent a JSON file; with several a folder, which gets ``NAME.json`` for each.
            An agent's file is written as soon as it has played.
        record: a folder for replays of the games; with several agents it gets a folder ``NAME`` for each.
        record_games: which ones: ``"all"``, ``"losses"``, or how many, from the first.
        as_markdown: print a Markdown table.
        color: whether the table may have colours and styles; None = in a terminal only.

    Returns:
        The results in the order of the agents.

    Raises:
        BoulangerError: an agent, the deals or the limit is not one, two agents have one name, or a library is missing.
        OSError: a file cannot be read or written.
    """
    deal_set = as_deal_set(deals)
    if limit is not None:
        if limit < 1:
            raise BoulangerError(f"limit {limit} leaves no deal: it must be at least 1")
        deal_set = deal_set[:limit]
    policies = [as_policy(agent, sample=sample and agent not in AGENTS) for agent in agents]
    names = [policy.name for policy in policies]
    if not names or len(set(names)) < len(names):
        raise BoulangerError(f"agents {', '.join(names) or 'none'}: give at least one, each only once")
    files = _files(output, names)

    results = []
    with _progress(len(deal_set)) as start:
        for policy, file in zip(policies, files, strict=True):
            replays = None if record is None else Path(record, policy.name if len(names) > 1 else "")
            results.append(
                evaluate(
                    policy,
                    deal_set,
                    seed=seed,
                    progress=start(policy.name),
                    record=replays,
                    record_games=record_games,
                )
            )
            if file is not None:
                results[-1].save(file)
    text = f"{markdown(results)}\n{caption(results)}\n" if as_markdown else _for_terminal(results, color)
    try:
        "±".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = text.replace("±", "+-")
    sys.stdout.write(text)
    return results


def _for_terminal(results: Sequence[Results], color: bool | None) -> str:
    from rich.console import Console

    console = Console(no_color=color is False, force_terminal=color or None)
    with console.capture() as capture:
        console.print(rich_table(results))
    return capture.get()


def _files(output: str | os.PathLike[str] | None, names: Sequence[str]) -> list[Path | None]:
    """Where each agent's results go; checked before anything is played."""
    if output is None:
        return [None] * len(names)
    path = Path(output)
    if len(names) == 1:
        if path.is_dir():
            raise BoulangerError(
                f"{path} is a folder: with one agent, the output is a file, such as results.json"
            )
        if not path.parent.is_dir():
            raise BoulangerError(f"there is no folder {path.parent} to save {path.name} in")
        return [path]
    path.mkdir(parents=True, exist_ok=True)
    return [path / f"{name}.json" for name in names]


@contextmanager
def _progress(total: int) -> Iterator[Report]:
    """A progress bar on the standard error, where that is a terminal."""
    try:
        from rich import progress as rich_progress
        from rich.console import Console
    except ModuleNotFoundError:
        raise BoulangerError('the bench command needs rich: pip install "boulanger-env[cli]"') from None
    columns = (
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with rich_progress.Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:

        def start(name: str) -> Progress:
            task = bar.add_task(name, total=total)
            return lambda done, _: bar.update(task, completed=done)

        yield start
