"""What is to play, read in one place: ``AgentSpec`` for text, ``as_policy`` for anything."""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from boulanger_env.escaping import printable
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError, did_you_mean

from .catalog import AGENTS, make
from .model_files import load_model
from .naming import as_name, checked_name
from .policies import Policy, policy_of
from .trained import is_model, model_policy

FILE_DIGESTS = ("model", "source")
"""Details of a policy that are digests of the file that it was loaded from."""


@dataclass(frozen=True)
class AgentSpec:
    """What is to play, as written on a command line: ``NAME=heuristic:nodes=30``.

    It is one of the package's agents with its options, a model's file, or ``module:name``, an object in a Python
    module. The name of a package agent always means that agent: a file is named with its suffix or by a path
    (``greedy.zip``, ``./greedy``).

    A spec is plain data: it can be hashed, compared and sent to another machine. Nothing is loaded until ``make``.

    Attributes:
        kind: ``"agent"``, ``"file"`` or ``"object"``.
        target: the agent's name, the file's path, or ``module:name``.
        options: the agent's options, as pairs of a name and a value.
        name: what results are reported under; None for the policy's own name.
        sample: whether a model samples its actions, see ``as_policy``.
        content: the content of the model's file, if it travels along; see ``packed``.

    Raises:
        BoulangerError: the name is invalid.

    >>> spec = AgentSpec.parse("quick=heuristic:nodes=30")
    >>> spec.kind, spec.target, spec.options, spec.name
    ('agent', 'heuristic', (('nodes', 30),), 'quick')
    >>> spec.make().act.nodes
    30
    >>> AgentSpec.parse("runs/first/model.zip").kind, AgentSpec.parse("my_module:policy").kind
    ('file', 'object')
    """

    kind: Literal["agent", "file", "object"]
    target: str
    options: tuple[tuple[str, Any], ...] = ()
    name: str | None = None
    sample: bool | None = None
    content: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.name is not None:
            checked_name(self.name)

    @classmethod
    def parse(cls, text: str | os.PathLike[str]) -> AgentSpec:
        """Read ``[NAME=]AGENT[:OPTION=VALUE,...]``, ``[NAME=]FILE`` or ``[NAME=]MODULE:NAME``.

        A path object is a file, whatever it is called. A file with ``=`` in its name needs a path: ``./lr=0.1.zip``.

        Raises:
            BoulangerError: it is none of these, or the name or the options are malformed.
        """
        if isinstance(text, os.PathLike):
            return cls("file", os.fspath(text))
        name, target = _name_and_rest(text)
        agent, _, options = target.partition(":")
        if agent in AGENTS:
            return cls("agent", agent, _options(target, options), name)
        if _names_an_object(target):
            return cls("object", target, name=name)
        if Path(target).suffix or Path(target).name != target:
            return cls("file", target, name=name)
        raise BoulangerError(_nothing(text, target))

    def packed(self) -> AgentSpec:
        """The same with the content of its file, if it is one: for a machine that does not have the file.

        Raises:
            BoulangerError: there is no such file.
            OSError: the file cannot be read.
        """
        if self.kind != "file" or self.content is not None:
            return self
        return replace(self, content=self._read())

    def make(self) -> Policy:
        """Load what it names.

        Loading a file or a module can run code from it: load only what you trust.

        Raises:
            BoulangerError: an option, the file, the module or its object is missing or invalid; ``sample`` for
                something that is not a trained model.
            OSError: the file cannot be read.
        """
        if self.kind == "agent":
            options = dict(self.options)
            return replace(_policy(make(self.target, **options), self.name, self.sample), details=options)
        if self.kind == "file":
            content = self._read() if self.content is None else self.content
            model, details = load_model(self.target, content)
            return model_policy(model, self.name or as_name(Path(self.target).name), details, self.sample)
        module, _, name = self.target.partition(":")
        found = _policy(_imported(self.target), self.name or as_name(name), self.sample)
        return replace(found, details={"object": self.target, **_source(module), **found.details})

    def _read(self) -> bytes:
        if not os.path.isfile(self.target):
            written = self.target if self.name is None else f"{self.name}={self.target}"
            raise BoulangerError(_nothing(written, self.target))
        return Path(self.target).read_bytes()


