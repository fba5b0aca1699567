"""What machine instructions compute that access no memory which threads share: a table by opcode.

The words of a row are the parts that an opcode may have behind it (``corpus.code.table``). The meaning of a row returns
what goes to which register, or None where nothing is known of that. Example: of ``IADD3 R2, P0, R2, UR6, RZ`` it is a
sum for ``R2``, and for ``P0`` the carry, which is known where the numbers are.

NVIDIA does not document SASS. The meanings are those of the PTX instructions that become these opcodes (PTX ISA 9.1,
9.7.1 to 9.7.8), and addresses and results tell where a meaning is wrong: those of a test are where its layout has them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from corpus.code.sass.operands import NOWHERE, PREDICATE, SassOperands, SassState, next_register
from corpus.code.sass.text import SassInstruction
from corpus.code.sass.values import ALL, MachineValue, Relative
from corpus.code.table import (
    NOTHING,
    Kind,
    MeaningT,
    Row,
    Table,
    by_patterns,
    find,
    forms_in,
    kind,
    misfit_of,
    table_of,
)
from corpus.litmus.ptx_arithmetic import compute, signed

Results = list[tuple[str, MachineValue]] | None
"""What goes to which register; None where nothing is known of the result."""
SassMeaning = Callable[[SassOperands, SassState, SassInstruction], Results]


_ADDRESS_PART = r"(?:-?U?R(?:\d{1,3}|Z)(?:\.(?:64|U32|reuse|X4|X8|X16))*|-?0x[0-9a-f]{1,16})"
_CONSTANT = r"c\[0x[0-9a-f]{1,4}\]\[(?:U?R(?:\d{1,3}|Z)\+?)?(?:0x[0-9a-f]{1,8})?\]"
KINDS: Mapping[str, Kind] = {
    "R": kind(r"U?R(?:\d{1,3}|Z)(?:\.reuse)?", "R8", "R99"),
    "S": kind(rf"[-~]?U?R(?:\d{{1,3}}|Z)(?:\.reuse)?|-?0x[0-9a-f]{{1,8}}|[-~]?{_CONSTANT}", "0x3", "R98"),
    "P": kind(r"U?P[0-7T]", "P1", "P6"),
    "p": kind(r"!?U?P[0-7T]", "P2", "P5"),
    "PT": kind(r"PT", "PT"),
    "l": kind(r"0x[0-9a-f]{1,2}", "0xc0"),
    "h": kind(r"-?\d{1,20}(?:\.\d{1,40})?(?:e[+-]?\d{1,3})?", "1.5"),
    "c": kind(_CONSTANT, "c[0x0][0x160]"),
    "special": kind(r"SR[\w.]*", "SR_TID.X"),
    "a": kind(rf"(?:desc\[UR\d{{1,3}}\])?\[{_ADDRESS_PART}(?:\+{_ADDRESS_PART})*\]", "[R2.64]"),
    "any": kind(r"[^\n]*", "R5", "R99"),
}
"""The kinds of operands."""
IS_WRONG = by_patterns(KINDS)


def wrong_operands(ins: SassInstruction, forms: str) -> str | None:
    """Return what is wrong with the operands of an instruction that has these forms, None if nothing is."""
    fits = any(misfit_of(form, ins.operands, IS_WRONG) is None for form in forms_in(forms))
    return None if fits else "its operands are none of those that are known"


def row_of(table: Table[MeaningT], opcode: str, ins: SassInstruction) -> Row[MeaningT] | str:
    """Return the row that a table has for an instruction, by its opcode there, or why it has none."""
    found = find(table, opcode, ins.operands, IS_WRONG, ins.parts[1:])
    return found if isinstance(found, Row) else found.why


@lru_cache(maxsize=4096)  # what is in a loop is followed again and again
def sass_row(ins: SassInstruction) -> Row[SassMeaning] | str:
    """Return the row of an instruction that computes, or why it has none."""
    opcode = ins.parts[0]
    return row_of(COMPUTED, opcode.removeprefix("U") if opcode != "UP2UR" else opcode, ins)


def targets(ins: SassInstruction) -> list[str]:
    """Return the registers that an instruction of any opcode may write: the first, of 64 bits a pair, and predicates
    among the first three operands. Comparisons write two predicates.
    """
    if ins.parts[0] == "R2P":
        return [f"P{number}" for number in range(7)]
    predicates = [text for text in ins.operands[:3] if PREDICATE.fullmatch(text)]
    if [*ins.operands[:2]] == predicates[:2]:
        return predicates
    wide = "WIDE" in ins.parts or any("64" in part for part in ins.parts) or ins.parts == ("CS2R",)
    words = 4 if "128" in ins.parts else 2 if wide else 1
    first = next((text for text in ins.operands if text not in predicates), "RZ")
    return [*predicates, *(next_register(first.removesuffix(".reuse"), step) for step in range(words))]


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
    target, told, sources, asked = _Split.of(ins)
    values = [of.value(state, each) for each in sources[:3]]
    result = of.arithmetic.logic(int(sources[3], 16), values)
    if asked != ["!PT"]:  # whether the result is not 0, or another predicate holds
        return [(target, result)]
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
    if "W" in ins.parts and not (isinstance(count, int) and count < 32):
        return None
    if "L" in ins.parts and "HI" not in ins.parts:
        return [(target, of.arithmetic.binary("shl.b32", low, count))]
    if "R" in ins.parts and "HI" in ins.parts:
        kind = "s32" if {"S32", "S64"}.intersection(ins.parts) else "u32"
        return [(target, of.arithmetic.binary(f"shr.{kind}", high, count))]
    match low, count, high:
        case int(), int(), int() if "R" in ins.parts and "U64" in ins.parts and 32 <= count < 64:
            return [(target, (high & ALL) >> count - 32)]
        case int(), int(), int() if count < 32:
            whole = (high & ALL) << 32 | low & ALL
            return [(target, (whole << count >> 32 if "L" in ins.parts else whole >> count) & ALL)]
    return None


def _scaled(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``LEA``: a sum with a number that is shifted."""
    target, _, sources, _ = _Split.of(ins)
    if "HI" in ins.parts or "X" in ins.parts or len(sources) != 3:
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
    operation = next((part for part in ins.parts if part in ("AND", "OR", "XOR")), None)
    if operation is None:
        return None
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


