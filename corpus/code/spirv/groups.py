"""Operations of a group of SPIR-V: how they are written as code (SPIR-V 1.6, 3.52.21 and 3.52.24).

``%4 = OpGroupNonUniformIAdd %uint %subgroup Reduce %3`` is ``group.warp.fold.Reduce.add.s32 %r4, %r3``, one instruction
for each scalar. What the threads of a group do there is in ``corpus.code.launch.groups``.
"""

from __future__ import annotations

from collections.abc import Mapping

from corpus.code import ir
from corpus.code.launch.groups import OF_MASKS
from corpus.code.spirv.code import SpirvCode
from corpus.code.spirv.module import Enumerant
from corpus.code.spirv.pointers import scope_of
from corpus.laws.opencl import NO_MEMORY
from corpus.litmus.orders import Mode, Scope
from corpus.litmus.ptx_arithmetic import WIDTHS

_FOLDS = {
    "IAdd": "add.s",
    "FAdd": "add.f",
    "IMul": "mul.lo.s",
    "FMul": "mul.f",
    "SMin": "min.s",
    "UMin": "min.u",
    "FMin": "min.f",
    "SMax": "max.s",
    "UMax": "max.u",
    "FMax": "max.f",
    "BitwiseAnd": "and.b",
    "BitwiseOr": "or.b",
    "BitwiseXor": "xor.b",
    "LogicalAnd": "and.pred",
    "LogicalOr": "or.pred",
    "LogicalXor": "xor.pred",
}
_OTHERS = {
    "Elect": "elect",
    "All": "all",
    "Any": "any",
    "AllEqual": "equal",
    "Broadcast": "lane",
    "BroadcastFirst": "first",
    "Ballot": "ballot",
    "InverseBallot": "inverse",
    "BallotBitExtract": "extract",
    "BallotBitCount": "count",
    "BallotFindLSB": "least",
    "BallotFindMSB": "most",
    "Shuffle": "lane",
    "ShuffleXor": "xor",
    "ShuffleUp": "up",
    "ShuffleDown": "down",
    "RotateKHR": "rotate",
}

OPERATIONS: Mapping[str, str] = {
    **{f"OpGroupNonUniform{name}": verb for name, verb in {**_FOLDS, **_OTHERS}.items()},
    **{f"OpGroup{name}": _FOLDS[name] for name in ("IAdd", "FAdd", "FMin", "UMin", "SMin", "FMax", "UMax", "SMax")},
    **{f"OpGroup{name}KHR": verb for name, verb in _FOLDS.items()},
    **{f"OpGroup{name}": _OTHERS[name] for name in ("All", "Any", "Broadcast")},
}
"""What the operations of a group are, by their names: a computation that folds the values of threads, or another."""


def group_operation(code: SpirvCode, verb: str) -> None:
    """An operation that the threads of a subgroup, or of a work-group, do together."""
    execution, *ids = code.at.ids
    level = scope_of(code, execution)
    if level not in (Scope.WARP, Scope.CTA):
        raise code.wrong("of others than a subgroup or a work-group is not understood")
    assert level is not None
    if level is Scope.CTA and code.source.model.name == "opencl":  # all come to it, or none (OpenCL C 3.0, 6.15.16)
        code.put("barrier", (level.label,), (), mode=Mode(tags=(NO_MEMORY,)))
    targets, kinds = code.result(), code.kinds(code.at.type or "")
    values = code.values(ids[0]) if ids else (ir.Number(1),) * len(targets)
    more: list[ir.Operand] = [code.value(id) for id in ids[1:]]
    how = next((operand.name for operand in code.at.operands if isinstance(operand, Enumerant)), "Reduce")
    if verb in (*OF_MASKS, "ballot"):
        words = (level.label, verb, how)
        code.put("group", words, (*targets, *values, *more))
        return
    for number, (target, value, kind) in enumerate(zip(targets, values, kinds, strict=True)):
        own = "pred" if verb in ("all", "any", "equal", "elect") else kind
        if WIDTHS[own] > 32:
            raise code.wrong("of more than 32 bits is not understood")
        opcode = f"{verb}{WIDTHS[kind]}" if "." in verb and not verb.endswith("pred") else verb
        words = (level.label, "fold" if "." in verb else verb, how, *(opcode.split(".") if "." in verb else ()))
        code.put("group", (*words, f"part{number}"), (target, value, *more))
