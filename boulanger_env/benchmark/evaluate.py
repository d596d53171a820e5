"""``evaluate``: play every deal of a set once with a policy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from boulanger_env.agents.base import checked_seed
from boulanger_env.deals import DealSet, as_deal_set
from boulanger_env.envs import BoulangerVectorEnv
from boulanger_env.game.errors import BoulangerError
from boulanger_env.replay.recording import Games

from .policies import Policy, as_policy, first_of
from .recording import Record, Recording
from .results import GameRow, Results
from .statistics import scipy_stats

Progress = Callable[[int, int], None]
"""Called with the number of games played, and the number that there are."""

# Keywords of the environment that a benchmark may set, with their defaults; None: what the policy asks for. Which
# games are played and how many at a time is its own affair, and the score in a row is the game's, whatever the reward.
_SETTINGS: dict[str, Any] = {
    "allow_undo": None,
    "illegal_action": "penalize",
    "max_episode_steps": 500,
    "observation": None,
    "prune": False,
}


def evaluate(
    policy: Any,
    deals: str | os.PathLike[str] | DealSet | Iterable[str],
    *,
    seed: int = 0,
    name: str | None = None,
    batch_size: int = 64,
    progress: Progress | None = None,
    record: Record | None = None,
    record_games: Games = "all",
    **settings: Any,
) -> Results:
    """Play every deal once.

    The results depend on the policy, its seed, the deals and the settings, not on ``batch_size``: the chance of the
    game at place ``i`` of the set comes from ``seed`` and ``i`` alone. (A neural network may round differently in
    batches of another size, so leave that as it is where a result must be the same to the last move.)

    Args:
        policy: an agent's name, a model or its ``.zip``, an agent, or any callable: see ``as_policy``.
        deals: a set's name or file, a ``DealSet``, or codes.
        seed: of all the policy's chance.
        name: what to report the policy under, instead of its own name.
        batch_size: games played at a time, where the policy takes batches.
        progress: called after each game.
        record: keep games as replays: a folder for their files, or a function that is called with each ``Replay``, in
            the order in which they end.
        record_games: which ones: ``"all"``, ``"losses"``, or how many, from the first of the deals.
        settings: keywords of ``BoulangerEnv``: ``allow_undo``, ``illegal_action``, ``max_episode_steps``,
            ``observation`` and ``prune``. What is left out is what the policy asks for, else the default.

    Raises:
        BoulangerError: the policy, the deals or a keyword is not one; or SciPy is missing.
        IllegalMoveError: the policy gave something that is no action.

    >>> results = evaluate("random", ["MS-C4-1", "MS-C4-2"], seed=3)
    >>> [(row.code, row.outcome) for row in results.games]
    [('MS-C4-1', 'stuck'), ('MS-C4-2', 'stuck')]
    """
    scipy_stats()  # the summary needs it: better to hear that before hours of play
    for key in settings:
        if key not in _SETTINGS:
            raise BoulangerError(f"setting {key!r} is unknown: evaluate takes {', '.join(_SETTINGS)}")
    if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
        raise BoulangerError(f"batch_size={batch_size!r} must be a whole number of at least 1")
    player = as_policy(policy, name)
    deal_set = as_deal_set(deals)
    wanted = {"allow_undo": player.allow_undo, "observation": player.observation}
    # Plain values, whatever they come as, so that they can be saved.
    rules = {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in {**_SETTINGS, **wanted, **settings}.items()
    }
    player.start(checked_seed(seed))
    slots = min(int(batch_size) if player.batched else 1, len(deal_set))
    recording = None if record is None else Recording(record, record_games, player, deal_set, slots, rules)
    rows = _play(player, deal_set, slots, rules, progress, recording)
    from boulanger_env import __version__

    return Results(
        policy=player.name,
        seed=int(seed),
        deals=deal_set.name,
        fingerprint=deal_set.fingerprint,
        version=__version__,
        games=tuple(rows),
        settings=rules,
        details=player.details,
    )


def _play(
    player: Policy,
    deals: DealSet,
    n: int,
    settings: dict[str, Any],
    progress: Progress | None,
    recording: Recording | None,
) -> list[GameRow]:
    """Play the deals, a batch at a time; a slot whose game ends takes the next deal at once."""
    total = len(deals)
    envs = BoulangerVectorEnv(n, autoreset_mode=AutoresetMode.DISABLED, **settings)
    rows: list[GameRow | None] = [None] * total
    playing = np.arange(n)  # the deal in each slot; beyond the last one, a slot has nothing left to do
    following = n
    done = 0
    observation, info = _deal(envs, deals, playing, np.ones(n, np.bool_))
    player.new_games(playing, np.arange(n))
    while done < total:
        masks = info["action_mask"]
        idle = playing >= total
        actions = masks.argmax(1)
        # A game that nobody plays is shown to the policy as one that has ended.
        shown = np.where(idle[:, None], np.int8(1), masks) if idle.any() else masks
        if recording is not None:
            recording.before(observation, shown, info)
        actions[~idle] = _act(player, observation, shown, info)[~idle]
        observation, rewards, terminated, truncated, info = envs.step(actions)
        ended = terminated | truncated
        if recording is not None:
            recording.after(actions, rewards)
        if not ended.any():
            continue
        for slot in np.flatnonzero(ended & ~idle).tolist():
            number = int(playing[slot])
            row = rows[number] = _row(deals[number], envs, slot, info)
            if recording is not None:
                recording.ended(slot, number, row.outcome)
            playing[slot] = following
            following += 1
            done += 1
            if progress is not None:
                progress(done, total)
        if done < total:
            observation, info = _deal(envs, deals, playing, ended)
            fresh = np.flatnonzero(ended & (playing < total))
            player.new_games(playing[fresh], fresh)
    return [row for row in rows if row is not None]


def _deal(
    envs: BoulangerVectorEnv, deals: DealSet, playing: NDArray[np.int64], slots: NDArray[np.bool_]
) -> tuple[Any, dict[str, Any]]:
    """Deal the games named in ``playing`` to the marked slots; an idle slot gets the last deal."""
    codes = [deals[min(int(i), len(deals) - 1)] for i in playing]
    return envs.reset(options={"codes": codes, "reset_mask": slots})


def _act(
    player: Policy, observation: Any, masks: NDArray[np.int8], info: dict[str, Any]
) -> NDArray[np.int64]:
    if player.batched:
        given = player.act(observation, masks, info)
    else:
        given = [player.act(first_of(observation), masks[0], first_of(info))]
    actions = np.asarray(given)
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        raise BoulangerError(
            f"policy {player.name} gave {given!r} as the actions of {len(masks)} games: an action is one integer"
        )
    return actions.astype(np.int64)


def _row(code: str, envs: BoulangerVectorEnv, slot: int, info: dict[str, Any]) -> GameRow:
    outcome = str(info["outcome"][slot])
    return GameRow(
        code=code,
        won=outcome == "won",
        score=int(info["score"][slot]),
        cards_home=envs.game(slot).cards_home,
        moves=int(info["moves"][slot]),
        outcome=outcome,
    )
