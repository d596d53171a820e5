"""``evaluate`` in pieces, on processes or a Ray cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from boulanger_env.agents import AgentSpec, Policy
from boulanger_env.agents.specs import FILE_DIGESTS
from boulanger_env.benchmark.checks import read_rules, why_impossible
from boulanger_env.benchmark.evaluation import Progress, header_of, play_deals
from boulanger_env.benchmark.reading import check_complete, read
from boulanger_env.benchmark.results import Results
from boulanger_env.benchmark.rows import KINDS, SECONDS, Content, GameRow, Header
from boulanger_env.benchmark.runs import check_same
from boulanger_env.deals import DealSet, load, set_names
from boulanger_env.game.errors import BoulangerError

from .pools import Pool
from .shards import Columns, Shards, ranges

SHARD = 50
_TYPES = {
    **{name: "string" if kind is str else "int64" for name, kind in KINDS.items()},
    "seed": "uint64",
    SECONDS: "double",
}


def evaluate_on(
    pool: Pool,
    spec: AgentSpec,
    deals: DealSet,
    file: Path,
    *,
    seed: int | Sequence[int] = 0,
    shard: int = SHARD,
    progress: Progress | None = None,
    moves: bool = False,
    **settings: Any,
) -> Results:
    """Play every deal of a set, in shards that run in parallel.

    The rows are those of ``evaluate``. Each shard becomes a Parquet file in the folder ``FILE.shards`` beside the file,
    which is written when all are done. An interrupted run resumes with the missing shards.

    Args:
        pool: where to work.
        spec: what plays; the file of a model is read here, and its content sent where it is needed.
        deals: the set.
        file: JSON Lines for the whole run.
        seed: as in ``evaluate``.
        shard: deals per shard.
        progress: called with the number of games done and the total.
        moves: as in ``evaluate``.
        settings: as in ``evaluate``.

    Raises:
        BoulangerError: as ``evaluate``; or a library is missing, or processes died repeatedly.
        OSError: a file cannot be read or written.
    """
    if not pool.shares_files:
        spec = spec.packed()
    header = header_of(spec.make(), deals, seed, settings, moves)
    content = Content(header)
    if file.exists():
        content = read(file)
        check_same(content.header, header, file)
        check_complete(content, file)
        if progress is not None:
            progress(header.games, header.games)
        return Results.of(content, deals.labels)
    named = deals.name in set_names() and load(deals.name) == deals
    jobs: dict[str, tuple[Any, ...]] = {
        f"{each}-{places.start:08d}": (spec, deals.name if named else deals, each, places, header)
        for each in header.seeds
        for places in ranges(len(deals), shard)
    }

    rules = read_rules(header.settings)

    def add(name: str, columns: Columns) -> None:
        fields = zip(*(columns[name] for name in GameRow._fields), strict=True)
        for row in map(GameRow._make, fields):
            if said := why_impossible(row, rules):
                raise BoulangerError(
                    f"{shards.path(name)} is not a shard of this run: {row.code}: no game can end like that: {said}; "
                    "remove it to have it made again"
                )
            content.rows[row.seed, row.place] = row
        content.seconds += sum(columns[SECONDS])
        if progress is not None:
            progress(len(content.rows), header.games)

    with Shards(
        file.with_name(f"{file.stem}.shards"), {**header.as_dict(), "shard": shard}, _TYPES
    ) as shards:
        shards.complete(games, known, jobs, pool, add)
    check_complete(content, file)
    results = Results.of(content, deals.labels)
    results.save(file)
    return results


def games(
    spec: AgentSpec, deals: str | DealSet, seed: int, places: range, header: Header
) -> dict[str, list[Any]]:
    """The rows of one shard, in the order of the set."""
    policy = _made(spec)
    if any(policy.details.get(digest) != header.details.get(digest) for digest in FILE_DIGESTS):
        raise BoulangerError(
            f"{spec.target} is not what this run began with where it was to play now: keep files and modules unchanged "
            "during a run, and install the same ones on all machines"
        )
    deal_set = load(deals) if isinstance(deals, str) else deals
    if deal_set.fingerprint != header.fingerprint:
        raise BoulangerError(
            f"the deals {deal_set.name} are others on the machine that was to play them: install the same version of "
            "boulanger-env there"
        )
    started = time.monotonic()
    rows = sorted(play_deals(policy, deal_set, seed, places, header.settings, moves=header.moves))
    each = (time.monotonic() - started) / len(rows)
    columns: dict[str, list[Any]] = {
        name: list(values) for name, values in zip(GameRow._fields, zip(*rows, strict=True), strict=True)
    }
    return {**columns, SECONDS: [each] * len(rows)}


def known(spec: AgentSpec, deals: str | DealSet, seed: int, places: range, header: Header) -> Columns:
    """The columns of a shard that are known without playing."""
    deal_set = load(deals) if isinstance(deals, str) else deals
    return {
        "place": list(places),
        "code": deal_set.codes[places.start : places.stop],
        "seed": [seed] * len(places),
    }


@lru_cache(maxsize=4)
def _made(spec: AgentSpec) -> Policy:
    return spec.make()
