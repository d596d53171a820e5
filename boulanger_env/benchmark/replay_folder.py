"""Replays of a benchmark's games, gathered while they are played."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.agents.policies import Policy
from boulanger_env.deals import DealSet
from boulanger_env.envs import BoulangerVectorEnv, internal
from boulanger_env.files import files_in, remove_partial
from boulanger_env.game.annotation import Annotation
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.game import Game
from boulanger_env.replay.parts import as_annotation
from boulanger_env.replay.recording import Games, check_games, file_name, is_wanted
from boulanger_env.replay.replay import KEYWORDS, Replay

from .rows import GameRow, Header
from .runs import RunFile

if TYPE_CHECKING:
    from typing_extensions import Self

Record = str | os.PathLike[str] | Callable[[Replay], object]
"""A folder for replay files, or a function that is called with each replay."""

RUN = "recorded-run.jsonl"
"""In a folder of replays: the header of the run that they belong to."""


class Recordings:
    """Where the replays of a run go; checked before anything is played.

    As a context manager, it keeps other processes out of the folder until it ends.

    Args:
        record: a folder, created if needed, or a function that is called with each replay.
        games: which ones: ``"all"``, ``"losses"``, or a number N, for the first N.
        player: the policy, whose annotations are recorded.
        deals: the games.
        header: the run's header.

    Raises:
        BoulangerError: ``record`` or ``games`` is neither of these, or the folder holds replays of something else, or
            another process records into it.
        OSError: the folder cannot be made or read.
    """

    def __init__(self, record: Record, games: Games, player: Policy, deals: DealSet, header: Header) -> None:
        check_games(games)
        self._claim: RunFile | None = None
        if isinstance(record, (str, os.PathLike)):
            record = Path(record)
            self._claim = claim(record, header)
        elif not callable(record):
            raise BoulangerError(f"record={shown(record)} is neither a folder nor a function of a replay")
        self._record: Path | Callable[[Replay], object] = record
        self.games = games
        self.player = player
        self.deals = deals
        self.header = header
        self._warned: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Release the folder."""
        if self._claim is not None:
            self._claim.close()

    def of(self, seed: int, slots: int, earlier: Iterable[GameRow]) -> Recording:
        """The recording of one round through the deals, in which some games were played earlier."""
        record = self._record
        if isinstance(record, Path) and len(self.header.seeds) > 1:
            record /= f"seed-{seed}"
            record.mkdir(exist_ok=True)
        if isinstance(record, Path):
            remove_partial(record)
        return Recording(self, record, slots, earlier)

    def warn(self, what: str, why: object) -> None:
        """Warn about something that a replay lacks, once per kind."""
        if what not in self._warned:
            self._warned.add(what)
            warnings.warn(f"{self.player.name}: {what}: {why}", stacklevel=2)


def claim(folder: Path, header: Header) -> RunFile:
    """Claim a folder for the replays of one run, and for this process until the returned file is closed.

    Raises:
        BoulangerError: it holds replays of another run, or of no run, or another process records into it.
        OSError: it cannot be made, read or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / RUN
    if not mark.exists() and files_in(folder, "**/*.json"):
        raise BoulangerError(
            f"{folder} holds .json files that do not belong to this run: record into a separate folder"
        )
    return RunFile(mark, header)


class Recording:
    """The games in progress so far.

    Args:
        run: what is played, and which games are wanted.
        record: a folder, or a function that is called with each replay.
        slots: how many games are played at a time.
        earlier: the games that were played before.
    """

    def __init__(
        self,
        run: Recordings,
        record: Path | Callable[[Replay], object],
        slots: int,
        earlier: Iterable[GameRow],
    ) -> None:
        self._run = run
        self._record = record
        self._earlier = {row.place: row for row in earlier}
        self._settings = {key: run.header.settings[key] for key in KEYWORDS if key in run.header.settings}
        self._actions: list[list[int]] = [[] for _ in range(slots)]
        self._rewards: list[list[float]] = [[] for _ in range(slots)]
        self._annotations: list[list[Annotation | None]] = [[] for _ in range(slots)]

    def missing(self) -> list[int]:
        """The places of the games that were played earlier but lack a replay that the folder should have."""
        return [
            row.place
            for row in self._earlier.values()
            if isinstance(self._record, Path)
            and is_wanted(self._run.games, row.place, row.outcome)
            and not (self._record / file_name(row.place, row.code)).exists()
        ]

    def before(
        self, observation: Any, masks: NDArray[np.int8], info: dict[str, Any], envs: BoulangerVectorEnv
    ) -> None:
        """Ask the policy for its annotations before it chooses an action of these environments."""
        thoughts = self._run.player.annotate(observation, masks, info)
        # An annotation of a game that has ended means nothing.
        ended: Any = masks.all(1)
        try:
            if len(thoughts) != len(masks):
                raise BoulangerError(f"{len(thoughts)} annotations for {len(masks)} games")
        except (BoulangerError, TypeError) as error:
            self._leave_out(error)
            thoughts = [None] * len(masks)
        for slot, thought in enumerate(thoughts):
            try:
                noted = None if ended[slot] else _by_place(as_annotation(thought), envs, slot)
            except BoulangerError as error:
                self._leave_out(error)
                noted = None
            self._annotations[slot].append(noted)

    def _leave_out(self, error: Exception) -> None:
        self._run.warn("what it notes is left out of replays that cannot hold it", error)

    def after(self, actions: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Note a step of every game."""
        for slot, (action, reward) in enumerate(zip(actions.tolist(), rewards.tolist(), strict=True)):
            self._actions[slot].append(action)
            self._rewards[slot].append(reward)

    def ended(self, slot: int, row: GameRow) -> None:
        """Handle the end of the game in a slot."""
        noted = self._annotations[slot]
        if is_wanted(self._run.games, row.place, row.outcome) and self._is_as_before(row):
            replay = Replay(
                Game.from_code(self._run.deals[row.place]),
                tuple(self._actions[slot]),
                row.outcome,
                tuple(self._rewards[slot]),
                self._settings,
                self._run.player.name,
                tuple(noted) if any(noted) else (),
            )
            if isinstance(self._record, Path):
                replay.save(self._record / file_name(row.place, replay.start.code))
            else:
                self._record(replay)
        for kept in (self._actions, self._rewards, self._annotations):
            kept[slot].clear()

    def _is_as_before(self, row: GameRow) -> bool:
        earlier = self._earlier.get(row.place, row)
        if row != earlier:
            self._run.warn(
                "games that it plays differently than before have no replay",
                f"{row.code} is one; its random numbers must come from seed() and reset()",
            )
        return row == earlier


def _by_place(annotation: Annotation | None, envs: BoulangerVectorEnv, slot: int) -> Annotation | None:
    """An annotation with its choices as actions of the action table."""
    if annotation is None or not annotation.choices:
        return annotation
    actions, probabilities = zip(*annotation.choices, strict=True)
    chosen = np.array(actions, np.int64)
    places = internal.places_of_actions(envs, chosen, np.full(len(chosen), slot)).tolist()
    return annotation._replace(choices=tuple(zip(places, probabilities, strict=True)))
