"""``BoulangerVectorEnv``: many games per step, in one compiled call."""

from __future__ import annotations

import copy as copying
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from boulanger_env.deals import Starts
from boulanger_env.game.checks import as_array, is_whole, shown, whole_number
from boulanger_env.game.errors import BoulangerError, IllegalMoveError
from boulanger_env.game.game import Game
from boulanger_env.game.internal import game_of, rows_of
from boulanger_env.game.jit import Resolved
from boulanger_env.game.outcomes import O_RUNNING, O_WON, OUTCOMES
from boulanger_env.game.start_draws import NO_START
from boulanger_env.game.state import MOVES, SCORE, State
from boulanger_env.game.turns import Turn
from boulanger_env.render.layout import DEFAULT_SIZE
from boulanger_env.render.view import RENDER_FPS, RENDER_MODES, Frame, View

from ._batch.infos import Infos
from ._batch.loops import (
    B_ILLEGAL,
    B_WON,
    DISABLED,
    E_GROUP,
    E_OUTCOME,
    E_POSITION,
    E_START,
    E_STEPS,
    F_RETURN,
    I_GROUP,
    I_LENGTH,
    I_MOVES,
    I_SCORE,
    I_START,
    NEXT_STEP,
    OUTCOME_TEXTS,
    SAME_STEP,
    Crew,
    Games,
    all_below,
    begin_given,
    first_illegal,
    observe_all,
    start_games,
    step_batch,
    write_masks,
)
from ._batch.outputs import OutputPool, Outputs
from ._batch.sharing import S_ENDED, games_a_part
from ._batch.stepping import CODE_DTYPE, RAISE
from ._batch.visits import SMALLEST, room, with_room
from ._batch.workers import Workers
from .observations import Bits, Cards, Observation
from .options import (
    ActionKind,
    Autoreset,
    BatchKeywords,
    BatchMask,
    DealOrder,
    IllegalAction,
    ObservationKind,
    ObservationT,
    RenderMode,
    RewardName,
)
from .refusals import refuse
from .resetting import read_reset_options, read_seeds
from .rewards import Reward
from .settings import DEFAULT_LIMIT, NO_LIMIT, Deals, Settings
from .states import GameState, checked_state, read_indices, read_state, write_state

if TYPE_CHECKING:
    from typing_extensions import Unpack

_AUTORESET = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}
_INT64 = np.dtype(np.int64)
MOST_ENVS, MOST_THREADS = 1 << 24, 1024


