"""Makes SPIR-V of kernels: clang writes LLVM's bitcode, and LLVM's SPIR-V translator of the same version reads it.

Of what is compiled as it is written nothing is optimised: the accesses of memory are those of the source, each at its
line, parameters keep their names, and ``OpLifetimeStart`` says where variables begin, as clang has it from ``-O1`` on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from backends.shared.handing import MADE, OPTIONS, SOURCE, handed
from backends.shared.toolchain import Compilation, which
from corpus.errors import InputError
from corpus.files import read_bytes

INSTALL = "Debian: apt install clang-15 llvm-spirv-15"

_AS_WRITTEN = ("-c", "-emit-llvm", "-g", "-fno-discard-value-names", "-O1", "-Xclang", "-disable-llvm-passes")
_VERSIONS = range(22, 13, -1)
_COUNTS = {"clz": "unsigned", "clzl": "unsigned long", "clzll": "unsigned long long"}
_COUNTS |= {name.replace("cl", "ct"): of for name, of in _COUNTS.items()}
_KEPT = (
    "-D__builtin_trap()=__builtin_unreachable()",
    "-D__builtin_assume(x)=((x) ? (void)0 : __builtin_unreachable())",
    *(
        f"-D__builtin_{name}(x)=({{ {of} synth_x = (x); int synth_bits; if (synth_x) synth_bits = __builtin_{name}"
        "(synth_x); synth_bits; })"
        for name, of in _COUNTS.items()
    ),
)
"""Words of clang that the translator drops, or defines where C does not, in words that it keeps: a trap, what the
program promises, and the bits before the first one of zero (Clang Language Extensions; GCC, Bit Operation Builtins).
"""
_DROPPED = ("llvm.assume", "llvm.trap", "llvm.debugtrap", "llvm.ubsantrap")
"""LLVM's functions for which the translator makes no instruction (its ``SPIRVWriter.cpp``)."""
_NOT_READ = {
    "FunctionPointers": "a pointer to a function, or a virtual call, is not read",
    "was ended by signal": "LLVM's SPIR-V translator ends with a crash, as it does for inline assembly",
}
"""What the translator has no instructions for, by its words."""


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
    return compiled(file, code, language, [*_AS_WRITTEN, *_KEPT, *words], options=options)


def compiled(
    file: Path,
    code: Path,
    language: str,
    words: Sequence[str | Path],
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
    if lost := next((name for name in _DROPPED if name.encode() in read_bytes(bitcode)), None):
        return replace(done, ok=False, output=f"{lost}: LLVM's SPIR-V translator drops it")
    made = handed(bitcode, [found.translator, SOURCE, "-o", MADE], code)
    why = next((why for words, why in _NOT_READ.items() if not made.ok and words in made.output), made.output)
    return replace(made, file=done.file, names=done.names, output=why)