def as_policy(policy: Any, name: str | None = None, *, sample: bool | None = None) -> Policy:
    """Make a ``Policy`` of anything that can play.

    Args:
        policy: a string or path that ``AgentSpec.parse`` accepts, such as ``"greedy"``, ``"heuristic:nodes=30"``, the
            ``.zip`` of a model of Stable-Baselines3 or sb3-contrib, or ``"module:name"``; an ``AgentSpec``; a model;
            an agent; or any callable ``(observation, mask, info) -> action``. A callable is called for one game at a
            time, unless it has an attribute ``batched = True``; ``observation`` and ``actions`` may name the kinds that
            it wants; its optional methods ``seed`` and ``reset`` are those of ``agents.Agent``. An optional method
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
        OSError: a file cannot be read.

    >>> as_policy("heuristic:nodes=30").name
    'heuristic-30'
    """
    if name is not None:
        checked_name(name)
    if isinstance(policy, (str, os.PathLike)):
        policy = AgentSpec.parse(policy)
    if isinstance(policy, AgentSpec):
        spec = policy if name is None else replace(policy, name=name)
        return (spec if sample is None else replace(spec, sample=sample)).make()
    return _policy(policy, name, sample)


def _policy(policy: Any, name: str | None, sample: bool | None) -> Policy:
    """The policy of an object: a model, an agent or another callable."""
    if is_model(policy):
        return model_policy(policy, name or as_name(type(policy).__name__), sample=sample)
    if sample is not None:
        raise BoulangerError(f"sample is for trained models, and {shown(policy)} is not one")
    if not isinstance(policy, Policy) and not callable(policy):
        raise BoulangerError(
            f"{shown(policy)} is not a policy: give an agent's name ({', '.join(AGENTS)}), a model or its .zip, "
            "module:name, or a callable (observation, mask, info) -> action"
        )
    return policy_of(policy, name)


def _name_and_rest(text: str) -> tuple[str | None, str]:
    """Split ``NAME=`` off. ``heuristic:nodes=30`` and ``./lr=0.1.zip`` have no name."""
    name, equals, rest = text.partition("=")
    return (name, rest) if equals and re.fullmatch(r"[^/\\:]+", name) else (None, text)


def _options(text: str, options: str) -> tuple[tuple[str, Any], ...]:
    """The options after an agent's name: ``nodes=30,quality=any``."""
    chosen: dict[str, Any] = {}
    for option in filter(None, options.split(",")):
        key, equals, value = (part.strip() for part in option.partition("="))
        if not equals or not key:
            raise BoulangerError(f"agent {text!r}: {option!r} is not an option; write it as nodes=30")
        if key in chosen:
            raise BoulangerError(f"agent {text!r}: the option {key!r} is given twice")
        chosen[key] = _value(value)
    return tuple(chosen.items())


def _value(text: str) -> Any:
    """An option's value: a number, True, False or None; else the text itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if value is None or isinstance(value, (bool, int, float, str)) else text


def _names_an_object(text: str) -> bool:
    """Whether it has the form ``module:name``, which no path to a ``.zip`` has (not ``C:\\model.zip`` either)."""
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def _imported(target: str) -> Any:
    """The object ``module:name``; a class is instantiated."""
    module, _, name = target.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as python -m does: finds a module in the user's folder
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise BoulangerError(f"policy {target!r}: there is no module {error.name!r}") from None
    except (Exception, SystemExit) as error:
        raise BoulangerError(
            f"policy {target!r}: importing {module} fails: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(loaded, name):
        near = did_you_mean(name, [key for key in vars(loaded) if not key.startswith("_")])
        raise BoulangerError(f"policy {target!r}: module {module} has no {name!r}{near}")
    found = getattr(loaded, name)
    if not isinstance(found, type):
        return found
    try:
        return found()
    except (Exception, SystemExit) as error:
        raise BoulangerError(f"policy {target!r}: {name}() fails: {type(error).__name__}: {error}") from error


def _source(module: str) -> dict[str, str]:
    """A digest of an imported module's file, if it has one: objects made at module level are not in its functions."""
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        return {}
    return {"source": hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]}


def _nothing(text: str, target: str) -> str:
    """The message for a text that names nothing."""
    hint = ""
    if os.path.isfile(text) and text == Path(text).name:
        hint = f"; for the file of that name write ./{printable(text, 200)}"
    return (
        f"there is no agent and no file '{printable(target, 200)}'{did_you_mean(target.partition(':')[0], AGENTS)}"
        f"{hint}; the agents are {', '.join(AGENTS)}, "
        "a model is the .zip that Stable-Baselines3 or sb3-contrib saved, and module:name is a policy of your own"
    )
