"""OpenCL devices through pyopencl; PoCL, which makes one of the CPU, unless another platform is named.

PoCL runs a launch with as many threads of its own as the CPU has cores, or ``POCL_MAX_PTHREAD_COUNT``. Each fetches a
chunk of consecutive work-groups and runs them to their end, one after the other: an unfair scheduler by design. PoCL
keeps compiled kernels in ``POCL_CACHE_DIR``, which is passed on; pyopencl's own cache is switched off, for one will do.

Gap: a kernel that hangs on a real GPU may need a reset of the device; killing its process is all that is done here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backends.emit import compile_test, write_files
from backends.shared.mapping import Launch, launch
from corpus.errors import InputError
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

    def __post_init__(self) -> None:
        device = find_device(self.platform)
        if device is None:
            raise InputError(f"no OpenCL device: is there a platform named '{self.platform}'?")
        if self.platform in POCL:
            device += f", {self.workers or os.environ.get('POCL_MAX_PTHREAD_COUNT') or os.cpu_count()} threads"
        object.__setattr__(self, "name", device)

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for the process that runs a test."""
        workers = {} if self.workers is None else {"POCL_MAX_PTHREAD_COUNT": str(self.workers)}
        return {"PYOPENCL_NO_CACHE": "1", **workers}

    def launch(self, program: Program, mapping: str) -> Launch:
        """The launch of a program on this device."""
        return launch(program, mapping, self.instances)

    def prepare(self, name: str, program: Program, mapping: str, folder: Path) -> list[str]:
        """Write the kernel of a test into ``folder``; the command that runs it, less the number of iterations."""
        files = compile_test(name, program, "opencl", mapping, self.instances)
        write_files(folder, files)
        return command(folder / next(iter(files)), self.platform)
