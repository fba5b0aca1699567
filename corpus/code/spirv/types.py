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


class DeclaredType(NamedTuple):
    """A type as a module declares it: its id, and the instruction, of a file. What is asked for and is not there raises
    ``InputError``.
    """

    id: str
    at: SpirvInstruction
    path: str

    @property
    def name(self) -> str:
        """The name of the instruction, ``OpTypeInt``."""
        return self.at.name

    @property
    def is_pointer(self) -> bool:
        """Whether the type is one of pointers."""
        return self.name in ("OpTypePointer", "OpTypeUntypedPointerKHR")

    @property
    def is_composite(self) -> bool:
        """Whether values of the type are made of others."""
        return self.name in _COMPOSITES

    @property
    def pointee(self) -> str:
        """The type that a pointer points to."""
        return self.type_at(1)

    @property
    def storage(self) -> str:
        """The storage class of a pointer."""
        operand = self.at.operands[0] if self.is_pointer else None
        if not isinstance(operand, Enumerant):
            raise self.wrong("is no type of pointers")
        return operand.name

    @property
    def scalar_kind(self) -> str | None:
        """The kind of a scalar type; None where it is none."""
        match self.name:
            case "OpTypeBool":
                return BOOL
            case "OpTypeInt":
                return f"b{self._width}"
            case "OpTypeFloat":
                if len(self.at.operands) > 1:
                    raise self.wrong("has an encoding that is not understood")
                return f"f{self._width}"
        return ADDRESS if self.is_pointer else None

    @property
    def _width(self) -> int:
        """The bits of a type of numbers, 8 to 64."""
        operand = self.at.operands[0]
        if not isinstance(operand, SpirvInteger) or operand.value not in (8, 16, 32, 64):
            raise self.wrong("is no number of 8, 16, 32 or 64 bits")
        return operand.value

    def type_at(self, number: int) -> str:
        """Return the operand of this number, which is an id."""
        operand = self.at.operands[number] if number < len(self.at.operands) else None
        if not isinstance(operand, Id):
            raise self.wrong("is no type of values in memory")
        return operand.name

    def wrong(self, what: str) -> InputError:
        """Return the error that the type is not what it should be."""
        return InputError(f"%{self.id} {what}", self.path, self.at.line, 1)


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


def _parts(declared: SpirvInstruction) -> list[str]:
    """Return the types that values of a type are made of."""
    if declared.name not in _COMPOSITES:
        return []
    return declared.ids if declared.name == "OpTypeStruct" else declared.ids[:1]


def _check_nesting(module: SpirvModule) -> None:
    """Raise ``InputError`` where a type is a part of itself, or of too many others."""
    depth: dict[str, int] = {}
    for start in module.globals:
        waiting = [start]
        while waiting:
            type = waiting[-1]
            declared = module.globals.get(type)
            parts = _parts(declared) if declared is not None else []
            inner = next((part for part in parts if part not in depth), None)
            if inner is None:
                depth[type] = 1 + max((depth[part] for part in parts), default=0)
                waiting.pop()
            elif len(waiting) > MOST_NESTED:
                what = f"is one of more than {MOST_NESTED} types within each other, or in itself"
                raise InputError(f"%{type} {what}", module.path, declared.line if declared else None, 1)
            else:
                waiting.append(inner)


