"""Replays of a benchmark's games, gathered while they are played."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.deals import DealSet
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.game import Game
from boulanger_env.render.html import Annotation
from boulanger_env.replay.recording import Games, check_games, file_name, is_wanted
from boulanger_env.replay.replay import KEYWORDS, Replay

from .policies import Policy

Record = str | os.PathLike[str] | Callable[[Replay], object]
"""A folder for replay files, or what is called with each replay."""


class Recording:
    """What the games under way have been so far.

    Args:
        record: a folder, which is made if need be, or what is called with each replay.
        games: which ones: ``"all"``, ``"losses"``, or how many, from the first.
        player: the policy; asked what it thinks, if it can say that.
        deals: the games.
        slots: how many are played at a time.
        settings: of the environment.

    Raises:
        BoulangerError: ``record`` or ``games`` is neither of these.
        OSError: the folder cannot be made.
    """

    def __init__(
        self,
        record: Record,
        games: Games,
        player: Policy,
        deals: DealSet,
        slots: int,
        settings: Mapping[str, Any],
    ) -> None:
        check_games(games)
        self._folder = Path(record) if isinstance(record, (str, os.PathLike)) else None
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        elif not callable(record):
            raise BoulangerError(f"record={record!r} is neither a folder nor a function of a replay")
        self._record = record
        self._games = games
        self._player = player
        self._deals = deals
        self._settings = {key: settings[key] for key in KEYWORDS if key in settings}
        self._actions: list[list[int]] = [[] for _ in range(slots)]
        self._rewards: list[list[float]] = [[] for _ in range(slots)]
        self._annotations: list[list[Annotation | None]] = [[] for _ in range(slots)]

    def before(self, observation: Any, masks: NDArray[np.int8], info: dict[str, Any]) -> None:
        """Ask the policy what it thinks before it chooses."""
        for noted, annotation in zip(
            self._annotations, self._player.annotate(observation, masks, info), strict=True
        ):
            noted.append(annotation)

    def after(self, actions: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Note a step of every game."""
        for slot, (action, reward) in enumerate(zip(actions.tolist(), rewards.tolist(), strict=True)):
            self._actions[slot].append(action)
            self._rewards[slot].append(reward)

    def ended(self, slot: int, number: int, outcome: str) -> None:
        """The game of this number in the set has ended in a slot."""
        noted = self._annotations[slot]
        if is_wanted(self._games, number, outcome):
            replay = Replay(
                Game.from_code(self._deals[number]),
                tuple(self._actions[slot]),
                outcome,
                tuple(self._rewards[slot]),
                self._settings,
                self._player.name,
                tuple(noted) if any(noted) else (),
            )
            if self._folder is not None:
                replay.save(self._folder / file_name(number, replay.start.code))
            elif callable(self._record):
                self._record(replay)
        for kept in (self._actions, self._rewards, self._annotations):
            kept[slot].clear()
