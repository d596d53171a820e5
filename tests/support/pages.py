"""The pages of the documentation and their fenced blocks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from .paths import ROOT

DOCS = ROOT / "docs"
LIBRARIES = DOCS / "libraries.md"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]

FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)
# Made from docstrings, whose examples are tests already.
_REFERENCE = re.compile(r"^<!-- reference: (?:.*\n)*?<!-- end -->$", re.MULTILINE)


class Block(NamedTuple):
    language: str
    line: int
    """Of its first line of code, from 1."""
    code: str


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    text = _REFERENCE.sub(lambda part: "\n" * part[0].count("\n"), page.read_text(encoding="utf-8"))
    return [
        Block(match[1].strip(), text[: match.start(2)].count("\n") + 1, match[2])
        for match in FENCE.finditer(text)
    ]
