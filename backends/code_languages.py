"""Lists the languages of compiled tests, and the compilers whose code is read back.

A language that is added here has a reader (``backends.shared.readback``), and a compiler writes it.
"""

from __future__ import annotations

from collections.abc import Mapping

from backends.cpp import reading as cpp
from backends.cuda import reading as cuda
from backends.cuda.ptxas import PTXAS, SASS
from backends.glsl import reading as glsl
from backends.hip import reading as hip
from backends.opencl import reading as opencl
from backends.shared.read_kernels import read_ptx_test, read_spirv_test
from backends.shared.readback import CodeLanguage, TestCompiler
from backends.wgsl import reading as wgsl

CODE_LANGUAGES: Mapping[str, CodeLanguage] = {
    language.name: language
    for language in (
        CodeLanguage("ptx", "ptx", read_ptx_test),
        CodeLanguage("spirv", "vulkan", read_spirv_test),
        CodeLanguage("spirv-opencl", "opencl", read_spirv_test),
        SASS,
        *hip.LANGUAGES,
        *cpp.LANGUAGES,
    )
}
"""The languages of compiled tests, by name."""

TEST_COMPILERS: Mapping[str, tuple[TestCompiler, ...]] = {
    "cpp": cpp.COMPILERS,
    "cuda": (*cuda.COMPILERS, *PTXAS),
    "glsl": glsl.COMPILERS,
    "hip": hip.COMPILERS,
    "opencl": opencl.COMPILERS,
    "wgsl": wgsl.COMPILERS,
}
"""The compilers whose code is read back, by the back end (``backends.registry``) that makes their source text."""
