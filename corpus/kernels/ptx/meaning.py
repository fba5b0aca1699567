"""What each instruction of PTX does when a thread is specialised: a table of functions by name (PTX ISA 9.1, 9.7).

A function changes what is known and appends what stays of the instruction. Here are those that lead to other
instructions; the others are in ``computing``, ``memory`` and ``meeting``.
"""

from __future__ import annotations

from collections.abc import Mapping

from corpus.kernels.ptx import module as ptx
from corpus.kernels.ptx.computing import compute_, move, select, set_mask, set_predicate, set_result
from corpus.kernels.ptx.matrices import multiply
from corpus.kernels.ptx.meeting import active, barrier, fence, map_shared, reduce_, shuffle, vote
from corpus.kernels.ptx.memory import atomic, load, store
from corpus.kernels.ptx.moving import copy, mbarrier, store_asynchronously
from corpus.kernels.ptx.specialiser import Meaning, State, ThreadSpecialiser
from corpus.kernels.values import Unknown
from corpus.litmus.ptx_arithmetic import COMPUTED


def branch(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """Follow ``bra``: the thread goes on at its label."""
    state.at = at.target(state, ins)
    return True


def branch_by_index(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``brx.idx``: to one of a list of labels."""
    index, table = ins.operands
    value = at.value(state, index)
    names = state.function.tables.get(table.name, ()) if isinstance(table, ptx.Symbol) else ()
    if not isinstance(value, int) or value >= len(names) or names[value] not in state.function.labels:
        raise at.wrong("with an index that memory decides it is not understood")
    state.at = state.function.labels[names[value]]
    return True


def call(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``call``, which is put in place of itself."""
    return at.call(state, ins)


def ret(at: ThreadSpecialiser, state: State, _: ptx.PtxInstruction) -> bool:
    """Follow ``ret``: the thread goes back to the caller, or ends."""
    return at.returns(state)


def end(at: ThreadSpecialiser, state: State, _: ptx.PtxInstruction) -> bool:
    """Follow ``exit``: the thread ends, whatever called it."""
    state.frames = ()
    return at.returns(state)


def trap(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """Stop at ``trap`` or ``brkpt``, which is a finding where a thread comes to it."""
    return at.stops("trap")


def nothing(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """A hint, which changes nothing that is asked."""
    return True


def after_other_grids(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """``griddepcontrol``: nothing, where a kernel begins when those before it have ended (9.7.13.13)."""
    at.assumed["a kernel begins when those before it in its stream have ended, with griddepcontrol as well"] = None
    return True


def untold(at: ThreadSpecialiser, state: State, ins: ptx.PtxInstruction) -> bool:
    """An instruction whose result is taken as unknown."""
    set_result(at, state, ins.operands[0], Unknown(f"the result of {ins.opcode}"))
    return True


def or_later(at_once: Meaning) -> Meaning:
    """Return the meaning of an access that may be asynchronous."""
    return lambda at, state, ins: (store_asynchronously if "async" in ins.words else at_once)(at, state, ins)


MEANINGS: Mapping[str, Meaning] = {
    **dict.fromkeys(COMPUTED, compute_),
    "mov": move,
    "cvta": move,
    "selp": select,
    "setp": set_predicate,
    "set": set_mask,
    "ld": load,
    "ldu": load,
    "st": or_later(store),
    "atom": atomic,
    "red": or_later(atomic),
    "fence": fence,
    "membar": fence,
    "bar": barrier,
    "barrier": barrier,
    "mbarrier": mbarrier,
    "cp": copy,
    "wgmma": multiply,
    "griddepcontrol": after_other_grids,
    "mapa": map_shared,
    "getctarank": map_shared,
    "vote": vote,
    "shfl": shuffle,
    "redux": reduce_,
    "activemask": active,
    "elect": active,
    "bra": branch,
    "brx": branch_by_index,
    "call": call,
    "ret": ret,
    "exit": end,
    "trap": trap,
    "brkpt": trap,
    **dict.fromkeys(("nanosleep", "prefetch", "prefetchu", "applypriority", "discard", "setmaxnreg"), nothing),
    **dict.fromkeys(("sin", "cos", "lg2", "ex2", "tanh", "rcp", "rsqrt", "copysign", "testp", "createpolicy"), untold),
}
"""The instructions that are understood, by their names."""
