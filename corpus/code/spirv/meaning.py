"""What instructions that only SPIR-V has do when a thread is specialised: a table of functions by name."""

from __future__ import annotations

from corpus.code import ir
from corpus.code.doubts import ROWS, rows_in
from corpus.code.evaluation import describe, evaluate, set_result
from corpus.code.launch.built_in import special
from corpus.code.launch.groups import OPENCL_EXCHANGE, VULKAN_EXCHANGE
from corpus.code.table import NOTHING, Row
from corpus.code.thread import FollowedThread, KernelLanguage, Meaning, State
from corpus.code.values import ArrayAddress, Unknown
from corpus.litmus.ptx_arithmetic import signed


def length(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``OpArrayLength``: the elements of the array at the end of a buffer, where the launch says how large that is."""
    target, source, offset, stride = ins.operands
    address = evaluate(thread, state, source)
    if not isinstance(address, ArrayAddress) or not isinstance(offset, ir.Number) or not isinstance(stride, ir.Number):
        raise thread.out.wrong(describe(thread, address))
    name = address.array.name
    number = thread.kernel.number_of(name)
    given = None if number is None else thread.launch.array(name, number)
    if given is None or number is None:
        own = name if number is None else thread.launch.source_name(name, number)
        raise thread.out.wrong(f"the length of {own} has to be given, as with --arg '{own}=int[8]'")
    each = given.size or stride.value
    size = given.elements(each) * each if given.data is None else len(given.data)
    set_result(thread, state, target, max(0, size - offset.value) // stride.value)
    return True


SMALLEST = 16
"""The bits that a result of relaxed precision has at least (SPIR-V 1.6, 2.14)."""


def relaxed(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Make a result unknown that is not the same of 16 bits as of 32, whether these are numbers with a sign or not."""
    values = [evaluate(thread, state, operand) for operand in ins.operands]
    numbers = [signed(value, 32) for value in values if isinstance(value, int)]
    wide = len(numbers) < len(values) or not all(0 <= number < 1 << SMALLEST - 1 for number in numbers)
    if wide or ("shift" in ins.words and max(numbers[2:]) >= SMALLEST):
        why = f"the result of {ins.called} of relaxed precision, which need not have more than {SMALLEST} bits"
        set_result(thread, state, ins.operands[0], Unknown(why))
    return True


_ROWS: tuple[Row[Meaning], ...] = (
    Row("length", NOTHING, "any*", length, "*"),
    Row("relaxed", NOTHING, "any*", relaxed, "*"),
    *ROWS,
)

VULKAN = KernelLanguage(rows_in("vulkan", _ROWS), special, "vulkan", "vulkan", exchange=VULKAN_EXCHANGE)
"""The language of modules with Vulkan's memory model."""

OPENCL = KernelLanguage(rows_in("opencl", _ROWS), special, "opencl", "opencl", exchange=OPENCL_EXCHANGE)
"""The language of modules with OpenCL's memory model."""
