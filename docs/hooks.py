"""What MkDocs runs while it builds the site: tables made from the code, and files from the repository's root.

A page asks for a table with ``<!-- generated: NAME -->`` and for a file with ``<!-- include: FILE -->``, each on a
line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from boulanger_env.deals import load, set_names
from boulanger_env.envs import FEATURES, N_FEATURES, REWARDS

ROOT = Path(__file__).parent.parent

_GENERATED = re.compile(r"^<!-- generated: (\S+) -->$", re.MULTILINE)
_INCLUDE = re.compile(r"^<!-- include: (\S+) -->$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!\w+:|#)([^)]+)\)")


def table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    lines = [[*headings]]
    lines += [["---"] * len(lines[0]), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def features() -> str:
    """The ranges of the "features" observation."""
    rows: list[tuple[object, ...]] = [
        (f"{entry.start}-{entry.stop - 1}", f"`{name}`", f"`{entry.shape}`", entry.meaning)
        for name, entry in FEATURES.items()
    ]
    return table(("bits", "name", "shape", "meaning"), rows)


def n_features() -> str:
    """The size of the "features" observation, as a sum of its ranges."""
    sizes = [entry.stop - entry.start for entry in FEATURES.values()]
    return f"{' + '.join(map(str, sizes))} = **{N_FEATURES} bits**."


def rewards() -> str:
    """The presets of the reward."""
    names = list(asdict(REWARDS["score"]))
    rows = [
        (f'`"{preset}"`', *(f"{value:g}" for value in asdict(reward).values()))
        for preset, reward in REWARDS.items()
    ]
    return table(("preset", *(f"`{name}`" for name in names)), rows)


def deal_sets() -> str:
    """The built-in deal sets."""
    rows = []
    for name in set_names():
        deals = load(name)
        assert deals.labels is not None
        known = deals.labels.length[deals.labels.length > 0]
        shortest = f"{known.mean():.1f}" if len(known) else "not known"
        ends = f"`{deals[0]}` ... `{deals[len(deals) - 1]}`"
        rows.append(
            (
                f"`{name}`",
                len(deals),
                int(deals.labels.solvable.sum()),
                shortest,
                ends,
                f"`{deals.fingerprint}`",
            )
        )
    return table(
        ("name", "deals", "solvable", "mean shortest solution", "first and last", "fingerprint"), rows
    )


def cli() -> str:
    """The help of every command."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from boulanger_env.cli import app

    def shown(*words: str) -> str:
        result = CliRunner().invoke(app, [*words, "--help"], prog_name="boulanger", terminal_width=96)
        return f"```text\n{result.output.strip()}\n```"

    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    return "\n\n".join([shown(), *(f"## boulanger {name}\n\n{shown(name)}" for name in commands)])


GENERATED: dict[str, Callable[[], str]] = {
    "cli": cli,
    "deal-sets": deal_sets,
    "features": features,
    "n-features": n_features,
    "rewards": rewards,
}
"""Name in a page -> what makes the text."""


def _relink(match: re.Match[str]) -> str:
    """A link of a file in the root, as a page of the site must write it; one that leads out of the site loses it."""
    text, target = match.groups()
    page = target.removeprefix("docs/")
    if page != target:
        return f"[{text}]({page})"
    if target in ("CHANGELOG.md", "CONTRIBUTING.md"):
        return f"[{text}]({target.lower()})"
    return text


def fill(markdown: str) -> str:
    """A page with its tables and files put in, as people read it."""
    text = _INCLUDE.sub(
        lambda match: _LINK.sub(_relink, (ROOT / match[1]).read_text(encoding="utf-8")), markdown
    )
    text = _GENERATED.sub(lambda match: GENERATED[match[1]](), text)
    # Doctest needs the word where output has an empty line; readers do not.
    return re.sub(r"^<BLANKLINE>$", "", text, flags=re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """MkDocs's event: a page was read."""
    return fill(markdown)
