"""The keywords that the single environment and the batch share, checked once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from boulanger_env.deals import DealSet, Starts, as_deal_set
from boulanger_env.deals.sets import SOLVABLE
from boulanger_env.deals.start_files import is_file_of_starts
from boulanger_env.game.checks import MOST, is_whole, plain, shown
from boulanger_env.game.codes import RANDOM, format_code
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.start_draws import no_tables
from boulanger_env.game.text import check_n_cells
from boulanger_env.render.layout import DEFAULT_SIZE, read_size
from boulanger_env.render.view import RENDER_MODES

from ._batch.infos import START_KEYS, TEXT_KEYS
from ._batch.stepping import CODE_DTYPE, PENALIZE, RAISE, TERMINATE, Decks, Rules, letters
from .action_maps import ACTIONS, WIDTHS
from .observations import observation_space
from .rewards import Reward, as_reward

Deals = str | os.PathLike[str] | DealSet | Starts | Sequence[str] | None

ILLEGAL_ACTIONS = {"penalize": PENALIZE, "terminate": TERMINATE, "raise": RAISE}
SEQUENTIAL = "sequential"
DEFAULT_LIMIT, NO_LIMIT = 500, -1

_FLAGS = ("auto_foundation", "no_repeats", "allow_undo", "prune", "array_infos")
_CHOICES: dict[str, Iterable[Any]] = {
    "actions": ACTIONS,
    "illegal_action": ILLEGAL_ACTIONS,
    "deal_order": ("random", SEQUENTIAL),
    **dict.fromkeys(_FLAGS, (False, True)),
    "render_mode": (None, *RENDER_MODES),
}


class DealSource:
    """The source of an environment's games, prepared for the kernels.

    Attributes:
        starts: positions to start from, which whole deals may be mixed into, or None.
        deals: the listed games, or None for random games.
        codes: the listed games' codes, or None for random games.
        decks: uint8 ``(m, 52)``: the listed games' decks.
        deck_cells: uint8 ``(m,)``: the cells of each.
    """

    def __init__(self, deals: Deals, n_cells: int) -> None:
        check_n_cells(n_cells)
        self.n_cells = int(n_cells)
        self.starts: Starts | None = None
        self.deals: DealSet | None = None
        self.codes: tuple[str, ...] | None = None
        self.decks: NDArray[np.uint8] = np.empty((0, 52), np.uint8)
        self.deck_cells: NDArray[np.uint8] = np.empty(0, np.uint8)
        if isinstance(deals, Iterator):
            raise BoulangerError(
                f"deals={deals!r} can be read only once, but environments that share it each need all of it: give a "
                "list, deals=list(...)"
            )
        if is_file_of_starts(deals):
            deals = Starts.load(cast("str | os.PathLike[str]", deals))
        if isinstance(deals, Starts):
            self.starts, deals = deals, deals.deals
        if deals is not None:
            if isinstance(deals, str) and deals == SOLVABLE:
                deals = f"solvable-c{n_cells}"
            self.deals = as_deal_set(deals)
            self.codes = self.deals.codes
            self.decks, self.deck_cells = self.deals.decks()

    def given_starts(self) -> Starts:
        """The starts.

        Raises:
            AttributeError: there are none, so that ``hasattr(env, "starts")`` is False.
        """
        if self.starts is None:
            raise AttributeError("this environment deals whole games: make it with deals=Starts(...)")
        return self.starts

    def code(self, deal: int) -> str | None:
        """The code of a deal as returned by ``new_game``; None for a start."""
        if deal < 0:
            return None
        if self.codes is not None:
            return self.codes[deal]
        return format_code(RANDOM, self.n_cells, deal)


@dataclass(frozen=True)
class Settings:
    """The keywords that the single environment and the batch share, checked on creation.

    Attributes:
        source: where the games come from.

    Raises:
        BoulangerError: a keyword has an invalid value; the message says which values are valid.
    """

    n_cells: int = 4
    deals: Deals = None
    deal_order: str = "random"
    observation: str = "features"
    actions: str = "places"
    auto_foundation: bool = False
    no_repeats: bool = False
    reward: str | Reward | Mapping[str, float] = "score"
    illegal_action: str = "penalize"
    allow_undo: bool = False
    prune: bool = False
    max_episode_steps: int | None = DEFAULT_LIMIT
    array_infos: bool = False
    render_mode: str | None = None
    render_size: Sequence[int] = DEFAULT_SIZE
    source: DealSource = field(init=False)

    def __post_init__(self) -> None:
        observation_space(self.observation)
        for name, choices in _CHOICES.items():
            _choose(name, getattr(self, name), choices)
        if self.no_repeats and self.allow_undo:
            raise BoulangerError(
                "no_repeats=True and allow_undo=True exclude each other: undo would return to where the episode has "
                "been"
            )
        if self.deals is None and self.deal_order == SEQUENTIAL:
            raise BoulangerError("deal_order='sequential' needs deals: random games have no order")
        source = DealSource(self.deals, self.n_cells)
        if source.starts is not None:
            if self.deal_order == SEQUENTIAL:
                raise BoulangerError(
                    "deal_order='sequential' needs a list of deals: starts are drawn by weight"
                )
            source.starts.check_playable(self.auto_foundation)
        # Independent plain values, whatever their original types.
        plain = {
            "source": source,
            "n_cells": source.n_cells,
            "deals": source.starts or source.deals,
            "reward": as_reward(self.reward),
            "max_episode_steps": _read_limit(self.max_episode_steps),
            "render_size": read_size(self.render_size),
            **{name: bool(getattr(self, name)) for name in _FLAGS},
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    @property
    def n_actions(self) -> int:
        """Actions of the numbering, including undo (``Rules.n_moves`` leaves it out)."""
        return WIDTHS[ACTIONS[self.actions]] + self.allow_undo

    @property
    def limit(self) -> int:
        """The step that truncates an episode; one that no episode reaches if ``max_episode_steps`` is -1."""
        steps = _read_limit(self.max_episode_steps)
        return MOST if steps == NO_LIMIT else steps

    @property
    def when_illegal(self) -> int:
        """What an illegal action does, as the kernels' number."""
        return ILLEGAL_ACTIONS[self.illegal_action]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of pictures, in pixels."""
        return read_size(self.render_size)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Keys that the infos of an environment with these settings do not have."""
        return (TEXT_KEYS if self.array_infos else ()) + (START_KEYS if self.source.starts is None else ())

    def rules(self) -> Rules:
        """The effects of actions, for the kernels."""
        return Rules(
            rewards=as_reward(self.reward).table(),
            illegal_action=self.when_illegal,
            allow_undo=int(self.allow_undo),
            prune=int(self.prune),
            limit=self.limit,
            actions=ACTIONS[self.actions],
            auto_foundation=int(self.auto_foundation),
            no_repeats=int(self.no_repeats),
            n_moves=WIDTHS[ACTIONS[self.actions]],
        )

    def decks(self) -> Decks:
        """Where the games come from, for the kernels."""
        source = self.source
        return Decks(
            # Ray and joblib hand over arrays in shared memory: kernels are compiled for writable ones.
            cards=plain(source.decks),
            cells=plain(source.deck_cells),
            codes=letters(np.array(source.codes or (), CODE_DTYPE)),
            n_cells=source.n_cells,
            sequential=int(self.deal_order == SEQUENTIAL),
            starts=no_tables() if source.starts is None else source.starts.tables,
        )

    def episode_keywords(self) -> dict[str, Any]:
        """The keywords that determine the effects of an episode's actions, as plain values."""
        return {
            "reward": {event: float(value) for event, value in asdict(as_reward(self.reward)).items()},
            "illegal_action": self.illegal_action,
            "auto_foundation": self.auto_foundation,
            "no_repeats": self.no_repeats,
            "allow_undo": self.allow_undo,
            "prune": self.prune,
            "max_episode_steps": self.max_episode_steps,
        }

    def action_space(self) -> spaces.Discrete:
        """``Discrete(n_actions)``."""
        return spaces.Discrete(self.n_actions)

    def observation_space(self) -> spaces.Space[Any]:
        """The space of one observation."""
        return observation_space(self.observation)


def _choose(name: str, value: Any, choices: Iterable[Any]) -> None:
    if not isinstance(value, (str, bool, np.bool_, type(None))) or value not in tuple(choices):
        raise BoulangerError(
            f"{name}={shown(value)} is unknown: choose one of {', '.join(map(repr, choices))}"
        )


def _read_limit(steps: Any) -> int:
    """A step limit as ``gymnasium.make`` reads it: None is the default, -1 means no limit."""
    if steps is None:
        return DEFAULT_LIMIT
    if not (is_whole(steps, 1, MOST) or is_whole(steps, NO_LIMIT, NO_LIMIT)):
        raise BoulangerError(
            f"max_episode_steps={shown(steps)} must be a whole number from 1 to 2**63 - 1, or -1 for no limit"
        )
    return int(steps)
