"""``evaluate`` in pieces, on processes or a Ray cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from boulanger_env.agents.policies import Policy, as_policy, is_file_name, model_in_file
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


@dataclass(frozen=True)
class Recipe:
    """A policy as it is sent to another machine: the arguments of ``as_policy``, and a model's file itself.

    Attributes:
        policy: an agent with its options, a model's file or ``module:name``.
        name: what it is reported under, None for its own name.
        sample: see ``as_policy``.
        model: the content of the model's file, if it is one.
    """

    policy: str
    name: str | None = None
    sample: bool | None = None
    model: bytes | None = None

    @classmethod
    def of(cls, policy: str, name: str | None = None, sample: bool | None = None) -> Recipe:
        """A recipe with the model's file, if it is one."""
        file = is_file_name(policy) and os.path.isfile(policy)
        return cls(policy, name, sample, Path(policy).read_bytes() if file else None)

    def make(self) -> Policy:
        """The policy."""
        if self.model is None:
            return as_policy(self.policy, self.name, sample=self.sample)
        return model_in_file(Path(self.policy), self.name, self.model, sample=self.sample)


def evaluate_on(
    pool: Pool,
    recipe: Recipe,
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
        recipe: the policy.
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
    header = header_of(recipe.make(), deals, seed, settings, moves)
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
        f"{each}-{places.start:08d}": (recipe, deals.name if named else deals, each, places, header)
        for each in header.seeds
        for places in ranges(len(deals), shard)
    }

    rules = read_rules(header.settings)

    def add(name: str, columns: Columns) -> None:
        fields = zip(*(columns[name] for name in GameRow._fields), strict=True)
        for row in map(GameRow._make, fields):
            if said := why_impossible(row, rules):
                raise BoulangerError(
                    f"{shards.path(name)} is not a shard of this run: {row.code}: no game ends so: {said}; remove it "
                    "to have it made again"
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
    recipe: Recipe, deals: str | DealSet, seed: int, places: range, header: Header
) -> dict[str, list[Any]]:
    """The rows of one shard, in the order of the set."""
    player = _made(recipe)
    deal_set = load(deals) if isinstance(deals, str) else deals
    if deal_set.fingerprint != header.fingerprint:
        raise BoulangerError(
            f"the deals {deal_set.name} are others on the machine that was to play them: install the same version of "
            "boulanger-env there"
        )
    started = time.monotonic()
    rows = sorted(play_deals(player, deal_set, seed, places, header.settings, moves=header.moves))
    each = (time.monotonic() - started) / len(rows)
    columns: dict[str, list[Any]] = {
        name: list(values) for name, values in zip(GameRow._fields, zip(*rows, strict=True), strict=True)
    }
    return {**columns, SECONDS: [each] * len(rows)}


def known(recipe: Recipe, deals: str | DealSet, seed: int, places: range, header: Header) -> Columns:
    """The columns of a shard that are known without playing."""
    deal_set = load(deals) if isinstance(deals, str) else deals
    return {
        "place": list(places),
        "code": deal_set.codes[places.start : places.stop],
        "seed": [seed] * len(places),
    }


@lru_cache(maxsize=4)
def _made(recipe: Recipe) -> Policy:
    return recipe.make()
