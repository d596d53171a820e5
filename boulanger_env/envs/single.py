"""``BoulangerEnv``: one game as a Gymnasium environment."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from boulanger_env.deals import Starts
from boulanger_env.game.game import Game
from boulanger_env.game.internal import game_of, rows_of
from boulanger_env.game.jit import Resolved, kernel
from boulanger_env.game.moves import action_id
from boulanger_env.game.outcomes import O_RUNNING, O_TRUNCATED, O_WON, OUTCOMES
from boulanger_env.game.start_draws import NO_START
from boulanger_env.game.state import MOVES, SCORE, Array, State, new_state
from boulanger_env.game.turns import Turn
from boulanger_env.render.layout import DEFAULT_SIZE
from boulanger_env.render.view import RENDER_FPS, RENDER_MODES, Frame, View

from ._batch.infos import as_arrays
from ._batch.loops import E_GROUP, E_OUTCOME, E_POSITION, E_START, E_STEPS, Games
from ._batch.stepping import (
    CODE_DTYPE,
    INFO_OUTCOMES,
    RAISE,
    Decks,
    Rules,
    begin_episode,
    is_legal,
    letters,
    new_game,
    step_game,
    write_mask,
)
from ._batch.visits import Visits, first_visits, make_room, room
from .observations import KINDS, Bits, Cards, Observation, write_observation
from .options import (
    ActionKind,
    DealOrder,
    IllegalAction,
    Keywords,
    Mask,
    ObservationKind,
    ObservationT,
    RenderMode,
    RewardName,
)
from .refusals import refuse
from .resetting import read_game_option, read_seed
from .rewards import Reward
from .settings import DEFAULT_LIMIT, NO_LIMIT, Deals, Settings
from .states import GameState, checked_state, read_state, write_state

if TYPE_CHECKING:
    from typing_extensions import Unpack


class BoulangerEnv(gym.Env[ObservationT, np.int64]):
    """Jeu du Boulanger (Baker's Game) as a reinforcement-learning environment.

    ## Description

    A patience with all 52 cards face up from the start: 8 columns, 4, 2 or 1 free cells, 4 foundations. The top
    card of a column may go onto the next higher card of its own suit, to a free cell, to an empty column, or home
    to its foundation, where each suit is built from ace to king. An ordered run moves as one move if there are enough
    free cells and empty columns to move it card by card. The game is won when all cards are home.

    There is no hidden information and no chance after the deal. About three deals in four can be won with 4 cells,
    few with 2 (1424 of the Microsoft deals 1-32000) and hardly any with 1 (68 of them).

    ## Action Space

    `Discrete(780)`: each action is a move `(source, destination, size)`. `boulanger_env.ACTION_TABLE` lists them.

    | ids     | move                                     | id of a move                            |
    |---------|------------------------------------------|-----------------------------------------|
    | 0-727   | column s to column d, k cards            | `(s * 7 + d - (d > s)) * 13 + k - 1`    |
    | 728-735 | column s to a free cell (leftmost empty) | `728 + s`                               |
    | 736-743 | column s to its foundation               | `736 + s`                               |
    | 744-775 | cell c to column d                       | `744 + 8 * c + d`                       |
    | 776-779 | cell c to its foundation                 | `776 + c`                               |
    | 780     | undo, only with `allow_undo=True`        | `780`                                   |

    About a dozen of these are legal at a time. Two other numberings, which `actions` chooses, name the same moves
    without their places, so that an action keeps its meaning when columns and cells are permuted:

    `actions="cards"`: `Discrete(204)`, a card and where it goes. `boulanger_env.envs.CARD_ACTION_TABLE` lists them.

    | ids     | move                                                  | id of a move           |
    |---------|-------------------------------------------------------|------------------------|
    | 0-47    | the card onto its parent, the next higher of its suit | `suit * 12 + rank - 1` |
    | 48-99   | the card to the leftmost empty column                 | `48 + card - 1`        |
    | 100-151 | the card to a cell                                    | `100 + card - 1`       |
    | 152-203 | the card to its foundation                            | `152 + card - 1`       |

    Cards are `suit * 13 + rank` (1-52). In the first two rows the cards that lie on the card move with it, so they
    must be a run. Only the choice between empty columns has no name.

    `actions="taps"`: `Discrete(12)`, a double tap on a column (0-7) or a cell (8-11), as in the app. It moves one card
    to the first of these that takes it: its foundation, its parent, the leftmost empty column, a free cell. Not every
    game that can be won can be won this way, because the tap chooses the destination.

    In each, undo is one more action, the last. An action that stands for no move now (its card is covered, its parent
    is not on top of a column, ...) is an illegal action like any other.

    `info["action_mask"]` marks the legal actions (int8, for `action_space.sample`),
    and so does `action_masks()` (bool, for MaskablePPO). Once an episode has terminated the mask is all ones: nothing
    is legal then, and an all-zero mask would break samplers. After a truncation it is the mask of the position.

    ## Observation Space

    * `observation="features"` (default): `Box(0, 1, (2076,), uint8)`, one flat vector of bits in named ranges
      (`boulanger_env.envs.FEATURES`): where each card lies and what lies on it, runs, legality, progress.
    * `observation="cards"`: `Dict(tableau=Box(0, 52, (8, 19)), cells=Box(0, 53, (4,)), foundations=Box(0, 13, (4,)))`,
      all uint8: card ids `suit * 13 + rank` (spades, hearts, diamonds, clubs; ace = 1), 0 for none, 53 for a cell
      that this game does not have, and the rank each foundation has reached.

    `boulanger_env.envs.board_from_observation` turns either back into the board.

    ## Rewards

    A step's reward is the sum of its events, each with a value in `Reward`: `foundation` (a card home), `from_cell` (a
    card from a cell to a column), `win`, `stuck`, `illegal`, and `step` for every action. Undo takes back the reward
    of the undone move's events. Presets: `"score"` (default; the app's score: 10 home, 5 from a cell, and -1 for an
    illegal action), `"win"` (1 for a win), `"foundation"` (1 for a card home).

    The 5 points for a card from a cell can be earned again and again by moving a card to a cell and back. An agent
    that maximises the score can farm them until the step limit: rank agents by wins, or train on another reward.

    ## Automatic Foundation Moves

    With `auto_foundation=True`, all legal foundation moves are played automatically after each action and at
    reset: such a move is never a mistake. So the mask never contains one. They count as moves, not as steps;
    their points and rewards belong to the action before them, and those at reset to the first action, so that
    with the reward `"score"` an episode's return is still its score. Undo takes back the player's own last move
    together with the foundation moves after it; those at reset stay, unless the game was given with a
    history, which can be taken back too. A start that they would end is rejected.

    ## No Repeated Positions

    With `no_repeats=True`, a move to a position that occurred earlier in the episode is illegal and not in the
    mask; if no other move is left, the game is `"stuck"`. Positions that differ only in the order of columns or of
    cells are the same, and with `auto_foundation` the one after the foundation moves counts. (A card that has gone
    home stays there, so no position from before can come back.) The game is then finite, and points cannot be
    farmed. A policy that always plays its likeliest move needs this to avoid going round in circles. Only the mask
    shows what is forbidden, not the observation. It cannot be combined with `allow_undo`.

    ## Starting State

    A new deal, with all cells and foundations empty. `reset(seed=s)` starts a stream of random deals; each later
    `reset()` deals its next game. `reset(options={"code": ...})` deals a given game; `{"board": text}` and
    `{"game": Game}` start from a position. Random deals never have codes reserved for evaluation (`TST...` and
    `VAL...`). With `deals=Starts(...)` episodes start from positions drawn by weight, see `boulanger_env.deals.Starts`.

    ## Episode End

    * Termination: the game is won, or stuck (no legal action; undo does not count). With `illegal_action="terminate"`,
      also after an illegal action.
    * Truncation: after `max_episode_steps` actions, including illegal ones and undo. The default is 500 for `gym.make`,
      `make_vec` and the class; -1 means no limit.

    ## Information

    The same keys at every step, `reset` included:

    | key               | value                                                                                |
    |-------------------|--------------------------------------------------------------------------------------|
    | `action_mask`     | int8, one entry per action; a new array                                              |
    | `score`, `moves`  | int; the app's score and the number of moves, without undone ones                    |
    | `illegal_action`  | bool                                                                                 |
    | `code`            | str; `""` for a game given as a board                                                |
    | `outcome`         | str; `""` while playing, then `"won"`, `"stuck"` or `"illegal"`                      |
    | `is_success`      | bool, won                                                                            |
    | `start`, `group`  | int; only with `Starts`: the position's index and group, -1 for another game         |

    Only `truncated` reports a truncation, whether by the environment or by a `TimeLimit` around it. With
    `array_infos=True` everything can become a tensor: `code` and `outcome` are left out, and numbers are
    zero-dimensional NumPy arrays (for TorchRL, `gymnasium.wrappers.vector.NumpyToTorch`).

    ## Arguments

    | keyword | default | meaning |
    |---------------------|--------------|--------------------------------------------------------------------------------|
    | `n_cells` | 4 | cells of the random games: 4, 2 or 1 (a code sets its own count) |
    | `deals` | `None` | None = random BK1 games; the name of a set; a `DealSet`; a list of codes; `Starts` |
    | `deal_order` | `"random"` | `"random"` or `"sequential"` (from the first, wrapping around; a seed restarts) |
    | `observation` | `"features"` | `"features"` or `"cards"` |
    | `actions` | `"places"` | `"places"`, `"cards"` or `"taps"`: see Action Space |
    | `auto_foundation` | `False` | automatic foundation moves: see above |
    | `no_repeats` | `False` | no position twice in an episode: see above |
    | `reward` | `"score"` | a preset's name, a `Reward`, or a dict with its keys |
    | `illegal_action` | `"penalize"` | the game stays as it is; `"terminate"`; `"raise"` (`IllegalMoveError`) |
    | `allow_undo` | `False` | adds one more action; it reaches 100 moves back |
    | `prune` | `False` | the mask leaves out moves to equivalent positions; playing them stays legal |
    | `max_episode_steps` | 500 | actions before truncation; -1 for no limit; None means the default, 500 |
    | `array_infos` | `False` | infos hold only arrays, for tensors: see Information |
    | `render_mode` | `None` | `"ansi"` (text), `"rgb_array"` (pictures), `"human"` (a window) |
    | `render_size` | `(960, 640)` | width and height of pictures and the window, in pixels |

    The environment that `gym.make` builds has no limit of its own: Gymnasium wraps it in a `TimeLimit`. (That wrapper
    also sets `truncated` if the last allowed step ends the game; the environment's own limit does not.)

    ## References

    * C. Blake and I. P. Gent, "The Winnability of Klondike Solitaire and Many Other Patience Games" (arXiv:1906.12314):
      75.053 ± 0.028 % of the deals with 4 cells can be won.

    ## Version History

    * v0: first version.

    Raises:
        BoulangerError: a keyword has an invalid value.

    >>> env = BoulangerEnv()
    >>> observation, info = env.reset(options={"code": "BK1-C4-AAAAA24"})
    >>> observation.shape, int(info["action_mask"].sum()), info["code"]
    ((2076,), 9, 'BK1-C4-AAAAA24')
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012 - as in gymnasium.Env

    @overload
    def __init__(
        self: BoulangerEnv[Bits],
        n_cells: int = 4,
        *,
        observation: Literal["features"] = "features",
        **keywords: Unpack[Keywords],
    ) -> None: ...

    @overload
    def __init__(
        self: BoulangerEnv[Cards],
        n_cells: int = 4,
        *,
        observation: Literal["cards"],
        **keywords: Unpack[Keywords],
    ) -> None: ...

    @overload
    def __init__(
        self: BoulangerEnv[Observation],
        n_cells: int = 4,
        *,
        observation: ObservationKind,
        **keywords: Unpack[Keywords],
    ) -> None: ...

    def __init__(
        self,
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
    ) -> None:
        self._settings = Settings(
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
        self.render_mode = render_mode
        self._turn = Turn("environment")
        self._view = View(render_mode, self._settings.size)
        self.action_space = self._settings.action_space()
        self.observation_space = self._settings.observation_space()
        self._kind = KINDS[observation]
        self._rules, self._decks = self._settings.rules(), self._settings.decks()
        self._rows = new_state()
        self._visits = first_visits(self._settings.no_repeats)
        self._step, self._deal = Resolved(_step), Resolved(_new_game)
        self._begin, self._write_mask = Resolved(_begin), Resolved(_write_mask)
        self._mask = np.zeros(self._settings.n_actions, np.int8)
        self._scratch = np.empty(52, np.uint8)
        self._stream: np.uint64 | None = None
        self._position = 0
        self._drawn = NO_START, NO_START
        self._steps = 0
        self._moves_at_reset = 0
        self._return = 0.0
        self._room = 0
        self._raises = self._settings.when_illegal == RAISE
        self._array_infos = self._settings.array_infos
        self._code: str | None = None
        self._state = "new"
        self._outcome: str | None = None

    @property
    def starts(self) -> Starts:
        """The positions that episodes start from, with their weights.

        Raises:
            AttributeError: the environment was not made with ``Starts`` as its ``deals``.
        """
        return self._settings.source.given_starts()

    @property
    def game(self) -> Game:
        """A copy of the current game.

        Raises:
            gymnasium.error.ResetNeeded: there is no game yet.
        """
        with self._turn:
            self._check_reset()
            return self._live_game().copy()

    def action_masks(self) -> Mask:
        """The legal actions, bool ``(n_actions,)``, in the form that MaskablePPO expects.

        Raises:
            gymnasium.error.ResetNeeded: there is no game yet.
        """
        self._check_reset()
        return self._mask.astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObservationT, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: restarts the stream of random deals (and a sequence of deals from its first).
            options: at most one of ``code`` (a game code), ``board`` (a text board, with this environment's
                ``n_cells``) and ``game`` (a ``Game``, copied with its score and undo history).

        Raises:
            BoulangerError: an unknown option, more than one option, or a position without a legal move, also after
                foundation moves that play themselves; a malformed code or board raises its own subclass. The episode
                in progress is unchanged.
        """
        with self._turn:
            game = read_game_option(options, self._settings)
            return self._start(game, read_seed(seed))

    def _start(self, game: Game | None, seed: int | None) -> tuple[ObservationT, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or self._stream is None:
            self._stream = self.np_random.integers(2**64, dtype=np.uint64)
            self._position = 0
        if game is not None:
            rows = self._rows
            rows.board[:], rows.counters[:], rows.history[:] = rows_of(game)
            self._code = game.code
            self._drawn = NO_START, NO_START
        else:
            stream, deal, start, group = self._deal(
                self._rows, self._stream, self._position, self._decks, self._scratch
            )
            # Numba returns a uint64 as an int; passed as such, it would compile the kernel again for int64.
            self._stream = np.uint64(stream)
            self._position += 1
            self._code = self._settings.source.code(int(deal))
            self._drawn = int(start), int(group)
        self._steps = 0
        self._state = "playing"
        self._outcome = None
        before = int(self._rows.counters[MOVES])
        self._return = self._begin(self._rows, self._visits, self._rules, self._mask)
        self._room = room(self._visits.head[None])
        self._moves_at_reset = int(self._rows.counters[MOVES]) - before
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info(O_RUNNING, illegal=False)

    def step(self, action: Any) -> tuple[ObservationT, float, bool, bool, dict[str, Any]]:
        """Play one action: an integer of ``action_space``, legal or not.

        Raises:
            IllegalMoveError: the action is not an integer of the action space; or, with
                ``illegal_action="raise"``, the rules forbid it. The game is unchanged.
            gymnasium.error.ResetNeeded: no episode is in progress.
        """
        turn = self._turn
        if not turn.lock.acquire(False):  # a third of the cost of a "with"
            turn.refuse()
        try:
            return self._play(action)
        finally:
            turn.lock.release()

    def _play(self, action: Any) -> tuple[ObservationT, float, bool, bool, dict[str, Any]]:
        if self._state != "playing":
            raise ResetNeeded(
                "the episode has ended: call reset() before the next step()"
                if self._state == "over"
                else "call reset() before the first step()"
            )
        settings = self._settings
        number = action_id(action, settings.n_actions)
        if self._raises:
            self._refuse_illegal(number)
        if settings.no_repeats:
            if self._room == 0:
                self._visits = make_room(self._visits)
                self._room = room(self._visits.head[None])
            self._room -= 1
        kind = self._kind
        row = np.empty(kind.size, np.uint8)
        reward, illegal, outcome = self._step(
            self._rows, self._visits, number, self._steps + 1, self._rules, self._mask, row, kind.number
        )
        if not self._steps:
            # What is owed for moves that played themselves at the reset.
            reward, self._return = reward + self._return, 0.0
        self._steps += 1
        self._return += reward
        if outcome != O_RUNNING:
            self._state = "over"
            self._outcome = OUTCOMES[outcome]
        truncated = outcome == O_TRUNCATED
        terminated = outcome != O_RUNNING and not truncated
        info = self._info(outcome, illegal=bool(illegal))
        if self.render_mode == "human":
            self.render()
        observation: Any = kind.view(row)
        return observation, float(reward), terminated, truncated, info

    def get_state(self) -> GameState:
        """Everything that determines how the game continues, including the stream of the next deals.

        Not included are this environment's keywords, the weights of its ``starts`` and states of wrappers around it,
        such as the count of a ``TimeLimit``.

        Returns:
            Plain arrays with one row, copied, as from :meth:`BoulangerVectorEnv.get_state`.

        Raises:
            gymnasium.error.ResetNeeded: there is no game yet.
        """
        with self._turn:
            self._check_reset()
            return read_state(self._as_games(), slice(None))

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> tuple[ObservationT, dict[str, Any]]:
        """Continue from a state, exactly as the environment that it was taken from would.

        Args:
            state: as returned by ``get_state``, here or by a batch for one game; also what ``np.load`` makes of a file.

        Returns:
            The observation and the info, as from ``reset``.

        Raises:
            BoulangerError: it is not a state of one game, it is from another version or was modified, or other
                keywords need other arrays. Nothing is changed.
        """
        with self._turn:
            games = self._as_games()
            arrays = checked_state(state, games, 1, auto_foundation=bool(self._rules.auto_foundation))
            games = write_state(arrays, games, slice(None))
            episode = games.episodes[0]
            outcome = int(episode[E_OUTCOME])
            self._position, self._steps = int(episode[E_POSITION]), int(episode[E_STEPS])
            self._drawn = int(episode[E_START]), int(episode[E_GROUP])
            self._stream, self._return = games.streams[0], games.returns.item(0)
            self._code = games.codes.view(CODE_DTYPE).item(0) or None
            self._state = "playing" if outcome == O_RUNNING else "over"
            self._outcome = OUTCOMES[outcome]
            self._visits, self._room = Visits(games.heads[0], games.visited), room(games.heads)
            self._write_mask(self._rows, self._visits, self._rules, self._mask)
            if outcome not in (O_RUNNING, O_TRUNCATED):
                self._mask[:] = 1
            if self.render_mode == "human":
                self.render()
            return self._observe(), self._info(outcome, illegal=False)

    def _as_games(self) -> Games:
        """This game as a batch of one, on the same rows; the rest is copied."""
        rows = self._rows
        games = Games.make(1, no_repeats=False)._replace(
            boards=rows.board[None],
            counters=rows.counters[None],
            history=rows.history[None],
            heads=self._visits.head[None],
            visited=self._visits.table,
        )
        episode = games.episodes[0]
        episode[E_POSITION], episode[E_STEPS] = self._position, self._steps
        episode[E_OUTCOME] = OUTCOMES.index(self._outcome)
        episode[E_START], episode[E_GROUP] = self._drawn
        games.streams[0], games.returns[0] = self._stream or 0, self._return
        games.codes[:] = letters(np.array([self._code or ""], CODE_DTYPE))
        return games

    def render(self) -> Frame | None:
        """Render the board in ``render_mode``.

        Returns:
            ``"ansi"``: text; ``"rgb_array"``: a new uint8 array ``(height, width, 3)``; ``"human"``: None, and the
            window shows the game, as it does after each reset and step anyway; after the user has closed it, nothing
            happens. Without a mode: None, and a warning.

        Raises:
            BoulangerError: there is no display to open a window on.
            gymnasium.error.ResetNeeded: there is no game to draw yet.
        """
        if self.render_mode is None:
            gym.logger.warn(
                "render() draws nothing without a render_mode: make the environment with render_mode='ansi' or "
                "'rgb_array'"
            )
            return None
        with self._turn:
            self._check_reset()
            if self.render_mode == "human":
                self._view.show(lambda _: (self._live_game(), self._outcome))
                return None
            return self._view.draw(self._live_game(), self._outcome)

    def __copy__(self) -> BoulangerEnv:
        # Two environments on the same rows would change each other's games.
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        # Made again from the settings: the decks of a copy must be those of its own starts.
        return {name: value for name, value in self.__dict__.items() if name != "_decks"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # Ray and joblib hand over arrays in shared memory, which cannot be written to.
        self._rows, self._visits, self._mask, self._scratch, self._rules = copy.deepcopy(
            (self._rows, self._visits, self._mask, self._scratch, self._rules)
        )
        self._decks = self._settings.decks()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._view.close()

    def _check_reset(self) -> None:
        if self._state == "new":
            raise ResetNeeded("call reset() first: there is no game yet")

    def _live_game(self) -> Game:
        return game_of(self._rows, self._code)

    def _refuse_illegal(self, action: int) -> None:
        if not _is_legal(self._rows, self._visits, action, self._rules):
            refuse(self.game, action, self._rules)

    def _observe(self) -> Any:
        row = np.empty(self._kind.size, np.uint8)
        _observe(self._rows.board, row, self._kind.number)
        return self._kind.view(row)

    def _info(self, outcome: int, *, illegal: bool) -> dict[str, Any]:
        info = {
            "action_mask": self._mask.copy(),
            "score": int(self._rows.counters[SCORE]),
            "moves": int(self._rows.counters[MOVES]),
            "illegal_action": illegal,
            "code": self._code or "",
            "outcome": INFO_OUTCOMES[outcome],
            "is_success": outcome == O_WON,
        }
        if self._settings.source.starts is not None:
            info["start"], info["group"] = self._drawn
        return as_arrays(info) if self._array_infos else info


def registered_env(n_cells: int = 4, **keywords: Any) -> BoulangerEnv:
    """The entry point of ``gymnasium.make``: without a limit, because there Gymnasium's own ``TimeLimit`` truncates."""
    return BoulangerEnv(n_cells, max_episode_steps=NO_LIMIT, **keywords)


# gymnasium.make looks here for the render modes.
registered_env.metadata = BoulangerEnv.metadata  # type: ignore[attr-defined]


@kernel
def _step(
    state: State, visits: Visits, action: int, steps: int, rules: Rules, mask: Array, row: Array, kind: int
) -> tuple[float, bool, int]:
    """``step_game`` and the next observation, in one call."""
    result = step_game(state, visits, action, steps, rules, mask)
    write_observation(state.board, row, kind)
    return result


@kernel
def _observe(board: Array, row: Array, kind: int) -> None:
    """``write_observation``, compiled to be called from Python."""
    write_observation(board, row, kind)


@kernel
def _is_legal(state: State, visits: Visits, action: int, rules: Rules) -> bool:
    return is_legal(state, visits, action, rules)


@kernel
def _new_game(
    state: State, stream: Any, position: int, decks: Decks, scratch: Array
) -> tuple[Any, int, int, int]:
    """``new_game``, compiled to be called from Python."""
    return new_game(state, stream, position, decks, scratch)


@kernel
def _begin(state: State, visits: Visits, rules: Rules, mask: Array) -> float:
    """``begin_episode``, and the first mask."""
    owed = begin_episode(state, visits, rules)
    write_mask(state, visits, rules, mask)
    return owed


@kernel
def _write_mask(state: State, visits: Visits, rules: Rules, mask: Array) -> None:
    write_mask(state, visits, rules, mask)
