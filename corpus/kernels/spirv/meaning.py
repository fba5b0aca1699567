"""What instructions that only SPIR-V has do when a thread is specialised: a table of functions by name."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.kernels import ir
from corpus.kernels.computing import compute_, set_result
from corpus.kernels.meaning import COMMON
from corpus.kernels.memory import address_of
from corpus.kernels.specialiser import KernelLanguage, Meaning, State, ThreadSpecialiser
from corpus.kernels.spirv.bodies import NOT_UNDERSTOOD
from corpus.kernels.spirv.meeting import OPENCL_EXCHANGE, VULKAN_EXCHANGE, barrier, group
from corpus.kernels.spirv.special import special
from corpus.kernels.values import Pointer, Scaled, Unknown
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of


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
    each = given.size or stride.value
    size = given.elements(each) * each if given.data is None else len(given.data)
    set_result(at, state, target, max(0, size - offset.value) // stride.value)
    return True


def aligned(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """Ask that an address be a multiple of so many bytes: the behaviour is undefined where it is not (SPIR-V, 3.33)."""
    place, bytes = ins.operands
    address = address_of(at, state, place)
    assert isinstance(bytes, ir.Number)
    if isinstance(address, Pointer) and address.offset % bytes.value:
        return at.stops("misaligned")
    if isinstance(address, Scaled) and address.scale % bytes.value == 0 and address.offset % bytes.value:
        return at.stops("misaligned")
    if isinstance(address, Scaled) and address.scale % bytes.value:
        raise at.wrong(f"an address of which memory decides whether it is a multiple of {bytes.value}")
    return True


def outside(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """End the thread, an index of whose is outside of its array."""
    return at.stops("bounds")


def shift(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """A shift, whose result is undefined where it is by as many bits as the value has, or more (SPIR-V, 3.52.14)."""
    count = at.value(state, ins.operands[2])
    width = WIDTHS[type_of(ins.words)]
    if isinstance(count, int) and count & (1 << width) - 1 >= width:
        set_result(at, state, ins.operands[0], Unknown(f"the result of a shift of {width} bits by {count}"))
        return True
    return compute_(at, state, ins)


def rest(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """A rest, which Vulkan leaves undefined where an operand is negative (Vulkan 1.3, Precision of Core SPIR-V
    Instructions: ``OpSRem`` and ``OpSMod``); of operands that memory gives nothing says that they are not.
    """
    kind = type_of(ins.words)
    sign = 1 << WIDTHS[kind] - 1
    values = [at.value(state, operand) for operand in ins.operands[1:]]
    if kind[0] == "s" and not all(isinstance(value, int) and not value & sign for value in values):
        set_result(at, state, ins.operands[0], Unknown("a rest of what may be negative"))
        return True
    return compute_(at, state, ins)


def untold(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """An instruction whose result is taken as unknown."""
    set_result(at, state, ins.operands[0], Unknown(f"the result of {ins.called}"))
    return True


def not_understood(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """Refuse an instruction that no thread may come to, whose name the error has."""
    raise at.wrong(ins.words[0])


_MEANINGS: Mapping[str, Meaning] = {
    **COMMON,
    "shl": shift,
    "shr": shift,
    "aligned": aligned,
    "barrier": barrier,
    "group": group,
    "length": length,
    "outside": outside,
    "untold": untold,
    NOT_UNDERSTOOD: not_understood,
}

VULKAN = KernelLanguage({**_MEANINGS, "rem": rest}, special, "vulkan", exchange=VULKAN_EXCHANGE)
"""The language of modules with Vulkan's memory model."""

OPENCL = KernelLanguage(_MEANINGS, special, "opencl", exchange=OPENCL_EXCHANGE)
"""The language of modules with OpenCL's memory model."""
