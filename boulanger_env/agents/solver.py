"""``solver``: the oracle, which wins every game that can be won."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game import Game
from boulanger_env.game.internal import game_of
from boulanger_env.game.moves import N_ACTIONS
from boulanger_env.game.state import Board, new_state
from boulanger_env.solver import solve

from .base import NO_ACTION, BatchAgent, board_rows
from .greedy import GreedyAgent


class SolverAgent(BatchAgent):
    """Solves the game and plays the solution.

    It shows what is possible, so other agents are measured against its row. From a position that cannot be won (or
    if a limit is reached first, or the mask forbids the solution's move) it plays as ``greedy`` does.

    Args:
        quality: ``"any"``, ``"short"`` or ``"shortest"``, as for ``solver.solve``.
        nodes: maximum positions per search; None for no limit.

    Raises:
        BoulangerError: an argument is invalid.
    """

    name = "solver"

    def __init__(self, quality: str = "short", nodes: int | None = None) -> None:
        super().__init__()
        solve(_WON, nodes, quality=quality)  # lets the solver check the arguments
        self._limits: dict[str, Any] = {"node_limit": nodes, "quality": quality}
        options = ["" if quality == "short" else f"-{quality}", "" if nodes is None else f"-{nodes}"]
        self.name = f"solver{''.join(options)}"
        self._otherwise = GreedyAgent()
        # For each slot, the positions on the way to the win and the move to play there.
        self._plans: list[dict[bytes, int]] = []

    def _grow(self, n: int) -> None:
        self._plans += [{} for _ in range(n - len(self._plans))]
        self._restart(np.arange(self._slots, n), np.arange(self._slots, n, dtype=np.uint64))

    def _restart(self, slots: NDArray[np.int64], games: NDArray[np.uint64]) -> None:
        for slot in slots.tolist():
            self._plans[slot] = {}
        self._otherwise.reset(games=games, slots=slots)

    def _choose(self, observation: Any, masks: NDArray[Any], new: NDArray[np.int64]) -> NDArray[np.int64]:
        for slot in new.tolist():
            self._plans[slot] = {}
        # Always called, so that its memory of a game does not depend on the other games in the batch.
        actions: NDArray[np.int64] = self._otherwise(
            observation, masks, {"moves": np.isin(np.arange(len(masks)), new, invert=True)}
        )
        for slot, board in enumerate(board_rows(observation, len(masks))):
            if masks[slot, :N_ACTIONS].all():  # a game that has ended
                continue
            plan, key = self._plans[slot], board.tobytes()
            if key not in plan:
                plan.clear()
                self._plan(board, plan)
            action = plan.get(key, NO_ACTION)
            if action != NO_ACTION and masks[slot, action]:
                actions[slot] = action
        return actions

    def _plan(self, board: Board, plan: dict[bytes, int]) -> None:
        """Store a solution's positions, each with its move; nothing if there is no solution."""
        rows = new_state()._replace(board=board.copy())
        game = game_of(rows)
        for move in solve(game, **self._limits).moves:
            plan[rows.board.tobytes()] = move.id
            game.push(move)


_WON = Game.from_columns([[]] * 8, foundations=(13, 13, 13, 13))
