"""The compilers of OpenCL C whose SPIR-V is read back: clang, with LLVM's translator after it or its own back end.

Two things of the kernel are otherwise than where it is run, for the translator fails at what LLVM makes of them. There
is no kernel ``count``, of which come vectors that are frozen. And a thread is chosen by its position and the seed,
which is 0 in the launch that is read, or LLVM would choose by a number of two bits.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from backends.opencl import llvm
from backends.opencl.memory import OpenClKernel
from backends.opencl.spirv import optimised, optimised_by_clang
from backends.shared.clang_spirv import INSTALL, tools
from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.shared.toolchain import Compilation
from corpus.litmus.test import LitmusTest


def _by(compiler: Callable[[Path, Path, str], Compilation]) -> Callable[[LitmusTest, str, Path], CompiledTest]:
    """Return what compiles tests by a compiler, which is called with a file, what it makes, and a level."""
    return lambda test, level, folder: _compile(test, folder, lambda file, code: compiler(file, code, level))


def _compile(test: LitmusTest, folder: Path, compile_file: Callable[[Path, Path], Compilation]) -> CompiledTest:
    kernel = OpenClKernel(single(test))
    text = kernel.file("test").partition("__kernel void count")[0].replace("(position)", "(position + seed)")
    return compiled_by(kernel, test, folder, text, ".cl", ".spv", compile_file)


def _missing() -> list[str]:
    return [] if tools() else [f"clang and llvm-spirv of one version: {INSTALL}"]


def _missing_of_clang() -> list[str]:
    lacking = llvm.missing()
    return [f"{lacking}: {llvm.NEEDED}"] if lacking else []


_LEVELS = ("-O0", "-O1", "-O2", "-O3")

COMPILERS = (
    TestCompiler("clang, llvm-spirv", "spirv-opencl", "opencl", _LEVELS, _by(optimised), _missing),
    TestCompiler("clang for SPIR-V", "spirv-opencl", "opencl", _LEVELS, _by(optimised_by_clang), _missing_of_clang),
)
