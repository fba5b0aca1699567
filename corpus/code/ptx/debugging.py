"""What the sections for debuggers of a text of PTX say of the parameters of kernels: their names and types (PTX ISA
9.1, 11.5.4; DWARF 2 to 4, chapter 7).

    .section .debug_info { .b32 711 .b8 2,0 .b32 .debug_abbrev .. }

Tags, attributes and forms are those of tables. A type with a tag that has no row is not described, and a section with
a form that has none says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from corpus.code.launch.fields import (
    DescribedParameter,
    DescribedType,
    Descriptor,
    MemberType,
    RepeatedType,
    ScalarType,
    StructureType,
    bits_of,
    is_empty,
)

_SIZES = {".b8": 1, ".b16": 2, ".b32": 4, ".b64": 8}

MOST_NESTED = 64
"""Types within each other."""

_PROGRAM, _PARAMETER, _MEMBER, _INHERITED, _RANGE = 0x2E, 0x05, 0x0D, 0x1C, 0x21
_ARRAY, _POINTERS, _NUMBERS = 0x01, (0x0F, 0x10, 0x42), (0x24, 0x04)
_STRUCTURES = (0x13, 0x02, 0x17)
"""The tags of structures, classes and unions."""
_ALIKE = (0x16, 0x26, 0x35, 0x37)
"""The tags of typedefs, and of types that are const, volatile or restrict."""
_BESIDE = (*_STRUCTURES, 0x04, 0x08, 0x16, 0x2E, 0x2F, 0x30, 0x34, 0x3A)
"""The tags of what stands in a structure and takes no place in it: types, functions, arguments of templates."""

_NAME, _SIZE, _TYPE, _PLACE, _COUNT, _UPPER = 0x03, 0x0B, 0x49, 0x38, 0x37, 0x2F
_BITS, _BITS_BEFORE, _BIT_PLACE = 0x0D, 0x0C, 0x6B
_LINKED, _DECLARED, _EXTERNAL, _VIRTUAL, _CLASS = (0x2007, 0x6E), 0x3C, 0x3F, 0x4C, 0x33
_TENSOR_MAP = "CUtensorMap_st"
"""The structure that a tensor map is, whose bytes are the driver's."""

_PLUS = 0x23
"""The operation of a place that adds a number to where the structure begins."""


class _MalformedError(Exception):
    """The error for sections that are not as DWARF is, or have a form that no row has."""


class _Reading:
    """Bytes, and the place in them that is read."""

    def __init__(self, data: bytes, offset: int = 0) -> None:
        self.data, self.offset = data, offset

    def bytes(self, count: int) -> bytes:
        """Return the next so many bytes. Raises ``_MalformedError`` where fewer are left."""
        found = self.data[self.offset : self.offset + count]
        if len(found) < count:
            raise _MalformedError
        self.offset += count
        return found

    def number(self, count: int) -> int:
        """Return the next number, of so many bytes, lowest first. Raises ``_MalformedError`` where fewer are left."""
        return int.from_bytes(self.bytes(count), "little")

    def leb(self, signed: bool = False) -> int:
        """Return a number in the code of variable length (7.6)."""
        found = shift = 0
        while True:
            byte = self.number(1)
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return found - (1 << shift) if signed and byte & 0x40 else found
            if shift > 63:
                raise _MalformedError

    def string(self) -> str:
        """Return a string that a zero ends."""
        end = self.data.find(b"\0", self.offset)
        if end < 0:
            raise _MalformedError
        return self.bytes(end - self.offset + 1)[:-1].decode("utf-8", "replace")


@dataclass(slots=True)
class _Entry:
    """An entry: its place, tag, attributes and children."""

    place: int
    tag: int
    values: dict[int, int | bytes | str] = field(default_factory=dict)
    children: list[_Entry] = field(default_factory=list)

    def number(self, attribute: int) -> int | None:
        found = self.values.get(attribute)
        return found if isinstance(found, int) else None

    def name(self) -> str:
        found = self.values.get(_NAME, "")
        return found if isinstance(found, str) else ""


class _Abbreviation(NamedTuple):
    tag: int
    parent: bool
    attributes: tuple[tuple[int, int], ...]


