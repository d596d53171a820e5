"""Names of policies, checked before anything is played and safe as file names; and the identity of callables."""

from __future__ import annotations

import hashlib
import inspect
import re
from types import CodeType, FunctionType
from typing import Any

from boulanger_env.escaping import printable
from boulanger_env.game.checks import shown
from boulanger_env.game.errors import BoulangerError

LONGEST = 100
"""Maximum length of a policy's name."""


def checked_name(name: Any) -> str:
    """A checked name for a policy.

    Raises:
        BoulangerError: it is not a string of 1 to ``LONGEST`` printable characters.
    """
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > LONGEST:
        raise BoulangerError(
            f"name {shown(name)}: a policy's name is a string of 1 to {LONGEST} printable characters"
        )
    return name


def as_name(text: str) -> str:
    """A name made from a text that was not chosen as one, such as a file's name."""
    return printable(text)[:LONGEST].strip() or "policy"


def file_stem(name: str) -> str:
    """The stem of a policy's file names.

    Letters, digits and ``.+-_`` stay as they are. If anything else has to be replaced, a digest of the name keeps
    different names distinct.
    """
    safe = re.sub(r"[^A-Za-z0-9.+_-]|^\.|\.$", "_", name)
    return (
        safe if safe == name else f"{safe}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
    )


def identity(policy: Any) -> dict[str, str]:
    """What distinguishes a callable from others of its name: its location and a digest of its code.

    The digest covers the function or method itself, or an object's ``__call__``, and the functions and constants of
    its module that it uses; not what an object holds, which may change while it plays.
    """
    place = policy if hasattr(policy, "__qualname__") else type(policy)
    found = {"callable": f"{place.__module__}:{place.__qualname__}"}
    function = (
        policy if isinstance(policy, FunctionType) else getattr(policy, "__func__", type(policy).__call__)
    )
    if isinstance(function, FunctionType):
        digest = hashlib.sha256()
        owner = getattr(policy, "__self__", policy)
        _add_function(digest, function, owner if isinstance(owner, type) else type(owner), set())
        found["code"] = digest.hexdigest()[:16]
    return found


def says_which(policy: Any) -> bool:
    """Whether a callable's own name identifies it: a module's function, or an object with a ``name``."""
    if inspect.ismethod(policy):
        return says_which(policy.__self__)
    if isinstance(getattr(policy, "name", None), str):
        return True
    name = getattr(policy, "__qualname__", "")
    return bool(name) and "<" not in name


def _add_function(digest: Any, function: FunctionType, owner: type, seen: set[CodeType]) -> None:
    """Add what a function does, including what it uses of its own module and class."""
    if function.__code__ in seen:
        return
    seen.add(function.__code__)
    names = _add(digest, function.__code__)
    cells = inspect.getclosurevars(function).nonlocals.values()
    keywords = tuple(sorted((function.__kwdefaults__ or {}).items()))
    named = [function.__globals__.get(name) for name in names]
    methods = [getattr(getattr(owner, name, None), "__func__", getattr(owner, name, None)) for name in names]
    for value in (function.__defaults__, keywords, *cells, *named, *methods):
        if isinstance(value, FunctionType):
            if value.__module__ == function.__module__:
                _add_function(digest, value, owner, seen)
        elif _is_constant(value):
            digest.update(repr(value).encode() + b"\0")


def _is_constant(value: Any) -> bool:
    """Whether a value is plain and immutable."""
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, (bool, int, float, str, bytes))


def _add(digest: Any, code: CodeType) -> list[str]:
    """Add what a piece of code does, ignoring its location.

    Returns:
        The names in it.
    """
    digest.update(code.co_code + repr(code.co_names).encode())
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += _add(digest, constant)
        else:
            # Sets are unordered.
            plain = sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant)
            digest.update(str(plain).encode() + b"\0")
    return names
