"""Imports run one way, and ``import boulanger_env`` stays light."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from support.paths import ROOT

PACKAGE = ROOT / "boulanger_env"

# From the rules up to the command line: a part imports only from parts above it in this list, and from itself.
LAYERS = [
    {"escaping"},
    {"game"},
    {"deals", "solver", "render", "files", "processes"},
    {"envs", "positions", "wrappers", "replay"},
    {"agents", "benchmark", "report", "cluster", "sb3", "minari", "rllib", "training"},
    {"cli", "play", "__main__"},
]
LAYER = {part: i for i, layer in enumerate(LAYERS) for part in layer}
CORE = 4  # layers that need nothing but numpy, numba and gymnasium

# The one import upwards, within a function: what a notebook shows of a game.
UPWARDS = {"game/game.py": {"boulanger_env.render.html", "boulanger_env.render.html.game_html"}}

# Libraries that one file alone, or one part, may import.
ONLY_IN = {
    "minari": {"minari"},
    "ray": {"rllib", "cluster"},
    "pyarrow": {"cluster"},
    "typer": {"cli", "play"},
    "PIL": {"render"},
    "pygame": {"render"},
    "imageio_ffmpeg": {"render"},
}
# The one file of the core that needs a library of an extra as soon as it is imported.
NEEDS_AT_ONCE = {"render/pillow.py": {"PIL"}}
HEAVY = [
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "ray",
    "matplotlib",
    "pygame",
    "PIL",
    "scipy",
    "rich",
    "typer",
]


def part_of(path: Path) -> str:
    """Which part of the package a file belongs to; "" for the package's own __init__."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py") if first != "__init__.py" else ""


def names(node: ast.Import | ast.ImportFrom, path: Path) -> list[tuple[str, str]]:
    """What an import names: modules, and for ``from module import name`` each name in them."""
    if isinstance(node, ast.Import):
        return [(alias.name, "") for alias in node.names]
    base = node.module or ""
    if node.level:
        parents = ["boulanger_env", *path.relative_to(PACKAGE).parts[:-1]]
        base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [node.module])])
    return [(base, alias.name) for alias in node.names]


@cache
def imports(path: Path) -> tuple[set[str], set[str]]:
    """Modules that a file imports anywhere, and those that importing it loads: not in functions, not for types only."""
    everywhere: set[str] = set()
    at_once: set[str] = set()

    def walk(node: ast.AST, runs: bool) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            # "from boulanger_env import deals" imports boulanger_env.deals.
            found = {
                text for base, name in names(node, path) for text in (base, f"{base}.{name}".rstrip("."))
            }
            everywhere.update(found)
            if runs:
                at_once.update(found)
        inner = runs and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            inner = False
        for child in ast.iter_child_nodes(node):
            walk(child, inner)

    walk(ast.parse(path.read_text(encoding="utf-8")), True)
    return everywhere, at_once


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    part = part_of(path)
    if not part:
        return
    assert part in LAYER, f"{part} has no place in LAYERS: which layer is it in?"
    everywhere, at_once = imports(path)
    upwards = UPWARDS.get(path.relative_to(PACKAGE).as_posix(), set())
    assert not upwards & at_once
    for module in everywhere - upwards:
        if not module.startswith("boulanger_env."):
            continue
        other = module.split(".")[1]
        if not (PACKAGE / other).is_dir() and not (PACKAGE / f"{other}.py").is_file():
            assert LAYER[part] >= CORE, (
                f"{module}: the core imports from its own parts, not from the package's front"
            )
            continue
        assert other == part or LAYER[other] <= LAYER[part], f"{part} imports {module}, which lies above it"
    # The package's front imports the core: a core file that imported it would go in a circle.
    if LAYER[part] < CORE:
        assert "boulanger_env" not in at_once


def test_contributing_lists_the_folders_in_the_order_of_their_imports() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)
    assert sorted(listed) == sorted({path.parent.name for path in PACKAGE.glob("*/__init__.py")})
    for path in FILES:
        part = part_of(path)
        upwards = UPWARDS.get(path.relative_to(PACKAGE).as_posix(), set())
        others = {module.split(".")[1] for module in imports(path)[0] - upwards if "boulanger_env." in module}
        late = (
            {other for other in others & set(listed) if listed.index(other) > listed.index(part)}
            if part in listed
            else set()
        )
        assert not late, f"{path}: {part} imports from {late}, which CONTRIBUTING.md lists below it"


@cache
def names_made_in(path: Path) -> set[str]:
    """Names of functions, classes, variables and attributes that a file defines."""
    made: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            made.add(node.id if isinstance(node, ast.Name) else node.attr)
    return made


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_is_private_stays_in_its_folder(path: Path) -> None:
    """``game/internal.py`` and ``envs/internal.py`` are the ways in."""
    inside = [other for other in FILES if other.parent == path.parent != PACKAGE]
    foreign = {name for other in FILES if other.parent != path.parent for name in names_made_in(other)}
    foreign -= {name for other in inside for name in names_made_in(other)}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.startswith("__"):
            continue
        # What is one's own may come from a class of another library.
        if ast.unparse(node.value) not in ("self", "cls"):
            assert node.attr not in foreign, f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_folders_are_entered_from_their_own_folder_only(path: Path) -> None:
    for module in imports(path)[0]:
        parts = module.split(".")
        private = [i for i, part in enumerate(parts) if re.match("_[^_]", part)]
        if parts[0] == "boulanger_env" and private:
            folder = ROOT.joinpath(*parts[: private[0]])
            assert folder in path.parents, f"{module} is private to {folder.relative_to(ROOT)}"


