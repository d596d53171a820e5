"""What every test run needs: a cache of compiled kernels that is never stale, slow tests on request, no warnings."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "boulanger_env"

# The package is tested from the checkout, and tests import oracle.py by its name.
for folder in (ROOT, ROOT / "tests"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def kernel_cache() -> Path:
    """A folder named by the sources that kernels are compiled from.

    Numba looks only at the file that a kernel stands in: one whose callee or constant changed in another file would be
    taken from the cache as it was. A new hash is a new, empty cache. The rules' folder counts as a whole, since
    kernels have its tables compiled in.
    """
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"kernel" in source or path.parent == PACKAGE / "game":
            digest.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + source + b"\0")
    name = digest.hexdigest()[:16]
    base = Path(os.environ.get("NUMBA_CACHE_DIR") or ROOT / ".numba_cache")
    if base.name == name:  # a test run within a test run
        return base
    base.mkdir(parents=True, exist_ok=True)
    ignore = base / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    return base / name


# Numba reads the variable when it is imported. Set in the environment, it reaches the processes that tests start.
assert "numba" not in sys.modules, "NUMBA_CACHE_DIR must be set before numba is imported"
os.environ["NUMBA_CACHE_DIR"] = str(kernel_cache())
# No test opens a window on the screen.
os.environ["SDL_VIDEODRIVER"] = "dummy"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too (minutes)")
    parser.addoption("--library", help="run the examples for this library in docs/libraries.md")
    parser.addoption("--python", default=sys.executable, help="the interpreter that has this library")


# A first call compiles, and a busy machine must not fail a test: no deadlines. The plain run tries the
# same examples every time; --slow tries many new ones.
settings.register_profile(
    "plain", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("slow", settings.get_profile("plain"), derandomize=False, max_examples=2000)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("slow" if config.getoption("--slow") else "plain")
    config.addinivalue_line("markers", "slow: takes minutes; run with --slow")
    # A warning fails the test; deprecations between other packages do not concern us. pyproject.toml comes
    # after this and takes precedence.
    filters = config.getini("filterwarnings")
    filters[:0] = [
        "error",
        r"default::DeprecationWarning:(?!boulanger_env|test_|oracle)",
        r"default::PendingDeprecationWarning:(?!boulanger_env|test_|oracle)",
        r"default::FutureWarning:(?!boulanger_env|test_|oracle)",
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """One thread for PyTorch: networks as small as those in the tests only get slower with more."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def few_deals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the codes of four deals."""
    path = tmp_path_factory.mktemp("deals") / "few.txt"
    path.write_text("MS-C4-1\nMS-C4-5\nMS-C4-17\nBK1-C4-TSTAAAA\n")
    return path
