"""The compilers inside WebGPU: a shader is built by the host that would run it, on the adapter that would."""

from __future__ import annotations

from pathlib import Path

from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, run
from backends.wgsl.device import HOST


class WgslCompiler:
    """wgpu on the adapter that is chosen where none is named."""

    def missing(self) -> list[str]:
        """As ``Compiler.missing``: an adapter counts only if it builds and runs a small shader."""
        return HOST.missing()

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """As ``Compiler.compile``. Raises ``InputError`` without an adapter."""
        return run(file, [*HOST.choose().command(file), "0"], None, timeout, title="wgpu")

    def probe(self) -> list[Probed]:
        """As ``Compiler.probe``."""
        return HOST.probed("compile and run")


COMPILER: Compiler = WgslCompiler()
