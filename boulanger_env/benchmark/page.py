"""A report as blocks, written as Markdown with pictures beside it, or as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from boulanger_env.files import write_text

from .report import Table, markdown_table


class Heading(NamedTuple):
    """A heading, of level 1 to 6."""

    text: str
    level: int = 2


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Rows(NamedTuple):
    """A table; the first columns hold text, the others numbers."""

    rows: Table
    text_columns: int = 1


class Items(NamedTuple):
    """A list."""

    items: tuple[str, ...]


class Picture(NamedTuple):
    """A picture: the name of its file, what it shows, and its SVG."""

    name: str
    shows: str
    svg: str


Block = Heading | Text | Rows | Items | Picture

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
table { display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: 0.3rem 0.7rem; text-align: right; white-space: nowrap; }
th.text, td.text { text-align: left; }
img { max-width: 100%; height: auto; background: #fff; }
code { background: #f2f2f2; padding: 0 0.2rem; }
"""


def write_markdown(path: Path, blocks: Iterable[Block]) -> None:
    """Write Markdown, and its pictures as SVG files beside it; each file is there whole or not at all."""
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"{'#' * block.level} {block.text}\n")
        elif isinstance(block, Text):
            parts.append(f"{block.text}\n")
        elif isinstance(block, Items):
            parts.append("".join(f"* {item}\n" for item in block.items))
        elif isinstance(block, Rows):
            parts.append(markdown_table(block.rows, block.text_columns))
        else:
            write_text(path.with_name(f"{block.name}.svg"), block.svg)
            parts.append(f"![{block.shows}]({block.name}.svg)\n")
    write_text(path, "\n".join(parts))


def write_html(path: Path, title: str, blocks: Iterable[Block]) -> None:
    """Write an HTML page with everything in it; it is there whole or not at all."""
    body = "\n".join(_html(block) for block in blocks)
    write_text(
        path,
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{html.escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n",
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{html.escape(block.text)}</h{block.level}>"
    if isinstance(block, Text):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Items):
        return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in block.items)}</ul>"
    if isinstance(block, Rows):
        lines = []
        for i, row in enumerate(block.rows):
            kind = "td" if i else "th"
            cells = (
                f"<{kind}{' class=text' if j < block.text_columns else ''}>{html.escape(cell)}</{kind}>"
                for j, cell in enumerate(row)
            )
            lines.append(f"<tr>{''.join(cells)}</tr>")
        return "<table>\n" + "\n".join(lines) + "\n</table>"
    # As an image of its own, so that the names inside two pictures cannot meet.
    data = base64.b64encode(block.svg.encode()).decode()
    return f'<p><img alt="{html.escape(block.shows)}" src="data:image/svg+xml;base64,{data}"></p>'


def _inline(text: str) -> str:
    """Text with `code` in it."""
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
