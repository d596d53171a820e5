"""``diagnose``: which decisions of a game kept the win, and which one threw it away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from boulanger_env.game import Game, Move
from boulanger_env.game.moves import UNDO
from boulanger_env.game.walk import walk

from .solving import MEMORY_LIMIT, Budget, Solution, Status, check_game, check_limits, solve
from .winning import winning_moves

_CAN_BE_WON = {Status.SOLVED: True, Status.UNSOLVABLE: False, Status.LIMIT: None}


class Decision(NamedTuple):
    """A move that was played, with the legal moves it was chosen from."""

    step: int
    """Number of the action in its episode, from 1. Undo and illegal actions have numbers too, but are not decisions."""
    move: Move
    """The move."""
    text: str
    """The move in standard notation."""
    before: Game
    """The position in which it was played."""
    winnable: bool | None
    """Whether the game could still be won there; None: a limit was reached first."""
    winning: tuple[Move, ...]
    """Legal moves after which it still could be won."""
    losing: tuple[Move, ...]
    """Legal moves after which it could not, as proved; in a lost position, all of them."""
    undecided: tuple[Move, ...]
    """Legal moves for which a limit was reached first."""
    fewest: int | None
    """Proven length of a shortest win from ``before``; None: not asked for, not proved, or there is no win."""

    @property
    def was_a_choice(self) -> bool:
        """Whether some moves kept the win and others lost it."""
        return bool(self.winning and self.losing)

    @property
    def is_mistake(self) -> bool | None:
        """Whether the move threw the win away; None: not decided."""
        if self.winnable is False or self.move in self.winning:
            return False
        return True if self.winnable and self.move in self.losing else None


@dataclass(frozen=True)
class Diagnosis:
    """What :func:`diagnose` found.

    Attributes:
        decisions: the legal moves that were played, including those undone later.
        positions: after 0, 1, 2, ... actions, whether the game can still be won; None: a limit was reached first.
    """

    decisions: tuple[Decision, ...]
    positions: tuple[bool | None, ...]

    @property
    def winnable(self) -> bool | None:
        """Whether the game can still be won after the last action; None: a limit was reached first."""
        return self.positions[-1]

    @property
    def choices(self) -> int:
        """Number of decisions at which some legal moves kept the win and others lost it."""
        return sum(decision.was_a_choice for decision in self.decisions)

    @property
    def mistakes(self) -> tuple[Decision, ...]:
        """Decisions that threw a win away: at most one, unless moves were undone."""
        return tuple(decision for decision in self.decisions if decision.is_mistake)

    @property
    def undecided(self) -> int:
        """Number of decisions for which a limit left open whether they threw a win away."""
        return sum(decision.is_mistake is None for decision in self.decisions)

    @property
    def losing_move(self) -> Decision | None:
        """The decision that lost the game; None: the game can be won, never could be, or it was not decided."""
        return self.mistakes[-1] if self.winnable is False and self.mistakes else None

    @cached_property
    def missed_win(self) -> Solution | None:
        """A short win from the position before the losing move, found at first use (20 ms); None: no move lost."""
        return None if self.losing_move is None else solve(self.losing_move.before, quality="short")


def diagnose(
    start: Game,
    actions: Iterable[int],
    *,
    fewest: bool = False,
    node_limit: int | None = None,
    time_limit: float | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> Diagnosis:
    """Find out which decisions of a game kept the win, and which one threw it away.

    Without limits every answer is proved. A decision in a winnable position takes about 0.5 ms, one in a lost
    position next to nothing; with ``fewest``, about 50 ms.

    Args:
        start: the game before the first action; it is not changed.
        actions: action ids, as ``Replay.played`` has them. Undo (780) takes a decision back, and an illegal action
            changes nothing.
        fewest: also prove the length of a shortest win from each position.
        node_limit: maximum positions to search, for each legal move.
        time_limit: seconds, for the whole game.
        memory_limit: maximum bytes for the positions met.

    Raises:
        BoulangerError: an argument is invalid.

    >>> from boulanger_env import Game
    >>> game = Game.from_code("MS-C4-617")
    >>> found = diagnose(game, [Move.parse(text).id for text in ("2f", "1f", "3f")])
    >>> found.winnable, found.losing_move.step, found.losing_move.text
    (False, 2, '1b')
    >>> [found.decisions[0].before.notation(move) for move in found.decisions[0].losing]
    ['1a', '3a']
    """
    check_limits(node_limit, time_limit, "any", memory_limit)
    check_game(start, "diagnose")
    whole = Budget(None, time_limit, memory_limit)
    known: dict[bytes, bool | None] = {}
    decisions, games = [], [start.copy()]
    for number, step in enumerate(walk(start, actions), 1):
        before, after = games[-1], step.game.copy()
        games.append(after)
        if step.error or step.action == UNDO:
            continue
        if known.get(before.position_key()) is False:
            verdicts: dict[Move, bool | None] = dict.fromkeys(before.legal_moves(), False)
        else:
            verdicts = winning_moves(before, node_limit, whole.seconds_left(), memory_limit=memory_limit)
        decision = _decision(number, step.action, step.text, before, verdicts)
        if fewest and decision.winnable:
            limits = (node_limit, whole.seconds_left())
            best = solve(before, *limits, quality="shortest", memory_limit=memory_limit)
            decision = decision._replace(fewest=len(best.moves) if best.is_shortest else None)
        decisions.append(decision)
        for game, verdict in ((before, decision.winnable), (after, verdicts[decision.move])):
            if known.get(game.position_key()) is None:
                known[game.position_key()] = verdict
    for game in games:
        if game.position_key() not in known:  # nothing was played there, or only to it by an undo
            found = solve(game, node_limit, whole.seconds_left(), memory_limit=memory_limit)
            known[game.position_key()] = _CAN_BE_WON[found.status]
    return Diagnosis(tuple(decisions), tuple(known[game.position_key()] for game in games))


def _decision(step: int, action: int, text: str, before: Game, verdicts: dict[Move, bool | None]) -> Decision:
    def with_verdict(verdict: bool | None) -> tuple[Move, ...]:
        return tuple(move for move, found in verdicts.items() if found is verdict)

    winning, losing, undecided = map(with_verdict, (True, False, None))
    return Decision(
        step=step,
        move=Move.from_id(action),
        text=text,
        before=before,
        winnable=True if winning else None if undecided else False,
        winning=winning,
        losing=losing,
        undecided=undecided,
        fewest=None,
    )
