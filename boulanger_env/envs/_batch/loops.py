"""The batch's compiled loops: many games per call, each stepped by the same code as the single environment."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boulanger_env.envs.observations import CARD_BYTES, CARDS_KIND, write_observation
from boulanger_env.game.codes import CODE_LENGTH, write_random_code
from boulanger_env.game.jit import i64, inlined_kernel, kernel
from boulanger_env.game.kernels import copy_row
from boulanger_env.game.outcomes import O_RUNNING, O_TRUNCATED, O_WON
from boulanger_env.game.state import (
    BOARD_SIZE,
    HISTORY_SIZE,
    MOVES,
    N_COUNTERS,
    SCORE,
    Array,
    State,
)

from .sharing import S_DONE, S_ENDED, atomic_add, claim
from .stepping import (
    INFO_OUTCOMES,
    Decks,
    Rules,
    begin_episode,
    is_legal,
    new_game,
    step_game,
    write_mask,
)
from .visits import SMALLEST, Visits, no_visits

# Columns of Games.episodes.
E_POSITION, E_STEPS, E_OUTCOME, E_START, E_GROUP = range(5)
N_EPISODE = 5

# Gymnasium's three ways of starting the next episode.
NEXT_STEP, SAME_STEP, DISABLED = range(3)

CARD_WORDS = CARD_BYTES // 8
_AT_ONCE = 4

OUTCOME_TEXTS = np.array(INFO_OUTCOMES)
_OUTCOME_LETTERS = OUTCOME_TEXTS.view(np.uint32).reshape(len(INFO_OUTCOMES), -1)


class Games(NamedTuple):
    """The games of a batch, one row each."""

    boards: Array
    """uint8 ``(n, BOARD_SIZE)``, with ``counters`` and ``history``: see ``game/state.py``."""
    words: Array
    """The boards as uint64."""
    counters: Array
    history: Array
    episodes: Array
    """int64 ``(n, N_EPISODE)``: the next index in a sequence of deals; number of actions in this episode; its outcome,
    until the next game is dealt; index and group of the position that it started from, -1 for others."""
    streams: Array
    """uint64 ``(n,)``, the deal streams."""
    returns: Array
    """float64 ``(n,)``, the rewards of this episode; before its first action, what that action will be paid for moves
    that played themselves."""
    codes: Array
    """uint32 ``(n, CODE_LENGTH)``, the letters of the codes."""
    heads: Array
    """uint64 ``(n, N_HEAD)``, with ``visited``: where the episodes have been, see ``visits.py``."""
    visited: Array

    @classmethod
    def make(cls, n: int, no_repeats: bool) -> Games:
        """``n`` games, all zeros; with room to remember positions, or without."""
        return cls.of(
            np.zeros((n, BOARD_SIZE), np.uint8),
            np.zeros((n, N_COUNTERS), np.int32),
            np.zeros((n, HISTORY_SIZE), np.uint16),
            np.zeros((n, N_EPISODE), np.int64),
            np.zeros(n, np.uint64),
            np.zeros(n),
            np.zeros((n, CODE_LENGTH), np.uint32),
            *no_visits(n, SMALLEST * no_repeats),
        )

    @classmethod
    def of(cls, boards: Array, *others: Array) -> Games:
        """Games of these arrays, which are not copied."""
        return cls(boards, boards.view(np.uint64), *others)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leaves out ``words``, which must be a view of the boards in a copy too."""
        return Games.of, (self.boards, *self[2:])


class Seen(NamedTuple):
    """Masks and observations of a batch."""

    mask: Array
    """int8 ``(n, actions)``"""
    rows: Array
    """uint8 ``(n, size)``: the bytes of the observations."""
    words: Array
    """uint64 ``(n, CARD_WORDS)``: the same as words, for the cards; no rows for other kinds."""
    kind: int
    """The kind of observation, see ``observations.py``."""


class Events(NamedTuple):
    """What a step did, one entry per game.

    Entries named END are written only in SAME_STEP, which deals the next game at once: they belong to the episode that
    ended, and are 0 if none did.
    """

    ints: Array
    """int64 ``(N_INTS, n)``, rows named ``I_``"""
    floats: Array
    """float64 ``(N_FLOATS, n)``, rows named ``F_``"""
    bools: Array
    """bool ``(N_BOOLS, n)``, rows named ``B_``"""
    outcomes: Array
    """uint32 ``(n, letters)``, the letters of the outcomes"""
    codes: Array
    end_outcomes: Array
    end_codes: Array


