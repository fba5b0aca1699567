"""The instructions of functions of SPIR-V: what each does besides giving a result, and how it is written as code.

The operands of a row are the result, where there is one, and the ids behind it, of which the grammar says how many
there are (``corpus.code.spirv.grammar``). ``one`` is one scalar, ``=0`` as many scalars as the operand of that number
has, and ``scope`` a constant that is one. What is not of such a form may not stand in a module. ``OpExtInst`` has rows
of its own (``corpus.code.spirv.extended``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from corpus.code.computations import COMPUTATIONS, PAIRS, Computation
from corpus.code.launch.groups import OF_MASKS
from corpus.code.spirv import flow, pointers
from corpus.code.spirv.code import SpirvCode
from corpus.code.spirv.composing import COMPOSING, compute, untold
from corpus.code.spirv.extended import extended
from corpus.code.spirv.flow import SpirvBody
from corpus.code.spirv.groups import OPERATIONS, group_operation
from corpus.code.spirv.module import SpirvBlock
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Effect, Lack, Row, Table, find, table_of

Meaning = Callable[[SpirvBody, SpirvBlock], None]
"""How an instruction of a block is written as code."""


def row_of(code: SpirvCode) -> Row[Meaning]:
    """Return the row of the instruction at hand. Raises ``InputError`` where it has none."""
    ins = code.at
    if ins.name == "OpExtInst":
        return _EXTENDED
    given = [*filter(None, (ins.type if ins.result else None,)), *code.at.ids]

    def count(number: int) -> int:
        """How many scalars an operand has."""
        return len(code.kinds(given[0] if number == 0 and ins.result else code.type_of(given[number])))

    def wrong(kind: str, id: str, number: int) -> str:
        if kind == "scope":
            pointers.scope_of(code, id)
        if kind in ("any", "scope"):
            return ""
        wanted = 1 if kind == "one" else count(int(kind[1:]))
        return "" if count(number) == wanted else "of another number of scalars"

    found = find(TABLE, ins.name, given, wrong)
    if isinstance(found, Row):
        return found
    raise code.wrong("is not understood") if found.lack is Lack.NAME else code.misfit()


def _row(effect: Effect, names: str, write: Callable[[SpirvCode], None], operands: str = "any*") -> Row[Meaning]:
    """A row of instructions, by their names without ``Op``."""
    own = ",".join(f"Op{name}" for name in names.split())
    return Row(own, effect, operands, lambda body, block: write(body.code))


def _nothing(code: SpirvCode) -> None:
    """What has no effect on what is asked."""


def _computing(by: Computation) -> Meaning:
    return lambda body, block: compute(body.code, by, body.code.at.ids)


def _equal(body: SpirvBody, block: SpirvBlock) -> None:
    """``OpIEqual``, by which compilers ask whether a weak exchange has been made."""
    exchanged = pointers.is_exchanged(body.code)
    if exchanged is None:
        compute(body.code, COMPUTATIONS["OpIEqual"], body.code.at.ids)
    else:
        body.code.set_result([exchanged])


def _together(verb: str) -> Meaning:
    return lambda body, block: group_operation(body.code, verb)


def _groups() -> Iterable[Row[Meaning]]:
    """The operations of a group. Those of masks, and of a whole group, have a result of another shape."""
    for name, verb in OPERATIONS.items():
        apart = verb in (*OF_MASKS, "ballot", "elect")
        operands = "any scope any*" if apart else "any scope =0 any*"
        yield Row(name, NOTHING if verb in OF_MASKS else ORDERS, operands, _together(verb))


_SHAPES: Mapping[str, str] = {
    "OpVectorExtractDynamic": "one any one",
    "OpVectorInsertDynamic": "any any any one",
    "OpVectorTimesScalar": "any =0 any",
    "OpDot": "one any =1",
    "OpSelect": "any one|=0 =0 =0",
    **dict.fromkeys(PAIRS, "any any =1"),
}
"""The operands of what composes values, where not all will do."""

_OTHERWISE = ("OpIEqual", *COMPOSING, *(name for name in COMPUTATIONS if not name.startswith("Op")))
"""What has a computation, and a row of another meaning or of an extended set."""

_EXTENDED: Row[Meaning] = Row("OpExtInst", NOTHING, "any*", lambda body, block: extended(body.code))

TABLE: Table[Meaning] = table_of(
    [
        Row("OpBranch", CONTROL, "any", flow.branch),
        Row("OpBranchConditional", CONTROL, "any any any", flow.branch_where),
        Row("OpSwitch", CONTROL, "one any any*", flow.switch),
        _row(CONTROL, "FunctionCall", flow.call),
        _row(CONTROL, "Return", flow.leave, ""),
        Row("OpReturnValue", CONTROL, "any", flow.leave_with),
        _row(CONTROL, "Kill TerminateInvocation", flow.end, ""),
        _row(CONTROL, "Unreachable", flow.never, ""),
        _row(CONTROL, "AssumeTrueKHR", flow.assume, "any"),
        _row(NOTHING, "Phi", flow.phi),
        _row(NOTHING, "LoopMerge SelectionMerge", flow.merge),
        _row(NOTHING, "Nop NoLine Line", _nothing),
        *(_row(NOTHING, name[2:], write, _SHAPES.get(name, "any*")) for name, write in COMPOSING.items()),
        _row(
            NOTHING,
            "AccessChain InBoundsAccessChain PtrAccessChain InBoundsPtrAccessChain",
            pointers.access_chain,
            "one any*",
        ),
        _row(NOTHING, "UntypedAccessChainKHR UntypedInBoundsAccessChainKHR", pointers.access_chain, "one any*"),
        _row(NOTHING, "ArrayLength UntypedArrayLengthKHR", pointers.array_length, "one any*"),
        _row(NOTHING, "Undef QuantizeToF16 FRem FMod ReadClockKHR", untold),
        Row("OpIEqual", NOTHING, "any*", _equal),
        *(Row(name, NOTHING, "any*", _computing(by)) for name, by in COMPUTATIONS.items() if name not in _OTHERWISE),
        _row(READS, "Load", pointers.load),
        _row(READS, "AtomicLoad", pointers.atomic_load),
        # The memory of a variable of a function is the thread's own.
        _row(WRITES, "Variable UntypedVariableKHR", flow.variable),
        _row(WRITES, "Store", pointers.store),
        _row(WRITES, "AtomicStore AtomicFlagClear", pointers.atomic_store),
        _row(WRITES, "LifetimeStart LifetimeStop", pointers.live),
        _row(BOTH, "CopyMemory CopyMemorySized", pointers.copy),
        _row(BOTH, "AtomicFlagTestAndSet", pointers.test_and_set),
        _row(BOTH, "AtomicCompareExchange AtomicCompareExchangeWeak", pointers.compare_exchange),
        *(_row(BOTH, name[2:], pointers.atomic_update) for name in pointers.UPDATES),
        _row(ORDERS, "MemoryBarrier", pointers.memory_barrier),
        _row(ORDERS, "ControlBarrier", pointers.control_barrier),
        *_groups(),
    ]
)
"""The instructions of functions that are understood."""
