"""Makes SPIR-V of OpenCL C: clang writes LLVM's bitcode, and LLVM's SPIR-V translator of the same version reads it.

Registers take the place of local variables (``--spirv-mem2reg``), and nothing else is optimised: the accesses of memory
are those of the source, each at its line, and parameters keep their names.

The translator gives the atomics of OpenCL 1.x (``atomic_add``, ``atomic_inc``) the scope of a work-group
(KhronosGroup/SPIRV-LLVM-Translator, issue 934), though they are atomic for the device. ``include/atomics.h`` puts
others in their place. Those with an order and scope are as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from backends.shared.handing import MADE, OPTIONS, SOURCE, handed
from backends.shared.toolchain import Compilation, Probed, problem, version, which
from corpus.errors import InputError
from corpus.private import private_folder

INSTALL = "Debian: apt install clang-15 llvm-spirv-15"

_WORDS = ("-c", "-target", "spir64", "-x", "cl", "-emit-llvm", "-Xclang", "-finclude-default-header")
_STANDARD = ["-cl-std=CL2.0"]
_APART = ("-mllvm", "-simplifycfg-sink-common=false")
_VERSIONS = range(22, 13, -1)
_PROBE = "kernel void probe(global atomic_int *x) { atomic_store(x, 1); }\n"


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


def compile_kernels(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile OpenCL C to SPIR-V with source lines, as ``code``; ``options`` are clang's. Raises ``InputError`` where
    there is no clang with its translator.
    """
    found = tools()
    if found is None:
        raise InputError(f"clang and llvm-spirv of one version are needed for OpenCL C: {INSTALL}", str(file))
    standard = [] if any(each.startswith("-cl-std") for each in options) else _STANDARD
    as_written = ["-O1", "-Xclang", "-disable-llvm-passes"]
    header = Path(__file__).with_name("include") / "atomics.h"
    words = [*_WORDS, "-g", "-fno-discard-value-names", "-include", str(header), *standard, *as_written]
    bitcode = code.with_suffix(".bc")
    done = handed(
        file,
        [found.clang, *words, OPTIONS, SOURCE, "-o", MADE],
        bitcode,
        options=options,
        includes=True,
    )
    return _translated(found, done, bitcode, code, "--spirv-mem2reg")


def optimised(file: Path, code: Path, level: str) -> Compilation:
    """Compile OpenCL C to SPIR-V as clang optimises it at a level, such as ``-O2``; but for one pass.

    Threads of a test are branches of one kernel, and of two atomics in different branches clang would make one call,
    with an order that is computed (``simplifycfg-sink-common``). Raises ``InputError`` where there is no clang with its
    translator.
    """
    found = tools()
    if found is None:
        raise InputError(f"clang and llvm-spirv of one version are needed for OpenCL C: {INSTALL}", str(file))
    bitcode = code.with_suffix(".bc")
    words = [*_WORDS, *_STANDARD, *_APART, level]
    done = handed(file, [found.clang, *words, SOURCE, "-o", MADE], bitcode)
    return _translated(found, done, bitcode, code)


def _translated(found: SpirvTools, done: Compilation, bitcode: Path, code: Path, *words: str) -> Compilation:
    """Return the translation of what clang has made, as SPIR-V."""
    if not done.ok:
        return done
    made = handed(bitcode, [found.translator, *words, SOURCE, "-o", MADE], code)
    return replace(made, file=done.file, names=done.names)


def probed() -> Probed:
    """Report on clang with its translator, tried on a small kernel."""
    found, purpose = tools(), "read kernels (check)"
    if found is None:
        return Probed("clang, llvm-spirv", "", purpose, "not installed", INSTALL)
    with private_folder("probe") as folder:
        file = Path(folder, "probe.cl")
        file.write_text(_PROBE, encoding="utf-8")
        done = compile_kernels(file, file.with_suffix(".spv"))
    trouble = "" if done.ok else problem(done.output) or "it ended with an error"
    return Probed(found.name, version([found.clang, "--version"], r"version (\S+)"), purpose, trouble, INSTALL)