I_SCORE, I_MOVES, I_LENGTH, I_START, I_GROUP = range(5)
I_END_SCORE, I_END_MOVES, I_END_LENGTH, I_END_START, I_END_GROUP = range(5, 10)
N_INTS = 10
F_REWARD, F_RETURN, F_END_RETURN = range(3)
N_FLOATS = 3
B_TERMINATED, B_TRUNCATED, B_ENDED, B_WON, B_ILLEGAL, B_END_WON, B_END_ILLEGAL = range(7)
N_BOOLS = 7


class Written(NamedTuple):
    """Everything that a step writes except the games."""

    events: Events
    seen: Seen
    last: Seen
    """The same for episodes that ended; only in SAME_STEP."""
    last_kept: Array
    """bool ``(n,)``: which rows of ``last.mask`` the last step that wrote to it has left nonzero."""


class Crew(NamedTuple):
    """What the threads of a batch share, apart from the games."""

    games_a_part: int
    scratch: Array
    """uint8 ``(threads, 52)``: one row per thread to shuffle in."""


@inlined_kernel
def observe(games: Games, i: int, seen: Seen) -> None:
    """Write a board to row ``i`` of the observation in use."""
    if seen.kind != CARDS_KIND:
        write_observation(games.boards[i], seen.rows[i], seen.kind)
    else:
        words, cards = games.words, seen.words
        # Read several before writing: the compiler cannot know that the arrays do not overlap.
        for w in range(0, CARD_WORDS, _AT_ONCE):
            a, b, c, d = words[i, w], words[i, w + 1], words[i, w + 2], words[i, w + 3]
            cards[i, w], cards[i, w + 1], cards[i, w + 2], cards[i, w + 3] = a, b, c, d


@kernel
def step_batch(
    shared: Array,
    thread: int,
    crew: Crew,
    actions: Array,
    games: Games,
    rules: Rules,
    decks: Decks,
    autoreset: int,
    written: Written,
) -> None:
    """Step all games that this thread claims: play or deal, then mask, observation and events, in one pass.

    The number of games that ended is added up in ``shared``, see ``sharing.py``.
    """
    n = games.boards.shape[0]
    size = crew.games_a_part
    n_parts = (n + size - 1) // size
    ints, floats, bools = written.events.ints, written.events.floats, written.events.bools
    episodes, returns, codes = games.episodes, games.returns, games.codes
    mask, last, last_kept = written.seen.mask, written.last, written.last_kept
    with_starts = decks.starts.boards.shape[0] > 0
    while True:
        part = claim(shared, thread, n_parts)
        if part < 0:
            return
        n_ended = 0
        start, stop = part * size, min((part + 1) * size, n)
        for i in range(start, stop):
            counter, episode = games.counters[i], episodes[i]
            reward, illegal, outcome = 0.0, False, O_RUNNING
            deals_next = episode[E_OUTCOME] != O_RUNNING
            if not deals_next:
                state = State(games.boards[i], counter, games.history[i])
                visits = Visits(games.heads[i], games.visited)
                episode[E_STEPS] += 1
                steps = i64(episode[E_STEPS])
                reward, illegal, outcome = step_game(state, visits, i64(actions[i]), steps, rules, mask[i])
                if steps == 1:
                    reward += returns[i]
                    returns[i] = 0.0
                returns[i] += reward
            ended = outcome != O_RUNNING
            n_ended += ended
            floats[F_REWARD, i] = reward
            bools[B_TERMINATED, i] = ended and outcome != O_TRUNCATED
            bools[B_TRUNCATED, i] = outcome == O_TRUNCATED
            bools[B_ENDED, i] = ended
            if autoreset == SAME_STEP:
                ints[I_END_SCORE, i] = counter[SCORE] if ended else 0
                ints[I_END_MOVES, i] = counter[MOVES] if ended else 0
                ints[I_END_LENGTH, i] = episode[E_STEPS] if ended else 0
                if with_starts:
                    ints[I_END_START, i] = episode[E_START] if ended else 0
                    ints[I_END_GROUP, i] = episode[E_GROUP] if ended else 0
                floats[F_END_RETURN, i] = returns[i] if ended else 0.0
                bools[B_END_WON, i] = outcome == O_WON
                bools[B_END_ILLEGAL, i] = illegal and ended
                copy_row(_OUTCOME_LETTERS[outcome], written.events.end_outcomes[i])
                written.events.end_codes[i, :] = 0
                if last_kept[i] and not ended:
                    last.mask[i, :] = 0
                last_kept[i] = ended
                if ended:
                    copy_row(codes[i], written.events.end_codes[i])
                    copy_row(mask[i], last.mask[i])
                    observe(games, i, last)
                    deals_next, outcome, illegal = True, O_RUNNING, False
            elif ended:
                episode[E_OUTCOME] = outcome
            if deals_next:
                start_game(i, games, rules, decks, crew.scratch[thread])
                state = State(games.boards[i], counter, games.history[i])
                write_mask(state, Visits(games.heads[i], games.visited), rules, mask[i])
            over = outcome != O_RUNNING
            ints[I_SCORE, i] = counter[SCORE]
            ints[I_MOVES, i] = counter[MOVES]
            ints[I_LENGTH, i] = episode[E_STEPS] if over else 0
            if with_starts:
                ints[I_START, i] = episode[E_START]
                ints[I_GROUP, i] = episode[E_GROUP]
            floats[F_RETURN, i] = returns[i] if over else 0.0
            bools[B_WON, i] = outcome == O_WON
            bools[B_ILLEGAL, i] = illegal
            copy_row(_OUTCOME_LETTERS[outcome], written.events.outcomes[i])
            copy_row(codes[i], written.events.codes[i])
            observe(games, i, written.seen)
        atomic_add(shared, S_ENDED, n_ended)
        atomic_add(shared, S_DONE, stop - start)


