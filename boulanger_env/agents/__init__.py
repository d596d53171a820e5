"""What plays: the package's own agents, trained models, any callable; and how they are named."""

from .base import Agent, BatchAgent
from .catalog import AGENTS, make
from .greedy import GreedyAgent
from .heuristic import HeuristicAgent
from .model_files import save_model
from .policies import Policy
from .random import RandomAgent
from .solver import SolverAgent
from .specs import AgentSpec, as_policy

__all__ = [
    "AGENTS",
    "Agent",
    "AgentSpec",
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
