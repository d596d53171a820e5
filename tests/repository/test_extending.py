"""The page about extending: its edits, applied to a copy of the package, and its examples, run there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

PAGE = ROOT / "docs" / "extending.md"
_FENCE = re.compile(r"^```(\w+)\n((?:.*\n)*?)^```$", re.MULTILINE)
MOST_PLACES = 3


def sections() -> dict[str, list[tuple[str, str]]]:
    """The fences of each section: language and content."""
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {title: _FENCE.findall(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def edited_files(diff: str) -> dict[str, tuple[bool, list[list[str]]]]:
    """For each file of a diff whether it is new, and its pieces, lists of lines with their signs."""
    files: dict[str, tuple[bool, list[list[str]]]] = {}
    pieces: list[list[str]] = []
    for line in diff.splitlines():
        if line == "---":
            pieces.append([])
        elif line.startswith(("--- ", "+++ ")):
            pieces = [[]]
            files[line[4:]] = (line[0] == "+", pieces)
        else:
            pieces[-1].append(line)
    return files


def apply(diff: str, root: Path) -> None:
    for name, (new, pieces) in edited_files(diff).items():
        path = root / name
        assert path.exists() is not new, name
        text = "" if new else path.read_text(encoding="utf-8")
        for piece in pieces:
            assert all(line[:1] in ("+", "-", " ", "") for line in piece), piece
            before = "".join(f"{line[1:]}\n" for line in piece if line[:1] != "+")
            after = "".join(f"{line[1:]}\n" for line in piece if line[:1] != "-")
            assert new or text.count(before) == 1, f"{name} has {text.count(before)} times:\n{before}"
            text = after if new else text.replace(before, after)
        path.write_text(text, encoding="utf-8")


def test_no_list_is_longer_than_three_places() -> None:
    table = dict(
        re.findall(r"^\| \[(.+?)\]\(.+?\) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    )
    found = sections()
    assert [title.lower() for title in found] == list(table)
    for title, fences in found.items():
        places = [
            file for language, text in fences if language == "diff" for file in edited_files(text).items()
        ]
        assert 1 <= len(places) <= MOST_PLACES
        named = table[title.lower()]
        for name, (new, _) in places:
            assert ("a file of its own" if new else name.removeprefix("boulanger_env/")) in named
        assert len(named.split(", ")) == len(places)


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its scripts with all edits of the page."""
    root = tmp_path_factory.mktemp("extended")
    for folder in ("boulanger_env", "scripts"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for fences in sections().values():
        for language, text in fences:
            if language == "diff":
                apply(text, root)
    return root


@pytest.mark.parametrize("title", sections())
def test_an_example_runs_after_the_edits(title: str, extended: Path) -> None:
    pytest.importorskip("PIL")
    pytest.importorskip("stable_baselines3")
    examples = [text for language, text in sections()[title] if language == "python"]
    assert len(examples) == 1
    run = subprocess.run(
        [sys.executable, "-c", examples[0]],
        cwd=extended,
        env={**os.environ, "PYTHONPATH": str(extended)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
