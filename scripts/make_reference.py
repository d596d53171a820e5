"""The Python reference as Markdown that reads on GitHub and on the site: signatures, docstrings, members."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import griffe

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

_MARKER = re.compile(r"^<!-- reference: (\S+)", re.MULTILINE)
_ROLE = re.compile(r":(?:class|meth|func|mod|attr|data):`~?([^`]+)`")
_LISTS = {
    griffe.DocstringSectionKind.parameters: "Arguments",
    griffe.DocstringSectionKind.attributes: "Attributes",
    griffe.DocstringSectionKind.returns: "Returns",
    griffe.DocstringSectionKind.yields: "Yields",
    griffe.DocstringSectionKind.raises: "Raises",
}
_SINGLE = (griffe.DocstringSectionKind.returns, griffe.DocstringSectionKind.yields)
_FIELDS = re.compile(r"NamedTuple|TypedDict")
"""Bases of classes whose fields are their arguments."""
_NAMED = re.compile(r"Error|Exception|Enum")
"""Bases of classes of which users do not build objects."""
_SPECIAL = ("__call__", "__str__")
"""Special methods that are part of a class's documented interface."""
_WIDTH = 100
"""Characters of a signature on one line."""
_SHORT = 24
"""Characters of a signature in a table, which has to fit a phone."""


@cache
def _package() -> Any:
    return griffe.load(
        "boulanger_env",
        search_paths=[ROOT],
        docstring_parser="google",
        docstring_options={
            "returns_multiple_items": False,
            "warn_unknown_params": False,
            "warnings": False,
        },
    )


def _target(path: str) -> Any:
    found = _package()[path.removeprefix("boulanger_env.")]
    return found.final_target if found.is_alias else found


class _Place(NamedTuple):
    """Where a name is documented."""

    page: str
    anchor: str


@cache
def _places() -> dict[str, _Place]:
    """Every documented object, by the path of its definition."""
    places = {}
    for page in sorted(DOCS.glob("*.md")):
        for path in _MARKER.findall(page.read_text(encoding="utf-8")):
            thing = _target(path)
            places[thing.path] = _Place(page.name, path)
            for name, _ in _documented_members(thing):
                places[f"{thing.path}.{name}"] = _Place(page.name, f"{path}.{name}")
    return places


def _documented_members(thing: Any) -> list[tuple[str, Any]]:
    if not thing.is_class:
        return []
    return [
        (name, member)
        for name, member in thing.members.items()
        if (name in _SPECIAL or not name.startswith("_")) and not member.is_alias and member.docstring
    ]


class Reference:
    """Writes the reference of one page.

    Args:
        page: the name of the page's file: a link to a name on the same page needs no file.
    """

    def __init__(self, page: str) -> None:
        self._page = page

    def write(self, path: str, level: int = 3) -> str:
        """Describe a public name of the package: its signature, its docstring, its members.

        Args:
            path: the name, from ``boulanger_env`` on.
            level: of its heading.
        """
        thing = _target(path)
        parts = [*self._head(thing, path, thing.name, level), *self._docstring(thing, level)]
        if thing.is_class:
            init = thing.members.get("__init__")
            parts += self._docstring(init, level) if init is not None and init.docstring else []
            parts += self._members(thing, path, level)
        return "\n\n".join(parts)

    def _head(self, thing: Any, path: str, title: str, level: int) -> list[str]:
        return [
            f'<a id="{path}"></a>',
            f"{'#' * level} `{title}`",
            f"```python\n{_signature(thing, types=True)}\n```",
        ]

    def _members(self, thing: Any, path: str, level: int) -> list[str]:
        """A table of all members, then a section for each that has more to say than its row."""
        rows, sections = [], []
        for name, member in _documented_members(thing):
            here = f"{path}.{name}"
            signature = _signature(member, types=False)
            body = self._docstring(member, level + 1)
            if len(body) > 1 or len(signature) > _SHORT:
                shown = f"[`{name}{'()' * member.is_function}`](#{here})"
                sections += [*self._head(member, here, f"{thing.name}.{name}", level + 1), *body]
            else:
                shown = f'<a id="{here}"></a>`{signature}`'
            rows.append(f"| {shown} | {_cell(body[0])} |")
        return ["\n".join(["| member | |", "| --- | --- |", *rows]), *sections] if rows else []

    def _text(self, thing: Any, text: str) -> str:
        """A docstring's text as Markdown: roles become code, with a link where the name is documented."""

        def link(match: re.Match[str]) -> str:
            name = match[1]
            try:
                path = name if name.startswith("boulanger_env.") else thing.resolve(name)
                place = _places().get(_target(path).path)
            except (griffe.NameResolutionError, KeyError, AttributeError):
                place = None
            code = f"`{name.removeprefix('boulanger_env.')}`"
            if place is None:
                return code
            return f"[{code}]({'' if place.page == self._page else place.page}#{place.anchor})"

        return _ROLE.sub(link, text.strip())

    def _docstring(self, thing: Any, level: int) -> list[str]:
        """The sections of a docstring. Its own headings, which begin with ``##``, go below ``level``."""
        parts: list[str] = []
        for section in thing.docstring.parsed if thing.docstring else []:
            if section.kind is griffe.DocstringSectionKind.text:
                parts += self._paragraphs(thing, section.value, level)
            elif section.kind is griffe.DocstringSectionKind.examples:
                code = [text for kind, text in section.value if kind is griffe.DocstringSectionKind.examples]
                parts += [_session(text) for text in code]
            elif section.kind in _LISTS:
                entries = [self._entry(thing, section.kind, one) for one in section.value]
                title = f"**{_LISTS[section.kind]}**"
                if section.kind in _SINGLE:
                    parts += [f"{title}: {entry}" for entry in entries]
                else:
                    parts += [title, "\n".join(f"- {entry}" for entry in entries)]
            elif section.kind is griffe.DocstringSectionKind.admonition:
                parts.append(f"**{section.title}**: {self._text(thing, section.value.description)}")
        return parts

    def _paragraphs(self, thing: Any, text: str, level: int) -> list[str]:
        parts = []
        for paragraph in re.split(r"\n{2,}", text.strip()):
            if paragraph.startswith(">>> "):
                parts.append(_session(paragraph))
            else:
                parts.append(re.sub(r"^##(?=#* )", "#" * (level + 1), self._text(thing, paragraph)))
        return parts

    def _entry(self, thing: Any, kind: Any, one: Any) -> str:
        text = " ".join(self._text(thing, one.description).split())
        if kind in _SINGLE:
            return text
        return f"`{one.annotation if kind is griffe.DocstringSectionKind.raises else one.name}`: {text}"


def _session(text: str) -> str:
    """An example as a block of code, as Python prints it: doctest needs a word where a line of output is empty."""
    shown = re.sub(r"^<BLANKLINE>$", "", text.strip(), flags=re.MULTILINE)
    return f"```pycon\n{shown}\n```"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _signature(thing: Any, types: bool) -> str:
    if thing.is_attribute:
        return f"{thing.name}: {thing.annotation}" if types and thing.annotation else thing.name
    if thing.is_class and any(_NAMED.search(str(base)) for base in thing.bases):
        return f"class {thing.name}({', '.join(map(str, thing.bases))})"
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
