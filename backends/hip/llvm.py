"""Makes LLVM of the kernels of HIP, as they are written, for ``synth check``: clang alone, without ROCm.

It is that for AMD's GPUs, whose scopes and orders are those of HIP; ``include/hip/amdgcn.h`` says what HIP's functions
are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backends.hip.compiler import HEADERS
from backends.shared.clang_llvm import AS_WRITTEN, INSTALL, clang, wheel_headers
from backends.shared.handing import MADE, OPTIONS, SOURCE, handed
from backends.shared.toolchain import Compilation
from corpus.errors import InputError

_WORDS = (
    *("-x", "hip", "--offload-arch=gfx90a", "--cuda-device-only", "-nogpuinc", "-nogpulib", "-std=c++17"),
    *("-fdeclspec", "-DSYNTH_CHECKED", *AS_WRITTEN),
)


def compile_kernels(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile the kernels of HIP to LLVM with source lines, as ``code``; ``options`` are clang's. Raises ``InputError``
    where there is no clang.
    """
    found = clang()
    if found is None:
        raise InputError(f"clang is needed for HIP: {INSTALL}", str(file))
    headers = wheel_headers() if found.wheel else ()
    words = [*found.words, *headers, *_WORDS, "-isystem", HEADERS, OPTIONS, SOURCE, "-o", MADE]
    return handed(file, words, code, options=options, includes=True)
