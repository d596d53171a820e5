"""README and documentation: every Python block runs, links lead somewhere, tables and pictures are the code's own."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import re
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import ROOT

from boulanger_env.agents import AGENTS

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]

# Fences in these languages run; the others are for reading.
RUN = ("python", "pycon")
SHOWN = ("bash", "text")

# Modules of this package that need a library of an extra.
NEEDS = {
    "boulanger_env.sb3": "stable_baselines3",
    "boulanger_env.training": "torch",
    "boulanger_env.benchmark": "scipy",
}

_FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")


class Block(NamedTuple):
    language: str
    line: int
    """Of its first line of code, from 1."""
    code: str


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1].strip(), text[: match.start(2)].count("\n") + 1, match[2])
        for match in _FENCE.finditer(text)
    ]


def missing_library(source: str) -> str | None:
    """The first library that a source imports and that is not installed."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            library = NEEDS.get(name, name.split(".")[0])
            if importlib.util.find_spec(library) is None:
                return library
    return None


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    # Line numbers of the page, so that a traceback leads there.
    exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), names)


def run_session(block: Block, page: Path, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.code, names, page_id(page), str(page), block.line - 1)
    report: list[str] = []
    flags = doctest.ELLIPSIS | doctest.REPORT_NDIFF
    doctest.DocTestRunner(optionflags=flags).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    names.update(test.globs)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_python_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        assert block.language in RUN + SHOWN, f"line {block.line}: a fence says what it holds: {RUN + SHOWN}"
        if block.language not in RUN:
            continue
        session = block.language == "pycon"
        examples = doctest.DocTestParser().get_examples(block.code) if session else []
        source = "".join(example.source for example in examples) if session else block.code
        assert source.strip(), f"line {block.line}: there is no code in this block"
        missing = missing_library(source)
        if missing:
            pytest.skip(f"line {block.line}: {missing} is not installed")
        (run_session if session else run_python)(block, page, names)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_to_files(page: Path) -> None:
    for target, _ in _LINK.findall(page.read_text(encoding="utf-8")):
        assert not target or (page.parent / target).exists(), target


@pytest.mark.parametrize(
    ("marker", "command"),
    [
        ("main-command", 'pip install -c constraints.txt -e ".[train]" && boulanger train'),
        ("test-command", 'pip install -c constraints.txt -e ".[test]" && pytest'),
    ],
)
def test_the_readme_has_its_two_commands(marker: str, command: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count(f"<!-- {marker} -->\n```bash\n{command}\n```\n") == 1


def docs_module(name: str) -> ModuleType:
    """A module in docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_pages_get_their_tables_and_files() -> None:
    pytest.importorskip("typer")
    hooks = docs_module("hooks")
    asked = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        asked |= set(re.findall(r"<!-- generated: (\S+) -->", text))
        filled = hooks.fill(text)
        assert "<!-- generated" not in filled
        assert "<!-- include" not in filled
    assert asked == set(hooks.GENERATED)


def test_features_are_listed_without_a_gap() -> None:
    rows = [re.match(r"\| (\d+)-(\d+) \|", line) for line in docs_module("hooks").features().splitlines()[2:]]
    ranges = [(int(row[1]), int(row[2])) for row in rows if row]
    assert len(ranges) == len(rows)
    assert [start for start, _ in ranges] == [0, *(last + 1 for _, last in ranges[:-1])]
    assert ranges[-1][1] == 2075


def test_every_agent_is_described() -> None:
    text = (DOCS / "agents.md").read_text(encoding="utf-8")
    for name in AGENTS:
        assert f"| `{name}` |" in text


OUTDATED = "is not what the code draws now: run python docs/make_pictures.py"


def alike(kept: Any, drawn: Any) -> bool:
    """Whether two pictures differ by no more than the rounding of edges."""
    if kept.shape != drawn.shape:
        return False
    apart = np.abs(kept.astype(np.int16) - drawn)
    return bool(apart.mean() < 0.2 and (apart > 64).mean() < 0.0002)


def test_pictures_are_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    from PIL import Image

    pictures = docs_module("make_pictures")
    for name, draw in pictures.TEXTS.items():
        assert (pictures.FOLDER / name).read_text(encoding="utf-8") == draw(), f"{name} {OUTDATED}"
    for name, paint in pictures.PICTURES.items():
        with Image.open(pictures.FOLDER / name) as kept:
            assert alike(np.asarray(kept.convert("RGB")), paint()), f"{name} {OUTDATED}"
    for name, write in pictures.FILMS.items():
        write(tmp_path / name)
        with Image.open(pictures.FOLDER / name) as kept, Image.open(tmp_path / name) as drawn:
            assert kept.n_frames == drawn.n_frames, f"{name} {OUTDATED}"
            for frame in range(kept.n_frames):
                kept.seek(frame)
                drawn.seek(frame)
                shown = [np.asarray(film.convert("RGB")) for film in (kept, drawn)]
                assert alike(*shown), f"{name}, frame {frame}, {OUTDATED}"


def test_every_picture_is_shown_and_made_by_the_script() -> None:
    pictures = docs_module("make_pictures")
    made = {
        *pictures.TEXTS,
        *pictures.PICTURES,
        *pictures.FILMS,
        *docs_module("make_screenshots").SCREENSHOTS,
    }
    assert made == {path.name for path in pictures.FOLDER.iterdir()}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"images/([\w.-]+)", text)) == made


def test_pictures_of_the_player_show_the_page_as_it_is_now() -> None:
    pytest.importorskip("scipy")
    pictures = docs_module("make_screenshots")
    page = pictures.player_page()
    for name in pictures.SCREENSHOTS:
        source = pictures.source_of((pictures.FOLDER / name).read_bytes())
        assert source == sha256(page.encode()).hexdigest(), (
            f"{name} is old: run python docs/make_screenshots.py"
        )
