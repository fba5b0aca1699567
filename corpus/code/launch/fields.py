"""The fields of a parameter that is a structure, as parameters of their own.

What compilers say of types, in DWARF or in SPIR-V, is read as a ``DescribedType``. Its numbers and pointers become the
fields of a parameter, and stand as parameters behind those that are declared. So a launch gives ``p.n``, ``p.q.v[1]``
and ``p.data`` as it gives the arguments of other kernels, and what ``p.data`` points to is an array of that name.

    struct P { int n; int *data; };    .n at bit 0, 32 bits; .data at bit 64, a pointer to elements of 4 bytes
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from corpus.code.ir import FIELD, Field, KernelFunction, MemoryOperand, Module, SymbolRef, Variable, Vector
from corpus.code.places import Array
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of

MOST_FIELDS = 2_048
"""The most fields of a structure that have names."""

STRUCTURE = "b8"
"""The type of parameters that are bytes rather than a number or an address."""

ADDRESSES = ("u64", "b64")
"""The types of parameters that are addresses, or numbers for all that PTX says."""

NUMBER = "s64"
"""The type of parameters of 64 bits that are numbers."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class ScalarType(NamedTuple):
    """A number or pointer, of so many bits. ``element``: the bytes of what it points to, where that is known."""

    bits: int
    pointer: bool = False
    element: int | None = None


class RepeatedType(NamedTuple):
    """An array: the type of its elements, how many there are, and the bits from one to the next."""

    inner: DescribedType
    length: int
    stride: int


class MemberType(NamedTuple):
    """A member of a structure or union: its name, empty where its own members stand for it, the bit that it begins at,
    and its type; of a bit-field the number of its bits.
    """

    name: str
    start: int
    inner: DescribedType
    bits: int | None = None


class StructureType(NamedTuple):
    """A structure, a union, whose members begin at one place, or a vector: its bits and members."""

    bits: int
    members: tuple[MemberType, ...]


DescribedType = ScalarType | RepeatedType | StructureType
"""A type of which all is known."""


class DescribedParameter(NamedTuple):
    """What a compiler says of a parameter of a kernel: its name, and its type, where all of that is understood."""

    name: str
    type: DescribedType | None


Descriptor = Mapping[str, Sequence[DescribedParameter]]
"""The parameters of kernels, by the names that these have in the compiled text."""


class DescribedArray(NamedTuple):
    """Memory as all kernels of a stream call it, and the type of all of it."""

    array: Array
    type: DescribedType


def place_in(type: DescribedType, parts: Sequence[str | int]) -> tuple[int, int] | None:
    """Return the bit at which a number within a type begins, and its bits, by the members and indices that lead there;
    None where these do not lead to one.
    """
    match type:
        case ScalarType(bits):
            return None if parts else (0, bits)
        case RepeatedType(inner, length, stride):
            number = parts[0] if parts else None
            inside = isinstance(number, int) and (not length or number < length)
            found = place_in(inner, parts[1:]) if inside else None
            return (found[0] + int(number or 0) * stride, found[1]) if found else None
        case StructureType(_, members):
            for member in members:
                own = parts[:1] == [member.name]
                found = place_in(member.inner, parts[1:] if own else parts) if own or not member.name else None
                if found is not None and member.bits is None:
                    return member.start + found[0], found[1]
            return None


def component(number: int, count: int) -> str:
    """Return the name of a component of a vector (OpenCL C 3.0, 6.3.7)."""
    return "xyzw"[number] if count <= 4 else f"s{number:x}"


def vector(inner: DescribedType, count: int, stride: int, size: int) -> StructureType:
    """Return a vector, whose components have names, of so many bits between them and in all."""
    members = (MemberType(component(number, count), number * stride, inner) for number in range(count))
    return StructureType(size, tuple(members))


def bits_of(type: DescribedType) -> int:
    """Return the bits of a type in memory."""
    match type:
        case ScalarType(bits) | StructureType(bits):
            return bits
        case RepeatedType(inner, length, stride):
            return (length - 1) * stride + bits_of(inner) if length else 0


def is_empty(type: DescribedType) -> bool:
    """Return whether a type has neither a number nor a pointer."""
    match type:
        case StructureType(_, members):
            return all(is_empty(member.inner) for member in members)
        case RepeatedType(inner):
            return is_empty(inner)
    return False


def fields_of(type: DescribedType) -> tuple[Field, ...]:
    """Return the fields of a type; none where they are more than ``MOST_FIELDS``, or it is itself a number."""
    if isinstance(type, ScalarType):
        return ()
    found: list[Field] = []
    for field in _fields(type, "", 0):
        found.append(field)
        if len(found) > MOST_FIELDS:
            return ()
    return tuple(found)


def _fields(type: DescribedType, name: str, start: int) -> Iterator[Field]:
    if is_empty(type):  # however many there are
        return
    match type:
        case ScalarType(bits, pointer, element):
            yield Field(name, start, bits, pointer, element)
        case RepeatedType(inner, length, stride):
            for number in range(min(length, MOST_FIELDS + 1)):
                yield from _fields(inner, f"{name}[{number}]", start + number * stride)
        case StructureType(_, members):
            for member in members:
                own = f"{name}.{member.name}" if member.name else name
                if member.bits is None:
                    yield from _fields(member.inner, own, start + member.start)
                else:
                    yield Field(own, start + member.start, member.bits)


