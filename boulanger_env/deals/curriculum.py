"""``ReverseCurriculum``: starts near the win first, and farther from it as they are won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.checks import as_array, shown
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.start_draws import NO_START

from .start_checks import read_share
from .starts import Starts

_LEAST = 0.005
_PROBED = 0.02
_OPENED = 0.1
_READ = ("group", "is_success")
_REMEDY = {
    **dict.fromkeys(_READ, "make the environment with deals=starts"),
    "_final_info": "it tells which entries of final_info are of games that ended",
}
_NOT_TOLD = "these infos do not tell which episodes ended: give update(infos, terminations | truncations)"
_FIRST = 0.5  # the win rate of a group that nothing is known about: it is drawn most


class ReverseCurriculum:
    """Draws most often those groups of ``Starts`` that are won some of the time, according to the infos.

    A group's weight is ``p * (1 - p) + 0.005``, where ``p`` is its running win rate: groups that are always or never
    won teach little. Whole deals are 2 % of the starts until a tenth of them is won, and ``deal_share`` from then on.

    It only reads infos, so it works in every training loop: call :meth:`update` after each step. It changes the
    weights of the ``Starts`` that it is given, and so those of all environments of this process that take the same
    object.

    Args:
        starts: the starts; their weights and share of whole deals are set at once.
        deal_share: the share of whole deals once a tenth of them is won, 0 to 1; with 0 there never are any.
        rate: how much an episode counts in a running win rate, above 0 and at most 1: 0.02 is about the last 50
            episodes.

    Attributes:
        wins: the running win rate of each group, float64 ``(n_groups,)``; 0.5 before its first episode.
        deal_wins: that of whole deals, which begins at 0.
        deals_opened: whether a tenth of the whole deals has been won.

    Raises:
        BoulangerError: an argument is invalid.

    >>> from boulanger_env import BoulangerVectorEnv, Game
    >>> starts = Starts.from_solutions(["MS-C4-1"], quality="any", workers=1)
    >>> curriculum = ReverseCurriculum(starts)
    >>> envs = BoulangerVectorEnv(16, deals=starts, max_episode_steps=5)
    >>> _, infos = envs.reset(seed=0)
    >>> for _ in range(50):
    ...     *_, infos = envs.step(779 - infos["action_mask"][:, ::-1].argmax(1))  # foundation moves are the last
    ...     curriculum.update(infos)
    >>> bool(curriculum.wins[1] > curriculum.wins[40])
    True
    """

    def __init__(self, starts: Starts, deal_share: float = 0.25, rate: float = 0.02) -> None:
        if not isinstance(starts, Starts):
            raise BoulangerError(f"starts are {shown(starts)}: a curriculum needs Starts")
        if isinstance(rate, bool) or not isinstance(rate, (int, float, np.number)) or not 0 < rate <= 1:
            raise BoulangerError(f"rate={shown(rate)} must be a number above 0 and at most 1")
        self._deal_share = read_share(deal_share)
        self._starts, self._rate = starts, float(rate)
        self.wins: NDArray[np.float64] = np.full(starts.n_groups, _FIRST)
        self.deal_wins = 0.0
        self.deals_opened = False
        self._apply()

    @property
    def starts(self) -> Starts:
        """The starts that it draws from."""
        return self._starts

    @property
    def starts_won(self) -> float:
        """The mean of the running win rates of all groups that have positions."""
        return float(self.wins[self._starts.tables.groups].mean())

    @property
    def deal_share(self) -> float:
        """The share of whole deals once a tenth of them is won; it can be raised during training.

        Raises:
            BoulangerError: it is not a number from 0 to 1.
        """
        return self._deal_share

    @deal_share.setter
    def deal_share(self, share: float) -> None:
        self._deal_share = read_share(share)
        self._apply()

    def update(self, infos: Mapping[str, Any] | Sequence[Mapping[str, Any]], ended: Any = None) -> None:
        """Count the episodes that ended in a step, and set the weights for the next draws.

        Args:
            infos: those of the step: a batch's, in any autoreset mode, a single environment's, or Stable-Baselines3's
                list.
            ended: ``terminations | truncations``, bool ``(n,)``, or of a single environment a bool. Needed where
                infos do not report it: for a single environment, and for Gymnasium's own ``SyncVectorEnv`` and
                ``AsyncVectorEnv``.

        Raises:
            BoulangerError: infos lack what is needed, or belong to other starts. Nothing is changed.
        """
        groups, won = _ends(infos, ended)
        if not len(groups):
            return
        n = len(self.wins)
        if not NO_START <= groups.min() <= groups.max() < n:
            raise BoulangerError(
                f"infos with group {groups.min()} to {groups.max()} are of other starts: these have groups 0 to {n - 1}"
            )
        places = groups.astype(np.int64) % (n + 1)  # group -1, of whole deals, comes last
        counts = np.bincount(places, minlength=n + 1)
        wins = np.bincount(places, won, n + 1)
        kept = (1 - self._rate) ** counts
        shares = np.append(self.wins, self.deal_wins)
        shares = kept * shares + (1 - kept) * wins / np.maximum(counts, 1)
        self.wins, self.deal_wins = shares[:-1], float(shares[-1])
        self.deals_opened |= self.deal_wins >= _OPENED
        self._apply()

    def _apply(self) -> None:
        self._starts.weights = self.wins * (1 - self.wins) + _LEAST
        self._starts.deal_share = self._deal_share if self.deals_opened else min(_PROBED, self._deal_share)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """What it has counted, as plain arrays: ``np.savez`` saves them."""
        return {
            "wins": self.wins.copy(),
            "deal_wins": np.array(self.deal_wins),
            "deals_opened": np.array(self.deals_opened),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what :meth:`get_state` returned, and set the weights.

        Raises:
            BoulangerError: it is not the state of a curriculum for this number of groups; nothing is changed.
        """
        names = ("wins", "deal_wins", "deals_opened")
        if not isinstance(state, Mapping) or set(state) != set(names):
            given = list(state) if isinstance(state, Mapping) else state
            raise BoulangerError(f"{shown(given)}: the state of a curriculum has {', '.join(names)}")
        wins, deal_wins, opened = (as_array(f"state: {name}", state[name]) for name in names)
        for name, array, shape in (("wins", wins, self.wins.shape), ("deal_wins", deal_wins, ())):
            if array.shape != shape or array.dtype.kind != "f" or not ((array >= 0) & (array <= 1)).all():
                raise BoulangerError(
                    f"state: {name} {shown(state[name])} must be win rates from 0 to 1, float {shape}"
                )
        if opened.shape != () or opened.dtype != np.bool_:
            raise BoulangerError(f"state: deals_opened {shown(state['deals_opened'])} must be a bool")
        self.wins, self.deal_wins, self.deals_opened = wins.copy(), deal_wins.item(), opened.item()
        self._apply()


