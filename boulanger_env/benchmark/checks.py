"""Checks of results: games that break the rules, wins proved impossible, actions that end differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from boulanger_env.agents.model_files import SETTINGS
from boulanger_env.deals import parse_code
from boulanger_env.deals.known import built_in_labels
from boulanger_env.envs.episodes import Ended, play_out
from boulanger_env.envs.settings import Settings
from boulanger_env.game.cards import N_CARDS
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.kernels import EVENT_FOUNDATION, EVENT_FROM_CELL, POINTS
from boulanger_env.game.outcomes import ILLEGAL, OUTCOMES, STUCK, TRUNCATED, WON
from boulanger_env.game.state import N_COLUMNS

from .action_text import decode
from .rows import GameRow

_HOME, _FROM_CELL = int(POINTS[EVENT_FOUNDATION]), int(POINTS[EVENT_FROM_CELL])


def read_rules(settings: Mapping[str, Any]) -> Settings:
    """A run's settings, checked.

    Raises:
        BoulangerError: a setting is unknown or has an invalid value.
    """
    for key in settings:
        if key not in SETTINGS:
            raise BoulangerError(f"setting {key!r} is unknown: a run has {', '.join(SETTINGS)}")
    return Settings(**{**SETTINGS, **settings})


def why_impossible(row: GameRow, rules: Settings) -> str | None:
    """The rule that the numbers of a row break; None if a game can end this way.

    Args:
        row: whole numbers, and the code of a game.
        rules: the run's settings.
    """
    n_cells = parse_code(row.code).n_cells
    from_cell, odd = divmod(row.score - _HOME * row.cards_home, _FROM_CELL)
    # Under auto_foundation each card home played itself.
    own = row.moves - (row.cards_home if rules.auto_foundation else 0)
    undone, half = divmod(row.steps - row.illegal - own, 2)
    # A card that goes from a cell to a column went into that cell before, and a stuck game has no free cell and no
    # empty column. Under no_repeats it may have, but some card lies on one that is next to go home.
    full = row.outcome == STUCK and not rules.no_repeats
    least = row.cards_home + 2 * from_cell + (n_cells if full else 0)
    most_home = {WON: N_CARDS, STUCK: N_CARDS - (N_COLUMNS + n_cells if full else 2)}.get(
        row.outcome, N_CARDS - 1
    )
    limit = rules.limit
    must = (
        (
            row.outcome in OUTCOMES[1:],
            f"outcome {row.outcome!r} is not one of {', '.join(map(str, OUTCOMES[1:]))}",
        ),
        (min(row.steps, row.moves, row.illegal) >= 0, "a number is negative"),
        (0 <= row.cards_home <= most_home, f"{row.cards_home} cards home, {row.outcome}"),
        (row.outcome != WON or row.cards_home == N_CARDS, f"won with {row.cards_home} cards home"),
        (
            from_cell >= 0 and not odd,
            f"the score is {row.score}, but {row.cards_home} cards home bring {_HOME * row.cards_home}, and each "
            f"card from a cell to a column {_FROM_CELL}",
        ),
        (row.moves >= least, f"{row.moves} moves, but this score and outcome take at least {least}"),
        (
            undone >= 0 and not half,
            f"{row.steps} steps cannot be {row.moves} moves and {row.illegal} illegal ones",
        ),
        (
            rules.allow_undo or undone == 0,
            f"{row.steps} steps, but {row.moves} moves and {row.illegal} illegal ones",
        ),
        (row.steps <= limit, f"{row.steps} steps, but the limit is {limit}"),
        (row.outcome != TRUNCATED or row.steps == limit, f"truncated after {row.steps} steps, not {limit}"),
        (
            rules.illegal_action == "penalize" or row.illegal == (row.outcome == ILLEGAL),
            f"{row.illegal} illegal actions, but the first one ends the game",
        ),
        (
            row.outcome != ILLEGAL or rules.illegal_action == "terminate",
            "an illegal action does not end the game there",
        ),
    )
    return next((said for holds, said in must if not holds), None)


def check_wins(rows: Sequence[GameRow]) -> None:
    """Reject wins that the labels of the built-in sets prove impossible, whatever the rows call their set.

    Raises:
        BoulangerError: an unsolvable deal was won, or one in fewer moves than its shortest solution.
    """
    won = [row for row in rows if row.won]
    labels = built_in_labels([row.code for row in won])
    for row in won:
        label = labels.get(row.code)
        if label is None:
            continue
        if not label.solvable:
            raise BoulangerError(f"{row.code} is won, but it is proved that it cannot be won")
        if row.moves < label.length:
            raise BoulangerError(
                f"{row.code} is won in {row.moves} moves, but its shortest solution has {label.length}"
            )


def check_actions(rows: Sequence[GameRow], rules: Settings) -> None:
    """Replay every game from its actions, and reject rows that come out differently.

    Raises:
        BoulangerError: a row does not match its actions.
    """
    # Rows keep moves by place, however the policy's actions were numbered.
    rules = replace(rules, actions="places")
    actions = [decode(row.actions) for row in rows]
    for row, given in zip(rows, actions, strict=True):
        if len(given) != row.steps:
            raise BoulangerError(f"{_game(row)} has {row.steps} steps, but {len(given)} actions")
        if (given >= rules.n_actions).any():
            raise BoulangerError(f"{_game(row)} has an undo, which the settings do not allow")
    for row, found in zip(rows, play_out([row.code for row in rows], actions, rules), strict=True):
        claimed = Ended(*(getattr(row, name) for name in Ended._fields))
        if found != claimed:
            differs = "; ".join(
                f"{name} {is_now!r}, not {was!r}"
                for name, is_now, was in zip(Ended._fields, found, claimed, strict=True)
                if is_now != was
            )
            raise BoulangerError(f"{_game(row)}, played again by its actions, has {differs}")


def _game(row: GameRow) -> str:
    return f"the game {row.code} with seed {row.seed}"
