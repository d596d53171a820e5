"""``Replay``: an episode as it was played, checked against the rules."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isclose
from typing import Any, NamedTuple, cast

from boulanger_env.envs import BoulangerEnv, internal
from boulanger_env.escaping import printable
from boulanger_env.files import write_text
from boulanger_env.files.texts import read_text
from boulanger_env.game.annotation import Annotation
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError, IllegalMoveError
from boulanger_env.game.game import Game
from boulanger_env.game.outcomes import OUTCOMES
from boulanger_env.game.walk import Step, as_played, walk
from boulanger_env.render.html import episode, in_frame, render_html
from boulanger_env.solver import Diagnosis

from . import format
from .diagnosed import check_diagnosis, in_page
from .parts import ReplayError, as_action, as_annotation, as_text, begin, number, numbered, origin

KEYWORDS = (
    "reward",
    "illegal_action",
    "auto_foundation",
    "no_repeats",
    "allow_undo",
    "prune",
    "max_episode_steps",
)
"""The environment's keywords that determine the effect of an episode's actions."""

# The parts of a replay that a file holds unchanged.
_FIELDS = ("actions", "outcome", "rewards", "settings", "agent", "annotations")
_LONGEST = 500
"""Maximum length of an error message about a file."""


class _End(NamedTuple):
    outcome: str | None
    game: Game


@dataclass(frozen=True)
class Replay:
    """An episode: how it began, its actions and its outcome. It is checked when it is created or loaded.

    Without ``settings`` it is a plain game by the rules, as a person plays it or a solver finds it: its actions are all
    legal (undo included), there are no rewards, and its outcome is that of the last position.

    Two replays are equal if all their attributes are.

    >>> replay = replay_of(Game.from_code("MS-C4-1"), [733, 733, 741])
    >>> replay.outcome, replay.end.cards_home, replay.notation()
    (None, 1, ['6a', '6b', '6h'])
    >>> Replay(Game.from_code("MS-C4-1"), [733, 741])
    Traceback (most recent call last):
    ...
    boulanger_env.replay.parts.ReplayError: step 2 of 2: 6h is not legal: 2C is not next on its foundation: clubs \
