"""README and documentation: every Python block runs, every link works, tables and pictures match the code."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.pages import DOCS, FENCE, LIBRARIES, PAGES, Block, blocks, page_id
from support.paths import ROOT
from support.scripts import script

from boulanger_env.agents import AGENTS

# Fences in these languages run; the others are for reading.
RUN = ("python", "pycon")
SHOWN = ("bash", "text", "diff")

# Modules of this package that need a library of an extra.
NEEDS = {
    "boulanger_env.sb3": "stable_baselines3",
    "boulanger_env.training": "torch",
    "boulanger_env.benchmark": "scipy",
}

_LINK = re.compile(r"\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")


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


def as_doctest(code: str) -> str:
    """A session as people see it, with the word that doctest wants for an empty line of output."""
    lines = code.split("\n")
    return "\n".join(
        "<BLANKLINE>" if not line and after and not after.startswith(">>> ") else line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
    )


def run_session(block: Block, page: Path, names: dict[str, Any]) -> None:
    code = as_doctest(block.code)
    test = doctest.DocTestParser().get_doctest(code, names, page_id(page), str(page), block.line - 1)
    report: list[str] = []
    flags = doctest.ELLIPSIS | doctest.REPORT_NDIFF
    doctest.DocTestRunner(optionflags=flags).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    names.update(test.globs)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_blocks_say_what_they_hold(page: Path) -> None:
    for block in blocks(page):
        assert block.language in RUN + SHOWN, f"line {block.line}: a fence says what it holds: {RUN + SHOWN}"


@pytest.mark.parametrize(
    ("page", "block"),
    [
        pytest.param(page, block, id=f"{page_id(page)}:{block.line}")
        for page in PAGES
        if page != LIBRARIES  # see test_libraries.py
        if page.name != "extending.md"  # its blocks run after the edits that it shows: test_extending.py
        for block in blocks(page)
        if block.language in RUN
    ],
)
def test_every_python_block_runs_alone(
    page: Path, block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People copy one block, not the page."""
    monkeypatch.chdir(tmp_path)
    session = block.language == "pycon"
    examples = doctest.DocTestParser().get_examples(as_doctest(block.code)) if session else []
    source = "".join(example.source for example in examples) if session else block.code
    assert source.strip(), f"line {block.line}: there is no code in this block"
    missing = missing_library(source)
    if missing:
        pytest.skip(f"line {block.line}: {missing} is not installed")
    (run_session if session else run_python)(block, page, {"__name__": "page"})


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


_SITE_ONLY = re.compile(r"^(?:!!!|\?\?\?|===|:::) ?.*|^=+ +=.*|!\[[^]]*\]\([^)]*\)\{[^}]*\}", re.MULTILINE)
"""Admonitions, tabs, tables of reStructuredText and lists of attributes: on GitHub they are signs in the text."""


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_pages_read_well_on_github(page: Path) -> None:
    assert _SITE_ONLY.findall(prose(page)) == []


def anchors(page: Path) -> set[str]:
    """What a link to a page can name after ``#``: its headings, as GitHub and as the site make them, and its ids."""
    text = prose(page)
    found = set(re.findall(r'<a id="([^"]+)"', text))
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
        github, site = re.sub(r"\s", "-", words), re.sub(r"[-\s]+", "-", words)
        found |= {github} if github == site else set()
    return found


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(prose(page)):
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), f"{path.name} has no heading #{anchor}"


def test_the_readme_leads_to_every_page() -> None:
    linked = {target for target, _ in _LINK.findall(prose(ROOT / "README.md"))}
    own = {"index.md", "changelog.md", "contributing.md"}  # the site's, for what the root has itself
    assert {page_id(page) for page in DOCS.glob("*.md") if page.name not in own} <= linked


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


def test_every_agent_is_described() -> None:
    text = (DOCS / "agents.md").read_text(encoding="utf-8")
    for name in AGENTS:
        assert f"| `{name}` |" in text


OUTDATED = "is not what the code draws now: run python scripts/make_pictures.py"


def alike(kept: Any, drawn: Any) -> bool:
    """Whether two pictures differ by no more than the rounding of edges."""
    if kept.shape != drawn.shape:
        return False
    apart = np.abs(kept.astype(np.int16) - drawn)
    return bool(apart.mean() < 0.2 and (apart > 64).mean() < 0.0002)


def test_pictures_are_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    from PIL import Image

    pictures = script("make_pictures")
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
    pictures = script("make_pictures")
    made = {
        *pictures.TEXTS,
        *pictures.PICTURES,
        *pictures.FILMS,
        *script("make_screenshots").SCREENSHOTS,
        *script("make_plots").PLOTS,
    }
    assert made == {path.name for path in pictures.FOLDER.iterdir()}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"images/([\w.-]+)", text)) == made


def test_pictures_of_the_player_show_the_page_as_it_is_now() -> None:
    pytest.importorskip("scipy")
    pictures = script("make_screenshots")
    page = pictures.player_page()
    for name in pictures.SCREENSHOTS:
        source = pictures.source_of((pictures.FOLDER / name).read_bytes())
        assert source == sha256(page.encode()).hexdigest(), (
            f"{name} is old: run python scripts/make_screenshots.py"
        )


def test_plots_show_the_numbers_as_they_are_now() -> None:
    pytest.importorskip("scipy")
    made = script("make_plots")
    for name, plot in made.PLOTS.items():
        text = (made.FOLDER / name).read_text(encoding="utf-8")
        assert made.digest(plot) in text, f"{name} is old: run python scripts/make_plots.py"
