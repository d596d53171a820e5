"""The types of the keywords: options as ``Literal``, and what ``observation=`` makes of the observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from .rewards import Reward

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode
    from typing_extensions import TypeVar

    from .observations import Observation
    from .settings import Deals

    # A bare BoulangerEnv, as in annotations and isinstance, is one of either kind.
    ObservationT = TypeVar("ObservationT", bound=Observation, default=Any)
else:
    from typing import TypeVar

    ObservationT = TypeVar("ObservationT")

DealOrder = Literal["random", "sequential"]
ObservationKind = Literal["features", "cards"]
ActionKind = Literal["places", "cards", "taps"]
RewardName = Literal["score", "win", "foundation"]
IllegalAction = Literal["penalize", "terminate", "raise"]
RenderMode = Literal["ansi", "rgb_array", "human"]
Autoreset = Literal["NextStep", "SameStep", "Disabled"]

# The bool masks of one game and of a batch: type checkers tell them apart by their shapes.
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
BatchMask = np.ndarray[tuple[int, int], np.dtype[np.bool_]]


class Keywords(TypedDict, total=False):
    """The keywords that all environments share, without ``observation``: for overloads and wrappers of your own."""

    deals: Deals
    deal_order: DealOrder
    actions: ActionKind
    auto_foundation: bool
    no_repeats: bool
    reward: RewardName | Reward | Mapping[str, float]
    illegal_action: IllegalAction
    allow_undo: bool
    prune: bool
    max_episode_steps: int | None
    array_infos: bool
    render_mode: RenderMode | None
    render_size: Sequence[int]


class BatchKeywords(Keywords, total=False):
    """Those of ``BoulangerVectorEnv``."""

    autoreset_mode: AutoresetMode | Autoreset
    num_threads: int
    copy: bool


class VecKeywords(Keywords, total=False):
    """Those of ``boulanger_env.sb3.BoulangerVecEnv``."""

    observation: ObservationKind
    num_threads: int
