"""What can be benchmarked, behind one small class: an agent's name, an agent, any callable, a trained model."""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from boulanger_env.envs import N_FEATURES
from boulanger_env.envs.action_maps import N_CARD_ACTIONS
from boulanger_env.game.annotation import Annotation
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError, did_you_mean
from boulanger_env.game.moves import N_ACTIONS

from . import AGENTS, make
from .model_files import PLAYED, load_model, no_policy, way_of_play
from .naming import as_name, checked_name, identity, says_which
from .trained import ModelPlayer


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


def as_policy(policy: Any, name: str | None = None, *, sample: bool | None = None) -> Policy:
    """Make a ``Policy`` of anything that can be benchmarked.

    Args:
        policy: an agent's name, optionally with options (``"greedy"``, ``"heuristic:nodes=30"``); the ``.zip`` of a
            model of Stable-Baselines3 or sb3-contrib, or the model; ``"module:name"``, a policy in a Python module; an
            agent; or any callable ``(observation, mask, info) -> action``. A callable is called for one game at a time,
            unless it has an attribute ``batched = True``; ``observation`` may name the kind that it wants; its
            optional methods ``seed`` and ``reset`` are those of ``agents.Agent``. An optional method
            ``annotate(observation, mask, info)`` says what it thinks before it chooses, as an ``Annotation`` or None
            (for batches: one per game), in games that are recorded; it must not change the choice.
            Loading a ``.zip`` can run code from it: load only files that you trust.
        name: a name to report it under, instead of its own.
        sample: for MaskablePPO's models: True to sample each action from the model's distribution over the actions
            that the mask allows; False to take the likeliest; None for what the model was saved with (see
            ``save_model``), else the likeliest. A policy trained by sampling can go round in circles if it always takes
            the likeliest. The random numbers of a game come from the seed and the game's place in the set.

    Raises:
        BoulangerError: it is none of these, or a model of another environment; or ``sample`` without a model.

    >>> as_policy("heuristic:nodes=30").name
    'heuristic-30'
    """
    if name is not None:
        checked_name(name)
    details: dict[str, Any] = {}
    if isinstance(policy, (str, os.PathLike)):
        text = os.fspath(policy)
        agent, _, options = text.partition(":")
        if agent not in AGENTS:
            if not text:
                raise BoulangerError(no_policy(text))
            if is_file_name(text):
                return model_in_file(Path(policy), name, sample=sample)
            found = as_policy(_imported(text), name or as_name(options), sample=sample)
            return replace(found, details={"object": text, **_source(agent), **found.details})
        details = _options(text, options)
        policy = make(agent, **details)
    elif hasattr(policy, "predict") and hasattr(policy, "observation_space"):
        return _model_policy(policy, name or as_name(type(policy).__name__), _weights(policy), sample)
    elif callable(policy):
        details = identity(policy)
    if sample is not None:
        raise BoulangerError(f"sample is for trained models, and {shown(policy)} is not one")
    if isinstance(policy, Policy):
        return policy if name is None else replace(policy, name=name, named=True)
    if not callable(policy):
        raise BoulangerError(
            f"{shown(policy)} is not a policy: give an agent's name ({', '.join(AGENTS)}), a model or its .zip, "
            "module:name, or a callable (observation, mask, info) -> action"
        )
    wanted = {key: getattr(policy, key) for key in ("observation", "allow_undo") if hasattr(policy, key)}
    return Policy(
        name=name or _own_name(policy),
        act=policy,
        batched=bool(getattr(policy, "batched", False)),
        settings=wanted,
        details=details,
        named=name is not None or says_which(policy),
    )


def is_file_name(policy: str | os.PathLike[str]) -> bool:
    """Whether a text names a file: not an agent, whatever files exist, and not ``module:name``."""
    text = os.fspath(policy)
    return text.split(":", 1)[0] not in AGENTS and not _names_an_object(text)


def model_in_file(
    path: Path, name: str | None = None, content: bytes | None = None, *, sample: bool | None = None
) -> Policy:
    """The model in a ``.zip``, as a ``Policy``; its content may have been read before."""
    model, details = load_model(path, content)
    return _model_policy(model, name or as_name(path.name), details, sample)


def _own_name(policy: Any) -> str:
    given = getattr(policy, "name", None)
    if not isinstance(given, str):
        given = getattr(policy, "__name__", None) or type(policy).__name__
    return as_name(given)


