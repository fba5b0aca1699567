"""What instructions that every language has do when a thread is specialised: a table of functions by name.

A function changes what is known and appends what stays of the instruction. Instructions that compute are those of PTX;
accesses and fences have the mode that their language gives them.
"""

from __future__ import annotations

from collections.abc import Iterable

from corpus.code import ir
from corpus.code.arithmetic import compute_, move, select, set_predicate
from corpus.code.calls import branch, branch_by_index, call, end, ret
from corpus.code.memory import fence, load, store, update
from corpus.code.table import BOTH, CONTROL, NOTHING, ORDERS, READS, WRITES, Row, table_of
from corpus.code.thread import FollowedThread, Meaning, RowOf, State
from corpus.litmus.ptx_arithmetic import COMPUTED


def trap(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Stop at ``trap`` or ``brkpt``, which is a finding where a thread comes to it."""
    return thread.out.stops("trap")


def nothing(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """A hint, which changes nothing that is asked."""
    return True


COMMON: tuple[Row[Meaning], ...] = (
    Row("mov", NOTHING, "any*", move, "*"),
    Row("selp", NOTHING, "any*", select, "*"),
    Row("setp", NOTHING, "any*", set_predicate, "*"),
    Row("load", READS, "any*", load, "*"),
    Row("store", WRITES, "any*", store, "*"),
    Row("update", BOTH, "any*", update, "*"),
    Row("fence", ORDERS, "any*", fence, "*"),
    Row("bra", CONTROL, "any*", branch, "*"),
    Row("brx", CONTROL, "any*", branch_by_index, "*"),
    Row("call", CONTROL, "any*", call, "*"),
    Row("ret", CONTROL, "any*", ret, "*"),
    Row("exit", CONTROL, "any*", end, "*"),
    Row("trap", CONTROL, "any*", trap, "*"),
    Row(",".join(COMPUTED), NOTHING, "any*", compute_, "*"),
)
"""The instructions that every language has; a name that has a row of its own, as ``mov``, is found there first."""


def by_name(rows: Iterable[Row[Meaning]]) -> RowOf:
    """Return what finds the rows of a language into which code is translated: the first one of a name."""
    table = table_of(rows)
    return lambda ins, _: table[ins.name][0] if ins.name in table else "is not understood"
