"""Games that a person plays in the terminal, kept as one small JSON file each.

A file holds how the game began, a code or a text board, and the ids of the moves that stand, so that a game
comes back with its score and its undo history.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boulanger_env.files import write_text
from boulanger_env.game import BoulangerError, Game, Move

FORMAT = "boulanger-env saved game 1"
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
    return max(folder().glob("*.json"), key=lambda path: path.stat().st_mtime_ns, default=None)


def save(start: Game, moves: Sequence[int]) -> None:
    """Write a game's file; an earlier one is replaced only once the new one is complete.

    Args:
        start: the game before its first move.
        moves: the ids of the moves that stand.

    Raises:
        OSError: the file cannot be written.
    """
    origin = {"code": start.code} if start.code else {"board": str(start), "n_cells": start.n_cells}
    path = path_of(start)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_text(path, json.dumps({"format": FORMAT, **origin, "moves": list(moves)}))


def load(path: Path) -> tuple[Game, list[int]]:
    """Read a game's file.

    Returns:
        The game before its first move, and the ids of its moves, each of them legal.

    Raises:
        SavedGameError: it is no saved game; the message names the file and what is wrong. Nothing is changed.
        OSError: the file cannot be read.
    """
    try:
        start, moves = _read(json.loads(path.read_text(encoding="utf-8")))
    except BoulangerError as error:
        raise SavedGameError(f"saved game {path}: {error}; {_ADVICE}") from None
    except (ValueError, RecursionError) as error:
        raise SavedGameError(f"saved game {path} is not JSON: {error}; {_ADVICE}") from None
    if path.name != path_of(start).name:
        raise SavedGameError(f"saved game {path} is really {start.code or 'a board'}; {_ADVICE}")
    return start, moves


def _read(content: Any) -> tuple[Game, list[int]]:
    """Make a game of a file's content, trusting nothing."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise SavedGameError(f"it does not say that its format is {FORMAT!r}")
    if "code" in content:
        start = Game.from_code(content["code"])
    elif isinstance(content.get("board"), str) and type(content.get("n_cells")) is int:
        start = Game.from_text(content["board"], content["n_cells"])
    else:
        raise SavedGameError("it has neither a code nor a board with its n_cells")
    moves = content.get("moves")
    if not isinstance(moves, list) or any(type(move) is not int for move in moves):
        raise SavedGameError("its moves are not a list of action ids")
    game = start.copy()
    for number, action in enumerate(moves, 1):
        try:
            game.push(Move.from_id(action))
        except BoulangerError as error:
            raise SavedGameError(f"move {number} of {len(moves)}: {error}") from None
    return start, moves
