"""Makes SPIR-V of OpenCL C, as written or as clang optimises it; LLVM where there is no translator to SPIR-V.

The translator gives the atomics of OpenCL 1.x (``atomic_add``, ``atomic_inc``) the scope of a work-group
(KhronosGroup/SPIRV-LLVM-Translator, issue 934), though they are atomic for the device. ``include/atomics.h`` puts
others in their place. Those with an order and scope are as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backends.opencl import llvm
from backends.shared.clang_llvm import clang
from backends.shared.clang_spirv import as_written, compiled, tools
from backends.shared.toolchain import Compilation, Probed, problem, version
from corpus.private import private_folder

_WORDS = ("-c", "-target", "spir64", "-x", "cl", "-emit-llvm", "-Xclang", "-finclude-default-header")
_STANDARD = ["-cl-std=CL2.0"]
_APART = ("-mllvm", "-simplifycfg-sink-common=false")
_PROBE = "kernel void probe(global atomic_int *x) { atomic_store(x, 1); }\n"


def compile_kernels(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile OpenCL C to SPIR-V with source lines, as ``code``, or to LLVM without clang's translator; ``options`` are
    clang's. Raises ``InputError`` where there is no clang for either.
    """
    standard = [] if any(option.startswith("-cl-std") for option in options) else _STANDARD
    if tools() is None:
        return llvm.compile_kernels(file, code, options, standard)
    header = Path(__file__).with_name("include") / "atomics.h"
    return as_written(file, code, "OpenCL C", [*_WORDS, "-include", header, *standard], options)


def optimised(file: Path, code: Path, level: str) -> Compilation:
    """Compile OpenCL C to SPIR-V as clang optimises it at a level, such as ``-O2``; but for one pass.

    Threads of a test are branches of one kernel, and of two atomics in different branches clang would make one call,
    with an order that is computed (``simplifycfg-sink-common``). Raises ``InputError`` where there is no clang with its
    translator.
    """
    return compiled(file, code, "OpenCL C", [*_WORDS, *_STANDARD, *_APART, level])


def optimised_by_clang(file: Path, code: Path, level: str) -> Compilation:
    """Compile OpenCL C to SPIR-V by clang's own back end for it, at a level, but for one pass, as ``optimised`` does.
    Raises ``InputError`` where there is no clang, or no header.
    """
    return llvm.optimised(file, code, [*_STANDARD, *_APART, level])


def probed() -> Probed:
    """Report on clang, with its translator where that is there, tried on a small kernel."""
    found, purpose = tools(), "read kernels (check)"
    alone = clang() if found is None and not llvm.missing() else None
    if found is None and alone is None:
        return Probed("clang, llvm-spirv", "", purpose, "not installed", llvm.NEEDED)
    with private_folder("probe") as folder:
        file = Path(folder, "probe.cl")
        file.write_text(_PROBE, encoding="utf-8")
        done = compile_kernels(file, file.with_suffix(".spv"))
    trouble = "" if done.ok else problem(done.output) or "it ended with an error"
    if found is not None:
        number = version([found.clang, "--version"], r"version (\S+)")
        return Probed(found.name, number, purpose, trouble, llvm.NEEDED)
    assert alone is not None
    return Probed(alone.name, alone.version, purpose, trouble, llvm.NEEDED)
