"""The keywords that the single environment and the batch share, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from boulanger_env.deals import DealSet, as_deal_set
from boulanger_env.game.checks import shown
from boulanger_env.game.codes import RANDOM, format_code
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.moves import N_ACTIONS
from boulanger_env.game.text import check_n_cells
from boulanger_env.render.layout import read_size
from boulanger_env.render.view import RENDER_MODES

from .observations import observation_space
from .rewards import Reward, as_reward
from .stepping import CODE_DTYPE, PENALIZE, RAISE, TERMINATE, Decks, Rules, letters

Deals = str | DealSet | Sequence[str] | None

ILLEGAL_ACTIONS = {"penalize": PENALIZE, "terminate": TERMINATE, "raise": RAISE}
DEAL_ORDERS = ("random", "sequential")
DEFAULT_LIMIT, NO_LIMIT = 500, -1
_MOST_STEPS = 2**63 - 1
SOLVABLE = "solvable"


class DealSource:
    """Where an environment's games come from, ready for the kernels.

    Attributes:
        codes: the listed games' codes, or None for random games.
        decks: uint8 ``(m, 52)``: the listed games' decks.
        deck_cells: uint8 ``(m,)``: the cells of each.
    """

    def __init__(self, deals: Deals, n_cells: int) -> None:
        check_n_cells(n_cells)
        self.n_cells = int(n_cells)
        self.codes: tuple[str, ...] | None = None
        self.decks: NDArray[np.uint8] = np.empty((0, 52), np.uint8)
        self.deck_cells: NDArray[np.uint8] = np.empty(0, np.uint8)
        if isinstance(deals, Iterator):
            raise BoulangerError(
                f"deals={deals!r} can be read only once, but environments that share it each need all of it: give a "
                "list, deals=list(...)"
            )
        if deals is not None:
            # The one name that leaves the cells to the environment.
            if isinstance(deals, str) and deals == SOLVABLE:
                deals = f"solvable-c{n_cells}"
            deal_set = as_deal_set(deals)
            if not len(deal_set):
                raise BoulangerError("deals is empty: give at least one code, or None for random games")
            self.codes = deal_set.codes
            self.decks, self.deck_cells = deal_set.decks()

    def code(self, deal: int) -> str:
        """The code of a deal as ``new_game`` names it."""
        if self.codes is not None:
            return self.codes[deal]
        return format_code(RANDOM, self.n_cells, deal)


@dataclass(frozen=True)
class Settings:
    """Checked keywords of an environment."""

    source: DealSource
    sequential: bool
    observation: str
    reward: Reward
    illegal_action: int
    allow_undo: bool
    prune: bool
    max_episode_steps: int
    array_infos: bool
    render_mode: str | None
    render_size: tuple[int, int]

    @property
    def n_actions(self) -> int:
        """780, or 781 with undo."""
        return N_ACTIONS + self.allow_undo

    @property
    def most_steps(self) -> int:
        """The step that truncates an episode, which no episode comes to where there is no limit."""
        return _MOST_STEPS if self.max_episode_steps == NO_LIMIT else self.max_episode_steps

    def rules(self) -> Rules:
        """What an action brings, for the kernels."""
        return Rules(
            rewards=self.reward.table(),
            illegal_action=self.illegal_action,
            allow_undo=int(self.allow_undo),
            prune=int(self.prune),
            most_steps=self.most_steps,
        )

    def decks(self) -> Decks:
        """Where the games come from, for the kernels."""
        source = self.source
        return Decks(
            cards=source.decks,
            cells=source.deck_cells,
            codes=letters(np.array(source.codes or (), CODE_DTYPE)),
            n_cells=source.n_cells,
            sequential=int(self.sequential),
        )

    def episode_keywords(self) -> dict[str, Any]:
        """The keywords that decide what the actions of an episode bring, as plain values."""
        return {
            "reward": {event: float(value) for event, value in asdict(self.reward).items()},
            "illegal_action": next(k for k, v in ILLEGAL_ACTIONS.items() if v == self.illegal_action),
            "allow_undo": self.allow_undo,
            "prune": self.prune,
            "max_episode_steps": self.max_episode_steps,
        }

    def action_space(self) -> spaces.Discrete:
        """``Discrete(780)``, or 781 with undo."""
        return spaces.Discrete(self.n_actions)

    def observation_space(self) -> spaces.Space[Any]:
        """The space of one observation."""
        return observation_space(self.observation)


def read_settings(
    *,
    n_cells: int,
    deals: Deals,
    deal_order: str,
    observation: str,
    reward: str | Reward | Mapping[str, float],
    illegal_action: str,
    allow_undo: bool,
    prune: bool,
    max_episode_steps: int | None,
    array_infos: bool,
    render_mode: str | None,
    render_size: Sequence[int],
) -> Settings:
    """Check an environment's keywords.

    Raises:
        BoulangerError: a keyword has a value that it cannot have; the message says which ones it can.
    """
    observation_space(observation)
    _choose("illegal_action", illegal_action, ILLEGAL_ACTIONS)
    _choose("deal_order", deal_order, DEAL_ORDERS)
    _choose("allow_undo", allow_undo, (False, True))
    _choose("prune", prune, (False, True))
    _choose("array_infos", array_infos, (False, True))
    _choose("render_mode", render_mode, (None, *RENDER_MODES))
    if deals is None and deal_order == "sequential":
        raise BoulangerError("deal_order='sequential' needs deals: random games have no order")
    return Settings(
        source=DealSource(deals, n_cells),
        sequential=deal_order == "sequential",
        observation=observation,
        reward=as_reward(reward),
        illegal_action=ILLEGAL_ACTIONS[illegal_action],
        allow_undo=bool(allow_undo),
        prune=bool(prune),
        max_episode_steps=_read_limit(max_episode_steps),
        array_infos=bool(array_infos),
        render_mode=render_mode,
        render_size=read_size(render_size),
    )


def _choose(name: str, value: Any, choices: Iterable[Any]) -> None:
    if not isinstance(value, (str, bool, np.bool_, type(None))) or value not in tuple(choices):
        raise BoulangerError(
            f"{name}={shown(value)} is unknown: choose one of {', '.join(map(repr, choices))}"
        )


def _read_limit(steps: Any) -> int:
    """A step limit as ``gymnasium.make`` reads it: None is the default, -1 is none."""
    if steps is None:
        return DEFAULT_LIMIT
    if (
        isinstance(steps, bool)
        or not isinstance(steps, (int, np.integer))
        or not (steps == NO_LIMIT or 1 <= steps <= _MOST_STEPS)
    ):
        raise BoulangerError(
            f"max_episode_steps={shown(steps)} must be a whole number from 1 to 2**63 - 1, or -1 for no limit"
        )
    return int(steps)
