"""What instructions do that several languages have into which code is translated, of SPIR-V and of LLVM: ways in which
a thread ends, memory that holds nothing, and results that a language does not determine for all operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpus.code import ir
from corpus.code.arithmetic import residual_operand
from corpus.code.evaluation import describe, evaluate, set_result
from corpus.code.launch.groups import barrier, group
from corpus.code.launch.launch import volume
from corpus.code.launch.meeting import choose
from corpus.code.meaning import COMMON, by_name
from corpus.code.memory import address_of, forgotten, update
from corpus.code.places import counter
from corpus.code.residual import DOUBT, MARK
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, WRITES, Row, rows_of, table_of
from corpus.code.thread import FollowedThread, Meaning, RowOf, State
from corpus.code.values import Affine, ArrayAddress, Symbol, Unknown, Value
from corpus.litmus.arithmetic import UNDETERMINED
from corpus.litmus.instructions import Assign
from corpus.litmus.locations import Reg
from corpus.litmus.ptx_arithmetic import WIDTHS
from corpus.litmus.undetermined import COMPUTATIONS, rule_of

NOT_UNDERSTOOD = "not understood"
"""The name of an instruction that is not understood; its word says why."""


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


ROWS: tuple[Row[Meaning], ...] = (
    Row("determined", NOTHING, "any*", determined, "*"),
    Row("aligned", NOTHING, "any*", aligned, "*"),
    Row("barrier", ORDERS, "any*", barrier, "*"),
    Row("forget", WRITES, "any*", forget, "*"),
    Row("group", ORDERS, "any*", group, "*"),
    Row("outside", CONTROL, "any*", outside, "*"),
    Row("spurious", NOTHING, "any*", spurious, "*"),
    Row("untold", NOTHING, "any*", untold, "*"),
    Row(NOT_UNDERSTOOD, CONTROL, "any*", not_understood, "*"),
    *COMMON,
)
"""The instructions of code that is translated; computations and updates are as if all results were determined."""


def rows_in(language: str, rows: Iterable[Row[Meaning]]) -> RowOf:
    """Return what finds these rows, of which some results are not determined in a language."""
    every = [*rows]
    doubtful = [
        Row(name, row.effect, row.operands, computing(language, row.meaning), row.words)
        for name, row in rows_of(table_of(every))
        if name in COMPUTATIONS and name != "update"
    ]
    return by_name([*doubtful, Row("update", BOTH, "any*", updating(language), "*"), *every])
