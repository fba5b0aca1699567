"""The compiler of WGSL whose SPIR-V is read back: naga or Tint, whichever is on PATH."""

from __future__ import annotations

from pathlib import Path

from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.shared.toolchain import which
from backends.wgsl.memory import WgslKernel
from backends.wgsl.spirv import INSTALL, compile_shader
from corpus.dialects.storage_classes import has_classes, with_classes
from corpus.litmus.test import LitmusTest


def _compile(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    kernel = WgslKernel(single(test))
    before = test if has_classes(test) else with_classes(test, ("sc0", "sc1"))
    return compiled_by(kernel, before, folder, kernel.file("test"), ".wgsl", ".spv", compile_shader)


def _missing() -> list[str]:
    return [] if which("naga", "tint") else [INSTALL]


COMPILERS = (TestCompiler("naga or Tint", "spirv", "webgpu", ("",), _compile, _missing),)
