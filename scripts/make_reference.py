"""The Python reference as short Markdown that reads on GitHub: signatures, docstrings, and a table of members."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parent.parent

_ROLE = re.compile(r":(?:class|meth|func|mod|attr|data):`~?([^`]+)`")
_LISTS = {
    griffe.DocstringSectionKind.parameters: "Arguments",
    griffe.DocstringSectionKind.attributes: "Attributes",
    griffe.DocstringSectionKind.returns: "Returns",
    griffe.DocstringSectionKind.yields: "Yields",
    griffe.DocstringSectionKind.raises: "Raises",
}
_FIELDS = re.compile(r"NamedTuple|TypedDict")
"""Bases of classes whose fields are their arguments."""
_WIDTH = 100
"""Characters of a signature on one line."""


@cache
def _package() -> Any:
    return griffe.load(
        "boulanger_env",
        search_paths=[ROOT],
        docstring_parser="google",
        docstring_options={"warn_unknown_params": False, "warnings": False},
    )


def reference(path: str, level: int = 3) -> str:
    """What a public name of the package is: its signature, its docstring, its members.

    Args:
        path: the name, from ``boulanger_env`` on.
        level: of its heading.
    """
    found = _package()[path.removeprefix("boulanger_env.")]
    thing = found.final_target if found.is_alias else found
    parts = [
        f'<a id="{path}"></a>',
        f"{'#' * level} `{thing.name}`",
        f"```python\n{_signature(thing, types=True)}\n```",
        *_docstring(thing),
    ]
    # A docstring's own headings begin with two signs, whatever they stand under.
    parts = [
        re.sub(r"^##", "#" * (level + 1), part, flags=re.MULTILINE) if i > 1 else part
        for i, part in enumerate(parts)
    ]
    if thing.is_class:
        parts += [*_own_docstring(thing.members.get("__init__")), *_members(thing, path)]
    return "\n\n".join(parts)


def _own_docstring(method: Any) -> list[str]:
    return _docstring(method) if method is not None and method.docstring else []


def _signature(thing: Any, types: bool) -> str:
    if thing.is_attribute:
        return f"{thing.name}: {thing.annotation}" if types and thing.annotation else thing.name
    words = _fields(thing) if thing.is_class and _is_record(thing) else _parameters(thing, types)
    end = f" -> {thing.returns}" if types and thing.is_function and thing.returns else ""
    line = f"{thing.name}({', '.join(words)}){end}"
    if not types or len(line) <= _WIDTH:
        return line
    return f"{thing.name}(\n" + "".join(f"    {word},\n" for word in words) + f"){end}"


def _is_record(thing: Any) -> bool:
    return any(_FIELDS.search(str(base)) for base in thing.bases)


def _fields(thing: Any) -> list[str]:
    return [
        f"{name}: {one.annotation}" + (f" = {one.value}" if one.value is not None else "")
        for name, one in thing.members.items()
        if one.is_attribute
        and one.annotation is not None
        and not name.startswith("_")
        and "property" not in one.labels
    ]


def _parameters(thing: Any, types: bool) -> list[str]:
    words: list[str] = []
    for one in thing.parameters:
        if one.name in ("self", "cls"):
            continue
        kind = one.kind.value
        if kind == "keyword-only" and not any(word.startswith("*") for word in words):
            words.append("*")
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        typed = f": {one.annotation}" if types and one.annotation is not None else ""
        equals = " = " if typed else "="
        default = f"{equals}{one.default}" if one.default is not None and not stars else ""
        words.append(f"{stars}{one.name}{typed}{default}")
    return words


def _plain(text: str) -> str:
    """A docstring's text as Markdown: roles as code."""
    return _ROLE.sub(lambda match: f"`{match[1].removeprefix('boulanger_env.')}`", text.strip())


def _docstring(thing: Any) -> list[str]:
    """The sections of a docstring. Examples are left out: the site has them, and doctest runs them."""
    parts: list[str] = []
    for section in thing.docstring.parsed if thing.docstring else []:
        if section.kind is griffe.DocstringSectionKind.text:
            text = re.split(r"^>>> ", section.value, maxsplit=1, flags=re.MULTILINE)[0]
            parts += [_plain(text)] if text.strip() else []
        elif section.kind in _LISTS:
            rows = [f"- {_entry(section.kind, one)}" for one in section.value]
            parts += [f"**{_LISTS[section.kind]}**", "\n".join(rows)]
        elif section.kind is griffe.DocstringSectionKind.admonition:
            parts.append(f"**{section.title}**: {_plain(section.value.description)}")
    return parts


def _entry(kind: Any, one: Any) -> str:
    text = " ".join(_plain(one.description).split())
    if kind in (griffe.DocstringSectionKind.returns, griffe.DocstringSectionKind.yields):
        return text
    return f"`{one.annotation if kind is griffe.DocstringSectionKind.raises else one.name}`: {text}"


def _members(thing: Any, path: str) -> list[str]:
    rows = []
    for name, member in thing.members.items():
        if name.startswith("_") or member.is_alias or not member.docstring:
            continue
        first = _plain(member.docstring.value).split("\n\n")[0]
        about = " ".join(first.split()).replace("|", "\\|")
        rows.append(f'| <a id="{path}.{name}"></a>`{_signature(member, types=False)}` | {about} |')
    return ["\n".join(["| member | |", "| --- | --- |", *rows])] if rows else []