def _matrix_strides(module: SpirvModule) -> dict[str, set[int]]:
    """Return the bytes between the columns of types of matrices, as the members of structs say that have them."""
    found: dict[str, set[int]] = {}
    for target, decorations in module.decorations.items():
        if isinstance(target, str):
            continue
        struct, member = target
        ids = module.globals[struct].ids if struct in module.globals else []
        for each in decorations:
            match each:
                case Enumerant("MatrixStride", (SpirvInteger(bytes), *_)) if member < len(ids):
                    type, inner = ids[member], module.globals.get(ids[member])
                    while inner is not None and inner.name in ("OpTypeArray", "OpTypeRuntimeArray"):
                        type = inner.ids[0]
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
        _check_nesting(module)
        self._module, self._counts = module, counts
        self._matrix_strides = _matrix_strides(module)
        self.of = cache(self._of)
        self.size = cache(self._size)
        self.scalars = cache(self._scalars)
        self.align = cache(self._align)
        self.offsets = cache(self._offsets)
        self.is_value = cache(self._is_value)

    def _of(self, type: str) -> DeclaredType:
        """Return a type as it is declared. Raises ``InputError`` where it is not."""
        found = self._module.globals.get(type)
        if found is None:
            raise InputError(f"%{type} is not declared", self._module.path)
        return DeclaredType(type, found, self._module.path)

    def _is_value(self, type: str) -> bool:
        """Return whether values of a type are numbers, truth values, pointers, or made of these."""
        declared = self.of(type)
        if not declared.is_composite:
            return declared.scalar_kind is not None
        return all(map(self.is_value, _parts(declared.at)))

    def element(self, type: str, index: int) -> TypePart:
        """Return an element of an array or vector, or a member of a struct. Raises ``InputError`` for other types."""
        declared = self.of(type)
        if not declared.is_composite:
            raise declared.wrong("has no elements")
        if declared.name == "OpTypeStruct":
            members = declared.at.ids
            if not 0 <= index < len(members):
                raise declared.wrong(f"has no member {index}")
            scalar = sum(len(self.scalars(member)) for member in members[:index])
            return TypePart(members[index], self.offsets(type)[index], scalar)
        inner = declared.type_at(0)
        stride = self._column_stride(declared) if declared.name == "OpTypeMatrix" else self.stride(type)
        runtime = declared.name == "OpTypeRuntimeArray"
        return TypePart(inner, index * stride, 0 if runtime else index * len(self.scalars(inner)))

    def stride(self, type: str) -> int:
        """Return the bytes between elements of an array or vector."""
        stride = self._module.decorated(type, "ArrayStride")
        if stride is not None:
            return stride
        declared = self.of(type)
        inner = declared.type_at(0)
        return self.size(inner) if declared.name == "OpTypeVector" else self.apart(inner)

    def pointer_stride(self, type: str) -> int:
        """Return the bytes between elements that a pointer points to, in whose type it may stand."""
        stride = self._module.decorated(type, "ArrayStride")
        return self.apart(self.of(type).pointee) if stride is None else stride

    def _column_stride(self, matrix: DeclaredType) -> int:
        """Return the bytes between the columns of a matrix."""
        strides = self._matrix_strides.get(matrix.id, set())
        if len(strides) > 1:
            raise matrix.wrong(f"has columns that are {' and '.join(map(str, sorted(strides)))} bytes apart")
        return min(strides, default=self.apart(matrix.type_at(0)))

    def apart(self, type: str) -> int:
        """Return the bytes between values of a type that stand one behind the other."""
        return self._align_up(self.size(type), type)

    def length(self, type: str) -> int | None:
        """Return the number of elements of a type; None where the module does not say it."""
        declared = self.of(type)
        match declared.name:
            case "OpTypeArray":
                return self._counts.number(declared.type_at(1))
            case "OpTypeVector" | "OpTypeMatrix":
                operand = declared.at.operands[1]
                return operand.value if isinstance(operand, SpirvInteger) else 0
            case "OpTypeStruct":
                return len(declared.at.ids)
        return None

    def _size(self, type: str) -> int:
        """Return the bytes of a type; those of a runtime array are none."""
        declared = self.of(type)
        kind = declared.scalar_kind
        if kind is not None:
            return 4 if kind == BOOL else int(kind[1:]) // 8
        if declared.name == "OpTypeRuntimeArray":
            return 0
        if declared.name == "OpTypeStruct":
            members = declared.at.ids
            ends = [offset + self.size(each) for each, offset in zip(members, self.offsets(type), strict=True)]
            placed = self._module.decoration((type, 0), "Offset") is not None
            return max(ends, default=0) if placed else self._align_up(max(ends, default=0), type)
        length = self.length(type)
        if length is None:
            raise declared.wrong("has no size that is known")
        if declared.name == "OpTypeVector":
            inner = self.size(declared.type_at(0))
            # In OpenCL a vector of three is as large as one of four (OpenCL C 3.0, 6.3.2).
            return inner * (4 if length == 3 and self._module.models.memory == "OpenCL" else length)
        return length * self.element(type, 1).offset

    def ends_open(self, type: str) -> bool:
        """Return whether memory of a type is as long as what is bound to it: it ends with a runtime array."""
        declared = self.of(type)
        if declared.name == "OpTypeStruct":
            return bool(declared.at.ids) and self.ends_open(declared.at.ids[-1])
        return declared.name == "OpTypeRuntimeArray"

    def _scalars(self, type: str) -> tuple[TypeScalar, ...]:
        """Return the scalars that a type is made of, in order; a runtime array has none."""
        declared = self.of(type)
        if declared.scalar_kind is not None:
            return (TypeScalar(0, declared.scalar_kind),)
        if declared.name == "OpTypeRuntimeArray":
            return ()
        found: list[TypeScalar] = []
        length = self.length(type) or 0
        if length > MOST_SCALARS:
            raise declared.wrong(f"has more than {MOST_SCALARS:,} elements")
        for index in range(length):
            inner, offset, _ = self.element(type, index)
            found += (TypeScalar(offset + each.offset, each.kind) for each in self.scalars(inner))
            if len(found) > MOST_SCALARS:
                raise declared.wrong(f"has more than {MOST_SCALARS:,} scalars")
        return tuple(found)

    def _align(self, type: str) -> int:
        declared = self.of(type)
        if declared.scalar_kind is not None:
            return self.size(type)
        if declared.name == "OpTypeStruct":
            packed = self._module.decoration(type, "CPacked") is not None
            return 1 if packed else max(map(self.align, declared.at.ids), default=1)
        if declared.name == "OpTypeVector" and self._module.models.memory == "OpenCL":
            return self.size(type)
        return self.align(declared.type_at(0))

    def _align_up(self, size: int, type: str) -> int:
        align = max(1, self.align(type))
        return -(-size // align) * align

    def _offsets(self, type: str) -> list[int]:
        """Return the bytes at which the members of a struct begin."""
        found: list[int] = []
        end = 0
        packed = self._module.decoration(type, "CPacked") is not None
        for number, member in enumerate(self.of(type).at.ids):
            offset = self._module.decorated((type, number), "Offset")
            if offset is not None:
                end = offset
            elif not packed:
                end = self._align_up(end, member)
            found.append(end)
            end += self.size(member)
        return found
