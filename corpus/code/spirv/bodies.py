"""The body of a function of SPIR-V as code: its blocks in their order, a phi as a move on each edge that leads to it
(SPIR-V 1.6, 2.11 and 3.52.17).

    %loop = OpLabel                              loop:
    %i = OpPhi %uint %zero %entry %next %loop    ..
    OpBranchConditional %c %loop %done           @%c bra edge; bra done; edge: mov.b32 %i, %next; bra loop;
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from corpus.code.ir import KernelGuard, MemoryOperand, Operand, Register, SymbolRef, Variable
from corpus.code.spirv import pointers
from corpus.code.spirv.code import SpirvCode, SpirvSource, bits_of, register_name
from corpus.code.spirv.components import VectorComponents, has_own_components, vector_counts
from corpus.code.spirv.copies import copies_back
from corpus.code.spirv.module import Enumerant, Id, SpirvBlock, SpirvFunction, SpirvInstruction
from corpus.errors import InputError

NOT_UNDERSTOOD = "not understood"
"""The name of an instruction that is not understood; its word says why."""


class SpirvBody:
    """The code of one function of a module."""

    def __init__(self, source: SpirvSource, function: SpirvFunction, names: Mapping[str, str]) -> None:
        self.function, self._names = function, names
        self._taken: dict[tuple[str, str], list[tuple[Register, str, Operand]]] = {}
        self.code = SpirvCode(source, SpirvInstruction("OpFunction", None, function.name, (), function.line))
        if has_own_components(source.module):
            self.code.components = VectorComponents(function, dict(vector_counts(source.module)), source.module.globals)
        for parameter in function.parameters:
            if parameter.result is not None and parameter.type is not None:
                self.code.value_types[parameter.result] = parameter.type
        for block in function.blocks:
            for ins in block.instructions:
                if ins.result is not None and ins.type is not None:
                    self.code.value_types[ins.result] = ins.type
                    self.code.defined[ins.result] = ins
                if ins.name in ("OpVariable", "OpUntypedVariableKHR"):
                    self._declare(ins)
        self.copies = tuple(copies_back(source.module, function, self.code.defined))

    def _declare(self, ins: SpirvInstruction) -> None:
        """Declare a variable of the function, ``OpVariable``, with what it holds at first."""
        code, types = self.code, self.code.types
        code.at = ins
        untyped = ins.name != "OpVariable"
        if untyped and not code.ids():
            return
        with suppress(InputError):  # it counts where it is used
            type = code.ids()[0] if untyped else types.pointee(ins.type or "")
            name = self._names.get(ins.result or "", ins.result or "")
            code.variables[ins.result or ""] = Variable(name, "local", "b8", types.size(type), 8, line=ins.line)

    def copy_parameter(self, parameter: SpirvInstruction) -> None:
        """Copy what a parameter points to, where that is passed by value, to a variable of the function (3.19)."""
        code, module, id = self.code, self.code.source.module, parameter.result or ""
        by_value = Enumerant("FuncParamAttr", (Enumerant("ByVal"),)) in module.decorations.get(id, ())
        if not by_value:
            return
        code.at = parameter
        type = code.types.pointee(parameter.type or "")
        name = f"{self._names[id]}.own"
        for scalar in code.types.scalars(type):
            value = code.temporary(scalar.kind)
            kind = pointers.memory_kind(scalar.kind)
            code.put("load", (kind,), (value, MemoryOperand(Register(register_name(id)), scalar.offset)))
            code.put("store", (kind,), (MemoryOperand(SymbolRef(name), scalar.offset), value))
        code.variables[id] = Variable(name, "local", "b8", code.types.size(type), 8, line=parameter.line)

    def _moves(self, block: SpirvBlock, target: str) -> list[tuple[Register, str, Operand]]:
        """Return what the phis of a block take from another one that leads there."""
        if (block.label, target) not in self._taken:
            self._taken[block.label, target] = self._moves_of(block, target)
        return self._taken[block.label, target]

    def _moves_of(self, block: SpirvBlock, target: str) -> list[tuple[Register, str, Operand]]:
        number = self.function.labels.get(target)
        if number is None:
            raise self.code.wrong(f"%{target} is no label")
        found: list[tuple[Register, str, Operand]] = []
        for phi in self.function.blocks[number].instructions:
            if phi.name != "OpPhi" or phi.result is None or phi.type is None:
                continue
            ids = [each.name for each in phi.operands if isinstance(each, Id)]
            values = [value for value, parent in zip(ids[::2], ids[1::2], strict=True) if parent == block.label]
            if not values:
                raise self.code.wrong(f"%{phi.result} has no value for %{block.label}")
            kinds = self.code.kinds(phi.type)
            given = self.code.values(values[0])
            if len(given) != len(kinds):
                raise self.code.misfit()
            found += zip(self.code.registers_of(phi.result, kinds), kinds, given, strict=True)
        return found

    def go(self, block: SpirvBlock, target: str) -> None:
        """Go to a block, whose phis take their values all at once."""
        moves = self._moves(block, target)
        targets = {register for register, _, _ in moves}
        if any(isinstance(value, Register) and value in targets for _, _, value in moves):
            held = []
            for register, kind, value in moves:
                kept = self.code.temporary(kind)
                self.code.put("mov", (bits_of(kind),), (kept, value))
                held.append((register, kind, kept))
            moves = list(held)
        for register, kind, value in moves:
            self.code.put("mov", (bits_of(kind),), (register, value))
        self.code.put("bra", (), (SymbolRef(target),))

    def go_where(self, block: SpirvBlock, target: str, guard: KernelGuard, edges: list[tuple[str, str]]) -> None:
        """Go to a block where a predicate holds; where moves are needed, by way of an edge that is written later."""
        label = target
        if self._moves(block, target):
            label = f"{block.label}:{len(edges)}"
            edges.append((label, target))
        self.code.put("bra", (), (SymbolRef(label),), guard)

    def write_edges(self, block: SpirvBlock, edges: list[tuple[str, str]]) -> None:
        """Write the edges of a block on which moves are needed."""
        for label, target in edges:
            self.code.label(label)
            self.go(block, target)


def function_name(id: str) -> str:
    """Return the name by which a function is called."""
    return f"%{id}"


def results_of(code: SpirvCode, function: SpirvFunction) -> tuple[Variable, ...]:
    """Return the results of a function, a register for each scalar."""
    if code.types.name(function.result_type) == "OpTypeVoid":
        return ()
    scalars = code.types.scalars(function.result_type)
    return tuple(Variable(f"%result.{n}", "reg", scalar.kind, 8, 8) for n, scalar in enumerate(scalars))


def moved_labels(labels: Mapping[str, int], before: int) -> dict[str, int]:
    """Return the places of labels behind so many more instructions."""
    return {name: place + before for name, place in labels.items()}