def _options(policy: str, options: str) -> dict[str, Any]:
    """Parse the options after an agent's name: ``nodes=30,quality=any``."""
    chosen: dict[str, Any] = {}
    for option in filter(None, options.split(",")):
        key, equals, value = (part.strip() for part in option.partition("="))
        if not equals or not key:
            raise BoulangerError(f"policy {policy!r}: {option!r} is not an option; right would be nodes=30")
        if key in chosen:
            raise BoulangerError(f"policy {policy!r}: the option {key!r} is given twice")
        try:
            chosen[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            chosen[key] = value
    return chosen


def _names_an_object(text: str) -> bool:
    """Whether it has the form ``module:name``, which no path to a ``.zip`` has (not ``C:\\model.zip`` either)."""
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def _imported(text: str) -> Any:
    """The object ``module:name``; a class is instantiated."""
    module, _, name = text.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as python -m does: finds a module in the user's folder
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise BoulangerError(f"policy {text!r}: there is no module {error.name!r}") from None
    except (Exception, SystemExit) as error:
        raise BoulangerError(
            f"policy {text!r}: importing {module} fails: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(loaded, name):
        near = did_you_mean(name, [key for key in vars(loaded) if not key.startswith("_")])
        raise BoulangerError(f"policy {text!r}: module {module} has no {name!r}{near}")
    found = getattr(loaded, name)
    if not isinstance(found, type):
        return found
    try:
        return found()
    except (Exception, SystemExit) as error:
        raise BoulangerError(f"policy {text!r}: {name}() fails: {type(error).__name__}: {error}") from error


def _source(module: str) -> dict[str, str]:
    """A digest of an imported module's file, if it has one: what it makes at its end is not in its functions' code."""
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        return {}
    return {"source": hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]}


def _model_policy(model: Any, name: str, details: Mapping[str, Any], sample: bool | None) -> Policy:
    way = way_of_play(model)
    other = [wrapper for wrapper in way.wrappers if wrapper not in PLAYED]
    if other:
        raise BoulangerError(
            f"model {name} was trained under {other[0]}, which a benchmark does not put around its games: "
            "benchmark a callable that does the same to the observation and the action; or save the model with "
            "save_model(..., wrappers=[]), if the wrapper changes neither"
        )
    if not all(bool(weights.isfinite().all()) for weights in model.policy.state_dict().values()):
        raise BoulangerError(
            f"model {name} has weights that are not finite numbers: its training diverged, and it plays nothing"
        )
    actions = int(getattr(model.action_space, "n", 0))
    widths = (N_ACTIONS, N_ACTIONS + 1, N_CARD_ACTIONS, N_CARD_ACTIONS + 1)
    if actions not in widths:
        raise BoulangerError(
            f"model {name} has the action space {model.action_space}: it must have {N_ACTIONS} actions, or "
            f"{N_CARD_ACTIONS} (CardActions), and one more with undo"
        )
    observation = _observation_kind(model.observation_space)
    if observation is None:
        raise BoulangerError(
            f"model {name} has an observation space that is neither 'features' nor 'cards': "
            f"{model.observation_space}"
        )
    undo = actions in (N_ACTIONS + 1, N_CARD_ACTIONS + 1)
    auto_foundation = "AutoFoundation" in way.wrappers
    if undo and auto_foundation:
        raise BoulangerError(
            f"model {name} was trained under AutoFoundation with undo: no benchmark plays that"
        )
    sample = way.sample if sample is None else sample
    return Policy(
        name=name,
        act=ModelPlayer(model, actions, sample, auto_foundation),
        batched=True,
        settings={**way.settings, "observation": observation, "allow_undo": undo},
        fixed=frozenset({"observation", "allow_undo"}),
        details={**details, "sample": sample, **({"wrappers": list(way.wrappers)} if way.wrappers else {})},
    )


def _weights(model: Any) -> dict[str, str]:
    """What identifies a model in memory: a digest of its weights."""
    digest = hashlib.sha256()
    for key, weights in sorted(model.policy.state_dict().items()):
        digest.update(key.encode() + weights.detach().cpu().numpy().tobytes())
    return {"weights": digest.hexdigest()[:16]}


def _observation_kind(space: Any) -> str | None:
    if isinstance(space, spaces.Box) and space.shape == (N_FEATURES,):
        return "features"
    if isinstance(space, spaces.Dict) and {"tableau", "cells", "foundations"} == set(space.spaces):
        return "cards"
    return None
