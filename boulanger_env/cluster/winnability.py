"""Verdicts on many deals, and the share of them that can be won."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boulanger_env.agents.base import checked_seed
from boulanger_env.benchmark.statistics import Estimate, share
from boulanger_env.deals import SCHEMES, DealSet, as_deal_set, format_code, parse_code
from boulanger_env.envs.sampling import stream_state
from boulanger_env.game import Game
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.state import CELL_COUNTS
from boulanger_env.solver import SOLVED, UNSOLVABLE, solve

from .pools import Pool, Processes
from .shards import Columns, Shards, ranges

FORMAT = "boulanger-env labels 1"
SHARD = 10_000
_MARKED = 1000  # deals
_TYPES = {"code": "string", "solvable": "bool", "nodes": "int64"}


@dataclass(frozen=True)
class Sample:
    """Deals to label; the codes of any part can be computed without the others.

    Attributes:
        source: what was asked for; a set's name.
        count: how many deals.
        seed: of random deals, else None.
        scheme, n_cells: of random and of consecutive deals.
        first: the first deal's number, None for random ones.
        listed: the codes, if they come from a set.
    """

    source: str
    count: int
    seed: int | None = None
    scheme: str = ""
    n_cells: int = 0
    first: int | None = None
    listed: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A set's own fingerprint; for other deals, that of the first thousand.

        Their seed or first code identifies them; the fingerprint shows whether they are still drawn the same way.
        """
        return DealSet(self.source, self.listed or self.codes(range(min(self.count, _MARKED)))).fingerprint

    def codes(self, places: range) -> list[str]:
        """The codes at some places."""
        if self.listed:
            return list(self.listed[places.start : places.stop])
        if self.first is not None:
            return [format_code(self.scheme, self.n_cells, self.first + i) for i in places]
        return [format_code(self.scheme, self.n_cells, self._drawn(i)) for i in places]

    def _drawn(self, place: int) -> int:
        # Compiled code returns its uint64 as a plain int.
        state = np.uint64(stream_state(np.uint64(self.seed or 0), np.uint64(place)))
        return int(SCHEMES[self.scheme].draw(state)[1])


def as_sample(source: str, count: int | None = None, seed: int = 0) -> Sample:
    """The deals that a short text names.

    Args:
        source: a scheme and cells (``BK1-C4``) for random deals, drawn as environments draw them: without the codes
            reserved for evaluation; a code (``BK1-C4-AAAAAAA``) for that deal and those after it; or a set's name or
            file.
        count: how many; not needed for a set.
        seed: of random deals; deal ``i`` depends on ``seed`` and ``i`` alone.

    Raises:
        BoulangerError: the source is none of these, the count is missing or out of range, or the seed is invalid.

    >>> as_sample("MS-C4-9", 3).codes(range(1, 3))
    ['MS-C4-10', 'MS-C4-11']
    """
    scheme, _, cells = source.strip().upper().partition("-")
    seed = checked_seed(seed)
    if count is not None and count < 1:
        raise BoulangerError(f"count {count} leaves no deal: it must be at least 1")
    if scheme in SCHEMES:
        if count is None:
            raise BoulangerError(
                f"{source} goes on without end: a count (--count 1000) must say how many deals"
            )
        if cells in {f"C{n}" for n in CELL_COUNTS}:
            return Sample(f"{scheme}-{cells}", count, seed, scheme, int(cells[1:]))
        code = parse_code(source)
        format_code(code.scheme, code.n_cells, code.number + count - 1)  # refuses numbers beyond the last
        return Sample(str(code), count, None, *code)
    deals = as_deal_set(source)[:count]
    return Sample(deals.name, len(deals), listed=deals.codes)


class Winnability(NamedTuple):
    """How many deals of a sample can be won."""

    deals: int
    solvable: int
    unknown: int
    """Deals on which the node limit was reached before a verdict."""
    nodes: int
    """Positions that all the verdicts took."""
    share: Estimate
    """The share of solvable deals among those with a verdict. The interval is Wilson's, widened by the unknown deals:
    from none of them being solvable to all of them."""


def label(
    sample: Sample,
    *,
    folder: Path | None = None,
    pool: Pool | None = None,
    node_limit: int | None = None,
    shard: int = SHARD,
    progress: Callable[[int, int], None] | None = None,
) -> Winnability:
    """Find out which deals can be won.

    Args:
        sample: the deals, see ``as_sample``.
        folder: gets a Parquet file for every ``shard`` deals, with ``code``, ``solvable`` (null if unknown)
            and ``nodes``. An interrupted run resumes. None: only compute the share.
        pool: where to work; None for this process.
        node_limit: maximum positions per deal, None for no limit.
        shard: deals per shard.
        progress: called with the number of deals done and the total.

    Raises:
        BoulangerError: the folder holds another run, a library is missing, or processes died repeatedly.
        OSError: a file cannot be written.

    >>> label(as_sample("MS-C4-1", 10))[:3]
    (10, 9, 0)
    """
    from boulanger_env import __version__

    jobs: dict[str, tuple[Any, ...]] = {
        f"{places.start:012d}": (sample, places, node_limit) for places in ranges(sample.count, shard)
    }
    done = solvable = unknown = nodes = 0

    def add(_: str, columns: Columns) -> None:
        nonlocal done, solvable, unknown, nodes
        verdicts = columns["solvable"]
        done += len(verdicts)
        solvable += sum(verdict is True for verdict in verdicts)
        unknown += sum(verdict is None for verdict in verdicts)
        nodes += sum(columns["nodes"])
        if progress is not None:
            progress(done, sample.count)

    pool = pool or Processes(1)
    if folder is None:
        for name, columns in pool.run(verdicts, jobs):
            add(name, columns)
    else:
        run = {
            "format": FORMAT,
            "version": __version__,
            "deals": {
                "name": sample.source,
                "seed": sample.seed,
                "count": sample.count,
                "fingerprint": sample.fingerprint,
            },
            "node_limit": node_limit,
            "shard": shard,
        }
        with Shards(folder, run, _TYPES, nullable={"solvable"}) as shards:
            shards.complete(verdicts, known, jobs, pool, add)
    return Winnability(done, solvable, unknown, nodes, _share(done, solvable, unknown))


def verdicts(sample: Sample, places: range, node_limit: int | None) -> dict[str, list[Any]]:
    """The rows of one shard."""
    known = {SOLVED: True, UNSOLVABLE: False}
    codes = sample.codes(places)
    solutions = [solve(Game.from_code(code), node_limit) for code in codes]
    return {
        "code": codes,
        "solvable": [known.get(solution.status) for solution in solutions],
        "nodes": [solution.nodes for solution in solutions],
    }


def known(sample: Sample, places: range, node_limit: int | None) -> Columns:
    """The columns of a shard that are known without any work."""
    return {"code": sample.codes(places)}


def _share(deals: int, solvable: int, unknown: int) -> Estimate:
    low, high = share(solvable, deals), share(solvable + unknown, deals)
    return Estimate(solvable / max(1, deals - unknown), low.low, high.high)