def data_of(words: Sequence[str]) -> bytes | None:
    """Return the bytes of a section of PTX, of its words; addresses and labels are zeros. None where it is not one."""
    found, size = bytearray(), 0
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in _SIZES:
            size = _SIZES[word]
        elif word.isdecimal() or word[:2] in ("0x", "0X"):
            if place and words[place - 1] in ("+", "-"):  # of an address
                continue
            number = int(word[-20:], 16 if word[:2] in ("0x", "0X") else 10)
            found += (number % (1 << 8 * size)).to_bytes(size, "little")
        elif following == ":" or word in (":", ",", "+", "-"):
            continue
        elif word[:1] in "._$%" or word[:1].isalpha():
            found += bytes(size)
        else:
            return None
    return bytes(found)


def described(sections: Mapping[str, Sequence[str]]) -> Descriptor:
    """Return what sections of PTX, as words, say of the parameters of functions, by name, or nothing."""
    data = {name: data_of(sections.get(name, ())) for name in (".debug_info", ".debug_abbrev", ".debug_str")}
    info, abbreviations, strings = data.values()
    if not info or not abbreviations or strings is None:
        return {}
    try:
        return _Debugging(info, abbreviations, strings).described()
    except _MalformedError:
        return {}


class _Debugging:
    """The entries of a section, by their places, and the types that they are."""

    def __init__(self, info: bytes, abbreviations: bytes, strings: bytes) -> None:
        self._abbreviations, self._strings = abbreviations, strings
        self._entries: dict[int, _Entry] = {}
        self._types: dict[int, DescribedType | None] = {}
        self._roots: list[_Entry] = []
        reading = _Reading(info)
        while reading.offset < len(info):
            start = reading.offset
            end = reading.number(4) + start + 4
            version = reading.number(2)
            rows = self._rows(reading.number(4))
            if version not in (2, 3, 4) or reading.number(1) != 8:
                raise _MalformedError
            self._unit(reading, start, end, version, rows)
            reading.offset = end

    def _rows(self, offset: int) -> dict[int, _Abbreviation]:
        """Return the abbreviations of a unit, by their codes (7.5.3)."""
        reading, found = _Reading(self._abbreviations, offset), dict[int, _Abbreviation]()
        while reading.offset < len(self._abbreviations) and (code := reading.leb()):
            tag, parent = reading.leb(), reading.number(1)
            attributes = []
            while (pair := (reading.leb(), reading.leb())) != (0, 0):
                attributes.append(pair)
            found[code] = _Abbreviation(tag, bool(parent), tuple(attributes))
        return found

    def _unit(self, reading: _Reading, start: int, end: int, version: int, rows: Mapping[int, _Abbreviation]) -> None:
        around: list[_Entry] = []
        while reading.offset < end:
            place = reading.offset
            code = reading.leb()
            if not code:
                if around:
                    around.pop()
                continue
            if code not in rows:
                raise _MalformedError
            row = rows[code]
            entry = self._entries[place] = _Entry(place, row.tag)
            for attribute, form in row.attributes:
                entry.values[attribute] = self._value(reading, form, start, version)
            (around[-1].children if around else self._roots).append(entry)
            if row.parent:
                around.append(entry)

    def _value(self, reading: _Reading, form: int, start: int, version: int) -> int | bytes | str:
        """Read a value of a form (7.5.4)."""
        if form in _FIXED:
            found = reading.number(_FIXED[form])
            return found + start if form in _REFERENCES else found
        if form in _BLOCKS:
            return reading.bytes(reading.number(_BLOCKS[form]) if _BLOCKS[form] else reading.leb())
        if form == 0x08:
            return reading.string()
        if form == 0x0E:
            return _Reading(self._strings, reading.number(4)).string()
        if form in (0x0D, 0x0F):
            return reading.leb(form == 0x0D)
        if form == 0x15:
            return reading.leb() + start
        if form == 0x10:
            return reading.number(8 if version == 2 else 4)
        if form == 0x19:
            return 1
        raise _MalformedError

    def described(self) -> Descriptor:
        """Return the parameters of each function that has a body, by its name in the text."""
        found: dict[str, Sequence[DescribedParameter]] = {}
        for entry in (entry for entry in self._entries.values() if entry.tag == _PROGRAM):
            linked = next((name for key in _LINKED if isinstance(name := entry.values.get(key), str)), entry.name())
            parameters = [child for child in entry.children if child.tag == _PARAMETER]
            if linked and _DECLARED not in entry.values:
                types = ((one.name(), one.number(_TYPE)) for one in parameters)
                found[linked] = [DescribedParameter(name, self._type(type)) for name, type in types]
        return found

    def _type(self, place: int | None, depth: int = 0) -> DescribedType | None:
        """Return the type that an entry is; None where it is not understood."""
        if place is None or place not in self._entries or depth > MOST_NESTED:
            return None
        if place not in self._types:
            self._types[place] = None  # where it is a part of itself
            self._types[place] = self._typed(self._entries[place], depth + 1)
        return self._types[place]

    def _typed(self, entry: _Entry, depth: int) -> DescribedType | None:
        size = entry.number(_SIZE)
        if entry.tag in _ALIKE:
            return self._type(entry.number(_TYPE), depth)
        if entry.tag in _NUMBERS:
            return ScalarType(8 * size) if size and _DECLARED not in entry.values else None
        if entry.tag in _POINTERS:
            return ScalarType(64, True, self._pointed(entry.number(_TYPE))) if size in (None, 8) else None
        if entry.tag == _ARRAY:
            return self._array(entry, depth)
        if entry.tag in _STRUCTURES and size and _DECLARED not in entry.values and entry.name() != _TENSOR_MAP:
            return self._structure(entry, size, depth)
        return None

    def _pointed(self, place: int | None) -> int | None:
        """Return the bytes of a number, or of a pointer, that a pointer points to; None where it is anything else."""
        for _ in range(MOST_NESTED):
            entry = self._entries.get(-1 if place is None else place)
            if entry is None or entry.tag not in _ALIKE:
                break
            place = entry.number(_TYPE)
        if entry is not None and entry.tag in _POINTERS:
            return 8
        return entry.number(_SIZE) if entry is not None and entry.tag in _NUMBERS else None

    def _array(self, entry: _Entry, depth: int) -> DescribedType | None:
        found = self._type(entry.number(_TYPE), depth)
        for subrange in reversed([child for child in entry.children if child.tag == _RANGE]):
            upper = subrange.number(_UPPER)
            count = subrange.number(_COUNT) if upper is None else upper + 1
            if found is None or count is None or not 0 < count < 1 << 16:
                return None
            found = RepeatedType(found, count, bits_of(found))
        return found

    def _structure(self, entry: _Entry, size: int, depth: int) -> DescribedType | None:
        members: list[MemberType] = []
        for child in entry.children:
            if child.tag in _BESIDE or (child.tag == _MEMBER and {_EXTERNAL, _DECLARED}.intersection(child.values)):
                continue
            inner = self._type(child.number(_TYPE), depth)
            place = _placed(child, entry.tag == 0x17)
            if child.tag not in (_MEMBER, _INHERITED) or inner is None or place is None or _VIRTUAL in child.values:
                return None
            if is_empty(inner):
                continue
            name = child.name() if child.tag == _MEMBER else ""
            bits = child.number(_BITS)
            if bits is None:
                members.append(MemberType(name, 8 * place, inner))
                continue
            start = child.number(_BIT_PLACE)
            if start is None:  # counted from the other end of the storage unit (DWARF 3, 5.6.6)
                unit = child.number(_SIZE) or bits_of(inner) // 8
                start = 8 * (place + unit) - (child.number(_BITS_BEFORE) or 0) - bits
            members.append(MemberType(name, start, inner, bits))
        return StructureType(8 * size, tuple(members))


_FIXED = {0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x17: 4}
"""The bytes of the forms of numbers, flags and references."""
_REFERENCES = (0x11, 0x12, 0x13, 0x14)
"""The forms of references, which count from where the unit begins."""
_BLOCKS = {0x03: 2, 0x04: 4, 0x0A: 1, 0x09: 0, 0x18: 0}
"""The bytes of the lengths of blocks; 0: it is of variable length."""


def _placed(entry: _Entry, of_union: bool) -> int | None:
    """Return the byte that a member begins at; None where that is computed."""
    match entry.values.get(_PLACE):
        case int(number):
            return number
        case bytes(block) if block[:1] == bytes([_PLUS]):
            return _Reading(block, 1).leb()
        case None if of_union or _BIT_PLACE in entry.values:
            return 0
    return None
