"""Saved games, one replay file each.

A game in progress is a replay of its moves, without undone ones, so that its score and undo history are restored. A won
game moves to the folder ``won``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from boulanger_env.files import alone_in, files_in
from boulanger_env.game import BoulangerError, Game
from boulanger_env.game.moves import UNDO
from boulanger_env.replay import Replay, ReplayError, replay_of

FOLDER_VARIABLE = "BOULANGER_STATE"
_ADVICE = "the file is left as it is: move it away, or start another game with boulanger play --new"


class SavedGameError(BoulangerError):
    """A game that cannot be saved, or a file that is not a saved game; such a file is left as it is."""


def folder() -> Path:
    """Where games are saved: ``$BOULANGER_STATE``, else a folder in the user's home.

    Raises:
        BoulangerError: the user has no home folder.
    """
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_STATE_HOME", "")
    # The XDG standard says to ignore a path that is not absolute.
    if os.path.isabs(base):
        return Path(base, "boulanger_env")
    try:
        return Path.home() / ".local" / "state" / "boulanger_env"
    except RuntimeError:
        raise BoulangerError(f"there is no home folder: name a folder in {FOLDER_VARIABLE}") from None


def path_of(start: Game) -> Path:
    """The file of a game, determined by its start."""
    if start.code:
        return folder() / f"{start.code}.json"
    digest = hashlib.sha256(f"{start.n_cells} {start}".encode()).hexdigest()
    return folder() / f"board-{digest[:12]}.json"


def newest() -> Path | None:
    """The game last saved, or None."""
    return max(files_in(folder(), "*.json"), key=lambda path: path.stat().st_mtime_ns, default=None)


def save(start: Game, moves: Sequence[int], known: Sequence[int] | None) -> Path:
    """Write a game's file; an existing one is replaced only once the new one is complete.

    If another session has written the file since, it is left as it is, and new moves are an error.

    Args:
        start: the game before its first move.
        moves: the ids of the moves, without undone ones.
        known: the moves that this session last read from or wrote to the file, None if there was no file.

    Returns:
        The file's path: a won game moves to the folder ``won``.

    Raises:
        SavedGameError: another session has continued the game since, or its file is damaged.
        OSError: the file cannot be written.
    """
    replay = replay_of(start, moves)
    under_way = path_of(start)
    path = under_way.parent / "won" / under_way.name if replay.end.is_won else under_way
    under_way.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with alone_in(under_way.parent):
        found = moves_in(under_way)
        of_another = found is not None and found != known
        if of_another and path == under_way:
            if list(moves) in (known, found):
                return path
            raise SavedGameError(
                f"another session has played {start.code or 'this board'} on since; its moves are kept, yours are not"
            )
        path.parent.mkdir(mode=0o700, exist_ok=True)
        replay.save(path)
        if path != under_way and not of_another:
            under_way.unlink(missing_ok=True)
    return path


def remove_unplayed(start: Game) -> None:
    """Remove a game's file if it holds no move.

    Raises:
        SavedGameError, OSError: as :func:`load`.
    """
    path = path_of(start)
    with alone_in(path.parent):
        if moves_in(path) == []:
            path.unlink()


def moves_in(path: Path) -> list[int] | None:
    """The moves in a game's file, None if there is no file.

    Raises:
        SavedGameError, OSError: as :func:`load`.
    """
    return load(path)[1] if path.exists() else None


def load(path: Path) -> tuple[Game, list[int]]:
    """Read a game's file.

    Returns:
        The game before its first move, and the ids of its moves, all legal.

    Raises:
        SavedGameError: it is not a saved game; the message names the file and what is wrong. Nothing is changed.
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
