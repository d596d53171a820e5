"""Other action spaces, and automatic foundation moves."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import gymnasium as gym
import numpy as np

from boulanger_env.envs.action_maps import (
    ALREADY_IN_CELL,
    CARD_ACTION_TABLE,
    CARDS,
    COVERED,
    INTO_CELL,
    IS_HOME,
    N_CARD_ACTIONS,
    NO_EMPTY_COLUMN,
    PARENT_COVERED,
    card_mask,
    never_legal,
    place_of,
    tap_mask,
)
from boulanger_env.game.automatic import undo_span
from boulanger_env.game.cards import card_name
from boulanger_env.game.errors import IllegalMoveError
from boulanger_env.game.kernels import NOT_NEXT_HOME, why_illegal
from boulanger_env.game.moves import FIRST_CELL, N_ACTIONS, N_SOURCES, UNDO
from boulanger_env.game.taps import foundation_action, tap_action

from .masked import Mask, MaskWrapper, StepResult, width_of


class _OtherActions(MaskWrapper):
    """Actions that stand for base actions."""

    def _play(self, action: int) -> StepResult:
        base = UNDO if action == self._width - 1 and self._has_undo else self._base_action(action)
        try:
            # What no base action stands for is refused below like any other illegal action.
            return self.env.step(np.int64(base if base >= 0 else never_legal(self._rows.board)))
        except IllegalMoveError as error:
            words = str(error) if base == UNDO else self._explain(action, base)
            raise IllegalMoveError(words or str(error)) from None

    @property
    def _has_undo(self) -> bool:
        return width_of(self._base) > UNDO

    @abstractmethod
    def _base_action(self, action: int) -> int:
        """The base action that an action stands for now; negative if none."""

    @abstractmethod
    def _explain(self, action: int, base: int) -> str:
        """Why an action is illegal; empty if the base action's own reason applies."""


class CardActions(_OtherActions):
    """``Discrete(204)``: a move is identified by its card instead of its place.

    | ids     | move                                                 | id                     |
    |---------|------------------------------------------------------|------------------------|
    | 0-47    | the card onto its parent, the next higher of its suit | `suit * 12 + rank - 1` |
    | 48-99   | the card to the leftmost empty column                | `48 + card - 1`        |
    | 100-151 | the card to a cell                                   | `100 + card - 1`       |
    | 152-203 | the card to its foundation                           | `152 + card - 1`       |
    | 204     | undo, only with `allow_undo=True`                    | `204`                  |

    Cards are `suit * 13 + rank` (1-52), with the suits spades, hearts, diamonds, clubs (0-3) and the ranks ace = 1 to
    king = 13; kings have no parent. ``CARD_ACTION_TABLE`` lists the card and the destination of each id. In the first
    two rows the cards that lie on the card move with it, so they must be a run.

    An action keeps its meaning when columns or cells are permuted, which helps learning. It is legal exactly
    when the base action that it stands for is in the environment's mask. Every base action in the mask corresponds to
    an action, except for the choice between empty columns. An action that stands for no base action now (its card is
    home or covered, its parent is not on top of a column, no column is empty, it is already in a cell) is an illegal
    action like any other.

    >>> import gymnasium as gym
    >>> env = CardActions(gym.make("Boulanger-C4-v0"))
    >>> observation, info = env.reset(options={"code": "BK1-C4-AAAAA24"})
    >>> CARD_ACTION_TABLE[info["action_mask"] == 1].tolist()[-1]  # the ace of diamonds may go home
    [27, 3]
    >>> env.step(152 + 27 - 1)[4]["score"]
    10
    """

    def __init__(self, env: gym.Env[Any, np.int64]) -> None:
        super().__init__(env)
        self._set_actions(N_CARD_ACTIONS)

    def _base_action(self, action: int) -> int:
        return int(place_of(self._rows.board, action, CARDS))

    def _own_mask(self, mask: Mask) -> Mask:
        own = np.empty(self._width, np.int8)
        card_mask(self._rows.board, mask, own)
        return own

    def _explain(self, action: int, base: int) -> str:
        card, kind = CARD_ACTION_TABLE[action].tolist()
        name = card_name(card)
        return {
            IS_HOME: f"{name} is on its foundation and stays there",
            COVERED: f"{name} is not on top of its column"
            if kind >= INTO_CELL
            else f"{name} cannot move: the cards that lie on it are not a run with it (same suit, each one rank lower)",
            PARENT_COVERED: f"{name} goes only onto {card_name(min(card + 1, 52))}, which is not on top of a column",
            NO_EMPTY_COLUMN: f"{name} cannot go to an empty column: there is none",
            ALREADY_IN_CELL: f"{name} is in a cell already",
        }.get(base, "")