_LARGEST_HALF = 65504.0
"""The largest number of 16 bits with a fraction."""


def _halves(_: SassOperands, __: SassState, ins: SassInstruction) -> Results:
    """``HFMA2`` of zeros, by which ptxas loads a constant: two numbers of 16 bits."""
    target, one, other, high, low = ins.operands
    if one.lstrip("-") != "RZ" or other != "RZ" or max(abs(float(high)), abs(float(low))) > _LARGEST_HALF:
        return None
    (bits,) = struct.unpack("<I", struct.pack("<2e", float(low), float(high)))
    return [(target, int(bits))]


def _vote(of: SassOperands, state: SassState, ins: SassInstruction) -> Results:
    """``VOTE``: of the lanes that are together, of which the thread is taken to be the only one."""
    *told, source = ins.operands
    own = 1 if "EQ" in ins.parts else of.predicate(state, source)
    return [(target, own) for target in told]


def _unknown(_: SassOperands, __: SassState, ___: SassInstruction) -> Results:
    """Nothing is known of the result."""
    return None


def any_of(*parts: str) -> str:
    """Return the words of a row whose opcode may have any of some parts."""
    return f"{'|'.join(parts)}*" if parts else ""


def _row(opcodes: str, parts: str, operands: str, meaning: SassMeaning) -> Row[SassMeaning]:
    return Row(opcodes, NOTHING, operands, meaning, any_of(*parts.split()))


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

COMPUTED: Table[SassMeaning] = table_of(
    [
        _row("MOV", "32I U32", "R S", _move),
        _row("R2UR", "", "R R", _move),
        _row("S2R,S2UR", "", "R special", _special),
        _row("CS2R", "32", "R special", _special),
        _row("LDC,LDCU", "32 64 128 U8 S8 U16 S16", "R c", _constant),
        _row("IADD3", "X 64", "R P? P? S S S p? p?", _add),
        _row("VIADD,IADD", "X 64", "R P? P? S S p? p?", _add),
        _row("IMAD", "MOV IADD SHL U32 WIDE X HI", "R P? S S S p?", _multiply),
        _row("LOP3", "LUT", "P? R S S S l p", _logic),
        _row("PLOP3", "LUT", "P P p p p l l", _predicates),
        _row("SHF", "L R U32 S32 U64 S64 HI W", "R S S S", _shift),
        _row("LEA", "HI X SX32", "R P? S S S S? p?", _scaled),
        _row("PRMT", "", "R S S S", _bytes),
        _row("BMSK", "", "R S S", _mask),
        _row("ISETP", "EQ NE LT LE GT GE U32 S32 AND OR XOR EX", "P P S S p p?", _compare),
        _row("SEL", "", "R S S p", _select),
        _row("VOTE,VOTEU", "ANY ALL EQ", "R|P P? p", _vote),
        _row("IMNMX,VIMNMX", "U32 S32", "R S S p", _extreme),
        _row("HFMA2", "MMA", "R S S h h", _halves),
        *(_row(names, parts, "any any? any? any? any? any? any?", _unknown) for names, parts in _OTHERS.items()),
    ]
)
"""The opcodes that are understood, without the ``U`` of those of uniform registers."""
