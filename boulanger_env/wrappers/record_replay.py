"""``RecordReplay``: a wrapper that writes each episode of an environment as a replay."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from boulanger_env.envs import BoulangerEnv, internal
from boulanger_env.files import alone_in
from boulanger_env.game.annotation import Annotation
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError, IllegalMoveError
from boulanger_env.game.game import Game
from boulanger_env.game.moves import action_id
from boulanger_env.game.outcomes import TRUNCATED
from boulanger_env.replay.parts import ReplayError, as_annotation, as_text
from boulanger_env.replay.recording import Games, check_games, file_name, is_wanted, next_number
from boulanger_env.replay.replay import Replay

# What lies between this wrapper and the environment must leave actions and rewards as they are.
_CHANGE = (gym.ActionWrapper, gym.RewardWrapper)


class RecordReplay(gym.Wrapper[Any, np.int64, Any, np.int64], RecordConstructorArgs):
    """Writes each episode to a folder as a replay file when it ends.

    An episode that ``reset()`` or ``close()`` interrupts is written too, without an outcome. File numbers continue
    after those already in the folder; if you record several environments, give each its own folder.

    It records the environment's rewards, and moves by place whatever its ``actions``. So put it inside wrappers that
    change actions or rewards: ``NormalizeReward(RecordReplay(gym.make("Boulanger-C4-v0"), "games"))``. A truncation by
    a ``TimeLimit`` is recorded as ``max_episode_steps``.

    Args:
        env: a Boulanger environment.
        folder: where the files go; created if needed.
        games: ``"all"``, ``"losses"`` (episodes that ended without a win), or a number N, for the first N.
        agent: who plays, for the record.

    Raises:
        BoulangerError: another environment, a wrapper inside that changes actions or rewards, an invalid ``games``, or
            an ``agent`` that is not a string.

    >>> import gymnasium as gym, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> env = RecordReplay(gym.make("Boulanger-C4-v0", max_episode_steps=1), folder.name)
    >>> observation, info = env.reset(options={"code": "MS-C4-1"})
    >>> _ = env.step(733)
    >>> os.listdir(folder.name)
    ['000001-MS-C4-1.json']
    >>> folder.cleanup()
    """

    def __init__(
        self,
        env: gym.Env[Any, np.int64],
        folder: str | os.PathLike[str],
        games: Games = "all",
        agent: str = "",
    ) -> None:
        RecordConstructorArgs.__init__(self, folder=os.fspath(folder), games=games, agent=agent)
        gym.Wrapper.__init__(self, env)
        base = env.unwrapped
        if not isinstance(base, BoulangerEnv):
            raise BoulangerError(
                f"RecordReplay wraps a Boulanger environment, such as gym.make('Boulanger-C4-v0'), not {base}"
            )
        inside: Any = env
        while isinstance(inside, gym.Wrapper):
            if isinstance(inside, _CHANGE):
                name = type(inside).__name__
                raise BoulangerError(f"RecordReplay goes inside {name}: {name}(RecordReplay(env, folder))")
            inside = inside.env
        check_games(games)
        self._base = base
        self._games, self._agent = games, as_text("agent", agent)
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._first = next_number(self._folder)
        self._episodes = 0
        self._forget(None)

    def _forget(self, start: Game | None) -> None:
        self._start = start
        self._actions: list[int] = []
        self._rewards: list[float] = []
        self._annotations: dict[int, Annotation] = {}
        self._outcome: str | None = None
        self._cut = False
        self._seen: tuple[bytes, bytes, int] | None = None
        self._lost = False

    @property
    def replay(self) -> Replay:
        """The episode so far; a notebook displays it.

        Raises:
            gymnasium.error.ResetNeeded: there is no episode yet.
            ReplayError: the environment is not where the recorded actions have led, see ``step``.
        """
        internal.check_reset(self._base)
        if self._start is None or self._has_lost_it():
            raise ReplayError(
                "set_state(), or a step past this wrapper, has left the episode that was recorded: reset() begins the "
                "next one"
            )
        settings: Mapping[str, Any] = internal.settings_of(self._base).episode_keywords()
        if self._cut:
            settings = {**settings, "max_episode_steps": len(self._actions)}
        noted = [self._annotations.get(i) for i in range(len(self._actions))]
        return Replay(
            self._start,
            tuple(self._actions),
            self._outcome,
            tuple(self._rewards),
            settings,
            self._agent,
            tuple(noted) if any(noted) else (),
        )

    def annotate(
        self, choices: Mapping[int, float] | None = None, value: float | None = None, note: str = ""
    ) -> None:
        """Record what the agent thinks before its next action.

        Args:
            choices: actions of the environment and their probabilities; the five likeliest are kept.
            value: the value of the position.
            note: any text.

        Raises:
            ReplayError: a value is not a finite number, a probability is not within 0 to 1, an action is not one, or
                the note is not a string.
        """
        given = {} if choices is None else choices
        if not isinstance(given, Mapping):
            raise ReplayError(
                f"choices are {shown(given)}, they must be actions and their probabilities: {{733: 0.75}}"
            )
        noted = as_annotation(Annotation(tuple(given.items()), value, note))
        assert noted is not None
        likely = sorted(noted.choices, key=lambda choice: -choice[1])[:5]
        try:
            likely = [(self._place(action), probability) for action, probability in likely]
        except IllegalMoveError as error:
            raise ReplayError(f"choices: {error}") from None
        self._annotations[len(self._actions)] = noted._replace(choices=tuple(likely))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; an episode in progress is written first."""
        self._leave()
        result = self.env.reset(seed=seed, options=options)
        self._forget(internal.start_of(self._base))
        self._seen = internal.place_in_episode(self._base)
        return result

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play an action; the end of an episode writes it to its file.

        An episode that was left by ``set_state`` or by a step past this wrapper is not recorded further, nor written,
        unless it was returned to before the next step: a planner may search in this environment.

        Raises:
            IllegalMoveError: as the environment does; such an action is not recorded.
            ReplayError: a wrapper inside has changed actions or rewards.
            OSError: the file cannot be written.
        """
        place = None
        with contextlib.suppress(IllegalMoveError):  # which the environment raises too
            place = self._place(action)
        self._lost = self._has_lost_it()
        result = self.env.step(action)
        if self._lost:
            return result
        _, reward, terminated, truncated, _ = result
        self._actions.append(self._place(action) if place is None else place)
        self._rewards.append(float(reward))
        self._seen = internal.place_in_episode(self._base)
        if terminated or truncated:
            own = internal.outcome_of(self._base)
            # Without an outcome of its own, it was truncated from outside.
            self._cut = own is None
            self._outcome = own or TRUNCATED
            self._write()
        return result

    def _place(self, action: Any) -> int:
        """The action of the action table that an action of the environment stands for now.

        Raises:
            IllegalMoveError: it is not one of the environment's.
        """
        n_actions = internal.settings_of(self._base).n_actions
        return internal.place_of_action(self._base, action_id(action, n_actions))

    def close(self) -> None:
        """Close the environment; an episode in progress is written first."""
        self._leave()
        self._forget(None)
        super().close()

    def _leave(self) -> None:
        if self._actions and self._outcome is None and not self._has_lost_it():
            self._write()

    def _has_lost_it(self) -> bool:
        """Whether the environment is somewhere else than the recorded actions have led."""
        return self._lost or self._seen != internal.place_in_episode(self._base)

    def _write(self) -> None:
        number = self._episodes
        self._episodes += 1
        if is_wanted(self._games, number, self._outcome):
            replay = self.replay
            with alone_in(self._folder):
                # Another environment may record into the same folder after all.
                while (path := self._folder / file_name(self._first + number, replay.start.code)).exists():
                    self._first += 1
                replay.save(path)
