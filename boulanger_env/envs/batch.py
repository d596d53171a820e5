"""The batch's compiled loops: many games a call, each stepped by the same code as the single environment."""

from __future__ import annotations

import numpy as np

from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import LEGAL, copy_row, why_illegal
from boulanger_env.game.moves import UNDO
from boulanger_env.game.state import (
    CELLS,
    FOUNDATIONS,
    HEIGHTS,
    MOVES,
    SCORE,
    TABLEAU,
    UNDO_LENGTH,
    Array,
    Board,
)

from .observations import write_features
from .stepping import RUNNING, TRUNCATED, WON, new_game, step_game, write_mask

EPISODE = np.dtype(
    [
        ("stream", np.uint64),  # the deal stream
        ("position", np.int64),  # the next place in a sequence of deals
        ("deal", np.int64),  # the deal in play as new_game names it, or GIVEN
        ("steps", np.int64),  # actions of this episode
        ("returned", np.float64),  # its rewards so far
        ("outcome", np.uint8),  # how it ended, while the next game is not dealt
    ]
)
"""What a batch keeps of each sub-environment beside the game's own rows."""

GIVEN = -1
"""A game that reset's options gave."""

# Gymnasium's three ways of starting the next episode.
NEXT_STEP, SAME_STEP, DISABLED = range(3)

CODE_LENGTH = 16


@kernel
def observe(board: Board, i: int, features: Array, tableau: Array, cells: Array, foundations: Array) -> None:
    """Write a board as row ``i`` of the observations that are kept: ``features``, or the three of ``"cards"``."""
    if features.shape[0] > 0:
        write_features(board, features[i])
    else:
        copy_row(board[TABLEAU:CELLS], tableau[i])
        copy_row(board[CELLS:FOUNDATIONS], cells[i])
        copy_row(board[FOUNDATIONS:HEIGHTS], foundations[i])


# Rows of the arrays in which step_batch says what happened, an entry a game. Those of an episode's end are 0 where
# none ended; they stand also where SAME_STEP has dealt the next game already.
I_SCORE, I_MOVES, I_OUTCOME, I_LENGTH, I_END_SCORE, I_END_MOVES, I_END_DEAL = range(7)
N_INTS = 7
F_REWARD, F_RETURN = range(2)
N_FLOATS = 2
B_TERMINATED, B_TRUNCATED, B_ENDED, B_WON, B_ILLEGAL, B_END_ILLEGAL, B_NAMED = range(7)
N_BOOLS = 7


@kernel
def step_batch(
    start: int,
    stop: int,
    boards: Array,
    counters: Array,
    history: Array,
    episodes: Array,
    actions: Array,
    rewards: Array,
    illegal_action: int,
    allow_undo: bool,
    prune: bool,
    max_episode_steps: int,
    autoreset: int,
    decks: Array,
    deck_cells: Array,
    n_cells: int,
    sequential: bool,
    scratch: Array,
    ints: Array,
    floats: Array,
    bools: Array,
    mask: Array,
    features: Array,
    tableau: Array,
    cells: Array,
    foundations: Array,
    final_mask: Array,
    final_features: Array,
    final_tableau: Array,
    final_cells: Array,
    final_foundations: Array,
) -> None:
    """Step the games ``start`` to ``stop``: play or deal, then mask, observation and events, in one pass.

    The arrays up to ``scratch`` are the batch's state and settings, the others its output. ``B_NAMED`` marks the
    games whose code is told: those that ended or were dealt. Only SAME_STEP uses the ``final_`` arrays.
    """
    stride = boards.shape[0]
    for i in range(start, stop):
        board, counter, episode = boards[i], counters[i], episodes[i]
        reward, illegal, outcome = 0.0, False, RUNNING
        deals_anew = episode["outcome"] != RUNNING
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
            episode["steps"] += 1
            episode["returned"] += reward
            if outcome == RUNNING and episode["steps"] >= max_episode_steps:
                outcome = TRUNCATED
        ended = outcome != RUNNING
        floats[F_REWARD, i] = reward
        floats[F_RETURN, i] = episode["returned"] if ended else 0.0
        ints[I_OUTCOME, i] = outcome
        ints[I_LENGTH, i] = episode["steps"] if ended else 0
        ints[I_END_SCORE, i] = counter[SCORE] if ended else 0
        ints[I_END_MOVES, i] = counter[MOVES] if ended else 0
        ints[I_END_DEAL, i] = episode["deal"]
        bools[B_TERMINATED, i] = ended and outcome != TRUNCATED
        bools[B_TRUNCATED, i] = outcome == TRUNCATED
        bools[B_ENDED, i] = ended
        bools[B_WON, i] = outcome == WON
        bools[B_END_ILLEGAL, i] = illegal and ended
        bools[B_NAMED, i] = ended or deals_anew
        if ended and autoreset == SAME_STEP:
            deals_anew = True
            illegal = False
            copy_row(mask[i], final_mask[i])
            observe(board, i, final_features, final_tableau, final_cells, final_foundations)
        elif ended:
            episode["outcome"] = outcome
        if deals_anew:
            start_game(board, counter, episode, stride, decks, deck_cells, n_cells, sequential, scratch)
            write_mask(board, counter, allow_undo, prune, mask[i])
        ints[I_SCORE, i] = counter[SCORE]
        ints[I_MOVES, i] = counter[MOVES]
        bools[B_ILLEGAL, i] = illegal
        observe(board, i, features, tableau, cells, foundations)


