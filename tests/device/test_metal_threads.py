"""Metal where there is no Mac: g++ takes the kernels, and the host runs them on ``tests/metal``, a Metal of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import commands
import pytest

from backends.registry import BACKENDS
from backends.shared.layout import place
from corpus.dialects.registry import parse_litmus, read_litmus

pytestmark = pytest.mark.device

ROOT = Path(__file__).parents[2]
METAL = ROOT / "tests" / "metal"
EXAMPLES = ROOT / "examples" / "memory"


@pytest.fixture
def synth(need: Callable[..., None]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command line on a machine with a Metal of threads."""
    need("cpp")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(METAL)])}

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from synth.commands.cli import main; main()", *map(str, words)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return run


RELAXED = "memory_order_relaxed"
FETCHED = {"add": (5, 0), "sub": (1, 5), "or": (3, 4), "xor": (1, 7), "and": (12, 6), "min": (2, 4), "max": (9, 2)}
"""Operations on a location one after the other: the operand of each, and the value that it finds there."""
FETCHES = "".join(
    f"  int {operation}_r = atomic_fetch_{operation}_explicit(x, {operand}, {RELAXED});\n"
    for operation, (operand, _) in FETCHED.items()
)
FOUND = " /\\ ".join(f"0:{operation}_r = {found}" for operation, (_, found) in FETCHED.items())
EVERY_RMW = f"""OPENCL t
{{ x = 0; }}

P0@wg 0, dev 0 (global atomic_int* x) {{
{FETCHES}  int r0 = atomic_exchange_explicit(x, 1, {RELAXED});
  int r1 = 1;
  int r2 = atomic_compare_exchange_strong_explicit(x, &r1, 2, {RELAXED}, {RELAXED});
  int r3 = 7;
  int r4 = atomic_compare_exchange_weak_explicit(x, &r3, 3, {RELAXED}, {RELAXED});
}}

exists ({FOUND} /\\ 0:r0 = 9 /\\ 0:r1 = 1 /\\ 0:r3 = 2 /\\ 0:r4 = 0 /\\ x = 2)
"""
EVERY_KIND = ("atom-store-weak", "c11/thin-air-branches", "cl-barrier-local", "cl-sb-sc-fences-wg", "corr-strong")


def test_what_is_said_is_code(need: Callable[..., None], tmp_path: Path) -> None:
    need("cpp")
    texts = []
    tests = [parse_litmus(EVERY_RMW), *(read_litmus(EXAMPLES / f"{name}.litmus") for name in EVERY_KIND)]
    for number, test in enumerate(tests):
        (text, *_) = BACKENDS["metal"].memory_files("t", place(test)).values()
        texts.append(f"namespace test{number} {{\n{text.replace('#include <metal_stdlib>', '')}\n")
        names = [line.split()[1].split("(")[0] for line in text.splitlines() if line.startswith("#define ")]
        texts += [f"#undef {name}\n" for name in names] + ["}\n"]
    everything = tmp_path / "every.metal"
    everything.write_text("#include <metal_stdlib>\n#undef kernel\n#define kernel\n" + "".join(texts), encoding="utf-8")
    flags = [
        "-std=c++14",
        "-fsyntax-only",
        "-x",
        "c++",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-attributes",
        "-Wno-unused",
    ]
    done = subprocess.run(["g++", *flags, "-I", METAL, everything], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_memory_tests_run(synth: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    words = ["--backend", "metal", "--instances", 64, "--iterations", 2, "-m", "sc", "--json"]
    (tmp_path / "rmw.litmus").write_text(EVERY_RMW, encoding="utf-8")
    done = synth("run", EXAMPLES / "mp-bar-sync.litmus", tmp_path / "rmw.litmus", *words)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["device"] == "Threads"
    seen = [[(each["asked"], each["count"]) for each in test["outcomes"]] for test in told["tests"]]
    assert seen == [[(False, 128)], [(True, 128)]]


def test_progress_tests_run_and_hang(synth: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    (tmp_path / "ends.axb").write_text("THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\n")
    (tmp_path / "hangs.axb").write_text("THREAD 0\n0: if (Mem[0] == 0) goto 0;\n")
    words = ["--backend", "metal", "--mapping", "plain", "--iterations", 2, "--timeout", 60, "--json"]
    done = synth("run", tmp_path / "ends.axb", tmp_path / "hangs.axb", *words)
    assert [each["outcomes"] for each in json.loads(done.stdout)["results"]] == ["TT", "H"], done.stdout + done.stderr


def test_the_host_that_goes_with_the_files(need: Callable[..., None], tmp_path: Path) -> None:
    need("cpp")
    words = ["compile", str(EXAMPLES / "mp-bar-sync.litmus"), "--backend", "metal", "--instances", "64"]
    assert commands.synth(*words, "-o", tmp_path).exit_code == 0
    command = [sys.executable, "run_metal.py", "mp-bar-sync.metal", "1"]
    environment = {**os.environ, "PYTHONPATH": str(METAL)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "ready\niteration 0 [[[64, 1]], 0]\n" in done.stdout, done.stdout + done.stderr


def test_where_no_mac_is_it_is_said_what_is_missing() -> None:
    compiler, device = BACKENDS["metal"].compiler.probe()
    assert (compiler.name, device.name) == ("xcrun metal", "Metal device") or sys.platform == "darwin"
    assert all(each.usable or "macOS" in each.install for each in (compiler, device))
