"""What plays: the package's own agents, trained models, any callable; and the names they are asked for by."""

from .base import AGENTS, Agent, BatchAgent, make
from .greedy import GreedyAgent
from .heuristic import HeuristicAgent
from .model_files import save_model
from .policies import Policy, as_policy
from .random import RandomAgent
from .solver import SolverAgent

AGENTS.update(random=RandomAgent, greedy=GreedyAgent, heuristic=HeuristicAgent, solver=SolverAgent)

__all__ = [
    "AGENTS",
    "Agent",
    "BatchAgent",
    "GreedyAgent",
    "HeuristicAgent",
    "Policy",
    "RandomAgent",
    "SolverAgent",
    "as_policy",
    "make",
    "save_model",
]