@kernel
def start_game(
    board: Board,
    counter: Array,
    episode: Array,
    stride: int,
    decks: Array,
    deck_cells: Array,
    n_cells: int,
    sequential: bool,
    scratch: Array,
) -> None:
    """Deal a sub-environment its next game."""
    stream, deal = new_game(
        board,
        counter,
        episode["stream"],
        i64(episode["position"]),
        decks,
        deck_cells,
        n_cells,
        sequential,
        scratch,
    )
    episode["stream"] = stream
    episode["position"] += stride
    episode["deal"] = deal
    episode["steps"] = 0
    episode["returned"] = 0.0
    episode["outcome"] = RUNNING


@kernel
def start_games(
    chosen: Array,
    boards: Array,
    counters: Array,
    episodes: Array,
    decks: Array,
    deck_cells: Array,
    n_cells: int,
    sequential: bool,
    scratch: Array,
) -> None:
    """Deal the next game of every sub-environment that ``chosen``, bool ``(n,)``, marks."""
    for i in range(boards.shape[0]):
        if chosen[i]:
            start_game(
                boards[i],
                counters[i],
                episodes[i],
                boards.shape[0],
                decks,
                deck_cells,
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
        outcome = episodes[i]["outcome"]
        if outcome in (RUNNING, TRUNCATED):
            write_mask(boards[i], counters[i], allow_undo, prune, mask[i])
        else:
            mask[i, :] = 1


@kernel
def observe_all(boards: Array, features: Array, tableau: Array, cells: Array, foundations: Array) -> None:
    """Write every game's observation as it stands."""
    for i in range(boards.shape[0]):
        observe(boards[i], i, features, tableau, cells, foundations)


@kernel
def first_illegal(boards: Array, counters: Array, actions: Array, episodes: Array) -> int:
    """The first game in play whose action the rules forbid, or -1."""
    for i in range(boards.shape[0]):
        if episodes[i]["outcome"] == RUNNING:
            action = i64(actions[i])
            if action == UNDO:
                if counters[i, UNDO_LENGTH] == 0:
                    return i
            elif why_illegal(boards[i], action) != LEGAL:
                return i
    return -1


@kernel
def write_codes(deals: Array, chosen: Array, n_cells: int, out: Array) -> None:
    """Write BK1 codes as UCS-4 text, uint32 ``(n, CODE_LENGTH)`` zeroed, for the rows that ``chosen`` marks."""
    for i in range(deals.shape[0]):
        if chosen[i] and deals[i] >= 0:
            row = out[i]
            row[0], row[1], row[2], row[3] = 66, 75, 49, 45  # "BK1-"
            row[4], row[5], row[6] = 67, 48 + n_cells, 45  # "Cn-"
            number = i64(deals[i])
            for place in range(7):
                symbol = (number >> (30 - 5 * place)) & 31
                # A-Z, then 2-7.
                row[7 + place] = 65 + symbol if symbol < 26 else 24 + symbol
