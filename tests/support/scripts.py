"""Modules in scripts/, which is not a package."""

import importlib
import sys
from types import ModuleType

from support.paths import ROOT

SCRIPTS = ROOT / "scripts"


def script(name: str) -> ModuleType:
    """The module ``scripts/NAME.py``."""
    if str(SCRIPTS) not in sys.path:
        sys.path.append(str(SCRIPTS))
    return importlib.import_module(name)
