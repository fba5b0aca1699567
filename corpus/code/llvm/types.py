"""Types of LLVM, and where their parts are in memory (LLVM Language Reference, Type System and Data Layout).

{ i32, ptr }        32 bits at byte 0, an address at byte 8: 16 bytes, aligned to 8
<{ i8, i32 }>       packed: 5 bytes
[3 x i16]           6 bytes
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache


class IrError(Exception):
    """The error for a text that is not of LLVM as it is known here, and why."""


@dataclass(frozen=True, slots=True)
class IntType:
    """A number of so many bits."""

    bits: int


@dataclass(frozen=True, slots=True)
class FloatType:
    """A floating-point number, by its name: ``half``, ``float``, ``double``, .."""

    name: str


@dataclass(frozen=True, slots=True)
class PointerType:
    """An address in an address space."""

    space: int = 0


@dataclass(frozen=True, slots=True)
class ArrayType:
    """So many elements in a row; a ``vector`` is one value of a register."""

    count: int
    element: Type
    vector: bool = False


@dataclass(frozen=True, slots=True)
class StructType:
    """Fields, one behind the other; without gaps where it is ``packed``. ``name``: that of the module, if any."""

    fields: tuple[Type, ...]
    packed: bool = False
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class OtherType:
    """A type without values in memory: ``void``, ``label``, ``metadata``, a struct that nothing defines."""

    name: str


Scalar = IntType | FloatType | PointerType
Type = Scalar | ArrayType | StructType | OtherType

VOID = OtherType("void")

FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128, "ppc_fp128": 128}
"""The bits of the floating-point types."""


def bits_of(scalar: Scalar, layout: DataLayout) -> int:
    """Return the bits of a scalar."""
    match scalar:
        case IntType(bits):
            return bits
        case FloatType(name):
            return FLOAT_BITS[name]
        case PointerType(space):
            return layout.pointers.get(space, 64)


@dataclass(frozen=True)
class DataLayout:
    """The sizes and alignments of scalars, as the ``target datalayout`` of a module gives them.

    ``pointers`` has the bits of addresses by address space; ``aligned`` the alignment in bits of numbers by their kind
    and bits, ``i64``.
    """

    pointers: Mapping[int, int] = field(default_factory=dict)
    aligned: Mapping[str, int] = field(default_factory=dict)

    def __hash__(self) -> int:
        return id(self)

    @cache  # noqa: B019  # a module has one, and lives as long
    def align(self, type: Type) -> int:
        """Return the alignment of a type in bytes."""
        match type:
            case ArrayType(_, element, vector):
                return _power(self.bytes(type)) if vector else self.align(element)
            case StructType(fields, packed):
                return 1 if packed else max(map(self.align, fields), default=1)
            case OtherType():
                return 1
            case PointerType():
                return bits_of(type, self) // 8
            case FloatType():
                return self.aligned.get(f"f{bits_of(type, self)}", _power(bits_of(type, self) // 8) * 8) // 8
            case IntType(bits):
                wide = _power(-(-bits // 8)) * 8
                known = self.aligned.get(f"i{wide}")
                return (wide if known is None else known) // 8

    @cache  # noqa: B019
    def bytes(self, type: Type) -> int:
        """Return the bytes that an object of a type has, with what is left free behind it."""
        match type:
            case ArrayType(count, element, vector):
                if vector:
                    assert isinstance(element, Scalar)
                    return _power(-(-count * bits_of(element, self) // 8))
                return count * self.bytes(element)
            case StructType(fields):
                end = max((offset + self.bytes(part) for offset, part in zip(self.offsets(type), fields, strict=True)),
                          default=0)  # fmt: skip
                return -(-end // self.align(type)) * self.align(type)
            case OtherType():
                return 0
            case _:
                stored = self.stored(type)
                return -(-stored // self.align(type)) * self.align(type)

    def stored(self, scalar: Scalar) -> int:
        """Return the bytes that a store of a scalar writes."""
        return -(-bits_of(scalar, self) // 8)

    @cache  # noqa: B019
    def offsets(self, type: StructType) -> tuple[int, ...]:
        """Return where the fields of a struct begin, in bytes."""
        found, place = [], 0
        for part in type.fields:
            align = 1 if type.packed else self.align(part)
            place = -(-place // align) * align
            found.append(place)
            place += self.bytes(part)
        return tuple(found)

    def leaves(self, type: Type) -> Iterator[tuple[int, Scalar]]:
        """Yield the scalars that a type is made of, each with the byte that it begins at."""
        match type:
            case ArrayType(count, element, vector):
                for number in range(count):
                    apart = bits_of(element, self) // 8 if vector and isinstance(element, Scalar) else None
                    start = number * (self.bytes(element) if apart is None else apart)
                    yield from ((start + place, part) for place, part in self.leaves(element))
            case StructType(fields):
                for start, inner in zip(self.offsets(type), fields, strict=True):
                    yield from ((start + place, part) for place, part in self.leaves(inner))
            case OtherType():
                return
            case _:
                yield 0, type

    def inside(self, type: Type, index: int) -> tuple[int, Type]:
        """Return where an element or field of a type begins, in bytes, and its type."""
        match type:
            case ArrayType(_, element):
                return index * self.bytes(element), element
            case StructType(fields) if 0 <= index < len(fields):
                return self.offsets(type)[index], fields[index]
        raise IrError("expected the index of a part")


def _power(number: int) -> int:
    """Return the least power of two that is not less than a number."""
    return 1 << max(0, number - 1).bit_length()


def layout_of(text: str) -> DataLayout:
    """Return the layout that a ``target datalayout`` says: ``e-m:e-p270:32:32-i64:64-f80:128``."""
    pointers: dict[int, int] = {}
    aligned = {"i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
    for part in text.split("-"):
        if pointer := re.fullmatch(r"p(\d*):(\d+)(?::.*)?", part):
            pointers[int(pointer[1] or 0)] = max(8, int(pointer[2]))
        elif number := re.fullmatch(r"([if]\d+):(\d+)(?::.*)?", part):
            aligned[number[1]] = max(8, int(number[2]))
    return DataLayout(pointers, aligned)
