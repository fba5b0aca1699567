"""Arguments behind the dots of a function as the System V ABI of x86-64 has them (3.5.7): the caller lays out what
``va_arg`` reads, and gives its address as one argument more.

    call i32 (i32, ...) @sum(i32 2, i32 5, double 1.0)      at byte 8 the number 5, at byte 48 the number 1.0

The first 48 bytes are those of the registers of numbers and addresses, of 8 bytes each, then come those of 8
floating-point registers, of 16 bytes each, then what is given in memory. Registers of arguments before the dots are
left free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus.code import ir
from corpus.code.llvm.text import TypedOperand
from corpus.code.llvm.types import ArrayType, DataLayout, FloatType, IntType, IrError, PointerType, Type
from corpus.code.llvm.writing import FunctionTranslation, bits, emit, kind, new_register, scalars

HIDDEN = "%arguments'"
"""The parameter that has the address of the arguments behind the dots."""

LAID_OUT = ".arguments'"
"""What the names of variables have in them that have such arguments."""

NUMBERS, REGISTERS = 48, 176
"""The bytes of the registers of numbers and addresses, and of all registers."""

_FREE = 64
"""Bytes behind the last argument, so that who reads too many reads none."""


class Registers(NamedTuple):
    """The bytes of registers that arguments have taken: of numbers and addresses, and of floating-point numbers."""

    numbers: int = 0
    reals: int = NUMBERS


class GivenArgument(NamedTuple):
    """An argument of a call: its type, and the type that it is a copy of where it is one, in memory."""

    type: Type
    copied: Type | None = None


def _sizes(given: GivenArgument, layout: DataLayout) -> tuple[str, int, int]:
    """Return where an argument is given, ``number``, ``real`` or ``memory``, with its bytes there and alignment.

    Raises ``IrError`` where that is not known.
    """
    type = given.type
    if given.copied is not None:
        return "memory", -(-layout.bytes(given.copied) // 8) * 8, max(8, layout.align(given.copied))
    match type:
        case PointerType():
            return "number", 8, 8
        case IntType(width) if width <= 64:
            return "number", 8, 8
        case FloatType("half" | "float" | "double"):
            return "real", 16, 16
        case FloatType("x86_fp80"):
            return "memory", 16, 16
        case ArrayType(_, _, True) if layout.bytes(type) <= 16:
            return "real", 16, 16
    raise IrError("an argument of this type beside dots is not understood")


def registers_of(types: Sequence[GivenArgument], layout: DataLayout) -> Registers:
    """Return the registers that arguments before the dots take. Raises ``IrError`` where that is not known."""
    numbers = sum(_sizes(type, layout)[0] == "number" for type in types)
    reals = sum(_sizes(type, layout)[0] == "real" for type in types)
    return Registers(min(8 * numbers, NUMBERS), min(NUMBERS + 16 * reals, REGISTERS))


def _places(types: Sequence[GivenArgument], before: Registers, layout: DataLayout) -> Iterator[int]:
    """Yield where each argument behind the dots is, and where the last one ends."""
    (number, real), end = before, REGISTERS
    for type in types:
        where, size, align = _sizes(type, layout)
        if where == "number" and number < NUMBERS:
            yield number
            number += size
        elif where == "real" and real < REGISTERS:
            yield real
            real += size
        else:
            if where != "memory":  # no register is left
                size = -(-layout.bytes(type.type) // 8) * 8
                align = size
            end = -(-end // align) * align
            yield end
            end += size
    yield end


def laid_out(
    out: FunctionTranslation, given: Sequence[TypedOperand], copies: Sequence[Type | None], fixed: int
) -> ir.Register:
    """Write the arguments behind the dots to a variable of the caller's; return the register with its address."""
    layout = out.module.names.layout
    types = [GivenArgument(operand.type, copied) for operand, copied in zip(given, copies, strict=True)]
    *places, end = _places(types[fixed:], registers_of(types[:fixed], layout), layout)
    out.count += 1
    name, size = f"{out.function.name}{LAID_OUT}{out.count}", end + _FREE
    out.variables.append(ir.Variable(name, "local", "b8", size, 16))
    area = new_register(out, "u64")
    emit(out, "alloca", (), area, ir.SymbolRef(name), ir.Number(1), ir.Number(size), ir.Number(16))
    for operand, copied, place in zip(given[fixed:], copies[fixed:], places, strict=True):
        if copied is not None:
            number = ir.Number(layout.bytes(copied))
            emit(out, "argument", ("copy",), area, ir.Number(place), operand.operand, number)
            continue
        for (start, _), (scalar, part) in zip(layout.leaves(operand.type), scalars(out, operand), strict=True):
            where = ir.Number(place + start)
            emit(out, "argument", (kind(out, scalar),), area, where, part, ir.Number(bits(out, scalar)))
    return area
