"""OpenCL as a back end: run by the OpenCL devices of this machine, whose drivers hold the compilers.

A kernel is built by the host that would run it, on the device that would: the one that ``backends.opencl.platforms``
chooses, or that of a named platform. The host goes through pyopencl.

PoCL runs a launch with as many threads of its own as the CPU has cores, or ``POCL_MAX_PTHREAD_COUNT``. Each fetches a
chunk of consecutive work-groups and runs them to their end, one after the other: an unfair scheduler by design. PoCL
keeps compiled kernels in ``POCL_CACHE_DIR``, which is passed on; pyopencl's own cache is switched off, for one will do.
Intel's runtime spreads work-groups over the threads of TBB, as many as there are cores.

Gap: a kernel that hangs on a real GPU may need a reset of the device; killing its process is all that is done here.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backends.opencl.batch import of_one_kind, together
from backends.opencl.memory import OpenClKernel
from backends.opencl.platforms import (
    POCL,
    PlatformDevice,
    choose,
    first_that_works,
    loader_problems,
    platform_devices,
    probe,
)
from backends.opencl.progress import OpenCl
from backends.opencl.spirv import probed
from backends.shared.backend import Backend
from backends.shared.device import Device, Prepared
from backends.shared.files import shipped
from backends.shared.layout import Layout, device_layout
from backends.shared.log import as_comment
from backends.shared.mapping import Launch
from backends.shared.profiles import Profile
from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, installed, lacking, run
from corpus.errors import InputError
from corpus.extras import pip_install
from corpus.litmus.test import LitmusTest

LINUX_X86 = platform.system() == "Linux" and platform.machine() == "x86_64"

SYSTEM_POCL = "Debian: apt install pocl-opencl-icd; conda: pocl"


class OpenClCompiler:
    """The compiler of the device that is chosen where no platform is named."""

    def missing(self) -> list[str]:
        """Name what is missing, unless some device builds and runs a trivial kernel."""
        return lacking(first_that_works(), "an OpenCL device")

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Build a kernel on the chosen device. Raises ``InputError`` without a device."""
        device = choose()
        return run(file, [*device.command(file), "0"], None, timeout, device.environment)

    def probe(self) -> list[Probed]:
        """Report on the devices in the order in which they are tried, on runtimes that could be had, and on what
        makes SPIR-V of kernels.
        """
        purpose = "compile and run"
        devices = platform_devices()
        found = []
        for device in devices:
            words = f"{device.device.strip()} ({device.platform}, {device.kind})"
            trouble = probe(device)
            hint = (SYSTEM_POCL if device.ours else "") if trouble else ""
            found.append(Probed(words, device.driver, purpose, trouble, hint))
        found += [Probed("OpenCL loader", "", purpose, trouble, pip_install("opencl")) for trouble in loader_problems()]
        if not any(device.platform == POCL for device in devices):
            hint = f"{pip_install('opencl')}, or {SYSTEM_POCL}" if LINUX_X86 else SYSTEM_POCL
            found.append(Probed("PoCL", "", purpose, "not installed", hint))
        if LINUX_X86 and installed("intel-opencl-rt", "libintelocl.so") is None:
            found.append(
                Probed("Intel's CPU runtime", "", purpose, "not installed", f"{pip_install('intel')} (900 MB)")
            )
        return [*found, probed()]


COMPILER: Compiler = OpenClCompiler()


LEAST_WORKERS, MOST_WORKERS = 8, 256
"""Threads of PoCL for a memory test: so many at least, that few tests need a process of their own for another number.
"""


@dataclass(frozen=True, slots=True)
class OpenClDevice(Device):
    """An OpenCL device, with the number of instances and of PoCL's threads to use (``None``: default).

    ``platform`` is part of its platform's name and version; ``None`` leaves the choice to a probe. Raises
    ``InputError`` where there is none that works, and for a number of threads where the device is not PoCL's.
    """

    platform: str | None = None
    instances: int | None = None
    workers: int | None = None
    chosen: PlatformDevice = field(init=False)
    name: str = field(init=False)

    def __post_init__(self) -> None:
        chosen = choose(self.platform)
        name = chosen.name
        if chosen.is_pocl:
            name += f", {self.workers or os.environ.get('POCL_MAX_PTHREAD_COUNT') or os.cpu_count()} threads"
        elif self.workers is not None:
            raise InputError(f"--workers: PoCL has such a number, and {name} has not")
        object.__setattr__(self, "chosen", chosen)
        object.__setattr__(self, "name", name)

    @property
    def hardware(self) -> str:
        """The name of the device, as its platform gives it."""
        return self.chosen.name

    @property
    def driver(self) -> str:
        """Its version, where the device's words do not say it."""
        return "" if self.chosen.driver in self.chosen.name else self.chosen.driver

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """How a memory test is launched on this device."""
        return device_layout(test, instances, profile, self.chosen.is_cpu)

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """Return the command of the host that builds and runs a kernel."""
        return self._prepared("host.py", file, shape)

    def of_one_kind(self, shape: Launch | Layout) -> object:
        """Tests go together on a CPU, where work-groups have no registers to share."""
        return of_one_kind(shape) if self.chosen.is_cpu else None

    def prepare_all(self, files: Sequence[Path], shapes: Sequence[Launch | Layout]) -> list[Prepared]:
        """One kernel for all, and the host that runs each test of it."""
        texts = [file.read_text(encoding="utf-8") for file in files]
        every = files[0].with_name("every.cl")
        prepared = []
        for number, (text, shape) in enumerate(zip(texts, shapes, strict=True)):
            own = f"{text}// {every.name} {number}\n"
            program = every.with_name(f"{number}.cl")
            program.write_text(own, encoding="utf-8")
            prepared.append(self._prepared("batch_host.py", program, shape))
        every.write_text(together(texts, shapes[0]), encoding="utf-8")
        return prepared

    def _prepared(self, host: str, file: Path, shape: Launch | Layout) -> Prepared:
        """A host; a work-group of a memory test has a thread of PoCL to itself, as a rule."""
        environment = dict(self.chosen.environment)
        workers = self.workers
        if isinstance(shape, Layout) and self.chosen.is_pocl:
            workers = workers or min(max(shape.groups, LEAST_WORKERS), MOST_WORKERS)
        if workers is not None:
            environment["POCL_MAX_PTHREAD_COUNT"] = str(workers)
        return Prepared(self.chosen.server(host), environment, str(file.resolve()))


BACKEND = Backend(
    name="opencl",
    suffix=".cl",
    progress=OpenCl,
    memory=OpenClKernel,
    files="TEST.cl, run_opencl.py",
    usage="timeout 20 python run_opencl.py TEST.cl",
    compiler=COMPILER,
    device=lambda options: OpenClDevice(options.platform, options.instances, options.workers),
    embed=as_comment,
    companions={"run_opencl.py": shipped("backends.opencl", "host.py")},
)
