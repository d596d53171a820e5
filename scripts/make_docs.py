"""Write the parts of the documentation that are made from the code: ``python scripts/make_docs.py``.

A part stands between ``<!-- generated: NAME -->`` or ``<!-- reference: NAME -->`` and ``<!-- end -->``, so that
it can be read on GitHub; a test fails when one is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tomllib
from make_reference import Reference

from boulanger_env.deals import load, set_names
from boulanger_env.envs import FEATURES, N_FEATURES, REWARDS

DOCS = Path(__file__).parent.parent / "docs"

PART = re.compile(
    r"^<!-- (generated|reference): (\S+)(.*?) -->\n(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL
)
"""Kind, name, options, text."""


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


EXTRAS = {
    "cli": "the command `boulanger`",
    "render": "pictures, GIFs and the window",
    "video": "MP4 files, and Gymnasium's `RecordVideo`",
    "bench": "benchmarks",
    "ray": "benchmarks and labels on [more than one machine](benchmark.md#more-than-one-machine)",
    "train": "training",
    "test": "running the tests",
    "docs": "building the [documentation](index.md) as a site",
    "peers": "comparing the speed with other environments",
    "dev": "work on the package",
}
"""What each extra is for."""


def extras() -> str:
    """The extras, what they install, and what for."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = project["optional-dependencies"]
    assert set(found) == set(EXTRAS), set(found) ^ set(EXTRAS)

    def brings(needs: list[str]) -> str:
        words: list[str] = []
        for need in needs:
            name, own = re.match(r"([\w-]+)(?:\[([\w,-]+)\])?", need).groups()  # type: ignore[union-attr]
            words += [f"`{extra}`" for extra in own.split(",")] if name == project["name"] else [name]
        return ", ".join(words)

    rows = [("none", brings(project["dependencies"]), "the game, the environments and the solver")]
    rows += [(f"`{name}`", brings(needs), EXTRAS[name]) for name, needs in found.items()]
    return table(("extra", "brings", "for"), rows)


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
    "extras": extras,
    "features": features,
    "n-features": n_features,
    "rewards": rewards,
}
"""Name in a page -> the function that makes the text."""


def fill(text: str, page: str) -> str:
    """A page's text with all its parts made again.

    Args:
        text: what it says now.
        page: the name of its file in ``docs/``.
    """
    reference = Reference(page)

    def made(match: re.Match[str]) -> str:
        kind, name, options, _ = match.groups()
        level = re.search(r"heading_level=(\d)", options)
        if kind == "generated":
            text = GENERATED[name]()
        else:
            text = reference.write(name, int(level[1])) if level else reference.write(name)
        return f"<!-- {kind}: {name}{options} -->\n\n{text}\n\n<!-- end -->"

    return PART.sub(made, text)


def main() -> None:
    for path in sorted(DOCS.glob("*.md")):
        old = path.read_text(encoding="utf-8")
        new = fill(old, path.name)
        if new != old:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
