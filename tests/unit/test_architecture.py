"""The arrows between the five packages, and third-party libraries at their edges."""

import ast
import re
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

ROOT = Path(__file__).parents[2]

# Package -> those it may import: corpus <- oracle <- constraints <- synth, corpus <- backends <- synth.
ARROWS = {
    "corpus": set(),
    "oracle": {"corpus"},
    "constraints": {"corpus", "oracle"},
    "backends": {"corpus"},
    "synth": {"corpus", "oracle", "constraints", "backends"},
}

# Inside a package, room -> the rooms of the same package that it may import. Modules that stand in no room are at the
# foot of a package (errors, files) or at its head (registries, what is made of several rooms). For them, as for all,
# there is no circle.
ROOMS = {
    "corpus/litmus": set(),
    "corpus/laws": {"litmus"},
    "corpus/dialects": {"litmus", "laws"},
    "corpus/cycles": {"litmus", "laws", "dialects"},
    "corpus/executions": {"litmus", "laws", "dialects", "cycles"},
    "corpus/code": {"litmus", "laws", "executions"},
    "corpus/progress": {"litmus", "laws"},
    "oracle/progress": {"executions"},
    "oracle/certificates": {"progress", "executions", "cat"},
    "oracle/cat": set(),
    "oracle/executions": {"cat"},
    "oracle/inference": {"cat", "executions", "progress"},
    "oracle/operational": {"executions"},
    "constraints/programs": set(),
    "backends/shared": set(),
    "backends/cpp": {"shared"},
    "backends/cuda": {"shared"},
    "backends/glsl": {"shared"},
    "backends/hip": {"shared"},
    "backends/llvm": {"shared"},
    "backends/metal": {"shared"},
    "backends/opencl": {"shared"},
    "backends/wgsl": {"shared"},
    "backends/web": {"shared", "wgsl"},
    "synth/options": {"families", "inference"},
    "synth/screen": {
        "drawing",
        "options",
        "progress",
        "memory",
        "mutation",
        "tuning",
        "hardening",
        "checking",
        "translation",
        "families",
    },
    "synth/progress": set(),
    "synth/memory": {"progress"},
    "synth/mutation": {"memory"},
    "synth/tuning": {"memory"},
    "synth/checking": {"memory", "drawing"},
    "synth/drawing": {"progress", "memory", "tuning"},
    "synth/repair": {"memory", "checking", "drawing"},
    "synth/hardening": set(),
    "synth/translation": {"memory", "checking"},
    "synth/inference": {"progress", "memory", "drawing"},
    "synth/families": {"progress", "memory", "mutation", "tuning", "drawing"},
    "synth/importing": {"families"},
    "synth/report": {"progress", "memory", "mutation", "drawing", "families"},
    "synth/changes": {"report"},
    "synth/commands": {
        "changes",
        "checking",
        "report",
        "importing",
        "options",
        "screen",
        "progress",
        "memory",
        "mutation",
        "drawing",
        "families",
        "tuning",
        "repair",
        "hardening",
        "inference",
        "translation",
    },
}

# Library -> the folders that may import it. Text that back ends generate is not code of ours, and is not looked at.
EDGES = {
    "lark": ["corpus"],
    "pysat": ["constraints"],
    "z3": ["constraints"],
    "pyopencl": ["backends/opencl"],
    "vulkan": ["backends/glsl"],
    "wgpu": ["backends/wgsl"],
    "Metal": ["backends/metal"],
    "numpy": ["backends/opencl", "oracle/progress"],
    "msgspec": ["corpus", "backends", "synth"],
    "click": ["synth/commands", "synth/options", "synth/screen"],
    "dask": ["synth"],
    "distributed": ["synth"],
    "rich": ["synth/commands", "synth/options", "synth/screen"],
    "matplotlib": ["synth/drawing"],
    "scipy": ["constraints", "synth"],
    "pygraphviz": ["synth/drawing"],
    "typst": ["synth/screen"],
}

SOURCES = sorted(path for package in ARROWS for path in (ROOT / package).rglob("*.py"))
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:home|root|work|tmp|mnt|Users)/")


@cache
def parsed(path):
    """The syntax tree of a file of ours, which several tests read and none changes."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(source):
    """The top-level name of every module that a text or a file imports, also by ``import_module`` of a literal."""
    names = set()
    for node in ast.walk(ast.parse(source) if isinstance(source, str) else parsed(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names.add(node.module)
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if called in ("import_module", "__import__"):
                names |= literal_starts(node.args[0])
    return {name.partition(".")[0] for name in names}


def literal_starts(node):
    """The name of a module given as a string, or the part of an f-string before its first field."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def offences(folder, names):
    """What a file in ``folder``, relative to the root, may not import."""
    package = folder.partition("/")[0]
    wrong = []
    for name in sorted(names):
        if name in sys.stdlib_module_names or name == package or name in ARROWS[package]:
            continue
        if not any(folder == edge or folder.startswith(f"{edge}/") for edge in EDGES.get(name, [])):
            wrong.append(name)
    return wrong


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrows(path):
    folder = path.parent.relative_to(ROOT).as_posix()
    assert not offences(folder, imported(path))


