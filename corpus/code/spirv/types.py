"""How types of SPIR-V lie in memory: their sizes, and the scalars that they are made of (SPIR-V 1.6, 2.2.2 and 3.20).

Example: of ``struct { uint a; vec2 b[2]; }`` with offsets 0 and 8 the scalars are a ``b32`` at byte 0 and four ``f32``
at 8, 12, 16 and 20. Where a module decorates types with offsets and strides these hold, elsewhere those that C has.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, Protocol

from corpus.code.spirv.module import Enumerant, Id, SpirvInstruction, SpirvInteger, SpirvModule
from corpus.errors import InputError

BOOL, ADDRESS = "pred", "u64"
"""The kinds of truth values, and of addresses."""

MOST_SCALARS = 4_096
"""The scalars of a value, at most."""

MOST_NESTED = 100
"""Types within each other."""


_COMPOSITES = ("OpTypeStruct", "OpTypeArray", "OpTypeRuntimeArray", "OpTypeVector", "OpTypeMatrix")


class TypeScalar(NamedTuple):
    """A scalar of a type: the byte that it begins at, and its kind as PTX names it (``b32``, ``f32``, ``pred``)."""

    offset: int
    kind: str

    @property
    def memory_kind(self) -> str:
        """The kind that it has in memory, where a truth value is a word."""
        return "b32" if self.kind == BOOL else self.kind


class TypePart(NamedTuple):
    """An element or member of a type: its type, the byte that it begins at, and its first scalar."""

    type: str
    offset: int
    scalar: int


def _matrix_strides(module: SpirvModule) -> dict[str, set[int]]:
    """Return the bytes between the columns of types of matrices, as the members of structs say that have them."""
    found: dict[str, set[int]] = {}
    for (struct, member), decorations in module.member_decorations.items():
        declared = module.globals.get(struct)
        ids = [each.name for each in declared.operands if isinstance(each, Id)] if declared else []
        for each in decorations:
            match each:
                case Enumerant("MatrixStride", (SpirvInteger(bytes), *_)) if member < len(ids):
                    type, inner = ids[member], module.globals.get(ids[member])
                    while inner is not None and inner.name in ("OpTypeArray", "OpTypeRuntimeArray"):
                        type = next(operand.name for operand in inner.operands if isinstance(operand, Id))
                        inner = module.globals.get(type)
                    found.setdefault(type, set()).add(bytes)
    return found


class SpirvCounts(Protocol):
    """The numbers that constants are, for the lengths of arrays."""

    def number(self, id: str) -> int:
        """Return the number that a constant is. Raises ``InputError`` where it is none."""


class SpirvTypes:
    """The types of a module: their sizes, strides and scalars, each found once."""

    def __init__(self, module: SpirvModule, counts: SpirvCounts) -> None:
        self._module, self._counts = module, counts
        self._check_nesting()
        self._matrix_strides = _matrix_strides(module)
        self.size = cache(self._size)
        self.scalars = cache(self._scalars)
        self.align = cache(self._align)
        self.offsets = cache(self._offsets)
        self.is_value = cache(self._is_value)

    def _check_nesting(self) -> None:
        """Raise ``InputError`` where a type is a part of itself, or of too many others."""
        depth: dict[str, int] = {}
        for start in self._module.globals:
            waiting = [start]
            while waiting:
                type = waiting[-1]
                inner = [each for each in self._parts(type) if each not in depth]
                if not inner:
                    depth[type] = 1 + max((depth[each] for each in self._parts(type)), default=0)
                    waiting.pop()
                elif len(waiting) > MOST_NESTED:
                    raise self._wrong(type, f"is one of more than {MOST_NESTED} types within each other, or in itself")
                else:
                    waiting.append(inner[0])

    def _parts(self, type: str) -> list[str]:
        """Return the types that values of a type are made of."""
        declared = self._module.globals.get(type)
        if declared is None or declared.name not in _COMPOSITES:
            return []
        ids = [each.name for each in declared.operands if isinstance(each, Id)]
        return ids if declared.name == "OpTypeStruct" else ids[:1]

    def name(self, type: str) -> str:
        """Return the instruction that declares a type, ``OpTypeInt``."""
        return self._of(type).name

    def is_pointer(self, type: str) -> bool:
        """Return whether a type is one of pointers."""
        return self.name(type) in ("OpTypePointer", "OpTypeUntypedPointerKHR")

    def _is_value(self, type: str) -> bool:
        """Return whether values of a type are numbers, truth values, pointers, or made of these."""
        if self.name(type) not in _COMPOSITES:
            return self.scalar_kind(type) is not None
        return all(map(self.is_value, self._parts(type)))

    def pointee(self, type: str) -> str:
        """Return the type that a pointer points to."""
        return self._id(type, 1)

    def storage(self, type: str) -> str:
        """Return the storage class of a pointer."""
        operand = self._of(type).operands[0] if self.is_pointer(type) else None
        if not isinstance(operand, Enumerant):
            raise self._wrong(type, "is no type of pointers")
        return operand.name

    def width(self, type: str) -> int:
        """Return the bits of a type of numbers, 8 to 64."""
        operand = self._of(type).operands[0]
        if not isinstance(operand, SpirvInteger) or operand.value not in (8, 16, 32, 64):
            raise self._wrong(type, "is no number of 8, 16, 32 or 64 bits")
        return operand.value

    def scalar_kind(self, type: str) -> str | None:
        """Return the kind of a scalar type; None where it is none."""
        match self.name(type):
            case "OpTypeBool":
                return BOOL
            case "OpTypeInt":
                return f"b{self.width(type)}"
            case "OpTypeFloat":
                if len(self._of(type).operands) > 1:
                    raise self._wrong(type, "has an encoding that is not understood")
                return f"f{self.width(type)}"
            case "OpTypePointer" | "OpTypeUntypedPointerKHR":
                return ADDRESS
        return None

    def element(self, type: str, index: int) -> TypePart:
        """Return an element of an array or vector, or a member of a struct. Raises ``InputError`` for other types."""
        match self.name(type):
            case "OpTypeStruct":
                members = self._members(type)
                if not 0 <= index < len(members):
                    raise self._wrong(type, f"has no member {index}")
                scalar = sum(len(self.scalars(each)) for each in members[:index])
                return TypePart(members[index], self.offsets(type)[index], scalar)
            case "OpTypeArray" | "OpTypeRuntimeArray" | "OpTypeVector":
                inner = self._id(type, 0)
                runtime = self.name(type) == "OpTypeRuntimeArray"
                return TypePart(inner, index * self.stride(type), 0 if runtime else index * len(self.scalars(inner)))
            case "OpTypeMatrix":
                inner = self._id(type, 0)
                said = self._matrix_strides.get(type, set())
                if len(said) > 1:
                    raise self._wrong(type, f"has columns that are {' and '.join(map(str, sorted(said)))} bytes apart")
                apart = min(said, default=self._align_up(self.size(inner), inner))
                return TypePart(inner, index * apart, index * len(self.scalars(inner)))
        raise self._wrong(type, "has no elements")

    def stride(self, type: str) -> int:
        """Return the bytes between elements of an array or vector."""
        said = self._module.decoration(type, "ArrayStride")
        if said is not None and isinstance(said.parameters[0], SpirvInteger):
            return said.parameters[0].value
        inner = self._id(type, 0)
        return self.size(inner) if self.name(type) == "OpTypeVector" else self.apart(inner)

    def pointer_stride(self, type: str) -> int:
        """Return the bytes between elements that a pointer points to, in whose type it may stand."""
        said = self._module.decoration(type, "ArrayStride")
        if said is not None and isinstance(said.parameters[0], SpirvInteger):
            return said.parameters[0].value
        return self.apart(self.pointee(type))

    def apart(self, type: str) -> int:
        """Return the bytes between values of a type that stand one behind the other."""
        return self._align_up(self.size(type), type)

    def length(self, type: str) -> int | None:
        """Return the number of elements of a type; None where the module does not say it."""
        match self.name(type):
            case "OpTypeArray":
                return self._counts.number(self._id(type, 1))
            case "OpTypeVector" | "OpTypeMatrix":
                operand = self._of(type).operands[1]
                return operand.value if isinstance(operand, SpirvInteger) else 0
            case "OpTypeStruct":
                return len(self._members(type))
        return None

    def _size(self, type: str) -> int:
        """Return the bytes of a type; those of a runtime array are none."""
        kind, name = self.scalar_kind(type), self.name(type)
        if kind is not None:
            return 4 if kind == BOOL else int(kind[1:]) // 8
        if name == "OpTypeRuntimeArray":
            return 0
        if name == "OpTypeStruct":
            members = self._members(type)
            if not members:
                return 0
            sizes = [offset + self.size(each) for each, offset in zip(members, self.offsets(type), strict=True)]
            return max(sizes) if self._placed(type) else self._align_up(max(sizes), type)
        length = self.length(type)
        if length is None:
            raise self._wrong(type, "has no size that is known")
        if name == "OpTypeVector":
            inner = self.size(self._id(type, 0))
            # In OpenCL a vector of three is as large as one of four (OpenCL C 3.0, 6.3.2).
            return inner * (4 if length == 3 and self._module.memory_model == "OpenCL" else length)
        return length * self.element(type, 1).offset

    def ends_open(self, type: str) -> bool:
        """Return whether memory of a type is as long as what is bound to it: it ends with a runtime array."""
        if self.name(type) == "OpTypeStruct":
            members = self._members(type)
            return bool(members) and self.ends_open(members[-1])
        return self.name(type) == "OpTypeRuntimeArray"

    def _scalars(self, type: str) -> tuple[TypeScalar, ...]:
        """Return the scalars that a type is made of, in order; a runtime array has none."""
        kind = self.scalar_kind(type)
        if kind is not None:
            return (TypeScalar(0, kind),)
        if self.name(type) == "OpTypeRuntimeArray":
            return ()
        found: list[TypeScalar] = []
        if (self.length(type) or 0) > MOST_SCALARS:
            raise self._wrong(type, f"has more than {MOST_SCALARS:,} elements")
        for index in range(self.length(type) or 0):
            inner, offset, _ = self.element(type, index)
            found += (TypeScalar(offset + each.offset, each.kind) for each in self.scalars(inner))
            if len(found) > MOST_SCALARS:
                raise self._wrong(type, f"has more than {MOST_SCALARS:,} scalars")
        return tuple(found)

    def _align(self, type: str) -> int:
        kind = self.scalar_kind(type)
        if kind is not None:
            return self.size(type)
        name = self.name(type)
        if name == "OpTypeStruct" and self._module.decoration(type, "CPacked") is not None:
            return 1
        if name == "OpTypeStruct":
            return max((self.align(each) for each in self._members(type)), default=1)
        if name == "OpTypeVector" and self._module.memory_model == "OpenCL":
            return self.size(type)
        return self.align(self._id(type, 0))

    def _align_up(self, size: int, type: str) -> int:
        align = max(1, self.align(type))
        return -(-size // align) * align

    def _members(self, type: str) -> list[str]:
        return [each.name for each in self._of(type).operands if isinstance(each, Id)]

    def _placed(self, type: str) -> bool:
        return self._module.decoration(type, "Offset", 0) is not None

    def _offsets(self, type: str) -> list[int]:
        """Return the bytes at which the members of a struct begin."""
        found: list[int] = []
        end = 0
        packed = self._module.decoration(type, "CPacked") is not None
        for number, member in enumerate(self._members(type)):
            said = self._module.decoration(type, "Offset", number)
            if said is not None and isinstance(said.parameters[0], SpirvInteger):
                end = said.parameters[0].value
            elif not packed:
                end = self._align_up(end, member)
            found.append(end)
            end += self.size(member)
        return found

    def _id(self, type: str, number: int) -> str:
        operands = self._of(type).operands
        operand = operands[number] if number < len(operands) else None
        if not isinstance(operand, Id):
            raise self._wrong(type, "is no type of values in memory")
        return operand.name

    def _of(self, type: str) -> SpirvInstruction:
        found = self._module.globals.get(type)
        if found is None:
            raise InputError(f"%{type} is not declared", self._module.path)
        return found

    def _wrong(self, type: str, what: str) -> InputError:
        return InputError(f"%{type} {what}", self._module.path, self._of(type).line, 1)
