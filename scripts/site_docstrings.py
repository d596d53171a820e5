"""A Griffe extension: what our docstrings write for people and doctest, as the Markdown that mkdocstrings renders.

Examples (``>>>``) become code blocks, and roles such as ``:meth:`reset``` become links where their target is known.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|meth|func|mod|attr|data):`~?([^`]+)`")


def _fence_examples(text: str) -> str:
    """Put every run of lines that begins with ``>>>`` and ends with a blank line into a code block."""
    lines: list[str] = []
    indent: str | None = None
    for line in [*text.splitlines(), ""]:
        if indent is None and line.lstrip().startswith(">>> "):
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f"{indent}```pycon")
        elif indent is not None and not line.strip():
            lines.append(f"{indent}```")
            indent = None
        lines.append("" if line.strip() == "<BLANKLINE>" else line)
    return "\n".join(lines[:-1])


class Docstrings(griffe.Extension):
    """Rewrites each docstring once the package is loaded."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite one object's docstring."""
        if obj.docstring is None:
            return

        def link(match: re.Match[str]) -> str:
            name = match[1]
            try:
                path = name if name.startswith("boulanger_env.") else obj.resolve(name)
            except griffe.NameResolutionError:
                path = name
            return f'<autoref identifier="{path}" optional><code>{name.rsplit("boulanger_env.")[-1]}</code></autoref>'

        obj.docstring.value = _ROLE.sub(link, _fence_examples(obj.docstring.value))
