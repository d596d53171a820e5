"""Masked PPO in one file, with torch alone, on the native batch of games.

A place to start if you want to change the algorithm: nothing is hidden in a library. Specific to this game:

* Illegal actions get a logit of -1e9, both in play and in learning: they are never drawn and receive no gradient.
* Actions are drawn by inverting the cumulative probabilities: one random number per game, many times faster than
  ``torch.distributions.Categorical``, which draws one for each of the 780 actions.
* A game that ends is replaced by a new deal in the same step. If the step limit truncated it, the value of its
  last observation (``final_obs``) stands for what would have followed; a game that was won or stuck has no future.

Run it with: python examples/ppo.py --timesteps 250000 --output runs/ppo.pt
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn

from boulanger_env import BoulangerVectorEnv
from boulanger_env.deals import load as load_deals
from boulanger_env.envs import FEATURES, N_FEATURES, Reward, feature
from boulanger_env.files import write_with
from boulanger_env.game import ACTION_TABLE, N_ACTIONS

# A tenth of a point for each card home, and nothing else: an episode's return says how many went home.
REWARD = Reward(foundation=0.1, from_cell=0, illegal=0)
# A move home never does harm in this game, so it starts out exp(3) times as likely as any other.
HOME_START = 3.0


class Mix(nn.Module):
    """A residual layer over groups of 13 cards, those of a suit or of a column; all groups share weights."""

    def __init__(self, width: int, hidden: int, context: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inward = nn.Linear(13 * width, hidden)
        self.context = nn.Linear(context, hidden, bias=False)
        self.outward = nn.Linear(hidden, 13 * width)

    def forward(self, groups: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """The residual of groups ``(n, groups, 13, width)``, in the same shape."""
        hidden = self.inward(self.norm(groups).flatten(2)) + self.context(context)[:, None]
        return self.outward(hidden.relu()).view(groups.shape)


class Agent(nn.Module):
    """Policy and value over the 52 cards, each one row of the ``"features"`` observation.

    What a card can do depends on the other cards of its suit and on those that lie on it, so cards are mixed by suit,
    then by column counted from the top. Each ends up with four scores: for going onto its parent, to an empty
    column, to a cell and home. The logit of an action is the score of the card that it moves. So what is
    learned about a card applies wherever it lies; a plain network with one logit per action learns next to
    nothing in the same time.
    """

    OF_CARDS = (
        "cards_above",
        "home",
        "on_parent",
        "in_run",
        "blocks",
        "next_home",
        "can_go_home",
        "can_go_to_parent",
    )
    OF_BOARD = (
        "foundation_rank",
        "n_cells",
        "empty_cells",
        "empty_columns",
        "group_limit",
        "group_limit_to_empty",
    )

    def __init__(self, width: int = 16, hidden: int = 64, context: int = 32) -> None:
        super().__init__()
        self.embed = nn.Linear(19 + 7 + 1, width)
        self.rank = nn.Parameter(0.5 * torch.randn(13, width))
        self.board = nn.Linear(
            sum(FEATURES[name].stop - FEATURES[name].start for name in self.OF_BOARD), context
        )
        self.suits, self.columns = Mix(width, hidden, context), Mix(width, hidden, context)
        self.norm = nn.LayerNorm(width)
        self.policy = nn.Linear(width, 4)
        nn.init.normal_(self.policy.weight, std=0.01)
        self.policy.bias.data = torch.tensor([0.0, 0.0, 0.0, HOME_START])
        self.value = nn.Sequential(nn.Linear(width + context, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        source, destination, size = torch.from_numpy(ACTION_TABLE.astype(np.int64)).T
        # Where each action's card is, among 8 columns of 13 depths and 4 cells, and where it goes.
        self.place = torch.where(source < 8, source * 13 + size - 1, 8 * 13 + source - 8)
        self.destination = destination

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities ``(n, 780)`` and values ``(n,)`` of uint8 observations and bool masks."""
        bits = observations.float()
        n = len(bits)
        column, above, cell = (feature(bits, name) for name in ("column", "cards_above", "cell"))
        # Card by depth in its column (0 in places without one), and whether there is one.
        card = torch.arange(52.0)
        there = column.transpose(1, 2) @ above[:, :, :13]
        deep = (column.transpose(1, 2) @ (above[:, :, :13] * card[:, None])).long().flatten(1)

        facts = [feature(bits, name).view(n, 52, -1) for name in self.OF_CARDS]
        cards = self.embed(torch.cat([*facts, cell.sum(2, keepdim=True)], 2)).view(n, 4, 13, -1) + self.rank
        context = self.board(torch.cat([feature(bits, name).flatten(1) for name in self.OF_BOARD], 1)).relu()
        cards = (cards + self.suits(cards, context)).flatten(1, 2)
        index = deep[:, :, None].expand(-1, -1, cards.shape[2])
        stacks = cards.gather(1, index).view(n, 8, 13, -1) * there[..., None]
        mixed = self.columns(stacks, context) * there[..., None]
        cards = self.norm(cards.scatter_add(1, index, mixed.flatten(1, 2)))

        movers = torch.cat([deep, (card @ cell).long()], 1)[:, self.place]
        kinds = torch.cat([(column.sum(1) == 0).long(), torch.tensor([[2, 3]]).expand(n, 2)], 1)
        logits = self.policy(cards).flatten(1).gather(1, 4 * movers + kinds[:, self.destination])
        value = self.value(torch.cat([cards.mean(1), context], 1)).squeeze(1)
        return logits.masked_fill(~masks, -1e9).log_softmax(1), value


