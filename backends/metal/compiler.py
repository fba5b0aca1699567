"""Drives Apple's compiler of Metal, ``xcrun metal``, which is part of Xcode."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.metal.device import HOST
from backends.metal.progress import Metal
from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, run, tried, version

INSTALL = "macOS with Xcode"
_METAL = ("xcrun", "-sdk", "macosx", "metal")
_STANDARD = "-std=metal3.2"


class MetalCompiler:
    """The compiler of the Metal back end, ``xcrun metal``, which only a Mac has."""

    def missing(self) -> list[str]:
        """Return what is missing on this machine to compile Metal, as ``Compiler.missing`` does."""
        return [] if shutil.which(_METAL[0]) else [f"xcrun metal: {INSTALL}"]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a Metal file to AIR, Apple's intermediate code, as ``Compiler.compile`` does."""
        with TemporaryDirectory() as scratch:
            made = binary or Path(scratch, "program.air")
            return run(file, [*_METAL, _STANDARD, "-c", file, "-o", made], None, timeout, title="xcrun metal")

    def probe(self) -> list[Probed]:
        """Probe the compiler, and then the devices, as ``Compiler.probe`` does."""
        purpose = "compile (--check)"
        if self.missing():
            found = Probed("xcrun metal", "", purpose, "not installed", INSTALL)
        else:
            words = version([*_METAL, "--version"], r"version (\S+)")
            found = Probed("xcrun metal", words, purpose, tried(self, Metal, ".metal"), INSTALL)
        return [found, *HOST.probed("run")]


COMPILER: Compiler = MetalCompiler()
