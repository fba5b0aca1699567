"""The code that a function of SPIR-V becomes, as it is written: ids are registers, one for each scalar of a value.

Example: ``%5 = OpIAdd %v2uint %3 %4`` is ``add.s32 %r5.0, %r3.0, %r4.0; add.s32 %r5.1, %r3.1, %r4.1``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from corpus.code.ir import KernelGuard, KernelInstruction, Number, Operand, Register, SourceLine, SymbolRef, Variable
from corpus.code.spirv.components import VectorComponents
from corpus.code.spirv.constants import SpirvConstants
from corpus.code.spirv.fields import SpirvFields
from corpus.code.spirv.modes import SpirvMemoryModel
from corpus.code.spirv.module import SpirvInstruction, SpirvModule
from corpus.code.spirv.reflection import ClspvReflection
from corpus.code.spirv.types import BOOL, SpirvTypes
from corpus.errors import InputError
from corpus.litmus.orders import PLAIN, Mode, Order
from corpus.litmus.ptx_arithmetic import WIDTHS

MOST_INSTRUCTIONS = 200_000
"""The instructions that the functions of a module may become."""


@dataclass
class SpirvSource:
    """A module that is translated: its constants and memory model, and the ``names`` of its variables, and of variables
    and parameters of its functions, by id; ``symbols`` are those of its own variables.
    ``reflection`` and ``fields`` are what it says of its source.

    ``left`` is how many instructions may still be written.
    """

    module: SpirvModule
    constants: SpirvConstants
    model: SpirvMemoryModel
    names: Mapping[str, str]
    symbols: Mapping[str, str]
    reflection: ClspvReflection
    fields: SpirvFields
    left: int = MOST_INSTRUCTIONS

    @property
    def types(self) -> SpirvTypes:
        """The types of the module, by how they lie in memory."""
        return self.constants.types


@dataclass
class SpirvCode:
    """The code of one function so far. ``mentioned`` are the variables and functions of the module that it mentions;
    ``coherent`` the pointers by way of what is coherent; ``value_types`` the types of ids by id, and
    ``defined`` the instructions of which they are results. ``components``: which components of vectors are accessed,
    where these are locations of their own. ``exchanged``: whether weak exchanges are made, by what was there and what
    it was compared with.
    """

    source: SpirvSource
    at: SpirvInstruction
    value_types: dict[str, str] = field(default_factory=dict)
    defined: dict[str, SpirvInstruction] = field(default_factory=dict)
    code: list[KernelInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    mentioned: dict[str, None] = field(default_factory=dict)
    coherent: set[str] = field(default_factory=set)
    components: VectorComponents | None = None
    exchanged: dict[tuple[str, str], Register] = field(default_factory=dict)

    @property
    def types(self) -> SpirvTypes:
        """The types of the module, by how they lie in memory."""
        return self.source.types

    def wrong(self, what: str) -> InputError:
        """Return the error that the instruction at hand is not understood."""
        return InputError(what, self.source.module.path, self.at.line, 1)

    def misfit(self) -> InputError:
        """Return the error that the operands of the instruction at hand do not fit each other, or its result."""
        return self.wrong("has operands that it may not have")

    def put(
        self,
        name: str,
        words: Sequence[str],
        operands: Sequence[Operand],
        guard: KernelGuard | None = None,
        mode: Mode = PLAIN,
        failure: Order | None = None,
    ) -> None:
        """Append an instruction, which is done in a mode where it accesses memory."""
        self.source.left -= 1
        if self.source.left < 0:
            raise InputError(f"more than {MOST_INSTRUCTIONS:,} instructions", self.source.module.path)
        module, line = self.source.module, self.at.line
        given = self.at.source
        if given is not None and not given.file:  # naga in wgpu does not know the name of a file
            given = given._replace(file=module.path)
        source = given or (None if module.header.binary else SourceLine(module.path, line, 1))
        self.code.append(
            KernelInstruction(name, tuple(words), tuple(operands), guard, line, source, mode, failure, self.at.name)
        )

    def label(self, name: str) -> None:
        """Put a label before the next instruction that is appended."""
        self.labels[name] = len(self.code)

    def temporary(self, kind: str) -> Register:
        """Return a register of a kind that nothing else uses."""
        name = f"%tmp.{len(self.registers)}"
        self.registers[name] = kind
        return Register(name)

    def compute(self, opcode: str, kind: str, *operands: Operand) -> Register:
        """Append a computation into a register of its own, and return the register."""
        target = self.temporary(kind)
        name, *words = opcode.split(".")
        self.put(name, words, (target, *operands))
        return target

    # values

    def type_of(self, id: str) -> str:
        """Return the id of the type of a value, be it a constant or the result of an instruction."""
        if id in self.value_types:
            return self.value_types[id]
        if id in self.source.module.globals:
            return self.source.constants.type_of(id)
        raise self.wrong(f"%{id} is no value")

    def kinds(self, type: str) -> list[str]:
        """Return the kinds of the scalars of a type."""
        return [scalar.kind for scalar in self.types.scalars(type)]

    def values(self, id: str) -> tuple[Operand, ...]:
        """Return the scalars that a value is made of, as operands in their order."""
        kinds = self.kinds(self.type_of(id))
        if id in self.value_types:
            if id in self.variables:
                return (SymbolRef(self.variables[id].name),)
            return self.registers_of(id, kinds)
        if id in self.source.symbols:
            self.mentioned[id] = None
        found = self.source.constants.scalars(id)
        return tuple(
            Number(each.value & (1 << WIDTHS[kind]) - 1) if isinstance(each, Number) else each
            for each, kind in zip(found, kinds, strict=True)
        )

    def value(self, id: str) -> Operand:
        """Return a value that is one scalar."""
        found = self.values(id)
        if len(found) != 1:
            raise self.wrong(f"expected a scalar, found %{id}, which has {len(found)} parts")
        return found[0]

    def registers_of(self, id: str, kinds: Sequence[str]) -> tuple[Register, ...]:
        """Return the registers that hold a value, which are declared here where they are not yet."""
        stem = register_name(id)
        names = [stem] if len(kinds) == 1 else [f"{stem}.{n}" for n in range(len(kinds))]
        for name, kind in zip(names, kinds, strict=True):
            self.registers.setdefault(name, kind)
        return tuple(map(Register, names))

    def result(self) -> tuple[Register, ...]:
        """Return the registers of the result of the instruction at hand."""
        if self.at.result is None or self.at.type is None:
            raise self.wrong("has no result")
        self.value_types[self.at.result] = self.at.type
        return self.registers_of(self.at.result, self.kinds(self.at.type))

    def set_result(self, values: Sequence[Operand]) -> None:
        """Move values into the registers of the result."""
        assert self.at.type is not None
        kinds = self.kinds(self.at.type)
        targets = self.result()
        if len(targets) != len(values):
            raise self.wrong(f"expected {len(targets)} parts, found {len(values)}")
        for target, kind, value in zip(targets, kinds, values, strict=True):
            self.put("mov", (bits_of(kind),), (target, value))

    def number(self, id: str) -> int:
        """Return the number that a constant is, or what is computed of constants."""
        return self.source.constants.number(id, self.defined)


def bits_of(kind: str) -> str:
    """Return the kind of the bits of a scalar: ``b32`` of ``f32``."""
    return kind if kind == BOOL else f"b{WIDTHS[kind]}"


def register_name(id: str) -> str:
    """Return the register of an id, which no temporary has: ``%r5``, or ``%v.name`` where text names it."""
    return f"%r{id}" if id.isdecimal() else f"%v.{re.sub(r'[^A-Za-z0-9_]', '_', id)}"
