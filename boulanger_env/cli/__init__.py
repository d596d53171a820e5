"""The ``boulanger`` command: arguments and options; the work is done in the modules that it calls.

Each command imports its module when it runs, so that drawing a board does not wait for a training library.
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

from boulanger_env.escaping import printable

from .app import app
from .bench import bench
from .compare import compare
from .diagnose import diagnose
from .games import deal, play
from .label import label
from .replay import replay
from .solve import solve
from .train import train

__all__ = ["app", "main"]

# The help lists them in this order.
for _command in (deal, play, solve, replay, diagnose, train, bench, compare, label):
    app.command()(_command)

# Depending on its version, typer uses the installed click or its own copy; this finds the class in use.
_UsageError: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError")

# pydantic's name of what is wrong with a number -> the same in our words.
_WRONG = {
    "int_parsing": "is not a whole number",
    "float_parsing": "is not a number",
    "greater_than": "is not more than {gt:g}",
    "greater_than_equal": "is less than {ge:g}",
    "less_than_equal": "is more than {le:g}",
}


def _said(error: Any) -> str:
    """What is wrong with what was typed; newer versions of typer leave that to pydantic."""
    cause = error.__cause__
    found = cause.errors()[0] if hasattr(cause, "errors") else {}
    wrong = _WRONG.get(found.get("type", ""))
    if wrong is not None:
        error.message = f"'{found['input']}' {wrong.format(**found.get('ctx', {}))}"
    return str(error.format_message())


def main() -> None:
    """Run the command line of this process."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # The parent process closed it; reopening in this order gives each stream its usual number.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            # A character that the terminal cannot show, or a byte that is not text, is not a reason to fail.
            stream.reconfigure(errors="replace" if mode == "w" else "backslashreplace")
    # On one line, like errors, and without the source line.
    warnings.formatwarning = lambda message, *_, **__: f"Warning: {printable(str(message))}\n"
    try:
        sys.exit(app(prog_name="boulanger", standalone_mode=False))
    except _UsageError as error:
        # On one line, like all other errors; shells expect 2 for a usage error.
        command = error.ctx.command_path if error.ctx else "boulanger"
        typer.echo(f"Error: {printable(_said(error))} ({command} --help)", err=True)
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)
