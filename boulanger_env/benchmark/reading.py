"""Reading results files, which are untrusted: each line is checked against the rules, the whole against its deals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boulanger_env.agents.base import checked_seed
from boulanger_env.agents.model_files import SETTINGS
from boulanger_env.deals import DealSet, parse_code
from boulanger_env.deals.known import check_name
from boulanger_env.envs.settings import Settings
from boulanger_env.escaping import printable
from boulanger_env.files.strict_json import parse
from boulanger_env.game.errors import BoulangerError

from .checks import check_actions, check_wins, read_rules, why_impossible
from .rows import ACTIONS, FORMAT, KINDS, SECONDS, Content, GameRow, Header

_LONGEST = 500  # characters of what is quoted
_LONGEST_NAME = 1000


def read(path: Path) -> Content:
    """Read a results file. A last line without a newline was cut off by a kill, and is ignored.

    Raises:
        BoulangerError: it is not a results file, or a game is impossible.
        OSError: it cannot be read.
    """
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    lines = data[:whole].split(b"\n")[:-1]
    try:
        content = Content(_read_header(parse(lines[0] if lines else data)), whole=whole)
        seeds, rules = frozenset(content.header.seeds), read_rules(content.header.settings)
        for number, line in enumerate(lines[1:], 2):
            try:
                row, seconds = _read_row(parse(line), content.header, rules)
                if row.seed not in seeds or not 0 <= row.place < content.header.count:
                    raise BoulangerError(f"place {row.place} with seed {row.seed} is a game of another run")
                if (row.seed, row.place) in content.rows:
                    raise BoulangerError(f"the deal at place {row.place} was played before with that seed")
            except BoulangerError as error:
                raise BoulangerError(f"line {number}: {error}") from None
            content.rows[row.seed, row.place] = row
            content.seconds += seconds
    except BoulangerError as error:
        raise _not_results(path, error) from None
    return content


def check_complete(content: Content, path: Path) -> None:
    """Reject a file with missing games, games that its header does not name, or impossible games.

    Raises:
        BoulangerError: it is such a file.
    """
    header = content.header
    if len(content.rows) < header.games:
        raise BoulangerError(
            f"{path} holds {len(content.rows)} of {header.games} games: the run was stopped; to resume it, start "
            "it again with the same settings"
        )
    rows = content.in_order()
    try:
        for i in range(0, header.games, header.count):
            codes = [row.code for row in rows[i : i + header.count]]
            if DealSet(header.deals, codes).fingerprint != header.fingerprint:
                raise BoulangerError(
                    f"its games are not those of the deal set with fingerprint {header.fingerprint}"
                )
        check_name(header.deals, codes)
        _check_games(rows, header)
    except BoulangerError as error:
        raise _not_results(path, error) from None


def check_part(content: Content, deals: Sequence[str], path: Path) -> None:
    """Reject a file of a run that was stopped if it has games of other deals, or impossible ones.

    Raises:
        BoulangerError: it is such a file.
    """
    rows = content.in_order()
    try:
        for row in rows:
            if row.code != deals[row.place]:
                raise BoulangerError(f"the game at place {row.place} is {row.code}, not {deals[row.place]}")
        _check_games(rows, content.header)
    except BoulangerError as error:
        raise _not_results(path, error) from None


def _check_games(rows: Sequence[GameRow], header: Header) -> None:
    check_wins(rows)
    if header.moves:
        check_actions(rows, read_rules(header.settings))


def _not_results(path: Path, error: BoulangerError) -> BoulangerError:
    return BoulangerError(f"{path} is not a file of benchmark results: {error}")


def _read_header(content: Any) -> Header:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BoulangerError(f"it does not say that its format is {FORMAT!r}")
    try:
        policy, deals = dict(_as(dict, content["policy"])), _as(dict, content["deals"])
        header = Header(
            policy=_as(str, policy.pop("name")),
            details=policy,
            seeds=tuple(checked_seed(seed) for seed in _as(list, content["seeds"])),
            deals=_as(str, deals["name"]),
            fingerprint=_as(str, deals["fingerprint"]),
            count=_as(int, deals["count"]),
            # A keyword that came later: the games were played with what is now its default.
            settings={**SETTINGS, **_as(dict, content["settings"])},
            version=_as(str, content["version"]),
            moves=_as(bool, content.get("moves", False)),
        )
    except KeyError as error:
        raise BoulangerError(f"{error} is missing") from None
    if not 1 <= len(header.policy) <= _LONGEST_NAME:
        raise BoulangerError(f"the policy's name has {len(header.policy)} characters")
    if header.games < 1 or len(set(header.seeds)) < len(header.seeds):
        raise BoulangerError(
            f"{header.count} deals with the seeds {_quoted(list(header.seeds))} are not a run"
        )
    return header


def _read_row(row: Any, header: Header, rules: Settings) -> tuple[GameRow, float]:
    fields = [*(name for name in KINDS if name != ACTIONS or header.moves), SECONDS]
    if not isinstance(row, dict) or row.keys() != set(fields):
        raise BoulangerError(f"a game is {_quoted(row)}: it must have {', '.join(fields)}")
    seconds = row[SECONDS]
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e12:
        raise BoulangerError(f"{_quoted(seconds)} is not a number of seconds")
    game = GameRow(**{name: _as(KINDS[name], row[name]) for name in fields[:-1]})
    if str(parse_code(game.code)) != game.code:
        raise BoulangerError(f"{game.code!r} is not how a game's code is written: {parse_code(game.code)}")
    said = why_impossible(game, rules)
    if said:
        raise BoulangerError(f"a game is {_quoted(row)}: no game can end like that: {said}")
    return game, float(seconds)


def _as(kind: type, value: Any) -> Any:
    # A bool is an int to isinstance, but not in JSON.
    if type(value) is not kind:
        raise BoulangerError(f"{_quoted(value)} is where a value of type {kind.__name__} must be")
    return value


def _quoted(value: Any) -> str:
    return printable(repr(value), _LONGEST)
