"""What machine instructions compute that access no memory which threads share: a table of functions by opcode.

A function returns what goes to which register, or None where nothing is known of that. Example: of ``IADD3 R2, P0, R2,
UR6, RZ`` it is a sum for ``R2``, and for ``P0`` the carry, which is known where the numbers are.

NVIDIA does not document SASS. The meanings are those of the PTX instructions that become these opcodes (PTX ISA 9.1,
9.7.1 to 9.7.8), and addresses and results tell where a meaning is wrong: those of a test are where its layout has them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

from backends.cuda.sass.operands import NOWHERE, PREDICATE, SassOperands, SassState, next_register
from backends.cuda.sass.text import SassInstruction
from backends.cuda.sass.values import ALL, MachineValue, Relative
from corpus.litmus.ptx_arithmetic import compute, signed

Results = list[tuple[str, MachineValue]] | None
"""What goes to which register; None where nothing is known of the result."""
SassMeaning = Callable[[SassOperands, SassState, SassInstruction], Results]


def computed(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """Return what an instruction computes; nothing is known of registers that it leaves out.

    Raises ``UndecidedError`` where it depends on a predicate of the running program which way is taken.
    """
    opcode = ins.parts[0]
    meaning = COMPUTED.get(opcode.removeprefix("U") if opcode != "UP2UR" else opcode)
    if meaning is None:
        return None
    try:
        return meaning(of, state, ins)
    except (ValueError, IndexError, StopIteration):  # operands are too few, too many or of another kind
        return None


def targets(ins: SassInstruction) -> list[str]:
    """Return the registers that an instruction of any opcode may write: the first, of 64 bits a pair, and predicates
    among the first three operands. Comparisons write two predicates.
    """
    if ins.parts[0] == "R2P":
        return [f"P{number}" for number in range(7)]
    predicates = [text for text in ins.operands[:3] if PREDICATE.fullmatch(text)]
    if [*ins.operands[:2]] == predicates[:2]:
        return predicates
    words = 4 if "128" in ins.parts else 2 if {"64", "WIDE"}.intersection(ins.parts) else 1
    first = next((text for text in ins.operands if text not in predicates), "RZ")
    return [*predicates, *(next_register(first, step) for step in range(words))]


class _Split(NamedTuple):
    """The operands of an instruction: what it writes, predicates that it writes besides, and what it asks for."""

    target: str
    told: list[str]
    sources: list[str]
    asked: list[str]

    @classmethod
    def of(cls, ins: SassInstruction) -> _Split:
        given, told = list(ins.operands), []
        asked: list[str] = []
        if PREDICATE.fullmatch(given[0]):
            told.append(given.pop(0))
        target = given.pop(0)
        while given and PREDICATE.fullmatch(given[0]):
            told.append(given.pop(0))
        while given and PREDICATE.fullmatch(given[-1]):
            asked.insert(0, given.pop())
        return cls(target, told, given, asked)


def _move(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    return [(ins.operands[0], of.value(state, ins.operands[1]))]


def _special(of: SassOperands, _: SassState, ins: SassInstruction) -> Results:
    """``S2R``, and ``CS2R``, which has 64 bits."""
    target, name = ins.operands
    value = of.special.get(name)
    upper = None if value is None else 0
    return [(target, value), *([(next_register(target), upper)] if ins.parts == ("CS2R",) else [])]


def _constant(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``LDC``: words of constant memory."""
    target, where = ins.operands
    words = 4 if "128" in ins.parts else 2 if "64" in ins.parts else 1
    if {"U8", "S8", "U16", "S16"}.intersection(ins.parts):
        return None
    found = of.constants(state, where, words)
    return [(next_register(target, step), value) for step, value in enumerate(found)]


