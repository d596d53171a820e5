"""The file of a diagnosis while it is made: killed at any point and restarted, it resumes where it was.

JSON Lines: a header that says which run is diagnosed, then for each game a list, its number and the fields of
``GameLosses``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from boulanger_env.files import write_text
from boulanger_env.files.locks import append, open_locked
from boulanger_env.files.strict_json import parse
from boulanger_env.game.errors import BoulangerError

from .results import Results
from .runs import differences

if TYPE_CHECKING:
    from typing_extensions import Self

FORMAT = "boulanger-env losses 1"


class GameLosses(NamedTuple):
    """The choices of one game: decisions at which one legal move kept the win and another lost it."""

    choices: int
    mistakes: int
    """Choices that threw the win away: at most one without undo."""
    chance: float
    """Expected number of mistakes of uniformly random legal moves at the same choices."""
    lost_at: int
    """Number of the choice that lost the game, from 1; 0 if no choice did."""
    hopeless: bool
    """Whether the game could not be won from the start."""
    undecided: int
    """Decisions for which a limit was reached before a verdict."""


def header_of(results: Results, games: Sequence[tuple[str, str]], node_limit: int | None) -> dict[str, Any]:
    """What a file's verdicts depend on: the games, as a code and the text of all that was played, and the limit."""
    text = "\n".join(f"{code} {actions}" for code, actions in games)
    return {
        "format": FORMAT,
        "policy": results.policy,
        "deals": results.deals,
        "games": len(games),
        "fingerprint": sha256(text.encode()).hexdigest()[:16],
        "node_limit": node_limit,
        "columns": ["game", *GameLosses._fields],
    }


class LossFile:
    """A file that gets a line for each game as it is diagnosed: a context manager, which closes it.

    Args:
        path: the file; one of the same run is resumed, and a line that a kill cut off is dropped.
        header: as from ``header_of``.
        games: those that it was made from; a line with more decisions than its game has actions is refused.

    Attributes:
        found: the games so far, by their number in the run, from 0.

    Raises:
        BoulangerError: the file holds another run's diagnosis or something else, or another process writes to it.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], games: Sequence[tuple[str, str]]) -> None:
        if not path.parent.is_dir():
            raise BoulangerError(f"there is no folder {path.parent} to save {path.name} in")
        self.found: dict[int, GameLosses] = {}
        self._path, self._header = path, dict(header)
        self._steps = [len(actions) // 2 for _, actions in games]  # two symbols each
        self._file: BinaryIO = open_locked(path)
        try:
            line, content = _line(self._header).encode(), self._file.read()
            whole = 0
            # Else it is new, or its first line was cut off.
            if not line.startswith(content):
                whole = content.rfind(b"\n") + 1
                self._read(content[:whole].split(b"\n")[:-1] or [content])
            self._file.truncate(whole)
            if not whole:
                append(self._file, line)
        except BaseException:
            self._file.close()
            raise

    def _read(self, lines: list[bytes]) -> None:
        try:
            header = parse(lines[0])
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise BoulangerError(f"it does not say that its format is {FORMAT!r}")
        except BoulangerError as error:
            raise BoulangerError(f"{self._path} is not the diagnosis of a run: {error}") from None
        different = differences(header, self._header)
        if different:
            raise BoulangerError(
                f"{self._path} is the diagnosis of another run ({different}): choose another place, or remove that file"
            )
        for number, line in enumerate(lines[1:], 2):
            try:
                game, losses = _game(parse(line))
                if not 0 <= game < len(self._steps) or game in self.found:
                    raise BoulangerError(f"game {game} is not in the run, or comes twice")
                if max(losses.choices, losses.undecided) > self._steps[game]:
                    raise BoulangerError(
                        f"game {game} has {self._steps[game]} actions: it cannot have {losses}"
                    )
            except BoulangerError as error:
                raise BoulangerError(
                    f"{self._path} is not the diagnosis of a run: line {number}: {error}"
                ) from None
            self.found[game] = losses

    def add(self, game: int, losses: GameLosses) -> None:
        """Add a game; it is in the file when this returns."""
        append(self._file, _line([game, *losses]).encode())
        self.found[game] = losses

    def put_in_order(self) -> None:
        """Rewrite the file, whole or not at all, with the games in the order of the run."""
        lines = (_line([game, *self.found[game]]) for game in sorted(self.found))
        write_text(self._path, _line(self._header) + "".join(lines))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, which releases its lock."""
        self._file.close()


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def _game(row: Any) -> tuple[int, GameLosses]:
    """A checked line.

    Raises:
        BoulangerError: no game has such numbers.
    """
    kinds: tuple[tuple[type, ...], ...] = ((int,), (int,), (int,), (int, float), (int,), (bool,), (int,))
    if not (
        isinstance(row, list)
        and len(row) == len(kinds)
        and all(type(value) in kind for value, kind in zip(row, kinds, strict=True))
    ):
        raise BoulangerError(f"{row!r} is not a list of {', '.join(('game', *GameLosses._fields))}")
    found = GameLosses(*row[1:])
    possible = (
        min(found[:4]) >= 0
        and found.undecided >= 0
        and max(found.mistakes, found.lost_at) <= found.choices
        # At each choice some moves lose and some do not.
        and (0 < found.chance < found.choices or found.chance == found.choices == 0)
        and not (found.hopeless and found.choices)
        and not (found.lost_at and not found.mistakes)
    )
    if not possible:
        raise BoulangerError(f"no game has {found}")
    return row[0], found
