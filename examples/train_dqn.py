"""DQN without masks: how an unmasked algorithm copes with 780 actions of which about a dozen are legal.

Stable-Baselines3's DQN draws from all actions or takes the one it values highest, legal or not. The environment
decides what an illegal one does:

* ``--illegal-action penalize``: the game stays as it is and the reward is negative. Episodes are long, and at
  first most of the replay buffer is the same board with yet another illegal action.
* ``--illegal-action terminate``: the game is over. The buffer holds many openings and hardly any second moves
  until the agent has learned what is legal.

Watch the share of illegal actions fall as it learns. At the end the validation deals are played three times: by
the agent as it is; by the agent with its values masked, which takes one line and is what a masked algorithm
does all along; and by random legal play.

Run it with: python examples/train_dqn.py --timesteps 30000 --illegal-action terminate
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback

from boulanger_env import BoulangerVectorEnv, sample_legal
from boulanger_env.deals import load
from boulanger_env.envs import Reward
from boulanger_env.files import write_with
from boulanger_env.sb3 import BoulangerVecEnv

# Only cards home count; an illegal action costs as much as a card earns.
REWARD = Reward(foundation=1, from_cell=0, illegal=-1)


class IllegalShare(BaseCallback):
    """Counts illegal actions while learning, and prints their share at regular intervals."""

    def __init__(self, timesteps: int, reports: int) -> None:
        super().__init__()
        self.every = max(1, timesteps // reports)
        self.shares: list[float] = []
        self.actions = self.illegal = self.games = 0

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            self.actions += 1
            self.illegal += info["illegal_action"]
            self.games += "episode" in info
        if self.num_timesteps >= self.every * (len(self.shares) + 1):
            self.shares.append(self.illegal / self.actions)
            rate = self.model.exploration_rate
            print(
                f"{self.num_timesteps:>9,} actions: {self.shares[-1]:6.1%} illegal ({rate:4.0%} drawn at random), "
                f"{self.games} games ended",
                flush=True,
            )
            self.actions = self.illegal = self.games = 0
        return True


def play(choose: Any, deals: str, max_episode_steps: int, illegal_action: str) -> dict[str, float]:
    """Play every deal of a set once; ``choose`` takes observations and masks ``(n, 780)`` and returns actions."""
    codes = load(deals).codes
    envs = BoulangerVectorEnv(
        len(codes),
        illegal_action=illegal_action,
        max_episode_steps=max_episode_steps,
        autoreset_mode=AutoresetMode.NEXT_STEP,
    )
    observation, infos = envs.reset(options={"codes": codes})
    playing = np.ones(len(codes), bool)
    home, won = np.zeros(len(codes)), np.zeros(len(codes), bool)
    actions = illegal = 0
    while playing.any():
        observation, _, terminated, truncated, infos = envs.step(choose(observation, infos["action_mask"]))
        actions += int(playing.sum())
        illegal += int(infos["illegal_action"][playing].sum())
        over = playing & (terminated | truncated)  # the games dealt in their place do not count
        for i in np.flatnonzero(over):
            home[i] = envs.game(i).cards_home
            won[i] = infos["is_success"][i]
        playing &= ~over
    return {"illegal": illegal / actions, "home": float(home.mean()), "won": float(won.mean())}


def main() -> None:
    """Read the command line, train, save, and play the validation deals."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--timesteps", type=int, default=30_000, help="actions to play while learning")
    parser.add_argument("--cells", type=int, default=4, choices=(4, 2, 1))
    parser.add_argument("--illegal-action", default="penalize", choices=("penalize", "terminate"))
    parser.add_argument(
        "--max-episode-steps", type=int, default=100, help="actions after which a game is truncated"
    )
    # More can be slower on a machine that is also doing other work.
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch")
    parser.add_argument("--num-envs", type=int, default=16, help="games at a time")
    parser.add_argument(
        "--buffer-size", type=int, default=20_000, help="steps in the replay buffer, 4 kB each"
    )
    parser.add_argument("--learning-starts", type=int, default=2_000, help="actions before the first update")
    parser.add_argument("--reports", type=int, default=10, help="lines to print while learning")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--deals", default="", help="deals to play at the end; the validation deals by default"
    )
    parser.add_argument("--output", type=Path, default=Path("runs/dqn.zip"), help="file of the model")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)

    envs = BoulangerVecEnv(
        args.num_envs,
        args.cells,
        reward=REWARD,
        illegal_action=args.illegal_action,
        max_episode_steps=args.max_episode_steps,
    )
    model = DQN(
        "MlpPolicy",
        envs,
        learning_rate=3e-4,
        buffer_size=args.buffer_size,
        learning_starts=args.learning_starts,
        batch_size=128,
        gamma=0.95,
        train_freq=4,
        gradient_steps=4,
        target_update_interval=1_000,
        exploration_fraction=0.5,
        exploration_final_eps=0.02,
        policy_kwargs={"net_arch": [256, 256]},
        seed=args.seed,
        device="cpu",
    )
    model.learn(args.timesteps, callback=IllegalShare(args.timesteps, args.reports))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    write_with(args.output, lambda partial: model.save(partial))

    def likeliest(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return model.predict(observations, deterministic=True)[0]

    def likeliest_legal(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            values = model.q_net(torch.from_numpy(observations))
        return values.masked_fill(torch.from_numpy(masks) == 0, -torch.inf).argmax(1).numpy()

    deals = args.deals or f"c{args.cells}-validation-100"
    states = np.arange(len(load(deals)), dtype=np.uint64)
    print(f"\n{deals}, each played once, {args.max_episode_steps} actions at most:\n")
    print("| player | illegal actions | cards home | won |\n|---|---:|---:|---:|")
    for name, choose in (
        ("DQN as it is", likeliest),
        ("the same values, masked", likeliest_legal),
        ("random legal actions", lambda observations, masks: sample_legal(masks, states)),
    ):
        found = play(choose, deals, args.max_episode_steps, args.illegal_action)
        print(f"| {name} | {found['illegal']:.1%} | {found['home']:.2f} | {found['won']:.1%} |")
    print(f"\nthe model is in {args.output}")


if __name__ == "__main__":
    main()
