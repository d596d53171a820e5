"""``evaluate``: play every deal of a set once with a policy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
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
from .results import Results
from .rows import GameRow, Header, check_complete
from .runs import RunFile, Unsaved
from .statistics import scipy_stats

BATCH_SIZE = 64
_NOTHING = -1

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
    seed: int | Sequence[int] = 0,
    name: str | None = None,
    batch_size: int = BATCH_SIZE,
    progress: Progress | None = None,
    file: str | os.PathLike[str] | None = None,
    record: Record | None = None,
    record_games: Games = "all",
    **settings: Any,
) -> Results:
    """Play every deal once, or once with each of several seeds.

    The results depend on the policy, its seeds, the deals and the settings, not on ``batch_size`` nor on where a run
    was interrupted: the chance of the game at place ``i`` of the set comes from its seed and ``i`` alone. (A neural
    network may round differently in batches of another size, so leave that as it is where a result must be the same
    to the last move. And a callable with chance of its own must draw it by ``seed`` and ``reset``, see ``as_policy``.)

    Args:
        policy: an agent's name, a model or its ``.zip``, an agent, or any callable: see ``as_policy``.
        deals: a set's name or file, a ``DealSet``, or codes.
        seed: of all the policy's chance; or several, and every deal is played with each.
        name: what to report the policy under, instead of its own name.
        batch_size: games played at a time, where the policy takes batches.
        progress: called after each game.
        file: JSON Lines that get each game as it ends. If it is there already, the run goes on with what is missing:
            after a kill nothing is lost but the games under way, and nothing is played twice. At the end the lines
            are put in order.
        record: keep games as replays: a folder for their files (with several seeds, for a folder for each), or a
            function that is called with each ``Replay``, in the order in which they end.
        record_games: which ones: ``"all"``, ``"losses"``, or how many, from the first of the deals.
        settings: keywords of ``BoulangerEnv``: ``allow_undo``, ``illegal_action``, ``max_episode_steps``,
            ``observation`` and ``prune``. What is left out is what the policy asks for, else the default.

    Raises:
        BoulangerError: the policy, the deals or a keyword is not one; the file is of another run; or SciPy is missing.
        IllegalMoveError: the policy gave something that is no action.
        OSError: the file cannot be read or written.

    >>> results = evaluate("random", ["MS-C4-1", "MS-C4-2"], seed=3)
    >>> [(row.code, row.outcome) for row in results.games]
    [('MS-C4-1', 'stuck'), ('MS-C4-2', 'stuck')]
    """
    scipy_stats()  # the summary needs it: better to hear that before hours of play
    if isinstance(batch_size, bool) or not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
        raise BoulangerError(f"batch_size={batch_size!r} must be a whole number of at least 1")
    player = as_policy(policy, name)
    deal_set = as_deal_set(deals)
    header = header_of(player, deal_set, seed, settings)
    with RunFile(Path(file), header) if file is not None else Unsaved(header) as run:
        total = header.games
        if progress is not None and run.content.rows:
            progress(len(run.content.rows), total)
        for each in header.seeds:
            recording = None
            if record is not None:
                several = isinstance(record, (str, os.PathLike)) and len(header.seeds) > 1
                target = Path(record, f"seed-{each}") if several else record  # type: ignore[arg-type]
                slots = _slots(player, deal_set, int(batch_size))
                recording = Recording(target, record_games, player, deal_set, slots, header.settings)
            for row in play_deals(
                player, deal_set, each, run.missing(each), header.settings, int(batch_size), recording
            ):
                run.append(row)
                if progress is not None:
                    progress(len(run.content.rows), total)
    results = Results.of(run.content, deal_set.labels)
    if file is not None:
        check_complete(run.content, Path(file))
        results.save(file)
    return results


def header_of(
    player: Policy, deals: DealSet, seed: int | Sequence[int], settings: Mapping[str, Any]
) -> Header:
    """What is to be played, checked.

    Raises:
        BoulangerError: a seed or a setting is not possible.
    """
    for key in settings:
        if key not in _SETTINGS:
            raise BoulangerError(f"setting {key!r} is unknown: evaluate takes {', '.join(_SETTINGS)}")
    seeds = tuple(checked_seed(each) for each in (seed if isinstance(seed, Sequence) else [seed]))
    if not seeds or len(set(seeds)) < len(seeds):
        raise BoulangerError(f"seeds {list(seeds)}: give at least one, each only once")
    wanted = {"allow_undo": player.allow_undo, "observation": player.observation}
    from boulanger_env import __version__

    return Header(
        policy=player.name,
        details=player.details,
        seeds=seeds,
        deals=deals.name,
        fingerprint=deals.fingerprint,
        count=len(deals),
        # Plain values, whatever they come as, so that they can be saved.
        settings={
            key: value.item() if isinstance(value, np.generic) else value
            for key, value in {**_SETTINGS, **wanted, **settings}.items()
        },
        version=__version__,
    )


def play_deals(
    player: Policy,
    deals: DealSet,
    seed: int,
    places: Sequence[int],
    settings: Mapping[str, Any],
    batch_size: int = BATCH_SIZE,
    recording: Recording | None = None,
) -> Iterator[GameRow]:
    """Play the deals at some places of a set, a batch at a time, and yield each game as it ends.

    A slot whose game ends takes the next deal at once. The batch is as large for a few deals as for all of the set: a
    neural network then sees batches of one size, wherever a run was interrupted.
    """
    if not places:
        return
    player.start(seed)
    n = _slots(player, deals, batch_size)
    envs = BoulangerVectorEnv(n, autoreset_mode=AutoresetMode.DISABLED, **settings)
    waiting = iter(places)
    playing = np.array([next(waiting, _NOTHING) for _ in range(n)], np.int64)  # the place in each slot
    steps, illegal = np.zeros(n, np.int64), np.zeros(n, np.int64)
    observation, info = _deal(envs, deals, playing, np.ones(n, np.bool_))
    busy = np.flatnonzero(playing != _NOTHING)
    player.new_games(playing[busy], busy)
    while len(busy):
        masks = info["action_mask"]
        idle = playing == _NOTHING
        actions = masks.argmax(1)
        # A game that nobody plays is shown to the policy as one that has ended.
        shown = np.where(idle[:, None], np.int8(1), masks) if idle.any() else masks
        if recording is not None:
            recording.before(observation, shown, info)
        actions[busy] = _act(player, observation, shown, info)[busy]
        observation, rewards, terminated, truncated, info = envs.step(actions)
        if recording is not None:
            recording.after(actions, rewards)
        steps += 1
        illegal += info["illegal_action"]
        ended = terminated | truncated
        if not ended.any():
            continue
        for slot in np.flatnonzero(ended & ~idle).tolist():
            place = int(playing[slot])
            row = _row(place, deals[place], seed, envs, slot, info, int(steps[slot]), int(illegal[slot]))
            if recording is not None:
                recording.ended(slot, place, row.outcome)
            yield row
            playing[slot] = next(waiting, _NOTHING)
        steps[ended] = illegal[ended] = 0
        busy = np.flatnonzero(playing != _NOTHING)
        if len(busy):
            observation, info = _deal(envs, deals, playing, ended)
            fresh = np.flatnonzero(ended & (playing != _NOTHING))
            player.new_games(playing[fresh], fresh)


def _slots(player: Policy, deals: DealSet, batch_size: int) -> int:
    """How many games are played at a time."""
    return min(batch_size, len(deals)) if player.batched else 1


def _deal(
    envs: BoulangerVectorEnv, deals: DealSet, playing: NDArray[np.int64], slots: NDArray[np.bool_]
) -> tuple[Any, dict[str, Any]]:
    """Deal the games named in ``playing`` to the marked slots; an idle slot gets some deal."""
    codes = [deals[max(0, int(place))] for place in playing]
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


def _row(
    place: int,
    code: str,
    seed: int,
    envs: BoulangerVectorEnv,
    slot: int,
    info: dict[str, Any],
    steps: int,
    illegal: int,
) -> GameRow:
    return GameRow(
        place=place,
        code=code,
        seed=seed,
        outcome=str(info["outcome"][slot]),
        cards_home=envs.game(slot).cards_home,
        score=int(info["score"][slot]),
        moves=int(info["moves"][slot]),
        steps=steps,
        illegal=illegal,
    )
