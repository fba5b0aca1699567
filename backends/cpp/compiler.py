"""Drives g++ as the compiler of C++20 with threads."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.cpp.progress import Cpp
from backends.shared.log import as_string
from backends.shared.toolchain import TIMEOUT, Compilation, Compiler, Probed, run, tried, version, which

FLAGS = ("-std=c++20", "-O2", "-pthread", "-Wall", "-Wextra", "-Werror")

INSTALL = "g++ 11 or later (Debian: apt install g++)"


class CppCompiler:
    """The compiler of the C++ back end, which is the g++ on PATH."""

    def missing(self) -> list[str]:
        """Return what is missing on this machine to compile C++20, as ``Compiler.missing`` does."""
        return [] if which("g++") else [INSTALL]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a C++ file by g++, as ``Compiler.compile`` does."""
        with TemporaryDirectory() as scratch:
            return run(file, ["g++", *FLAGS, "-o", binary or Path(scratch, "program"), file.resolve()], None, timeout)

    def probe(self) -> list[Probed]:
        """Probe g++, and the CPU that runs what it makes, as ``Compiler.probe`` does."""
        purpose = "compile and run"
        if self.missing():
            return [Probed("g++", "", purpose, "not on PATH", INSTALL)]
        name = compiler_version()
        return [Probed("g++", name, purpose, tried(self, Cpp, ".cpp", runs=True, ending=as_string("{}")), INSTALL)]


@cache
def compiler_version() -> str:
    """Return the version of g++ as text, empty where g++ is missing."""
    return version(["g++", "-dumpfullversion"], r"(\S+)")


COMPILER: Compiler = CppCompiler()
