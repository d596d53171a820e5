"""Compiled kernels on disk: a damaged, old or unwritable file never changes a result and never ends a program."""

from __future__ import annotations

import ast
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import boulanger_env
from boulanger_env.game.cache import ROOMS, KernelCache
from boulanger_env.game.jit import INTERPRETED, kernel

pytestmark = pytest.mark.skipif(INTERPRETED, reason="there is nothing compiled to keep")

PACKAGE = Path(boulanger_env.__file__).parent
RULES = """
from boulanger_env import Game
print(len(Game.from_code("MS-C4-1").legal_moves()))
"""
# Two kernels that are compiled at once.
SMALL = """
import numpy as np
from boulanger_env.game.streams import splitmix64_next
from boulanger_env.game.kernels import empty_cells
print(empty_cells(np.zeros(1000, np.uint8)), splitmix64_next(np.uint64(7)))
"""


def run(
    cache: Path, script: str = SMALL, path: Path = PACKAGE.parent, most: int | None = None
) -> tuple[str, str]:
    """What a script prints and warns about, with files of at most this many bytes."""

    def limit() -> None:
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(path)},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        cwd=cache.parent,
    )
    return done.stdout, done.stderr


OUT_OF_BOUNDS = """
import numpy as np
from boulanger_env.game.kernels import empty_cells
try:
    print(empty_cells(np.zeros(1000, np.uint8)[:10]))
except IndexError as error:
    print(error)
"""


def test_bounds_checks_have_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)
    assert run(cache, OUT_OF_BOUNDS) == ("4\n", "")
    unchecked = kept(cache)
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    for _ in range(2):
        assert "out of bounds" in run(cache, OUT_OF_BOUNDS)[0]
    assert len(kept(cache)) == 2 * len(unchecked)
    monkeypatch.delenv("NUMBA_BOUNDSCHECK")
    assert run(cache, OUT_OF_BOUNDS) == ("4\n", "")


