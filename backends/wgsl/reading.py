"""The compilers of WGSL whose SPIR-V is read back: naga or Tint on PATH, or else the naga that is in wgpu."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from backends.shared.layout import single
from backends.shared.readback import CompiledTest, TestCompiler, compiled_by
from backends.shared.toolchain import which
from backends.wgsl.memory import WgslKernel
from backends.wgsl.spirv import compile_shader, missing
from corpus.dialects.storage_classes import has_classes, with_classes
from corpus.litmus.test import Barrier, Instruction, LitmusTest, Load, Order, Rmw, Scope, Store


def _compile(test: LitmusTest, level: str, folder: Path) -> CompiledTest:
    kernel = WgslKernel(single(test))
    text = kernel.file("test")
    before = test if has_classes(test) else as_compiled(with_classes(test, ("sc0", "sc1")))
    entry_point = () if which("naga", "tint") else ("run",)
    by = partial(compile_shader, options=entry_point)
    return compiled_by(kernel, before, folder, text, ".wgsl", ".spv", by)


def as_compiled(test: LitmusTest) -> LitmusTest:
    """Return a test in the words that the model ``webgpu`` has for what a shader says of it.

    Plain accesses and barriers are for the workgroup, atomics have the scope of their memory, and no barrier makes
    available or visible (WGSL, Memory Model, Scoped Operations).
    """

    def compiled(ins: Instruction) -> Instruction:
        match ins:
            case Load(mode=mode) | Store(mode=mode) | Rmw(mode=mode):
                tags = set(mode.tags) - {"nonpriv"}
                if mode.order is Order.WEAK:
                    tags.add("vis" if isinstance(ins, Load) else "av")
                scope = Scope.CTA if mode.order is Order.WEAK or "sc1" in tags else Scope.QUEUE
                return replace(ins, mode=replace(mode, scope=scope, tags=tuple(sorted(tags))))
            case Barrier(mode=mode):
                tags = set(mode.tags) - {"semav", "semvis"}
                return replace(ins, mode=replace(mode, scope=Scope.CTA, tags=tuple(sorted(tags))))
        return ins

    threads = (replace(each, instructions=tuple(map(compiled, each.instructions))) for each in test.threads)
    return replace(test, threads=tuple(threads))


COMPILERS = (TestCompiler("naga or Tint", "spirv", "webgpu", ("",), _compile, missing),)
