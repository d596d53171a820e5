"""The table of the package's agents. To add an agent, add an entry."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError, did_you_mean

from .base import Agent
from .greedy import GreedyAgent
from .heuristic import HeuristicAgent
from .random import RandomAgent
from .solver import SolverAgent

AgentFactory = Callable[..., Agent]

AGENTS: dict[str, AgentFactory] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "heuristic": HeuristicAgent,
    "solver": SolverAgent,
}
"""The package's agents by name, with what builds each: its parameters are the agent's options."""


def make(name: str, seed: int = 0, **options: Any) -> Agent:
    """Build one of the package's agents.

    Args:
        name: a key of ``AGENTS``: ``random``, ``greedy``, ``heuristic`` or ``solver``.
        seed: random seed, 0 .. 2**64 - 1.
        options: options of that agent, such as ``nodes`` for ``heuristic``.

    Raises:
        BoulangerError: there is no agent of that name, it has no such option, or a value is not possible.

    >>> make("random", seed=3).name
    'random'
    >>> make("heuristic", nodes=30).name
    'heuristic-30'
    """
    factory = AGENTS.get(name) if isinstance(name, str) else None
    if factory is None:
        near = did_you_mean(name, AGENTS) if isinstance(name, str) else ""
        raise BoulangerError(f"there is no agent {shown(name)}{near}: the agents are {', '.join(AGENTS)}")
    known = inspect.signature(factory).parameters
    for option in options:
        if option not in known:
            has = f"its options are {', '.join(known)}" if known else "it has none"
            raise BoulangerError(f"agent {name} has no option {option!r}{did_you_mean(option, known)}: {has}")
    agent = factory(**options)
    agent.seed(seed)
    return agent
