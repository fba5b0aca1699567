"""Lists the compilers that are called before kernels are read, by the names that formats have for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from backends.cuda import headers
from backends.cuda.compiler import AS_WRITTEN, compile_ptx
from backends.glsl import spirv as glsl
from backends.hip import llvm as hip
from backends.llvm import compiler as llvm
from backends.opencl import spirv as opencl
from backends.shared.toolchain import Compilation
from backends.wgsl import spirv as wgsl


class KernelCompiler(NamedTuple):
    """A compiler, which is called as ``compile(file, code, options)``.

    ``as_written`` are the options by which it removes no access; none where it removes none without. ``advice`` says
    what to do about a complaint.
    """

    compile: Callable[[Path, Path, Sequence[str]], Compilation]
    as_written: tuple[str, ...] = ()
    advice: Callable[[str], str] = lambda complaint: ""


KERNEL_COMPILERS: Mapping[str, KernelCompiler] = {
    "c": KernelCompiler(llvm.compile_c),
    "cpp": KernelCompiler(llvm.compile_cpp),
    "cuda": KernelCompiler(compile_ptx, AS_WRITTEN, headers.advice),
    "glsl": KernelCompiler(glsl.compile_shader),
    "hip": KernelCompiler(hip.compile_kernels),
    "opencl": KernelCompiler(opencl.compile_kernels),
    "wgsl": KernelCompiler(wgsl.compile_shader),
}
"""The compilers by name."""
