"""Finds the OpenCL devices, those of them that work, and the one to use.

A platform that is listed need not work: PoCL 3.0 of PyPI, on a CPU that its LLVM does not know, answers every kernel
with "unknown target CPU 'generic'". So a device is chosen by a *probe*: a trivial kernel, built and run by the host
that runs tests, in a process of its own, with a time-out. The first that passes is used, in this order:

1. PoCL of this environment (the ``pocl`` extra of pyopencl, on PyPI), so that results do not depend on the system;
2. any other PoCL, such as Debian's ``pocl-opencl-icd``;
3. any other CPU: Intel's runtime (the ``intel`` extra, PyPI), or what the system has;
4. a GPU, and then whatever is left.

Whether a device is a CPU is what it says itself, CL_DEVICE_TYPE.

Drivers are found by the OpenCL loader, as the process's variables tell it. Those that live in this environment are
shown to it by the path of their library (``OCL_ICD_VENDORS`` for ocl-icd, ``OCL_ICD_FILENAMES`` for Khronos' loader),
and alone, which tells two PoCLs apart. Intel's also needs its folder on the path of libraries, which only a new process
can be given. Where the user has set one of the loader's variables, it stands, and nothing is added.

What a probe found is remembered as long as this process lives, and no longer: drivers come and go.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from backends.opencl.progress import OpenCl
from backends.shared.mapping import launch
from backends.shared.serve import serving
from backends.shared.toolchain import PROBE, PROBE_TIMEOUT, device_of, first_usable, installed, problem, rows_of, run
from corpus.private import private_folder

POCL = "Portable Computing Language"
"""The name of PoCL's platform, whoever built it."""

HERE = Path(__file__).parent

_TYPES = {2: "CPU", 4: "GPU", 8: "accelerator"}  # bits of CL_DEVICE_TYPE

Variables = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PlatformDevice:
    """An OpenCL device as its platform describes it.

    ``number`` counts the devices of all platforms whose text contains ``selector``, under ``variables``: the two
    together tell the hosts which device is meant. ``ours`` says that its driver is of this Python environment.
    """

    platform: str
    platform_version: str
    device: str
    driver: str
    kind: str
    number: int
    variables: Variables
    ours: bool

    @property
    def name(self) -> str:
        """The device in stable words, less the options that its driver was built with; results contain these words."""
        return f"{self.device.strip()}, {' '.join(self.platform_version.split(',')[0].split())}"

    @property
    def selector(self) -> str:
        """The platform's name and version, as the hosts look for it."""
        return f"{self.platform}, {self.platform_version}"

    @property
    def is_cpu(self) -> bool:
        """Work-groups of a CPU run on the cores of this machine."""
        return self.kind == "CPU"

    @property
    def is_pocl(self) -> bool:
        """The variables of PoCL have an effect only on a device whose platform is PoCL's."""
        return self.platform == POCL

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables of every process that uses the device. PoCL caches kernels itself, so pyopencl need not."""
        return {"PYOPENCL_NO_CACHE": "1", **dict(self.variables)}

    @property
    def _rank(self) -> int:
        if self.is_pocl:
            return 0 if self.ours else 1
        return 2 if self.is_cpu else 3 if self.kind == "GPU" else 4

    def command(self, kernel: Path) -> list[str]:
        """Return the command that runs a kernel file; the number of iterations is appended to it, 0 to build it
        only.
        """
        return [sys.executable, str(HERE / "host.py"), *self._choice, str(kernel.resolve())]

    def server(self, host: str) -> list[str]:
        """The command that runs one kernel file after the other (``backends.shared.serve``)."""
        return serving(HERE / host, self._choice)

    @property
    def _choice(self) -> list[str]:
        return ["--platform", self.selector, "--device", str(self.number)]


def first_that_works(platform: str | None = None) -> tuple[PlatformDevice | None, list[str]]:
    """Return the first device that passes its probe, and what is wrong with those before it, a line each.

    Of a platform whose name and version contain ``platform``, if given; ``None`` where no device works.
    """
    named = (device for device in _in_order() if platform is None or platform in device.selector)
    device, failures = first_usable(named, probe)
    return device, failures if device or failures else loader_problems()


def choose(platform: str | None = None) -> PlatformDevice:
    """Return the first device that works. Raises ``InputError`` where there is none: which were tried, and what they
    said.
    """
    named = "" if platform is None else f" on a platform named '{platform}'"
    return device_of(first_that_works(platform), f"OpenCL device{named}")


def platform_devices() -> list[PlatformDevice]:
    """Return every device that any loader can see, in the order in which they are tried."""
    return list(_in_order())


def loader_problems() -> list[str]:
    """Return what the loader said where it could not even list platforms, a line each."""
    return list(dict.fromkeys(reason for variables, _ in drivers() if (reason := listed(variables)[1])))


@cache
def probe(device: PlatformDevice) -> str:
    """Build and run a trivial kernel on a device, and return why it cannot be used, in one line, or "" where it
    works.
    """
    with private_folder("probe") as folder:
        kernel = Path(folder, "probe.cl")
        kernel.write_text(OpenCl.render("probe", launch(PROBE, "plain")), encoding="utf-8")
        # With PoCL's cache, a kernel that could be built once would hide that nothing can be built any more.
        environment = {**device.environment, "POCL_CACHE_DIR": str(folder)}
        done = run(kernel, [*device.command(kernel), "1"], None, PROBE_TIMEOUT, environment, "a trivial kernel")
    return "" if done.ok else problem(done.output) or "a trivial kernel failed"


def forget() -> None:
    """Forget which devices were found, for drivers that came or went."""
    probe.cache_clear()
    listed.cache_clear()


def _in_order() -> Iterator[PlatformDevice]:
    """Devices by rank, and those of a rank in the loader's order; the first without looking for the others."""
    (first, ours), *others = drivers()
    devices = _devices(first, ours)
    if ours:
        yield from devices
    rest = [] if ours else devices
    known = {device.selector for device in devices}
    for variables, ours in others:
        found = [device for device in _devices(variables, ours) if device.selector not in known]
        known |= {device.selector for device in found}
        rest += found
    yield from sorted(rest, key=lambda device: device._rank)


