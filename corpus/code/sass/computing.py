"""What machine instructions compute that access no memory which threads share: a table by opcode.

The words of a row are the parts that an opcode may have behind it (``corpus.code.table``). What is computed goes to
registers; nothing is known any more of the others that the instruction may write. Example: of
``IADD3 R2, P0, R2, UR6, RZ`` it is a sum for ``R2``, and for ``P0`` the carry, which is known where the numbers are.

NVIDIA does not document SASS. The meanings are those of the PTX instructions that become these opcodes (PTX ISA 9.1,
9.7.1 to 9.7.8), and addresses and results tell where a meaning is wrong: those of a test are where its layout has them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from corpus.code import ir
from corpus.code.arithmetic import compared
from corpus.code.evaluation import define
from corpus.code.sass.evaluation import (
    UNKNOWN,
    add,
    calculate,
    combine,
    hold,
    multiply,
    pair_of,
    read_constants,
    value_of,
)
from corpus.code.sass.launch import ALL
from corpus.code.sass.operands import CONSTANTS, is_predicate, next_register, targets
from corpus.code.table import NOTHING, Row, Table, table_of
from corpus.code.thread import FollowedThread, Meaning, State
from corpus.code.values import Symbol, Unknown, Value
from corpus.code.variants import part_ways
from corpus.litmus.instructions import COMPARISONS
from corpus.litmus.ptx_arithmetic import compute, signed

Results = Iterable[tuple[ir.Operand, Value]]
"""What goes to which register."""
Computation = Callable[[FollowedThread, State, ir.KernelInstruction], Results]
"""What an instruction computes; nothing is known of registers that it writes besides."""


def keep_results(thread: FollowedThread, state: State, written: Iterable[ir.Operand], results: Results = ()) -> None:
    """Forget what registers hold that an instruction writes, but for its results."""
    for register in written:
        if isinstance(register, ir.Register):
            state.known.pop(state.home(register.name), None)
    for register, value in results:
        assert isinstance(register, ir.Register)
        if register.name in CONSTANTS:
            continue
        home = state.home(register.name)
        if isinstance(value, Unknown):
            state.known.pop(home, None)
        else:
            define(thread, state, home, value)


def _compute(computation: Computation, thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    keep_results(thread, state, targets(ins), list(computation(thread, state, ins)))
    return True


def begin_again(thread: FollowedThread, state: State, predicate: ir.Operand, value: Symbol) -> bool:
    """Go back to the instruction that was begun, on two ways, as a predicate that memory gives is on each of them."""
    inner = predicate.operand if isinstance(predicate, ir.Negated) else predicate
    assert isinstance(inner, ir.Register)
    state.place -= 1
    return part_ways(thread, state, inner.name, value.register)


class _Split(NamedTuple):
    """The operands of an instruction: what it writes, predicates that it writes besides, what it is given, and the
    predicates at the end.
    """

    target: ir.Operand
    more: list[ir.Operand]
    sources: list[ir.Operand]
    conditions: list[ir.Operand]

    @classmethod
    def of(cls, ins: ir.KernelInstruction) -> _Split:
        given = list(ins.operands)
        more: list[ir.Operand] = []
        conditions: list[ir.Operand] = []
        if is_predicate(given[0]):
            more.append(given.pop(0))
        target = given.pop(0)
        while given and is_predicate(given[0]):
            more.append(given.pop(0))
        while given and is_predicate(given[-1]):
            conditions.insert(0, given.pop())
        return cls(target, more, given, conditions)


def _move(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    return [(ins.operands[0], value_of(thread, state, ins.operands[1]))]


def _special(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``S2R``, and ``CS2R``, which has 64 bits."""
    target, source = ins.operands
    assert isinstance(source, ir.Register)
    (x, *_), (block, *_) = thread.ids.thread, thread.ids.block
    zeros = ("SR_TID.Y", "SR_TID.Z", "SR_CTAID.Y", "SR_CTAID.Z", "SR_CgaCtaId", "SRZ")
    value = {"SR_TID.X": x, "SR_CTAID.X": block, **dict.fromkeys(zeros, 0)}.get(source.name)
    yield target, UNKNOWN if value is None else value
    if ins.name == "CS2R" and not ins.words:
        yield next_register(target), UNKNOWN if value is None else 0


