"""The compilers of CUDA whose PTX is read back: nvcc with PTX of our own and with libcu++, and clang for NVPTX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backends.cuda.atomics import ClangNvptxKernel, LibcudacxxKernel
from backends.cuda.compiler import INSTALL, compile_ptx, cuda_tool
from backends.cuda.memory import CudaKernel
from backends.shared.kernel import Kernel
from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.shared.toolchain import Compilation, run, which
from corpus.litmus.test import LitmusTest

_ARCHITECTURE = "sm_90"


def _nvcc(kernel: type[Kernel], test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    def compile_file(file: Path, code: Path) -> Compilation:
        return compile_ptx(file, code, (f"-arch={_ARCHITECTURE}", *level.split()))

    made = kernel(single(test))
    return compiled_by(made, test, folder, made.file("test"), ".cu", ".ptx", compile_file)


def _clang(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    clang = which(*_CLANGS)
    words = [clang or _CLANGS[0], "--target=nvptx64-nvidia-cuda", f"-march={_ARCHITECTURE}", "-w", "-S"]

    def compile_file(file: Path, code: Path) -> Compilation:
        return run(file, [*words, "-fno-crash-diagnostics", *level.split(), file, "-o", code])

    made = ClangNvptxKernel(single(test))
    return compiled_by(made, test, folder, made.file("test"), ".c", ".ptx", compile_file)


_CLANGS = tuple(f"clang-{number}" for number in range(22, 18, -1))
"""The versions of clang that have atomics with scopes and a target sm_90."""


def _without_nvcc() -> list[str]:
    return [] if cuda_tool("nvcc") else [INSTALL]


def _without_clang() -> list[str]:
    return [] if which(*_CLANGS) else ["clang 19 or later (Debian: apt install clang-19)"]


_LEVELS: Sequence[str] = ("-O3", "-G")
"""nvcc optimises device code unless it is asked for code to debug."""

COMPILERS = (
    TestCompiler(
        "nvcc", "ptx", "ptx", _LEVELS, lambda test, level, folder: _nvcc(CudaKernel, test, level, folder), _without_nvcc
    ),
    TestCompiler(
        "nvcc, libcu++",
        "ptx",
        "rc11-scoped",
        _LEVELS,
        lambda test, level, folder: _nvcc(LibcudacxxKernel, test, level, folder),
        _without_nvcc,
    ),
    TestCompiler("clang, NVPTX", "ptx", "rc11-scoped", ("-O0", "-O1", "-O2", "-O3"), _clang, _without_clang),
)
