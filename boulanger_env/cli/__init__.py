"""The ``boulanger`` command: what each command takes; the work is done by the modules it calls.

A command imports its module inside, so that one that only draws a board does not wait for a training library.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Any

try:
    import rich  # noqa: F401 - typer writes its help with it
    import typer
except ModuleNotFoundError as error:
    raise SystemExit(f'boulanger needs {error.name}: pip install "boulanger-env[cli]"') from None

from boulanger_env.shown import printable

from .agents import train
from .app import app
from .benchmark import bench, compare, label
from .diagnose import diagnose
from .games import deal, play
from .replay import replay
from .solve import solve

__all__ = ["app", "main"]

# The help lists them in this order.
for _command in (deal, play, solve, replay, diagnose, train, bench, compare, label):
    app.command()(_command)

# typer brings its own click or uses the one that is installed, by its version; this is the class of the one in use.
_UsageError: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError")


def main() -> None:
    """Run the command line of this process."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by whoever started this; in this order each gets its own number again.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            # A dot that a terminal lacks is no reason to fail.
            stream.reconfigure(errors="replace")
    # In one line, like errors, and without the line of code that it comes from.
    warnings.formatwarning = lambda message, *_, **__: f"Warning: {printable(str(message))}\n"
    try:
        sys.exit(app(prog_name="boulanger", standalone_mode=False))
    except _UsageError as error:
        # In one line, like all other errors; 2 is what shells expect for a command that was not understood.
        command = error.ctx.command_path if error.ctx else "boulanger"
        typer.echo(f"Error: {printable(error.format_message())} ({command} --help)", err=True)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
