"""Masked PPO in one file, with torch alone, on the native batch of games: an agent that wins, from rewards alone.

A place to start if you want to change the algorithm: nothing is hidden in a library. What makes it learn:

* The reward is 1 for a win and nothing else, so what the critic predicts is the chance of winning: a sigmoid, trained
  with cross-entropy.
* Games start near their end at first, and farther from it as those are won (``Starts``, ``ReverseCurriculum``).
  Solutions of training deals provide these positions, never moves to play.
* Moves home play themselves, and a move back to an earlier position is illegal: games are short and finite.
* The network follows the structure of the game: a plain one learns next to nothing in the same time.

And what is easy to get wrong:

* Illegal actions get a logit of -1e9, both in play and in learning: they are never drawn and receive no gradient.
* Actions are drawn by inverting the cumulative probabilities: one random number per game, many times faster than
  ``torch.distributions.Categorical``, which draws one for each action.
* A game that ends is replaced by the next in the same step. If the step limit truncated it, the value of its last
  observation (``final_obs``) stands for what would have followed; a game that was won or stuck has no future.

Run it with: python examples/ppo.py --minutes 6 --output runs/ppo.pt
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn
from torch.nn import functional

from boulanger_env import BoulangerVectorEnv
from boulanger_env.deals import ReverseCurriculum, Starts
from boulanger_env.deals import load as load_deals
from boulanger_env.files import write_with

RULES = {"observation": "cards", "actions": "cards", "auto_foundation": True, "no_repeats": True}
N_ACTIONS = 204
# A column has a place for its 13 topmost cards: deeper ones cannot move yet, and no run is longer.
PLACES = 8 * 13
# What describes a card: how much lies on it (0 to 7 or more), or that it is in a cell, at home or too deep ...
IN_CELL, AT_HOME, BURIED = 8, 9, 10
# ... how many of its suit go home up to it (1 to 8 or more), and whether it lies on its parent, and its child on it.
FACTS = 11 + 8 + 2

Board = dict[str, torch.Tensor]


def look(board: Board) -> tuple[torch.Tensor, ...]:
    """What the network reads, from ``"cards"`` observations.

    Returns:
        Facts of each card ``(n, 52, 21)`` and of the board ``(n, 14)``, the card in each place of a column, column by
        column from the top ``(n, 104)`` (52 for none), and the place of each card ``(n, 52)`` (104 for none).
    """
    tableau, cells, home = (board[name].long() for name in ("tableau", "cells", "foundations"))
    n = len(tableau)
    heights = (tableau > 0).sum(2)
    counts = [functional.one_hot((cells == 0).sum(1), 5), functional.one_hot((heights == 0).sum(1), 9)]
    row = heights[:, :, None] - 1 - torch.arange(13)
    stacks = torch.where(row >= 0, tableau.gather(2, row.clamp(min=0)), 0).flatten(1)
    # Empty places all write to card 0, which is then dropped, and missing cells (53) do not matter.
    spots = torch.cat([stacks, torch.where(cells == 53, 0, cells)], 1)
    spot = torch.full((n, 53), PLACES + 4).scatter(1, spots, torch.arange(PLACES + 4).expand(n, -1))[:, 1:]
    waiting = (torch.arange(1, 14) - home[:, :, None]).flatten(1)
    off = torch.where(spot < PLACES + 4, IN_CELL, torch.where(waiting > 0, BURIED, AT_HOME))
    depth = torch.where(spot < PLACES, (spot % 13).clamp(max=IN_CELL - 1), off)
    suits = spot.view(n, 4, 13)
    child, parent = suits[..., :-1], suits[..., 1:]
    on_parent = (parent == child + 1) & (parent < PLACES) & (parent % 13 > 0)
    facts = [
        depth[..., None] == torch.arange(11),
        waiting.clamp(max=8)[..., None] == torch.arange(1, 9),
        functional.pad(on_parent, (0, 1)).view(n, 52, 1),
        functional.pad(on_parent, (1, 0)).view(n, 52, 1),
    ]
    card = torch.where(stacks > 0, stacks - 1, 52)
    return torch.cat(facts, 2).float(), torch.cat(counts, 1).float(), card, spot.clamp(max=PLACES)


class Move(torch.autograd.Function):
    """Rows of ``values`` in another order. None is taken twice, so the gradient is the inverse, which is faster."""

    @staticmethod
    def forward(ctx, values, index, inverse):
        """``values`` ``(n, a, width)`` by ``index`` ``(n, b)``; ``a`` means a row of zeros."""
        ctx.save_for_backward(index, inverse)
        return _moved(values, index)

    @staticmethod
    def backward(ctx, gradient):
        """The gradient, moved back."""
        return _moved(gradient, ctx.saved_tensors[1]), None, None


def _moved(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    n, a, width = values.shape
    rows = torch.where(index < a, index + a * torch.arange(n)[:, None], n * a)
    return functional.embedding(rows, torch.cat([values.reshape(-1, width), values.new_zeros(1, width)]))


class Mix(nn.Module):
    """A residual layer over groups of 13 cards, those of a suit or of a column; all groups share weights."""

    def __init__(self, width: int, hidden: int, context: int) -> None:
        super().__init__()
        self.inward = nn.Linear(13 * width, hidden)
        self.context = nn.Linear(context, hidden, bias=False)
        self.outward = nn.Linear(hidden, 13 * width)

    def forward(self, groups: torch.Tensor, context: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The residual of groups ``(n, groups, 13 * width)``, and the mean hidden layer ``(n, hidden)``."""
        hidden = (self.inward(groups) + self.context(context)[:, None]).relu()
        return self.outward(hidden), hidden.mean(1)


