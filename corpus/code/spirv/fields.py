"""What a module of SPIR-V says of the parameters of its kernels: their types, with the names of members that
``OpMemberName`` gives, or that instructions for debuggers do (OpenCL.DebugInfo.100, 4.2 and 4.3).

    %P = OpTypeStruct %uint %ptr                    .n at bit 0 and .data at bit 64, where members have these names,
    OpMemberName %P 0 "n"                           otherwise +0 and +8

A type for debuggers with an instruction that has no row is not described.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from corpus.code.ir import Field
from corpus.code.launch.fields import (
    DescribedType,
    MemberType,
    RepeatedType,
    ScalarType,
    StructureType,
    bits_of,
    distinctly_named,
    fields_of,
    is_empty,
    vector,
)
from corpus.code.spirv.module import (
    Id,
    Mask,
    SpirvModule,
    SpirvOperand,
    extended_of,
    number_of,
    string_of,
)
from corpus.code.spirv.operands import DESCRIBING
from corpus.code.spirv.types import SpirvTypes
from corpus.errors import InputError
from corpus.litmus.ptx_arithmetic import WIDTHS

MOST_NESTED = 64
"""Types for debuggers within each other."""

_UNNAMED = "?"
"""What a member is called that has no name: by the byte where it begins, as no name has this word."""


class SpirvFields:
    """The fields of types, by the names of their members, and what instructions for debuggers say of functions."""

    def __init__(self, module: SpirvModule, types: SpirvTypes) -> None:
        self._module, self._types = module, types
        self._debugging = _Debugging(module)

    def of(self, type: str, parameter: str = "") -> tuple[Field, ...]:
        """Return the fields of a type, which a parameter of a function has or points to."""
        own, source = self.block(type), self._debugging.parameter(parameter)
        if own is None:
            return ()
        if source is None or isinstance(own, ScalarType) or -(-bits_of(source) // 8) != self._types.size(type):
            source = own
        return distinctly_named(fields_of(source))

    def block(self, type: str) -> DescribedType | None:
        """Return what a block of memory is made of, by the names of its members; None where nothing tells."""
        try:
            return self._described(type)
        except InputError:
            return None

    def pointee(self, type: str, parameter: str) -> DescribedType | None:
        """Return what a parameter of a function points to: an array, whose length nothing tells."""
        try:
            inner = self._types.of(type).pointee
            own, stride = self._described(inner), 8 * self._types.apart(inner)
        except InputError:
            return None
        source = self._debugging.pointee(parameter)
        if source is not None and not isinstance(own, ScalarType) and bits_of(source) == bits_of(own):
            own = source
        return RepeatedType(own, 0, stride)

    def element(self, type: str, parameter: str) -> int | None:
        """Return the bytes of the numbers that a pointer points to, which a parameter of a function is; None where
        they are bytes for all that is known, or of several sizes.
        """
        source = self._debugging.parameter(parameter)
        if isinstance(source, ScalarType) and source.pointer:
            return source.element
        try:
            sizes = {WIDTHS[each.memory_kind] // 8 for each in self._types.scalars(self._types.of(type).pointee)}
        except InputError:
            return None
        return sizes.pop() if len(sizes) == 1 and sizes != {1} else None

    def _described(self, type: str) -> DescribedType:
        """Return what the module itself says of a type. Raises ``InputError`` where it is none of values in memory."""
        types, size = self._types, 8 * self._types.size(type)
        if types.of(type).is_pointer:
            inner = types.of(type).pointee if types.of(type).name == "OpTypePointer" else ""
            kind = types.of(inner).scalar_kind if inner else None
            return ScalarType(size, True, None if kind is None else types.size(inner))
        if types.of(type).scalar_kind is not None:
            return ScalarType(size)
        count = types.length(type) or 0
        if types.of(type).name == "OpTypeStruct":
            parts = (types.element(type, number) for number in range(count))
            names = (self._module.names.get((type, number), _UNNAMED) for number in range(count))
            pairs = zip(names, parts, strict=True)
            members = (MemberType(name, 8 * part.offset, self._described(part.type)) for name, part in pairs)
            return StructureType(size, tuple(members))
        first, second = types.element(type, 0), types.element(type, 1)
        inner_type, stride = self._described(first.type), 8 * (second.offset - first.offset)
        if types.of(type).name == "OpTypeVector":
            return vector(inner_type, count, stride, size)
        return RepeatedType(inner_type, count, stride)


def passed_on(module: SpirvModule) -> dict[str, str]:
    """Return the parameters of kernels that are parameters of what they call in the same order: LLVM's translator makes
    a kernel without names that calls the one of the source.
    """
    found: dict[str, str] = {}
    for function in (module.functions.get(point.function) for point in module.entry_points):
        own = [parameter.result or "" for parameter in function.parameters] if function else []
        for ins in (each for block in (function.blocks if function else ()) for each in block.instructions):
            ids = ins.ids
            if ins.name == "OpFunctionCall" and ids[1:] == own and ids[0] in module.functions:
                found |= zip(
                    own, (parameter.result or "" for parameter in module.functions[ids[0]].parameters), strict=False
                )
    return found


class _Debugging:
    """The types that instructions for debuggers describe, and the parameters of functions by the ids of these."""

    def __init__(self, module: SpirvModule) -> None:
        self._module = module
        self._types: dict[str, DescribedType | None] = {}
        self._passed, self._parameters = passed_on(module), dict[str, str]()
        for id in module.debug:
            name, operands = self._instruction(id)
            if name == "DebugFunction" and len(operands) > 9:
                self._function(operands[9], operands[1])

    def _function(self, function: SpirvOperand, type: SpirvOperand) -> None:
        """Put down the types of the parameters of a function, where the source has as many."""
        name, operands = self._instruction(type.name) if isinstance(type, Id) else ("", ())
        parameters = operands[2:] if name == "DebugTypeFunction" else ()
        types = [operand.name for operand in parameters if isinstance(operand, Id)]
        found = self._module.functions.get(function.name) if isinstance(function, Id) else None
        if found is not None and len(found.parameters) == len(types):
            self._parameters |= zip((parameter.result or "" for parameter in found.parameters), types, strict=True)

    def parameter(self, id: str) -> DescribedType | None:
        """Return the type of a parameter of a function; None where nothing tells."""
        type = self._parameters.get(self._passed.get(id, id))
        return None if type is None else self._type(type)

    def _instruction(self, id: str) -> tuple[str, Sequence[SpirvOperand]]:
        """Return the name of an instruction for debuggers, and its operands."""
        return extended_of(self._module.debug.get(id), self._module.imports, DESCRIBING)

    def _number(self, operand: SpirvOperand) -> int | None:
        """Return the number that an operand is, or the constant that it names."""
        return number_of(operand, self._module.globals)

    def pointee(self, id: str) -> DescribedType | None:
        """Return the type that a parameter of a function points to; None where nothing tells."""
        type = self._parameters.get(self._passed.get(id, id))
        name, operands = self._instruction(self._unqualified(type or ""))
        return self._of(operands[0], 0) if name == "DebugTypePointer" else None

    def _unqualified(self, type: str) -> str:
        """Return a type without other names for it, and without qualifiers."""
        for _ in range(MOST_NESTED):
            name, operands = self._instruction(type)
            inner = operands[_ALIKE[name]] if name in _ALIKE and operands else None
            if not isinstance(inner, Id):
                break
            type = inner.name
        return type

    def _type(self, id: str, depth: int = 0) -> DescribedType | None:
        """Return the type that an instruction describes; None where it is not understood."""
        if id not in self._types and depth <= MOST_NESTED:
            self._types[id] = None  # where it is a part of itself
            name, operands = self._instruction(id)
            if not operands:
                return None
            if name in _ALIKE:
                self._types[id] = self._of(operands[_ALIKE[name]], depth + 1)
            elif name in _TYPES:
                self._types[id] = _TYPES[name](self, operands, depth + 1)
        return self._types.get(id)

    def _of(self, operand: SpirvOperand, depth: int) -> DescribedType | None:
        return self._type(operand.name, depth) if isinstance(operand, Id) else None

    def basic(self, operands: Sequence[SpirvOperand], depth: int) -> DescribedType | None:
        """``DebugTypeBasic``: a name and a size."""
        size = self._number(operands[1])
        return ScalarType(size) if size else None

    def pointer(self, operands: Sequence[SpirvOperand], depth: int) -> DescribedType | None:
        """``DebugTypePointer``: the type that it points to."""
        inner = self._unqualified(operands[0].name) if isinstance(operands[0], Id) else ""
        name, _ = self._instruction(inner)
        if name == "DebugTypePointer":
            return ScalarType(64, True, 8)
        found = self._type(inner, depth) if name in ("DebugTypeBasic", "DebugTypeEnum", "DebugTypeVector") else None
        if isinstance(found, StructureType):  # of a vector, whose components are the elements
            found = found.members[0].inner
        return ScalarType(64, True, bits_of(found) // 8 if found else None)

    def array(self, operands: Sequence[SpirvOperand], depth: int) -> DescribedType | None:
        """``DebugTypeArray``: the type of its elements, and their numbers along each direction; behind these LLVM's
        translator writes as many places where indices begin, which have no number in C.
        """
        found, counts = self._of(operands[0], depth), [self._number(operand) for operand in operands[1:]]
        ways = len(counts) // 2
        counts = counts[:ways] if ways and not any(counts[ways:]) else counts
        for count in reversed(counts):
            if found is None or count is None or not 0 < count < 1 << 16:
                return None
            found = RepeatedType(found, count, bits_of(found))
        return found

    def vector(self, operands: Sequence[SpirvOperand], depth: int) -> DescribedType | None:
        """``DebugTypeVector``; one of three is as large as one of four (OpenCL C 3.0, 6.3.2)."""
        inner, count = self._of(operands[0], depth), self._number(operands[1])
        if inner is None or not count or not 1 < count <= 16:
            return None
        return vector(inner, count, bits_of(inner), (4 if count == 3 else count) * bits_of(inner))

    def enumeration(self, operands: Sequence[SpirvOperand], depth: int) -> DescribedType | None:
        """``DebugTypeEnum``, of so many bits."""
        size = self._number(operands[6])
        return ScalarType(size) if size else None

    def composite(self, operands: Sequence[SpirvOperand], depth: int) -> DescribedType | None:
        """``DebugTypeComposite``: a structure, class or union with its members and bases."""
        size = self._number(operands[7])
        members: list[MemberType] = []
        for each in operands[9:] if size else ():
            name, parts = self._instruction(each.name) if isinstance(each, Id) else ("", ())
            if name in _BESIDE or (name == "DebugTypeMember" and _is_static(parts)):
                continue
            inherited = name == "DebugTypeInheritance"
            if name != "DebugTypeMember" and not inherited:
                return None
            type, place, bits = (parts[1], parts[2], parts[3]) if inherited else (parts[1], parts[6], parts[7])
            inner, start, count = self._of(type, depth), self._number(place), self._number(bits)
            if inner is None or start is None or count is None:
                return None
            if is_empty(inner):
                continue
            called = "" if inherited else string_of(parts[0], self._module.debug) or ""
            own = count if isinstance(inner, ScalarType) and count < inner.bits else None
            members.append(MemberType(called, start, inner, own))
        return StructureType(size, tuple(members)) if size else None


def _is_static(operands: Sequence[SpirvOperand]) -> bool:
    """Return whether a member of a class is one of no object."""
    flags = operands[8]
    return len(operands) > 9 or (isinstance(flags, Mask) and flags.get("FlagStaticMember") is not None)


_ALIKE = {"DebugTypedef": 1, "DebugTypeQualifier": 0, "DebugTypeTemplate": 0}
"""The types that are another one, and the place of that among their operands."""

_BESIDE = (
    *("DebugFunction", "DebugFunctionDeclaration", "DebugTypedef", "DebugTypeComposite", "DebugTypeEnum"),
    *("DebugTypeTemplate", "DebugTypeTemplateParameter", "DebugTypeTemplateParameterPack"),
)
"""What stands in a structure and takes no place in it: functions, types, arguments of templates."""

_TYPES: Mapping[str, Callable[[_Debugging, Sequence[SpirvOperand], int], DescribedType | None]] = {
    "DebugTypeBasic": _Debugging.basic,
    "DebugTypePointer": _Debugging.pointer,
    "DebugTypeArray": _Debugging.array,
    "DebugTypeVector": _Debugging.vector,
    "DebugTypeEnum": _Debugging.enumeration,
    "DebugTypeComposite": _Debugging.composite,
}
"""The other types of which all is understood."""
