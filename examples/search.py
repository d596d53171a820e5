"""Two searches over arrays of positions, a beam and PUCT, guided by whatever can judge positions.

Both search all deals at once: each level of the beam and each simulation of PUCT is one call of
``boulanger_env.positions`` and one of the policy, for all games together. Home moves play themselves, and no position
is entered twice. The game has no chance and hides nothing, so a win that is found is a solution.

Run it with: python examples/search.py --policy heuristic --search beam --width 16
With a network: python examples/search.py --policy runs/example/model.zip --search puct
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boulanger_env import agents, positions
from boulanger_env.deals import load

Array = np.ndarray[Any, Any]


class Policy(NamedTuple):
    """What guides a search: ``judge`` takes positions ``(n, 184)`` and gives the probabilities of their actions, ``(n,
    actions)``, and their values, ``(n,)``; higher is better. ``actions`` is the numbering that it knows."""

    judge: Callable[[Array], tuple[Array, Array]]
    actions: str = "cards"


def random_policy(seed: int) -> Policy:
    """Every legal action alike, and values drawn at random."""
    rng = np.random.default_rng(seed)

    def judge(rows: Array) -> tuple[Array, Array]:
        masks = positions.masks(rows, actions="cards", prune=True)
        return masks / masks.sum(1, keepdims=True).clip(1), rng.random(len(rows))

    return Policy(judge)


def heuristic_policy() -> Policy:
    """Every legal action alike, and the hand-written values of the agent ``heuristic``."""
    agent = agents.make("heuristic")

    def judge(rows: Array) -> tuple[Array, Array]:
        masks = positions.masks(rows, actions="cards", prune=True)
        notes = agent.annotate(positions.observe(rows, "cards"), masks, {})
        return masks / masks.sum(1, keepdims=True).clip(1), np.array([note.value for note in notes])

    return Policy(judge)


def network_policy(
    network: Callable[[Any, Any], tuple[Any, Any]], observation: str = "features", actions: str = "places"
) -> Policy:
    """Any torch network ``(observations, masks) -> (log-probabilities, values)``, such as that of ``ppo.py``."""
    import torch

    @torch.no_grad()
    def judge(rows: Array) -> tuple[Array, Array]:
        seen, masks = positions.inputs(rows, observation, actions=actions, prune=True)
        tensors: Any = (
            {name: torch.from_numpy(part) for name, part in seen.items()}
            if isinstance(seen, dict)
            else torch.from_numpy(seen)
        )
        log_probabilities, values = network(tensors, torch.from_numpy(masks).bool())
        return log_probabilities.exp().numpy(), values.flatten().numpy()

    return Policy(judge, actions)


def trained_policy(file: Path) -> Policy:
    """A model of MaskablePPO, as ``boulanger train`` writes it; loading one can run code from the file."""
    from sb3_contrib import MaskablePPO

    policy = MaskablePPO.load(file, device="cpu").policy

    def network(observations: Any, masks: Any) -> tuple[Any, Any]:
        chances = policy.get_distribution(observations, masks.numpy())
        # sb3-contrib wraps a distribution of torch; that of CardPolicy has the probabilities itself.
        chances = chances if hasattr(chances, "probs") else chances.distribution
        return chances.probs.log(), policy.predict_values(observations)

    observation = "features" if policy.observation_space.shape else "cards"
    return network_policy(network, observation, "cards" if policy.action_space.n == 204 else "places")


class Tree:
    """The positions that a search has entered, of all games: rows of arrays, with the way back to each root."""

    def __init__(self, roots: Array, actions: str) -> None:
        n, self.numbering = len(roots), actions
        self.rows, self.parents, self.actions, self.games = (
            roots,
            np.full(n, -1),
            np.full(n, -1),
            np.arange(n),
        )
        self.seen = set(zip(range(n), positions.keys(roots).tolist(), strict=True))
        self.won: dict[int, int] = {}
        """The node of the first win, by game."""

    def grow(self, nodes: Array) -> tuple[Array, Array]:
        """Add the children of some nodes that their games have not seen; return all in play, and their parents."""
        found = positions.expand(self.rows[nodes], actions=self.numbering, auto_foundation=True, prune=True)
        games = self.games[nodes][found.parents]
        new = np.zeros(len(games), bool)
        for i, entry in enumerate(zip(games.tolist(), positions.keys(found.children).tolist(), strict=True)):
            new[i] = entry not in self.seen and found.outcomes[i] != positions.STUCK
            self.seen.add(entry)
        first = len(self.rows)
        self.rows = np.concatenate([self.rows, found.children[new]])
        self.parents = np.concatenate([self.parents, nodes[found.parents[new]]])
        self.actions = np.concatenate([self.actions, found.actions[new]])
        self.games = np.concatenate([self.games, games[new]])
        for node in first + np.flatnonzero(found.outcomes[new] == positions.WON):
            self.won.setdefault(int(self.games[node]), int(node))
        added = np.arange(first, len(self.rows))
        return added, self.parents[first:]

    def path(self, node: int) -> list[int]:
        """The actions that lead from the root to a node."""
        actions: list[int] = []
        while self.parents[node] >= 0:
            actions.insert(0, int(self.actions[node]))
            node = int(self.parents[node])
        return actions


def beam(roots: Array, policy: Policy, width: int, levels: int = 120) -> Tree:
    """Keep the best ``width`` positions of each game at each level, by their values."""
    tree, nodes = Tree(roots, policy.actions), np.arange(len(roots))
    for _ in range(levels):
        nodes, _ = tree.grow(nodes)
        nodes = nodes[~np.isin(tree.games[nodes], list(tree.won))]
        if not len(nodes):
            break
        games = tree.games[nodes]
        order = np.lexsort((-policy.judge(tree.rows[nodes])[1], games))
        place = np.arange(len(nodes)) - np.searchsorted(games[order], games[order])
        nodes = nodes[order][place < width]
    return tree


def puct(roots: Array, policy: Policy, simulations: int, moves: int = 120, explore: float = 1.5) -> Tree:
    """Monte Carlo tree search: before each move so many walks down to a leaf, which is judged and given children.

    The move played is the one walked most. A position whose children are all lost is closed, and the game goes back to
    the one before it.
    """
    n, tree = len(roots), Tree(roots, policy.actions)
    here = np.arange(n)  # where each game is
    first, count = (
        np.zeros(n, int),
        np.zeros(n, int),
    )  # the children of each node: count of them from first on
    prior, visits, total, closed = np.ones(n), np.zeros(n), np.zeros(n), np.zeros(n, bool)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)  # of the values met in each game

    def best(at: Array, score: Callable[[Array, Array], Array]) -> Array:
        """The open child with the highest score of each node."""
        span = np.arange(count[at].max())
        there = span < count[at][:, None]
        children = np.where(there, first[at][:, None] + span, 0)
        scores = np.where(there & ~closed[children], score(at[:, None], children), -np.inf)
        return children[np.arange(len(at)), scores.argmax(1)]

    def upper_bound(at: Array, children: Array) -> Array:
        games = tree.games[at]
        tried = visits[children] > 0
        mean = np.where(tried, total[children], total[at]) / np.where(tried, visits[children], visits[at])
        quality = (mean - low[games]) / (high[games] - low[games]).clip(1e-9)
        return quality + explore * prior[children] * np.sqrt(visits[at]) / (1 + visits[children])

    def most_walked(at: Array, children: Array) -> Array:
        return visits[children]

    for walk in range(1, simulations * moves + 1):
        games = np.array([g for g in range(n) if g not in tree.won and not closed[g]], int)
        if not len(games):
            break
        leaves = here[games]
        while len(inner := np.flatnonzero(count[leaves])):
            leaves[inner] = best(leaves[inner], upper_bound)

        chances, values = policy.judge(tree.rows[leaves])
        added, parents = tree.grow(leaves)
        row = np.zeros(len(tree.rows), int)
        row[leaves] = np.arange(len(leaves))
        prior = np.concatenate([prior, chances[row[parents], tree.actions[added]]])
        first, count, visits, total, closed = (
            np.pad(array, (0, len(added))) for array in (first, count, visits, total, closed)
        )
        kin, begin, size = np.unique(parents, return_index=True, return_counts=True)
        first[kin], count[kin] = added[begin], size

        low[games], high[games] = np.minimum(low[games], values), np.maximum(high[games], values)
        up = leaves
        while len(up):
            visits[up] += 1
            total[up] += values
            closed[up] |= [closed[first[node] : first[node] + count[node]].all() for node in up]
            keep = tree.parents[up] >= 0
            up, values = tree.parents[up][keep], values[keep]
        for game in games:
            while closed[here[game]] and tree.parents[here[game]] >= 0:
                here[game] = tree.parents[here[game]]
        if walk % simulations == 0:
            games = games[count[here[games]] > 0]
            here[games] = best(here[games], most_walked)
    return tree


def plays_out(root: Array, tree: Tree, node: int) -> bool:
    """Play the actions that lead to a node from its game's root, and say whether that wins it."""
    row = root[None]
    for action in tree.path(node):
        row = positions.play(row, [action], actions=tree.numbering, auto_foundation=True)
    return positions.to_games(row)[0].is_won