def kept(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def make_folder(path: Path) -> None:
    path.unlink()
    (path / "deeper").mkdir(parents=True)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "garbage": lambda path: path.write_bytes(os.urandom(5000)),
    "one bit": flip,
    "a folder": make_folder,
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A cache after a run, and what that run printed."""
    cache = tmp_path_factory.mktemp("filled") / "cache"
    printed, warned = run(cache)
    assert not warned
    assert kept(cache)
    return cache, printed


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_files_are_made_again(
    damage: Callable[[Path], object], filled: tuple[Path, str], tmp_path: Path
) -> None:
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    names = kept(cache)
    for path in names:
        damage(path)
    printed, warned = run(cache)
    assert printed == filled[1]
    assert warned.count("RuntimeWarning") == 1
    if damage is not make_folder:
        assert run(cache) == (printed, "")
        assert kept(cache) == names


@pytest.mark.parametrize("most", [0, 100, 5000])
def test_full_disk(most: int, filled: tuple[Path, str], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    printed, warned = run(cache, most=most)
    assert printed == filled[1]
    assert warned.count("RuntimeWarning") == 1
    assert "NUMBA_CACHE_DIR" in warned
    assert all(0 < path.stat().st_size <= most for path in kept(cache))
    assert run(cache) == (printed, "")


@pytest.fixture
def changing(tmp_path: Path) -> tuple[Path, Callable[[], None]]:
    """A copy of the package, and what changes its rules: no cell is ever empty. Sizes and times stay the same, as in an
    archive with fixed times."""
    shutil.copytree(PACKAGE, tmp_path / "boulanger_env", ignore=shutil.ignore_patterns("__pycache__"))

    def change() -> None:
        kernels = tmp_path / "boulanger_env/game/kernels.py"
        rules = kernels.read_text()
        stats = kernels.stat()
        counted = "board[CELLS + c] == NO_CARD"
        assert rules.count(counted) == 1
        changed = rules.replace(counted, "board[CELLS + c] == 7777777")
        assert len(changed) == len(rules)
        kernels.write_text(changed)
        os.utime(kernels, ns=(stats.st_atime_ns, stats.st_mtime_ns))

    return tmp_path, change


def test_new_rules_are_played_even_if_they_cannot_be_kept(changing: tuple[Path, Callable[[], None]]) -> None:
    folder, change = changing
    cache = folder / "cache"
    old, _ = run(cache, RULES, folder)
    before = kept(cache)
    change()
    fresh, _ = run(folder / "fresh", RULES, folder)
    assert fresh != old
    assert run(cache, RULES, folder, most=8000)[0] == fresh
    assert run(cache, RULES, folder) == (fresh, "")
    # Nothing of the old rules is left, and nothing was compiled twice.
    assert not set(before) & set(kept(cache))
    assert len(kept(cache)) == len(kept(folder / "fresh"))


def test_rules_of_old_bytecode_are_not_kept_as_those_of_the_new_source(
    changing: tuple[Path, Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, change = changing
    cache = folder / "cache"
    old, _ = run(cache, RULES, folder)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    subprocess.run([sys.executable, "-m", "compileall", "-q", folder / "boulanger_env"], check=True)
    change()
    # Python compares size and time in seconds, and sees no change ...
    assert run(cache, RULES, folder) == (old, "")
    # ... until the file has another time.
    (folder / "boulanger_env/game/kernels.py").touch()
    assert run(cache, RULES, folder) == run(folder / "fresh", RULES, folder) != (old, "")


# An update that comes while a program runs, which has not compiled anything yet.
UPDATED = f"""
import os, time
import boulanger_env
open("imported", "w").close()
while not os.path.exists("changed"):
    time.sleep(0.02)
{RULES}"""


def test_what_was_imported_before_a_change_is_not_kept_as_what_comes_after(
    changing: tuple[Path, Callable[[], None]],
) -> None:
    folder, change = changing
    cache = folder / "cache"
    with ThreadPoolExecutor(1) as pool:
        before = pool.submit(run, cache, UPDATED, folder)
        while not (folder / "imported").exists():
            assert not before.done(), before.result()
            time.sleep(0.02)
        change()
        (folder / "changed").touch()
    after = run(cache, RULES, folder)
    assert after == run(folder / "fresh", RULES, folder)
    assert before.result()[0] != after[0]


def test_nothing_of_an_archive_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change in it could not be seen."""
    monkeypatch.setenv(
        "XDG_CACHE_HOME", str(tmp_path / "cache")
    )  # where numba keeps what comes from archives
    sources = tmp_path / "sources"
    shutil.copytree(PACKAGE, sources / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.make_archive(str(tmp_path / "package"), "zip", sources)
    printed, warned = run(tmp_path / "cache", path=tmp_path / "package.zip")
    assert printed
    assert not warned
    assert not kept(tmp_path / "cache")


def test_each_kernel_is_in_a_room_whose_changes_are_seen() -> None:
    """So is every module of the package that a kernel takes a name from."""
    package = PACKAGE.name
    sources = {
        ".".join((package, *path.relative_to(PACKAGE).with_suffix("").parts)): ast.parse(path.read_text())
        for path in PACKAGE.rglob("*.py")
    }
    n_kernels = 0
    for module, tree in sources.items():
        kernels = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            and any(isinstance(d, ast.Name) and d.id.endswith("kernel") for d in node.decorator_list)
        ]
        n_kernels += len(kernels)
        used = {name.id for node in kernels for name in ast.walk(node) if isinstance(name, ast.Name)}
        homes = {module} if kernels else set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and used & {alias.name for alias in node.names}:
                parents = module.split(".")[: -node.level] if node.level else []
                homes.add(".".join((*parents, node.module or "")))
        for home in homes:
            assert not home.startswith(package) or home.split(".")[1] in ROOMS, f"{module} uses {home}"
    assert n_kernels > 100


def test_kernel_elsewhere_in_the_package_is_refused() -> None:
    def stray() -> int:
        return 1

    stray.__module__ = "boulanger_env.render.stray"
    with pytest.raises(ImportError, match=r"add its folder to ROOMS"):
        KernelCache(stray)
    with pytest.raises(ImportError, match=r"boulanger_env.render.stray"):
        kernel(stray)
