"""Makes SPIR-V of the kernels of HIP, for ``synth check``: clang as for OpenCL C, with its words for HIP. Without the
translator to SPIR-V it is LLVM.

The device is SPIR-V's in the place of a GPU. ``include/hip/spirv.h`` says what HIP's functions are there, with the
scopes and orders that HIP's header gives them for AMD's GPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from backends.hip import llvm
from backends.hip.compiler import HEADERS
from backends.shared.clang_spirv import as_written, tools
from backends.shared.toolchain import Compilation

_WORDS = (
    *("-x", "hip", "--offload=spirv64", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-std=c++17", "-fdeclspec"),
    *("-Xclang", "-debug-info-kind=limited"),
)
_WITHOUT = {
    "address space are allowed only to generic": "a variable with __device__ or __constant__ is not read in HIP",
    "InvalidArraySize": "an array without a size, extern __shared__, is not read in HIP",
}
"""What the translator has no instructions for, by words of its own."""


def compile_kernels(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile the kernels of HIP to SPIR-V with source lines, as ``code``, or to LLVM without clang's translator;
    ``options`` are clang's. Raises ``InputError`` where there is no clang for either.
    """
    if tools() is None:
        return llvm.compile_kernels(file, code, options)
    done = as_written(file, code, "HIP", [*_WORDS, "-isystem", HEADERS], options)
    why = next((why for words, why in _WITHOUT.items() if not done.ok and words in done.output), "")
    return replace(done, output=why) if why else done
