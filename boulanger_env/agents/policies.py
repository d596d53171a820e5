"""A policy as a benchmark plays it: any agent, callable or model behind one small class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.annotation import Annotation

from .naming import as_name, checked_name, identity, says_which


@dataclass(frozen=True)
class Policy:
    """A policy as ``evaluate`` plays it.

    Attributes:
        name: what results are reported under.
        act: the callable ``(observation, mask, info) -> action``.
        batched: whether it takes batches (masks ``(n, actions)``); otherwise it is called for one game at a time.
        settings: the environment's keywords that it asks for.
        fixed: which of these it cannot play without.
        details: what else identifies it, for the record.
        named: whether the name identifies the policy. If not, a run in a file requires an explicit name.
    """

    name: str
    act: Any
    batched: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    details: Mapping[str, Any] = field(default_factory=dict)
    named: bool = True

    def __post_init__(self) -> None:
        checked_name(self.name)

    def start(self, seed: int) -> None:
        """Seed the policy, if it can be seeded."""
        if hasattr(self.act, "seed"):
            self.act.seed(seed)

    def new_games(self, games: NDArray[np.int64], slots: NDArray[np.int64]) -> None:
        """Notify the policy, if it has a method ``reset``, that slots of the batch hold new games."""
        if hasattr(self.act, "reset"):
            self.act.reset(games=games, slots=slots)

    def annotate(
        self, observation: Any, masks: NDArray[np.int8], info: Mapping[str, Any]
    ) -> Sequence[Annotation | None]:
        """What the policy thinks of each game before it chooses; None for a game without an annotation."""
        if not hasattr(self.act, "annotate"):
            return [None] * len(masks)
        if self.batched:
            found: Sequence[Annotation | None] = self.act.annotate(observation, masks, info)
            return found
        return [self.act.annotate(first_of(observation), masks[0], first_of(info))]


def first_of(batch: Any) -> Any:
    """The first game's part of an observation or info."""
    if not isinstance(batch, Mapping):
        return batch[0]
    return {key: rows[0] for key, rows in batch.items() if not key.startswith("_")}


def policy_of(policy: Any, name: str | None = None) -> Policy:
    """The ``Policy`` of an agent or another callable; one that is a ``Policy`` already gets another name, if given."""
    if isinstance(policy, Policy):
        return policy if name is None else replace(policy, name=name, named=True)
    wanted = {key: getattr(policy, key) for key in ("observation", "allow_undo") if hasattr(policy, key)}
    fixed = frozenset[str]()
    if isinstance(numbering := getattr(policy, "actions", None), str):
        wanted["actions"], fixed = numbering, frozenset({"actions"})
    return Policy(
        name=name or _own_name(policy),
        act=policy,
        batched=bool(getattr(policy, "batched", False)),
        settings=wanted,
        fixed=fixed,
        details=identity(policy),
        named=name is not None or says_which(policy),
    )


def _own_name(policy: Any) -> str:
    given = getattr(policy, "name", None)
    if not isinstance(given, str):
        given = getattr(policy, "__name__", None) or type(policy).__name__
    return as_name(given)
