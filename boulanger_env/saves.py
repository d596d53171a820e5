"""Games that a person plays, kept as one replay file each, and where they lie.

A game under way is the replay of the moves that stand, so that it comes back with its score and its undo history. One
that is won moves to the folder ``won``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from boulanger_env.files import files_in
from boulanger_env.game import BoulangerError, Game
from boulanger_env.game.moves import UNDO
from boulanger_env.replay import Replay, ReplayError, replay_of

FOLDER_VARIABLE = "BOULANGER_STATE"
_ADVICE = "the file is left as it is: move it away, or start another game with boulanger play --new"


class SavedGameError(BoulangerError):
    """A game that cannot be saved, or a file that is no saved game; such a file is left as it is."""


def folder() -> Path:
    """Where games are saved: ``$BOULANGER_STATE``, else a folder of the user's own.

    Raises:
        BoulangerError: the user has no home folder.
    """
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_STATE_HOME", "")
    # The XDG standard wants a path that is not absolute to be passed over.
    if os.path.isabs(base):
        return Path(base, "boulanger_env")
    try:
        return Path.home() / ".local" / "state" / "boulanger_env"
    except RuntimeError:
        raise BoulangerError(f"there is no home folder: name a folder in {FOLDER_VARIABLE}") from None


def path_of(start: Game) -> Path:
    """The file of a game, from how it began."""
    if start.code:
        return folder() / f"{start.code}.json"
    digest = hashlib.sha256(f"{start.n_cells} {start}".encode()).hexdigest()
    return folder() / f"board-{digest[:12]}.json"


def newest() -> Path | None:
    """The game that was saved last, or None."""
    return max(files_in(folder(), "*.json"), key=lambda path: path.stat().st_mtime_ns, default=None)


def save(start: Game, moves: Sequence[int], known: Sequence[int] | None) -> Path:
    """Write a game's file; an earlier one is replaced only once the new one is complete.

    A file that another session has written since is not: one that has nothing to add leaves it, another is refused.

    Args:
        start: the game before its first move.
        moves: the ids of the moves that stand.
        known: the moves that this session last read from the file or wrote to it, None if there was none.

    Returns:
        Where the file is: a game that is won moves to the folder ``won``.

    Raises:
        SavedGameError: another session has played the game on since, or its file is damaged.
        OSError: the file cannot be written.
    """
    replay = replay_of(start, moves)
    under_way = path_of(start)
    found = moves_in(under_way)
    of_another = found is not None and found != known
    path = under_way.parent / "won" / under_way.name if replay.end.is_won else under_way
    if of_another and path == under_way:
        if list(moves) in (known, found):
            return path
        raise SavedGameError(
            f"another session has played {start.code or 'this board'} on since; its moves are kept, yours are not"
        )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replay.save(path)
    if path != under_way and not of_another:
        under_way.unlink(missing_ok=True)
    return path


def moves_in(path: Path) -> list[int] | None:
    """The moves that a game's file holds, None if there is no file.

    Raises:
        SavedGameError, OSError: as :func:`load`.
    """
    return load(path)[1] if path.exists() else None


def load(path: Path) -> tuple[Game, list[int]]:
    """Read a game's file.

    Returns:
        The game before its first move, and the ids of its moves, each of them legal.

    Raises:
        SavedGameError: it is no saved game; the message names the file and what is wrong. Nothing is changed.
        OSError: the file cannot be read.
    """
    try:
        replay = Replay.load(path)
    except ReplayError as error:
        raise SavedGameError(f"{error}; {_ADVICE}") from None
    if replay.settings is not None or UNDO in replay.actions:
        raise SavedGameError(
            f"{path} is an agent's episode, with illegal moves or undo among its actions; {_ADVICE}"
        )
    if path.name != path_of(replay.start).name:
        raise SavedGameError(f"{path} is really {replay.start.code or 'a board'}; {_ADVICE}")
    return replay.start, list(replay.actions)