def drivers() -> list[tuple[Variables, bool]]:
    """Return under which variables the loader is asked, PoCL of this environment first, and whether for that alone."""
    if os.environ.get("OCL_ICD_VENDORS") or os.environ.get("OCL_ICD_FILENAMES"):
        return [((), False)]
    found: list[tuple[Variables, bool]] = []
    if (icd := installed("pocl-binary-distribution", "pocl.icd")) is not None:
        library = icd.parent / icd.read_text(encoding="utf-8").strip()
        found.append((_alone(library), True))
    found.append(((), False))
    if (intel := installed("intel-opencl-rt", "libintelocl.so")) is not None:
        path = os.pathsep.join(filter(None, [str(intel.parent), os.environ.get("LD_LIBRARY_PATH")]))
        found.append(((*_alone(intel), ("LD_LIBRARY_PATH", path)), True))
    return found


def _alone(library: Path) -> Variables:
    """Variables that show a loader one driver: ocl-icd, which takes a library for the only one, and Khronos'."""
    return (("OCL_ICD_VENDORS", str(library)), ("OCL_ICD_FILENAMES", str(library)))


def _devices(variables: Variables, ours: bool) -> list[PlatformDevice]:
    rows = listed(variables)[0]
    selectors = [f"{platform}, {version}" for platform, version, *_ in rows]
    return [
        PlatformDevice(
            platform,
            version,
            device,
            driver,
            next((name for bit, name in _TYPES.items() if kind & bit), "device"),
            sum(selectors[i] in other for other in selectors[:i]),
            variables,
            ours,
        )
        for i, (platform, version, device, driver, kind) in enumerate(rows)
    ]


@cache
def listed(variables: Variables) -> tuple[tuple[tuple[Any, ...], ...], str]:
    """Return what the loader lists under these variables, and what it said if it failed."""
    return rows_of(HERE / "listing.py", "listing OpenCL platforms", environment=dict(variables))
