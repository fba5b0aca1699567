"""A back end is a folder and a line of the registry: a toy one is added from outside, and every command knows it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module, reload
from pathlib import Path

import pytest
from commands import synth

from backends.cpp.memory import CppKernel
from backends.cpp.progress import Cpp
from backends.registry import BACKENDS
from backends.shared.backend import Backend, ProgramCheck
from backends.shared.device import Prepared
from backends.shared.layout import Layout, Parameters, place
from backends.shared.mapping import Launch, launch
from backends.shared.profiles import Profile
from backends.shared.toolchain import Compilation
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program

EXAMPLES = Path(__file__).parents[2] / "examples"
HOST = """
import sys
print("ready", flush=True)
for number in range(int(sys.argv[-1])):
    print("iteration", number, "[[[60, 1, 0], [4, 0, 0]], 0]", flush=True)
"""


class Toy(Cpp):
    """A language that is C++ by another name."""


class ToyKernel(CppKernel):
    title = "Toy"


class ToyCompiler:
    def missing(self) -> list[str]:
        return []

    def compile(self, file: Path, binary: Path | None = None) -> Compilation:
        return Compilation(file, "std::" in file.read_text(), "no std")

    def probe(self) -> list[object]:
        return []


class ToyDevice:
    name = hardware = "a toy"
    driver = ""
    compiler = "toycc 1"

    def launch(self, program: Program, mapping: str, placement: str = "device") -> Launch:
        return launch(program, mapping, 1, placement=placement)

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        return place(test, Parameters(instances))

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        assert file.suffix == ".toy"
        return Prepared([sys.executable, "-c", HOST])


TOY = Backend(
    name="toy",
    suffix=".toy",
    progress=Toy,
    memory=ToyKernel,
    files="TEST.toy",
    usage="toy TEST.toy",
    compiler=ToyCompiler(),
    device=lambda options: ToyDevice(),
    check=ProgramCheck("toycheck", lambda test, program: ["P0: is a toy"]),
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    commands = [import_module(f"synth.commands.{name}") for name in ("compile", "run")]
    with monkeypatch.context() as patch:
        patch.setitem(BACKENDS, "toy", TOY)
        for each in commands:
            reload(each)
        yield
    for each in commands:
        reload(each)


@pytest.mark.usefixtures("toy")
def test_commands_know_it(tmp_path: Path) -> None:
    assert "toy TEST.toy" in synth("compile", "--help").stdout
    progress, memory = EXAMPLES / "progress" / "mutex.axb", EXAMPLES / "memory" / "c-sb-sc.litmus"
    done = synth("compile", progress, "--backend", "toy", "-o", tmp_path / "p", "--check")
    assert (done.exit_code, [file.name for file in (tmp_path / "p").iterdir()]) == (0, ["mutex.plain.toy"])
    done = synth("compile", memory, "--backend", "toy", "-o", tmp_path / "m", "--check")
    assert done.exit_code == 1 and "P0: is a toy" in done.stderr and "0 of 1 pass toycheck" in done.stderr
    done = synth("run", progress, "--backend", "toy", "--mapping", "plain", "--iterations", 2)
    assert done.exit_code == 0 and done.stdout.startswith("a toy\n"), done.output
    done = synth("run", memory, "--backend", "toy", "--instances", 64, "--iterations", 2, "--sound", "sc")
    assert done.exit_code == 1 and "was seen to end in 0, 0" in done.stderr, done.output


def test_a_back_end_without_a_device_is_only_written() -> None:
    assert replace(TOY, device=None).decode is None
    done = synth("run", EXAMPLES / "progress" / "mutex.axb", "--backend", "toy")
    assert done.exit_code == 2 and "'toy' is not one of" in done.stderr
