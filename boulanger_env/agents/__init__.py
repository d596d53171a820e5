"""Agents that need no training: ``random``, ``greedy``, ``heuristic`` and ``solver``, and the protocol they share."""

from .base import AGENTS, Agent, BatchAgent, make
from .greedy import GreedyAgent
from .heuristic import HeuristicAgent
from .random import RandomAgent
from .solver import SolverAgent

AGENTS.update(random=RandomAgent, greedy=GreedyAgent, heuristic=HeuristicAgent, solver=SolverAgent)

__all__ = [
    "AGENTS",
    "Agent",
    "BatchAgent",
    "GreedyAgent",
    "HeuristicAgent",
    "RandomAgent",
    "SolverAgent",
    "make",
]
