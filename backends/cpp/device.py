"""Runs tests on the CPU through ``std::thread``. It is fully subscribed or over-subscribed (Sorensen et al. 2021,
section 6.3.1).

Fully subscribed, round-robin and chunked run as many instances as give each core one thread; over-subscribed, a
hundred threads a core. One instance runs at least, so a test of more threads than cores over-subscribes them a little
in any case. Plain is one instance in both.

The operating system preempts threads and starves none for long: a hang here means a test that needs more than fairness.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from backends.cpp.batch import together
from backends.cpp.compiler import COMPILER, FLAGS, compiler_version
from backends.shared.cache import cached
from backends.shared.device import Prepared
from backends.shared.layout import CACHE_LINE, CPU, Layout, Parameters, chosen, place
from backends.shared.mapping import DEVICE, Launch, launch
from backends.shared.process import RunError
from backends.shared.profiles import DEFAULT, Profile
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program

SUBSCRIPTIONS = {"full": 1, "over": 100}
"""Threads for each core of the CPU, by the word for the subscription."""

THREADS = Parameters(slots=512, stride=CACHE_LINE, shuffle=False, spin=1 << 15, stress_rounds=CPU.stress_rounds)
"""The first parameters of a launch of memory tests: many instances a thread, which waits for the others before each."""


@dataclass(frozen=True, slots=True)
class CppDevice:
    """The CPU as a device, subscribed as ``subscribe`` says; ``instances`` overrides it.

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
    def hardware(self) -> str:
        """The words for the CPU, which are the name of the device."""
        return self.name

    @property
    def driver(self) -> str:
        """The driver is empty, because the words for the device already say what drives it."""
        return ""

    @property
    def compiler(self) -> str:
        """The compiler of the programs, g++ with its version."""
        return f"g++ {compiler_version()}"

    def launch(self, program: Program, mapping: str, placement: str = DEVICE.name) -> Launch:
        """Return the launch of a program on this device."""
        return launch(program, mapping, self.instances, _cores() * SUBSCRIPTIONS[self.subscribe], placement)

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """Return the layout of a memory test with a C++ thread for each of its threads; the threads wait for each
        other.
        """
        return place(test, thread_parameters(test, instances, profile))

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """Compile a program beside its text. Raises ``RunError`` where the compiler refuses it."""
        binary = file.with_name("program")

        def make(path: Path) -> bool:
            compilation = COMPILER.compile(file, path)
            if not compilation.ok:
                raise RunError(f"g++: {compilation.output}")
            return True

        cached([self.compiler, *FLAGS, file.read_text(encoding="utf-8")], binary, make)
        return Prepared([str(binary)])

    def of_one_kind(self, shape: Launch | Layout) -> object:
        """Return the family of a test, for all tests of a family go together."""
        return type(shape)

    def prepare_all(self, files: Sequence[Path], shapes: Sequence[Launch | Layout]) -> list[Prepared]:
        """Compile several tests to one program, which is told the number of the test. Raises ``RunError`` where the
        compiler refuses it.
        """
        every = files[0].with_name("every.cpp")
        every.write_text(together([file.read_text(encoding="utf-8") for file in files]), encoding="utf-8")
        program = self.prepare(every, shapes[0])
        return [Prepared([*program.command, str(number)]) for number in range(len(files))]


def thread_parameters(test: LitmusTest, instances: int, profile: Profile = DEFAULT, iterations: int = 20) -> Parameters:
    """Return the parameters that launch a test with C++ threads."""
    return chosen(replace(THREADS, instances=instances, iterations=iterations), profile)


def _cores() -> int:
    return len(os.sched_getaffinity(0))