def _add(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``IADD3``, ``VIADD``, with carries of sums that are known."""
    target, told, sources, asked = _Split.of(ins)
    if "64" in ins.parts:
        pairs = [of.pair(state, each) for each in sources]
        total = of.arithmetic.total([low for low, _ in pairs])
        return [(target, total), (next_register(target), None)]
    values = [of.value(state, each) for each in sources]
    if "X" in ins.parts:
        values += [of.predicate(state, each) for each in asked]
    numbers = [value & ALL for value in values if isinstance(value, int)]
    carry = sum(numbers) >> 32 if len(numbers) == len(values) else None
    carries = [carry if carry is None else int(carry > place) for place in range(len(told))]
    return [(target, of.arithmetic.total(values)), *zip(told, carries, strict=True)]


def _multiply(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``IMAD``: a product and a sum, of 32 or 64 bits."""
    target, told, (one, other, more), asked = _Split.of(ins)
    left, right = of.value(state, one), of.value(state, other)
    if "HI" in ins.parts:
        return None
    if "WIDE" in ins.parts:
        low, high = of.pair(state, more)
        match left, right, low, high:
            case int(), int(), int(), int():
                unsigned = "U32" in ins.parts
                factors = [each & ALL if unsigned else signed(each & ALL, 32) for each in (left, right)]
                total = factors[0] * factors[1] + (high << 32) + low
                return [(target, total & ALL), (next_register(target), total >> 32 & ALL)]
        return [(target, of.arithmetic.total([of.arithmetic.product(left, right), low]))]
    values = [of.arithmetic.product(left, right), of.value(state, more)]
    if "X" in ins.parts:
        values += [of.predicate(state, each) for each in asked]
    return [(target, of.arithmetic.total(values)), *((each, None) for each in told)]


def _logic(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``LOP3.LUT``, and whether the result is not 0."""
    target, told, sources, _ = _Split.of(ins)
    values = [of.value(state, each) for each in sources[:3]]
    result = of.arithmetic.logic(int(sources[3], 16), values)
    return [(target, result), *((each, of.arithmetic.compared(("NE",), result, 0)) for each in told)]


def _predicates(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``PLOP3.LUT``: two results of three predicates."""
    first, second, *sources = ins.operands
    values = [of.predicate(state, each) for each in sources[:3]]
    found: list[tuple[str, MachineValue]] = []
    for target, table in ((first, sources[3]), (second, sources[4])):
        if target not in NOWHERE:
            result = of.arithmetic.logic(int(table, 16), values)
            found.append((target, of.arithmetic.binary("and", result, 1)))
    return found


def _shift(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``SHF``: a shift of 64 bits, of which it gives one half."""
    target, *sources = ins.operands
    low, count, high = (of.value(state, each) for each in sources)
    if "L" in ins.parts and "HI" not in ins.parts:
        return [(target, of.arithmetic.binary("shl.b32", low, count))]
    if "R" in ins.parts and "HI" in ins.parts:
        kind = "s32" if "S32" in ins.parts else "u32"
        return [(target, of.arithmetic.binary(f"shr.{kind}", high, count))]
    match low, count, high:
        case int(), int(), int():
            whole = (high & ALL) << 32 | low & ALL
            return [(target, (whole << count >> 32 if "L" in ins.parts else whole >> count) & ALL)]
    return None


def _scaled(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``LEA``: a sum with a number that is shifted."""
    target, _, sources, _ = _Split.of(ins)
    if "HI" in ins.parts or "X" in ins.parts:
        return None
    value, more, count = (of.value(state, each) for each in sources)
    moved = value if count == 0 else of.arithmetic.binary("shl.b32", value, count)
    return [(target, of.arithmetic.total([moved, more]))]


def _bytes(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``PRMT``: bytes of two numbers."""
    target, one, chosen, other = ins.operands
    match of.value(state, one), of.value(state, other), of.value(state, chosen):
        case int() as low, int() as high, int() as which:
            return [(target, compute("prmt", ("b32",), [low & ALL, high & ALL, which & ALL]))]
    return None


def _mask(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``BMSK``: so many ones from a place on."""
    target, start, count = ins.operands
    match of.value(state, start), of.value(state, count):
        case int() as first, int() as number:
            return [(target, ((1 << min(number, 32)) - 1 << min(first, 32)) & ALL)]
    return None


def _compare(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``ISETP``: a comparison, and with a predicate one more."""
    first, second, one, other, *asked = ins.operands
    if "EX" in ins.parts:
        return None
    operation = next(part for part in ins.parts if part in ("AND", "OR", "XOR"))
    result = of.arithmetic.compared(ins.parts[1:], of.value(state, one), of.value(state, other))
    more = of.predicate(state, asked[0])
    found = [(first, of.arithmetic.both(operation, result, more))]
    if second not in NOWHERE:
        found.append((second, of.arithmetic.both(operation, of.arithmetic.opposite(result), more)))
    return found


def _select(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``SEL``: one of two values. A predicate of the running program is the result, or both ways are followed."""
    target, one, other, predicate = ins.operands
    values = of.value(state, one), of.value(state, other)
    asked = of.predicate(state, predicate)
    if isinstance(asked, Relative) and values in ((1, 0), (0, 1)):
        return [(target, asked if values[0] else of.arithmetic.opposite(asked))]
    decided = of.decided(state, predicate)
    return None if decided is None else [(target, values[0] if decided else values[1])]


def _extreme(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``IMNMX``: the smaller of two numbers, or with a false predicate the larger."""
    target, one, other, predicate = ins.operands
    least = of.predicate(state, predicate)
    if not isinstance(least, int):
        return None
    name = ("min" if least else "max") + (".u32" if "U32" in ins.parts else "")
    return [(target, of.arithmetic.binary(name, of.value(state, one), of.value(state, other)))]


def _halves(_: SassOperands, __: SassState, ins: SassInstruction) -> Results:
    """``HFMA2`` of zeros, by which ptxas loads a constant: two numbers of 16 bits."""
    target, one, other, high, low = ins.operands
    numbers = re.compile(r"-?[\d.]+(e[+-]?\d+)?")
    if one.lstrip("-") != "RZ" or other != "RZ" or not numbers.fullmatch(high) or not numbers.fullmatch(low):
        return None
    (bits,) = struct.unpack("<I", struct.pack("<2e", float(low), float(high)))
    return [(target, int(bits))]


def _vote(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``VOTE``: of the lanes that are together, of which the thread is taken to be the only one."""
    *told, source = ins.operands
    own = 1 if "EQ" in ins.parts else of.predicate(state, source)
    return [(target, own) for target in told]


COMPUTED: Mapping[str, SassMeaning] = {
    **dict.fromkeys(("MOV", "R2UR"), _move),
    **dict.fromkeys(("S2R", "S2UR", "CS2R"), _special),
    **dict.fromkeys(("LDC", "LDCU"), _constant),
    **dict.fromkeys(("IADD3", "VIADD", "IADD"), _add),
    "IMAD": _multiply,
    "LOP3": _logic,
    "PLOP3": _predicates,
    "SHF": _shift,
    "LEA": _scaled,
    "PRMT": _bytes,
    "BMSK": _mask,
    "ISETP": _compare,
    "SEL": _select,
    **dict.fromkeys(("VOTE", "VOTEU"), _vote),
    **dict.fromkeys(("IMNMX", "VIMNMX"), _extreme),
    "HFMA2": _halves,
}
"""The opcodes that are understood, without the ``U`` of those of uniform registers."""
