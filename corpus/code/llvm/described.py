"""Types of the source as the metadata of a module describes them: what parameters of kernels are made of.

!32 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !33, size: 64)       ScalarType(64, True, 4) of an int *
!40 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: "P", ..)    StructureType with its members
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from corpus.code.launch.fields import (
    DescribedType,
    MemberType,
    RepeatedType,
    ScalarType,
    StructureType,
    bits_of,
    is_empty,
    vector,
)
from corpus.code.llvm.debugging import WRAPPING, DebugInformation

MOST_NESTED = 64
"""Types within each other that are looked at."""


def parameters_of(debug: DebugInformation, subprogram: str) -> list[tuple[str, str]]:
    """Return the names of the parameters of a function, with the nodes of their types; none where nothing says them."""
    found: dict[int, tuple[str, str]] = {}
    for node in _nodes(debug, debug.node(subprogram).get("retainedNodes", "")):
        fields = debug.node(node)
        number = fields.get("arg", "")
        if fields["kind"] == "DILocalVariable" and number.isdigit():
            found[int(number)] = debug.name(node), fields.get("type", "")
    return [found[number] for number in sorted(found)] if sorted(found) == [*range(1, len(found) + 1)] else []


def _nodes(debug: DebugInformation, node: str) -> list[str]:
    return re.findall(r"!\d+", debug.metadata.get(node, ""))


def _unwrapped(debug: DebugInformation, type: str) -> str:
    """Return a type without other names for it, and without qualifiers."""
    for _ in range(MOST_NESTED):
        fields = debug.node(type)
        if fields.get("tag") not in WRAPPING:
            break
        type = fields.get("baseType", "")
    return type


def pointee_of(debug: DebugInformation, type: str) -> DescribedType | None:
    """Return what a pointer points to; None where nothing tells."""
    fields = debug.node(_unwrapped(debug, type))
    return described(debug, fields.get("baseType", "")) if fields.get("tag") == _POINTER else None


_POINTER = "DW_TAG_pointer_type"
_STRUCTURES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")


def described(debug: DebugInformation, type: str, depth: int = 0) -> DescribedType | None:
    """Return a type; None where it is not understood."""
    type = _unwrapped(debug, type)
    fields = debug.node(type)
    tag, size = fields.get("tag", ""), fields.get("size", "")
    bits = int(size) if size.isdigit() else 0
    if depth > MOST_NESTED:
        return None
    if fields["kind"] == "DIBasicType" or tag == "DW_TAG_enumeration_type":
        return ScalarType(bits) if bits else None
    if tag == _POINTER:
        return ScalarType(bits or 64, True, _element(debug, fields.get("baseType", "")))
    if tag == "DW_TAG_array_type":
        return _array(debug, fields, depth)
    if tag in _STRUCTURES and bits:
        members = [*_members(debug, fields, depth)]
        return StructureType(bits, tuple(member for member in members if member)) if all(members) else None
    return None


def _element(debug: DebugInformation, type: str) -> int | None:
    """Return the bytes of the numbers that are pointed to; None where they are of no one size."""
    inner = debug.node(_unwrapped(debug, type))
    if inner.get("tag") == _POINTER:
        return 8
    plain = inner["kind"] == "DIBasicType" or inner.get("tag") == "DW_TAG_enumeration_type"
    found = described(debug, type) if plain or "DIFlagVector" in inner["text"] else None
    if isinstance(found, StructureType):  # of a vector, whose components are the elements
        found = found.members[0].inner
    return bits_of(found) // 8 if found else None


def _array(debug: DebugInformation, fields: Mapping[str, str], depth: int) -> DescribedType | None:
    found = described(debug, fields.get("baseType", ""), depth + 1)
    counts = [debug.node(part).get("count", "") for part in _nodes(debug, fields.get("elements", ""))]
    if found is None or not counts or not all(count.isdigit() and 0 < int(count) < 1 << 16 for count in counts):
        return None
    if "DIFlagVector" in fields["text"]:
        count = int(counts[0])
        whole = (4 if count == 3 else count) * bits_of(found)
        return vector(found, count, bits_of(found), whole) if 1 < count <= 16 else None
    for number in reversed(counts):
        found = RepeatedType(found, int(number), bits_of(found))
    return found


def _members(debug: DebugInformation, fields: Mapping[str, str], depth: int) -> Iterator[MemberType | None]:
    for node in _nodes(debug, fields.get("elements", "")):
        part = debug.node(node)
        tag = part.get("tag", "")
        if tag not in ("DW_TAG_member", "DW_TAG_inheritance") or "DIFlagStatic" in part["text"]:
            continue
        inner = described(debug, part.get("baseType", ""), depth + 1)
        if inner is None:
            yield None
            return
        if is_empty(inner):
            continue
        start, size = part.get("offset", "0"), part.get("size", "0")
        own = int(size) if "DIFlagBitField" in part["text"] and size.isdigit() else None
        name = debug.name(node) if tag == "DW_TAG_member" else ""
        yield MemberType(name, int(start) if start.isdigit() else 0, inner, own)


def scalar_sizes(found: DescribedType) -> Sequence[int]:
    """Return the bytes of the scalars of a type, once each."""
    match found:
        case ScalarType(bits):
            return [bits // 8]
        case RepeatedType(inner):
            return scalar_sizes(inner)
        case StructureType(_, members):
            return sorted({size for member in members for size in scalar_sizes(member.inner)})