class Block(nn.Module):
    """Mixes the cards of each suit, then those of each column, then tells the board's context."""

    def __init__(self, width: int, hidden: int, context: int) -> None:
        super().__init__()
        self.suits, self.columns = Mix(width, hidden, context), Mix(width, hidden, context)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.summary = nn.Linear(2 * hidden, context)

    def forward(self, cards, context, card, place):
        """Cards ``(n, 52, width)`` and context ``(n, context)``, both updated."""
        n = len(cards)
        mixed, by_suit = self.suits(self.norms[0](cards).view(n, 4, -1), context)
        cards = cards + mixed.view(cards.shape)
        stacks = Move.apply(self.norms[1](cards), card, place)
        mixed, by_column = self.columns(stacks.view(n, 8, -1), context)
        cards = cards + Move.apply(mixed.view(n, PLACES, -1), place, card)
        return cards, context + self.summary(torch.cat([by_suit, by_column], 1)).relu()


class Agent(nn.Module):
    """Policy and value. Each card ends up with four scores: onto its parent, to an empty column, to a cell, home.

    These are the logits of ``actions="cards"``. So the order of columns, cells and suits does not matter, and what is
    learned about a card applies wherever it lies.
    """

    def __init__(self, width: int = 16, hidden: int = 64, blocks: int = 2, context: int = 32) -> None:
        super().__init__()
        self.embed = nn.Linear(FACTS, width)
        self.rank = nn.Parameter(0.5 * torch.randn(13, width))
        self.board = nn.Linear(5 + 9, context)
        self.blocks = nn.ModuleList([Block(width, hidden, context) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width)
        self.policy = nn.Linear(width + context, 4)
        nn.init.normal_(self.policy.weight, std=0.01)
        nn.init.zeros_(self.policy.bias)
        self.value = nn.Sequential(nn.Linear(width + context, context), nn.ReLU(), nn.Linear(context, 1))

    def forward(self, board: Board, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities ``(n, 204)`` and logits of the chance of winning ``(n,)``; masks are bool."""
        facts, counts, card, place = look(board)
        n = len(facts)
        cards = (self.embed(facts).view(n, 4, 13, -1) + self.rank).flatten(1, 2)
        context = self.board(counts).relu()
        for block in self.blocks:
            cards, context = block(cards, context, card, place)
        cards = self.norm(cards)
        seen = torch.cat([cards, context[:, None].expand(-1, 52, -1)], 2)
        scores = self.policy(seen).float()
        onto_parent = scores[..., 0].view(n, 4, 13)[..., :12].flatten(1)  # a king has none
        logits = torch.cat([onto_parent, scores[..., 1:].transpose(1, 2).flatten(1)], 1)
        value = self.value(torch.cat([cards.mean(1), context], 1)).float().squeeze(1)
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


def tensors(observation: dict[str, np.ndarray]) -> Board:
    """An observation for the network."""
    return {name: torch.from_numpy(array) for name, array in observation.items()}


def bits(infos: dict[str, np.ndarray]) -> torch.Tensor:
    """The masks in infos, for the network."""
    return torch.tensor(infos["action_mask"], dtype=torch.bool)


def bfloat16() -> torch.autocast:
    """Faster where the processor has instructions for it; learns as well."""
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    has_it = any(getattr(torch.cpu, name, lambda: False)() for name in names)
    # Threads share the cache of converted weights, but a gradient can only go back through a conversion once.
    return torch.autocast("cpu", torch.bfloat16, enabled=has_it, cache_enabled=False)


def gradients(agent: Agent, part: tuple, size: int, entropy_weight: float, args: argparse.Namespace) -> tuple:
    """The gradients of a part of a minibatch of ``size`` decisions, and the entropy of its policy."""
    board, masks, actions, before, gain, returns = part
    with bfloat16():
        log_probabilities, value = agent(board, masks)
    ratio = (log_probabilities.gather(1, actions[:, None]).squeeze(1) - before).exp()
    policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - args.clip, 1 + args.clip) * gain).sum()
    value_loss = functional.binary_cross_entropy_with_logits(value, returns, reduction="sum")
    entropy = -(log_probabilities.exp() * log_probabilities).sum()
    loss = (policy_loss + args.value * value_loss - entropy_weight * entropy) / size
    return torch.autograd.grad(loss, list(agent.parameters())), entropy.item() / size


def make_starts(args: argparse.Namespace) -> Starts:
    """Positions on solutions of training deals, each with the number of decisions from it to the win."""
    deals = load_deals(f"solvable-c{args.cells}")[: args.solutions]
    workers = None if args.solutions > 1000 else 1
    return Starts.from_solutions(
        deals, quality="short", auto_foundation=True, workers=workers, deals="solvable"
    )


def train(args: argparse.Namespace) -> Agent:
    """Train, and print the progress."""
    started = time.perf_counter()
    torch.manual_seed(args.seed)
    shuffler = np.random.default_rng(args.seed)
    starts = make_starts(args)
    curriculum = ReverseCurriculum(starts)
    print(f"{len(starts):,} start positions after {time.perf_counter() - started:.0f} s", flush=True)
    agent = Agent()
    weights = list(agent.parameters())
    optimizer = torch.optim.Adam(weights, lr=args.learning_rate, eps=1e-5)
    n, steps = args.num_envs, args.num_steps
    envs = BoulangerVectorEnv(
        n,
        args.cells,
        deals=starts,
        reward="win",
        max_episode_steps=args.max_episode_steps,
        autoreset_mode=AutoresetMode.SAME_STEP,
        **RULES,
    )
    next_board, infos = envs.reset(seed=args.seed)
    boards = {name: torch.zeros(steps, *array.shape, dtype=torch.uint8) for name, array in next_board.items()}
    masks = torch.zeros(steps, n, N_ACTIONS, dtype=torch.bool)
    actions = torch.zeros(steps, n, dtype=torch.int64)
    log_probs, rewards, values, ended, cut_off = torch.zeros(5, steps, n)

    played, reports, began, entropy = 0, 1, time.perf_counter(), float("nan")
    pool = ThreadPoolExecutor(args.threads)
    while True:
        if args.timesteps:
            done = played / args.timesteps
        else:
            done = (time.perf_counter() - began) / (60 * args.minutes - (began - started))
        if done >= reports / args.reports:
            won = " ".join(f"{curriculum.wins[left]:.0%}" for left in (5, 10, 15, 20, 25))
            print(
                f"{time.perf_counter() - started:>5.0f} s {played:>10,} decisions; won from 5, 10, 15, 20, 25 before "
                f"the end: {won}, whole deals {curriculum.deal_wins:.0%}; entropy {entropy:.2f}",
                flush=True,
            )
            reports = int(done * args.reports) + 1
        if done >= 1:
            break
        curriculum.deal_share = 0.25 if done < 0.4 else 0.5
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - 0.95 * done)
        entropy_weight = args.entropy * (args.last_entropy / args.entropy) ** done

        cut_off.zero_()
        with torch.no_grad(), bfloat16():
            for t in range(steps):
                for name, array in next_board.items():
                    boards[name][t] = torch.from_numpy(array)
                masks[t] = bits(infos)
                log_probabilities, value = agent(tensors(next_board), masks[t])
                values[t] = value.sigmoid()
                actions[t] = draw(log_probabilities)
                log_probs[t] = log_probabilities.gather(1, actions[t, :, None]).squeeze(1)
                next_board, reward, terminated, truncated, infos = envs.step(actions[t].numpy())
                curriculum.update(infos)
                rewards[t] = torch.from_numpy(reward)
                ended[t] = torch.from_numpy(terminated | truncated)
                if truncated.any():
                    last = {
                        name: np.stack([final[name] for final in infos["final_obs"][truncated]])
                        for name in next_board
                    }
                    legal = bits(infos["final_info"])[torch.from_numpy(truncated)]
                    cut_off[t, torch.from_numpy(truncated)] = agent(tensors(last), legal)[1].sigmoid()
            last_values = agent(tensors(next_board), bits(infos))[1].sigmoid()
            advantage = advantages(
                rewards, values, ended, cut_off, last_values, args.gamma, args.gae_lambda
            ).flatten()
            # Rounding may put one a hair outside of 0 to 1.
            returns = (advantage + values.flatten()).clamp(0, 1)

        flat_boards = {name: board.flatten(0, 1) for name, board in boards.items()}
        flat = [x.flatten(0, 1) for x in (masks, actions, log_probs)]
        for _ in range(args.epochs):
            order = torch.from_numpy(shuffler.permutation(n * steps))
            for batch in order.split(args.minibatch):
                gain = advantage[batch]
                gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-8)
                seen = {name: board[batch] for name, board in flat_boards.items()}
                columns = [*(x[batch] for x in flat), gain, returns[batch]]
                # Each thread learns from its part of the minibatch; torch's own threads would wait for each other.
                parts = [
                    ({name: board[i] for name, board in seen.items()}, *(x[i] for x in columns))
                    for i in torch.arange(len(batch)).chunk(args.threads)
                ]
                work = [
                    pool.submit(gradients, agent, part, len(batch), entropy_weight, args) for part in parts
                ]
                found, entropies = zip(*(each.result() for each in work), strict=True)
                for weight, *of_parts in zip(weights, *found, strict=True):
                    weight.grad = sum(of_parts[1:], of_parts[0])
                nn.utils.clip_grad_norm_(weights, args.max_grad_norm)
                optimizer.step()
        entropy = sum(entropies)
        played += n * steps
    pool.shutdown()
    envs.close()
    print(
        f"{played:,} decisions in {time.perf_counter() - started:.0f} s, {time.process_time():.0f} s of processor time"
    )
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
def play(agent: Agent, deals: str, max_episode_steps: int) -> np.ndarray:
    """Play every deal of a set once, the likeliest move each time; returns which were won, bool ``(deals,)``."""
    codes = load_deals(deals).codes
    envs = BoulangerVectorEnv(
        len(codes), max_episode_steps=max_episode_steps, autoreset_mode=AutoresetMode.NEXT_STEP, **RULES
    )
    board, infos = envs.reset(options={"codes": codes})
    won, playing = np.zeros(len(codes), bool), np.ones(len(codes), bool)
    while playing.any():
        actions = np.zeros(len(codes), np.int64)
        left = torch.from_numpy(np.flatnonzero(playing))
        seen = {name: array[left] for name, array in tensors(board).items()}
        actions[playing] = agent(seen, bits(infos)[left])[0].argmax(1).numpy()
        actions[~playing] = infos["action_mask"][~playing].argmax(1)
        board, _, terminated, truncated, infos = envs.step(actions)
        won |= playing & infos["is_success"]
        playing &= ~(terminated | truncated)  # the games dealt in their place do not count
    return won


def main() -> None:
    """Read the command line, train, save, load again and play the test deals."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for name, default, meaning in (
        ("minutes", 6.0, "time to train, the solutions included"),
        ("timesteps", 0, "decisions to play while learning, instead of a time; 0: the time counts"),
        ("cells", 4, "cells of the games, 4, 2 or 1"),
        ("solutions", 3000, "training deals to solve for start positions"),
        ("seed", 0, "of the network, the deals and the play"),
        ("num-envs", 512, "games at a time"),
        ("num-steps", 32, "decisions of each game between two updates"),
        ("max-episode-steps", 200, "decisions after which a game is cut off"),
        ("minibatch", 512, "decisions a gradient step learns from"),
        ("epochs", 2, "times that each decision is learned from"),
        ("learning-rate", 1.5e-3, "at the beginning; it falls to a twentieth"),
        ("gamma", 1.0, "discount"),
        ("gae-lambda", 0.95, "of the advantage estimates"),
        ("clip", 0.2, "how far a probability may move in one update"),
        ("entropy", 0.008, "weight of the entropy bonus at the beginning"),
        ("last-entropy", 0.0003, "and at the end"),
        ("value", 0.5, "weight of the value loss"),
        ("max-grad-norm", 0.5, "longest gradient"),
        ("reports", 10, "lines to print while learning"),
        ("threads", min(2, os.cpu_count() or 1), "parts of a minibatch that are learned from side by side"),
    ):
        parser.add_argument(f"--{name}", type=type(default), default=default, help=meaning)
    parser.add_argument("--deals", default="", help="deals to play at the end; the test deals by default")
    parser.add_argument("--output", type=Path, default=Path("runs/ppo.pt"), help="file of the weights")
    args = parser.parse_args()
    torch.set_num_threads(1)

    save(train(args), args)
    deals = args.deals or f"c{args.cells}-test"
    won = play(load(args.output), deals, args.max_episode_steps)
    print(f"{deals}: {won.mean():.1%} of {len(won)} won; the weights are in {args.output}")


if __name__ == "__main__":
    main()
