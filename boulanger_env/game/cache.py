"""Compiled kernels kept on disk: never stale, never fatal.

Numba's own cache looks for changes in a function's own file only, writes its index before the data that the index
points to, and raises whatever goes wrong on the way. Here each compiled signature has one file: its name holds a
digest of the sources it was made from, and its content begins with a digest of the rest. What cannot be read is
compiled again; what cannot be written is compiled in each process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import secrets
import warnings
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

ROOMS = ("game", "envs", "positions", "solver", "agents")
"""The package's folders that contain kernels: a change in any of them recompiles everything."""

_OPTIONS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "OPT")
"""numba's environment options that change the code generated from the same source."""

_DIGEST = hashlib.sha256
_SHORT = 16  # hexadecimal digits of a digest in a file name
_OF_A_STAMP = re.compile(rf"-([0-9a-f]{{{_SHORT}}})-[0-9a-f]{{{_SHORT}}}\.nbc(\.[0-9a-f]+\.tmp)?$")


_PACKAGE = Path(__file__).parents[1]


def _sources() -> list[Path]:
    return sorted(path for room in ROOMS for path in (_PACKAGE / room).rglob("*.py"))


def stamp() -> str:
    """A digest of the kernels' sources as they are on disk now."""
    digest = _DIGEST()
    for path in _sources():
        source = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()} {len(source)}\n".encode())
        digest.update(source)
    return digest.hexdigest()[:_SHORT]


_IMPORTED = stamp()  # what this process runs, even if the files change later
_NO_SOURCES = _DIGEST().hexdigest()[:_SHORT]


@lru_cache(None)
def _bytecode_is_current() -> bool:
    """Whether Python's bytecode matches the sources: Python itself compares only a file's size and time in seconds."""
    for path in _sources():
        loader = SourceFileLoader(path.stem, str(path))
        if loader.get_code(path.stem) != loader.source_to_code(path.read_bytes(), str(path)):
            return False
    return True


class KernelCache(FunctionCache):
    """The cache of one kernel.

    Args:
        py_func: the kernel as Python.

    Raises:
        RuntimeError: there is no folder to write to, or the package's sources are not files (it is in an archive).
        ImportError: the kernel is in a folder that ``ROOMS`` does not name.
    """

    def __init__(self, py_func: Any) -> None:
        package, _, place = py_func.__module__.partition(".")
        if package == "boulanger_env" and place.partition(".")[0] not in ROOMS:
            raise ImportError(f"{py_func.__module__} has a kernel: add its folder to ROOMS in {__name__}")
        if _IMPORTED == _NO_SOURCES:
            raise RuntimeError("a change of sources that are not files would go unseen")
        super().__init__(py_func)
        self._folder = Path(self.cache_path)
        # A user's kernel, from outside the package, also depends on its own file.
        self._own_file = None if package == "boulanger_env" else self._impl.locator.get_source_stamp()

    def _path(self, key: Any) -> Path:
        options = [getattr(numba.config, name) for name in _OPTIONS]
        made_for = _DIGEST(repr((numba.__version__, options, key, self._own_file)).encode()).hexdigest()[
            :_SHORT
        ]
        return self._folder / f"{self._impl.filename_base}-{_IMPORTED}-{made_for}.nbc"

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._enabled:
            return None
        key = self._index_key(sig, target_context.codegen())
        path = self._path(key)
        try:
            content = path.read_bytes()
            digest, data = content[: _DIGEST().digest_size], content[_DIGEST().digest_size :]
            if _DIGEST(data).digest() != digest:
                raise ValueError("it is damaged")
            found_key, found = pickle.loads(data)
            return self._impl.rebuild(target_context, found) if found_key == key else None
        except FileNotFoundError:
            return None
        except Exception as error:
            _warn(f"{path} cannot be used ({error}), and its function is compiled again")
            return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        if not self._enabled or not self._impl.check_cachable(data):
            return
        key = self._index_key(sig, data.codegen)
        path = self._path(key)
        partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            if stamp() != _IMPORTED or not _bytecode_is_current():
                return  # the files have changed since: which version each module was imported from is unknown
            content = dumps((key, self._impl.reduce(data)))
            self._folder.mkdir(parents=True, exist_ok=True)
            _remove_old(self._folder, _IMPORTED)
            try:
                partial.write_bytes(_DIGEST(content).digest() + content)
                os.replace(partial, path)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
        except Exception as error:
            _warn(
                f"a compiled function cannot be kept in {self._folder} ({error}), so each process compiles it: "
                "NUMBA_CACHE_DIR can name another folder"
            )

    def flush(self) -> None:
        """Delete this kernel's cache."""
        for path in self._folder.glob(f"{self._impl.filename_base}-*.nbc"):
            path.unlink(missing_ok=True)


@lru_cache(None)
def _remove_old(folder: Path, current: str) -> None:
    """Remove caches of outdated sources, once per folder."""
    for path in folder.iterdir():
        match = _OF_A_STAMP.search(path.name)
        if match and match[1] != current:
            path.unlink(missing_ok=True)


_warned = False


def _warn(problem: str) -> None:
    """Warn once per process: a full disk fails for every kernel."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(problem, RuntimeWarning, stacklevel=2)