def draw(log_probabilities: torch.Tensor) -> torch.Tensor:
    """Draw an action from each row of probabilities."""
    cumulative = log_probabilities.exp().cumsum(1)
    # The threshold is strictly below the total, and the first entry above it is taken: never one of probability 0.
    thresholds = torch.rand(len(cumulative), 1) * cumulative[:, -1:]
    return torch.searchsorted(cumulative, thresholds, right=True).squeeze(1)


def advantages(
    rewards: torch.Tensor,
    values: torch.Tensor,
    ended: torch.Tensor,
    cut_off: torch.Tensor,
    last_values: torch.Tensor,
    gamma: float,
    gae_lambda: float,
) -> torch.Tensor:
    """Generalized advantage estimates, ``(steps, n)`` like all arguments but ``last_values``, ``(n,)``.

    Args:
        rewards: of each step.
        values: of the observation before it.
        ended: 1 where the episode ended with it.
        cut_off: the value of the episode's last observation where it was truncated, 0 elsewhere.
        last_values: of the observation after the last step.
        gamma: the discount.
        gae_lambda: how far to trust the rewards received over the values predicted.
    """
    found = torch.zeros_like(rewards)
    following, advantage = last_values, torch.zeros_like(last_values)
    for t in reversed(range(len(rewards))):
        going_on = 1 - ended[t]
        delta = rewards[t] + gamma * (following * going_on + cut_off[t]) - values[t]
        advantage = delta + gamma * gae_lambda * going_on * advantage
        found[t], following = advantage, values[t]
    return found


def train(args: argparse.Namespace) -> Agent:
    """Train, and print the progress."""
    torch.manual_seed(args.seed)
    shuffler = np.random.default_rng(args.seed)
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    n, steps = args.num_envs, args.num_steps
    envs = BoulangerVectorEnv(
        n,
        args.cells,
        reward=REWARD,
        prune=True,
        max_episode_steps=args.max_episode_steps,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )

    observations = torch.zeros(steps, n, N_FEATURES, dtype=torch.uint8)
    masks = torch.zeros(steps, n, N_ACTIONS, dtype=torch.bool)
    actions = torch.zeros(steps, n, dtype=torch.int64)
    log_probs, rewards, values, ended, cut_off = torch.zeros(5, steps, n)

    next_observation, infos = envs.reset(seed=args.seed)
    updates = max(1, args.timesteps // (n * steps))
    reports = {round(updates * part / args.reports) for part in range(1, args.reports + 1)}
    homes: list[float] = []  # of the episodes since the last report
    wins: list[bool] = []
    started = reported = time.perf_counter()
    played = 0
    for update in range(1, updates + 1):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - (update - 1) / updates)

        cut_off.zero_()
        with torch.no_grad():
            for t in range(steps):
                observations[t] = torch.from_numpy(next_observation)
                masks[t] = torch.from_numpy(infos["action_mask"].view(np.bool_))
                log_probabilities, values[t] = agent(observations[t], masks[t])
                actions[t] = draw(log_probabilities)
                log_probs[t] = log_probabilities.gather(1, actions[t, :, None]).squeeze(1)
                next_observation, reward, terminated, truncated, infos = envs.step(actions[t].numpy())
                rewards[t] = torch.from_numpy(reward)
                over = terminated | truncated
                ended[t] = torch.from_numpy(over)
                if over.any():
                    final = infos["final_info"]
                    homes += (final["episode_return"][over] / REWARD.foundation).tolist()
                    wins += final["is_success"][over].tolist()
                if truncated.any():
                    last = torch.from_numpy(np.stack(infos["final_obs"][truncated]))
                    legal = torch.from_numpy(final["action_mask"][truncated].view(np.bool_))
                    cut_off[t, torch.from_numpy(truncated)] = agent(last, legal)[1]
            legal = torch.from_numpy(infos["action_mask"].view(np.bool_))
            _, last_values = agent(torch.from_numpy(next_observation), legal)
            advantage = advantages(
                rewards, values, ended, cut_off, last_values, args.gamma, args.gae_lambda
            ).flatten()
            returns = advantage + values.flatten()

        flat = [x.flatten(0, 1) for x in (observations, masks, actions, log_probs)]
        for _ in range(args.epochs):
            order = torch.from_numpy(shuffler.permutation(n * steps))
            for batch in order.split(args.minibatch):
                seen, legal, action, before = (x[batch] for x in flat)
                log_probabilities, value = agent(seen, legal)
                ratio = (log_probabilities.gather(1, action[:, None]).squeeze(1) - before).exp()
                gain = advantage[batch]
                gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-8)
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
                value_loss = 0.5 * (value - returns[batch]).square().mean()
                entropy = -(log_probabilities.exp() * log_probabilities).sum(1).mean()
                loss = policy_loss + args.value * value_loss - args.entropy * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        played += n * steps
        if update in reports:
            now = time.perf_counter()
            print(
                f"{update * n * steps:>10,} moves {played / (now - reported):>8,.0f} moves/s "
                f"{len(homes):>6} games {np.mean(homes) if homes else np.nan:6.2f} cards home "
                f"{np.mean(wins) if wins else np.nan:7.2%} won  entropy {entropy.item():.2f}",
                flush=True,
            )
            reported, played, homes, wins = now, 0, [], []
    envs.close()
    print(f"{updates * n * steps:,} moves in {time.perf_counter() - started:.0f} s")
    return agent


