"""The compilers of CUDA whose PTX is read back: nvcc with PTX of our own and with libcu++, and clang for NVPTX."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from backends.cuda.atomics import ClangNvptxKernel, LibcudacxxKernel
from backends.cuda.compiler import INSTALL, compile_ptx, cuda_tool
from backends.cuda.memory import CudaKernel
from backends.shared.handing import MADE, SOURCE, handed
from backends.shared.kernel import Kernel
from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.shared.toolchain import Compilation, which
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest

_ARCHITECTURE = "sm_90"


def _nvcc(name: str, kernel: type[Kernel], source: str) -> TestCompiler:
    """Return nvcc as a compiler of tests in the words of a kernel."""

    def compile_one(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
        made = kernel(single(test))
        return compiled_by(made, test, folder, made.file("test"), ".cu", ".ptx", _to_ptx(level))

    def compile_all(tests: Sequence[LitmusTest], level: str, folder: Path) -> Sequence[CompiledTest | None]:
        texts: dict[int, tuple[Kernel, str]] = {}
        for number, test in enumerate(tests):
            try:
                made = kernel(single(test))
                texts[number] = made, made.file("test")
            except InputError:
                continue
        file, code = folder / "tests.cu", folder / "tests.ptx"
        file.write_text(joined([(f"t{number}", text) for number, (_, text) in texts.items()]), encoding="utf-8")
        if not texts or not _to_ptx(level)(file, code).ok:
            return [None] * len(tests)
        data = code.read_bytes()
        return [
            CompiledTest(
                test,
                data,
                path=test.name,
                layout=texts[number][0].layout,
                kernel=f"_ZN{len(f't{number}')}t{number}3run.*",
            )
            if number in texts
            else None
            for number, test in enumerate(tests)
        ]

    return TestCompiler(name, "ptx", source, _LEVELS, compile_one, _without_nvcc, compile_all)


def joined(texts: Sequence[tuple[str, str]]) -> str:
    """Return several files in CUDA C++ as one: each in a namespace, with macros of its own, after all headers."""
    headers: dict[str, None] = {}
    parts = []
    for name, text in texts:
        lines = text.splitlines()
        headers |= dict.fromkeys(line for line in lines if line.startswith("#include"))
        macros = re.findall(r"^#define (\w+)", text, re.MULTILINE)
        body = [line.replace('extern "C" ', "") for line in lines if not line.startswith("#include")]
        parts += [f"namespace {name} {{", *body, "}", *(f"#undef {macro}" for macro in macros)]
    return "\n".join([*headers, *parts, ""])


def _to_ptx(level: str) -> Callable[[Path, Path], Compilation]:
    return lambda file, code: compile_ptx(file, code, (f"-arch={_ARCHITECTURE}", *level.split()))


def _clang(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    clang = which(*_CLANGS)
    words = [clang or _CLANGS[0], "--target=nvptx64-nvidia-cuda", f"-march={_ARCHITECTURE}", "-w", "-S"]

    def compile_file(file: Path, code: Path) -> Compilation:
        flags = ["-fno-crash-diagnostics", *level.split()]
        return handed(file, [*words, *flags, SOURCE, "-o", MADE], code)

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
    _nvcc("nvcc", CudaKernel, "ptx"),
    _nvcc("nvcc, libcu++", LibcudacxxKernel, "rc11-scoped"),
    TestCompiler("clang, NVPTX", "ptx", "rc11-scoped", ("-O0", "-O1", "-O2", "-O3"), _clang, _without_clang),
)