def with_fields(kernel: KernelFunction) -> KernelFunction:
    """Return a kernel with the fields of its parameters as parameters behind those that are declared."""
    found = [*kernel.declared]
    for parameter in kernel.declared:
        for field in parameter.fields:
            kind, size = "u64" if field.pointer else STRUCTURE, -(-field.bits // 8)
            found.append(Variable(parameter.name + field.name, FIELD, kind, size, size))
    return replace(kernel, parameters=tuple(found))


def described_as(kernel: KernelFunction, described: Sequence[DescribedParameter]) -> KernelFunction:
    """Return a kernel whose parameters have the names and fields that are said, where these are as many, and of the
    sizes of structures. An array in the place of what is said to be one has no fields, and what is said to be a number
    is no address.
    """
    if len(described) != len(kernel.declared):
        return kernel
    found = []
    for parameter, (name, type) in zip(kernel.declared, described, strict=True):
        called = name if _NAME.fullmatch(name) else ""
        fields: tuple[Field, ...] = ()
        if type is not None and is_structure(parameter) and parameter.size == -(-bits_of(type) // 8):
            fields = fields_of(type)
        kind = NUMBER if type == ScalarType(64) and parameter.type in ADDRESSES else parameter.type
        found.append(replace(parameter, called=called, type=kind, fields=distinctly_named(fields)))
    return with_fields(replace(kernel, parameters=tuple(found)))


def distinctly_named(fields: Sequence[Field]) -> tuple[Field, ...]:
    """Return fields of which one whose name is no plain one, or another's too, as that of a base, is called by its
    place; none where two have one place so.
    """
    counts = Counter(field.name for field in fields)
    found = tuple(field if _is_named(field) and counts[field.name] == 1 else _by_offset(field) for field in fields)
    return found if len({field.name for field in found}) == len(found) else ()


def is_structure(parameter: Variable) -> bool:
    """Return whether a parameter is bytes rather than a number or an address."""
    return parameter.type == STRUCTURE and (parameter.size or 0) > 0 and parameter.space != FIELD


def is_open(parameter: Variable) -> bool:
    """Return whether words for debuggers tell more of a parameter: its fields, or whether it is an address."""
    return (is_structure(parameter) and not parameter.fields) or parameter.type in ADDRESSES


def _is_named(field: Field) -> bool:
    words = re.sub(r"\[\d+\]", "", field.name)
    return bool(field.name) and (not words or all(map(_NAME.fullmatch, words.removeprefix(".").split("."))))


def _by_offset(field: Field) -> Field:
    return field._replace(name=f"+{field.start // 8}")


def as_in(kernel: KernelFunction, other: KernelFunction) -> KernelFunction:
    """Return a kernel whose parameters have the names and fields that another compilation of it has."""
    pairs = list(zip(kernel.declared, other.declared, strict=False))
    if len(kernel.declared) != len(other.declared) or any(one.size != two.size for one, two in pairs):
        return kernel
    found = (
        replace(
            one,
            called=one.called or two.called,
            fields=one.fields or two.fields,
            type=two.type if one.type in ADDRESSES else one.type,
        )
        for one, two in pairs
    )
    return with_fields(replace(kernel, parameters=tuple(found)))


def with_places(module: Module) -> Module:
    """Return a module of PTX in which parameters that are structures, and of which nothing says the fields, have those
    that its loads are of: ``ld.param.u32 %r1, [p+8]`` is of ``p+8``, a number of 32 bits.
    """
    functions = {
        name: _with_places(function) if function.entry and any(map(_is_bare, function.declared)) else function
        for name, function in module.functions.items()
    }
    return replace(module, functions=functions)


def _is_bare(parameter: Variable) -> bool:
    return is_structure(parameter) and not parameter.fields


def _with_places(kernel: KernelFunction) -> KernelFunction:
    found: dict[str, dict[int, Field]] = {parameter.name: {} for parameter in kernel.declared if _is_bare(parameter)}
    for ins in kernel.body or ():
        match ins.operands:
            case (target, MemoryOperand(SymbolRef(name), offset)) if ins.name == "ld" and name in found:
                kind = type_of(ins.words)
                width = WIDTHS[kind]
                for number in range(len(target.parts) if isinstance(target, Vector) else 1):
                    place = offset + number * width // 8
                    before = found[name].get(place)
                    if before is None or before.bits < width:
                        found[name][place] = Field(f"+{place}", 8 * place, width, width == 64 and kind[0] in "ub")
    parameters = [
        replace(parameter, fields=tuple(place for _, place in sorted(found[parameter.name].items())))
        if parameter.name in found
        else parameter
        for parameter in kernel.declared
    ]
    return with_fields(replace(kernel, parameters=tuple(parameters)))
