"""Operands of machine instructions: how they are read, their kinds, and those that an instruction may write.

R2, RZ, 0x10, -R5, ~R5, !P0        Register, Register, Number, Sum, Negated, Negated
desc[UR4][R2.64+0x10]              MemoryOperand of R2, 16
c[0x0][R2+0x160]                   MemoryOperand of the sum of bank 0 and R2, 0x160
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from corpus.code import ir
from corpus.code.sass.launch import ALL
from corpus.code.table import Wrong

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
    if text[:1] in ("-", "~", "!"):
        inner = operand_of(text[1:])
        if text[0] == "-" and _is_word(inner):
            return ir.Sum(((inner, -1),))
        if _letter(inner) == "P" if text[0] == "!" else text[0] == "~" and _is_word(inner):
            return ir.Negated(inner)
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


def _is_constant(operand: ir.Operand) -> bool:
    if not isinstance(operand, ir.MemoryOperand):
        return False
    base = operand.base.terms[0][0] if isinstance(operand.base, ir.Sum) else operand.base
    return isinstance(base, ir.SymbolRef)


def _is_word(operand: ir.Operand) -> bool:
    return _letter(operand) == "R" or _is_constant(operand)


def is_address(operand: ir.Operand) -> bool:
    """Decide whether an operand is memory that is no constant."""
    return isinstance(operand, ir.MemoryOperand) and not _is_constant(operand)


def _is_source(operand: ir.Operand) -> bool:
    match operand:
        case ir.Number(value):
            return abs(value) <= ALL
        case ir.Sum(((inner, -1),)) | ir.Negated(inner):
            return _is_word(inner)
    return _is_word(operand)


KINDS: Mapping[str, SassOperandKind] = {
    "R": SassOperandKind(lambda given: _letter(given) == "R", ("R8", "R99")),
    "S": SassOperandKind(_is_source, ("0x3", "R98")),
    "P": SassOperandKind(lambda given: _letter(given) == "P", ("P1", "P6")),
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
