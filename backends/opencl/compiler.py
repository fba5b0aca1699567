"""Drives the compilers inside OpenCL drivers. The host builds a kernel on the device that would run it."""

from __future__ import annotations

import platform
from pathlib import Path

from backends.opencl.platforms import POCL, choose, first_that_works, loader_problems, platform_devices, probe
from backends.shared.choosing import lacking
from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, installed, run

LINUX_X86 = platform.system() == "Linux" and platform.machine() == "x86_64"

SYSTEM_POCL = "Debian: apt install pocl-opencl-icd; conda: pocl"


class OpenClCompiler:
    """The compiler inside the driver of the device that is chosen where no platform is named."""

    def missing(self) -> list[str]:
        """Return what is missing, as ``Compiler.missing`` does: a device counts only if it builds and runs a trivial
        kernel.
        """
        return lacking(first_that_works(), "an OpenCL device")

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile an OpenCL file on the device, as ``Compiler.compile`` does. Raises ``InputError`` without a
        device.
        """
        device = choose()
        return run(file, [*device.command(file), "0"], None, timeout, device.environment)

    def probe(self) -> list[Probed]:
        """Probe the devices in the order in which they are tried, then runtimes that could be had, as
        ``Compiler.probe`` does.
        """
        purpose = "compile and run"
        devices = platform_devices()
        found = []
        for device in devices:
            words = f"{device.device.strip()} ({device.platform}, {device.kind})"
            trouble = probe(device)
            hint = (SYSTEM_POCL if device.ours else "") if trouble else ""
            found.append(Probed(words, device.driver, purpose, trouble, hint))
        found += [
            Probed("OpenCL loader", "", purpose, trouble, "pip install 'synth-litmus[opencl]'")
            for trouble in loader_problems()
        ]
        if not any(device.platform == POCL for device in devices):
            hint = f"pip install 'synth-litmus[opencl]', or {SYSTEM_POCL}" if LINUX_X86 else SYSTEM_POCL
            found.append(Probed("PoCL", "", purpose, "not installed", hint))
        if LINUX_X86 and installed("intel-opencl-rt", "libintelocl.so") is None:
            found.append(
                Probed(
                    "Intel's CPU runtime", "", purpose, "not installed", "pip install 'synth-litmus[intel]' (900 MB)"
                )
            )
        return found


COMPILER: Compiler = OpenClCompiler()
