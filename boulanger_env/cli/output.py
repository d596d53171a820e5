"""What the commands print: text, tables and progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from boulanger_env.benchmark.evaluation import Progress
from boulanger_env.escaping import LONGEST_NAME, printable
from boulanger_env.game.errors import BoulangerError

StartProgress = Callable[[str, int], Progress]
"""Starts a progress bar, from its label and the total; returns the callback that moves it."""


def print_text(text: str) -> None:
    """Write a text to standard output, without the signs that its encoding lacks."""
    try:
        "±".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = text.replace("±", "+-")
    sys.stdout.write(text)


def print_tables(tables: Sequence[Any], color: bool | None = None) -> None:
    """Print tables from ``rich_table``, at full width if the output is not a terminal.

    Args:
        tables: for ``rich``'s ``print``.
        color: whether there may be colours and styles; None = in a terminal only.
    """
    from rich.console import Console

    console = Console(no_color=color is False, force_terminal=color or None)
    if not console.is_terminal:
        # A file has no width to fit.
        endless = console.options.update(max_width=100_000)
        console.width = max(
            console.width, *(console.measure(table, options=endless).maximum for table in tables)
        )
    with console.capture() as capture:
        for table in tables:
            console.print(table)
    print_text(capture.get())


@contextmanager
def progress_bars() -> Iterator[StartProgress]:
    """Progress bars on standard error, if that is a terminal."""
    try:
        from rich import progress as rich_progress
        from rich.console import Console
    except ModuleNotFoundError:
        raise BoulangerError('this command needs rich: pip install "boulanger-env[cli]"') from None
    columns = (
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with rich_progress.Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:

        def start(name: str, total: int) -> Progress:
            task = bar.add_task(printable(name, LONGEST_NAME), total=total)
            return lambda done, _: bar.update(task, completed=done)

        yield start
