"""Memory tests on the devices of this machine: launched again and again in a process of their own, outcomes summed up.

How a test is launched is chosen here for each kind of device:

- *OpenCL on a CPU* (PoCL): a work-group is run by one thread, item after item, so a work-group for each CTA plays all
  blocks, and each has a thread of PoCL to itself (``POCL_MAX_PTHREAD_COUNT``, where no other number is asked for).
  Threads of one CTA never run at the same time; only threads of different CTAs wait for each other.
- *OpenCL elsewhere*: a work-group for each CTA and block, and no waiting, for nothing says which of them run together.
- *C++*: a thread each, which wait for each other.

Gap: the platform's name says what is a CPU, and only PoCL's is known.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.cpp.device import CppDevice
from backends.emit import write_files
from backends.memory_emit import compile_memory_test
from backends.opencl.device import POCL, OpenClDevice, find_device, memory_command
from backends.shared.layout import Layout, Parameters, place
from backends.shared.process import TIMED_OUT, RunError, watch
from backends.shared.toolchain import compile_file
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest

INSTANCES = 1 << 16
"""Instances of a launch, where nothing else is said."""

_SLOTS = {"opencl": 32, "cpp": 512}
_STRIDE = 16  # a cache line of most CPUs
_SPIN = {"opencl": 1 << 17, "cpp": 1 << 15}
_STRESS_ROUNDS = 1 << 14


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What was seen: how often each tuple of final values (signed, in the order of ``Layout.terms``), and how many
    instances had an outcome beyond the table of their launch. ``launches`` came to an end; ``hung``: one more did not.
    """

    counts: Mapping[tuple[int, ...], int]
    other: int
    launches: int
    hung: bool


@dataclass(frozen=True, slots=True)
class MemoryDevice:
    """A device and how it runs memory tests; made by ``memory_device``. ``name`` says in stable words which it is."""

    backend: str
    name: str
    environment: Mapping[str, str]
    platform: str | None = None

    def layout(self, test: LitmusTest, instances: int = INSTANCES, stress: bool = False) -> Layout:
        """How the test is launched here. Raises ``InputError`` where it cannot be."""
        if self.platform is not None and self.platform not in POCL:
            return place(test, Parameters(instances, stress=int(stress)))
        ctas = len({thread.place[:3] for thread in test.threads})
        slots = _SLOTS[self.backend]
        return place(
            test,
            Parameters(
                instances=instances,
                slots=slots,
                passes=1 << (max(1, -(-instances // slots)) - 1).bit_length() if self.backend == "opencl" else 1,
                stride=_STRIDE,
                shuffle=False,
                spin=_SPIN[self.backend] if ctas > 1 or self.backend == "cpp" else 0,
                stress=int(stress),
                stress_rounds=_STRESS_ROUNDS,
            ),
        )

    def source(self, name: str, layout: Layout) -> dict[str, str]:
        """The files of a test, its own first. Raises ``InputError`` where the language cannot say the test."""
        return compile_memory_test(name, layout.test, self.backend, layout.parameters)

    def run(self, name: str, layout: Layout, iterations: int, timeout: float) -> Outcomes:
        """Launch the test ``iterations`` times, with ``timeout`` seconds for each; what comes after a hang is skipped.

        Raises ``InputError`` where the language cannot say the test, ``RunError`` where it cannot be built or run.
        """
        files = self.source(name, layout)
        environment = dict(self.environment)
        if self.platform is not None and self.platform in POCL:
            environment.setdefault("POCL_MAX_PTHREAD_COUNT", str(layout.groups))
        with TemporaryDirectory(prefix="synth-run-") as folder:
            write_files(Path(folder), files)
            file = Path(folder) / next(iter(files))
            run = watch(self._command(file), iterations, timeout, environment)
        return _summed(run.said, TIMED_OUT in run.outcomes)

    def _command(self, file: Path) -> list[str]:
        if self.platform is not None:
            return memory_command(file, self.platform)
        binary = file.with_name("program")
        compilation = compile_file(file, binary)
        if not compilation.ok:
            raise RunError(f"g++: {compilation.output}")
        return [str(binary)]


def memory_device(backend: str, platform: str = POCL, workers: int | None = None) -> MemoryDevice:
    """The device of a back end that runs here. Raises ``InputError`` where there is none."""
    if backend == "cpp":
        device = CppDevice()
        return MemoryDevice(backend, device.name, device.environment)
    if backend == "opencl":
        opencl = OpenClDevice(platform, None, workers)
        return MemoryDevice(backend, find_device(platform) or opencl.name, opencl.environment, platform)
    raise InputError(f"memory tests run with opencl and cpp here, not with {backend}")


def _summed(lines: tuple[str, ...], hung: bool) -> Outcomes:
    counts: Counter[tuple[int, ...]] = Counter()
    others = 0
    for line in lines:
        try:
            rows, other = json.loads(line.split(" ", 2)[2])
        except (IndexError, ValueError):
            raise RunError(f"the program said '{line}', and no outcomes") from None
        for count, *values in rows:
            counts[tuple(value - (value >> 31 << 32) for value in values)] += count
        others += other
    return Outcomes(dict(sorted(counts.items())), others, len(lines), hung)
