"""Take the screenshots of the player: ``python scripts/make_screenshots.py``.

A headless Chromium takes them; without one they stay as they are. Browsers draw a little differently, so each
picture holds the digest of the page it shows, from which a test can see when it is out of date.
"""

from __future__ import annotations

import re
import struct
import sys
import tempfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from boulanger_env.agents.position_value import evaluate_position
from boulanger_env.benchmark import evaluate
from boulanger_env.envs import board_from_observation
from boulanger_env.game.kernels import apply
from boulanger_env.render import render_html
from boulanger_env.replay import Annotation, Replay
from boulanger_env.solver import diagnose

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "images"


class OneStep:
    """Looks one move ahead with the hand-written values of ``heuristic``, and reports what it sees."""

    observation = "cards"

    def _shares(self, observation: Any, mask: Any) -> dict[int, float]:
        board = board_from_observation(observation)
        values = {}
        for action in np.flatnonzero(mask).tolist():
            after = board.copy()
            apply(after, action)
            values[action] = evaluate_position(after) / 30
        total = sum(np.exp(value - max(values.values())) for value in values.values())
        shares = {a: float(np.exp(value - max(values.values())) / total) for a, value in values.items()}
        return dict(sorted(shares.items(), key=lambda choice: -choice[1]))

    def annotate(self, observation: Any, mask: Any, info: Any) -> Annotation:
        """The five likeliest moves, and the value of the board."""
        likely = tuple(self._shares(observation, mask).items())[:5]
        return Annotation(likely, float(evaluate_position(board_from_observation(observation))))

    def __call__(self, observation: Any, mask: Any, info: Any) -> int:
        return next(iter(self._shares(observation, mask)))


def player_page() -> str:
    """The page that the screenshots show: games that an agent has lost, diagnosed."""
    losses: list[Replay] = []
    evaluate(
        OneStep(), ["MS-C4-51", "MS-C4-5"], name="one step ahead", record=losses.append, max_episode_steps=100
    )
    known = {"strength": "no search", "value_unit": "on heuristic's scale"}
    shown = [replay.to_episode(diagnosis=diagnose(replay.start, replay.played), **known) for replay in losses]
    return render_html(shown, "Lost games")


SCREENSHOTS: dict[str, dict[str, Any]] = {
    "replay.png": {"width": 1200, "height": 780},
    "replay-phone.png": {"width": 360, "height": 740, "dark": True},
}
"""File name -> the window to take."""

STEP = "#1/38"
"""Before the move that lost the first game."""


def source_of(png: bytes) -> str:
    """The digest that a screenshot holds of the page it shows."""
    match = re.search(rb"tEXtsource\0([0-9a-f]{64})", png)
    return match[1].decode() if match else ""


def _with_source(png: bytes, page: str) -> bytes:
    """A PNG with the digest of the page in a text chunk before its end."""
    body = b"tEXtsource\0" + sha256(page.encode()).hexdigest().encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:-12] + chunk + png[-12:]


def main() -> int:
    """Take every picture, if there is a browser."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support import browser

    program = browser.find()
    if program is None:
        print("no Chromium: the pictures stay as they are")
        return 0
    page = player_page()
    with tempfile.TemporaryDirectory() as folder, browser.Page(program) as window:
        path = Path(folder, "page.html")
        path.write_text(page, encoding="utf-8")
        for name, look in SCREENSHOTS.items():
            window.look(**look)
            window.open(path, STEP)
            (FOLDER / name).write_bytes(_with_source(window.picture(), page))
            print(FOLDER / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
