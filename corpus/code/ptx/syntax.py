"""Reads operands of PTX (PTX ISA 9.1, chapter 6): registers, symbols, memory, vectors and constants (4.5)."""

from __future__ import annotations

import struct
from functools import lru_cache

from corpus.code.ir import Both, Element, Float, MemoryOperand, Negated, Number, Operand, Register, SymbolRef, Vector
from corpus.code.ptx.constants import LEVELS, SUM, ConstantValue, applied, cast, chosen, combined
from corpus.code.ptx.tokens import PtxTokens


def read_operand(tokens: PtxTokens, depth: int = 0) -> Operand:
    """Read an operand of an instruction, which stands within ``depth`` others, and return it. Raises ``InputError``
    with line and column.
    """
    if depth > MOST_NESTED:
        tokens.wrong(f"at most {MOST_NESTED} operands within each other")
    word, kind = tokens.words[tokens.position], tokens.kinds[tokens.position]
    found: Operand
    if kind == "word":
        tokens.position += 1
        is_register = word[0] == "%" or word in ("_", "WARP_SZ")
        found = _register(word) if is_register else _symbol(tokens, word, depth)
        if tokens.words[tokens.position] == "[":
            found = _element(tokens, found)
    elif word in "-!" and kind == "sign" and tokens.kinds[tokens.position + 1] == "word":
        tokens.position += 1
        found = Negated(read_operand(tokens, depth + 1))
    elif word == "[":
        tokens.position += 1
        found = _memory(tokens, depth)
    elif word == "{":
        tokens.position += 1
        found = _list_of_operands(tokens, "}", depth)
    elif kind in ("number", "float") or (kind == "sign" and word in "+-!~("):
        return read_expression(tokens, depth)
    else:
        tokens.wrong("an operand")
    return Both(found, read_operand(tokens, depth + 1)) if tokens.take("|") else found


def read_argument(tokens: PtxTokens) -> Operand:
    """Read an operand of a call, of which some are lists in parentheses."""
    return _list_of_operands(tokens, ")", 0) if tokens.take("(") else read_operand(tokens)


@lru_cache(maxsize=1 << 16)
def _register(name: str) -> Register:
    """Return a register by its name: one object each, as there are few, in many places."""
    return Register(name)


def _symbol(tokens: PtxTokens, name: str, depth: int) -> SymbolRef:
    return (
        SymbolRef(name, read_offset(tokens, depth)) if tokens.words[tokens.position] in ("+", "-") else SymbolRef(name)
    )


def read_offset(tokens: PtxTokens, depth: int) -> int:
    """Read what is added to an address, if anything, in bytes."""
    offset = 0
    while tokens.words[tokens.position] in ("+", "-"):
        sign = -1 if tokens.words[tokens.position] == "-" else 1
        tokens.position += 1
        part = _constant(tokens, depth + 1, SUM + 1).value
        if not isinstance(part, int):
            tokens.position -= 1
            tokens.wrong("a number of bytes")
        offset += sign * part
    return offset


def _element(tokens: PtxTokens, base: Operand) -> Element:
    """Read the index of an element of an array: a number, or a register with an offset."""
    tokens.want("[")
    if tokens.kinds[tokens.position] == "word":
        which, offset = tokens.name("an index"), read_offset(tokens, 0)
        which += f"{offset:+}" if offset else ""
    else:
        which = str(read_size(tokens))
    tokens.want("]")
    return Element(base, which)


def _memory(tokens: PtxTokens, depth: int) -> Operand:
    base = read_operand(tokens, depth + 1)
    offset = 0
    if isinstance(base, SymbolRef):
        base, offset = SymbolRef(base.name), base.offset
    if not isinstance(base, Register | SymbolRef | Number | Element):
        tokens.wrong("an address")
    offset += read_offset(tokens, depth)
    if isinstance(base, Element):  # one of an array of textures
        found: Operand = base
    else:
        found = MemoryOperand(base, offset)
    if tokens.take(","):  # of a texture or a tensor
        rest = [read_operand(tokens, depth + 1)]
        while tokens.take(","):
            rest.append(read_operand(tokens, depth + 1))
        found = Vector((found, *rest))
    tokens.want("]")
    return found


