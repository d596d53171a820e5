"""``boulanger train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import fail


def train(
    timesteps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Moves to play while learning. [default: 400000, some 3 to 5 minutes]",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[int, typer.Option(help="Cells of the games: 4, 2 or 1.")] = 4,
    network: Annotated[
        str, typer.Option(help="cards (built on suits and columns) or mlp (a plain one).")
    ] = "cards",
    seed: Annotated[int, typer.Option(min=0, help="Of the network, the deals and the play.")] = 0,
    test_deals: Annotated[
        str,
        typer.Option(
            help="Name or file of the deals of the benchmark. [default: c4-test-all]", show_default=False
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for what comes out, new or empty. [default: runs/ and the time]", show_default=False
        ),
    ] = None,
) -> None:
    """Train a masked agent, benchmark it beside two baselines, save model, curve and a replay.

    Ctrl-C ends the training early: the best model so far is kept and benchmarked.

    \b
    Examples:
      boulanger train
      boulanger train --timesteps 5000000 --output runs/long
      boulanger train --cells 2 --network mlp
    """
    from datetime import datetime

    from rich.console import Console

    from boulanger_env import training
    from boulanger_env.benchmark import rich_table

    chosen = {} if timesteps is None else {"timesteps": timesteps}
    settings = training.TrainSettings(
        n_cells=cells, network=network, seed=seed, test_deals=test_deals, **chosen
    )
    folder = output or Path("runs", f"c{cells}-{datetime.now():%Y%m%d-%H%M%S}")
    console = Console(markup=False, emoji=False)  # it says names of files
    try:
        results = training.train(settings, folder, say=console.print, progress_bar=console.is_terminal)
    except KeyboardInterrupt:
        fail(f"stopped; what there is so far is in {folder}")
    console.print(rich_table(results))
    console.print(f"Model, curve and replay are in {folder}", soft_wrap=True)
