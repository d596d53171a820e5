"""``boulanger label``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import Ray, stopped


def label(
    codes: Annotated[
        str,
        typer.Option(help="BK1-C4 for random deals, a code to start from it, or a deal set by name or file."),
    ],
    count: Annotated[int | None, typer.Option(min=1, help="How many deals.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of random deals.")] = 0,
    output: Annotated[
        Path | None, typer.Option(help="Folder for Parquet shards. An interrupted run resumes.")
    ] = None,
    ray: Ray = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes, or Ray tasks, at a time. [default: one per core]"),
    ] = None,
    node_limit: Annotated[int | None, typer.Option(min=1, help="Maximum positions per deal.")] = None,
    shard: Annotated[int, typer.Option(min=1, help="Deals per shard.")] = 10_000,
) -> None:
    """Find out which deals can be won.

    Prints the share that can be won, with its 95 % interval.

    \b
    Examples:
      boulanger label --codes BK1-C4 --count 100000
      boulanger label --codes MS-C2-1 --count 32000 --output runs/ms-c2
      boulanger label --codes BK1-C4 --count 1000000 --output runs/million --ray auto
    """
    from .label_deals import label_codes

    try:
        label_codes(
            codes,
            count=count,
            seed=seed,
            output=output,
            ray=ray,
            workers=workers,
            node_limit=node_limit,
            shard=shard,
        )
    except KeyboardInterrupt:
        stopped(output is not None)
