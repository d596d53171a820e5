"""The body of ``boulanger label``."""

from __future__ import annotations

import os
from pathlib import Path

from boulanger_env.cluster.pools import as_pool
from boulanger_env.cluster.winnability import SHARD, Winnability, as_sample, label
from boulanger_env.game.errors import BoulangerError

from .output import print_text, progress_bars


def label_codes(
    source: str,
    *,
    count: int | None = None,
    seed: int = 0,
    output: str | os.PathLike[str] | None = None,
    ray: str | None = None,
    workers: int | None = None,
    node_limit: int | None = None,
    shard: int = SHARD,
) -> Winnability:
    """Find out which deals can be won, and print their share.

    Args:
        source: the deals, see ``as_sample``.
        count: how many.
        seed: random seed of random deals.
        output: a folder for Parquet shards; an interrupted run resumes.
        ray: a Ray cluster, see ``OnRay``; None for processes on this machine.
        workers: processes, or Ray tasks, at a time; None for one per core.
        node_limit: maximum positions per deal.
        shard: deals per shard.

    Raises:
        BoulangerError: an argument is invalid, the folder holds another run, or a library is missing.
        OSError: a file cannot be written.
    """
    sample = as_sample(source, count, seed)
    if shard < 1:
        raise BoulangerError(f"shard {shard} holds no deal: it must be at least 1")
    with progress_bars() as start:
        found = label(
            sample,
            folder=None if output is None else Path(output),
            pool=as_pool(ray, workers),
            node_limit=node_limit,
            shard=shard,
            progress=start(source, sample.count),
        )
    value, low, high = (100 * (number or 0) for number in found.share)
    known = found.deals - found.unknown
    unknown = f"; {found.unknown} without a verdict" if found.unknown else ""
    print_text(
        f"{found.solvable} of {known} deals can be won: {value:.3f} % [{low:.3f}, {high:.3f}]{unknown}; "
        f"{found.nodes / found.deals:,.0f} positions a deal\n"
    )
    return found
