"""What can be benchmarked, behind one small class: an agent's name, an agent, any callable, a trained model."""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from boulanger_env.agents import AGENTS, make
from boulanger_env.envs import N_FEATURES
from boulanger_env.envs.action_maps import N_CARD_ACTIONS
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.moves import N_ACTIONS
from boulanger_env.render.html import Annotation

from .models import ModelPlayer, load_model


@dataclass(frozen=True)
class Policy:
    """A policy as ``evaluate`` plays it.

    Attributes:
        name: what results are reported under.
        act: the callable ``(observation, mask, info) -> action``.
        batched: whether it takes batches (masks ``(n, actions)``); else it is called for one game at a time.
        observation: the observation it wants, ``"features"`` or ``"cards"``.
        allow_undo: whether it wants the action for undo.
        details: what else identifies it, for the record.
    """

    name: str
    act: Any
    batched: bool
    observation: str = "features"
    allow_undo: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    def start(self, seed: int) -> None:
        """Seed the policy, if it can be seeded."""
        if hasattr(self.act, "seed"):
            self.act.seed(seed)

    def new_games(self, games: NDArray[np.int64], slots: NDArray[np.int64]) -> None:
        """Tell the policy, if it asks for that, that slots of the batch hold new games."""
        if hasattr(self.act, "reset"):
            self.act.reset(games=games, slots=slots)

    def annotate(
        self, observation: Any, masks: NDArray[np.int8], info: Mapping[str, Any]
    ) -> Sequence[Annotation | None]:
        """What the policy thinks of each game before it chooses, if it can say that; None where it says nothing."""
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


def as_policy(policy: Any, name: str | None = None, *, sample: bool = False) -> Policy:
    """Whatever can be benchmarked, as a ``Policy``.

    Args:
        policy: an agent's name, with options if need be (``"greedy"``, ``"heuristic:nodes=30"``); the ``.zip`` of a
            model of Stable-Baselines3 or sb3-contrib, or the model; ``"module:name"``, a policy in a Python module; an
            agent; or any callable ``(observation, mask, info) -> action``. A callable is called for one game at a time,
            unless it has an attribute ``batched = True``; ``observation`` may name the kind that it wants; its methods
            ``seed`` and ``reset``, if it has them, are those of ``agents.Agent``. A method
            ``annotate(observation, mask, info)`` tells what it thinks before it chooses, as an ``Annotation`` or None
            (for batches: one for each game), for the games that are recorded; it must not change what is chosen.
        name: what to report it under, instead of its own name.
        sample: a model draws its actions by their probabilities, instead of taking the likeliest. A policy that was
            trained by sampling can go round in circles when it only ever takes the likeliest.

    Raises:
        BoulangerError: it is none of these, or a model of another environment; or ``sample`` for what is no model.

    >>> as_policy("heuristic:nodes=30").name
    'heuristic-30'
    """
    if isinstance(policy, Policy):
        return policy
    details: dict[str, Any] = {}
    if isinstance(policy, str) and policy.split(":", 1)[0] in AGENTS:
        agent, _, options = policy.partition(":")
        details = _options(policy, options)
        policy = make(agent, **details)
    elif isinstance(policy, str) and _names_an_object(policy):
        name = name or policy.split(":")[1]
        details = {"object": policy}
        policy = _imported(policy)
    elif isinstance(policy, (str, os.PathLike)):
        model, details = load_model(Path(policy))
        return _model_policy(model, name or Path(policy).name, details, sample)
    if hasattr(policy, "predict") and hasattr(policy, "observation_space"):
        return _model_policy(policy, name or type(policy).__name__, details, sample)
    if sample:
        raise BoulangerError(f"sample is for trained models, and {policy!r} is none")
    if not callable(policy):
        raise BoulangerError(
            f"{policy!r} is no policy: give an agent's name ({', '.join(AGENTS)}), a model or its .zip, module:name, "
            "or a callable (observation, mask, info) -> action"
        )
    return Policy(
        name=name
        or getattr(policy, "name", None)
        or getattr(policy, "__name__", None)
        or type(policy).__name__,
        act=policy,
        batched=bool(getattr(policy, "batched", False)),
        observation=getattr(policy, "observation", "features"),
        allow_undo=bool(getattr(policy, "allow_undo", False)),
        details=details,
    )


def _options(policy: str, options: str) -> dict[str, Any]:
    """What stands behind an agent's name: ``nodes=30,quality=any``."""
    chosen = {}
    for option in filter(None, options.split(",")):
        key, equals, value = (part.strip() for part in option.partition("="))
        if not equals or not key:
            raise BoulangerError(f"policy {policy!r}: {option!r} is no option; right would be nodes=30")
        try:
            chosen[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            chosen[key] = value
    return chosen


def _names_an_object(text: str) -> bool:
    """Whether it has the form ``module:name``, which no path to a ``.zip`` has (not ``C:\\model.zip`` either)."""
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def _imported(text: str) -> Any:
    """The object ``module:name``; a class is called for one."""
    module, _, name = text.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as python -m has it: a module beside the user's other files
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise BoulangerError(f"policy {text!r}: there is no module {error.name!r}") from None
    if not hasattr(loaded, name):
        raise BoulangerError(f"policy {text!r}: module {module} has no {name!r}")
    found = getattr(loaded, name)
    return found() if isinstance(found, type) else found


def _model_policy(model: Any, name: str, details: Mapping[str, Any], sample: bool) -> Policy:
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
            f"model {name} has an observation space that is neither 'features' nor 'cards': {model.observation_space}"
        )
    return Policy(
        name=name,
        act=ModelPlayer(model, actions, sample),
        batched=True,
        observation=observation,
        allow_undo=actions in (N_ACTIONS + 1, N_CARD_ACTIONS + 1),
        details={**details, "sample": sample},
    )


def _observation_kind(space: Any) -> str | None:
    if isinstance(space, spaces.Box) and space.shape == (N_FEATURES,):
        return "features"
    if isinstance(space, spaces.Dict) and {"tableau", "cells", "foundations"} == set(space.spaces):
        return "cards"
    return None