def main() -> None:
    """Read the command line, search, and say how many deals were won."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--policy", default="heuristic", help="random, heuristic or a model's .zip")
    parser.add_argument("--search", default="beam", choices=("beam", "puct"))
    parser.add_argument("--width", type=int, default=16, help="positions that the beam keeps of each game")
    parser.add_argument("--simulations", type=int, default=16, help="walks of PUCT before each move")
    parser.add_argument("--deals", default="c4-validation-100", help="name or file of the deals")
    parser.add_argument("--seed", type=int, default=0, help="of the policy random")
    args = parser.parse_args()
    made = {"random": lambda: random_policy(args.seed), "heuristic": heuristic_policy}
    policy = made.get(args.policy, lambda: trained_policy(Path(args.policy)))()
    deals = load(args.deals)
    roots = positions.auto_foundation(positions.from_deals(deals))
    start = time.perf_counter()
    tree = beam(roots, policy, args.width) if args.search == "beam" else puct(roots, policy, args.simulations)
    seconds = time.perf_counter() - start
    assert all(plays_out(roots[game], tree, node) for game, node in tree.won.items())
    entered = len(tree.rows) / len(roots)
    print(
        f"{args.search}, {args.policy}: {len(tree.won) / len(roots):.1%} of {len(roots)} deals won, "
        f"{entered:.0f} positions entered a deal, {seconds:.1f} s"
    )


if __name__ == "__main__":
    main()