def test_the_compiled_inside_needs_no_settings() -> None:
    inside = [path for path in FILES if path.parent.name == "_batch"]
    assert inside
    for path in inside:
        needed = {module for module in modules_needed(path) if module.startswith("boulanger_env.envs.")}
        needed = {module for module in needed if "._batch" not in module}
        assert needed <= {f"boulanger_env.envs.{name}" for name in ("action_maps", "observations", "rewards")}


def test_parts_of_a_layer_make_no_circle() -> None:
    needs: dict[str, set[str]] = {}
    for path in FILES:
        part = part_of(path)
        wanted = imports(path)[0] - UPWARDS.get(path.relative_to(PACKAGE).as_posix(), set())
        others = {m.split(".")[1] for m in wanted if m.startswith("boulanger_env.")}
        needs.setdefault(part, set()).update(other for other in others if other in LAYER and other != part)
    done: set[str] = {""}
    while len(done) < len(needs):
        free = {part for part, wanted in needs.items() if part not in done and wanted <= done}
        assert free, f"these import each other: {sorted(set(needs) - done)}"
        done |= free


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in FILES}


def modules_needed(path: Path) -> set[str]:
    """The package's modules that a file imports, in functions and for types too: ``a.b`` in ``from a import b``."""
    needed = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for base, name in names(node, path):
                needed.add(inner if (inner := f"{base}.{name}") in MODULES else base)
    return needed & MODULES


def test_files_make_no_circle() -> None:
    """Each file can be read after those that it imports."""
    needs = {
        module_of(path): modules_needed(path) - UPWARDS.get(path.relative_to(PACKAGE).as_posix(), set())
        for path in FILES
    }
    assert needs["boulanger_env.envs.single"] >= {"boulanger_env.envs.settings", "boulanger_env.envs.rewards"}
    done: set[str] = set()
    while len(done) < len(needs):
        free = {module for module, wanted in needs.items() if module not in done and wanted <= done}
        assert free, f"these import each other: {sorted(set(needs) - done)}"
        done |= free


MOST_POSITIONAL = 8


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_public_functions_have_few_positional_parameters(path: Path) -> None:
    """What is more is a keyword. Compiled kernels are not public: they take arrays, and no keywords."""
    if any(part.startswith("_") and not part.startswith("__") for part in path.relative_to(PACKAGE).parts):
        return

    def public(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                public(node.body)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if node.name.startswith("_") and not node.name.startswith("__"):
                    continue
                if any("kernel" in ast.unparse(decorator) for decorator in node.decorator_list):
                    continue
                count = len([*node.args.posonlyargs, *node.args.args])
                bound = node.args.args[:1] and node.args.args[0].arg in ("self", "cls")
                assert count - bool(bound) <= MOST_POSITIONAL, (
                    f"{node.name} has {count} positional parameters"
                )

    public(ast.parse(path.read_text(encoding="utf-8")).body)


def test_the_rules_know_numpy_and_numba_only() -> None:
    for path in FILES:
        if part_of(path) == "game":
            roots = {module.split(".")[0] for module in imports(path)[0]}
            assert roots - sys.stdlib_module_names <= {"numpy", "numba", "boulanger_env"}, path


def test_the_core_needs_its_three_libraries_only() -> None:
    for path in FILES:
        part = part_of(path)
        if part and LAYER[part] < CORE:
            roots = {module.split(".")[0] for module in imports(path)[1]}
            allowed = {"numpy", "numba", "boulanger_env"} | (
                {"gymnasium"} if LAYER[part] == CORE - 1 else set()
            )
            allowed |= NEEDS_AT_ONCE.get(path.relative_to(PACKAGE).as_posix(), set())
            assert roots - sys.stdlib_module_names <= allowed, path


@pytest.mark.parametrize("library", ONLY_IN)
def test_libraries_stay_where_they_belong(library: str) -> None:
    for path in FILES:
        if library in {module.split(".")[0] for module in imports(path)[0]}:
            assert part_of(path) in ONLY_IN[library], path


def modules_after(statement: str) -> list[str]:
    """Top-level modules that a fresh process holds after a statement."""
    script = (
        f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    modules: list[str] = json.loads(run.stdout)
    return modules


def test_the_import_is_light() -> None:
    loaded = modules_after("import boulanger_env")
    assert {"numpy", "numba", "gymnasium"} <= set(loaded)
    base = set(modules_after("import gymnasium, numba"))
    # What gymnasium and numba bring is theirs.
    assert [name for name in HEAVY if name in loaded and name not in base] == []
    assert not {"torch", "stable_baselines3", "ray", "matplotlib", "pygame", "PIL"} & set(loaded)


def test_the_wrappers_are_light_too() -> None:
    loaded = modules_after("import boulanger_env.wrappers")
    assert not {"torch", "stable_baselines3", "ray", "matplotlib", "pygame", "PIL"} & set(loaded)


def test_the_rules_run_without_gymnasium() -> None:
    # boulanger_env/__init__.py registers environments, so the rules are loaded as a package of their own here.
    script = (
        "import sys, types\n"
        "sys.modules['gymnasium'] = None\n"
        "front = types.ModuleType('boulanger_env')\n"
        "front.__path__ = ['boulanger_env']\n"
        "sys.modules['boulanger_env'] = front\n"
        "from boulanger_env.game import Game\n"
        "print(len(Game.from_code('MS-C4-617').legal_moves()))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(run.stdout) > 0
