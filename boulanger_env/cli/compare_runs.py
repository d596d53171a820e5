"""The body of ``boulanger compare``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from boulanger_env.benchmark.comparison import compare
from boulanger_env.benchmark.results import Results
from boulanger_env.report.document import write_report
from boulanger_env.report.tables import (
    PAIRED,
    as_rich,
    comparison_table,
    markdown,
    markdown_caption,
    markdown_table,
    rich_table,
)

from .output import print_tables, print_text


def compare_files(
    files: Sequence[str | os.PathLike[str]],
    *,
    output: str | os.PathLike[str] | None = None,
    as_markdown: bool = False,
    color: bool | None = None,
) -> None:
    """Print a table of finished runs and their paired comparison.

    Args:
        files: JSON Lines of runs on the same deals, with the same number of seeds each.
        output: a folder for the full report.
        as_markdown: print Markdown tables.
        color: see ``print_tables``.

    Raises:
        BoulangerError: the runs cannot be compared, or a file is not a run.
        OSError: a file cannot be read or written.
    """
    results = [Results.load(file) for file in files]
    pairs = compare(results)
    if output is not None:
        write_report(results, Path(output))
    if as_markdown:
        table = markdown_table(comparison_table(pairs), 2)
        print_text(f"{markdown(results)}\n{markdown_caption(results)}\n\n{table}")
    else:
        print_tables(
            [rich_table(results), as_rich(comparison_table(pairs, narrow=True), PAIRED, text_columns=2)],
            color,
        )
