"""Bit fields that are one memory location, though clang accesses them apart: each access is one of all of them.

    struct { unsigned lo : 8; unsigned hi : 12; char c; };      { i8, i16, i8 }: hi is stored as the i16 at byte 1

C11 3.14 (C++20 6.7.1): adjacent bit fields are one memory location, unless one of width 0 stands between them. So who
stores ``hi`` loads and stores what is there of ``lo`` too, which changes nothing, and races with who accesses ``lo``.

The metadata has no bit fields without a name. One of width 0 is told by what it moves, or by what clang would have
accessed at once without it (``CGRecordLayoutBuilder.cpp``, ``accumulateBitFields``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from corpus.code import ir
from corpus.code.llvm.blocks import Body, BodyBlock, BodyLine
from corpus.code.llvm.debugging import BitField, DebugInformation
from corpus.code.llvm.text import TextReader, TypeNames
from corpus.code.llvm.types import ArrayType, DataLayout, IntType, IrError, StructType, Type

WIDEST = 8
"""The bytes of the widest access that clang makes of several bit fields."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a struct that an address is of: the words that compute the address, and where its number stands."""

    words: list[str]
    place: int
    type: StructType
    number: int


def with_neighbours(body: Body, debug: DebugInformation, names: TypeNames) -> Body:
    """Return a body in which each access of a bit field is one of its whole memory location."""
    if not debug.bit_fields:
        return body
    fields = {line.result: _field(line.words, names) for line in body.lines if line.name == "getelementptr"}
    count = 0
    blocks = []
    for block in body.blocks:
        lines: list[BodyLine] = []
        for line in block.lines:
            field = _accessed(line, names)
            if isinstance(field, str):
                field = fields.get(field)
            for number in _neighbours(field, debug, names.layout) if field is not None else ():
                assert field is not None
                count += 1
                size = names.layout.bytes(field.type.fields[number])
                lines += _further_access(line, field, number, size, f"%bf.{count}'")
            lines.append(line)
        blocks.append(BodyBlock(block.label, lines))
    return replace(body, blocks=blocks)


def _accessed(line: BodyLine, names: TypeNames) -> str | _Field | None:
    """Return the field that an instruction accesses, or the register of its address; None where it accesses none."""
    if line.name not in ("load", "store"):
        return None
    words = line.words
    places = [place for place, word in enumerate(words) if word == "ptr" and words[place - 1] == ","]
    if not places:
        return None
    place = places[0] + 1
    if words[place] == "addrspace":
        place += 4
    return _field(words[place:], names) if words[place] == "getelementptr" else words[place]


def _field(words: Sequence[str], names: TypeNames) -> _Field | None:
    """Return the field whose address a ``getelementptr`` computes, an instruction or a constant; None of all others."""
    reader = TextReader([word for word in words if word not in ("inbounds", "nuw", "nusw")], names)
    reader.expect("getelementptr")
    if reader.word == "(":
        inner = TextReader(reader.words, names)
        inner.place = reader.place
        inner.skip_brackets()
        reader = TextReader(["getelementptr", *reader.words[reader.place + 1 : inner.place - 1]], names)
        reader.place = 1
    found = None
    try:
        type: Type | None = reader.type()
        reader.expect(",")
        reader.typed()
        first = True
        while type is not None and reader.take(",") and not reader.word.startswith("!"):
            index, found = reader.typed().operand, None
            if first:
                first = False
            elif isinstance(type, ArrayType):
                type = type.element
            elif isinstance(type, StructType) and isinstance(index, ir.Number) and index.value < len(type.fields):
                found = _Field(reader.words[: reader.place], reader.place - 1, type, index.value)
                type = type.fields[index.value]
            else:
                type = None
    except IrError:  # the translation refuses it by line
        return None
    return found


def _further_access(line: BodyLine, field: _Field, number: int, size: int, name: str) -> Iterator[BodyLine]:
    """Yield what accesses another field of a struct too, of so many bytes: a load, and a store of what was loaded where
    ``line`` is one. ``name``: how the registers begin that this takes.
    """
    address, value, width = f"{name}at", f"{name}value", f"i{8 * size}"
    words = [*field.words]
    words[field.place] = str(number)
    yield line._replace(result=address, words=words)
    yield line._replace(result=value, words=["load", width, ",", "ptr", address])
    if line.name == "store":
        yield line._replace(result="", words=["store", width, value, ",", "ptr", address])


def _neighbours(field: _Field, debug: DebugInformation, layout: DataLayout) -> tuple[int, ...]:
    """Return the other fields of a struct of LLVM that are of the memory location that one is of."""
    found: set[int] = set()
    for record, fields in debug.bit_fields.items():
        if debug.is_record(record, field.type.name, layout.bytes(field.type)):
            for numbers in _locations(field.type, fields, debug.record_bytes(record), layout):
                found |= numbers if field.number in numbers else set()
    return tuple(sorted(found - {field.number}))


def _locations(type: StructType, fields: Sequence[BitField], size: int, layout: DataLayout) -> list[set[int]]:
    """Return the fields of a struct of LLVM that are of each memory location of bit fields. ``fields``: those of the
    source, of which each that is no bit field has no ``container``; ``size``: the bytes of all.
    """
    starts = layout.offsets(type)
    ends = [*(field.start for field in fields[1:]), 8 * size]
    found: list[set[int]] = []
    number, last = -1, None
    for place, field in enumerate(fields):
        if not field.container:
            last = None
            continue
        if (of := _unit(type, starts, field, layout)) is None:
            return []
        if last is None:
            found.append({of})
        elif of != number:
            following = zip(fields[place:], ends[place:], strict=True)
            inside = [one for one in following if one[0].container and _unit(type, starts, one[0], layout) == of]
            if _is_apart(starts[number], last, inside):
                found.append(set())
            found[-1].add(of)
        number, last = of, field
    return found


def _unit(type: StructType, starts: Sequence[int], field: BitField, layout: DataLayout) -> int | None:
    """Return the field of a struct of LLVM in which a bit field begins, a number or bytes; None where it is another."""
    for number, (start, part) in enumerate(zip(starts, type.fields, strict=True)):
        if start <= field.start // 8 < start + layout.bytes(part):
            return number if isinstance(part, IntType) or _is_of_bytes(part) else None
    return None


def _is_of_bytes(type: Type) -> bool:
    return isinstance(type, ArrayType) and type.element == IntType(8)


def _is_apart(start: int, last: BitField, following: Sequence[tuple[BitField, int]]) -> bool:
    """Decide whether a bit field of width 0 stands before others, which clang accesses at once.

    ``start``: the byte at which clang accesses what is before them; ``last``: the last field there. Each of the others
    is given with where the next field begins.
    """
    first = following[0][0]
    fits = last.end // first.container == (last.end + first.end - first.start - 1) // first.container
    if first.start > last.end and fits:
        return True
    for field, end in following:
        needed = -(-field.end // 8) - start
        access = 1 << (needed - 1).bit_length()
        if end % 8 == 0 and access <= WIDEST and start + access <= end // 8:
            return True
    return False
