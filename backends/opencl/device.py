"""OpenCL devices through pyopencl; PoCL, which makes one of the CPU, unless another platform is named.

PoCL runs a launch with as many threads of its own as the CPU has cores, or ``POCL_MAX_PTHREAD_COUNT``. Each fetches a
chunk of consecutive work-groups and runs them to their end, one after the other: an unfair scheduler by design. PoCL
keeps compiled kernels in ``POCL_CACHE_DIR``, which is passed on; pyopencl's own cache is switched off, for one will do.

Gap: a kernel that hangs on a real GPU may need a reset of the device; killing its process is all that is done here.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from backends.shared.device import Prepared
from backends.shared.layout import Layout, Parameters, cpu_parameters, place
from backends.shared.mapping import Launch, launch
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program

POCL = "Portable Computing Language"


def find_device(platform: str = POCL) -> str | None:
    """The first device of a platform whose name contains ``platform``, in words; ``None`` where there is none."""
    try:
        import pyopencl as cl
    except ImportError:
        return None
    try:
        for candidate in cl.get_platforms():
            if platform in candidate.name and (devices := candidate.get_devices()):
                version = " ".join(candidate.version.split(",")[0].split())  # less the options PoCL was built with
                return f"{devices[0].name.strip()}, {version}"
    except cl.Error:
        pass
    return None


def command(kernel: Path, platform: str = POCL) -> list[str]:
    """The command that runs a kernel file; the number of iterations is appended to it, 0 to build the kernel only."""
    return _host("host.py", kernel, platform)


def memory_command(kernel: Path, platform: str = POCL) -> list[str]:
    """The same for the kernels of a memory test."""
    return _host("memory_host.py", kernel, platform)


def _host(name: str, kernel: Path, platform: str) -> list[str]:
    host = Path(__file__).with_name(name)
    return [sys.executable, str(host), "--platform", platform, str(kernel.resolve())]


@dataclass(frozen=True, slots=True)
class OpenClDevice:
    """The device of an OpenCL platform, with the number of instances and of PoCL's threads to use (``None``: default).

    Raises ``InputError`` where no platform has that name.
    """

    platform: str = POCL
    instances: int | None = None
    workers: int | None = None
    name: str = field(init=False)
    hardware: str = field(init=False)

    def __post_init__(self) -> None:
        device = find_device(self.platform)
        if device is None:
            raise InputError(f"no OpenCL device: is there a platform named '{self.platform}'?")
        object.__setattr__(self, "hardware", device)
        if self.platform in POCL:
            device += f", {self.workers or os.environ.get('POCL_MAX_PTHREAD_COUNT') or os.cpu_count()} threads"
        object.__setattr__(self, "name", device)

    def launch(self, program: Program, mapping: str) -> Launch:
        """The launch of a program on this device."""
        return launch(program, mapping, self.instances)

    def layout(self, test: LitmusTest, instances: int, stress: bool) -> Layout:
        """On a CPU as ``cpu_parameters`` has it; elsewhere a work-group for each CTA and block, and no waiting, for
        nothing says which of them run together.
        """
        if self.platform not in POCL:
            return place(test, Parameters(instances, stress=int(stress)))
        return place(test, cpu_parameters(test, instances, stress))

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """The host that runs a kernel; a work-group of a memory test has a thread of PoCL to itself."""
        environment = {"PYOPENCL_NO_CACHE": "1"}
        workers = self.workers
        if isinstance(shape, Layout) and self.platform in POCL:
            workers = workers or shape.groups
        if workers is not None:
            environment["POCL_MAX_PTHREAD_COUNT"] = str(workers)
        host = memory_command if isinstance(shape, Layout) else command
        return Prepared(host(file, self.platform), environment)
