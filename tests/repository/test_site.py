"""The documentation as a site, and the parts of it that are made from the code. Needs the extra ``docs``."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
from support.paths import ROOT
from support.scripts import script

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


@pytest.fixture
def docs() -> ModuleType:
    """The script that writes the parts made from the code."""
    pytest.importorskip("griffe")
    pytest.importorskip("typer")
    pytest.importorskip("tomllib", reason="Python 3.11 brings it")
    return script("make_docs")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_parts_made_from_the_code_are_up_to_date(page: Path, docs: ModuleType) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(docs.PART.findall(text)) == text.count("<!-- end -->")
    assert docs.fill(text, page.name) == text, f"{page.name} is old: run python scripts/make_docs.py"


def test_every_part_is_shown_once(docs: ModuleType) -> None:
    parts = [part[:2] for page in PAGES for part in docs.PART.findall(page.read_text(encoding="utf-8"))]
    assert len(parts) == len(set(parts))
    assert {name for kind, name in parts if kind == "generated"} == set(docs.GENERATED)


def test_features_are_listed_without_a_gap(docs: ModuleType) -> None:
    rows = [re.match(r"\| (\d+)-(\d+) \|", line) for line in docs.features().splitlines()[2:]]
    ranges = [(int(row[1]), int(row[2])) for row in rows if row]
    assert len(ranges) == len(rows)
    assert [start for start, _ in ranges] == [0, *(last + 1 for _, last in ranges[:-1])]
    assert ranges[-1][1] == 2075


def test_the_reference_says_what_the_docstring_says() -> None:
    """Signature, text, links, examples without doctest's words, and a section for a method that takes explaining."""
    pytest.importorskip("griffe")
    text = script("make_reference").Reference("api.md").write("boulanger_env.Game")
    assert "```python\nGame(board: Board," in text
    assert "[`from_code`](#boulanger_env.Game.from_code)" in text
    assert '>>> game = Game.from_code("MS-C4-1")' in text
    assert "| [`push()`](#boulanger_env.Game.push) | Play a move. |" in text
    assert (
        "#### `Game.push`\n\n```python\npush(move: Move) -> None\n```\n\nPlay a move.\n\n**Raises**" in text
    )
    assert '| <a id="boulanger_env.Game.n_cells"></a>`n_cells` |' in text
    elsewhere = script("make_reference").Reference("rendering.md").write("boulanger_env.Game")
    assert "[`from_code`](api.md#boulanger_env.Game.from_code)" in elsewhere
    board = script("make_reference").Reference("api.md").write("boulanger_env.render.render_ansi")
    assert "home 0/52\n\n a" in board
    assert "BLANKLINE" not in board


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r'= "([\w-]+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(page.name for page in PAGES)


class Html(HTMLParser):
    """What a page links to, what can be linked to in it, and what it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loads: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loads += [given[name] for name in ("src",) if name in given]
        self.loads += [given["href"]] if tag == "link" and "href" in given else []


def dead_links(site: Path) -> list[str]:
    """Links of a built site to missing files or anchors, and anything that it loads from other servers."""
    pages = {path.resolve(): Html(path) for path in site.rglob("*.html")}
    dead = []
    for path, page in pages.items():
        if path.name == "404.html":  # shown at any address, so its links are absolute
            continue
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data") or parts.netloc:
                dead += [f"{path}: loads {link}"] if link in page.loads and parts.scheme != "data" else []
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            fragment = unquote(parts.fragment)
            if not target.is_file():
                dead.append(f"{path}: {link}")
            # "__" begins the places that the theme's own script fills.
            elif fragment and not fragment.startswith("__") and target in pages:
                dead += [f"{path}: {link}"] if fragment not in pages[target].anchors else []
    return dead


def build(project: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the site is made from."""
    pytest.importorskip("zensical")
    shutil.copytree(DOCS, tmp_path / "docs")
    for name in ("zensical.toml", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def test_the_site_builds_without_a_warning_and_links_lead_somewhere(project: Path) -> None:
    built = build(project)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "warning" not in (built.stdout + built.stderr).lower()
    site = project / "site"
    assert dead_links(site) == []
    for page in PAGES:
        at = site / ("index.html" if page.name == "index.md" else f"{page.stem}/index.html")
        wanted = set(re.findall(r'<a id="([^"]+)"', page.read_text(encoding="utf-8")))
        assert wanted <= Html(at).anchors, page.name
    assert "House rules" in (site / "contributing" / "index.html").read_text(encoding="utf-8")
    assert "0.1.0" in (site / "changelog" / "index.html").read_text(encoding="utf-8")


def test_search_finds_names_of_the_reference(project: Path) -> None:
    assert build(project).returncode == 0
    found = json.loads((project / "site" / "search.json").read_text(encoding="utf-8"))
    assert any(
        "double_tap_move" in json.dumps(item) and "api/" in json.dumps(item) for item in found["items"]
    )


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("[x](nothing.md)", "page does not exist"),
        ("[x](api.md#nothing)", "anchor does not exist"),
        ("[x](#nothing)", "anchor does not exist"),
        ('<a href="api.md#nothing">x</a>', "anchor does not exist"),
    ],
)
def test_a_dead_link_or_anchor_fails_the_build(project: Path, link: str, complaint: str) -> None:
    with (project / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{link}\n")
    built = build(project)
    assert built.returncode != 0
    assert complaint in built.stdout + built.stderr


@pytest.mark.parametrize(
    ("link", "written"), [("docs/nowhere.md", "../docs/nowhere/"), ("rules.md#nothing", "../rules/#nothing")]
)
def test_a_dead_link_in_an_included_file_is_found(project: Path, link: str, written: str) -> None:
    """Zensical does not look into files of the root."""
    with (project / "CHANGELOG.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[x]({link})\n")
    build(project)
    assert [line.split(": ")[1] for line in dead_links(project / "site")] == [written]
