"""What instructions that every language has do when a thread is specialised: a table of functions by name.

A function changes what is known and appends what stays of the instruction. Instructions that compute are those of PTX;
accesses and fences have the mode that their language gives them.
"""

from __future__ import annotations

from collections.abc import Mapping

from corpus.code import ir
from corpus.code.arithmetic import compute_, move, select, set_predicate
from corpus.code.calls import branch, branch_by_index, call, end, ret
from corpus.code.memory import fence, load, store, update
from corpus.code.thread import FollowedThread, Meaning, State
from corpus.litmus.ptx_arithmetic import COMPUTED


def trap(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Stop at ``trap`` or ``brkpt``, which is a finding where a thread comes to it."""
    return thread.out.stops("trap")


def nothing(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
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
