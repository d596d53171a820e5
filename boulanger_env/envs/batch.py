"""The batch's compiled loops: many games a call, each stepped by the same code as the single environment."""

from __future__ import annotations

import numpy as np

from boulanger_env.game.jit import i64, inlined_kernel, kernel
from boulanger_env.game.kernels import LEGAL, copy_row, why_illegal
from boulanger_env.game.moves import UNDO
from boulanger_env.game.state import (
    CELLS,
    MOVES,
    SCORE,
    UNDO_LENGTH,
    Array,
)

from .features import write_features
from .sharing import S_DONE, S_ENDED, atomic_add, claim
from .stepping import INFO_OUTCOMES, RUNNING, TRUNCATED, WON, new_game, step_game, write_mask

# What a batch keeps of each sub-environment beside the game's own rows, as columns of int64 (n, N_EPISODE): the next
# place in a sequence of deals; actions of this episode; how it ended, while the next game is not dealt. Besides, uint64
# (n,), the streams of deals, float64 (n,), the rewards so far, and the codes of the games as their letters.
E_POSITION, E_STEPS, E_OUTCOME = range(3)
N_EPISODE = 3

# Gymnasium's three ways of starting the next episode.
NEXT_STEP, SAME_STEP, DISABLED = range(3)

CODE_LENGTH = 16

# A board in words of 64 bits: the tableau, then cells and foundations in one word.
_TABLEAU_WORDS = CELLS // 8
_AT_ONCE = 4
_HALF, _LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)

OUTCOME_TEXTS = np.array(INFO_OUTCOMES)
_OUTCOME_LETTERS = OUTCOME_TEXTS.view(np.uint32).reshape(len(INFO_OUTCOMES), -1)


