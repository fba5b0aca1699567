"""The compiler of OpenCL C whose SPIR-V is read back: clang, and LLVM's translator after it."""

from __future__ import annotations

from pathlib import Path

from backends.opencl.memory import OpenClKernel
from backends.opencl.spirv import INSTALL, optimised, tools
from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.shared.toolchain import Compilation
from corpus.litmus.test import LitmusTest


def _compile(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    def compile_file(file: Path, code: Path) -> Compilation:
        return optimised(file, code, level)

    kernel = OpenClKernel(single(test))
    return compiled_by(kernel, test, folder, kernel.file("test"), ".cl", ".spv", compile_file)


def _missing() -> list[str]:
    return [] if tools() else [f"clang and llvm-spirv of one version: {INSTALL}"]


COMPILERS = (
    TestCompiler("clang, llvm-spirv", "spirv-opencl", "opencl", ("-O0", "-O1", "-O2", "-O3"), _compile, _missing),
)
