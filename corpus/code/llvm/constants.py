"""Values of globals of LLVM as bytes, with the addresses that stand among them."""

from __future__ import annotations

import re
from typing import NamedTuple

from corpus.code import ir
from corpus.code.llvm.module import ModuleText
from corpus.code.llvm.text import TextReader, bytes_of, tokens_of
from corpus.code.llvm.types import ArrayType, IntType, IrError, StructType, Type

MOST_BYTES = 1 << 26
"""The bytes that a global may have."""


class ModuleConstant(NamedTuple):
    """A value of a global: its bytes, how they are aligned, and the symbols whose addresses stand among them, by the
    bytes where they begin.
    """

    data: bytes
    align: int
    addresses: tuple[tuple[int, ir.SymbolRef], ...]


def constant_of(module: ModuleText, name: str, text: str, valued: bool = True) -> ModuleConstant:
    """Return the value of a global, of the text behind the words ``global`` or ``constant``; of one that has
    none here all bytes are 0. Raises ``IrError``.
    """
    reader = TextReader(tokens_of(text.partition(", !dbg")[0]), module.names)
    type = reader.type()
    size = module.names.layout.bytes(type)
    if size > MOST_BYTES:
        raise IrError(f"{name} has {size:,} bytes, and globals of more than {MOST_BYTES:,} are not understood")
    data = bytearray(size)
    addresses: list[tuple[int, ir.SymbolRef]] = []
    if valued:
        _fill(module, reader, type, 0, data, addresses)
    aligned = re.search(r", align (\d+)", text)
    return ModuleConstant(
        bytes(data), max(1, int(aligned[1])) if aligned else module.names.layout.align(type), tuple(addresses)
    )


def _fill(
    module: ModuleText,
    reader: TextReader,
    type: Type,
    place: int,
    data: bytearray,
    addresses: list[tuple[int, ir.SymbolRef]],
) -> None:
    """Write a constant of a type into the bytes of a global, from a place on."""
    layout, word = module.names.layout, reader.word
    if word in ("zeroinitializer", "undef", "poison", "null"):
        reader.next()
        return
    if word.startswith('c"'):
        text = bytes_of(reader.next())
        data[place : place + len(text)] = text
        return
    ends = {"[": "]", "{": "}", "<{": "}>", "<": ">"}
    if isinstance(type, ArrayType | StructType):
        reader.next()
        count = len(type.fields) if isinstance(type, StructType) else type.count
        for number in range(count):
            inner = reader.type()
            step, _ = layout.inside(type, number)
            _fill(module, reader, inner, place + step, data, addresses)
            reader.take(",")
        reader.expect(ends.get(word, "a value"))
        return
    operand = reader.operand(type).operand
    size = layout.bytes(type)
    match operand:
        case ir.Number(number) | ir.Float(number):
            width = type.bits if isinstance(type, IntType) else 8 * size
            data[place : place + size] = (number % (1 << width)).to_bytes(size, "little")
        case ir.SymbolRef() if size == 8:
            addresses.append((place, operand._replace(name=module.aliased(operand.name))))
        case _:
            raise IrError("a constant in a global is not understood")
