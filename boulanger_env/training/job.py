"""The main job: train an agent from rewards, benchmark it against two baselines, and save the results.

Everything goes into one folder:

=====================  =====================================================================================
file                   content
=====================  =====================================================================================
``model.zip``          the model that did best on the validation deals, there from the first evaluation on
``checkpoint.pt``      the run's state at the last evaluation, from which ``resume`` goes on
``starts.npz``         the positions that games start from
``log.txt``            what was printed
``results.md``         the benchmark's tables
``benchmark/``         the benchmark's games, a folder per deal set, one file per agent, one row per game
``learning_curve.png`` deals won over the training, beside the baselines
``replay.html``        the model's best test game, as a page that plays it
``replay.json``        the same game as a replay file
``results.json``       settings, learning curve, and the benchmark's summary; written last
=====================  =====================================================================================
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from boulanger_env.benchmark import Results
from boulanger_env.deals import ReverseCurriculum, Starts
from boulanger_env.files import is_empty, remove_partial
from boulanger_env.files.locks import append, open_locked
from boulanger_env.game.errors import BoulangerError

from . import checkpoint
from .budget import Budget
from .checkpoint import Checkpoint, Progress
from .outcome import write_outcome
from .progress import Say, Watch
from .setup import TrainSettings, make_envs, make_model, make_starts

STARTS, LOG, BENCHMARK = "starts.npz", "log.txt", "benchmark"

Bars = Callable[[], AbstractContextManager[Callable[[str, int], Callable[[int, int], None]]]]
"""Opens a display of progress bars. In it a label and a total start a bar; what is returned moves it."""


def train(
    settings: TrainSettings, folder: Path, say: Say = print, bars: Bars | None = None
) -> list[list[Results]]:
    """Train, benchmark and save; Ctrl-C ends the training early and keeps the best model so far.

    PyTorch's number of threads is left as it is; ``torch.set_num_threads(1)`` is best, with
    ``TrainSettings(threads=2)`` where there are two cores.

    Args:
        settings: the training run.
        folder: where the files go; it must be empty or not exist yet.
        say: called with each line of progress.
        bars: shows progress bars while its context lasts: here, for the deals that are solved.

    Returns:
        For each deal set of the benchmark the results of the model and of the baselines.

    Raises:
        BoulangerError: the folder is not empty.
        OSError: a file cannot be written.
        KeyboardInterrupt: Ctrl-C before the first evaluation, or during the benchmark.
    """
    budget = settings.budget()
    _claim(folder)
    with _logged(folder, say) as said:
        length = (
            f"{settings.limit_minutes:g} minutes in all"
            if settings.timesteps is None
            else f"{settings.timesteps:,} decisions of training"
        )
        said(f"{length}; what comes out goes to {folder}")
        starts = None
        if settings.curriculum:
            deals = settings.training_deals()
            said(f"solving {len(deals):,} training deals for positions to start from ...")
            with nullcontext() if bars is None else bars() as start:
                bar = None if start is None else start("solving", len(deals))
                starts = make_starts(settings, None if bar is None else lambda done: bar(done, len(deals)))
            starts.save(folder / STARTS)
            said(f"{len(starts):,} start positions: solutions say where games start, never what to play")
        return _run(Progress(settings), budget, folder, said, starts, None)


def resume(
    folder: Path, minutes: float | None = None, timesteps: int | None = None, say: Say = print
) -> list[list[Results]]:
    """Let a run in a folder go on from its last evaluation, exactly as it would have gone on, and benchmark it.

    With a budget of moves the result is that of an uninterrupted run, if the machine and its threads are the same.

    Args:
        folder: the run's.
        minutes: a new limit, all that the run has taken so far included; None: as it was.
        timesteps: a new number of moves, those played so far included; None: as it was.
        say: called with each line of progress.

    Returns:
        As of :func:`train`.

    Raises:
        BoulangerError: there is no run in the folder, another process is at work on it, its files are damaged, or both
            limits are given.
        OSError: a file cannot be read or written.
        KeyboardInterrupt: Ctrl-C during the benchmark.
    """
    if not (folder / checkpoint.FILE).is_file():
        raise BoulangerError(
            f"there is no run in {folder} to resume: it has no {checkpoint.FILE}, which the first evaluation writes"
        )
    with _logged(folder, say) as said:
        saved = checkpoint.load(folder / checkpoint.FILE)
        progress = saved.progress
        if minutes is not None or timesteps is not None:
            progress.settings = replace(progress.settings, minutes=minutes, timesteps=timesteps)
        starts = Starts.load(folder / STARTS) if progress.settings.curriculum else None
        budget = progress.settings.budget(progress.used, progress.began)
        said(f"going on after {progress.points[-1].timesteps:,} decisions; what comes out goes to {folder}")
        return _run(progress, budget, folder, said, starts, saved)


def _run(
    progress: Progress,
    budget: Budget,
    folder: Path,
    say: Say,
    starts: Starts | None,
    saved: Checkpoint | None,
) -> list[list[Results]]:
    """Learn until the budget is used, then benchmark."""
    settings = progress.settings
    envs = make_envs(settings, starts)
    with closing(envs):
        curriculum = None if starts is None else ReverseCurriculum(starts)
        model = make_model(settings, envs, budget)
        watch = Watch(progress, budget, folder, curriculum, say)
        envs.seed(settings.seed)
        if saved is None:
            budget.begin_learning()
        else:
            envs.reset()
            saved.restore(model, envs, curriculum)
        interrupted = False
        try:
            # The budget ends it, whatever the number of moves.
            model.learn(2**62, callback=watch, reset_num_timesteps=saved is None)
        except KeyboardInterrupt:
            if not progress.points:
                raise
            interrupted = True
            say(
                "interrupted: the best model so far is kept; the benchmark follows (Ctrl-C again stops it, too); "
                f"boulanger train --resume {folder} goes on"
            )
        learned = budget.used
    results = write_outcome(progress, folder, say, starts, interrupted=interrupted)
    say(
        f"training {learned / 60:.1f} minutes, benchmark {(budget.used - learned) / 60:.1f}, "
        f"{time.process_time() / 60:.1f} minutes of processor time in this process"
    )
    return results


def _claim(folder: Path) -> None:
    """Create the folder and its benchmark subfolder; of two concurrent runs only one can."""
    if folder.exists() and not folder.is_dir():
        raise BoulangerError(f"{folder} is a file: choose a folder with --output")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if not is_empty(folder):
            raise FileExistsError
        (folder / BENCHMARK).mkdir()
    except FileExistsError:
        raise BoulangerError(
            f"{folder} is not empty: choose another folder with --output, move it away, or go on with --resume"
        ) from None
    remove_partial(folder)


@contextmanager
def _logged(folder: Path, say: Say) -> Iterator[Say]:
    """Write what is said to the log, too, which one process at a time can hold."""
    with open_locked(folder / LOG) as log:

        def both(line: str) -> None:
            append(log, f"{line}\n".encode())
            say(line)

        yield both
