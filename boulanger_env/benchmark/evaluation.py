"""``evaluate``: play every deal of a set once with a policy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from boulanger_env.agents.base import checked_seed
from boulanger_env.agents.model_files import SETTINGS
from boulanger_env.agents.policies import Policy, first_of
from boulanger_env.agents.specs import as_policy
from boulanger_env.deals import DealSet, as_deal_set
from boulanger_env.deals.known import check_name
from boulanger_env.envs import BoulangerVectorEnv, internal
from boulanger_env.envs.settings import NO_LIMIT, Settings
from boulanger_env.game.checks import as_array, is_list, shown, whole_number
from boulanger_env.game.errors import BoulangerError, did_you_mean
from boulanger_env.game.outcomes import TRUNCATED
from boulanger_env.replay.recording import Games

from .action_text import encode
from .reading import check_complete, check_part
from .replay_folder import Record, Recording, Recordings
from .results import Results
from .rows import GameRow, Header
from .runs import RunFile, Unsaved
from .statistics import scipy_stats

BATCH_SIZE = 64
_NOTHING = -1

Progress = Callable[[int, int], None]
"""Called with the number of games played and the total."""


def evaluate(
    policy: Any,
    deals: str | os.PathLike[str] | DealSet | Iterable[str],
    *,
    seed: int | Sequence[int] = 0,
    name: str | None = None,
    sample: bool | None = None,
    batch_size: int = BATCH_SIZE,
    progress: Progress | None = None,
    file: str | os.PathLike[str] | None = None,
    record: Record | None = None,
    record_games: Games = "all",
    moves: bool = False,
    **settings: Any,
) -> Results:
    """Play every deal once, or once with each of several seeds.

    The results depend on the policy, its seeds, the deals and the settings, not on ``batch_size`` or on where a run
    was interrupted: the random numbers of the game at place ``i`` of the set come from its seed and ``i`` alone. (A
    neural network may round differently in batches of another size, so keep ``batch_size`` if results must be
    identical to the last move. And a stochastic callable must follow ``seed`` and ``reset``, see ``as_policy``.)

    Args:
        policy: an agent's name, a model or its ``.zip``, an agent, or any callable: see ``as_policy``.
        deals: a set's name or file, a ``DealSet``, or codes.
        seed: the policy's random seed; or several, to play every deal once per seed.
        name: a name to report the policy under, instead of its own.
        sample: whether a trained model samples its moves, see ``as_policy``.
        batch_size: games played at a time, if the policy takes batches.
        progress: called after each game.
        file: JSON Lines to which each game is written as it ends. If the file exists, the run resumes: after a kill
            only the games in progress are lost, and nothing is played twice. At the end the lines are put in order.
            A callable without a name, such as a lambda, then needs ``name``.
        record: keep games as replays: a folder for this run's files (with several seeds, one subfolder per seed), or a
            function that is called with each ``Replay``, in the order in which they end. Games that ``file`` already
            has but that lack a replay in the folder are played again. Annotations that a replay cannot hold are left
            out, with a warning.
        record_games: which ones: ``"all"``, ``"losses"``, or a number N, for the first N deals.
        moves: keep the actions in each row (``GameRow.actions``), so that anyone who reads the file can replay the
            games, as ``Results.load`` does.
        settings: keywords of ``BoulangerEnv`` that decide what a policy sees and what its actions do, such as
            ``prune`` and ``max_episode_steps``. Missing ones are what the policy asks for (a model: what it was trained
            with, see ``save_model``), else the defaults.

    Raises:
        BoulangerError: the policy, the deals or a keyword is invalid; the file or the folder belongs to another run; or
            SciPy is missing.
        IllegalMoveError: the policy returned something that is not an action.
        OSError: the file cannot be read or written.

    >>> results = evaluate("random", ["MS-C4-1", "MS-C4-2"], seed=3)
    >>> [(row.code, row.outcome) for row in results.games]
    [('MS-C4-1', 'stuck'), ('MS-C4-2', 'stuck')]
    """
    scipy_stats()  # the summary needs it: fail before hours of play rather than after
    batch_size = whole_number("batch_size", batch_size)
    player = as_policy(policy, name, sample=sample)
    if file is not None and not player.named:
        raise BoulangerError(
            f"a run in a file needs a name that identifies its policy, which {player.name!r} does not: "
            "give one as name="
        )
    deal_set = as_deal_set(deals)
    header = header_of(player, deal_set, seed, settings, moves)
    with ExitStack() as opened:
        recordings = (
            None
            if record is None
            else opened.enter_context(Recordings(record, record_games, player, deal_set, header))
        )
        run = opened.enter_context(RunFile(Path(file), header) if file is not None else Unsaved(header))
        if file is not None:
            check_part(run.content, deal_set.codes, Path(file))
        total = header.games
        if progress is not None and run.content.rows:
            progress(len(run.content.rows), total)
        for each in header.seeds:
            earlier = [row for row in run.content.rows.values() if row.seed == each]
            slots = _slots(player, deal_set, int(batch_size))
            recording = None if recordings is None else recordings.of(each, slots, earlier)
            play = partial(
                play_deals,
                player,
                deal_set,
                each,
                settings=header.settings,
                batch_size=int(batch_size),
                recording=recording,
                moves=moves,
            )
            for row in play(run.missing(each)):
                run.append(row)
                if progress is not None:
                    progress(len(run.content.rows), total)
            if recording is not None:
                for _ in play(recording.missing()):
                    pass
    results = Results.of(run.content, deal_set.labels)
    if file is not None:
        check_complete(run.content, Path(file))
        results.save(file)
    return results


def header_of(
    player: Policy,
    deals: DealSet,
    seed: int | Sequence[int],
    settings: Mapping[str, Any],
    moves: bool = False,
) -> Header:
    """The checked header of the run.

    Raises:
        BoulangerError: a seed or a setting is invalid, or the deals have the name of another set.
    """
    check_name(deals.name, deals.codes)
    for key in settings:
        if key not in SETTINGS:
            raise BoulangerError(
                f"setting {key!r} is unknown{did_you_mean(key, SETTINGS)}: evaluate takes {', '.join(SETTINGS)}"
            )
    for key in player.fixed & set(settings):
        if settings[key] != player.settings[key]:
            raise BoulangerError(
                f"{key}={shown(settings[key])} is not possible with {player.name}, which plays with "
                f"{key}={shown(player.settings[key])}"
            )
    # Plain Python values, so that they can be saved.
    chosen = {
        key: value.item() if isinstance(value, np.generic) else value
        for key, value in {**SETTINGS, **player.settings, **settings}.items()
    }
    # Rejects invalid settings before anything is written.
    chosen["max_episode_steps"] = Settings(**chosen).max_episode_steps
    if chosen["max_episode_steps"] == NO_LIMIT:
        raise BoulangerError(
            "max_episode_steps=-1: a benchmark needs a limit, since a policy that goes round in circles never ends"
        )
    given: Any = seed if is_list(seed) else [seed]
    seeds = tuple(map(checked_seed, given))
    if not seeds or len(set(seeds)) < len(seeds):
        raise BoulangerError(f"seeds {list(seeds)}: give at least one, each only once")
    from boulanger_env import __version__

    return Header(
        policy=player.name,
        details=player.details,
        seeds=seeds,
        deals=deals.name,
        fingerprint=deals.fingerprint,
        count=len(deals),
        settings=chosen,
        version=__version__,
        moves=moves,
    )


def play_deals(
    player: Policy,
    deals: DealSet,
    seed: int,
    places: Sequence[int],
    settings: Mapping[str, Any],
    batch_size: int = BATCH_SIZE,
    recording: Recording | None = None,
    moves: bool = False,
) -> Iterator[GameRow]:
    """Play the deals at some places of a set, a batch at a time, and yield each game as it ends.

    A slot whose game ends takes the next deal at once. The batch is as large for a few deals as for the whole set, so
    that a neural network sees batches of the same size wherever a run was interrupted.
    """
    if not places:
        return
    player.start(seed)
    n = _slots(player, deals, batch_size)
    envs = BoulangerVectorEnv(n, autoreset_mode=AutoresetMode.DISABLED, **settings)
    waiting = iter(places)
    playing = np.array([next(waiting, _NOTHING) for _ in range(n)], np.int64)  # the place in each slot
    slots = np.arange(n)
    steps, illegal = np.zeros(n, np.int64), np.zeros(n, np.int64)
    played: list[list[int]] = [[] for _ in range(n)]
    observation, info = _deal(envs, deals, playing, np.ones(n, np.bool_))
    busy = np.flatnonzero(playing != _NOTHING)
    player.new_games(playing[busy], busy)
    while len(busy):
        masks = info["action_mask"]
        idle = playing == _NOTHING
        actions = masks.argmax(1)
        # An idle slot looks to the policy like a game that has ended.
        shown = np.where(idle[:, None], np.int8(1), masks) if idle.any() else masks
        if recording is not None:
            recording.before(observation, shown, info, envs)
        actions[busy] = _act(player, observation, shown, info)[busy]
        # Rows and replays keep moves by place, however the actions are numbered.
        by_place = internal.places_of_actions(envs, actions, slots) if moves or recording else actions
        observation, rewards, terminated, truncated, info = envs.step(actions)
        if recording is not None:
            recording.after(by_place, rewards)
        if moves:
            for actions_of_game, action in zip(played, by_place.tolist(), strict=True):
                actions_of_game.append(action)
        steps += 1
        illegal += info["illegal_action"]
        ended = terminated | truncated
        if not ended.any():
            continue
        for slot in np.flatnonzero(ended & ~idle).tolist():
            place = int(playing[slot])
            row = _row(place, deals[place], seed, envs, slot, info, int(steps[slot]), int(illegal[slot]))
            row = row._replace(actions=encode(played[slot]))
            if recording is not None:
                recording.ended(slot, row)
            yield row
            playing[slot] = next(waiting, _NOTHING)
        steps[ended] = illegal[ended] = 0
        for slot in np.flatnonzero(ended).tolist():
            played[slot].clear()
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
    """Deal the games named in ``playing`` to the marked slots; an idle slot gets an arbitrary deal."""
    codes = [deals[max(0, int(place))] for place in playing]
    return envs.reset(options={"codes": codes, "reset_mask": slots})


def _act(
    player: Policy, observation: Any, masks: NDArray[np.int8], info: dict[str, Any]
) -> NDArray[np.int64]:
    if player.batched:
        given = player.act(observation, masks, info)
    else:
        given = [player.act(first_of(observation), masks[0], first_of(info))]
    actions = as_array(f"actions of policy {player.name}", given)
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        raise BoulangerError(
            f"policy {player.name} returned {shown(given)} as the actions of {len(masks)} games: an action is one "
            "integer"
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
        outcome=str(info["outcome"][slot] or TRUNCATED),
        cards_home=envs.game(slot).cards_home,
        score=int(info["score"][slot]),
        moves=int(info["moves"][slot]),
        steps=steps,
        illegal=illegal,
    )
