"""Operands of machine instructions: how they are read, their kinds, and their values while a thread is followed.

A register has 32 bits and a predicate one; pairs of registers have the halves of addresses, the upper of which is taken
to be right. Bank 0 of constant memory holds the parameters of the kernel, which the launch gives as numbers, and bank 3
the marks of accesses, which are zeros (``backends.cuda.memory``).

    R2, RZ, 0x10, -R5, ~R5, !P0        Register, Register, Number, Sum, Negated, Negated
    desc[UR4][R2.64+0x10]              MemoryOperand of R2, 16
    c[0x0][R2+0x160]                   MemoryOperand of the sum of bank 0 and R2, 0x160

What nothing is known of is ``UNKNOWN``, and no register is known to hold it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from corpus.code import ir
from corpus.code.arithmetic import computed, residual_operand
from corpus.code.sass.launch import ALL, WORD, CompiledLaunch
from corpus.code.sass.text import MARKS
from corpus.code.table import Wrong
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Affine, Symbol, Unknown, Value
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.ptx_arithmetic import signed

UNKNOWN = Unknown("what is not understood")
"""A value of which nothing is known."""

CONSTANTS: Mapping[str, int] = {"RZ": 0, "URZ": 0, "PT": 1, "UPT": 1}
"""Registers that keep nothing, and what they give."""

# operands as they are written

_REGISTER = re.compile(r"(?:U?R(?:\d{1,3}|Z)|U?P[0-7T])")
_NUMBERED = re.compile(r"(U?R)(\d+)")
_PREDICATE = re.compile(r"U?P[0-7T]")
_SPECIAL = re.compile(r"SR[\w.]*")
_NUMBER = re.compile(r"-?0x[0-9a-f]{1,16}")
_DECIMAL = re.compile(r"-?\d{1,20}(?:\.\d{1,40})?(?:e[+-]?\d{1,3})?")
_TERM = re.compile(r"(-?)(U?R(?:\d{1,3}|Z)|0x[0-9a-f]{1,16})((?:\.(?:64|U32|reuse|X4|X8|X16))*)")
_ADDRESS = re.compile(rf"(?:desc\[UR\d{{1,3}}\])?\[({_TERM.pattern}(?:\+{_TERM.pattern})*)\]")
_CONSTANT = re.compile(r"c\[(0x[0-9a-f]{1,4})\]\[(?:(U?R(?:\d{1,3}|Z))\+?)?(0x[0-9a-f]{1,8})?\]")
_NAME = re.compile(r"`\((.*)\)")


@lru_cache(maxsize=1 << 14)
def operand_of(text: str) -> ir.Operand:
    """Return an operand as it is written; what has no other form is a name."""
    bare = text.removesuffix(".reuse")
    if _REGISTER.fullmatch(bare) and (bare == text or not _PREDICATE.fullmatch(bare)):
        return ir.Register(bare)
    if _SPECIAL.fullmatch(text):
        return ir.Register(text)
    if _NUMBER.fullmatch(text):
        return ir.Number(int(text, 16))
    if _DECIMAL.fullmatch(text):
        return ir.Float(int.from_bytes(struct.pack("<d", float(text)), "little"), 64)
    if text[:1] in ("-", "~", "!") and text[1:2] not in ("-", "~", "!"):
        inner = operand_of(text[1:])
        signs = "!" if is_predicate(inner) else "-~"
        if isinstance(inner, ir.Register | ir.MemoryOperand) and text[0] in signs and not _ADDRESS.fullmatch(text[1:]):
            return ir.Sum(((inner, -1),)) if text[0] == "-" else ir.Negated(inner)
    if found := _CONSTANT.fullmatch(text):
        bank = ir.SymbolRef(f"c[{int(found[1], 16)}]")
        base = ir.Sum(((bank, 1), (ir.Register(found[2]), 1))) if found[2] else bank
        return ir.MemoryOperand(base, int(found[3] or "0", 16))
    if found := _ADDRESS.fullmatch(text):
        return _address(found[1])
    named = _NAME.fullmatch(text)
    return ir.SymbolRef(named[1] if named else text)


def _address(text: str) -> ir.MemoryOperand:
    terms: list[tuple[ir.Operand, int]] = []
    offset = 0
    for sign, name, suffix in _TERM.findall(text):
        scale = re.search(r"\.X(\d+)", suffix)
        factor = (-1 if sign else 1) * (int(scale[1]) if scale else 1)
        if name.startswith("0x"):
            offset += factor * int(name, 16)
        else:
            terms.append((ir.Register(name), factor))
    match terms:
        case []:
            return ir.MemoryOperand(ir.Number(0), offset)
        case [(ir.Register() as register, 1)]:
            return ir.MemoryOperand(register, offset)
    return ir.MemoryOperand(ir.Sum(tuple(terms)), offset)


class SassOperandKind(NamedTuple):
    """A kind of operands: what decides whether one is of it, and examples."""

    has: Callable[[ir.Operand], bool]
    examples: tuple[str, ...]


def is_predicate(operand: ir.Operand) -> bool:
    """Decide whether an operand is a predicate, or the opposite of one."""
    inner = operand.operand if isinstance(operand, ir.Negated) else operand
    return _letter(inner) == "P"


def _letter(operand: ir.Operand) -> str:
    """Return what registers are called, uniform ones as well: R, P of predicates, and S of special ones."""
    return operand.name.removeprefix("U")[0] if isinstance(operand, ir.Register) else ""


def _is_register(operand: ir.Operand) -> bool:
    return _letter(operand) == "R"


def _is_constant(operand: ir.Operand) -> bool:
    if not isinstance(operand, ir.MemoryOperand):
        return False
    base = operand.base.terms[0][0] if isinstance(operand.base, ir.Sum) else operand.base
    return isinstance(base, ir.SymbolRef)


def is_address(operand: ir.Operand) -> bool:
    """Decide whether an operand is memory that is no constant."""
    return isinstance(operand, ir.MemoryOperand) and not _is_constant(operand)


def _is_source(operand: ir.Operand) -> bool:
    match operand:
        case ir.Number(value):
            return abs(value) <= ALL
        case ir.Sum(((inner, -1),)) | ir.Negated(inner):
            return _is_register(inner) or _is_constant(inner)
    return _is_register(operand) or _is_constant(operand)


KINDS: Mapping[str, SassOperandKind] = {
    "R": SassOperandKind(_is_register, ("R8", "R99")),
    "S": SassOperandKind(_is_source, ("0x3", "R98")),
    "P": SassOperandKind(lambda given: isinstance(given, ir.Register) and is_predicate(given), ("P1", "P6")),
    "p": SassOperandKind(is_predicate, ("P2", "P5")),
    "PT": SassOperandKind(lambda given: given == ir.Register("PT"), ("PT",)),
    "l": SassOperandKind(lambda given: isinstance(given, ir.Number) and 0 <= given.value < 256, ("0xc0",)),
    "h": SassOperandKind(lambda given: isinstance(given, ir.Float), ("1.5",)),
    "c": SassOperandKind(_is_constant, ("c[0x0][0x160]",)),
    "special": SassOperandKind(lambda given: _letter(given) == "S", ("SR_TID.X",)),
    "a": SassOperandKind(is_address, ("[R2.64]",)),
    "any": SassOperandKind(lambda _: True, ("R5", "R99")),
}
"""The kinds of operands."""


def _wrong(kind: str, operand: ir.Operand, _: int) -> str:
    return "" if KINDS[kind].has(operand) else f"{operand} is of another kind"


IS_WRONG: Wrong[ir.Operand] = _wrong


def next_register(operand: ir.Operand, step: int = 1) -> ir.Operand:
    """Return the register so many after one; the rest of RZ is RZ."""
    found = _NUMBERED.fullmatch(operand.name) if isinstance(operand, ir.Register) else None
    return operand if found is None else ir.Register(f"{found[1]}{int(found[2]) + step}")


def targets(ins: ir.KernelInstruction) -> list[ir.Operand]:
    """Return the registers that an instruction of any opcode may write: the first, of 64 bits a pair, and predicates
    among the first three operands. Comparisons write two predicates.
    """
    if ins.name == "R2P":
        return [ir.Register(f"P{number}") for number in range(7)]
    predicates = [operand for operand in ins.operands[:3] if is_predicate(operand)]
    if [*ins.operands[:2]] == predicates[:2]:
        return predicates
    wide = "WIDE" in ins.words or any("64" in word for word in ins.words) or (ins.name == "CS2R" and not ins.words)
    words = 4 if "128" in ins.words else 2 if wide else 1
    first = next((operand for operand in ins.operands if operand not in predicates), ir.Register("RZ"))
    return [*predicates, *(next_register(first, step) for step in range(words))]


# values


def launch_of(thread: FollowedThread) -> CompiledLaunch:
    """Return the launch of a compiled test."""
    assert isinstance(thread.launch, CompiledLaunch)
    return thread.launch


def capability_of(thread: FollowedThread) -> int:
    """Return the compute capability that the code is for: 90 of ``sm_90``."""
    return int(thread.module.target.removeprefix("sm_"))


def value_of(thread: FollowedThread, state: State, operand: ir.Operand) -> Value:
    """Return the value of an operand: of 32 bits, or 0 or 1 of a predicate."""
    match operand:
        case ir.Register(name):
            return CONSTANTS[name] if name in CONSTANTS else state.known.get(state.home(name), UNKNOWN)
        case ir.Number(number):
            return number & ALL
        case ir.Negated(inner):
            width = "pred" if is_predicate(inner) else "b32"
            every = 1 if is_predicate(inner) else ALL
            return calculated(thread, f"xor.{width}", value_of(thread, state, inner), every)
        case ir.Sum(terms):
            return added(thread, [_multiple(thread, value_of(thread, state, term), factor) for term, factor in terms])
        case ir.MemoryOperand():
            return constants(thread, state, operand, 1)[0]
    return UNKNOWN


def _multiple(thread: FollowedThread, value: Value, factor: int) -> Value:
    if factor < 0:
        value = -value & ALL if isinstance(value, int) else calculated(thread, "sub.s32", 0, value)
    return multiplied(thread, value, abs(factor))


def pair_of(thread: FollowedThread, state: State, operand: ir.Operand) -> tuple[Value, Value]:
    """Return both halves of an operand of 64 bits."""
    if isinstance(operand, ir.MemoryOperand):
        low, high = constants(thread, state, operand, 2)
        return low, high
    low = value_of(thread, state, operand)
    upper = next_register(operand)
    return low, 0 if upper == operand else value_of(thread, state, upper)


def constants(thread: FollowedThread, state: State, operand: ir.MemoryOperand, words: int) -> list[Value]:
    """Return so many words of constant memory from one on."""
    bank: ir.Operand = operand.base
    index = 0
    if isinstance(bank, ir.Sum):
        (bank, _), (register, _) = bank.terms
        held = value_of(thread, state, register)
        if not isinstance(held, int):
            return [UNKNOWN] * words
        index = held
    first = (index + operand.offset) & ALL
    if bank == ir.SymbolRef(f"c[{MARKS}]"):
        return [0] * words
    if bank != ir.SymbolRef("c[0]"):
        return [UNKNOWN] * words
    launch, capability = launch_of(thread), capability_of(thread)
    found = [launch.constant(first + WORD * step, capability) for step in range(words)]
    return [UNKNOWN if word is None else word for word in found]


def address_of(thread: FollowedThread, state: State, operand: ir.Operand) -> Value:
    """Return the low half of the address that an operand in brackets is."""
    assert isinstance(operand, ir.MemoryOperand)
    return added(thread, [value_of(thread, state, operand.base), operand.offset])


def operand_needed(thread: FollowedThread, value: Value) -> Operand:
    """Return a value as an operand of the test. Raises ``NotUnderstoodError`` where nothing is known of it."""
    kept = held(thread, value)
    if not isinstance(kept, int | Symbol):
        raise thread.out.wrong("its value is not understood")
    return residual_operand(kept, 32)


# arithmetic of words


def calculated(thread: FollowedThread, opcode: str, *values: Value) -> Value:
    """Return the result of an instruction of PTX; nothing is known of it where nothing is of an operand."""
    if any(isinstance(value, Unknown) for value in values):
        return UNKNOWN
    return computed(thread, opcode, [held(thread, value) for value in values])


def held(thread: FollowedThread, value: Value) -> Value:
    """Return a sum as a register of the residual program that holds it."""
    match value:
        case Affine(None, ((register, 1),), offset):
            return Symbol(thread.out.temporary("add", Reg(register), signed(offset, 32)), 32)
    return value


def added(thread: FollowedThread, values: Sequence[Value]) -> Value:
    """Return a sum: of a register of the residual program and a number it is left as it is."""
    number, found = 0, ""
    for value in values:
        match value:
            case int():
                number += value
                continue
            case Symbol(register):
                offset = 0
            case Affine(None, ((register, 1),), offset):
                pass
            case _:
                return UNKNOWN
        number += offset
        found = thread.out.temporary("add", Reg(found), Reg(register)) if found else register
    number &= ALL
    if not found:
        return number
    return Affine(None, ((found, 1),), number) if number else Symbol(found, 32)


def multiplied(thread: FollowedThread, one: Value, other: Value) -> Value:
    """Return the low half of a product; one with 0 is 0, whatever the other factor is."""
    for number, value in ((one, other), (other, one)):
        if number == 0:
            return 0
        if number == 1:
            return value
    return calculated(thread, "mul.lo.s32", one, other)


def combined(thread: FollowedThread, operation: str, one: Value, other: Value) -> Value:
    """Return two predicates as one, by ``and``, ``or`` or ``xor``; one may decide what the result is."""
    if operation == "and" and 0 in (one, other):
        return 0
    if operation == "or" and 1 in (one, other):
        return 1
    return calculated(thread, f"{operation}.pred", one, other)
