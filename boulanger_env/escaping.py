"""Escaping text from files, names or command lines, so that a terminal, Markdown or TeX shows it literally.

HTML uses the standard library's ``html.escape``, rich its ``Text``."""

from __future__ import annotations

LONGEST_NAME = 60

# With a backslash where Markdown's dialects agree on that, else as an entity, which all of them read.
_MARKDOWN = {c: f"\\{c}" for c in r"\`*_~$|"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def printable(text: str, longest: int | None = None) -> str:
    r"""A text on one line, with control characters, direction marks and lone surrogates escaped for a terminal.

    Args:
        text: any text.
        longest: shorten it to this many characters, the last one an ellipsis.

    >>> printable("a\x1b]0;title\x07\nb"), printable("abcdef", 4)
    ('a\\x1b]0;title\\x07\\nb', 'abc…')
    """
    if longest is not None and len(text) > longest:
        text = f"{text[: longest - 1]}…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def in_markdown(text: str) -> str:
    r"""A text escaped for Markdown, within a line or a table cell; it must not begin a line.

    >>> in_markdown("a|b <i> $x$ _mine_")
    'a\\|b &lt;i&gt; \\$x\\$ \\_mine\\_'
    """
    # Brackets alone do not make a link, and intervals stay readable.
    return "".join(_MARKDOWN.get(c, c) for c in printable(text)).replace("](", r"]\(")