class BoulangerVectorEnv(VectorEnv[ObservationT, NDArray[np.int64], NDArray[Any]]):
    """A batch of games of Jeu du Boulanger; each plays exactly like a ``BoulangerEnv`` with the same keywords.

    Rules, spaces, rewards and keywords are documented in :class:`BoulangerEnv`. The
    whole step is one compiled call: moves, rewards, masks, observations, and the next deals.

    **Seeds.** Sub-environment ``i`` of ``reset(seed=s)`` plays the games of a single environment seeded with ``s + i``,
    also after autoresets. In a sequence of deals it plays deals ``i``, ``i + n``, ``i + 2n``, ...

    **Infos.** Each key of the single environment's info is an array with one entry per game. As in Gymnasium, a bool
    array under ``"_" + key`` marks the valid entries, here all of them. ``action_mask`` is int8 ``(n, n_actions)``.
    Additional keys are ``episode_return`` (float64) and ``episode_length`` (int64, actions), which are 0 except on the
    last step of an episode. With SAME_STEP, the infos of ended episodes are in ``final_info``, with the same keys and
    with bool arrays that mark them (its ``action_mask`` is read-only), and ``final_obs`` holds their last observations
    (an object array). With NEXT_STEP the action sent to a game that has ended is ignored. ``array_infos=True`` leaves
    out the strings, ``code`` and ``outcome``.

    Args:
        num_envs: games in the batch, n.
        n_cells: and all other keywords down to ``render_size``: see :class:`BoulangerEnv`.
        autoreset_mode: a member of ``gymnasium.vector.AutoresetMode`` or its value.
        num_threads: threads that share the games; does not affect the results.
        copy: return new arrays. False: observations, masks, rewards and infos are the same arrays at every
            step, overwritten by the next.

    Raises:
        BoulangerError: a keyword has an invalid value.

    >>> envs = BoulangerVectorEnv(3, observation="cards")
    >>> observations, infos = envs.reset(seed=7)
    >>> observations["tableau"].shape, infos["action_mask"].shape
    ((3, 8, 19), (3, 780))
    >>> from boulanger_env.envs import sample_legal
    >>> actions = sample_legal(infos["action_mask"], np.arange(3, dtype=np.uint64))
    >>> observations, rewards, terminations, truncations, infos = envs.step(actions)
    >>> infos["moves"]
    array([1, 1, 1])
    """

    @overload
    def __init__(
        self: BoulangerVectorEnv[Bits],
        num_envs: int = 1,
        n_cells: int = 4,
        *,
        observation: Literal["features"] = "features",
        **keywords: Unpack[BatchKeywords],
    ) -> None: ...

    @overload
    def __init__(
        self: BoulangerVectorEnv[Cards],
        num_envs: int = 1,
        n_cells: int = 4,
        *,
        observation: Literal["cards"],
        **keywords: Unpack[BatchKeywords],
    ) -> None: ...

    @overload
    def __init__(
        self: BoulangerVectorEnv[Observation],
        num_envs: int = 1,
        n_cells: int = 4,
        *,
        observation: ObservationKind,
        **keywords: Unpack[BatchKeywords],
    ) -> None: ...

    def __init__(
        self,
        num_envs: int = 1,
        n_cells: int = 4,
        *,
        deals: Deals = None,
        deal_order: DealOrder = "random",
        observation: ObservationKind = "features",
        actions: ActionKind = "places",
        auto_foundation: bool = False,
        no_repeats: bool = False,
        reward: RewardName | Reward | Mapping[str, float] = "score",
        illegal_action: IllegalAction = "penalize",
        allow_undo: bool = False,
        prune: bool = False,
        max_episode_steps: int | None = DEFAULT_LIMIT,
        array_infos: bool = False,
        render_mode: RenderMode | None = None,
        render_size: Sequence[int] = DEFAULT_SIZE,
        autoreset_mode: AutoresetMode | Autoreset = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        copy: bool = True,
    ) -> None:
        self._num_envs = whole_number("num_envs", num_envs, most=MOST_ENVS)
        self._spec: EnvSpec | None = None
        self._settings = settings = Settings(
            n_cells=n_cells,
            deals=deals,
            deal_order=deal_order,
            observation=observation,
            actions=actions,
            auto_foundation=auto_foundation,
            no_repeats=no_repeats,
            reward=reward,
            illegal_action=illegal_action,
            allow_undo=allow_undo,
            prune=prune,
            max_episode_steps=max_episode_steps,
            array_infos=array_infos,
            render_mode=render_mode,
            render_size=render_size,
        )
        self.num_threads = min(whole_number("num_threads", num_threads, most=MOST_THREADS), self.num_envs)
        self.copy = bool(copy)
        try:
            self._autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(str(mode) for mode in AutoresetMode)
            raise BoulangerError(
                f"autoreset_mode={shown(autoreset_mode)} is unknown: choose one of {modes}"
            ) from None
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode = render_mode
        self._turn = Turn("environment")
        self._view = View(render_mode, settings.size, self.num_envs)
        self.single_action_space = settings.action_space()
        self.single_observation_space = settings.observation_space()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

        n = self.num_envs
        self._games = Games.make(n, settings.no_repeats)
        self._rules, self._decks = settings.rules(), settings.decks()
        self._raises = settings.when_illegal == RAISE
        self._is_reset = False
        self._room = 0
        self._workers = Workers(self.num_threads)
        self._crew = Crew(games_a_part(n, self.num_threads), np.zeros((self.num_threads, 52), np.uint8))
        self._step_batch = Resolved(step_batch)
        self._outputs = OutputPool(
            n,
            settings.n_actions,
            settings.observation,
            finals=self.autoreset_mode is AutoresetMode.SAME_STEP,
            left_out=settings.left_out,
            reuse_always=not copy,
        )

    # What determines the arrays' sizes cannot be set: kernels would write out of bounds.

    @property
    def num_envs(self) -> int:  # type: ignore[override]
        """Games in the batch."""
        return self._num_envs

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """How the next episode of a game begins."""
        return self._autoreset_mode

    @property
    def spec(self) -> EnvSpec | None:
        """The spec of ``make_vec``, with the limit of this batch."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            # make_vec passes the registered spec.
            limit = self._settings.max_episode_steps
            spec = replace(spec, max_episode_steps=None if limit == NO_LIMIT else limit)
        self._spec = spec

    @property
    def starts(self) -> Starts:
        """The positions that episodes start from, with their weights.

        Raises:
            AttributeError: the environment was not made with ``Starts`` as its ``deals``.
        """
        return self._settings.source.given_starts()

    # -- the vector environment -------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[ObservationT, dict[str, Any]]:
        """Start an episode in every sub-environment, or in some.

        Args:
            seed: an int (sub-environment i takes ``seed + i``) or one per sub-environment, None to leave its
                deal stream as it is.
            options: at most one of ``codes`` (game codes), ``boards`` (text boards, with this environment's
                ``n_cells``) and ``games`` (``Game``s, copied with their score and undo history), one per
                sub-environment; ``reset_mask``, bool ``(n,)``: only the marked ones are reset, and the current state
                of the others is returned.

        Raises:
            BoulangerError: an unknown option, or an invalid seed, code, board, game or mask, or a position without a
                legal move. Nothing is changed.
        """
        chosen, games = read_reset_options(options, self.num_envs, self._settings)
        seeds = read_seeds(seed, self.num_envs)
        with self._turn:
            return self._start(seed, seeds, chosen, games)

    def _start(
        self, seed: Any, seeds: list[int | None], chosen: NDArray[np.bool_], games: dict[int, Game] | None
    ) -> tuple[ObservationT, dict[str, Any]]:
        if not self._is_reset:
            if not chosen.all():
                raise ResetNeeded("the first reset() must reset every sub-environment: leave out reset_mask")
            self._games.episodes[:, E_POSITION] = np.arange(self.num_envs)
            unseeded = [i for i, s in enumerate(seeds) if s is None]
            if unseeded:
                fresh, _ = seeding.np_random()
                self._games.streams[unseeded] = fresh.integers(2**64, size=len(unseeded), dtype=np.uint64)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        for i, s in enumerate(seeds):
            if s is not None and chosen[i]:
                generator, _ = seeding.np_random(s)
                self._games.streams[i] = generator.integers(2**64, dtype=np.uint64)
                self._games.episodes[i, E_POSITION] = i
        if games is None:
            start_games(chosen, self._games, self._rules, self._decks, self._crew.scratch[0])
        else:
            for i, game in games.items():
                self._give(i, game)
        self._is_reset = True
        if self.render_mode == "human":
            self.render()
        return self._state_of_all()

    def step(
        self, actions: NDArray[np.int64] | Sequence[int]
    ) -> tuple[ObservationT, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action in every game: integers of ``single_action_space``, legal or not.

        Raises:
            IllegalMoveError: an action is not an integer of the action space; or, with
                ``illegal_action="raise"``, the rules forbid it. No game is changed.
            gymnasium.error.ResetNeeded: before the first reset; with DISABLED, a game that has ended.
        """
        with self._turn:
            outputs, n_ended = self._play(actions)
            observations: Any = outputs.frames.observation()
            return (observations, *outputs.results, outputs.infos.take(n_ended))

    def _play(self, actions: Any) -> tuple[Outputs, int]:
        """Make a step; return its outputs and the number of games that ended."""
        with self._turn:
            return self._step_all(actions)

    def _step_all(self, actions: Any) -> tuple[Outputs, int]:
        self._check_reset()
        if self._settings.no_repeats:
            self._make_room()
        if self.autoreset_mode is AutoresetMode.DISABLED and self._over().any():
            raise ResetNeeded(
                f"sub-environments {np.flatnonzero(self._over()).tolist()} have ended: reset them with options "
                "{'reset_mask': ...} before the next step()"
            )
        actions = self._read_actions(actions)
        outputs = self._outputs.take()
        n_ended = self._run(actions, outputs)
        if self.render_mode == "human":
            self.render()
        return outputs, n_ended

    def action_masks(self) -> BatchMask:
        """The legal actions of every game, a new bool array ``(n, n_actions)``.

        Raises:
            gymnasium.error.ResetNeeded: there are no games yet.
        """
        self._check_reset()
        mask = np.empty((self.num_envs, self._settings.n_actions), np.bool_)
        with self._turn:
            write_masks(self._games, self._rules, mask.view(np.int8))
        return mask

    def get_state(self, indices: Sequence[int] | NDArray[np.integer[Any]] | None = None) -> GameState:
        """Everything that determines how some games continue, including the streams of their next deals.

        Not included are this environment's keywords, the weights of its ``starts`` and states of wrappers around it.

        Args:
            indices: sub-environments, possibly repeated; None for all.

        Returns:
            Plain arrays with one row per game, copied; ``np.savez`` saves them. Rows may be selected, repeated
            and concatenated, in all arrays alike, but not modified.

        Raises:
            BoulangerError: there is no such sub-environment.
            gymnasium.error.ResetNeeded: there are no games yet.

        >>> envs = BoulangerVectorEnv(2)
        >>> _ = envs.reset(seed=7)
        >>> state = envs.get_state()
        >>> codes = [envs.reset()[1]["code"].tolist() for _ in range(2)]
        >>> _ = envs.set_state(state)
        >>> [envs.reset()[1]["code"].tolist() for _ in range(2)] == codes
        True
        """
        self._check_reset()
        with self._turn:
            return read_state(self._games, read_indices(indices, self.num_envs, distinct=False))

    def set_state(
        self,
        state: Mapping[str, NDArray[Any]],
        indices: Sequence[int] | NDArray[np.integer[Any]] | None = None,
    ) -> tuple[ObservationT, dict[str, Any]]:
        """Continue games from a state, exactly as an environment with the same keywords would.

        Args:
            state: as returned by ``get_state``, of this batch, of another, or of a ``BoulangerEnv``; also what
                ``np.load`` makes of a file.
            indices: the sub-environments to set, in the order of the state's rows; None for all.

        Returns:
            The observations and infos of all games, as from ``reset``.

        Raises:
            BoulangerError: it is not a state of so many games, its version is another, its keywords keep other arrays,
                it was modified, or an index is wrong. Nothing is changed.
            gymnasium.error.ResetNeeded: there are no games yet and not all are set.
        """
        chosen = read_indices(indices, self.num_envs, distinct=True)
        count = self.num_envs if isinstance(chosen, slice) else len(chosen)
        with self._turn:
            arrays = checked_state(
                state, self._games, count, auto_foundation=bool(self._rules.auto_foundation)
            )
            if not isinstance(chosen, slice):
                self._check_reset()
            self._games, self._room = write_state(arrays, self._games, chosen), 0
            self._is_reset = True
            if self.render_mode == "human":
                self.render()
            return self._state_of_all()

    def game(self, i: int) -> Game:
        """A copy of sub-environment ``i``'s current game.

        Raises:
            BoulangerError: there is no such sub-environment.
            gymnasium.error.ResetNeeded: there are no games yet.
        """
        self._check_reset()
        if not is_whole(i, 0, self.num_envs - 1):
            raise BoulangerError(
                f"there is no sub-environment {shown(i)}: they are numbered 0 to {self.num_envs - 1}"
            )
        with self._turn:
            return self._live_game(i).copy()

    def render(self) -> tuple[Frame, ...] | None:
        """Render every game in ``render_mode``, as a tuple, as Gymnasium's wrappers expect.

        Returns:
            ``"ansi"``: strings; ``"rgb_array"``: new uint8 arrays ``(height, width, 3)``, each of size ``render_size``;
            ``"human"``: None, and the window shows :meth:`render_together`, as it does after each reset and step.
            Without a mode: None, and a warning.

        Raises:
            BoulangerError: there is no display to open a window on.
            gymnasium.error.ResetNeeded: there are no games to draw yet.
        """
        if self.render_mode is None:
            gym.logger.warn(
                "render() draws nothing without a render_mode: use render_mode='ansi' or 'rgb_array'"
            )
            return None
        self._check_reset()
        with self._turn:
            if self.render_mode == "human":
                self._view.show(self._shown)
                return None
            return tuple(self._view.draw(*self._shown(i)) for i in range(self.num_envs))

    def render_together(self) -> NDArray[np.uint8]:
        """The games side by side in one picture, in any ``render_mode``.

        Games are scaled down to fit; a picture of the default size has room for nine. If there are more, only the
        first are shown.

        Returns:
            A new uint8 array ``(height, width, 3)`` of size ``render_size``.

        Raises:
            gymnasium.error.ResetNeeded: there are no games to draw yet.
        """
        self._check_reset()
        with self._turn:
            return self._view.draw_together(self._shown)

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads and close the window."""
        # Some Gymnasium releases close environments whose construction failed.
        view: View | None = getattr(self, "_view", None)
        if view is not None:
            view.close()
        workers: Workers | None = getattr(self, "_workers", None)
        if workers is not None:
            workers.stop()

    def _check_reset(self) -> None:
        if not self._is_reset:
            raise ResetNeeded("call reset() first: there are no games yet")

    # -- checking input ---------------------------------------------------------------------------------------

    def _over(self) -> NDArray[np.bool_]:
        """Which games have ended and have not been reset."""
        return np.asarray(self._games.episodes[:, E_OUTCOME] != O_RUNNING)

    def _read_actions(self, actions: Any) -> NDArray[np.int64]:
        """Checked actions; those of games that have ended are ignored and may be any integers."""
        array = as_array("actions", actions, IllegalMoveError)
        count = self._settings.n_actions
        plain = array.dtype is _INT64 and array.shape == (self.num_envs,) and array.flags.carray
        if plain and all_below(array, count):
            return self._refuse_illegal(array)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise IllegalMoveError(
                f"actions of dtype {array.dtype} and shape {array.shape}: "
                f"a step takes integers, shape ({self.num_envs},)"
            )
        wrong = np.flatnonzero(((array < 0) | (array >= count)) & ~self._over())
        if len(wrong):
            raise IllegalMoveError(
                f"action {array[wrong[0]]} of sub-environment {wrong[0]} does not exist: "
                f"actions are numbered 0 to {count - 1}"
            )
        # Otherwise the kernels would be compiled again.
        return self._refuse_illegal(array if plain else np.array(array, np.int64, order="C"))

    def _refuse_illegal(self, array: NDArray[np.int64]) -> NDArray[np.int64]:
        """The actions, unless one of them is illegal and must raise."""
        if self._raises:
            i = int(first_illegal(self._games, array, self._rules))
            if i >= 0:
                try:
                    refuse(self.game(i), int(array[i]), self._rules)
                except IllegalMoveError as error:
                    raise IllegalMoveError(f"sub-environment {i}: {error}") from None
        return array

    @property
    def _codes(self) -> NDArray[np.str_]:
        """The codes of the games ``(n,)``, a view of the memory that the kernels write to."""
        codes: NDArray[np.str_] = self._games.codes.view(CODE_DTYPE)[:, 0]
        return codes

    # -- inside -----------------------------------------------------------------------------------------------

    def _run(self, actions: NDArray[np.int64], outputs: Outputs) -> int:
        """Make one compiled call in each thread; return the number of games that ended."""

        def run(shared: NDArray[np.int64], thread: int) -> None:
            self._step_batch(
                shared,
                thread,
                self._crew,
                actions,
                self._games,
                self._rules,
                self._decks,
                _AUTORESET[self.autoreset_mode],
                outputs.written,
            )

        return self._workers.run(run, self.num_envs).item(S_ENDED)

    def _make_room(self) -> None:
        """Make sure that each game can remember one more position."""
        if self._room == 0:
            games = self._games
            if room(games.heads) < SMALLEST // 4:
                heads, visited = with_room(games.heads, games.visited)
                self._games = games._replace(heads=heads, visited=visited)
            self._room = room(self._games.heads)
        self._room -= 1

    def _give(self, i: int, game: Game) -> None:
        games = self._games
        games.boards[i], games.counters[i], games.history[i] = rows_of(game)
        self._codes[i] = game.code or ""
        games.episodes[i, [E_STEPS, E_OUTCOME, E_START, E_GROUP]] = 0, O_RUNNING, NO_START, NO_START
        begin_given(i, games, self._rules)

    def _state_of_all(self) -> tuple[Any, Infos]:
        """Observation and infos of all games after a reset, including those that were not reset."""
        outputs = self._outputs.take()
        frames, events = outputs.frames, outputs.events
        outcomes = self._games.episodes[:, E_OUTCOME]
        write_masks(self._games, self._rules, frames.mask)
        observe_all(self._games, frames.seen)
        over = outcomes != O_RUNNING
        events.ints[I_SCORE] = self._games.counters[:, SCORE]
        events.ints[I_MOVES] = self._games.counters[:, MOVES]
        events.ints[I_LENGTH] = np.where(over, self._games.episodes[:, E_STEPS], 0)
        events.ints[I_START] = self._games.episodes[:, E_START]
        events.ints[I_GROUP] = self._games.episodes[:, E_GROUP]
        events.floats[F_RETURN] = np.where(over, self._games.returns, 0)
        events.bools[B_WON] = outcomes == O_WON
        events.bools[B_ILLEGAL] = False
        events.outcomes[:] = OUTCOME_TEXTS[outcomes]
        events.codes[:] = self._codes
        return frames.observation(), outputs.infos.take(0)

    def _origins(self) -> list[tuple[str, int, int]]:
        """Code, start and group of each game."""
        episodes = self._games.episodes
        columns = self._codes, episodes[:, E_START], episodes[:, E_GROUP]
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _live_game(self, i: int) -> Game:
        code = str(self._codes[i]) or None
        games = self._games
        return game_of(State(games.boards[i], games.counters[i], games.history[i]), code)

    def _shown(self, i: int) -> tuple[Game, str | None]:
        """A game and its outcome, which is known until the next reset."""
        return self._live_game(i), OUTCOMES[self._games.episodes[i, E_OUTCOME]]

    def __copy__(self) -> BoulangerVectorEnv:
        # Two environments on the same rows would play each other's games.
        return copying.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        # The decks are made again from the settings: those of a copy must be of its own starts.
        kept = {name: value for name, value in self.__dict__.items() if name != "_decks"}
        return kept | {"_workers": Workers(self.num_threads)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Ray and joblib hand over arrays in shared memory, which cannot be written to.
        self._games, self._crew, self._rules = copying.deepcopy((self._games, self._crew, self._rules))
        self._decks = self._settings.decks()
