"""Types of C, and how their objects lie in memory (LP64).

Every scalar of an object has a *slot* of its own, whatever its size: the members of a struct of an int and a pointer
are its slots 0 and 1, and an array of three of these has six. So the scalars of an object are the elements of one array
of the residual program, and an address that is read from memory has its neighbours one after the other. ``sizeof`` says
what a compiler for a 64-bit machine says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpus.litmus.ptx_arithmetic import WIDTHS

MOST_SLOTS = 1 << 16
"""The elements that an object may have."""


@dataclass(frozen=True, slots=True)
class CScalar:
    """A number: its kind, ``s32`` for int, ``bool`` for _Bool; whether it is atomic."""

    kind: str
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class CPointer:
    """A pointer to a type. ``handle``: it is the name of a thread, and no address."""

    target: CType
    atomic: bool = False
    handle: bool = False


@dataclass(frozen=True, slots=True)
class CArray:
    """An array of so many elements; None: as many as its initialiser has."""

    element: CType
    count: int | None


@dataclass(frozen=True, slots=True)
class CStruct:
    """A structure, by a name that no other one has; its members are filled in where they are declared."""

    name: str
    members: dict[str, CType] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CFunction:
    """A function: what it returns, and its parameters' types."""

    result: CType
    parameters: tuple[CType, ...]


@dataclass(frozen=True, slots=True)
class CVoid:
    """The type of what has no value, ``void``."""


CType = CScalar | CPointer | CArray | CStruct | CFunction | CVoid

VOID = CVoid()
INT = CScalar("s32")
UNSIGNED = CScalar("u32")
LONG = CScalar("s64")
SIZE = CScalar("u64")
TRUTH = CScalar("bool")
DOUBLE = CScalar("f64")
CHARACTER = CScalar("s8")


def bits(kind: str) -> int:
    """Return the width of a kind of scalar in memory; a truth value has 8."""
    return 8 if kind == "bool" else WIDTHS[kind]


def slots(ctype: CType) -> int:
    """Return how many slots an object of a type has."""
    match ctype:
        case CArray(element, count):
            return slots(element) * (count or 0)
        case CStruct(_, members):
            return sum(map(slots, members.values()))
        case CVoid() | CFunction():
            return 1
    return 1


def size(ctype: CType) -> int:
    """Return what ``sizeof`` says of a type."""
    match ctype:
        case CScalar(kind):
            return bits(kind) // 8
        case CArray(element, count):
            return size(element) * (count or 0)
        case CStruct(_, members):
            at = 0
            for member in members.values():
                at += -at % alignment(member) + size(member)
            return at + -at % alignment(ctype)
        case CVoid() | CFunction():
            return 1
    return 8


def alignment(ctype: CType) -> int:
    """Return what ``_Alignof`` says of a type."""
    match ctype:
        case CArray(element):
            return alignment(element)
        case CStruct(_, members):
            return max(map(alignment, members.values()), default=1)
    return size(ctype)


def member_slot(struct: CStruct, name: str) -> int:
    """Return the slot at which a member of a struct begins."""
    at = 0
    for each, ctype in struct.members.items():
        if each == name:
            return at
        at += slots(ctype)
    raise KeyError(name)


def scalars(ctype: CType) -> Sequence[CScalar | CPointer]:
    """Return the type of each slot of an object."""
    match ctype:
        case CArray(element, count):
            return list(scalars(element)) * (count or 0)
        case CStruct(_, members):
            return [each for member in members.values() for each in scalars(member)]
        case CScalar() | CPointer():
            return [ctype]
    return [SIZE]


def plain(ctype: CType) -> CType:
    """Return a type without ``_Atomic``, which its values have (C11, 6.7.3)."""
    return replace(ctype, atomic=False) if isinstance(ctype, CScalar | CPointer) else ctype


def promoted(ctype: CScalar) -> CScalar:
    """Return the type of an operand after the integer promotions (C11 6.3.1.1p2)."""
    return INT if bits(ctype.kind) < 32 else CScalar(ctype.kind)


def common(one: CScalar, other: CScalar) -> CScalar:
    """Return the type in which an operator computes (C11 6.3.1.8)."""
    kinds = (promoted(one).kind, promoted(other).kind)
    for kind in ("f64", "f32", "u64", "s64", "u32"):
        if kind in kinds:
            return CScalar(kind)
    return INT


_WORDS: Mapping[tuple[str, ...], str] = {
    ("char",): "s8",
    ("char", "signed"): "s8",
    ("char", "unsigned"): "u8",
    ("short",): "s16",
    ("short", "unsigned"): "u16",
    ("int",): "s32",
    (): "s32",
    ("unsigned",): "u32",
    ("long",): "s64",
    ("long", "unsigned"): "u64",
    ("long", "long"): "s64",
    ("long", "long", "unsigned"): "u64",
    ("float",): "f32",
    ("double",): "f64",
    ("_Bool",): "bool",
}


def scalar(words: Sequence[str]) -> CScalar | None:
    """Return the type that words such as ``unsigned long int`` name; None where they are none."""
    kept = [word for word in sorted(words) if word not in ("int", "signed")]
    if "char" in words and "signed" in words:
        kept = ["char", "signed"]
    kind = _WORDS.get(tuple(kept))
    return None if kind is None else CScalar(kind)
