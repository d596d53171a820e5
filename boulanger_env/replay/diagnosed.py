"""What the solver says about a replay: whether it could be won, and where it was lost, on a page and in words."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from boulanger_env.game import BoulangerError, Game, Move
from boulanger_env.game.outcomes import WON
from boulanger_env.render.html import episode
from boulanger_env.solver import Decision, Diagnosis, Status, diagnose, solve, winning_moves

BUDGET = 60.0
"""Seconds that pages spend on diagnoses by default."""

_SEARCH = 100_000
"""Maximum positions that the solver searches to say whether a game could be won: less than a second."""

_LETTERS = {True: "w", False: "l", None: "u"}


class Played(Protocol):
    """What a ``Replay`` has that a diagnosis needs."""

    @property
    def start(self) -> Game:
        """The game before the first action."""

    @property
    def played(self) -> Sequence[int]:
        """The ids of all that was played."""

    @property
    def outcome(self) -> str | None:
        """How the episode ended."""


def could_be_won(one: Played) -> bool | None:
    """Whether the game could be won from its start, or None if that takes too long a search."""
    if one.outcome == WON:
        return True
    status = solve(one.start, _SEARCH).status
    return None if status is Status.LIMIT else status is Status.SOLVED


def diagnose_within(
    games: Iterable[tuple[Game, Sequence[int]]], seconds: float = BUDGET
) -> list[Diagnosis | None]:
    """Diagnose games one after the other for as long as a budget of time lasts.

    Args:
        games: where each began, and the ids of all that was played.
        seconds: for all of them together; what the solver takes to compile, once on a machine, is not counted.

    Returns:
        The diagnosis of each; None for those that the budget did not suffice for.
    """
    winning_moves(Game.from_code("MS-C4-1"))  # compiles
    deadline = time.monotonic() + seconds
    found: list[Diagnosis | None] = []
    for start, actions in games:
        left = deadline - time.monotonic()
        one = diagnose(start, actions, time_limit=left) if left > 0 else None
        # What a game's last seconds left open would look like something that no search can decide.
        found.append(one if time.monotonic() < deadline else None)
    return found


def left_out(found: Sequence[Diagnosis | None], seconds: float = BUDGET) -> str:
    """A line that says how many games the budget did not suffice for; "" if it did."""
    missing = found.count(None)
    if not missing:
        return ""
    games = "1 game is" if missing == 1 else f"{missing} games are"
    return f"{games} not diagnosed: {seconds:g} seconds were not enough (boulanger diagnose takes as long as it needs)"


def check_diagnosis(diagnosis: Diagnosis, start: Game, actions: Sequence[int]) -> None:
    """Refuse the diagnosis of another game.

    Raises:
        BoulangerError: it is one.
    """
    steps = len(diagnosis.positions) - 1
    if steps != len(actions):
        raise BoulangerError(f"this diagnosis is of a game of {steps} steps, and this one has {len(actions)}")
    first = next(iter(diagnosis.decisions), None)
    for decision in diagnosis.decisions:
        if decision.move.id != actions[decision.step - 1]:
            raise BoulangerError(
                f"this diagnosis is of another game: step {decision.step} is {decision.move} there"
            )
    if first is not None and first.step == 1 and first.before != start:
        raise BoulangerError("this diagnosis is of a game that began with another board")


def headline(diagnosis: Diagnosis, outcome: str | None) -> str:
    """What became of the win, in a sentence."""
    lost = diagnosis.losing_move
    if lost is not None:
        n, all_moves = len(lost.winning), len(lost.winning) + len(lost.losing) + len(lost.undecided)
        return f"Lost by step {lost.step}, {lost.text}: {n} of {all_moves} moves would have kept the win."
    if outcome == WON:
        return f"Won; at {diagnosis.choices} of {len(diagnosis.decisions)} decisions another move would have lost."
    if diagnosis.winnable:
        return "It can still be won."
    if diagnosis.undecided or diagnosis.winnable is None:
        return "Whether it can be won was not decided within the limit."
    return "It could not be won: a search of every line of play found no win from the start."


def together(found: Sequence[Diagnosis]) -> str:
    """What became of the wins of several games, in a line."""
    choices = sum(one.choices for one in found)
    mistakes = sum(len(one.mistakes) for one in found)
    lost = sorted(one.losing_move.step for one in found if one.losing_move is not None)
    share = f" ({100 * mistakes / choices:.2f} %)" if choices else ""
    said = [
        f"{len(found)} games, {len(lost)} lost by a move",
        f"{mistakes} mistakes{share} at {choices} decisions where one move keeps the win and another loses it",
    ]
    if lost:
        quarters = "/".join(str(lost[len(lost) * quarter // 4]) for quarter in (1, 2, 3))
        said.append(f"lost at step {quarters} (quartiles)")
    return "; ".join(said)


def in_words(diagnosis: Diagnosis) -> list[str]:
    """For each action what it did to the win, and what other moves would have done; "" if there is nothing to say."""
    said = {decision.step: _of_decision(decision) for decision in diagnosis.decisions}
    lost = diagnosis.losing_move
    if lost is not None:
        said[lost.step] = f"this move lost the game{_others(lost)}"
    for step in range(1, len(diagnosis.positions)):
        before, after = diagnosis.positions[step - 1 : step + 1]
        if step not in said:  # undo, or an illegal action
            said[step] = "the game can be won again" if after and before is False else ""
        if after is False and before is False:
            said[step] = "the game can no longer be won"
    return [said[step] for step in range(1, len(diagnosis.positions))]


def _of_decision(decision: Decision) -> str:
    if decision.is_mistake:
        return f"this move threw the win away{_others(decision)}"
    if decision.move in decision.winning:
        return f"keeps the win{_others(decision)}"
    return "not decided within the limit"


def _others(decision: Decision) -> str:
    """The moves that were not played, by what they would have done."""

    def texts(moves: Sequence[Move]) -> str:
        return " ".join(decision.before.notation(move) for move in moves if move != decision.move)

    groups = (("keep", decision.winning), ("lose", decision.losing), ("undecided", decision.undecided))
    parts = [f"{name}: {texts(moves)}" for name, moves in groups if texts(moves)]
    return f" ({'; '.join(parts)})" if parts else ""


def in_page(diagnosis: Diagnosis, outcome: str | None) -> dict[str, Any]:
    """A diagnosis as plain values, as ``render.html.episode`` takes it."""
    lost, win = diagnosis.losing_move, diagnosis.missed_win
    moves: list[list[list[str]] | None] = [None] * (len(diagnosis.positions) - 1)
    for decision in diagnosis.decisions:
        if decision.winnable is not False:
            moves[decision.step - 1] = [
                [decision.before.notation(move) for move in group]
                for group in (decision.winning, decision.losing, decision.undecided)
            ]
    return {
        "said": headline(diagnosis, outcome),
        # A letter for each position: winnable, lost or undecided.
        "positions": "".join(_LETTERS[verdict] for verdict in diagnosis.positions),
        # Before each step the moves that keep the win, those that lose it, those undecided; null in lost positions.
        "moves": moves,
        "lost": lost.step if lost is not None else None,
        "mistakes": [decision.step for decision in diagnosis.mistakes],
        # A win from before the losing move, as an episode.
        "win": None
        if lost is None or win is None
        else episode(lost.before, [move.id for move in win.moves], outcome=WON),
    }
