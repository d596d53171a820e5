"""``boulanger train``."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from boulanger_env.escaping import printable
from boulanger_env.game.errors import BoulangerError

from .app import fail


def train(
    *,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="Time for everything, the benchmark included. [default: 6]",
            show_default=False,
        ),
    ] = None,
    timesteps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Decisions to train for, instead of a time: on one machine the result is the same every time.",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[
        int | None, typer.Option(help="Number of free cells: 4, 2 or 1.  [default: 4]", show_default=False)
    ] = None,
    curriculum: Annotated[
        bool | None,
        typer.Option(
            "--curriculum/--no-curriculum",
            help="Start games near their end at first, or always from whole deals. [default: curriculum]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Random seed of the network, the deals and the play. [default: 0]", show_default=False
        ),
    ] = None,
    test_deals: Annotated[
        str | None,
        typer.Option(
            help="Deal set of the benchmark, by name or file. [default: c4-test, then c4-test-all]",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the output, new or empty. [default: runs/ and the time]", show_default=False
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a run that goes on from its last evaluation; --minutes or --timesteps set a new limit.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Threads that learn side by side. [default: 2, or 1 on a single core]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Train an agent from rewards, and benchmark it.

    All output goes to one folder: the model, the results, a learning curve and a game to look at. Ctrl-C ends the
    training early: the best model so far is kept and benchmarked.

    \b
    Examples:
      boulanger train
      boulanger train --minutes 60 --output runs/hour
      boulanger train --resume runs/hour --minutes 120
      boulanger train --cells 2
    """
    given = {
        "n_cells": cells,
        "curriculum": curriculum,
        "seed": seed,
        "test_deals": test_deals,
        "threads": threads,
    }
    fixed = [name for name, value in given.items() if value is not None]
    if resume is not None and (fixed or output is not None):
        raise BoulangerError(
            f"--resume {resume} goes on as the run began: beside it only --minutes or --timesteps can be given"
        )

    from datetime import datetime

    from rich.console import Console

    from boulanger_env import training
    from boulanger_env.report.tables import as_rich, caption

    from .output import print_tables, progress_bars
    from .threads import torch_threads

    console = Console()

    def say(text: str) -> None:
        console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    folder = resume
    try:
        with torch_threads(1):
            if folder is not None:
                by_set = training.resume(folder, minutes, timesteps, say=say)
            else:
                given["threads"] = threads or training.default_threads()
                settings = training.TrainSettings(
                    minutes=minutes,
                    timesteps=timesteps,
                    **{name: value for name, value in given.items() if value is not None},  # type: ignore[arg-type]
                )
                folder = output or new_folder(
                    Path("runs", f"c{settings.n_cells}-{datetime.now():%Y%m%d-%H%M%S}")
                )
                by_set = training.train(settings, folder, say=say, bars=progress_bars)
    except KeyboardInterrupt:
        model = None if folder is None else folder / "model.zip"
        fail(
            f"stopped; the best model so far is {model}; boulanger train --resume {folder} goes on"
            if model is not None and model.exists()
            else "stopped before the first evaluation"
        )
    captions = [caption(results) for results in by_set]
    print_tables([as_rich(training.both_tables(by_set, narrow=True), *captions)])
    for line in training.verdicts(by_set[0]):
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
