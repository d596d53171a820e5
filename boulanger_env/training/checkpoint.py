"""The state of a training run between two updates: what it needs to go on exactly where it was."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch as th
from numpy.typing import NDArray

from boulanger_env.deals import ReverseCurriculum
from boulanger_env.files import write_with
from boulanger_env.game.errors import BoulangerError
from boulanger_env.sb3 import BoulangerVecEnv

from .ppo import ChancePPO
from .setup import TrainSettings

FILE = "checkpoint.pt"
_VERSION = 1


class Point(NamedTuple):
    """One evaluation on the validation deals."""

    seconds: float
    """Since the run's beginning."""
    timesteps: int
    won: int
    deals: int
    front: int | None
    """Decisions from the end from which half the games are won; None without a curriculum."""


@dataclass
class Progress:
    """How far a run has come.

    Attributes:
        settings: those of the run.
        points: the evaluations so far.
        used: seconds that the run has taken.
        began: when learning began, in seconds since the run's beginning.
        cpu: seconds of processor time.
    """

    settings: TrainSettings
    points: list[Point] = field(default_factory=list)
    used: float = 0.0
    began: float = 0.0
    cpu: float = 0.0


def save(path: Path, progress: Progress, model: ChancePPO, curriculum: ReverseCurriculum | None) -> None:
    """Write everything, whole or not at all."""
    envs: Any = model.env
    content = {
        "version": _VERSION,
        "settings": asdict(progress.settings),
        "points": [tuple(point) for point in progress.points],
        "times": (progress.used, progress.began, progress.cpu),
        "timesteps": model.num_timesteps,
        "updates": model._n_updates,
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "games": _tensors(envs.get_state()),
        "episode_starts": th.from_numpy(np.asarray(model._last_episode_starts)),
        "curriculum": {} if curriculum is None else _tensors(curriculum.get_state()),
    }
    buffer = io.BytesIO()
    th.save(content, buffer)
    write_with(path, lambda partial: partial.write_bytes(buffer.getvalue()))


class Checkpoint(NamedTuple):
    """What :func:`load` read."""

    progress: Progress
    content: Mapping[str, Any]

    def restore(self, model: ChancePPO, envs: BoulangerVecEnv, curriculum: ReverseCurriculum | None) -> None:
        """Put everything back where it was."""
        content = self.content
        model.policy.load_state_dict(content["policy"])
        model.policy.optimizer.load_state_dict(content["optimizer"])
        model.num_timesteps, model._n_updates = content["timesteps"], content["updates"]
        if curriculum is not None:
            curriculum.set_state(_arrays(content["curriculum"]))
        model._last_obs = envs.set_state(_arrays(content["games"]))
        model._last_episode_starts = content["episode_starts"].numpy()


def load(path: Path) -> Checkpoint:
    """Read what :func:`save` wrote. The file is data: no code in it is run.

    Raises:
        BoulangerError: there is no such file, or it is not a checkpoint of this version.
        OSError: it cannot be read.
    """
    if not path.is_file():
        raise BoulangerError(f"there is no {path}: a run can be resumed from its first evaluation on")
    try:
        content = th.load(io.BytesIO(path.read_bytes()), weights_only=True, map_location="cpu")
        if content["version"] != _VERSION:
            raise BoulangerError(f"{path} is of version {content['version']}: this package reads {_VERSION}")
        known = {entry.name for entry in fields(TrainSettings)}
        settings = TrainSettings(**{name: content["settings"][name] for name in known})
        points = [Point(*point) for point in content["points"]]
        progress = Progress(settings, points, *content["times"])
    except (RuntimeError, pickle.UnpicklingError, EOFError, KeyError, TypeError, AttributeError) as error:
        raise BoulangerError(f"{path} is not a checkpoint of boulanger train, or it is damaged") from error
    return Checkpoint(progress, content)


def _tensors(arrays: Mapping[str, NDArray[Any]]) -> dict[str, th.Tensor]:
    """Arrays of any number type, as tensors of bytes with what they were: PyTorch lacks some types."""
    return {
        f"{name}:{array.dtype.str}:{','.join(map(str, array.shape))}": _bytes(array)
        for name, array in arrays.items()
    }


def _bytes(array: NDArray[Any]) -> th.Tensor:
    return th.from_numpy(np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8).copy())


def _arrays(tensors: Mapping[str, th.Tensor]) -> dict[str, NDArray[Any]]:
    arrays = {}
    for key, tensor in tensors.items():
        name, kind, shape = key.rsplit(":", 2)
        sizes = tuple(int(size) for size in shape.split(",") if size)
        arrays[name] = np.frombuffer(tensor.numpy().tobytes(), np.dtype(kind)).reshape(sizes).copy()
    return arrays
