"""C++ as a back end: compiled by g++ as C++20 with threads, run by the threads of this machine.

The CPU is fully subscribed or over-subscribed (Sorensen et al. 2021, section 6.3.1). Fully subscribed, round-robin and
chunked run as many instances as give each core one thread; over-subscribed, a hundred threads a core. One instance runs
at least, so a test of more threads than cores over-subscribes them a little in any case. Plain is one instance in both.

The operating system preempts threads and starves none for long: a hang here means a test that needs more than fairness.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from backends.cpp.batch import together
from backends.cpp.memory import CppKernel
from backends.cpp.progress import Cpp
from backends.shared.backend import Backend
from backends.shared.cache import compiled_once
from backends.shared.device import Device, Prepared
from backends.shared.handing import MADE, SOURCE, handed
from backends.shared.layout import CACHE_LINE, CPU, Layout, Parameters, chosen, place
from backends.shared.log import as_string
from backends.shared.mapping import DEVICE, Launch, launch
from backends.shared.profiles import DEFAULT, Profile
from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, tried, version, which
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program

FLAGS = ("-std=c++20", "-O2", "-pthread", "-Wall", "-Wextra", "-Werror")

INSTALL = "g++ 11 or later (Debian: apt install g++)"


class CppCompiler:
    """The compiler of C++ tests: g++, as it stands on PATH."""

    def missing(self) -> list[str]:
        """Name g++ with the way to install it, if it is not on PATH."""
        return [] if which("g++") else [INSTALL]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a C++ test by g++, into ``binary`` if one is named."""
        return handed(file, ["g++", *FLAGS, "-o", MADE, SOURCE], binary, timeout=timeout)

    def probe(self) -> list[Probed]:
        """Report whether g++ compiles a test, and whether the CPU runs the program."""
        purpose = "compile and run"
        if self.missing():
            return [Probed("g++", "", purpose, "not on PATH", INSTALL)]
        name = compiler_version()
        return [Probed("g++", name, purpose, tried(self, Cpp, ".cpp", runs=True, ending=as_string("{}")), INSTALL)]


@cache
def compiler_version() -> str:
    """Return the version that g++ reports."""
    return version(["g++", "-dumpfullversion"], r"(\S+)")


COMPILER: Compiler = CppCompiler()


SUBSCRIPTIONS = {"full": 1, "over": 100}
"""Threads a core."""

THREADS = Parameters(slots=512, stride=CACHE_LINE, shuffle=False, spin=1 << 15, stress_rounds=CPU.stress_rounds)
"""What a launch of memory tests begins with: many instances a thread, which waits for the others before each."""


@dataclass(frozen=True, slots=True)
class CppDevice(Device):
    """The CPU, subscribed as ``subscribe`` says; ``instances`` overrides it.

    Raises ``InputError`` where there is no C++ compiler.
    """

    subscribe: str = "full"
    instances: int | None = None
    name: str = field(init=False)

    def __post_init__(self) -> None:
        if lacking := COMPILER.missing():
            raise InputError(f"cannot compile C++: no {lacking[0]}")
        object.__setattr__(self, "name", f"{platform.system()} {platform.machine()}, {_cores()} cores")

    @property
    def compiler(self) -> str:
        """The name and the version of g++."""
        return f"g++ {compiler_version()}"

    def launch(self, program: Program, mapping: str, placement: str = DEVICE.name) -> Launch:
        """The launch of a program on this device."""
        return launch(program, mapping, self.instances, _cores() * SUBSCRIPTIONS[self.subscribe], placement)

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """A thread each, which wait for each other."""
        return place(test, thread_parameters(test, instances, profile))

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """Compile a program beside its text. Raises ``RunError`` where the compiler refuses it."""
        binary = file.with_name("program")
        compiled_once(COMPILER, "g++", file, binary, self.compiler, *FLAGS)
        return Prepared([str(binary)])

    def of_one_kind(self, shape: Launch | Layout) -> object:
        """All tests of a family go together."""
        return type(shape)

    def prepare_all(self, files: Sequence[Path], shapes: Sequence[Launch | Layout]) -> list[Prepared]:
        """One program, which is told the number of the test. Raises ``RunError`` where the compiler refuses it."""
        every = files[0].with_name("every.cpp")
        every.write_text(together([file.read_text(encoding="utf-8") for file in files]), encoding="utf-8")
        program = self.prepare(every, shapes[0])
        return [Prepared([*program.command, str(number)]) for number in range(len(files))]


def thread_parameters(test: LitmusTest, instances: int, profile: Profile = DEFAULT, iterations: int = 20) -> Parameters:
    """How a test is launched whose threads are those of C++."""
    return chosen(replace(THREADS, instances=instances, iterations=iterations), profile)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


BACKEND = Backend(
    name="cpp",
    suffix=".cpp",
    progress=Cpp,
    memory=CppKernel,
    files="TEST.cpp",
    usage="g++ -std=c++20 -O2 -pthread -o t TEST.cpp; timeout 20 ./t",
    compiler=COMPILER,
    launched=thread_parameters,
    device=lambda options: CppDevice(options.subscribe, options.instances),
    embed=as_string,
)
