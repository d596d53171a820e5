"""Trained models in files, saved and loaded together with how to play them.

How to play a model is stored in an attribute of the model, a plain dict. Stable-Baselines3 saves and restores a model's
attributes, so it survives ``MaskablePPO.load``, too.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import gymnasium as gym

from boulanger_env.envs import BoulangerEnv, BoulangerVectorEnv, internal
from boulanger_env.envs.settings import NO_LIMIT, Settings
from boulanger_env.files import write_with
from boulanger_env.game.checks import is_list
from boulanger_env.game.errors import BoulangerError

ATTRIBUTE = "boulanger_env"
"""Where a model keeps its ``WayOfPlay``."""

EXPANSION = 20
"""Highest allowed compression ratio of a model's file: Stable-Baselines3 does not compress at all."""

# What a benchmark decides itself: which games are played, and what is shown of them. Rows hold the game's score,
# whatever the reward.
_BENCHMARKS_OWN = {"n_cells", "deals", "deal_order", "reward", "array_infos", "render_mode", "render_size"}

SETTINGS: dict[str, Any] = {
    keyword.name: keyword.default
    for keyword in sorted(fields(Settings), key=lambda keyword: keyword.name)
    if keyword.init and keyword.name not in _BENCHMARKS_OWN
}
"""The keywords of the environment that models carry and that a benchmark may set, with their defaults: all that decide
what a policy sees and what its actions do."""

# Wrappers that change nothing that a model sees or does. A model of another one is not played.
_HARMLESS = {
    "ActionMasker",
    "HumanRendering",
    "Monitor",
    "NormalizeReward",
    "OrderEnforcing",
    "PassiveEnvChecker",
    "RecordEpisodeStatistics",
    "RecordReplay",
    "RecordVideo",
    "RewardWrapper",
    "TimeLimit",
    "VecCheckNan",
    "VecMonitor",
    "VecVideoRecorder",
}


class _Algorithm(NamedTuple):
    """One algorithm whose models can be played."""

    policy: str
    """A base class of its policies, as ``module:class``."""
    marks: frozenset[str]
    """Attributes that identify its models if other algorithms have the same policies."""
    algorithm: str
    """The class that loads it, as ``module:class``; empty if it cannot be played."""


# The first match counts. A recurrent model needs more than an observation; other algorithms have no discrete actions.
_ALGORITHMS = (
    _Algorithm(
        "sb3_contrib.common.maskable.policies:MaskableActorCriticPolicy",
        frozenset(),
        "sb3_contrib:MaskablePPO",
    ),
    _Algorithm("sb3_contrib.qrdqn.policies:QRDQNPolicy", frozenset(), "sb3_contrib:QRDQN"),
    _Algorithm("stable_baselines3.dqn.policies:DQNPolicy", frozenset(), "stable_baselines3:DQN"),
    _Algorithm("sb3_contrib.common.recurrent.policies:RecurrentActorCriticPolicy", frozenset(), ""),
    _Algorithm(
        "stable_baselines3.common.policies:ActorCriticPolicy",
        frozenset({"cg_max_steps"}),
        "sb3_contrib:TRPO",
    ),
    _Algorithm(
        "stable_baselines3.common.policies:ActorCriticPolicy",
        frozenset({"clip_range"}),
        "stable_baselines3:PPO",
    ),
    _Algorithm("stable_baselines3.common.policies:ActorCriticPolicy", frozenset(), "stable_baselines3:A2C"),
)


