"""The instructions of SPIR-V that lead on or end a thread, and others that need their block, as code (1.6, 3.52.17)."""

from __future__ import annotations

from corpus.code.ir import KernelGuard, Number, Register, SymbolRef, Vector
from corpus.code.spirv import pointers
from corpus.code.spirv.bodies import SpirvBody, function_name, results_of
from corpus.code.spirv.code import bits_of
from corpus.code.spirv.module import Mask, SpirvBlock, SpirvInteger
from corpus.litmus.ptx_arithmetic import WIDTHS


def branch(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpBranch``: the thread goes on at another block."""
    body.go(block, body.code.ids()[0])


def branch_where(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpBranchConditional``: the thread goes on at one of two blocks."""
    condition, yes, no = body.code.ids()[:3]
    value = body.code.value(condition)
    edges: list[tuple[str, str]] = []
    if isinstance(value, Number):
        body.go(block, yes if value.value else no)
    elif isinstance(value, Register):
        body.go_where(block, yes, KernelGuard(value.name), edges)
        body.go(block, no)
    body.write_edges(block, edges)


def switch(body: SpirvBody, block: SpirvBlock) -> None:
    """``OpSwitch``: the numbers are compared with one after the other."""
    selector, default, *targets = body.code.ids()
    literals = [each.value for each in body.code.at.operands if isinstance(each, SpirvInteger)]
    (kind,) = body.code.kinds(body.code.type_of(selector))
    value, width = body.code.value(selector), WIDTHS[kind]
    edges: list[tuple[str, str]] = []
    if len(literals) != len(targets):
        raise body.code.misfit()
    for number, target in zip(literals, targets, strict=True):
        chosen = body.code.compute(f"setp.eq.s{width}", "pred", value, Number(number & (1 << width) - 1))
        body.go_where(block, target, KernelGuard(chosen.name), edges)
    body.go(block, default)
    body.write_edges(block, edges)


def phi(body: SpirvBody, block: SpirvBlock) -> None:
    """``OpPhi``, which is done on the edges."""
    body.code.result()


def variable(body: SpirvBody, block: SpirvBlock) -> None:
    """``OpVariable`` of a function: its initial value is written here."""
    ids = body.code.ids()
    initial = ids[body.code.at.name != "OpVariable" :]
    if initial and body.code.at.result is not None:
        value = initial[0]
        pointers.write(
            body.code,
            body.code.at.result,
            body.code.type_of(value),
            body.code.values(value),
            pointers.access_mode(body.code, body.code.at.result, None, True),
        )


def call(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpFunctionCall``: arguments and result are passed as scalars."""
    function, *arguments = body.code.ids()
    module = body.code.source.module
    if function not in module.functions or not module.functions[function].blocks:
        raise body.code.wrong(f"{module.name_of(function)} is not in the module")
    body.code.called[function] = None
    void = body.code.types.name(body.code.at.type or "") == "OpTypeVoid"
    results = () if void else body.code.result()
    values = [value for each in arguments for value in body.code.values(each)]
    body.code.put("call", (), (Vector(results), SymbolRef(function_name(function)), Vector(tuple(values))))


def leave(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpReturn``: the thread goes back to the caller, or ends."""
    body.code.put("ret", (), ())


def leave_with(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpReturnValue``: the scalars of a value are the results of the function."""
    value = body.code.ids()[0]
    kinds, results = body.code.kinds(body.code.type_of(value)), results_of(body.code, body.function)
    if len(results) != len(kinds):
        raise body.code.misfit()
    for target, kind, part in zip(results, kinds, body.code.values(value), strict=True):
        body.code.registers[target.name] = target.type
        body.code.put("mov", (bits_of(kind),), (Register(target.name), part))
    body.code.put("ret", (), ())


def end(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpKill`` or ``OpTerminateInvocation``: the thread ends, whatever has called."""
    body.code.put("exit", (), ())


def never(body: SpirvBody, block: SpirvBlock) -> None:
    """``OpUnreachable``, whose behaviour is undefined where a thread comes there."""
    body.code.put("trap", (), ())


def merge(body: SpirvBody, block: SpirvBlock) -> None:
    """``OpLoopMerge`` and ``OpSelectionMerge``: hints, and where ways meet, which the specialiser sees."""
    controls = [each for mask in body.code.at.operands if isinstance(mask, Mask) for each in mask.enumerants]
    for each in controls:
        if each.name.isdecimal():
            raise body.code.wrong(f"the control {each.name} is not understood")


def assume(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpAssumeTrueKHR``, whose behaviour is undefined where a thread comes there without the condition."""
    code = body.code
    value = code.value(code.ids()[0])
    if isinstance(value, Register):
        code.put("trap", (), (), KernelGuard(value.name, unless=True))
    elif not (isinstance(value, Number) and value.value):
        code.put("trap", (), ())
