"""Makes SPIR-V of kernels: clang writes LLVM's bitcode, and LLVM's SPIR-V translator of the same version reads it.

What is compiled as it is written has registers in the place of local variables (``--spirv-mem2reg``), and nothing else
is optimised: the accesses of memory are those of the source, each at its line, and parameters keep their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from backends.shared.handing import MADE, OPTIONS, SOURCE, handed
from backends.shared.toolchain import Compilation, which
from corpus.errors import InputError

INSTALL = "Debian: apt install clang-15 llvm-spirv-15"

_AS_WRITTEN = ("-c", "-emit-llvm", "-g", "-fno-discard-value-names", "-O1", "-Xclang", "-disable-llvm-passes")
_VERSIONS = range(22, 13, -1)


class SpirvTools(NamedTuple):
    """clang and the translator, which have to be of one version of LLVM."""

    clang: Path
    translator: Path

    @property
    def name(self) -> str:
        """The name and version of the compiler and of its translator, in words."""
        return f"{self.clang.name}, {self.translator.name}"


def tools() -> SpirvTools | None:
    """Return the newest clang that has its translator; None where there is none."""
    for suffix in (*(f"-{number}" for number in _VERSIONS), ""):
        clang, translator = which(f"clang{suffix}"), which(f"llvm-spirv{suffix}")
        if clang and translator:
            return SpirvTools(clang, translator)
    return None


def as_written(
    file: Path, code: Path, language: str, words: Sequence[str | Path], options: Sequence[str]
) -> Compilation:
    """Compile somebody's file in a language, by clang's ``words`` for it, with the accesses, names and lines of the
    source; ``options`` are somebody's, too. Raises ``InputError`` where there is no clang with its translator.
    """
    return compiled(file, code, language, [*_AS_WRITTEN, *words], ["--spirv-mem2reg"], options)


def compiled(
    file: Path,
    code: Path,
    language: str,
    words: Sequence[str | Path],
    translating: Sequence[str] = (),
    options: Sequence[str] | None = None,
) -> Compilation:
    """Compile a file to SPIR-V, ``code``, by words for clang and for its translator. With ``options`` the file is
    somebody's, and may include others. Raises ``InputError`` where there is no clang with its translator.
    """
    found = tools()
    if found is None:
        raise InputError(f"clang and llvm-spirv of one version are needed for {language}: {INSTALL}", str(file))
    bitcode = code.with_suffix(".bc")
    done = handed(
        file,
        [found.clang, *words, OPTIONS, SOURCE, "-o", MADE],
        bitcode,
        options=options or (),
        includes=options is not None,
    )
    if not done.ok:
        return done
    made = handed(bitcode, [found.translator, *translating, SOURCE, "-o", MADE], code)
    return replace(made, file=done.file, names=done.names)