@dataclass(frozen=True)
class WayOfPlay:
    """How a model is to be played.

    Attributes:
        settings: keywords of the environment, from those in ``SETTINGS``.
        wrappers: names of the wrappers that it was trained under, outermost first, that may change what it sees.
        sample: whether it samples its actions.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()
    sample: bool = False


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    sample: bool,
    settings: Mapping[str, Any] | None = None,
    wrappers: Sequence[str] | None = None,
) -> None:
    """Save a model of Stable-Baselines3 or sb3-contrib together with how to play it.

    ``evaluate`` and ``boulanger bench`` then play it as it learned. The file is what ``model.save`` writes, with one
    more attribute; it is written whole or not at all, and replaces an earlier one.

    Args:
        model: the model.
        path: the ``.zip`` to write.
        sample: whether the model samples its actions or always takes the likeliest.
        settings: keywords of the environment, such as ``prune``: all in ``SETTINGS``, with their default if they are
            missing. None to take them from the model's environment.
        wrappers: names of the wrappers that change what the model sees or does, such as ``["FrameStackObservation"]``.
            None to take them from the model's environment.

    Raises:
        BoulangerError: it is not known what the model was trained in, or a setting or its value is invalid.
        OSError: the file cannot be written.
    """
    if settings is None or wrappers is None:
        found = trained_in(model)
        if found is None and settings is None:
            raise BoulangerError(
                "the model has no environment from which to read its keywords: give them, as settings={'prune': True}"
            )
        settings = (found or WayOfPlay()).settings if settings is None else settings
        wrappers = (found or WayOfPlay()).wrappers if wrappers is None else wrappers
    way = {
        "settings": dict(settings) if isinstance(settings, Mapping) else settings,
        "wrappers": list(wrappers) if is_list(wrappers) else wrappers,
        "sample": sample,
    }
    read_way(way)
    setattr(model, ATTRIBUTE, way)
    content = io.BytesIO()
    model.save(content)
    write_with(path, lambda partial: partial.write_bytes(content.getvalue()))


def way_of_play(model: Any) -> WayOfPlay | None:
    """How to play a model: as in its environment, else as it was saved; None if nothing is known.

    Raises:
        BoulangerError: the model's own information is invalid.
    """
    saved = read_way(getattr(model, ATTRIBUTE, None))
    live = trained_in(model)
    return saved if live is None else replace(live, sample=saved is not None and saved.sample)


def read_way(way: Any) -> WayOfPlay | None:
    """Parse a model's attribute, which is untrusted; None if it has none.

    Raises:
        BoulangerError: it is invalid.
    """
    if way is None:
        return None
    settings = way.get("settings") if isinstance(way, dict) else None
    wrappers = way.get("wrappers") if isinstance(way, dict) else None
    if (
        not isinstance(settings, dict)
        or not set(settings) <= set(SETTINGS)
        or not isinstance(wrappers, list)
        or not all(isinstance(name, str) and name.isidentifier() for name in wrappers)
        or type(way.get("sample")) is not bool
    ):
        raise BoulangerError(
            f"a model is played by its settings (some of {', '.join(SETTINGS)}), the names of its wrappers and "
            f"whether it samples, not by {repr(way)[:200]}"
        )
    Settings(**settings)
    return WayOfPlay(settings, tuple(wrappers), way["sample"])


def trained_in(model: Any) -> WayOfPlay | None:
    """Settings and wrappers of a model's environment; None if it has none, or one that cannot be inspected.

    Only ``sample`` cannot be found there.
    """
    env: Any = model.get_env() if hasattr(model, "get_env") else None
    wrappers: list[str] = []
    limits: list[int] = []
    while env is not None:
        # Stable-Baselines3's wrappers return the attributes of what is inside as their own.
        inside = env.env if isinstance(env, gym.Wrapper) else vars(env).get("venv")
        if isinstance(env, gym.wrappers.TimeLimit):
            limits.append(env._max_episode_steps)
        if inside is not None and _matters(env):
            wrappers.append(type(env).__name__)
        if inside is None:
            # A DummyVecEnv, or a BoulangerVecEnv.
            inside = next(iter(vars(env).get("envs", ())), None) or vars(env).get("batch")
        if inside is None:
            break
        env = inside
    if not isinstance(env, BoulangerEnv | BoulangerVectorEnv):
        return None
    settings = internal.settings_of(env)
    found = {key: getattr(settings, key) for key in SETTINGS}
    # The lowest limit counts; games without one get the benchmark's default.
    limits = [steps for steps in (*limits, found.pop("max_episode_steps")) if steps != NO_LIMIT]
    if limits:
        found["max_episode_steps"] = min(limits)
    return WayOfPlay(found, tuple(wrappers))


def _matters(wrapper: Any) -> bool:
    """Whether a wrapper may change what a model sees or does."""
    if type(wrapper).__name__ == "VecNormalize":
        return bool(wrapper.norm_obs)
    return not any(base.__name__ in _HARMLESS for base in type(wrapper).__mro__)


def load_model(path: str, content: bytes) -> tuple[Any, dict[str, Any]]:
    """The model in a ``.zip`` that Stable-Baselines3 or sb3-contrib saved, and the file's digest.

    Loading such a file can run code from it: load only files from people whom you would let run programs.

    Args:
        path: the file's path, for error messages.
        content: the file's content.

    Raises:
        BoulangerError: it is not such a model, or the libraries are missing.
    """
    try:
        importlib.import_module("sb3_contrib")
        saved: Any = importlib.import_module("stable_baselines3.common.save_util")
    except ModuleNotFoundError as error:
        raise BoulangerError(f'a model needs {error.name}: pip install "boulanger-env[train]"') from None
    try:
        _check_size(content)
        with warnings.catch_warnings():
            # A missing part is reported below, if it matters.
            warnings.filterwarnings("ignore", "Could not deserialize")
            data, _, _ = saved.load_from_zip_file(io.BytesIO(content), device="cpu", load_data=True)
            kind = _algorithm(data or {})
            # The replay buffer, which would be allocated at full size, is not needed here.
            fixed = {"buffer_size": 1} if "buffer_size" in data else {}
            model = kind.load(io.BytesIO(content), device="cpu", custom_objects=fixed)
        read_way(getattr(model, ATTRIBUTE, None))
    except Exception as error:
        # Whatever a damaged or foreign archive makes the loader raise, name this file.
        raise BoulangerError(
            f"{path} is not a model that Stable-Baselines3 or sb3-contrib saved: {error or type(error).__name__}"
        ) from error
    return model, {"model": hashlib.sha256(content).hexdigest()[:16]}


def _check_size(content: bytes) -> None:
    """Reject an archive that would exhaust the memory."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > EXPANSION * len(content) + 2**20:
        raise BoulangerError(f"its {len(content)} bytes unpack to {size}")


def _algorithm(data: Mapping[str, Any]) -> Any:
    """The class that a model's data belongs to."""
    policy = data.get("policy_class")
    for row in _ALGORITHMS:
        if isinstance(policy, type) and issubclass(policy, _class(row.policy)) and row.marks <= set(data):
            if row.algorithm:
                return _class(row.algorithm)
            break
    names = ", ".join(row.algorithm.split(":")[1] for row in _ALGORITHMS if row.algorithm)
    shown = f"a {policy.__name__}" if isinstance(policy, type) else "missing"
    raise BoulangerError(f"its policy is {shown}; what can be played are models of {names}")


def _class(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
