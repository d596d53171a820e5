"""``boulanger compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import Color, Markdown, look_of


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Files that bench wrote, on the same deals.")],
    output: Annotated[Path | None, typer.Option(help="Folder for the full report.")] = None,
    markdown: Markdown = False,
    color: Color = None,
) -> None:
    """Compare finished runs deal by deal.

    Uses McNemar's exact test, with bootstrap intervals for the differences.

    \b
    Example:
      boulanger compare runs/bench/greedy.jsonl runs/bench/heuristic.jsonl
    """
    from .compare_runs import compare_files

    compare_files(runs, output=output, as_markdown=markdown, color=look_of(False, color).color)
