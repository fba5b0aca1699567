"""What instructions that every language has do when a thread is specialised: a table of functions by name.

A function changes what is known and appends what stays of the instruction. Instructions that compute are those of PTX;
accesses and fences have the mode that their language gives them.
"""

from __future__ import annotations

from collections.abc import Mapping

from corpus.code import ir
from corpus.code.arithmetic import compute_, move, select, set_predicate
from corpus.code.follower import Meaning, State, ThreadSpecialiser
from corpus.code.memory import fence, load, store, update
from corpus.litmus.ptx_arithmetic import COMPUTED


def branch(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``bra``: the thread goes on at its label."""
    state.at = at.target(state, ins)
    return True


def branch_by_index(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``brx.idx``: to one of a list of labels."""
    index, table = ins.operands
    value = at.value(state, index)
    at.keeps_together(ins, value)
    names = state.function.tables.get(table.name, ()) if isinstance(table, ir.SymbolRef) else ()
    if not isinstance(value, int) or value >= len(names) or names[value] not in state.function.labels:
        raise at.wrong("with an index that memory decides it is not understood")
    state.at = state.function.labels[names[value]]
    return True


def call(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``call``, which is put in place of itself."""
    return at.call(state, ins)


def ret(at: ThreadSpecialiser, state: State, _: ir.KernelInstruction) -> bool:
    """Follow ``ret``: the thread goes back to the caller, or ends."""
    return at.returns(state)


def end(at: ThreadSpecialiser, state: State, _: ir.KernelInstruction) -> bool:
    """Follow ``exit``: the thread ends, whatever called it."""
    state.frames = ()
    return at.returns(state)


def trap(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """Stop at ``trap`` or ``brkpt``, which is a finding where a thread comes to it."""
    return at.stops("trap")


def nothing(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """A hint, which changes nothing that is asked."""
    return True


COMMON: Mapping[str, Meaning] = {
    **dict.fromkeys(COMPUTED, compute_),
    "mov": move,
    "selp": select,
    "setp": set_predicate,
    "load": load,
    "store": store,
    "update": update,
    "fence": fence,
    "bra": branch,
    "brx": branch_by_index,
    "call": call,
    "ret": ret,
    "exit": end,
    "trap": trap,
}
"""The instructions that every language has, by their names."""
