"""What instructions that only SPIR-V has do when a thread is specialised: barriers, and what they are translated to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from corpus.kernels import ir
from corpus.kernels.computing import set_result
from corpus.kernels.launch import volume
from corpus.kernels.meaning import COMMON
from corpus.kernels.meeting import lanes_of
from corpus.kernels.specialiser import KernelLanguage, Meaning, State, ThreadSpecialiser
from corpus.kernels.spirv.bodies import NOT_UNDERSTOOD
from corpus.kernels.spirv.special import special
from corpus.kernels.values import Pointer, Unknown
from corpus.litmus import test as litmus

_LEVELS = {scope.label: scope for scope in (litmus.Scope.CTA, litmus.Scope.WARP)}


def barrier(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``OpControlBarrier``: all threads of the group come to this instruction, by the same calls, or none goes on."""
    level = _LEVELS[ins.words[0]]
    threads = volume(at.launch.block) if level is litmus.Scope.CTA else len(lanes_of(at, -1))
    if threads > 1:
        at.put(litmus.Barrier(_number(state, ins), quorum=threads, mode=ins.mode, scope=level))
    elif ins.mode.order is not litmus.Order.WEAK:
        at.put(litmus.Fence(ins.mode))
    return True


def _number(state: State, ins: ir.KernelInstruction) -> int:
    """Return a number that the instruction has where it is reached by these calls, and no other has."""
    calls = [(frame.function.body or ())[frame.after - 1].line for frame in state.frames]
    lines = max(each.line for function in (state.function, *(frame.function for frame in state.frames))
                for each in function.body or ()) + 1  # fmt: skip
    return reduce(lambda number, line: number * lines + line, calls, 0) * lines + ins.line


def length(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``OpArrayLength``: the elements of the array at the end of a buffer, where the launch says how large that is."""
    target, source, offset, stride = ins.operands
    address = at.value(state, source)
    if not isinstance(address, Pointer) or not isinstance(offset, ir.Number) or not isinstance(stride, ir.Number):
        raise at.wrong(at.said(address))
    name = address.array.rpartition(":")[2]
    number = at.kernel.number_of(name)
    given = None if number is None else at.launch.array(name, number)
    if given is None or number is None:
        own = name if number is None else at.launch.source_name(name, number)
        raise at.wrong(f"the length of {own} has to be given, as with --arg '{own}=int[8]'")
    size = (given.count or len(given.values)) * (given.size or 4)
    set_result(at, state, target, max(0, size - offset.value) // stride.value)
    return True


def untold(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """An instruction whose result is taken as unknown."""
    set_result(at, state, ins.operands[0], Unknown(f"the result of {ins.called}"))
    return True


def not_understood(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """What no thread may come to."""
    raise at.wrong(ins.words[0])


_MEANINGS: Mapping[str, Meaning] = {
    **COMMON,
    "barrier": barrier,
    "length": length,
    "untold": untold,
    NOT_UNDERSTOOD: not_understood,
}

VULKAN = KernelLanguage(_MEANINGS, special, "vulkan")
"""The language of modules with Vulkan's memory model."""

OPENCL = KernelLanguage(_MEANINGS, special, "opencl")
"""The language of modules with OpenCL's memory model."""