need A

    Attributes:
        start: the game before the first action, with its undo history.
        actions: action ids 0..780, including illegal ones.
        outcome: ``"won"``, ``"stuck"``, ``"illegal"``, ``"truncated"``, or None for an unfinished episode.
        rewards: one per action, or None without ``settings``.
        settings: keywords of ``BoulangerEnv`` (those in ``KEYWORDS``; missing ones have their defaults), or None.
        agent: who played, "" if unknown.
        annotations: what the agent thought before each action; empty, or one entry per action, None for nothing.
        end: the game after the last action.
    """

    start: Game
    actions: tuple[int, ...]
    outcome: str | None = None
    rewards: tuple[float, ...] | None = None
    settings: Mapping[str, Any] | None = None
    agent: str = ""
    annotations: tuple[Annotation | None, ...] = ()
    end: Game = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check everything.

        Raises:
            ReplayError: the episode is impossible, or a value is of the wrong kind.
        """

        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        if not isinstance(self.start, Game):
            raise ReplayError(f"start is {shown(self.start)}, it must be a Game")
        # Keep only what a file can hold of a game.
        put("start", begin(origin(self.start)))
        put("actions", tuple(numbered(self.actions, "action", as_action)))
        if not isinstance(self.outcome, str | None) or self.outcome not in OUTCOMES:
            raise ReplayError(
                f"outcome {shown(self.outcome)} is unknown: choose one of {', '.join(map(repr, OUTCOMES))}"
            )
        as_text("agent", self.agent)
        put("annotations", tuple(numbered(self.annotations, "annotation", as_annotation)))
        if self.annotations and len(self.annotations) != len(self.actions):
            raise ReplayError(
                f"{len(self.annotations)} annotations for {len(self.actions)} actions: one each, or none"
            )
        if self.settings is None:
            if self.rewards is not None:
                raise ReplayError("rewards without settings: nothing says what an action brings")
            end = self._play_by_the_rules()
        else:
            put("rewards", tuple(numbered(() if self.rewards is None else self.rewards, "reward", number)))
            env = self._environment()
            put("settings", internal.settings_of(env).episode_keywords())
            end = self._play_in(env)
        put("end", end.game)
        if end.outcome != self.outcome:
            raise ReplayError(
                f"after step {len(self.actions)}, the last one, the episode is {_standing(end.outcome)}, but "
                f"recorded as {_standing(self.outcome)}: it was cut or changed"
            )

    def _play_by_the_rules(self) -> _End:
        game = self.start
        for i, step in enumerate(walk(self.start, self.actions)):
            if step.error:
                raise ReplayError(f"{self._step(i)}: {step.error}")
            game = step.game
        return _End(game.outcome, game)

    def _environment(self) -> BoulangerEnv:
        assert self.settings is not None
        if not isinstance(self.settings, Mapping):
            raise ReplayError(f"settings are {shown(self.settings)}, they must be keywords and their values")
        for key in self.settings:
            if key not in KEYWORDS:
                raise ReplayError(f"setting {shown(key)} is unknown: a replay has {', '.join(KEYWORDS)}")
        env = BoulangerEnv(self.start.n_cells, observation="cards", **self.settings)
        env.reset(options={"game": self.start})
        return env

    def _play_in(self, env: BoulangerEnv) -> _End:
        rewards = cast("tuple[float, ...]", self.rewards)
        outcome: str | None = None
        for i, action in enumerate(self.actions):
            if outcome is not None:
                raise ReplayError(f"{self._step(i)}: the episode had already ended ({outcome})")
            if i >= len(rewards):
                raise ReplayError(f"{self._step(i)}: its reward is missing")
            try:
                _, reward, _, _, _ = env.step(action)
            except IllegalMoveError as error:
                raise ReplayError(f"{self._step(i)}: {error}") from None
            if not isclose(reward, rewards[i], rel_tol=1e-9, abs_tol=1e-9):
                raise ReplayError(
                    f"{self._step(i)}: its reward is {reward:g} by the rules and the settings, not {rewards[i]:g}"
                )
            outcome = internal.outcome_of(env)
        if len(rewards) > len(self.actions):
            raise ReplayError(
                f"{len(rewards)} rewards for {len(self.actions)} actions: it was cut or changed"
            )
        return _End(outcome, env.game)

    def _step(self, i: int) -> str:
        return f"step {i + 1} of {len(self.actions)}"

    # -- reading it -------------------------------------------------------------------------------------------

    @cached_property
    def _played(self) -> tuple[tuple[int, bool], ...]:
        """What was played, in order, each with whether it is one of the actions."""
        rules = {key: bool((self.settings or {}).get(key)) for key in ("auto_foundation", "no_repeats")}
        if any(rules.values()):
            return tuple(as_played(self.start, self.actions, **rules))
        return tuple((action, True) for action in self.actions)

    @property
    def played(self) -> tuple[int, ...]:
        """The actions and, with ``auto_foundation``, the foundation moves that played themselves, in order."""
        return tuple(action for action, _ in self._played)

    def _spread(self, values: Sequence[Any], other: Any) -> list[Any]:
        """One value for each action, and another for each move that played itself."""
        given = iter(values)
        return [next(given) if own else other for _, own in self._played]

    def steps(self) -> Iterator[Step]:
        """What was ``played``, each with the game after it (see ``game.walk``)."""
        return walk(self.start, self.played)

    def notation(self) -> list[str]:
        """The actions in notation."""
        return [step.text for step in self.steps()]

    def __str__(self) -> str:
        """How it began, the actions, ten per line, and how it ended."""
        words = self.notation()
        head = " · ".join(
            filter(None, [self.start.code or f"a board, {self.start.n_cells} cells", printable(self.agent)])
        )
        lines = [" ".join(words[i : i + 10]) for i in range(0, len(words), 10)]
        end = f"{_standing(self.outcome)}: {self.end.cards_home} cards home, score {self.end.score}, {len(words)} moves"
        return "\n".join([f"# {head}", *lines, f"# {end}"])

    # -- files ------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The text of a replay file; ``from_json`` reads it back."""
        content: dict[str, Any] = origin(self.start)
        if self.agent:
            content["agent"] = self.agent
        if self.settings is not None:
            content["settings"] = dict(self.settings)
        content["actions"] = self.actions
        if self.rewards is not None:
            content["rewards"] = [int(reward) if reward.is_integer() else reward for reward in self.rewards]
        return format.write(
            {**content, "outcome": self.outcome, **self._counts(), "annotations": self.annotations}
        )

    def _counts(self) -> dict[str, int]:
        """What a file states about the end, for comparison."""
        return {"score": self.end.score, "cards_home": self.end.cards_home}

    @classmethod
    def from_json(cls, text: str) -> Replay:
        """Read the text of a replay file.

        Raises:
            ReplayError: it is not a replay, or an impossible episode; the message names the step.
        """
        try:
            return cls._of_file(format.read(text))
        except BoulangerError as error:
            # Some messages quote their input, which may be long.
            said = str(error)
            raise ReplayError(said if len(said) <= _LONGEST else f"{said[:_LONGEST]}...") from None

    @classmethod
    def _of_file(cls, content: Mapping[str, Any]) -> Replay:
        start = begin(content)
        replay = cls(start, **{key: content[key] for key in _FIELDS if key in content})
        for key, value in replay._counts().items():
            if content[key] != value or type(content[key]) is not int:
                raise ReplayError(
                    f"after step {len(replay.actions)}, the last one, the {key} is {value}, not {content[key]!r}: "
                    "it was cut or changed"
                )
        return replay

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a replay file, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        write_text(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Replay:
        """Read a replay file.

        Raises:
            ReplayError: it is not a replay, or an impossible episode; the message names the file and the step.
            OSError: it cannot be read.
        """
        try:
            return cls.from_json(read_text(path))
        except BoulangerError as error:
            raise ReplayError(f"{os.fspath(path)} is not a replay: {error}") from None

    # -- to look at -------------------------------------------------------------------------------------------

    def to_episode(
        self,
        *,
        diagnosis: Diagnosis | None = None,
        solvable: bool | None = None,
        strength: str = "",
        value_unit: str = "",
    ) -> dict[str, Any]:
        """The data that the player shows, for ``render_html``.

        Args:
            diagnosis: what ``solver.diagnose(replay.start, replay.played)`` found, to show where the game was lost.
            solvable: whether the game could be won from its start; not needed if it was won or diagnosed.
            strength: how good the agent is, such as "wins 8 % of c4-test".
            value_unit: what the annotations' values measure, such as "cards home still expected".

        Raises:
            BoulangerError: the diagnosis is that of another game.
        """
        if diagnosis is not None:
            check_diagnosis(diagnosis, self.start, self.played)
            solvable = diagnosis.positions[0] if solvable is None else solvable
        return episode(
            self.start,
            self.played,
            outcome=self.outcome,
            agent=self.agent,
            annotations=self._spread(self.annotations, None) if self.annotations else (),
            rewards=None if self.rewards is None else self._spread(self.rewards, 0.0),
            solvable=solvable,
            strength=strength,
            value_unit=value_unit,
            proof=None if diagnosis is None else in_page(diagnosis, self.outcome),
        )

    def to_html(
        self,
        *,
        diagnosis: Diagnosis | None = None,
        solvable: bool | None = None,
        strength: str = "",
        value_unit: str = "",
    ) -> str:
        """A self-contained page with a player; the arguments are those of ``to_episode``."""
        known: dict[str, Any] = {"solvable": solvable, "strength": strength, "value_unit": value_unit}
        return render_html([self.to_episode(diagnosis=diagnosis, **known)])

    def _repr_html_(self) -> str:
        """The player, in a notebook."""
        return in_frame(self.to_html())


def replay_of(start: Game, moves: Iterable[int], agent: str = "") -> Replay:
    """A plain game from its start and the ids of its moves, which determine its outcome.

    Raises:
        ReplayError: a move is illegal; the message names the step.
    """
    ids = tuple(numbered(moves, "action", as_action))
    end = start
    for step in walk(start, ids):
        end = step.game
    return Replay(start, ids, end.outcome, agent=agent)


def _standing(outcome: str | None) -> str:
    return outcome or "not over"
