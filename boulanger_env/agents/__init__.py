"""Agents that need no training: ``random``, ``greedy`` and ``heuristic``, and the protocol they share."""

from .base import AGENTS, Agent, BatchAgent, make
from .greedy import GreedyAgent
from .heuristic import HeuristicAgent
from .random import RandomAgent

AGENTS.update(random=RandomAgent, greedy=GreedyAgent, heuristic=HeuristicAgent)

__all__ = ["AGENTS", "Agent", "BatchAgent", "GreedyAgent", "HeuristicAgent", "RandomAgent", "make"]
