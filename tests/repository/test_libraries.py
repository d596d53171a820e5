"""The page about other libraries: each example runs as it stands, in an environment made by the command above it.

.ci/run makes the environments, a phase for each library, and names them by ``--library NAME --python PATH``. Without
these options the examples are not run, but the page is still checked.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from support.pages import LIBRARIES, Block, blocks
from support.paths import ROOT

_MARK = re.compile(r"^<!-- library: (\w+) -->\n```bash\npip install (.*)\n```$", re.MULTILINE)


def sections() -> dict[str, list[Block]]:
    """The examples for each library: those between its mark and the next heading."""
    text = LIBRARIES.read_text(encoding="utf-8")
    found = {}
    for mark in _MARK.finditer(text):
        first = text[: mark.end()].count("\n") + 1
        end = text.find("\n## ", mark.end())
        last = text[:end].count("\n") + 1 if end >= 0 else len(text)
        found[mark[1]] = [
            block for block in blocks(LIBRARIES) if block.language == "python" and first < block.line <= last
        ]
    return found


SECTIONS = sections()


def test_every_example_belongs_to_a_library_and_every_library_has_one() -> None:
    examples = [block for block in blocks(LIBRARIES) if block.language == "python"]
    assert [block for section in SECTIONS.values() for block in section] == examples
    assert all(SECTIONS.values())
    assert len(SECTIONS) == LIBRARIES.read_text(encoding="utf-8").count("<!-- library: ") == 7


def test_continuous_integration_has_a_phase_for_each() -> None:
    phases = re.findall(
        r'^phase "library: (\w+)" library (\w+) ', (ROOT / ".ci/run").read_text(), re.MULTILINE
    )
    assert sorted(phases) == sorted((name, name) for name in SECTIONS)


@pytest.mark.parametrize("block", [b for section in SECTIONS.values() for b in section], ids=lambda b: b.line)
def test_examples_make_a_forbidden_action_an_error(block: Block) -> None:
    """That is why an example that ends well has obeyed its masks."""
    assert re.search(r"""illegal_action"?'?[=:] ?["']raise["']""", block.code)
    compile(block.code, str(LIBRARIES), "exec")


@pytest.mark.parametrize(
    ("library", "block"),
    [
        pytest.param(library, block, id=f"{library}:{block.line}")
        for library, section in SECTIONS.items()
        for block in section
    ],
)
def test_example(library: str, block: Block, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--library") != library:
        pytest.skip(f"needs an environment with {library}: --library {library} --python PATH")
    example = tmp_path / "example.py"
    # Line numbers of the page, so that a traceback leads there.
    example.write_text("\n" * (block.line - 1) + block.code, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    result = subprocess.run(
        [request.config.getoption("--python"), example.name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "MINARI_DATASETS_PATH": str(tmp_path / "minari")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=600,
    )
    assert result.returncode == 0, result.stdout[-6000:]
    assert result.stdout.strip(), "an example prints what it has done"