def _list_of_operands(tokens: PtxTokens, end: str, depth: int) -> Vector:
    parts: list[Operand] = []
    while not tokens.take(end):
        if parts:
            tokens.want(",")
        parts.append(read_operand(tokens, depth + 1))
    return Vector(tuple(parts))


def read_size(tokens: PtxTokens) -> int:
    """Read a constant expression that is the size of something."""
    start = tokens.position
    found = read_expression(tokens, 0)
    if not isinstance(found, Number) or not 0 <= found.value < 1 << 48:
        tokens.position = start
        tokens.wrong("a size")
    return found.value


MOST_NESTED = 100
"""Blocks within blocks, and operands within operands."""


def read_expression(tokens: PtxTokens, depth: int) -> Number | Float:
    """Read a constant expression. A single-precision constant stands alone, or behind a sign."""
    word = tokens.words[tokens.position]
    if tokens.kinds[tokens.position] == "number" and tokens.words[tokens.position + 1] in (",", ";", "]", "}", ")"):
        return Number(tokens.number())  # what nearly every constant is
    position = tokens.position + (word in ("+", "-"))
    if tokens.words[position][:2] in ("0f", "0F"):
        tokens.position = position + 1
        return Float(int(tokens.words[position][2:], 16) ^ (word == "-") << 31, 32)
    value = _constant(tokens, depth).value
    if isinstance(value, int):
        return Number(value)
    return Float(int.from_bytes(struct.pack("<d", value), "little"), 64)


def _constant(tokens: PtxTokens, depth: int, least: int = 0) -> ConstantValue:
    """Read a constant expression whose operators bind no weaker than ``least``."""
    if depth > MOST_NESTED:
        tokens.wrong(f"at most {MOST_NESTED} expressions within each other")
    found = _primary(tokens, depth)
    while (level := LEVELS.get(tokens.words[tokens.position], -1)) >= least:
        position, sign = tokens.position, tokens.words[tokens.position]
        tokens.position += 1
        other = _constant(tokens, depth + 1, level + (sign != "?"))
        if sign == "?":
            tokens.want(":")
            result = chosen(found, other, _constant(tokens, depth + 1))
        else:
            result = combined(sign, found, other)
        if result is None:
            tokens.position = position
            tokens.wrong("an operator that its operands have")
        found = result
    return found


def _primary(tokens: PtxTokens, depth: int) -> ConstantValue:
    position, word = tokens.position, tokens.words[tokens.position]
    found: ConstantValue | None
    if tokens.kinds[position] == "number":
        return tokens.literal()
    tokens.position += 1
    if tokens.kinds[position] == "float" and word[:2] not in ("0f", "0F"):
        return ConstantValue(_double(word))
    if word == "(" and tokens.words[position + 1] in (".s64", ".u64"):
        tokens.position += 1
        tokens.want(")")
        found = cast(_nested(tokens, depth), tokens.words[position + 1] == ".u64")
    elif word == "(":
        found = _constant(tokens, depth + 1)
        tokens.want(")")
    elif word in ("+", "-", "!", "~"):
        found = applied(word, _nested(tokens, depth))
    else:
        tokens.position = position
        tokens.wrong("a constant")
    if found is None:
        tokens.position = position
        tokens.wrong("an operator that its operand has")
    return found


def _nested(tokens: PtxTokens, depth: int) -> ConstantValue:
    if depth > MOST_NESTED:
        tokens.wrong(f"at most {MOST_NESTED} expressions within each other")
    return _primary(tokens, depth + 1)


def _double(word: str) -> float:
    if word[:2] in ("0d", "0D"):
        return float(struct.unpack("<d", int(word[2:], 16).to_bytes(8, "little"))[0])
    return float(word)
