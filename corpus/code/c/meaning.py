"""What each instruction of C does when a thread is specialised: a table of functions by name.

Threads are created and joined as ``corpus.code.launch.creation`` says.
"""

from __future__ import annotations

from corpus.code import ir
from corpus.code.c.memory import allocate, as_operand, compare, load, mode_of, order_of, release, step, store, update
from corpus.code.calls import go_back, ret
from corpus.code.evaluation import evaluate, set_result
from corpus.code.launch.creation import BEGUN, ENDED, GIVEN, RESULT, SLOT, signal, system_array, wait
from corpus.code.launch.sharing import share_memory, start_thread
from corpus.code.meaning import COMMON, by_name, nothing
from corpus.code.memory import loaded, stored_operand
from corpus.code.places import CODE, RegisterHome, array_place, counter
from corpus.code.residual import MARK, Access
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Row
from corpus.code.thread import ControlRules, FollowedThread, KernelLanguage, Meaning, State
from corpus.code.values import ArrayAddress, Unknown, Value
from corpus.litmus.instructions import Assign, Fence, Store
from corpus.litmus.orders import PLAIN, Order


def create(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``create``: the name of a new thread, of its function and an argument."""
    target, function, argument = ins.operands
    code, given = evaluate(thread, state, function), evaluate(thread, state, argument)
    name = code.array.name if isinstance(code, ArrayAddress) and code.array.space == CODE else ""
    found = thread.module.functions.get(name)
    if found is None or found.body is None:
        raise thread.out.wrong("the function of a new thread is not known")
    number = start_thread(thread, state, found, (given,))
    if thread.creation.started[-1].waits:
        for residual in signal(number, BEGUN):
            thread.out.put(*residual)
    set_result(thread, state, target, number)
    return True


def join(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``join``: what a thread returns, where that is asked for, of its name."""
    target, name = ins.operands
    number = evaluate(thread, state, name)
    if not isinstance(number, int):
        raise thread.out.wrong("which thread is joined is not known")
    cell = counter(f"joined {number}")
    if cell in state.known:
        raise thread.out.wrong(f"thread {number} is joined twice")
    state.known[cell] = 1
    for residual in wait(number, ENDED):
        thread.out.put(*residual)
    if target == ir.Register("_"):
        return True
    value = loaded(thread, state, ArrayAddress(system_array(number, GIVEN)), SLOT, "s64", PLAIN)
    assert value is not None
    set_result(thread, state, target, value)
    return True


def leave(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``ret``: back to the caller; at the end of a thread those go on who join it."""
    if state.frames:
        return ret(thread, state, ins)
    return _ended(thread, state, state.known.get(RegisterHome(0, RESULT), 0))


def leave_with(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``exit``: the thread ends with a result, whatever called it."""
    state.frames = ()
    return _ended(thread, state, evaluate(thread, state, ins.operands[0]))


def _ended(thread: FollowedThread, state: State, result: Value) -> bool:
    share_memory(thread, state)
    if thread.block == 0:
        return go_back(thread, state)
    if not isinstance(result, Unknown):
        array = system_array(thread.block, GIVEN)
        operand = stored_operand(thread, as_operand(thread, result), SLOT)
        thread.out.put(Store(array_place(array, 0), operand), Access(array, 0, SLOT))
    for residual in signal(thread.block, ENDED):
        thread.out.put(*residual)
    return go_back(thread, state)


def self(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Give a register the name of the thread, which ``pthread_self`` returns."""
    set_result(thread, state, ins.operands[0], thread.block)
    return True


def fence(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``fence`` of an order; a relaxed one orders nothing (C11 7.17.4.1p2)."""
    order = order_of(thread, state, ins.operands[0], Fence)
    if order is not None and order is not Order.RELAXED and not thread.creation.alone:
        thread.out.put(Fence(mode_of(order)))
    return True


def assumed(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``assume``: a note of what the library takes for granted."""
    (note,) = ins.operands
    assert isinstance(note, ir.SymbolRef)
    thread.notes.assumed[note.name] = None
    return True


def failed(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``fail``: an assertion fails, and the thread goes on, so that what others wait for comes; or it gives up."""
    if ins.words != ("assert",):
        return thread.out.stops(*ins.words)
    thread.out.put(Assign(f"{MARK}assert", "mov", (1,)))
    return True


def refused(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Raise the error for a statement that is not understood."""
    (message,) = ins.operands
    assert isinstance(message, ir.SymbolRef)
    raise thread.out.wrong(message.name)


ROWS: tuple[Row[Meaning], ...] = (
    Row("load", READS, "any*", load, "*"),
    Row("store", WRITES, "any*", store, "*"),
    Row("update", BOTH, "any*", update, "*"),
    Row("setp", NOTHING, "any*", compare, "*"),
    Row("step", NOTHING, "any*", step, "*"),
    Row("malloc", NOTHING, "any*", allocate, "*"),
    Row("free", NOTHING, "any*", release, "*"),
    Row("create", CONTROL, "any*", create, "*"),
    Row("join", CONTROL, "any*", join, "*"),
    Row("ret", CONTROL, "any*", leave, "*"),
    Row("exit", CONTROL, "any*", leave_with, "*"),
    Row("self", NOTHING, "any*", self, "*"),
    Row("fence", ORDERS, "any*", fence, "*"),
    Row("assume", CONTROL, "any*", assumed, "*"),
    Row("fail", CONTROL, "any*", failed, "*"),
    Row("refused", CONTROL, "any*", refused, "*"),
    Row("hint", NOTHING, "any*", nothing, "*"),
    *COMMON,
)
"""The instructions that C is translated to, by their names."""


def special(thread: FollowedThread, name: str) -> Value | None:
    """Return the value of a special register, of which C has none."""
    return None


C = KernelLanguage(by_name(ROWS), special, "rc11", control=ControlRules(grows=True))
"""The language of programs of C."""
