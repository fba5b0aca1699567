"""What kernels of HIP have besides LLVM, as clang makes it for AMD's GPUs: indices, barriers, and the scopes of atomics
and fences (LLVM, User Guide for AMDGPU Backend, Memory Scopes; backends/hip/include/hip/amdgcn.h).

The table is a closed world: an intrinsic or function without a row is refused by name, and so are scopes of one address
space alone, ``agent-one-as``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from corpus.code import ir
from corpus.code.llvm import opencl
from corpus.code.llvm.lowering import FunctionUse, Lowering
from corpus.laws.opencl import NO_MEMORY
from corpus.litmus.orders import PLAIN, Mode, Order, Scope

SYNC_SCOPES: Mapping[str, Scope | None] = {
    "": Scope.SYS,
    "agent": Scope.GPU,
    "workgroup": Scope.CTA,
    "wavefront": Scope.WARP,
    "singlethread": None,
}
"""The scopes of atomic instructions and fences by their words."""

_BUILT_IN = {
    **{f"llvm.amdgcn.workitem.id.{axis}": f"%LocalInvocationId.{n}" for n, axis in enumerate("xyz")},
    **{f"llvm.amdgcn.workgroup.id.{axis}": f"%WorkgroupId.{n}" for n, axis in enumerate("xyz")},
}
_SIZES = {"synth_workgroup_size": "WorkgroupSize", "synth_workgroups": "NumWorkgroups"}
"""The functions of the header that give a size along an axis."""

_BARRIERS: Mapping[str, Mode] = {"synth_syncthreads": PLAIN, "llvm.amdgcn.s.barrier": Mode(tags=(NO_MEMORY,))}
"""The barriers of a work-group: HIP's, which orders all memory, and the instruction, which orders none."""

_NOTHING = ("llvm.amdgcn.s.sleep", "llvm.amdgcn.sched.barrier", "llvm.amdgcn.s.setprio")
_COMPUTED = ("llvm.ctlz", "llvm.cttz", "llvm.fmuladd")


def with_fenced_barriers(function: ir.KernelFunction) -> ir.KernelFunction:
    """Return a function in which an ``s_barrier`` orders all memory that stands between a fence that releases and a
    fence that acquires, of the work-group or more. This is what ``__syncthreads`` is in HIP's own header.

    LLVM's model says so of all fences before and after a barrier (AMDGPU Execution Synchronization), which models of
    other languages lack.
    """
    code, entered = list(function.body or ()), {*function.labels.values()}
    for place, ins in enumerate(code):
        if ins.name != "barrier" or ins.mode.tags != (NO_MEMORY,) or not 0 < place < len(code) - 1:
            continue
        fenced = _is_fence(code[place - 1], Order.RELEASE) and _is_fence(code[place + 1], Order.ACQUIRE)
        if fenced and entered.isdisjoint((place, place + 1)):
            code[place] = ins._replace(mode=PLAIN)
    return replace(function, body=tuple(code))


def _is_fence(ins: ir.KernelInstruction, order: Order) -> bool:
    """Decide whether an instruction is a fence with an order, or more, of the work-group or more."""
    return (
        ins.name == "fence"
        and ins.guard is None
        and ins.mode.order in (order, Order.ACQ_REL, Order.SC)
        and ins.mode.scope in (Scope.CTA, Scope.GPU, Scope.SYS)
    )


def function(out: Lowering, use: FunctionUse) -> None:
    """Append what a function does that has no body, or what says that it is not understood."""
    name, _ = opencl.plain_name(use.name)
    out.origin = out.origin._replace(text=name)
    if use.name in _BUILT_IN:
        out.put("mov", ("b32",), (*use.targets, ir.Register(_BUILT_IN[use.name])))
    elif name in _BARRIERS:
        out.put("barrier", (Scope.CTA.label,), (), mode=_BARRIERS[name])
    elif name in _SIZES and isinstance(use.arguments[0][0], ir.Number) and use.arguments[0][0].value < 3:
        out.put("mov", ("b32",), (*use.targets, ir.Register(f"%{_SIZES[name]}.{use.arguments[0][0].value}")))
    elif use.name.startswith(_COMPUTED):
        opencl.function(out, use)
    elif use.name not in _NOTHING:
        out.refuse(f"{name} is not understood")
