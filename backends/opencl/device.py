"""OpenCL devices through pyopencl: the one that ``backends.opencl.platforms`` chooses, or that of a named platform.

PoCL runs a launch with as many threads of its own as the CPU has cores, or ``POCL_MAX_PTHREAD_COUNT``. Each fetches a
chunk of consecutive work-groups and runs them to their end, one after the other: an unfair scheduler by design. PoCL
keeps compiled kernels in ``POCL_CACHE_DIR``, which is passed on; pyopencl's own cache is switched off, for one will do.
Intel's runtime spreads work-groups over the threads of TBB, as many as there are cores.

Gap: a kernel that hangs on a real GPU may need a reset of the device; killing its process is all that is done here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from backends.opencl.platforms import PlatformDevice, choose
from backends.shared.device import Prepared
from backends.shared.layout import Layout, device_layout
from backends.shared.mapping import DEVICE, Launch, launch
from backends.shared.profiles import Profile
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program


@dataclass(frozen=True, slots=True)
class OpenClDevice:
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
        """The device itself."""
        return self.chosen.name

    @property
    def compiler(self) -> str:
        """The driver, which the device's words name."""
        return ""

    def launch(self, program: Program, mapping: str, placement: str = DEVICE.name) -> Launch:
        """The launch of a program on this device."""
        return launch(program, mapping, self.instances, placement=placement)

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """How a memory test is launched on this device."""
        return device_layout(test, instances, profile, self.chosen.is_cpu)

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """The host that runs a kernel; a work-group of a memory test has a thread of PoCL to itself."""
        environment = dict(self.chosen.environment)
        workers = self.workers
        if isinstance(shape, Layout) and self.chosen.is_pocl:
            workers = workers or shape.groups
        if workers is not None:
            environment["POCL_MAX_PTHREAD_COUNT"] = str(workers)
        host = "memory_host.py" if isinstance(shape, Layout) else "host.py"
        return Prepared(self.chosen.server(host), environment, str(file.resolve()))