@pytest.mark.parametrize(
    ("folder", "source", "expected"),
    [
        ("oracle", "from pysat.solvers import Solver", ["pysat"]),
        ("oracle", "def late():\n    import z3", ["z3"]),
        ("corpus", "import oracle.progress.lts", ["oracle"]),
        ("backends", "from oracle.progress.lts import explore", ["oracle"]),
        ("backends", "import pyopencl", ["pyopencl"]),
        ("backends/opencl", "import pyopencl", []),
        ("constraints", "from importlib import import_module\nimport_module(f'synth.{x}')", ["synth"]),
        ("synth/commands", "import click, rich, constraints, backends, os", []),
        ("synth", "import pysat", ["pysat"]),
        ("synth", "def late():\n    from rich.text import Text", ["rich"]),
        ("synth/memory", "if TYPE_CHECKING:\n    import click", ["click"]),
        ("synth/screen", "import click, rich", []),
        ("corpus", "import requests", ["requests"]),
    ],
)
def test_the_check_can_fail(folder, source, expected):
    assert offences(folder, imported(source)) == expected


@cache
def modules():
    """Every module of ours with the modules of ours that it imports, late imports too."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in SOURCES}
    found = {}
    for name, path in names.items():
        targets = set()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= {module for module in (*inner, node.module) if module in names}
        found[name] = targets
    return found


def circle(graph):
    """A way from a module back to itself; none where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def test_no_circle_of_imports():
    assert circle(modules()) is None
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}


def room(module):
    package, *rest = module.split(".")
    return f"{package}/{rest[0]}" if rest and (ROOT / package / rest[0]).is_dir() else package


def test_rooms_of_a_package_keep_to_their_arrows():
    rooms = {path.parent for path in SOURCES if path.parent.parent.parent == ROOT}
    assert {path.relative_to(ROOT).as_posix() for path in rooms} == set(ROOMS)
    for module, targets in modules().items():
        here = room(module)
        for target in targets:
            there = room(target)
            if here in ROOMS and there in ROOMS and here != there and there.split("/")[0] == here.split("/")[0]:
                assert there.split("/")[1] in ROOMS[here], f"{module} imports {target}"


EDGE_OF_THE_TERMINAL = {"synth/commands", "synth/options", "synth/screen"}
"""The rooms that parse and show; all others are a library, which needs no terminal."""


def test_analyses_know_nothing_of_the_command_line():
    """Modules that stand in no room either; ``python -m synth`` is what begins the commands."""
    for module, targets in modules().items():
        if module.startswith("synth.") and room(module) not in EDGE_OF_THE_TERMINAL and module != "synth.__main__":
            assert not [target for target in targets if room(target) in EDGE_OF_THE_TERMINAL], module


LANGUAGES_OF_CODE = ("amdgcn", "armv8", "llvm", "power", "ptx", "riscv", "sass", "spirv", "x86")
PROCESSORS = ("armv8", "power", "riscv", "x86")


def test_languages_of_code_never_import_each_other():
    """A language imports the room's files; what the assembly of processors shares is in ``assembly``. The room's files
    import no language: the registry names them.
    """
    folders = {path.name for path in (ROOT / "corpus/code").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*LANGUAGES_OF_CODE, "assembly", "launch", "passes"}
    for module, targets in modules().items():
        if not module.startswith("corpus.code."):
            continue
        here = module.split(".")[2]
        shared = ("assembly",) if here in (*PROCESSORS, "registry") else ()
        for target in targets:
            there = target.split(".")[2] if target.startswith("corpus.code.") else here
            foreign = there in (*LANGUAGES_OF_CODE, "assembly") and there not in (here, *shared)
            assert not foreign, f"{module} imports {target}"


def test_documents_hold_no_path_of_a_machine():
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*"), *SOURCES]
    for path in texts:
        if path.is_file():
            found = MACHINE_PATH.search(path.read_text(encoding="utf-8"))
            assert found is None, f"{path.relative_to(ROOT)}: {found.group()}"
    assert MACHINE_PATH.search("see /home/me/x") and not MACHINE_PATH.search("a fair/work/share")


def test_no_two_files_of_tests_have_one_name():
    """pytest imports them by their names alone."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


SHARED_NAMES: dict[str, str] = {}
"""Public classes of one name in several modules, each with the reason."""


def test_a_public_class_has_its_name_for_itself():
    """Whoever searches for the name of a class finds one class."""
    found = {}
    for package in ARROWS:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in parsed(path).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: files for name, files in found.items() if len(files) > 1 and name not in SHARED_NAMES} == {}
    assert all(len(found.get(name, [])) > 1 for name in SHARED_NAMES)
