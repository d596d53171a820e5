"""A trained model as a batched agent, and as a policy that is played as it was trained."""

from __future__ import annotations

import hashlib
import inspect
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from boulanger_env.envs.action_maps import ACTIONS, WIDTHS
from boulanger_env.envs.observations import KINDS
from boulanger_env.envs.sampling import draw_by_probability, stream_state
from boulanger_env.game.annotation import Annotation
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.moves import N_ACTIONS

from .model_files import WayOfPlay, way_of_play
from .policies import Policy

TOLD, LEAST_TOLD = 5, 0.0005
"""The most actions in an annotation, and the lowest probability worth reporting."""

_NUMBERINGS = {
    WIDTHS[number] + undo: {"actions": actions, "allow_undo": undo}
    for actions, number in ACTIONS.items()
    for undo in (False, True)
}
"""The keywords that give an action space of each size."""


class ModelPlayer:
    """A Stable-Baselines3 or sb3-contrib model as a batched agent.

    Args:
        model: it has ``predict`` and, to sample, ``policy.get_distribution``.
        sample: sample actions instead of taking the likeliest that the mask allows. The random numbers of a game
            come from the seed and the number of the game alone.

    Raises:
        BoulangerError: ``sample`` for a model without masked probabilities.
    """

    def __init__(self, model: Any, sample: bool) -> None:
        self._model = model
        # Only sb3-contrib's maskable models take masks.
        self._masked = "action_masks" in inspect.signature(model.predict).parameters
        if sample and not (self._masked and hasattr(model.policy, "get_distribution")):
            raise BoulangerError(f"sample is for MaskablePPO models, not {type(model).__name__}")
        self._sample = sample
        self._seed = 0
        self._states = np.zeros(0, np.uint64)

    def seed(self, seed: int) -> None:
        """Start over, with all random numbers drawn from ``seed``."""
        self._seed = seed
        self._states = np.zeros(0, np.uint64)

    def reset(self, games: ArrayLike, slots: ArrayLike) -> None:
        """Put the games of these numbers into these slots."""
        for game, slot in zip(np.atleast_1d(games).tolist(), np.atleast_1d(slots).tolist(), strict=True):
            if slot >= len(self._states):
                self._states = np.pad(self._states, (0, slot + 1 - len(self._states)))
            self._states[slot] = stream_state(np.uint64(self._seed), np.uint64(game))

    def __call__(self, observation: Any, masks: NDArray[Any], info: Mapping[str, Any]) -> NDArray[np.int64]:
        """Actions, int64 ``(n,)``, for masks ``(n, actions)``."""
        legal = masks.astype(np.bool_)
        if not self._sample:
            given = {"action_masks": legal} if self._masked else {}
            actions, _ = self._model.predict(observation, deterministic=True, **given)
            return np.asarray(actions, np.int64).reshape(len(masks))
        drawn = np.empty(len(masks), np.int64)
        draw_by_probability(self._probabilities(observation, legal)[0], legal, self._states, drawn)
        return drawn

    def _probabilities(self, observation: Any, legal: NDArray[np.bool_]) -> tuple[NDArray[Any], Any]:
        """Masked probabilities ``(n, actions)`` and the observation as the model takes it."""
        policy = self._model.policy
        policy.set_training_mode(False)
        tensor, _ = policy.obs_to_tensor(observation)
        distribution = policy.get_distribution(tensor, legal)
        # sb3-contrib wraps a PyTorch distribution; ours has the probabilities itself.
        probabilities = getattr(distribution, "probs", None)
        if probabilities is None:
            probabilities = distribution.distribution.probs
        return probabilities.detach().cpu().numpy(), tensor

    def annotate(
        self, observation: Any, masks: NDArray[Any], info: Mapping[str, Any]
    ) -> list[Annotation | None]:
        """For each game the likeliest actions and the value of the position."""
        if not (self._masked and hasattr(self._model.policy, "get_distribution")):
            return [None] * len(masks)
        probabilities, tensor = self._probabilities(observation, masks.astype(np.bool_))
        values = self._model.policy.predict_values(tensor).detach().cpu().numpy().reshape(-1)
        found: list[Annotation | None] = []
        for row, value in zip(probabilities, values.tolist(), strict=True):
            likeliest = np.argsort(-row, kind="stable")[:TOLD]
            shares = np.minimum(row[likeliest].astype(np.float64), 1)
            choices = zip(likeliest.tolist(), shares.tolist(), strict=True)
            found.append(Annotation(tuple(choice for choice in choices if choice[1] >= LEAST_TOLD), value))
        return found


def is_model(policy: Any) -> bool:
    """Whether an object is a model of Stable-Baselines3 or sb3-contrib."""
    return hasattr(policy, "predict") and hasattr(policy, "observation_space")


def model_policy(
    model: Any, name: str, details: Mapping[str, Any] | None = None, sample: bool | None = None
) -> Policy:
    """The ``Policy`` of a trained model, which is played as it was trained (see ``way_of_play``).

    Args:
        model: the model.
        name: what it is reported under.
        details: what identifies it; None for a digest of its weights.
        sample: see ``as_policy``.

    Raises:
        BoulangerError: it cannot be played: it is a model of another environment or of wrappers that no benchmark
            uses, its weights are not finite, or it cannot sample.
    """
    known = way_of_play(model)
    way = known or WayOfPlay()
    if way.wrappers:
        raise BoulangerError(
            f"model {name} was trained under {way.wrappers[0]}, which a benchmark does not put around its games: "
            "benchmark a callable that does the same to the observation and the action; or save the model with "
            "save_model(..., wrappers=[]), if the wrapper changes neither"
        )
    if not all(bool(weights.isfinite().all()) for weights in model.policy.state_dict().values()):
        raise BoulangerError(
            f"model {name} has weights that are not finite numbers: its training diverged, and it cannot play"
        )
    numbering = _NUMBERINGS.get(int(getattr(model.action_space, "n", 0)))
    if numbering is None:
        raise BoulangerError(
            f"model {name} has the action space {model.action_space}: it must have {N_ACTIONS} actions, or as many as "
            "another of the environment's numberings (actions=), and one more with undo"
        )
    observation = _observation_kind(model.observation_space)
    if observation is None:
        raise BoulangerError(
            f"model {name} has an observation space that is none of {', '.join(map(repr, KINDS))}: "
            f"{model.observation_space}"
        )
    if known is None:
        warnings.warn(
            f"model {name} does not say how it was trained (save_model stores that): it is played with the default "
            "settings",
            stacklevel=2,
        )
    sample = way.sample if sample is None else sample
    own = {"observation": observation, **numbering}
    return Policy(
        name=name,
        act=ModelPlayer(model, sample),
        batched=True,
        settings={**way.settings, **own},
        fixed=frozenset(own),
        details={**(_weights(model) if details is None else details), "sample": sample},
    )


def _weights(model: Any) -> dict[str, str]:
    """What identifies a model in memory: a digest of its weights."""
    digest = hashlib.sha256()
    for key, weights in sorted(model.policy.state_dict().items()):
        digest.update(key.encode() + weights.detach().cpu().numpy().tobytes())
    return {"weights": digest.hexdigest()[:16]}


def _observation_kind(space: Any) -> str | None:
    """The observation with this space, whatever its dtype."""
    found = (name for name, kind in KINDS.items() if _shape(kind.space()) == _shape(space))
    return next(found, None)


def _shape(space: Any) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _shape(part) for key, part in space.spaces.items()}
    return getattr(space, "shape", None)
