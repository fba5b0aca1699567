"""The compilers inside OpenCL drivers: a kernel is built by the host that would run it."""

from __future__ import annotations

from pathlib import Path

from backends.opencl.device import command, find_device, memory_command
from backends.shared.toolchain import Compilation, Compiler, Probed, run


class OpenClCompiler:
    """The compiler of an OpenCL device."""

    def missing(self) -> list[str]:
        """As ``Compiler.missing``."""
        return [] if find_device() else ["PoCL (pip install 'pyopencl[pocl]')"]

    def compile(self, file: Path, binary: Path | None = None, memory: bool = False) -> Compilation:
        """As ``Compiler.compile``; the two families have hosts of their own."""
        host = memory_command(file) if memory else command(file)
        return run(file, [*host, "0"])

    def probe(self) -> list[Probed]:
        """As ``Compiler.probe``."""
        return []


COMPILER: Compiler = OpenClCompiler()