def _ends(infos: Any, ended: Any) -> tuple[NDArray[np.integer[Any]], NDArray[np.bool_]]:
    """The groups of the episodes that ended in a step, and whether they were won."""
    if not isinstance(infos, Mapping):
        if not isinstance(infos, Sequence) or not all(isinstance(info, Mapping) for info in infos):
            raise BoulangerError(f"infos are {shown(infos)}: they must be a dict, or a list of dicts")
        if ended is None:
            if not all("TimeLimit.truncated" in info for info in infos):
                raise BoulangerError(_NOT_TOLD)
            ended = ["terminal_observation" in info for info in infos]
        infos = {key: [_entry(info, key) for info in infos] for key in _READ}
    elif "final_info" in infos:
        infos, ended = infos["final_info"], _entry(infos, "_final_info")
    elif "episode_length" in infos:
        lengths = as_array("infos: episode_length", infos["episode_length"])
        if lengths.dtype.kind not in "iu":
            raise BoulangerError(f"infos: episode_length {shown(infos['episode_length'])} must be integers")
        ended = lengths > 0
    elif ended is None:
        raise BoulangerError(_NOT_TOLD)
    chosen = np.atleast_1d(as_array("ended", ended))
    groups, won = (np.atleast_1d(as_array(f"infos: {key}", _entry(infos, key))) for key in _READ)
    if (
        groups.dtype.kind not in "iu"
        or won.dtype != np.bool_
        or groups.ndim != 1
        or won.shape != groups.shape
    ):
        raise BoulangerError(
            f"infos: group {groups.dtype} {groups.shape} and is_success {won.dtype} {won.shape} must be an integer and "
            "a bool for each game"
        )
    if chosen.dtype != np.bool_ or chosen.shape != groups.shape:
        raise BoulangerError(f"ended {shown(ended)} must be terminations | truncations, bool {groups.shape}")
    return groups[chosen], won[chosen]


def _entry(info: Any, key: str) -> Any:
    if not isinstance(info, Mapping):
        raise BoulangerError(f"infos: final_info is {shown(info)}: it must be a dict")
    if key not in info:
        raise BoulangerError(f"infos have no {key!r}: {_REMEDY[key]}")
    return info[key]
