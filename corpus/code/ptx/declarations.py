"""Declarations of variables and parameters of PTX, with their initial values (PTX ISA 9.1, 5.4)."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus.code.ir import Float, Number, SymbolRef, Variable
from corpus.code.ptx.syntax import MOST_NESTED, read_offset, read_operand, read_size
from corpus.code.ptx.tokens import PtxTokens
from corpus.code.ptx.words import ATTRIBUTES, TYPES, VECTORS
from corpus.litmus.ptx_arithmetic import WIDTHS

MOST_REGISTERS = 1 << 20
"""The registers that one declaration in an inner scope may have."""

MOST_VALUES = 1 << 24
"""The elements that a variable with an initial value may have."""


class _AddressByte(NamedTuple):
    """A byte of an address in an initial value: the address, which byte, and which word of the text."""

    symbol: SymbolRef
    place: int
    position: int


_Initial = Number | Float | SymbolRef | _AddressByte


def read_variables(tokens: PtxTokens, extern: bool) -> Iterator[Variable]:
    """Yield what a declaration declares, from its state space to before its end."""
    space = tokens.words[tokens.position][1:]
    tokens.position += 1
    align, kind, count = 0, "", 1
    while tokens.words[tokens.position].startswith("."):
        word = tokens.words[tokens.position]
        tokens.position += 1
        if word == ".align":
            align = read_size(tokens)
        elif word[1:] in VECTORS and count == 1:
            count = int(word[2:])
        elif word == ".attribute" and space == "global":
            read_attributes(tokens)
        elif word == ".ptr" and space == "param":
            tokens.take(".global")  # a pointer of another state space is of what no launch gives (5.1.6.3)
        elif word[1:] in TYPES and not kind:
            kind = word[1:]
        else:
            tokens.position -= 1
            tokens.wrong("a type or an attribute of a variable")
    if not kind:
        tokens.wrong("a type")
    width = WIDTHS.get(kind, 64) + 7 >> 3
    while True:
        line, name = tokens.line(), tokens.name("the name of a variable")
        if tokens.words[tokens.position] == "<":
            name = f"{name}<{read_count(tokens)}>"
        shape: list[int | None] = []
        while tokens.take("["):
            shape.append(None if tokens.words[tokens.position] == "]" and not shape else read_size(tokens))
            tokens.want("]")
        shape += [count] if count > 1 else []
        values = _initial_values(tokens, shape) if tokens.take("=") else None
        if width < 4 and any(isinstance(value, Float) for value in values or ()):
            tokens.wrong(f"integers before this, as values of .{kind}")
        if shape[:1] == [None] and values is not None:
            shape[0] = len(values) // _volume(shape[1:])
        size = None if shape[:1] == [None] else width * _volume(shape)
        initial = b"".join(_bytes(value, width) for value in values or ())
        addresses = () if values is None else _addresses(tokens, values, width)
        alone = extern or size is None
        yield Variable(name, space, kind, size, align or width * count, initial, addresses, alone, line)
        if not tokens.take(","):
            return


def read_parameters(tokens: PtxTokens) -> tuple[Variable, ...]:
    """Read parameters in parentheses, and return them. Raises ``InputError`` with line and column."""
    tokens.want("(")
    found: list[Variable] = []
    while not tokens.take(")"):
        if found:
            tokens.want(",")
        if tokens.words[tokens.position] not in (".param", ".reg"):
            tokens.wrong("'.param'")
        found.append(next(read_variables(tokens, False)))  # the next one has a state space of its own
    return tuple(found)


def read_attributes(tokens: PtxTokens) -> None:
    """Read the attributes in parentheses, each of which is known (5.4.8, 5.5)."""
    tokens.want("(")
    count = 0
    while not count or tokens.take(","):
        needed = ATTRIBUTES.get(tokens.words[tokens.position])
        if needed is None:
            tokens.wrong(f"one of the attributes {', '.join(ATTRIBUTES)}")
        tokens.position += 1
        for number in range(needed):
            tokens.want("," if number else "(")
            tokens.number()
        if needed:
            tokens.want(")")
        count += 1
    tokens.want(")")


def read_count(tokens: PtxTokens) -> int:
    """Return the number of names that ``<n>`` behind a name makes of it (5.4.6)."""
    tokens.want("<")
    count = tokens.number()
    if not 0 <= count <= MOST_REGISTERS:
        tokens.position -= 1
        tokens.wrong(f"a number up to {MOST_REGISTERS}")
    tokens.want(">")
    return count


def _initial_values(tokens: PtxTokens, shape: Sequence[int | None]) -> list[_Initial]:
    if _volume(shape) > MOST_VALUES:
        tokens.wrong(f"no value for more than {MOST_VALUES} elements")
    return _initial(tokens, shape)


def _initial(tokens: PtxTokens, shape: Sequence[int | None], depth: int = 0) -> list[_Initial]:
    """Read an initial value of so many values in each dimension. A list in braces is filled with zeros."""
    if not tokens.take("{"):
        return [_initial_value(tokens, depth)]
    if depth > MOST_NESTED:
        tokens.wrong(f"at most {MOST_NESTED} braces within each other")
    most, inner = shape[0] if shape else 1, _volume(shape[1:])
    found: list[_Initial] = []
    while not tokens.take("}"):
        if found:
            tokens.want(",")
        values = _initial(tokens, shape[1:], depth + 1)
        found += values
        if most is not None and len(found) > most * inner:
            tokens.position -= 1
            tokens.wrong(f"at most {most * inner} values")
    whole = -len(found) % inner if most is None else most * inner - len(found) if depth else 0
    return found + [Number(0)] * whole


def _initial_value(tokens: PtxTokens, depth: int) -> _Initial:
    """Read a number, an address, ``generic(x)+4``, or one byte of an address, ``0xFF00(x)`` (5.4.4)."""
    if depth > MOST_NESTED:
        tokens.wrong(f"at most {MOST_NESTED} values within each other")
    start = tokens.position
    found: _Initial | None = None
    if tokens.kinds[start] == "number" and tokens.words[start + 1] == "(":
        mask = tokens.number()
        place = (mask & -mask).bit_length() - 1 >> 3
        if mask != 0xFF << 8 * place or place > 7:
            tokens.position = start
            tokens.wrong("a mask of one byte")
        tokens.want("(")
        value = _initial_value(tokens, depth + 1)
        tokens.want(")")
        if isinstance(value, SymbolRef):
            found = _AddressByte(value, place, start)
        elif isinstance(value, Number):
            found = Number(value.value >> 8 * place & 0xFF)
    elif tokens.take("generic"):
        tokens.want("(")
        value = _initial_value(tokens, depth + 1)
        tokens.want(")")
        if isinstance(value, SymbolRef):
            found = SymbolRef(value.name, value.offset + read_offset(tokens, 0))
    else:
        operand = read_operand(tokens)
        found = operand if isinstance(operand, Number | Float | SymbolRef) else None
    if found is None:
        tokens.position = start
        tokens.wrong("a value")
    return found


def _addresses(tokens: PtxTokens, values: Sequence[_Initial], width: int) -> tuple[tuple[int, SymbolRef], ...]:
    """Return the addresses among initial values, by their places. Of one that stands as bytes, each has to."""
    found: list[tuple[int, SymbolRef]] = []
    parts: dict[tuple[int, SymbolRef], list[_AddressByte]] = {}
    for n, value in enumerate(values):
        if isinstance(value, SymbolRef):
            found.append((n * width, value))
        elif isinstance(value, _AddressByte):
            parts.setdefault((n * width - value.place, value.symbol), []).append(value)
    for (offset, symbol), address_bytes in parts.items():
        if width > 1 or [byte.place for byte in address_bytes] not in ([*range(4)], [*range(8)]):
            tokens.position = address_bytes[0].position
            tokens.wrong("every byte of an address")
        found.append((offset, symbol))
    return tuple(sorted(found))


def _volume(shape: Sequence[int | None]) -> int:
    return math.prod(length for length in shape if length is not None)


def _bytes(value: _Initial, size: int) -> bytes:
    match value:
        case Number(number):
            return (number % (1 << 8 * size)).to_bytes(size, "little")
        case Float(bits, width):
            if width == 64 and size == 4:
                number = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
                try:
                    return struct.pack("<f", number)
                except OverflowError:  # Python refuses to round to infinity
                    return struct.pack("<f", math.copysign(math.inf, number))
            return bits.to_bytes(size, "little")
        case _:
            return bytes(size)
