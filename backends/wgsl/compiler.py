"""The compilers inside WebGPU: a shader is built by the host that would run it, on the adapter that would."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, run
from backends.wgsl.adapters import INSTALL, adapters, choose, first_that_works, probe


class WgslCompiler:
    """wgpu on the adapter that is chosen where none is named."""

    def missing(self) -> list[str]:
        """As ``Compiler.missing``: an adapter counts only if it builds and runs a trivial shader."""
        adapter, failures = first_that_works()
        said = "; ".join([*failures, "synth devices says what to install"])
        return [] if adapter else [f"a WebGPU adapter that works ({said})"]

    def compile(
        self, file: Path, binary: Path | None = None, memory: bool = False, timeout: float = TIMEOUT
    ) -> Compilation:
        """As ``Compiler.compile``. Raises ``InputError`` without an adapter."""
        return run(file, [*choose().command(file), "0"], None, timeout, title="wgpu")

    def probe(self) -> list[Probed]:
        """As ``Compiler.probe``: the adapters in the order in which they are tried."""
        purpose = "compile and run"
        found = [
            Probed(f"{adapter.name} (WebGPU, {adapter.kind})", _version(), purpose, probe(adapter), "")
            for adapter in adapters()
        ]
        return found or [
            Probed("WebGPU", _version(), purpose, "; ".join(first_that_works()[1]) or "no adapter", INSTALL)
        ]


def _version() -> str:
    try:
        return f"wgpu {version('wgpu')}"
    except PackageNotFoundError:
        return ""


COMPILER: Compiler = WgslCompiler()
