"""A report as blocks, written as Markdown with separate pictures, or as one self-contained HTML page."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from boulanger_env.escaping import in_markdown, printable
from boulanger_env.files import write_text

from .tables import Table, markdown_table


class Heading(NamedTuple):
    """A heading, of level 1 to 6."""

    text: str
    level: int = 2


class Code(NamedTuple):
    """Inline code."""

    text: str


class Link(NamedTuple):
    """An inline link to a file next to the report."""

    text: str
    file: str


Line = tuple[str | Code | Link, ...]
"""Strings are shown verbatim. The first must not come from a file or a name: Markdown gives a line's start meaning."""


class Text(NamedTuple):
    """A paragraph."""

    line: Line


class Rows(NamedTuple):
    """A table; the first columns hold text, the others numbers."""

    rows: Table
    text_columns: int = 1


class Items(NamedTuple):
    """A list."""

    items: tuple[Line, ...]


class Picture(NamedTuple):
    """A picture: the name of its file, what it shows, and its SVG."""

    name: str
    shows: str
    svg: str


Block = Heading | Text | Rows | Items | Picture

# In dark mode, pictures are inverted with their hues kept: white becomes the page's background.
_STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1c1c1c; --line: #ddd; --shade: #f2f2f2; --link: #0645ad; }
@media (prefers-color-scheme: dark) {
  :root { --page: #1f1f1f; --text: #e4e4e4; --line: #444; --shade: #303030; --link: #8ab4f8; }
  img { filter: invert(0.878) hue-rotate(180deg); }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
body { color: var(--text); background: var(--page); overflow-wrap: break-word; }
a { color: var(--link); }
table { border-collapse: collapse; font-size: 0.9em; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.5rem; text-align: right; white-space: nowrap; }
th { vertical-align: bottom; white-space: normal; }
th.text, td.text { text-align: left; white-space: normal; max-width: 18rem; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--page); }
.wide { overflow-x: auto; margin: 1rem 0; }
img { max-width: 100%; height: auto; }
code { background: var(--shade); padding: 0 0.2rem; }
@media (max-width: 40rem) {
  body { font-size: 15px; }
  th, td { padding: 0.3rem 0.4rem; }
  th.text, td.text { max-width: 9rem; }
}
"""


def write_markdown(path: Path, blocks: Iterable[Block]) -> None:
    """Write Markdown, and its pictures as SVG files next to it; each file is written whole or not at all."""
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"{'#' * block.level} {in_markdown(block.text)}\n")
        elif isinstance(block, Text):
            parts.append(f"{_line_in_markdown(block.line)}\n")
        elif isinstance(block, Items):
            parts.append("".join(f"* {_line_in_markdown(item)}\n" for item in block.items))
        elif isinstance(block, Rows):
            parts.append(markdown_table(block.rows, block.text_columns))
        else:
            write_text(path.with_name(f"{block.name}.svg"), block.svg)
            parts.append(f"![{block.shows}]({block.name}.svg)\n")
    write_text(path, "\n".join(parts))


def write_html(path: Path, title: str, blocks: Iterable[Block]) -> None:
    """Write a self-contained HTML page, whole or not at all."""
    body = "\n".join(_html(block) for block in blocks)
    write_text(
        path,
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{_shown(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n",
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_shown(block.text)}</h{block.level}>"
    if isinstance(block, Text):
        return f"<p>{_line_in_html(block.line)}</p>"
    if isinstance(block, Items):
        return f"<ul>{''.join(f'<li>{_line_in_html(item)}</li>' for item in block.items)}</ul>"
    if isinstance(block, Rows):
        lines = []
        for i, row in enumerate(block.rows):
            kind = "td" if i else "th"
            cells = (
                f"<{kind} class=text>{_shown(cell)}</{kind}>"
                if j < block.text_columns
                # An interval goes below its number.
                else f"<{kind}>{_shown(cell).replace(' [', '<br>[')}</{kind}>"
                for j, cell in enumerate(row)
            )
            lines.append(f"<tr>{''.join(cells)}</tr>")
        # Scrollable parts can be reached with the keyboard.
        return '<div class="wide" tabindex="0"><table>\n' + "\n".join(lines) + "\n</table></div>"
    # As a separate image, so that ids inside two pictures cannot clash.
    data = base64.b64encode(block.svg.encode()).decode()
    return f'<p><img alt="{_shown(block.shows)}" src="data:image/svg+xml;base64,{data}"></p>'


def _shown(text: str) -> str:
    return html.escape(printable(text))


def _line_in_html(line: Line) -> str:
    return "".join(
        _shown(part)
        if isinstance(part, str)
        else f"<code>{_shown(part.text)}</code>"
        if isinstance(part, Code)
        else f'<a href="{html.escape(quote(part.file))}">{_shown(part.text)}</a>'
        for part in line
    )


def _line_in_markdown(line: Line) -> str:
    return "".join(
        in_markdown(part)
        if isinstance(part, str)
        else f"`{printable(part.text)}`"
        if isinstance(part, Code)
        else f"[{in_markdown(part.text)}]({quote(part.file)})"
        for part in line
    )
