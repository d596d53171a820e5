"""Draw the plots of the documentation anew: ``python scripts/make_plots.py``.

Each is drawn from numbers: those of the leaderboard's files, or those that a page's own code computes. Matplotlib's
releases draw a little differently, so each picture holds the digest of its numbers or of its code: by that a test can
tell when one is out of date.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import make_leaderboard

from boulanger_env.benchmark.comparison import run_names
from boulanger_env.files import files_in, write_text
from boulanger_env.report import plots

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "images"
CALIBRATION = re.compile(r"<!-- calibration -->\n```python\n(.*?)```\n", re.DOTALL)


class Plot(NamedTuple):
    """A plot of the documentation."""

    source: Callable[[], str]
    """A text of what it is drawn from, which changes if and only if the plot does."""
    draw: Callable[[], str]
    """Its SVG."""


def _losses() -> str:
    files = files_in(make_leaderboard.FOLDER / "c4-test" / "losses", "*.jsonl")
    return "".join(file.read_text(encoding="utf-8") for file in files)


def _draw_still_winnable() -> str:
    runs, found = zip(*make_leaderboard.results("c4-test"), strict=True)
    return plots.still_winnable(run_names(runs), found)


def calibration_code() -> str:
    """The code of the page about exact labels."""
    match = CALIBRATION.search((ROOT / "docs" / "exact-labels.md").read_text(encoding="utf-8"))
    assert match is not None
    return match[1]


def _draw_calibration() -> str:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec(compile(calibration_code(), "exact-labels.md", "exec"), {"__name__": "page"})
            return Path("calibration.svg").read_text(encoding="utf-8")
        finally:
            os.chdir(before)


PLOTS = {
    "still-winnable.svg": Plot(_losses, _draw_still_winnable),
    "calibration.svg": Plot(calibration_code, _draw_calibration),
}
"""File name -> the plot."""


def digest(plot: Plot) -> str:
    """What a plot's file says it was drawn from."""
    return f"<!-- source: {sha256(plot.source().encode()).hexdigest()} -->"


def main() -> None:
    """Draw every plot whose source has changed."""
    for name, plot in PLOTS.items():
        path, mark = FOLDER / name, digest(plot)
        if not path.exists() or mark not in path.read_text(encoding="utf-8"):
            write_text(path, f"{plot.draw().rstrip()}\n{mark}\n")
            print(os.path.relpath(path))


if __name__ == "__main__":
    sys.exit(main())
