"""What instructions that only SPIR-V has do when a thread is specialised: a table of functions by name."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.code import ir
from corpus.code.arithmetic import residual_operand
from corpus.code.evaluation import describe, evaluate, set_result
from corpus.code.launch.launch import volume
from corpus.code.launch.meeting import choose
from corpus.code.meaning import COMMON, by_name
from corpus.code.memory import address_of, forgotten, update
from corpus.code.places import counter
from corpus.code.residual import DOUBT, MARK
from corpus.code.spirv.flow import NOT_UNDERSTOOD
from corpus.code.spirv.groups import OPENCL_EXCHANGE, VULKAN_EXCHANGE, barrier, group
from corpus.code.spirv.special import special
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, WRITES, Row, rows_of, table_of
from corpus.code.thread import FollowedThread, KernelLanguage, Meaning, RowOf, State
from corpus.code.values import Affine, ArrayAddress, Symbol, Unknown, Value
from corpus.litmus.arithmetic import UNDETERMINED
from corpus.litmus.instructions import Assign
from corpus.litmus.locations import Reg
from corpus.litmus.ptx_arithmetic import WIDTHS, signed
from corpus.litmus.undetermined import COMPUTATIONS, rule_of


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


def aligned(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Ask that an address be a multiple of so many bytes: the behaviour is undefined where it is not (SPIR-V, 3.33)."""
    place, bytes = ins.operands
    address = address_of(thread, state, place)
    assert isinstance(bytes, ir.Number)
    if isinstance(address, ArrayAddress) and address.offset % bytes.value:
        return thread.out.stops("misaligned")
    apart = isinstance(address, Affine) and any(scale % bytes.value for _, scale in address.terms)
    if isinstance(address, Affine) and not apart and address.offset % bytes.value:
        return thread.out.stops("misaligned")
    if apart:
        raise thread.out.wrong(f"an address of which memory decides whether it is a multiple of {bytes.value}")
    return True


def outside(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """End the thread, an index of whose is outside of its array."""
    return thread.out.stops("bounds")


def forget(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Forget what a variable of the thread's own holds; the word, where there is one, says why it may hold nothing."""
    address = address_of(thread, state, ins.operands[0])
    if not isinstance(address, ArrayAddress):
        raise thread.out.wrong(describe(thread, address))
    forgotten(state, address.array, *ins.words)
    return True


MOST_APART = 3
"""The threads of a launch of which each may fail by itself; of more, all do it or none."""


def spurious(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Say whether a weak exchange fails whatever it finds: it may, once for each place and thread."""
    apart = volume(thread.launch.grid) * volume(thread.launch.block) <= MOST_APART
    who = f"{thread.block} {thread.number}" if apart else "all"
    cell = counter(f"failure at {ins.line}")
    fails = choose(thread, f"failure at {ins.line} of {who}", (False, True)) and cell not in state.known
    if fails:
        state.known[cell] = 1
    set_result(thread, state, ins.operands[0], int(fails))
    return True


def computing(language: str, meaning: Meaning) -> Meaning:
    """Return the meaning of what computes a result that a language does not determine for all operands."""

    def compute(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
        values = [evaluate(thread, state, operand) for operand in ins.operands[1:]]
        going = meaning(thread, state, ins)
        _doubt(thread, state, ins, (language, ins.name, *ins.words), values)
        return going

    return compute


def updating(language: str) -> Meaning:
    """Return the meaning of an atomic operation, of which one on floating-point numbers may be rounded as it likes."""

    def change(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
        target, _, *given = ins.operands
        values = [evaluate(thread, state, each) for each in given]
        going = update(thread, state, ins)
        if going and ins.words[0] in COMPUTATIONS:
            _doubt(thread, state, ins, (language, *ins.words), [evaluate(thread, state, target), *values])
        return going

    return change


def determined(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Note whether a result that is there, of these operands, is determined: ``determined.signed.add.s32``."""
    _doubt(thread, state, ins, ins.words, [evaluate(thread, state, operand) for operand in ins.operands[1:]])
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


def _doubt(
    thread: FollowedThread, state: State, ins: ir.KernelInstruction, words: Sequence[str], values: Sequence[Value]
) -> None:
    """Make the result of an instruction unknown, or note that it may be, where it is not determined."""
    language, name, *kinds = words
    rule = rule_of(language, name, kinds)
    if rule is None:
        return
    target = ins.operands[0]
    width = WIDTHS[next((kind for kind in reversed(kinds) if kind in WIDTHS), "b64")]
    given = [value & (1 << width) - 1 if isinstance(value, int) else value for value in values]
    numbers = [value for value in given if isinstance(value, int)]
    if len(numbers) == len(given):
        if rule(kinds, numbers):
            set_result(thread, state, target, Unknown(f"the result of {ins.called}, which is not determined here"))
        return
    assert isinstance(target, ir.Register)
    home = state.home(target.name)
    result = state.known.get(home)
    known = [each for each in given if isinstance(each, int | Symbol)]
    if not isinstance(result, Symbol) or len(known) != len(given) or len(given) > 2:
        return
    operands = [residual_operand(each, width) for each in known]
    operation = ".".join((UNDETERMINED + language, name, *kinds))
    found = thread.out.temporary(operation, *operands, *([0] * (2 - len(operands))))
    mark = f"{MARK}{DOUBT}{ins.called}"
    thread.out.put(Assign(mark, "or", (Reg(mark), Reg(found))))
    thread.out.code[-1] = thread.out.code[-1]._replace(doubtful=result.register)


def untold(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """An instruction whose result is taken as unknown."""
    set_result(thread, state, ins.operands[0], Unknown(f"the result of {ins.called}"))
    return True


def not_understood(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Refuse an instruction that no thread may come to, whose name the error has."""
    raise thread.out.wrong(ins.words[0])


_ROWS: tuple[Row[Meaning], ...] = (
    Row("determined", NOTHING, "any*", determined, "*"),
    Row("aligned", NOTHING, "any*", aligned, "*"),
    Row("barrier", ORDERS, "any*", barrier, "*"),
    Row("forget", WRITES, "any*", forget, "*"),
    Row("group", ORDERS, "any*", group, "*"),
    Row("length", NOTHING, "any*", length, "*"),
    Row("outside", CONTROL, "any*", outside, "*"),
    Row("relaxed", NOTHING, "any*", relaxed, "*"),
    Row("spurious", NOTHING, "any*", spurious, "*"),
    Row("untold", NOTHING, "any*", untold, "*"),
    Row(NOT_UNDERSTOOD, CONTROL, "any*", not_understood, "*"),
    *COMMON,
)


def _row_of(language: str) -> RowOf:
    """Return what finds the rows of a language, of which some results are not determined."""
    doubtful = [
        Row(name, row.effect, row.operands, computing(language, row.meaning), row.words)
        for name, row in rows_of(table_of(_ROWS))
        if name in COMPUTATIONS and name != "update"
    ]
    return by_name([*doubtful, Row("update", BOTH, "any*", updating(language), "*"), *_ROWS])


VULKAN = KernelLanguage(_row_of("vulkan"), special, "vulkan", "vulkan", exchange=VULKAN_EXCHANGE)
"""The language of modules with Vulkan's memory model."""

OPENCL = KernelLanguage(_row_of("opencl"), special, "opencl", "opencl", exchange=OPENCL_EXCHANGE)
"""The language of modules with OpenCL's memory model."""
