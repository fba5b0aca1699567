"""The body of a function of SPIR-V as code: its blocks in their order, a phi as a move on each edge that leads to it
(SPIR-V 1.6, 2.11 and 3.52.17).

    %loop = OpLabel                              loop:
    %i = OpPhi %uint %zero %entry %next %loop    ..
    OpBranchConditional %c %loop %done           @%c bra edge; bra done; edge: mov.b32 %i, %next; bra loop;

What is not understood becomes an instruction that nobody understands, so that it counts only where a thread comes
there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from corpus.code.ir import KernelGuard, MemoryOperand, Number, Operand, Register, SymbolRef, Variable, Vector
from corpus.code.spirv import pointers
from corpus.code.spirv.code import SpirvCode, SpirvSource, bits_of, register_name
from corpus.code.spirv.components import VectorComponents, has_own_components, vector_counts
from corpus.code.spirv.composing import COMPOSING, compute, untold
from corpus.code.spirv.computing import computation
from corpus.code.spirv.copies import copies_back
from corpus.code.spirv.declared import RELAXED
from corpus.code.spirv.extended import extended
from corpus.code.spirv.groups import GROUP_OPERATIONS, OF_BALLOTS, group_operation
from corpus.code.spirv.module import Enumerant, Id, Mask, SpirvBlock, SpirvFunction, SpirvInstruction, SpirvInteger
from corpus.code.spirv.rounds import begun_anew
from corpus.code.table import Effect
from corpus.errors import InputError
from corpus.litmus.ptx_arithmetic import WIDTHS

NOT_UNDERSTOOD = "not understood"
"""The name of an instruction that is not understood; its word says why."""


class SpirvBody:
    """The code of one function of a module."""

    def __init__(self, source: SpirvSource, function: SpirvFunction, names: Mapping[str, str]) -> None:
        self._function, self._names = function, names
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
        try:
            untyped = ins.name != "OpVariable"
            type = code.ids()[0] if untyped else types.pointee(ins.type or "")
            name = self._names.get(ins.result or "", ins.result or "")
            code.variables[ins.result or ""] = Variable(name, "local", "b8", types.size(type), 8, line=ins.line)
        except (InputError, IndexError):
            pass  # it counts where it is used

    def _copy(self, parameter: SpirvInstruction) -> None:
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

    def write(self) -> None:
        """Write the blocks of the function in their order, each behind its label."""
        compiled = any(each.name == "OpSource" for each in self.code.source.module.others)
        compiled |= any(ins.source for block in self._function.blocks for ins in block.instructions)
        anew = begun_anew(self._function) if compiled else {}  # where SPIR-V is the source, it means what it says
        copied = [each.second for each in self.copies if each.same]
        for parameter in self._function.parameters:
            try:
                self._copy(parameter)
            except InputError as error:
                self.code.put(NOT_UNDERSTOOD, (error.message,), ())
        for block in self._function.blocks:
            self.code.label(block.label)
            for variable in anew.get(block.label, ()):
                pointers.begin_anew(self.code, variable)
            for ins in block.instructions:
                self.code.at = ins
                mark = len(self.code.code)
                try:
                    if any(ins is each for each in copied):
                        raise self.code.wrong(
                            "two arguments are copied back to one place, in an order that is left open"
                        )
                    self._instruction(ins, block)
                    self._relax(ins)
                except (InputError, ValueError) as error:  # the latter of operands that do not fit each other
                    del self.code.code[mark:]
                    why = error.message if isinstance(error, InputError) else "has operands that it may not have"
                    self.code.put(NOT_UNDERSTOOD, (why,), ())

    def _relax(self, ins: SpirvInstruction) -> None:
        """Say of which operands a result of relaxed precision is: it counts where 16 bits give it, too."""
        code, id = self.code, ins.result or ""
        if ins.name not in RELAXED or code.source.module.decoration(id, "RelaxedPrecision") is None:
            return
        given = [each for name in code.ids() for each in code.values(name)] if ins.name != "OpLoad" else []
        words = ("shift",) if ins.name.startswith("OpShift") else ()
        for target in code.registers_of(id, code.kinds(ins.type or "")):
            code.put("relaxed", words, (target, *given))

    def _instruction(self, ins: SpirvInstruction, block: SpirvBlock) -> None:
        name = ins.name
        if name in _ROWS:
            _ROWS[name].write(self, block)
        elif name == "OpExtInst":
            extended(self.code)
        elif name == "OpIEqual" and (exchanged := pointers.is_exchanged(self.code)) is not None:
            self.code.set_result([exchanged])
        elif (rule := computation(name)) is not None:
            compute(self.code, rule, self.code.ids())
        else:
            raise self.code.wrong("is not understood")

    # control flow

    def _moves(self, block: SpirvBlock, target: str) -> list[tuple[Register, str, Operand]]:
        """Return what the phis of a block take from another one that leads there."""
        if (block.label, target) not in self._taken:
            self._taken[block.label, target] = self._moves_of(block, target)
        return self._taken[block.label, target]

    def _moves_of(self, block: SpirvBlock, target: str) -> list[tuple[Register, str, Operand]]:
        number = self._function.labels.get(target)
        if number is None:
            raise self.code.wrong(f"%{target} is no label")
        found: list[tuple[Register, str, Operand]] = []
        for phi in self._function.blocks[number].instructions:
            if phi.name != "OpPhi" or phi.result is None or phi.type is None:
                continue
            ids = [each.name for each in phi.operands if isinstance(each, Id)]
            values = [value for value, parent in zip(ids[::2], ids[1::2], strict=True) if parent == block.label]
            if not values:
                raise self.code.wrong(f"%{phi.result} has no value for %{block.label}")
            kinds = self.code.kinds(phi.type)
            targets = self.code.registers_of(phi.result, kinds)
            found += zip(targets, kinds, self.code.values(values[0]), strict=True)
        return found

    def _go(self, block: SpirvBlock, target: str) -> None:
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

    def _go_where(self, block: SpirvBlock, target: str, guard: KernelGuard, edges: list[tuple[str, str]]) -> None:
        """Go to a block where a predicate holds; where moves are needed, by way of an edge that is written later."""
        label = target
        if self._moves(block, target):
            label = f"{block.label}:{len(edges)}"
            edges.append((label, target))
        self.code.put("bra", (), (SymbolRef(label),), guard)

    def branch(self, block: SpirvBlock) -> None:
        """Write ``OpBranch``: the thread goes on at another block."""
        self._go(block, self.code.ids()[0])

    def branch_where(self, block: SpirvBlock) -> None:
        """Write ``OpBranchConditional``: the thread goes on at one of two blocks."""
        condition, yes, no = self.code.ids()[:3]
        value = self.code.value(condition)
        edges: list[tuple[str, str]] = []
        if isinstance(value, Number):
            self._go(block, yes if value.value else no)
        elif isinstance(value, Register):
            self._go_where(block, yes, KernelGuard(value.name), edges)
            self._go(block, no)
        self._write_edges(block, edges)

    def switch(self, block: SpirvBlock) -> None:
        """``OpSwitch``: the numbers are compared with one after the other."""
        selector, default, *targets = self.code.ids()
        literals = [each.value for each in self.code.at.operands if isinstance(each, SpirvInteger)]
        (kind,) = self.code.kinds(self.code.type_of(selector))
        value, width = self.code.value(selector), WIDTHS[kind]
        edges: list[tuple[str, str]] = []
        for number, target in zip(literals, targets, strict=True):
            chosen = self.code.compute(f"setp.eq.s{width}", "pred", value, Number(number & (1 << width) - 1))
            self._go_where(block, target, KernelGuard(chosen.name), edges)
        self._go(block, default)
        self._write_edges(block, edges)

    def _write_edges(self, block: SpirvBlock, edges: list[tuple[str, str]]) -> None:
        for label, target in edges:
            self.code.label(label)
            self._go(block, target)

    def phi(self, block: SpirvBlock) -> None:
        """``OpPhi``, which is done on the edges."""
        self.code.result()

    def variable(self, block: SpirvBlock) -> None:
        """``OpVariable`` of a function: its initial value is written here."""
        ids = self.code.ids()
        initial = ids[self.code.at.name != "OpVariable" :]
        if initial and self.code.at.result is not None:
            value = initial[0]
            pointers.write(
                self.code,
                self.code.at.result,
                self.code.type_of(value),
                self.code.values(value),
                pointers.access_mode(self.code, self.code.at.result, None, True),
            )

    def call(self, block: SpirvBlock) -> None:
        """Write ``OpFunctionCall``: arguments and result are passed as scalars."""
        function, *arguments = self.code.ids()
        module = self.code.source.module
        if function not in module.functions or not module.functions[function].blocks:
            raise self.code.wrong(f"{module.name_of(function)} is not in the module")
        self.code.called[function] = None
        void = self.code.types.name(self.code.at.type or "") == "OpTypeVoid"
        results = () if void else self.code.result()
        values = [value for each in arguments for value in self.code.values(each)]
        self.code.put("call", (), (Vector(results), SymbolRef(function_name(function)), Vector(tuple(values))))

    def leave(self, block: SpirvBlock) -> None:
        """Write ``OpReturn``: the thread goes back to the caller, or ends."""
        self.code.put("ret", (), ())

    def leave_with(self, block: SpirvBlock) -> None:
        """Write ``OpReturnValue``: the scalars of a value are the results of the function."""
        value = self.code.ids()[0]
        kinds = self.code.kinds(self.code.type_of(value))
        for target, kind, part in zip(
            results_of(self.code, self._function), kinds, self.code.values(value), strict=True
        ):
            self.code.registers[target.name] = target.type
            self.code.put("mov", (bits_of(kind),), (Register(target.name), part))
        self.code.put("ret", (), ())

    def end(self, block: SpirvBlock) -> None:
        """Write ``OpKill`` or ``OpTerminateInvocation``: the thread ends, whatever has called."""
        self.code.put("exit", (), ())

    def never(self, block: SpirvBlock) -> None:
        """``OpUnreachable``, whose behaviour is undefined where a thread comes there."""
        self.code.put("trap", (), ())

    def merge(self, block: SpirvBlock) -> None:
        """``OpLoopMerge`` and ``OpSelectionMerge``: hints, and where ways meet, which the specialiser sees."""
        controls = [each for mask in self.code.at.operands if isinstance(mask, Mask) for each in mask.enumerants]
        for each in controls:
            if each.name.isdecimal():
                raise self.code.wrong(f"the control {each.name} is not understood")


def assume(code: SpirvCode) -> None:
    """Write ``OpAssumeTrueKHR``, whose behaviour is undefined where a thread comes there without the condition."""
    value = code.value(code.ids()[0])
    if isinstance(value, Register):
        code.put("trap", (), (), KernelGuard(value.name, unless=True))
    elif not (isinstance(value, Number) and value.value):
        code.put("trap", (), ())


def effect_of(name: str) -> Effect | None:
    """Return what an instruction of functions does besides giving a result; None where it has no row.

    What computes does nothing. ``OpExtInst`` does what the row of its own instruction says.
    """
    if name in _ROWS:
        return _ROWS[name].effect
    return Effect.NOTHING if computation(name) is not None else None


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


class SpirvRow(NamedTuple):
    """An instruction of functions: what it does besides giving a result, and how it is written as code."""

    effect: Effect
    write: Callable[[SpirvBody, SpirvBlock], None]


def _flow(effect: Effect, **writes: Callable[[SpirvBody, SpirvBlock], None]) -> dict[str, SpirvRow]:
    """Return rows of instructions, by their names without ``Op``, that need to know their block."""
    return {f"Op{name}": SpirvRow(effect, write) for name, write in writes.items()}


def _rows(effect: Effect, writes: Mapping[str, Callable[[SpirvCode], None]]) -> dict[str, SpirvRow]:
    """Return rows of other instructions."""

    def of(write: Callable[[SpirvCode], None]) -> SpirvRow:
        return SpirvRow(effect, lambda body, block: write(body.code))

    return {name: of(write) for name, write in writes.items()}


def _each(write: Callable[[SpirvCode], None], names: str) -> dict[str, Callable[[SpirvCode], None]]:
    return dict.fromkeys((f"Op{name}" for name in names.split()), write)


def _nothing(code: SpirvCode) -> None:
    """What has no effect on what is asked."""


_ROWS: Mapping[str, SpirvRow] = {
    **_flow(
        Effect.CONTROL,
        Branch=SpirvBody.branch,
        BranchConditional=SpirvBody.branch_where,
        Switch=SpirvBody.switch,
        FunctionCall=SpirvBody.call,
        Return=SpirvBody.leave,
        ReturnValue=SpirvBody.leave_with,
        Kill=SpirvBody.end,
        TerminateInvocation=SpirvBody.end,
        Unreachable=SpirvBody.never,
    ),
    **_rows(Effect.CONTROL, {"OpAssumeTrueKHR": assume}),
    **_flow(Effect.NOTHING, Phi=SpirvBody.phi, LoopMerge=SpirvBody.merge, SelectionMerge=SpirvBody.merge),
    **_rows(
        Effect.NOTHING,
        {
            **_each(_nothing, "Nop NoLine Line"),
            **COMPOSING,
            **_each(pointers.access_chain, "AccessChain InBoundsAccessChain PtrAccessChain InBoundsPtrAccessChain"),
            **_each(pointers.access_chain, "UntypedAccessChainKHR UntypedInBoundsAccessChainKHR"),
            **_each(pointers.array_length, "ArrayLength UntypedArrayLengthKHR"),
            **_each(untold, "Undef QuantizeToF16 FRem FMod ReadClockKHR"),
            **dict.fromkeys(OF_BALLOTS, group_operation),
        },
    ),
    **_rows(Effect.READS, {"OpLoad": pointers.load, "OpAtomicLoad": pointers.atomic_load}),
    # The memory of a variable of a function is the thread's own.
    **_flow(Effect.WRITES, Variable=SpirvBody.variable, UntypedVariableKHR=SpirvBody.variable),
    **_rows(
        Effect.WRITES,
        {
            "OpStore": pointers.store,
            **_each(pointers.atomic_store, "AtomicStore AtomicFlagClear"),
            **_each(pointers.live, "LifetimeStart LifetimeStop"),
        },
    ),
    **_rows(
        Effect.BOTH,
        {
            **_each(pointers.copy, "CopyMemory CopyMemorySized"),
            "OpAtomicFlagTestAndSet": pointers.test_and_set,
            **_each(pointers.compare_exchange, "AtomicCompareExchange AtomicCompareExchangeWeak"),
            **dict.fromkeys(pointers.UPDATES, pointers.atomic_update),
        },
    ),
    **_rows(
        Effect.ORDERS,
        {
            "OpMemoryBarrier": pointers.memory_barrier,
            "OpControlBarrier": pointers.control_barrier,
            **dict.fromkeys(GROUP_OPERATIONS.keys() - OF_BALLOTS, group_operation),
        },
    ),
}
"""The instructions of functions that are understood, by name, but for those that only compute (``computation``), and
``OpExtInst``, whose sets have rows of their own (``corpus.code.spirv.extended``).
"""
