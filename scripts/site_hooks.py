"""What MkDocs runs while it builds the site: files from the repository's root, and the full Python reference.

Pages are kept as they read on GitHub. A line ``[FILE](../FILE) <!-- include -->`` asks for a file. What
``make_docs.py`` wrote between ``<!-- reference: NAME -->`` and ``<!-- end -->`` is a short reference; the site has
mkdocstrings' own instead.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

REFERENCE = re.compile(r"^<!-- reference: (\S+)(.*?) -->\n(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
"""Name, options of mkdocstrings as ``key=value``, and the text."""

_INCLUDE = re.compile(r"^\[(\S+)\]\(\.\./\1\) <!-- include -->$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!\w+:|#)([^)]+)\)")


def _relink(match: re.Match[str]) -> str:
    """A link of a file in the root, as a page of the site must write it; one that leads out of the site loses it."""
    text, target = match.groups()
    page = target.removeprefix("docs/")
    if page != target:
        return f"[{text}]({page})"
    if target in ("CHANGELOG.md", "CONTRIBUTING.md"):
        return f"[{text}]({target.lower()})"
    return text


def _directive(match: re.Match[str]) -> str:
    options = "".join(f"\n      {option.replace('=', ': ')}" for option in match[2].split())
    return f"::: {match[1]}" + (f"\n    options:{options}" if options else "")


def fill(markdown: str) -> str:
    """A page as the site shows it."""
    text = _INCLUDE.sub(
        lambda match: _LINK.sub(_relink, (ROOT / match[1]).read_text(encoding="utf-8")), markdown
    )
    text = REFERENCE.sub(_directive, text)
    # Doctest needs the word where output has an empty line; readers do not.
    return re.sub(r"^<BLANKLINE>$", "", text, flags=re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """MkDocs's event: a page was read."""
    return fill(markdown)
