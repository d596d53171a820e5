"""Train a masked agent from rewards, benchmark it beside two baselines, and keep what there is to look at.

This is what ``boulanger train`` does, as a script to copy. The parts that people change most are the environment
(``boulanger_env.training.make_envs``), the start positions (``make_starts``), the model (``make_model``)
and the network (``CardPolicy``).

Run it with: python examples/train_maskable_ppo.py --timesteps 100000 --output runs/example
"""

import argparse
from pathlib import Path

import torch

from boulanger_env.report import markdown
from boulanger_env.training import TrainSettings, train, verdicts


def main() -> None:
    """Read the command line, train, and print the benchmark's table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--timesteps", type=int, default=1_600_000, help="decisions to play while learning")
    parser.add_argument("--cells", type=int, default=4, choices=(4, 2, 1))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--test-deals", default="", help="name or file of the deals of the final benchmark")
    parser.add_argument("--threads", type=int, default=2, help="threads that learn side by side")
    parser.add_argument("--output", type=Path, default=Path("runs/example"))
    arguments = parser.parse_args()
    settings = TrainSettings(
        timesteps=arguments.timesteps,
        n_cells=arguments.cells,
        seed=arguments.seed,
        test_deals=arguments.test_deals,
        threads=arguments.threads,
    )
    # PyTorch's own threads would wait for each other after every layer.
    torch.set_num_threads(1)
    results, *_ = train(settings, arguments.output)
    print(markdown(results))
    print(*verdicts(results), sep="\n")
    print(f"Model, results, curve and a game are in {arguments.output}")


if __name__ == "__main__":
    main()