def _constant(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``LDC``: words of constant memory."""
    target, source = ins.operands
    assert isinstance(source, ir.MemoryOperand)
    words = 4 if "128" in ins.words else 2 if "64" in ins.words else 1
    if {"U8", "S8", "U16", "S16"}.intersection(ins.words):
        return []
    found = read_constants(thread, state, source, words)
    return [(next_register(target, step), value) for step, value in enumerate(found)]


def _add(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``IADD3``, ``VIADD``, with carries of sums that are known."""
    target, more, sources, conditions = _Split.of(ins)
    if "64" in ins.words:
        return [(target, add(thread, [pair_of(thread, state, source)[0] for source in sources]))]
    values = [value_of(thread, state, source) for source in sources]
    if "X" in ins.words:
        values += [value_of(thread, state, condition) for condition in conditions]
    numbers = [value & ALL for value in values if isinstance(value, int)]
    carry = sum(numbers) >> 32
    known = len(numbers) == len(values)
    carries = [(predicate, int(carry > place) if known else UNKNOWN) for place, predicate in enumerate(more)]
    return [(target, add(thread, values)), *carries]


def _multiply(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``IMAD``: a product and a sum, of 32 or 64 bits."""
    target, _, (one, other, addend), conditions = _Split.of(ins)
    left, right = value_of(thread, state, one), value_of(thread, state, other)
    if "HI" in ins.words:
        return []
    if "WIDE" in ins.words:
        low, high = pair_of(thread, state, addend)
        match left, right, low, high:
            case int(), int(), int(), int():
                factors = [left & ALL, right & ALL] if "U32" in ins.words else [signed(left, 32), signed(right, 32)]
                total = factors[0] * factors[1] + (high << 32) + low
                return [(target, total & ALL), (next_register(target), total >> 32 & ALL)]
        return [(target, add(thread, [multiply(thread, left, right), low]))]
    values = [multiply(thread, left, right), value_of(thread, state, addend)]
    if "X" in ins.words:
        values += [value_of(thread, state, condition) for condition in conditions]
    return [(target, add(thread, values))]


def _logic(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``LOP3.LUT``, and whether the result is not 0."""
    target, more, sources, conditions = _Split.of(ins)
    result = _by_table(thread, state, sources[:3], sources[3])
    yield target, result
    if conditions == [ir.Negated(ir.Register("PT"))]:  # whether the result is not 0, or another predicate holds
        for predicate in more:
            yield predicate, _compared(thread, "ne", "s32", result, 0)


def _by_table(thread: FollowedThread, state: State, sources: Iterable[ir.Operand], table: ir.Operand) -> Value:
    assert isinstance(table, ir.Number)
    return calculate(thread, "lop3.b32", *(value_of(thread, state, source) for source in sources), table.value)


def _predicates(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``PLOP3.LUT``: two results of three predicates."""
    for target, table in zip(ins.operands[:2], ins.operands[5:], strict=True):
        assert isinstance(target, ir.Register)
        if target.name not in CONSTANTS:
            yield target, calculate(thread, "and.b32", _by_table(thread, state, ins.operands[2:5], table), 1)


def _shift(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``SHF``: a shift of 64 bits, of which it gives one half."""
    target, *sources = ins.operands
    low, count, high = (value_of(thread, state, source) for source in sources)
    if "W" in ins.words and not (isinstance(count, int) and count < 32):
        return []
    if "L" in ins.words and "HI" not in ins.words:
        return [(target, calculate(thread, "shl.b32", low, count))]
    if "R" in ins.words and "HI" in ins.words:
        kind = "s32" if {"S32", "S64"}.intersection(ins.words) else "u32"
        return [(target, calculate(thread, f"shr.{kind}", high, count))]
    match low, count, high:
        case int(), int(), int() if "R" in ins.words and "U64" in ins.words and 32 <= count < 64:
            return [(target, (high & ALL) >> count - 32)]
        case int(), int(), int() if count < 32:
            both = (high & ALL) << 32 | low & ALL
            return [(target, (both << count >> 32 if "L" in ins.words else both >> count) & ALL)]
    return []


def _scaled(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``LEA``: a sum with a number that is shifted."""
    target, _, sources, _ = _Split.of(ins)
    if "HI" in ins.words or "X" in ins.words or len(sources) != 3:
        return []
    value, addend, count = (value_of(thread, state, source) for source in sources)
    moved = value if count == 0 else calculate(thread, "shl.b32", value, count)
    return [(target, add(thread, [moved, addend]))]


def _bytes(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``PRMT``: bytes of two numbers."""
    target, one, chosen, other = ins.operands
    match [value_of(thread, state, source) for source in (one, other, chosen)]:
        case [int() as low, int() as high, int() as which]:
            return [(target, compute("prmt", ("b32",), [low, high, which]))]
    return []


def _mask(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``BMSK``: so many ones from a place on."""
    target, start, count = ins.operands
    match value_of(thread, state, start), value_of(thread, state, count):
        case int() as first, int() as number:
            return [(target, ((1 << min(number, 32)) - 1 << min(first, 32)) & ALL)]
    return []


def _compare(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``ISETP``: a comparison, and with a predicate one more."""
    first, second, one, other, condition, *_ = ins.operands
    operation = next((word.lower() for word in ins.words if word in ("AND", "OR", "XOR")), None)
    name = next((word.lower() for word in ins.words if word.lower() in COMPARISONS), None)
    if operation is None or "EX" in ins.words:
        return
    result: Value = UNKNOWN
    if name is not None:
        kind = "u32" if "U32" in ins.words else "s32"
        result = _compared(thread, name, kind, value_of(thread, state, one), value_of(thread, state, other))
    also = value_of(thread, state, condition)
    yield first, combine(thread, operation, result, also)
    assert isinstance(second, ir.Register)
    if second.name not in CONSTANTS:
        yield second, combine(thread, operation, calculate(thread, "xor.pred", result, 1), also)


def _compared(thread: FollowedThread, name: str, kind: str, one: Value, other: Value) -> Value:
    """Return whether a comparison holds of two words; one of sums is of the registers that hold them."""
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return UNKNOWN
    return compared(thread, (name, kind), hold(thread, one), hold(thread, other))


def _select(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``SEL``: one of two values. A predicate of the running program is the result, or both ways are followed."""
    target, one, other, predicate = ins.operands
    values = value_of(thread, state, one), value_of(thread, state, other)
    inner = predicate.operand if isinstance(predicate, ir.Negated) else predicate
    match value_of(thread, state, inner):
        case Symbol() as chosen:
            if values not in ((1, 0), (0, 1)):
                return begin_again(thread, state, predicate, chosen)
            given = value_of(thread, state, predicate)
            result = given if values[0] else calculate(thread, "xor.pred", given, 1)
        case int(number):
            result = values[int(bool(number) is isinstance(predicate, ir.Negated))]
        case _:
            result = UNKNOWN
    keep_results(thread, state, targets(ins), [(target, result)])
    return True


def _extreme(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``IMNMX``: the smaller of two numbers, or with a false predicate the larger."""
    target, one, other, predicate = ins.operands
    least = value_of(thread, state, predicate)
    if not isinstance(least, int):
        return []
    opcode = f"{'min' if least else 'max'}.{'u32' if 'U32' in ins.words else 's32'}"
    return [(target, calculate(thread, opcode, value_of(thread, state, one), value_of(thread, state, other)))]


_LARGEST_HALF = 65504.0
"""The largest number of 16 bits with a fraction."""


def _halves(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``HFMA2`` of zeros, by which ptxas loads a constant: two numbers of 16 bits."""
    target, one, other, *constant = ins.operands
    zero = ir.Register("RZ")
    high, low = (
        struct.unpack("<d", part.bits.to_bytes(8, "little"))[0] for part in constant if isinstance(part, ir.Float)
    )
    if one not in (zero, ir.Sum(((zero, -1),))) or other != zero or max(abs(high), abs(low)) > _LARGEST_HALF:
        return []
    return [(target, int.from_bytes(struct.pack("<2e", low, high), "little"))]


def _vote(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """``VOTE``: of the lanes that are together, of which the thread is taken to be the only one."""
    *written, source = ins.operands
    own = 1 if "EQ" in ins.words else value_of(thread, state, source)
    return [(target, own) for target in written]


def _forget(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> Results:
    """Nothing is known of the result."""
    return []


def any_of(*parts: str) -> str:
    """Return the words of a row whose opcode may have any of some parts."""
    return f"{'|'.join(parts)}*" if parts else ""


def _row(opcodes: str, parts: str, operands: str, meaning: Meaning) -> Row[Meaning]:
    """Return the row of opcodes, and of those of uniform registers with a ``U`` before them."""
    names = ",".join(name for opcode in opcodes.split(",") for name in (opcode, f"U{opcode}"))
    return Row(names, NOTHING, operands, meaning, any_of(*parts.split()))


def _computes(opcodes: str, parts: str, operands: str, computation: Computation) -> Row[Meaning]:
    return _row(opcodes, parts, operands, partial(_compute, computation))


_FLOATS = "FTZ RN RM RP RZ SAT F16 F32 U8 S8 U16 S16 U32 S32 CEIL FLOOR TRUNC NTZ RCP RSQ SQRT LG2 EX2 SIN COS"
_COMPARES = "EQ NE LT LE GT GE NUM NAN EQU NEU LTU LEU GTU GEU AND OR XOR"
_OTHERS: Mapping[str, str] = {
    "I2F,I2FP,F2I,MUFU,FADD,FMUL,FFMA,FSEL,FMNMX": _FLOATS,
    "FSETP": f"{_COMPARES} FTZ",
    "PSETP": _COMPARES,
    "POPC,BREV,IABS,R2P,P2R,UP2UR": "",
    "FLO": "U32 S32 SH",
    "SGXT": "U32 S32 W",
    "SHFL": "IDX UP DOWN BFLY",
    "BMOV": "32 CLEAR",
}
"""Opcodes that write one register, or predicates, and of whose results nothing is known; the parts of each."""

COMPUTED: Table[Meaning] = table_of(
    [
        _computes("MOV", "32I U32", "R S", _move),
        _computes("R2UR", "", "R R", _move),
        _computes("S2R,S2UR", "", "R special", _special),
        _computes("CS2R", "32", "R special", _special),
        _computes("LDC,LDCU", "32 64 128 U8 S8 U16 S16", "R c", _constant),
        _computes("IADD3", "X 64", "R P? P? S S S p? p?", _add),
        _computes("VIADD,IADD", "X 64", "R P? P? S S p? p?", _add),
        _computes("IMAD", "MOV IADD SHL U32 WIDE X HI", "R P? S S S p?", _multiply),
        _computes("LOP3", "LUT", "P? R S S S l p", _logic),
        _computes("PLOP3", "LUT", "P P p p p l l", _predicates),
        _computes("SHF", "L R U32 S32 U64 S64 HI W", "R S S S", _shift),
        _computes("LEA", "HI X SX32", "R P? S S S S? p?", _scaled),
        _computes("PRMT", "", "R S S S", _bytes),
        _computes("BMSK", "", "R S S", _mask),
        _computes("ISETP", "EQ NE LT LE GT GE U32 S32 AND OR XOR EX", "P P S S p p?", _compare),
        _row("SEL", "", "R S S p", _select),
        _computes("VOTE,VOTEU", "ANY ALL EQ", "R|P P? p", _vote),
        _computes("IMNMX,VIMNMX", "U32 S32", "R S S p", _extreme),
        _computes("HFMA2", "MMA", "R S S h h", _halves),
        *(_computes(names, parts, "any any? any? any? any? any? any?", _forget) for names, parts in _OTHERS.items()),
    ]
)
"""The opcodes that compute and are understood."""
