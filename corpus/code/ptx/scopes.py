"""The nested scopes of a function of PTX as one body, in which each name of an inner scope is made unique (5.1).

Example: inline assembly opens ``{ .reg .pred p; .. }``, whose ``p`` hides an outer one, and is ``p'2`` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from corpus.code.ir import (
    Both,
    Element,
    KernelInstruction,
    MemoryOperand,
    Negated,
    Number,
    Operand,
    Register,
    SymbolRef,
    Variable,
    Vector,
)
from corpus.litmus.ptx_arithmetic import WIDTHS

_AXES = ("xyzw", "rgba")
"""The names of the elements of a vector (6.4.3)."""


@dataclass
class PtxBlock:
    """The statements of a block, in order: labels as text, instructions, and blocks; and what it declares."""

    statements: list[str | KernelInstruction | PtxBlock] = field(default_factory=list)
    registers: dict[str, Variable] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)


class FlatBody:
    """The blocks of a function as one list, in which each name of a nested scope is unique."""

    def __init__(self) -> None:
        self.registers: dict[str, str] = {}
        self.variables: list[Variable] = []
        self.code: list[KernelInstruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self._scopes = 0

    def block(self, block: PtxBlock, around: dict[str, Operand]) -> None:
        """Append what a block has; ``around`` are the new names of outer scopes."""
        self._scopes += 1
        mark = f"'{self._scopes}" if self._scopes > 1 else ""
        names = dict(around)
        for name, register in block.registers.items():
            stem, _, count = name.rstrip(">").partition("<")
            every = [f"{stem}{n}" for n in range(int(count))] if count else [name]
            elements = (register.size or 0) // (WIDTHS.get(register.type, 64) + 7 >> 3)
            self.registers[f"{stem}{mark}<{count}>" if count else name + mark] = register.type
            if elements > 1:
                for register_name in every:
                    parts = tuple(Register(f"{register_name}{mark}.{axis}") for axis in _AXES[0][:elements])
                    names[register_name] = Vector(parts)
                    for axes in _AXES:
                        names.update(zip((f"{register_name}.{axis}" for axis in axes), parts, strict=False))
            elif mark or not name.startswith("%"):
                names.update((register_name, Register(register_name + mark)) for register_name in every)
        for variable in block.variables:
            self.variables.append(replace(variable, name=variable.name + mark))
            if mark:
                names[variable.name] = SymbolRef(variable.name + mark)
        if mark:
            labels = [statement for statement in block.statements if isinstance(statement, str)]
            names.update((label, SymbolRef(label + mark)) for label in labels)
        for label, targets in block.tables.items():
            self.tables[label + mark] = tuple(_named(names, target) for target in targets)
        for statement in block.statements:
            if isinstance(statement, str):
                self.labels[statement + mark] = len(self.code)
            elif isinstance(statement, PtxBlock):
                self.block(statement, names)
            else:
                self.code.append(_renamed(statement, names) if names else statement)


def _named(names: Mapping[str, Operand], name: str) -> str:
    found = names.get(name)
    return found.name if isinstance(found, Register | SymbolRef) else name


def _renamed(ins: KernelInstruction, names: Mapping[str, Operand]) -> KernelInstruction:
    guard = ins.guard and ins.guard._replace(register=_named(names, ins.guard.register))
    return ins._replace(operands=tuple(_new_name(operand, names) for operand in ins.operands), guard=guard)


def _new_name(operand: Operand, names: Mapping[str, Operand]) -> Operand:
    match operand:
        case Register(name):
            return names.get(name, operand)
        case SymbolRef(name, offset):
            found = names.get(name, operand)
            return found._replace(offset=offset) if isinstance(found, SymbolRef) else found
        case MemoryOperand(base, offset):
            renamed = _new_name(base, names)
            assert isinstance(renamed, Register | SymbolRef | Number)
            return MemoryOperand(renamed, offset)
        case Vector(parts):
            return Vector(tuple(_new_name(part, names) for part in parts))
        case Negated(inner):
            return Negated(_new_name(inner, names))
        case Both(first, second):
            return Both(_new_name(first, names), _new_name(second, names))
        case Element(base, which):
            return Element(_new_name(base, names), which)
        case _:
            return operand
