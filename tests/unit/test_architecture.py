"""The arrows between the five packages, and third-party libraries at their edges."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Package -> those it may import: corpus <- oracle <- constraints <- synth, corpus <- backends <- synth.
ARROWS = {
    "corpus": set(),
    "oracle": {"corpus"},
    "constraints": {"corpus", "oracle"},
    "backends": {"corpus"},
    "synth": {"corpus", "oracle", "constraints", "backends"},
}

# Library -> the folders that may import it. Text that back ends generate is not code of ours, and is not looked at.
EDGES = {
    "lark": ["corpus", "oracle"],  # in the oracle for .cat files alone
    "pysat": ["constraints"],
    "z3": ["constraints"],
    "pyopencl": ["backends/opencl"],
    "numpy": ["backends/opencl"],
    "msgspec": ["corpus", "backends", "synth"],
    "click": ["synth"],
    "rich": ["synth"],
    "matplotlib": ["synth/drawing"],
    "pygraphviz": ["synth/drawing"],
    "typst": ["synth/drawing"],
}

SOURCES = sorted(path for package in ARROWS for path in (ROOT / package).rglob("*.py"))
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:home|root|work|tmp|mnt|Users)/")


def imported(source):
    """The top-level name of every module that a source imports, also by ``import_module`` of a literal."""
    names = set()
    for node in ast.walk(ast.parse(source)):
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
    assert not offences(folder, imported(path.read_text(encoding="utf-8")))


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
        ("corpus", "import requests", ["requests"]),
    ],
)
def test_the_check_can_fail(folder, source, expected):
    assert offences(folder, imported(source)) == expected


def test_documents_hold_no_path_of_a_machine():
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*"), *SOURCES]
    for path in texts:
        if path.is_file():
            found = MACHINE_PATH.search(path.read_text(encoding="utf-8"))
            assert found is None, f"{path.relative_to(ROOT)}: {found.group()}"
    assert MACHINE_PATH.search("see /home/me/x") and not MACHINE_PATH.search("a fair/work/share")
