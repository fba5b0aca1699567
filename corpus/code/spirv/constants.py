"""The constants of a module as scalars (SPIR-V 1.6, 3.52.7): those of specialisation have the values of a launch, or
their own.

Example: ``%3 = OpConstantComposite %v2uint %one %two`` is the numbers 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from corpus.code.computations import COMPUTATIONS, folded
from corpus.code.ir import Number, Operand, Register, SymbolRef
from corpus.code.spirv.modes import MEMORY_MODELS
from corpus.code.spirv.module import Enumerant, SpirvFloat, SpirvInstruction, SpirvInteger, SpirvModule
from corpus.code.spirv.types import SpirvTypes
from corpus.errors import InputError
from corpus.litmus.ptx_arithmetic import WIDTHS

MOST_NESTED = 100
"""Constants within each other."""

WORKGROUP_SIZE = "WorkgroupSize"
"""The built-in constant that is the size of a work-group."""


def spec_id(module: SpirvModule, id: str) -> int | None:
    """Return the number of a constant of specialisation; None where it is none."""
    ins = module.globals.get(id)
    return module.decorated(id, "SpecId") if ins is not None and ins.name.startswith("OpSpecConstant") else None


class SpirvConstants:
    """The constants of a module. ``specialised`` has values by ``SpecId``; ``symbols`` are the variables by id."""

    def __init__(self, module: SpirvModule, specialised: Mapping[int, int], symbols: Mapping[str, str]) -> None:
        self._module, self._specialised, self._symbols = module, specialised, symbols
        self.types = SpirvTypes(module, self)
        self._found: dict[str, tuple[Operand, ...]] = {}
        self._depth = 0

    def number(self, id: str, defined: Mapping[str, SpirvInstruction] = MappingProxyType({})) -> int:
        """Return the number that a constant is, with its sign, or what ``defined`` instructions compute of constants.

        Raises ``InputError`` where it is none.
        """
        if id in defined:
            values = self._of_function(id, defined, 0)
            if len(values) == 1 and isinstance(values[0], Number):
                return values[0].value
            raise self._wrong(id, "is no number that is known")
        constant = self._module.globals.get(id)
        values = self.scalars(id)
        if constant is None or constant.type is None or len(values) != 1 or not isinstance(values[0], Number):
            raise self._wrong(id, "is no number that is known")
        return values[0].value

    def _of_function(self, id: str, defined: Mapping[str, SpirvInstruction], depth: int) -> tuple[Operand, ...]:
        """Return what an instruction of a function computes, where that is of constants."""
        ins = defined.get(id)
        if ins is None:
            return self.scalars(id)
        if depth > MOST_NESTED or ins.type is None:
            raise self._wrong(id, "is no constant")
        ids = ins.ids
        types = [defined[id].type if id in defined else self.type_of(id) for id in ids]
        return tuple(
            self._computed(
                ins, [self._of_function(each, defined, depth + 1) for each in ids], [each or "" for each in types]
            )
        )

    def scalars(self, id: str) -> tuple[Operand, ...]:
        """Return the scalars that a constant is made of. Raises ``InputError`` where it is none."""
        if id not in self._found:
            self._depth += 1
            if self._depth > MOST_NESTED:
                raise self._wrong(id, f"is one of more than {MOST_NESTED} constants within each other")
            try:
                self._found[id] = self._scalars(id)
            finally:
                self._depth -= 1
        return self._found[id]

    def _scalars(self, id: str) -> tuple[Operand, ...]:
        constant = self._module.globals.get(id)
        if id in self._symbols:
            return (SymbolRef(self._symbols[id]),)
        if constant is None or constant.type is None:
            raise self._wrong(id, "is no constant")
        kinds = [scalar.kind for scalar in self.types.scalars(constant.type)]
        own = self._own(id)
        found: Sequence[Operand]
        match constant.name, constant.operands:
            case (("OpConstantTrue" | "OpConstantFalse"), _):
                found = (Number(int(constant.name == "OpConstantTrue")),)
            case (("OpSpecConstantTrue" | "OpSpecConstantFalse"), _):
                found = (Number(int(constant.name == "OpSpecConstantTrue") if own is None else int(own != 0)),)
            case (("OpConstant" | "OpSpecConstant"), (SpirvInteger(value), *_)):
                found = (Number(value if own is None else own),)
            case (("OpConstant" | "OpSpecConstant"), (SpirvFloat(bits), *_)):
                found = (Number(bits if own is None else own),)
            case "OpConstantNull", _:
                found = (Number(0),) * len(kinds)
            case (("OpConstantComposite" | "OpSpecConstantComposite"), _):
                builtin = self._module.decoration(id, "BuiltIn")
                if builtin is not None and builtin.parameters == (Enumerant(WORKGROUP_SIZE),):
                    found = [Register(f"%{WORKGROUP_SIZE}.{n}") for n in range(len(kinds))]
                else:
                    found = [each for part in constant.ids[: len(kinds)] for each in self.scalars(part)]
            case "OpUndef", _:
                found = [Register(f"%undefined.{id}") for _ in kinds]
            case "OpSpecConstantOp", (Enumerant(opcode), *operands):
                made = constant._replace(name=f"Op{opcode}", operands=tuple(operands))
                found = self._computed(made, [*map(self.scalars, made.ids)], [*map(self.type_of, made.ids)])
            case _:
                raise self._wrong(id, f"is {constant.name}, which is not understood")
        if len(found) != len(kinds):
            raise self._wrong(id, f"has {len(found)} parts, and its type {len(kinds)}")
        return tuple(found)

    def _own(self, id: str) -> int | None:
        """Return the value that the launch gives to a constant of specialisation."""
        number = self._module.decorated(id, "SpecId")
        return None if number is None else self._specialised.get(number)

    def _computed(
        self, ins: SpirvInstruction, values: Sequence[tuple[Operand, ...]], types: Sequence[str]
    ) -> list[Operand]:
        """Return what an instruction computes of constants of these types."""
        numbers = ins.numbers
        assert ins.type is not None
        if ins.name == "OpCompositeExtract" and values:
            start, type = self.part(types[0], numbers, ins)
            return list(values[0][start : start + len(self.types.scalars(type))])
        if ins.name == "OpCompositeInsert" and len(values) > 1:
            start, type = self.part(types[1], numbers, ins)
            return [*values[1][:start], *values[0], *values[1][start + len(self.types.scalars(type)) :]]
        if ins.name == "OpVectorShuffle" and len(values) > 1:
            both = (*values[0], *values[1])
            return [both[n] if n < len(both) else Register(f"%undefined.{ins.result}") for n in numbers]
        rule = COMPUTATIONS.get(ins.name)
        if rule is None or any(len(value) not in (1, len(values[-1])) for value in values):
            raise self._wrong(ins.result or "", f"is {ins.name}, and has to be a constant that is understood")
        result, kinds = self.types.scalars(ins.type), [self.types.scalars(type) for type in types]
        found: list[Operand] = []
        for n, scalar in enumerate(result):
            given = [value[n if len(value) > 1 else 0] for value in values]
            own = [kind[n if len(kind) > 1 else 0].kind for kind in kinds]
            if not all(isinstance(each, Number) for each in given):
                raise self._wrong(ins.result or "", "is computed of what is no number")
            bits = [
                each.value & (1 << WIDTHS[kind]) - 1
                for each, kind in zip(given, own, strict=True)
                if isinstance(each, Number)
            ]
            model = MEMORY_MODELS.get(self._module.models.memory)
            value = folded(rule, scalar.kind, own, bits, model.name if model else "")
            if value is None:
                raise self._wrong(ins.result or "", f"is {ins.name} of constants, whose value is not known")
            found.append(Number(value))
        return found

    def type_of(self, id: str) -> str:
        """Return the id of the type of a constant, or of an undefined value."""
        constant = self._module.globals.get(id)
        if constant is None or constant.type is None:
            raise self._wrong(id, "is no constant")
        return constant.type

    def part(self, type: str, indices: Sequence[int], ins: SpirvInstruction) -> tuple[int, str]:
        """Return the first scalar, and the type, of a part of a composite that indices name."""
        start = 0
        for index in indices:
            element = self.types.element(type, index)
            length = self.types.length(type)
            if length is None or index >= length:
                raise InputError(f"{ins.name} of a part that is not there", self._module.path, ins.line, 1)
            start, type = start + element.scalar, element.type
        return start, type

    def _wrong(self, id: str, what: str) -> InputError:
        constant = self._module.globals.get(id)
        return InputError(f"%{id} {what}", self._module.path, constant.line if constant else None)