class TapActions(_OtherActions):
    """``Discrete(12)``: a double tap on a column (0-7) or a cell (8-11), as in the app; 12 is undo, where allowed.

    A double tap moves one card to the first of these that takes it: its foundation, its parent, the leftmost empty
    column, a free cell. It is legal exactly when the move it makes is in the environment's mask; a tap that moves
    nothing is an illegal action like any other. Not every winnable game can be won this way, because the tap chooses
    the destination.
    """

    def __init__(self, env: gym.Env[Any, np.int64]) -> None:
        super().__init__(env)
        self._set_actions(N_SOURCES)

    def _base_action(self, action: int) -> int:
        return int(tap_action(self._rows.board, action))

    def _own_mask(self, mask: Mask) -> Mask:
        own = np.empty(self._width, np.int8)
        tap_mask(self._rows.board, mask, own)
        return own

    def _explain(self, action: int, base: int) -> str:
        if why_illegal(self._rows.board, base) != NOT_NEXT_HOME:
            return ""
        place = f"cell {'abcd'[action - FIRST_CELL]}" if action >= FIRST_CELL else f"column {action + 1}"
        cell = "" if action >= FIRST_CELL else ", nor to a cell"
        return f"a double tap on {place} moves nothing: its card can go neither home, nor onto a column{cell}"


class AutoFoundation(MaskWrapper):
    """Plays every legal foundation move automatically, after each action and at reset. Such a move is never a mistake.

    * Each automatic move is a step of the wrapped environment: its reward is added to that of the agent's action, and
      it counts towards ``max_episode_steps``. If an automatic move ends the episode, the agent's step ends it.
    * Rewards of the moves at a reset are added to the reward of the next step, so that with the reward ``"score"`` an
      episode's return is still its score. If these moves end the episode, the first step reports that end and
      ignores its action.
    * Undo takes back the agent's own last move together with the automatic moves after it, each as a step of the
      environment. Moves at a reset cannot be undone.
    * ``info["illegal_action"]`` refers to the agent's action.

    The action space is the environment's. The agent never finds a foundation move in its mask.
    """

    def __init__(self, env: gym.Env[Any, np.int64]) -> None:
        super().__init__(env)
        self._set_actions(N_ACTIONS)
        self._owed = 0.0
        self._ended: StepResult | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the wrapped environment and play the foundation moves that are legal at once."""
        with self._turn:
            observation, dealt = self.env.reset(seed=seed, options=options)
            result = self._send_home((observation, 0.0, False, False, dealt))
            observation, reward, terminated, truncated, info = result
            self._ended = result if terminated or truncated else None
            self._owed = 0.0 if self._ended else float(reward)
            # The first step will report the end.
            untold: dict[str, Any] = {key: dealt[key] for key in ("outcome", "is_success") if key in dealt}
            return self._with_mask(observation, {**info, **untold})

    def _play(self, action: int) -> StepResult:
        if self._ended is not None:
            result, self._ended = self._ended, None
            return result
        result = self._take_back() if action == UNDO else self.env.step(np.int64(action))
        observation, reward, *rest = self._send_home(result)
        total, self._owed = float(reward) + self._owed, 0.0
        return observation, total, *rest

    def _send_home(self, result: StepResult) -> StepResult:
        """Play foundation moves after a step with this result."""
        while not _is_over(result) and (action := int(foundation_action(self._rows.board))) >= 0:
            result = self._add(result, action)
        return result

    def _take_back(self) -> StepResult:
        span = int(undo_span(self._rows.counters, self._rows.history))
        if span == 0:
            try:
                return self.env.step(np.int64(never_legal(self._rows.board)))
            except IllegalMoveError:
                raise IllegalMoveError(
                    "nothing to undo: no move of the agent's own is left to take back"
                ) from None
        result = self.env.step(np.int64(UNDO))
        for _ in range(span - 1):
            if not _is_over(result):
                result = self._add(result, UNDO)
        return result

    def _add(self, result: StepResult, action: int) -> StepResult:
        """One more step, with the reward and the info of both."""
        _, before, _, _, first = result
        observation, reward, terminated, truncated, info = self.env.step(np.int64(action))
        # Neither step is illegal: no automatic move follows an illegal action.
        return observation, float(before) + float(reward), terminated, truncated, {**first, **info}

    def _own_mask(self, mask: Mask) -> Mask:
        own = np.array(mask, np.int8)
        if self._width > UNDO and not own.all():
            own[UNDO] = undo_span(self._rows.counters, self._rows.history) > 0
        return own


def _is_over(result: StepResult) -> bool:
    return result[2] or result[3]
