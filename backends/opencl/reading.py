"""The compiler of OpenCL C whose SPIR-V is read back: clang, and LLVM's translator after it.

Two things of the kernel are otherwise than where it is run, for the translator fails at what LLVM makes of them. There
is no kernel ``count``, of which come vectors that are frozen. And a thread is chosen by its position and the seed,
which is 0 in the launch that is read, or LLVM would choose by a number of two bits.
"""

from __future__ import annotations

from pathlib import Path

from backends.opencl.memory import OpenClKernel
from backends.opencl.spirv import optimised
from backends.shared.clang_spirv import INSTALL, tools
from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.shared.toolchain import Compilation
from corpus.litmus.test import LitmusTest


def _compile(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    def compile_file(file: Path, code: Path) -> Compilation:
        return optimised(file, code, level)

    kernel = OpenClKernel(single(test))
    text = kernel.file("test").partition("__kernel void count")[0].replace("(position)", "(position + seed)")
    return compiled_by(kernel, test, folder, text, ".cl", ".spv", compile_file)


def _missing() -> list[str]:
    return [] if tools() else [f"clang and llvm-spirv of one version: {INSTALL}"]


COMPILERS = (
    TestCompiler("clang, llvm-spirv", "spirv-opencl", "opencl", ("-O0", "-O1", "-O2", "-O3"), _compile, _missing),
)