@inlined_kernel
def start_game(i: int, games: Games, rules: Rules, decks: Decks, scratch: Array) -> None:
    """Deal sub-environment ``i`` its next game."""
    episode = games.episodes[i]
    state = State(games.boards[i], games.counters[i], games.history[i])
    games.streams[i], deal, start, group = new_game(
        state, games.streams[i], i64(episode[E_POSITION]), decks, scratch
    )
    episode[E_START], episode[E_GROUP] = start, group
    write_code(i64(deal), decks, games.codes[i])
    episode[E_POSITION] += games.boards.shape[0]
    episode[E_STEPS] = 0
    episode[E_OUTCOME] = O_RUNNING
    games.returns[i] = begin_episode(state, Visits(games.heads[i], games.visited), rules)


@kernel
def start_games(chosen: Array, games: Games, rules: Rules, decks: Decks, scratch: Array) -> None:
    """Deal the next game of every sub-environment that ``chosen``, bool ``(n,)``, marks."""
    for i in range(chosen.shape[0]):
        if chosen[i]:
            start_game(i, games, rules, decks, scratch)


@kernel
def begin_given(i: int, games: Games, rules: Rules) -> None:
    """Begin the episode of a game that was given."""
    state = State(games.boards[i], games.counters[i], games.history[i])
    games.returns[i] = begin_episode(state, Visits(games.heads[i], games.visited), rules)


@kernel
def write_masks(games: Games, rules: Rules, mask: Array) -> None:
    """Write every game's current mask, all ones once its episode has terminated."""
    for i in range(games.boards.shape[0]):
        outcome = games.episodes[i, E_OUTCOME]
        if outcome in (O_RUNNING, O_TRUNCATED):
            state = State(games.boards[i], games.counters[i], games.history[i])
            write_mask(state, Visits(games.heads[i], games.visited), rules, mask[i])
        else:
            mask[i, :] = 1


@kernel
def observe_all(games: Games, seen: Seen) -> None:
    """Write every game's current observation."""
    for i in range(games.boards.shape[0]):
        observe(games, i, seen)


@kernel
def all_below(actions: Array, count: int) -> bool:
    """Whether all ``actions``, int64 ``(n,)``, are in ``0 .. count - 1``."""
    highest = np.uint64(0)  # as unsigned, negative numbers are too large as well
    for i in range(actions.shape[0]):
        highest = max(highest, np.uint64(actions[i]))
    return bool(highest < np.uint64(count))


@kernel
def first_illegal(games: Games, actions: Array, rules: Rules) -> int:
    """The first game in play whose action the rules forbid, or -1."""
    for i in range(actions.shape[0]):
        if games.episodes[i, E_OUTCOME] == O_RUNNING:
            action = i64(actions[i])
            state = State(games.boards[i], games.counters[i], games.history[i])
            if not is_legal(state, Visits(games.heads[i], games.visited), action, rules):
                return i
    return -1


@inlined_kernel
def write_code(deal: int, decks: Decks, out: Array) -> None:
    """Write a deal's code as UCS-4 text, uint32 ``(CODE_LENGTH,)``.

    Args:
        deal: as returned by ``new_game``; a start has no code.
        decks: where it came from.
        out: overwritten.
    """
    if deal < 0:
        out[:] = 0
        return
    if decks.codes.shape[0] > 0:
        copy_row(decks.codes[deal], out)
        return
    write_random_code(deal, decks.n_cells, out)
