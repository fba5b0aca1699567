"""The compilers of GLSL whose SPIR-V is read back: glslang, and spirv-opt after it.

A test of a language without storage classes is compiled as it is, and read as the test of Vulkan that it becomes with
them (``corpus.dialects.storage_classes``).
"""

from __future__ import annotations

from pathlib import Path

from backends.glsl.amber import shaders
from backends.glsl.memory import GlslKernel
from backends.glsl.spirv import INSTALL, compile_shader, glslang, libraries, spirv_opt
from backends.shared.handing import MADE, SOURCE, handed
from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.shared.toolchain import Compilation
from corpus.dialects.storage_classes import has_classes, with_classes
from corpus.litmus.test import LitmusTest

AS_WRITTEN = ""
"""The level at which spirv-opt is not called."""


def _compile(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    kernel = GlslKernel(single(test))
    before = test if has_classes(test) else with_classes(test, ("sc0", "sc1"))

    def compile_file(file: Path, code: Path) -> Compilation:
        done = compile_shader(file, code)
        if not done.ok or level == AS_WRITTEN:
            return done
        tool = spirv_opt() or Path("spirv-opt")
        return handed(code, [tool, level, SOURCE, "-o", MADE], code, environment=libraries(tool))

    return compiled_by(kernel, before, folder, shaders(kernel.file("test"))[1], ".comp", ".spv", compile_file)


def _missing() -> list[str]:
    return [] if glslang() and spirv_opt() else [f"glslang and spirv-opt: {INSTALL}"]


COMPILERS = (TestCompiler("glslang, spirv-opt", "spirv", "vulkan", (AS_WRITTEN, "-O", "-Os"), _compile, _missing),)
