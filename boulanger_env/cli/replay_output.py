"""The body of ``boulanger replay``: replay files as a page, a picture, a video, or in the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence

from boulanger_env.escaping import printable
from boulanger_env.files import write_text
from boulanger_env.game.errors import BoulangerError
from boulanger_env.render.ansi import CLEAR_SCREEN, render_ansi
from boulanger_env.render.html import render_html
from boulanger_env.replay.diagnosed import could_be_won, diagnose_within, headline, in_words, left_out
from boulanger_env.replay.recording import replays_in
from boulanger_env.replay.replay import Replay
from boulanger_env.solver import Diagnosis


def replay(
    paths: Sequence[str | os.PathLike[str]],
    *,
    html: str | os.PathLike[str] | None = None,
    gif: str | os.PathLike[str] | None = None,
    mp4: str | os.PathLike[str] | None = None,
    ansi: bool = False,
    diagnose: bool = True,
    speed: float = 4,
    color: bool | None = None,
    ascii: bool = False,
    clear: bool = False,
) -> None:
    """Read and check replays, and show them.

    Args:
        paths: replay files, or folders of them.
        html: where to write one page with all of them.
        gif: where to write an animated GIF; only for a single replay.
        mp4: where to write a video; only for a single replay.
        ansi: play them in the terminal.
        diagnose: say on the page and in the terminal which moves kept the win and which one lost it; for as many games
            as a minute suffices for, which is said if it does not suffice for all.
        speed: moves per second.
        color: draw with colours in the terminal.
        ascii: draw without suit symbols.
        clear: clear the screen before each board.

    Raises:
        ReplayError: a file is not a valid replay; the message names the file and the step.
        BoulangerError: several replays for one GIF or video, or a library is missing.
        OSError: a file cannot be read or written.
    """
    found = [one for path in paths for _, one in replays_in(path)]
    for wanted, name in ((gif, "--gif"), (mp4, "--mp4")):
        if wanted is not None and len(found) != 1:
            raise BoulangerError(f"{name} shows one game, and these are {len(found)}: give one file")
    found_out: list[Diagnosis | None] = [None] * len(found)
    if diagnose and (ansi or html is not None):
        found_out = diagnose_within((one.start, one.played) for one in found)
        if said := left_out(found_out):
            print(said, file=sys.stderr)
    if html is not None:
        title = f"{len(found)} games" if len(found) > 1 else ""
        episodes = [
            one.to_episode(diagnosis=diagnosis, solvable=could_be_won(one) if diagnosis is None else None)
            for one, diagnosis in zip(found, found_out, strict=True)
        ]
        write_text(html, render_html(episodes, title))
        _say(html)
    if gif is not None or mp4 is not None:
        _film(found[0], gif, mp4, speed)
    if ansi:
        for one, diagnosis in zip(found, found_out, strict=True):
            _play(one, diagnosis, speed, color, ascii, clear)
    elif html is gif is mp4 is None:
        print("\n\n".join(map(str, found)))


def _say(path: str | os.PathLike[str]) -> None:
    """Print the name of a written file, unless it is standard output itself."""
    with contextlib.suppress(OSError):
        if os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno())):
            return
    print(printable(os.fspath(path)))


def _film(
    one: Replay, gif: str | os.PathLike[str] | None, mp4: str | os.PathLike[str] | None, speed: float
) -> None:
    from boulanger_env.render import animation

    # An illegal action leaves the board as it is: no frame to show.
    moves = [step.action for step in one.steps() if not step.error]
    for path, write in ((gif, animation.write_gif), (mp4, animation.write_mp4)):
        if path is not None:
            write(path, one.start, moves, fps=speed, outcome=one.outcome)
            _say(path)


def _play(
    one: Replay, diagnosis: Diagnosis | None, speed: float, color: bool | None, ascii: bool, clear: bool
) -> None:
    words = [""] * len(one.played) if diagnosis is None else in_words(diagnosis)

    def show(text: str) -> None:
        sys.stdout.write((CLEAR_SCREEN if clear else "") + text + "\n" * (1 if clear else 2))
        sys.stdout.flush()

    show(render_ansi(one.start, color=color, ascii=ascii))
    for number, step in enumerate(one.steps(), 1):
        if clear:
            time.sleep(1 / speed)
        refused = f"   refused: {step.error}" if step.error else ""
        outcome = one.outcome if number == len(one.played) else None
        board = render_ansi(step.game, color=color, ascii=ascii, outcome=outcome)
        proved = f"\n{words[number - 1]}" if words[number - 1] else ""
        show(f"{board}\n\nstep {number} of {len(one.played)}: {step.text}{refused}{proved}")
    if diagnosis is not None:
        print(headline(diagnosis, one.outcome))
