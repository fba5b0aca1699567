"""The body of a function of SPIR-V as code, and the instructions that lead on or end a thread (SPIR-V 1.6, 2.11 and
3.52.17). A phi is a move on each edge that leads to it.

    %loop = OpLabel                              loop:
    %i = OpPhi %uint %zero %entry %next %loop    ..
    OpBranchConditional %c %loop %done           @%c bra edge; bra done; edge: mov.b32 %i, %next; bra loop;
"""

from __future__ import annotations

from contextlib import suppress

from corpus.code.ir import KernelGuard, MemoryOperand, Number, Operand, Register, SymbolRef, Variable, Vector
from corpus.code.spirv import pointers
from corpus.code.spirv.code import SpirvCode, SpirvSource, bits_of, register_name
from corpus.code.spirv.components import VectorComponents, has_own_components, vector_counts
from corpus.code.spirv.module import Enumerant, Mask, SpirvBlock, SpirvFunction, SpirvInstruction
from corpus.code.spirv.source_rules import copies_back
from corpus.code.spirv.variables import pointee_of
from corpus.errors import InputError
from corpus.litmus.ptx_arithmetic import WIDTHS


class SpirvBody:
    """The code of one function of a module."""

    def __init__(self, source: SpirvSource, function: SpirvFunction) -> None:
        self.function = function
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
                if ins.is_variable:
                    self._declare(ins)
        self.copies = tuple(copies_back(source.module, function, self.code.defined))

    def _declare(self, ins: SpirvInstruction) -> None:
        """Declare a variable of the function, ``OpVariable``, with what it holds at first."""
        id, source = ins.result or "", self.code.source
        with suppress(InputError):  # it counts where it is used
            size = source.types.size(pointee_of(source, ins))
            self.code.variables[id] = Variable(source.names.get(id, id), "local", "b8", size, 8, line=ins.line)

    def copy_parameter(self, parameter: SpirvInstruction) -> None:
        """Copy what a parameter points to, where that is passed by value, to a variable of the function (3.19)."""
        code, module, id = self.code, self.code.source.module, parameter.result or ""
        by_value = Enumerant("FuncParamAttr", (Enumerant("ByVal"),)) in module.decorations.get(id, ())
        if not by_value:
            return
        code.at = parameter
        type = code.types.of(parameter.type or "").pointee
        name = f"{code.source.names[id]}.own"
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
            ids = phi.ids
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
    if code.types.of(function.result_type).name == "OpTypeVoid":
        return ()
    scalars = code.types.scalars(function.result_type)
    return tuple(Variable(f"%result.{n}", "reg", scalar.kind, 8, 8) for n, scalar in enumerate(scalars))


# the instructions


def branch(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpBranch``: the thread goes on at another block."""
    body.go(block, body.code.at.ids[0])


def branch_where(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpBranchConditional``: the thread goes on at one of two blocks."""
    condition, yes, no = body.code.at.ids[:3]
    value = body.code.value(condition)
    edges: list[tuple[str, str]] = []
    if isinstance(value, Number):
        body.go(block, yes if value.value else no)
    elif isinstance(value, Register):
        body.go_where(block, yes, KernelGuard(value.name), edges)
        body.go(block, no)
    body.write_edges(block, edges)


def switch(body: SpirvBody, block: SpirvBlock) -> None:
    """``OpSwitch``: the numbers are compared with one after the other."""
    selector, default, *targets = body.code.at.ids
    literals = body.code.at.numbers
    (kind,) = body.code.kinds(body.code.type_of(selector))
    value, width = body.code.value(selector), WIDTHS[kind]
    edges: list[tuple[str, str]] = []
    if len(literals) != len(targets):
        raise body.code.misfit()
    for number, target in zip(literals, targets, strict=True):
        chosen = body.code.compute(f"setp.eq.s{width}", "pred", value, Number(number & (1 << width) - 1))
        body.go_where(block, target, KernelGuard(chosen.name), edges)
    body.go(block, default)
    body.write_edges(block, edges)


def phi(code: SpirvCode) -> None:
    """``OpPhi``, which is done on the edges."""
    code.result()


def variable(code: SpirvCode) -> None:
    """``OpVariable`` of a function: its initial value is written here."""
    value, pointer = code.at.initializer, code.at.result
    if value is not None and pointer is not None:
        mode = pointers.access_mode(code, pointer, None, True)
        pointers.write(code, pointer, code.type_of(value), code.values(value), mode)


def call(code: SpirvCode) -> None:
    """Write ``OpFunctionCall``: arguments and result are passed as scalars."""
    function, *arguments = code.at.ids
    module = code.source.module
    if function not in module.functions or not module.functions[function].blocks:
        raise code.wrong(f"{module.names.get(function) or function} is not in the module")
    code.mentioned[function] = None
    void = code.types.of(code.at.type or "").name == "OpTypeVoid"
    results = () if void else code.result()
    values = tuple(value for argument in arguments for value in code.values(argument))
    code.put("call", (), (Vector(results), SymbolRef(function_name(function)), Vector(values)))


def leave(code: SpirvCode) -> None:
    """Write ``OpReturn``: the thread goes back to the caller, or ends."""
    code.put("ret", (), ())


def leave_with(body: SpirvBody, block: SpirvBlock) -> None:
    """Write ``OpReturnValue``: the scalars of a value are the results of the function."""
    value = body.code.at.ids[0]
    kinds, results = body.code.kinds(body.code.type_of(value)), results_of(body.code, body.function)
    if len(results) != len(kinds):
        raise body.code.misfit()
    for target, kind, part in zip(results, kinds, body.code.values(value), strict=True):
        body.code.registers[target.name] = target.type
        body.code.put("mov", (bits_of(kind),), (Register(target.name), part))
    body.code.put("ret", (), ())


def end(code: SpirvCode) -> None:
    """Write ``OpKill`` or ``OpTerminateInvocation``: the thread ends, whatever has called."""
    code.put("exit", (), ())


def never(code: SpirvCode) -> None:
    """``OpUnreachable``, whose behaviour is undefined where a thread comes there."""
    code.put("trap", (), ())


def merge(code: SpirvCode) -> None:
    """``OpLoopMerge`` and ``OpSelectionMerge``: hints, and where ways meet, which the specialiser sees."""
    controls = [enumerant for mask in code.at.operands if isinstance(mask, Mask) for enumerant in mask.enumerants]
    for control in controls:
        if control.name.isdecimal():
            raise code.wrong(f"the control {control.name} is not understood")


def assume(code: SpirvCode) -> None:
    """Write ``OpAssumeTrueKHR``, whose behaviour is undefined where a thread comes there without the condition."""
    value = code.value(code.at.ids[0])
    if isinstance(value, Register):
        code.put("trap", (), (), KernelGuard(value.name, unless=True))
    elif not (isinstance(value, Number) and value.value):
        code.put("trap", (), ())
