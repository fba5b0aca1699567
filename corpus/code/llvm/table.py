"""What each instruction of LLVM does when a thread is followed: a table of functions by name, with the library's.

An instruction that no row has is refused by name where a thread comes to it (``corpus.code.table``).
"""

from __future__ import annotations

from corpus.code import ir
from corpus.code.calls import branch, call
from corpus.code.llvm import computing, exceptions, library, memory, variadic, virtual
from corpus.code.llvm.cells import POISONED
from corpus.code.residual import UNMEANT
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Row, table_of
from corpus.code.thread import ControlRules, FollowedThread, KernelLanguage, Meaning, State
from corpus.code.values import Unknown, Value
from corpus.litmus.arithmetic import MEANINGLESS
from corpus.litmus.instructions import Assign, Branch, Comparison, Fence, Label
from corpus.litmus.locations import Reg
from corpus.litmus.orders import Order


def fence(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``fence``, in the mode of the instruction; nobody is there to see one of a thread that is alone."""
    if not thread.creation.alone and ins.mode.order is not Order.RELAXED:
        thread.out.put(Fence(ins.mode))
    return True


def refused(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Raise the error for an instruction that is not understood."""
    (message,) = ins.operands
    assert isinstance(message, ir.SymbolRef)
    raise thread.out.wrong(message.name)


def meaningful(meaning: Meaning) -> Meaning:
    """Return what an instruction does, where a thread is followed no further if it computes with an address from memory
    what has no meaning: executions have no value for that, and would be none.
    """

    def guarded(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
        out = thread.out
        start = len(out.code)
        goes_on = meaning(thread, state, ins)
        written = out.code[start:]
        del out.code[start:]
        for residual in written:
            match residual.instruction:
                case Assign(_, operation, [Reg() | int() as left, Reg() | int() as right]) if "64" in operation:
                    going, flag = out.new_label(), out.temporary(f"{MEANINGLESS}{operation}", left, right)
                    out.put(Branch(going, Comparison("eq", Reg(flag), 0), checks=True))
                    out.stops(UNMEANT)
                    out.put(Label(going))
            out.code.append(residual)
        return goes_on

    return guarded


def undefined(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``undefined`` and why: a place to which a thread comes that does what C leaves undefined."""
    return thread.out.stops(ins.words[0])


def outlives(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``literal``: the address of a compound literal is kept, which clang has live until its function ends."""
    if ins.source is not None:
        thread.notes.assumed[f"the compound literal of line {ins.source.line} is used in its block only"] = None
    return True


def unreachable(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``unreachable``: a place to which no thread may come."""
    return thread.out.stops("unreachable")


ROWS: tuple[Row[Meaning], ...] = (
    Row("load", READS, "any*", memory.load, "*"),
    Row("store", WRITES, "any*", memory.store, "*"),
    Row("cmpxchg", BOTH, "any*", memory.exchange, "*"),
    Row("atomicrmw", BOTH, "any*", memory.update, "*"),
    Row("memcpy,memmove", BOTH, "any*", memory.copy, "*"),
    Row("memset", WRITES, "any*", memory.fill, "*"),
    Row("fence", ORDERS, "any*", fence, "*"),
    Row("alloca", NOTHING, "any*", memory.place_variable, "*"),
    Row("lifetime.start", NOTHING, "any*", memory.begin_lifetime, "*"),
    Row("lifetime.end", NOTHING, "any*", memory.end_lifetime, "*"),
    Row("lifetime.doubt", NOTHING, "any*", memory.doubt_lifetime, "*"),
    Row("lifetime.left", NOTHING, "any*", memory.doubt_end, "*"),
    Row("getelementptr", NOTHING, "any*", computing.step, "*"),
    Row("mov", NOTHING, "any*", computing.move, "*"),
    Row("binary", NOTHING, "any*", meaningful(computing.binary), "*"),
    Row("unary,neg", NOTHING, "any*", meaningful(computing.unary), "*"),
    Row("compare", NOTHING, "any*", meaningful(computing.compare), "*"),
    Row("convert,cvt", NOTHING, "any*", meaningful(computing.convert), "*"),
    Row("select", NOTHING, "any*", meaningful(computing.choose), "*"),
    Row("overflow", NOTHING, "any*", meaningful(computing.overflow), "*"),
    Row("bra", CONTROL, "any*", branch, "*"),
    Row("call", CONTROL, "any*", call, "*"),
    Row("ret", CONTROL, "any*", library.leave, "*"),
    Row("undefined", CONTROL, "any*", undefined, "*"),
    Row("literal", NOTHING, "any*", outlives, "*"),
    Row("unreachable", CONTROL, "any*", unreachable, "*"),
    Row("refused", CONTROL, "any*", refused, "*"),
    *variadic.ROWS,
    *library.ROWS,
    *exceptions.ROWS,
    *virtual.ROWS,
)
"""The instructions by their names."""


def special(thread: FollowedThread, name: str) -> Value | None:
    """Return the value of ``undef``, an undefined value, and of ``poison``."""
    return {"undef": Unknown("an undefined value"), "poison": POISONED}.get(name)


_TABLE = table_of(ROWS)


def row_of(ins: ir.KernelInstruction, _: object) -> Row[Meaning] | str:
    """Return the row of an instruction, or why there is none."""
    if ins.name in _TABLE:
        return _TABLE[ins.name][0]
    if ins.name.startswith("@"):
        return f"{ins.name[1:]} has no code here, and no row among the functions of the library that are known"
    return f"the instruction {ins.name} is not understood"


LLVM = KernelLanguage(row_of, special, "rc11", control=ControlRules(grows=True))
"""The language of programs that a compiler has as LLVM."""
