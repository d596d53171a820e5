"""``boulanger train``."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from boulanger_env.escaping import printable

from .app import Threads, fail


def train(
    timesteps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Moves to train for. [default: 400000, 2 minutes on one core]",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[int, typer.Option(help="Number of free cells: 4, 2 or 1.")] = 4,
    network: Annotated[
        str, typer.Option(help="cards (structured by suits and columns) or mlp (a plain MLP).")
    ] = "cards",
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the network, the deals and the play.")] = 0,
    test_deals: Annotated[
        str,
        typer.Option(
            help="Deal set of the benchmark, by name or file. [default: c4-test-all]", show_default=False
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the output, new or empty. [default: runs/ and the time]", show_default=False
        ),
    ] = None,
    threads: Threads = 1,
) -> None:
    """Train an agent and benchmark it against two baselines.

    All output goes to one folder: the model, the results, a learning curve and a game to look at. Ctrl-C ends the
    training early: the best model so far is kept and benchmarked.

    \b
    Examples:
      boulanger train
      boulanger train --timesteps 5000000 --output runs/long
      boulanger train --cells 2 --network mlp
    """
    from datetime import datetime

    from rich.console import Console

    from boulanger_env import training
    from boulanger_env.report import rich_table

    from .output import print_tables
    from .threads import torch_threads

    chosen = {} if timesteps is None else {"timesteps": timesteps}
    settings = training.TrainSettings(
        n_cells=cells, network=network, seed=seed, test_deals=test_deals, **chosen
    )
    folder = output or new_folder(Path("runs", f"c{cells}-{datetime.now():%Y%m%d-%H%M%S}"))
    console = Console()

    def say(text: str) -> None:
        console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    try:
        with torch_threads(threads):
            results = training.train(settings, folder, say=say, progress_bar=console.is_terminal)
    except KeyboardInterrupt:
        model = folder / "model.zip"
        fail(
            f"stopped; the best model so far is {model}"
            if model.exists()
            else "stopped before the first evaluation"
        )
    print_tables([rich_table(results)])
    for line in training.verdicts(results):
        say(line)
    say(f"Model, results, curve and a game are in {folder}")


def new_folder(path: Path) -> Path:
    """Create a new folder, with a number appended to its name if the name is taken."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        folder = path if number == 1 else path.with_name(f"{path.name}-{number}")
        with suppress(FileExistsError):
            folder.mkdir()
            break
    return folder
