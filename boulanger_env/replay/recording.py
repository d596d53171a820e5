"""Which episodes are recorded, and where replays go."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from boulanger_env.files import files_in
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.outcomes import WON

from .format import KIND
from .parts import ReplayError
from .replay import Replay

Games = str | int
"""``"all"``, ``"losses"``, or a number N, to record the first N episodes."""


def check_games(games: Games) -> None:
    """Check a choice of games.

    Raises:
        BoulangerError: it is invalid.
    """
    if (isinstance(games, str) and games in ("all", "losses")) or (type(games) is int and games > 0):
        return
    raise BoulangerError(
        f"games to record {shown(games)}: choose 'all', 'losses' or how many, from the first"
    )


def is_wanted(games: Games, number: int, outcome: str | None) -> bool:
    """Whether the episode with this number, from 0, is recorded; an unfinished one (None) is not a loss."""
    if isinstance(games, int):
        return number < games
    return games == "all" or outcome not in (WON, None)


def file_name(number: int, code: str | None) -> str:
    """Name of an episode's file: its number, from 1, so that names sort in the order of play, and the code."""
    return f"{number + 1:06d}-{code or 'board'}.json"


def next_number(folder: str | os.PathLike[str]) -> int:
    """The next free number for a file in a folder."""
    found = (re.match(r"(\d{6,})-.*\.json$", path.name) for path in files_in(folder, "*.json"))
    return max((int(match[1]) for match in found if match), default=0)


def replays_in(path: str | os.PathLike[str]) -> list[tuple[Path, Replay]]:
    """The replay in a file, or those in the ``.json`` files of a folder and its subfolders, sorted by name.

    In a folder, hidden files are skipped, and so is other JSON, such as the results that ``train`` writes.

    Raises:
        ReplayError: a file is not a replay.
        BoulangerError: the folder has none.
        OSError: it cannot be read.
    """
    given = Path(path)
    if not given.is_dir():
        return [(given, Replay.load(given))]
    found = []
    for one in files_in(given, "**/*.json"):
        try:
            found.append((one, Replay.load(one)))
        except ReplayError:
            if not _is_of_another_kind(one):
                raise
    if not found:
        raise BoulangerError(f"there is no replay, a .json file, in {given}")
    return found


def _is_of_another_kind(path: Path) -> bool:
    """Whether a file is intact JSON that neither claims nor appears to be a replay."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    if not isinstance(content, dict):
        return True
    kind = content.get("format")
    return not kind.startswith(KIND) if isinstance(kind, str) else "actions" not in content
