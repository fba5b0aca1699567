"""The compilers of WGSL whose SPIR-V is read back: naga or Tint on PATH, or else the naga that is in wgpu."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.wgsl.memory import WgslKernel
from backends.wgsl.spirv import compile_shader, missing
from corpus.dialects.storage_classes import has_classes, with_classes, with_modes
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.test import LitmusTest


def _compile(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    kernel = WgslKernel(single(test))
    text = kernel.file("test")
    before = test if has_classes(test) else as_compiled(with_classes(test, ("sc0", "sc1")))
    by = partial(compile_shader, entry_point="run")
    return compiled_by(kernel, before, folder, text, ".wgsl", ".spv", by)


def as_compiled(test: LitmusTest) -> LitmusTest:
    """Return a test in the words that the model ``webgpu`` has for what a shader says of it.

    Plain accesses and barriers are for the workgroup, atomics have the scope of their memory, and no barrier makes
    available or visible (WGSL, Memory Model, Scoped Operations).
    """

    def mode(thread: int, ins: Load | Store | Rmw | Fence | Barrier) -> Mode:
        weak, tags = ins.mode.order is Order.WEAK, set(ins.mode.tags) - {"nonpriv", "semav", "semvis"}
        if isinstance(ins, Load | Store | Rmw) and weak:
            tags.add("vis" if isinstance(ins, Load) else "av")
        everywhere = isinstance(ins, Load | Store | Rmw) and not weak and "sc1" not in tags
        return replace(ins.mode, scope=Scope.QUEUE if everywhere else Scope.CTA, tags=tuple(sorted(tags)))

    return with_modes(test, mode)


COMPILERS = (TestCompiler("naga or Tint", "spirv", "webgpu", ("",), _compile, missing),)
