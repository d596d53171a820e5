"""Damaged and hostile files: each is rejected with one line or read correctly, within a second."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from support.paths import DATA
from support.random_games import peer_games
from support.sample_replays import lost, won

from boulanger_env import BoulangerError, Game, Move
from boulanger_env.deals import DealSet, format_code, load, parse_code
from boulanger_env.play.session import read_board
from boulanger_env.replay import Replay, replay_of

SECONDS = 1.0
WORDS = [
    *(
        "\0",
        "\x1b]0;x\x07",
        "\u202e",
        "\ud800",
        "\ufeff",
        "\r",
        "\n\n",
        "\u2028",
        "ſ",
        "K",
        "６S",
        "♠",
        "é" * 40,
    ),
    *(
        "NaN",
        "-Infinity",
        "1e999",
        "-1",
        "9" * 25,
        "9" * 5000,
        "0x10",
        "1_0",
        "null",
        "true",
        "780",
        "781",
        "-0",
    ),
    *(
        '"',
        "\\",
        "\\u0000",
        "\\ud800",
        "{",
        "}",
        "[",
        "]",
        "[" * 5000,
        '{"a":' * 3000,
        ",",
        ":",
        "#",
        "*",
        "-",
    ),
    *('"code": "MS-C4-1",', '"settings": {},', '"n_cells": 3,', "Decks:", "Found: H-0", "FC: KS", "MS-C4-0"),
    *(
        "MS-C4-99999999999999999999",
        "BK1-C4-AAAAA1A",
        "BK1-C3-AAAAAAA",
        "10S",
        "- 5",
        "+ 0",
        "83 312",
        "AS " * 60,
    ),
]
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        0.0,
        1e308,
        2**31,
        2**63,
        780,
        "",
        "won",
        "\x1b[2J",
        "x" * 10_000,
        [],
        {},
        [[]],
    ),
    *(
        [0] * 5000,
        {"a": {"a": 1}},
        [None],
        ["733"],
        {"reward": "win"},
        {"max_episode_steps": 10**15},
        [[0, 0.5]],
    ),
]


class Kind(NamedTuple):
    files: Callable[[], list[str]]
    """Good files of this kind."""
    read: Callable[[Path], Any]
    write: Callable[[Any], str]
    """What was read as a text that is read as the same."""


@cache
def replays() -> list[str]:
    solved = next(game for game in peer_games() if len(game["moves"]) > 101)
    late = Game.from_code(solved["code"])
    for move in solved["moves"][:-1]:
        late.push(Move(*move))
    return [one.to_json() for one in (won(), lost(), replay_of(late, [Move(*solved["moves"][-1]).id]))]


@cache
def boards() -> list[str]:
    printed = (DATA / "peer_text" / "ms_c4_000005.txt").read_text().split("\n\n")
    return [str(Game.from_code("MS-C4-617")), *(text for text in printed if text.startswith("Foundations:"))]


@cache
def deal_sets() -> list[str]:
    labelled = load("c4-easy")[:30]
    lines = zip(labelled.codes, labelled.labels.lines(), strict=True)
    return ["# name: some deals\nMS-C4-1\nbk1-c2-boulang # a note\n", "\n".join(map(" ".join, lines))]


def written(deals: DealSet) -> str:
    rows = deals.labels.lines() if deals.labels is not None else [""] * len(deals)
    return "\n".join(
        [f"# name: {deals.name}", *(f"{code} {row}" for code, row in zip(deals, rows, strict=True))]
    )


def shown(replay: Replay) -> str:
    """A replay's text; what was read can also be printed and shown."""
    assert all(line.isprintable() for line in str(replay).splitlines())
    assert replay.to_html()
    return replay.to_json()


def read_code(path: Path) -> Any:
    return parse_code(path.read_bytes().decode("utf-8", "surrogateescape"))


CODES = ["MS-C4-617", "BK1-C4-AAAAA24", "ms-c2-00617", " bk1-c1-7777777 ", "MS-C1-8589934591"]

KINDS = {
    "replay": Kind(replays, Replay.load, shown),
    "board": Kind(boards, lambda path: read_board(path, 4), str),
    "set": Kind(deal_sets, load, written),
    "code": Kind(lambda: CODES, read_code, lambda code: format_code(*code)),
}


def mutated(text: str, random: Random) -> bytes:
    """A file with a few faults: values of JSON exchanged, pieces cut, doubled and exchanged, words and bytes put in."""
    if text.startswith("{") and random.random() < 0.4:
        text = json.dumps(exchanged(json.loads(text), random))
    for _ in range(random.randrange(3)):
        start, stop = sorted(random.randrange(len(text) + 1) for _ in range(2))
        stop = min(stop, start + random.choice([1, 3, 40, 10**6]))
        part = random.choice(["", text[start:stop] * 2, random.choice(WORDS), text[start:stop][::-1]])
        text = text[:start] + part + text[stop:]
    content = text.encode(random.choice(["utf-8"] * 8 + ["utf-16", "utf-8-sig"]), "surrogatepass")
    for _ in range(random.choice([0, 0, 0, 1, 5])):
        at = random.randrange(len(content) + 1)
        content = content[:at] + random.randbytes(random.randrange(3)) + content[at + random.randrange(3) :]
    return content


def exchanged(value: Any, random: Random) -> Any:
    """A JSON value with another one somewhere in it."""
    if random.random() < 0.15 or not value or not isinstance(value, (dict, list)):
        return random.choice(VALUES)
    if isinstance(value, dict):
        key = random.choice(list(value))
        return {**value, key: exchanged(value[key], random)}
    at = random.randrange(len(value))
    return [*value[:at], exchanged(value[at], random), *value[at + 1 :]]


def attack(kind: Kind, path: Path, content: bytes) -> bool:
    """Read a file; return whether it was accepted."""
    path.write_bytes(content)
    began = time.perf_counter()
    try:
        found = kind.read(path)
    except BoulangerError as error:
        message = str(error)
        assert message.isprintable(), message
        assert len(message) < 1500
        return False
    finally:
        assert time.perf_counter() - began < SECONDS
    path.write_text(kind.write(found), encoding="utf-8")
    assert kind.read(path) == found
    return True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [150, pytest.param(10_000, marks=pytest.mark.slow)])
def test_hostile_files_are_refused_or_read(kind: str, count: int, tmp_path: Path) -> None:
    good = KINDS[kind].files()
    for text in good:
        assert attack(KINDS[kind], tmp_path / "file", text.encode())
    taken = 0
    for seed in range(count):
        random = Random(f"{kind} {seed}")
        taken += attack(KINDS[kind], tmp_path / "file", mutated(random.choice(good), random))
    assert 0 < taken < count