@inlined_kernel
def observe(
    boards: Array, words: Array, i: int, features: Array, tableau: Array, cells: Array, foundations: Array
) -> None:
    """Write a board as row ``i`` of the observations that are kept: ``features``, or the three of ``"cards"``.

    ``words`` are the boards as uint64, and so is ``tableau``; ``cells`` and ``foundations`` are uint32.
    """
    if features.shape[0] > 0:
        write_features(boards[i], features[i])
    else:
        # Some are read before they are written: the compiler cannot know that the arrays lie apart.
        for w in range(0, _TABLEAU_WORDS - _AT_ONCE + 1, _AT_ONCE):
            a, b, c, d = words[i, w], words[i, w + 1], words[i, w + 2], words[i, w + 3]
            tableau[i, w], tableau[i, w + 1], tableau[i, w + 2], tableau[i, w + 3] = a, b, c, d
        for w in range(_TABLEAU_WORDS // _AT_ONCE * _AT_ONCE, _TABLEAU_WORDS):
            tableau[i, w] = words[i, w]
        rest = words[i, _TABLEAU_WORDS]
        cells[i, 0] = np.uint32(rest & _LOW_HALF)
        foundations[i, 0] = np.uint32(rest >> _HALF)


# Rows of the arrays in which step_batch says what happened, an entry a game. Those named END are written with SAME_STEP
# alone, which deals the next game at once: they tell of the episode that ended, and are 0 where none did.
I_SCORE, I_MOVES, I_LENGTH, I_END_SCORE, I_END_MOVES, I_END_LENGTH = range(6)
N_INTS = 6
F_REWARD, F_RETURN, F_END_RETURN = range(3)
N_FLOATS = 3
B_TERMINATED, B_TRUNCATED, B_ENDED, B_WON, B_ILLEGAL, B_END_WON, B_END_ILLEGAL = range(7)
N_BOOLS = 7


@kernel
def step_batch(
    shared: Array,
    thread: int,
    games_a_part: int,
    scratch: Array,
    actions: Array,
    boards: Array,
    words: Array,
    counters: Array,
    history: Array,
    episodes: Array,
    streams: Array,
    returns: Array,
    codes: Array,
    rewards: Array,
    illegal_action: int,
    allow_undo: bool,
    prune: bool,
    max_episode_steps: int,
    autoreset: int,
    decks: Array,
    deck_cells: Array,
    deck_codes: Array,
    n_cells: int,
    sequential: bool,
    ints: Array,
    floats: Array,
    bools: Array,
    outcomes: Array,
    told_codes: Array,
    end_outcomes: Array,
    end_codes: Array,
    mask: Array,
    features: Array,
    tableau: Array,
    cells: Array,
    foundations: Array,
    final_kept: Array,
    final_mask: Array,
    final_features: Array,
    final_tableau: Array,
    final_cells: Array,
    final_foundations: Array,
) -> None:
    """Step all games that no other thread steps: play or deal, then mask, observation and events, in one pass.

    The arrays up to ``sequential`` are the batch's state and settings, the others its output. Only SAME_STEP uses the
    ``end_`` and ``final_`` arrays. ``final_kept`` marks the rows of ``final_mask`` that are not zeros, from one step
    that writes there to the next. How many games ended is added up in ``shared``, see ``sharing.py``.
    """
    n = boards.shape[0]
    n_parts = (n + games_a_part - 1) // games_a_part
    while True:
        part = claim(shared, thread, n_parts)
        if part < 0:
            return
        n_ended = 0
        start, stop = part * games_a_part, min((part + 1) * games_a_part, n)
        for i in range(start, stop):
            board, counter, episode = boards[i], counters[i], episodes[i]
            reward, illegal, outcome = 0.0, False, RUNNING
            deals_anew = episode[E_OUTCOME] != RUNNING
            if not deals_anew:
                reward, illegal, outcome = step_game(
                    board,
                    counter,
                    history[i],
                    i64(actions[i]),
                    rewards,
                    illegal_action,
                    allow_undo,
                    prune,
                    mask[i],
                )
                episode[E_STEPS] += 1
                returns[i] += reward
                if outcome == RUNNING and episode[E_STEPS] >= max_episode_steps:
                    outcome = TRUNCATED
            ended = outcome != RUNNING
            n_ended += ended
            floats[F_REWARD, i] = reward
            bools[B_TERMINATED, i] = ended and outcome != TRUNCATED
            bools[B_TRUNCATED, i] = outcome == TRUNCATED
            bools[B_ENDED, i] = ended
            if autoreset == SAME_STEP:
                ints[I_END_SCORE, i] = counter[SCORE] if ended else 0
                ints[I_END_MOVES, i] = counter[MOVES] if ended else 0
                ints[I_END_LENGTH, i] = episode[E_STEPS] if ended else 0
                floats[F_END_RETURN, i] = returns[i] if ended else 0.0
                bools[B_END_WON, i] = outcome == WON
                bools[B_END_ILLEGAL, i] = illegal and ended
                copy_row(_OUTCOME_LETTERS[outcome], end_outcomes[i])
                end_codes[i, :] = 0
                if final_kept[i] and not ended:
                    final_mask[i, :] = 0
                final_kept[i] = ended
                if ended:
                    copy_row(codes[i], end_codes[i])
                    copy_row(mask[i], final_mask[i])
                    observe(boards, words, i, final_features, final_tableau, final_cells, final_foundations)
                    deals_anew, outcome, illegal = True, RUNNING, False
            elif ended:
                episode[E_OUTCOME] = outcome
            if deals_anew:
                start_game(
                    i,
                    boards,
                    counters,
                    episodes,
                    streams,
                    returns,
                    codes,
                    decks,
                    deck_cells,
                    deck_codes,
                    n_cells,
                    sequential,
                    scratch,
                )
                write_mask(board, counter, allow_undo, prune, mask[i])
            over = outcome != RUNNING
            ints[I_SCORE, i] = counter[SCORE]
            ints[I_MOVES, i] = counter[MOVES]
            ints[I_LENGTH, i] = episode[E_STEPS] if over else 0
            floats[F_RETURN, i] = returns[i] if over else 0.0
            bools[B_WON, i] = outcome == WON
            bools[B_ILLEGAL, i] = illegal
            copy_row(_OUTCOME_LETTERS[outcome], outcomes[i])
            copy_row(codes[i], told_codes[i])
            observe(boards, words, i, features, tableau, cells, foundations)
        atomic_add(shared, S_ENDED, n_ended)
        atomic_add(shared, S_DONE, stop - start)


@inlined_kernel
def start_game(
    i: int,
    boards: Array,
    counters: Array,
    episodes: Array,
    streams: Array,
    returns: Array,
    codes: Array,
    decks: Array,
    deck_cells: Array,
    deck_codes: Array,
    n_cells: int,
    sequential: bool,
    scratch: Array,
) -> None:
    """Deal sub-environment ``i`` its next game."""
    episode = episodes[i]
    streams[i], deal = new_game(
        boards[i],
        counters[i],
        streams[i],
        i64(episode[E_POSITION]),
        decks,
        deck_cells,
        n_cells,
        sequential,
        scratch,
    )
    write_code(i64(deal), deck_codes, n_cells, codes[i])
    episode[E_POSITION] += boards.shape[0]
    episode[E_STEPS] = 0
    episode[E_OUTCOME] = RUNNING
    returns[i] = 0.0


@kernel
def start_games(
    chosen: Array,
    boards: Array,
    counters: Array,
    episodes: Array,
    streams: Array,
    returns: Array,
    codes: Array,
    decks: Array,
    deck_cells: Array,
    deck_codes: Array,
    n_cells: int,
    sequential: bool,
    scratch: Array,
) -> None:
    """Deal the next game of every sub-environment that ``chosen``, bool ``(n,)``, marks."""
    for i in range(boards.shape[0]):
        if chosen[i]:
            start_game(
                i,
                boards,
                counters,
                episodes,
                streams,
                returns,
                codes,
                decks,
                deck_cells,
                deck_codes,
                n_cells,
                sequential,
                scratch,
            )


@kernel
def write_masks(
    boards: Array, counters: Array, episodes: Array, allow_undo: bool, prune: bool, mask: Array
) -> None:
    """Write every game's mask as it stands: its own, or all ones once its episode has terminated."""
    for i in range(boards.shape[0]):
        outcome = episodes[i, E_OUTCOME]
        if outcome in (RUNNING, TRUNCATED):
            write_mask(boards[i], counters[i], allow_undo, prune, mask[i])
        else:
            mask[i, :] = 1


@kernel
def observe_all(
    boards: Array, words: Array, features: Array, tableau: Array, cells: Array, foundations: Array
) -> None:
    """Write every game's observation as it stands."""
    for i in range(boards.shape[0]):
        observe(boards, words, i, features, tableau, cells, foundations)


@kernel
def all_below(actions: Array, count: int) -> bool:
    """Whether all ``actions``, int64 ``(n,)``, are in ``0 .. count - 1``."""
    highest = np.uint64(0)  # seen as unsigned, negative numbers are too large, too
    for i in range(actions.shape[0]):
        highest = max(highest, np.uint64(actions[i]))
    return bool(highest < np.uint64(count))


@kernel
def first_illegal(boards: Array, counters: Array, actions: Array, episodes: Array) -> int:
    """The first game in play whose action the rules forbid, or -1."""
    for i in range(boards.shape[0]):
        if episodes[i, E_OUTCOME] == RUNNING:
            action = i64(actions[i])
            if action == UNDO:
                if counters[i, UNDO_LENGTH] == 0:
                    return i
            elif why_illegal(boards[i], action) != LEGAL:
                return i
    return -1


@inlined_kernel
def write_code(deal: int, deck_codes: Array, n_cells: int, out: Array) -> None:
    """Write a deal's code as UCS-4 text, uint32 ``(CODE_LENGTH,)``.

    Args:
        deal: as ``new_game`` names it.
        deck_codes: uint32 ``(m, CODE_LENGTH)``, the codes of listed deals; ``m`` = 0: random BK1 deals.
        n_cells: the cells of random games.
        out: overwritten.
    """
    if deck_codes.shape[0] > 0:
        copy_row(deck_codes[deal], out)
        return
    out[:] = 0
    out[0], out[1], out[2], out[3] = 66, 75, 49, 45  # "BK1-"
    out[4], out[5], out[6] = 67, 48 + n_cells, 45  # "Cn-"
    for place in range(7):
        symbol = (deal >> (30 - 5 * place)) & 31
        # A-Z, then 2-7.
        out[7 + place] = 65 + symbol if symbol < 26 else 24 + symbol