def save(agent: Agent, args: argparse.Namespace) -> None:
    """Write the weights, whole or not at all."""
    args.output.parent.mkdir(parents=True, exist_ok=True)
    content = {"cells": args.cells, "weights": agent.state_dict()}
    write_with(args.output, lambda partial: torch.save(content, partial))


def load(path: Path) -> Agent:
    """Read what ``save`` wrote. A file is only data: no code in it is run."""
    content = torch.load(path, weights_only=True, map_location="cpu")
    agent = Agent()
    agent.load_state_dict(content["weights"])
    return agent


@torch.no_grad()
def play(agent: Agent, deals: str, max_episode_steps: int) -> tuple[float, float]:
    """Play every deal of a set once, sampling actions; return the share won and the mean cards home."""
    codes = load_deals(deals).codes
    envs = BoulangerVectorEnv(
        len(codes), prune=True, max_episode_steps=max_episode_steps, autoreset_mode=AutoresetMode.NEXT_STEP
    )
    observation, infos = envs.reset(options={"codes": codes})
    home, won = np.zeros(len(codes)), np.zeros(len(codes), bool)
    playing = np.ones(len(codes), bool)
    while playing.any():
        legal = torch.from_numpy(infos["action_mask"].view(np.bool_))
        log_probabilities, _ = agent(torch.from_numpy(observation), legal)
        observation, _, terminated, truncated, infos = envs.step(draw(log_probabilities).numpy())
        over = playing & (terminated | truncated)  # the games dealt in their place do not count
        for i in np.flatnonzero(over):
            home[i] = envs.game(i).cards_home
            won[i] = infos["is_success"][i]
        playing &= ~over
    return float(won.mean()), float(home.mean())


def main() -> None:
    """Read the command line, train, save, load again and play the validation deals."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for name, default, meaning in (
        ("timesteps", 250_000, "moves to play while learning"),
        ("cells", 4, "cells of the games, 4, 2 or 1"),
        ("seed", 0, "of the network, the deals and the play"),
        ("num-envs", 128, "games at a time"),
        ("num-steps", 32, "moves of each game between two updates"),
        ("max-episode-steps", 200, "moves after which a game is cut off"),
        ("minibatch", 512, "moves a gradient step learns from"),
        ("epochs", 2, "times that each move is learned from"),
        ("learning-rate", 2e-3, "at the beginning; it falls to 0"),
        ("gamma", 0.99, "discount"),
        ("gae-lambda", 0.95, "of the advantage estimates"),
        ("clip", 0.2, "how far a probability may move in one update"),
        ("entropy", 0.01, "weight of the entropy bonus"),
        ("value", 0.5, "weight of the value loss"),
        ("max-grad-norm", 0.5, "longest gradient"),
        ("reports", 20, "lines to print while learning"),
        ("threads", 1, "threads of torch; more are slower on a machine that does other work too"),
    ):
        parser.add_argument(f"--{name}", type=type(default), default=default, help=meaning)
    parser.add_argument(
        "--deals", default="", help="deals to play at the end; the validation deals by default"
    )
    parser.add_argument("--output", type=Path, default=Path("runs/ppo.pt"), help="file of the weights")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)

    save(train(args), args)
    deals = args.deals or f"c{args.cells}-validation-100"
    won, home = play(load(args.output), deals, args.max_episode_steps)
    print(f"{deals}: {won:.1%} won, {home:.2f} cards home; the weights are in {args.output}")


if __name__ == "__main__":
    main()
