"""Asynchronous operations of executions, and mbarriers (PTX ISA 9.1, 9.7.9.25 and 9.7.13.15).

In an execution each access of an asynchronous operation is an instruction, one right after the other:

    R.bulk x<-init; W.bulk y; W.complete m | R.acquire.cta.mbarrier m<-2; R y<-1

The first thread asks for a bulk copy from x to y, which completes at the mbarrier m; the second one waits there. A
``W.bulk`` with no ``R.bulk`` before it is an ``st.async``. An arrival is ``W.release.cta.mbarrier``.

An mbarrier is for one arrival, or for the bytes of one operation: its only write completes its first phase, and a wait
is for that phase.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from corpus.executions.execution import Execution, OpKind, Step
from corpus.laws.ptx import of_mbarrier
from corpus.litmus.orders import CLUSTER, MBARRIER, Mode, Order, Scope

_ASYNCHRONOUS, _GROUP = "asynchronous", "group"

BULK = Mode(tags=("async", _ASYNCHRONOUS))
"""How a bulk copy that completes at an mbarrier reads and writes, and ``st.async`` writes."""
BULK_GROUP = Mode(tags=("async", _ASYNCHRONOUS, "bulk_group"))
"""How a bulk copy reads and writes that is a group by itself."""
COPY = Mode(tags=(_ASYNCHRONOUS, "cp_async"))
"""How a ``cp.async`` reads and writes that is a group by itself."""
COMPLETE = of_mbarrier(Mode(Order.RELEASE, Scope.QUEUE, tags=(_ASYNCHRONOUS, CLUSTER)))
"""How an operation completes at an mbarrier."""
WAIT, WAIT_READ = Mode(tags=("bulk_group", _GROUP)), Mode(tags=("bulk_group", _GROUP, "read"))
"""How a thread waits for all its bulk groups, or until what these read is read."""
WAIT_COPIES = Mode(tags=("cp_async", _GROUP))
"""How a thread waits for all its groups of ``cp.async``."""

WORDS: Mapping[str, Mode] = {
    "bulk": BULK,
    "bulk_group": BULK_GROUP,
    "cp_async": COPY,
    "complete": COMPLETE,
    "wait_group": WAIT,
    "wait_group_read": WAIT_READ,
    "wait_cp_async": WAIT_COPIES,
}
"""The words for these modes, which no other instruction has."""
KEPT = frozenset({_ASYNCHRONOUS, _GROUP, MBARRIER})
"""The tags that no weaker instruction has, or has not."""


def is_asynchronous(mode: Mode) -> bool:
    """Decide whether an instruction is a part of an asynchronous operation."""
    return _ASYNCHRONOUS in mode.tags


def waits_for(mode: Mode) -> Mode | None:
    """Return how the operations are done that a fence waits for; None where it waits for none."""
    return {WAIT: BULK_GROUP, WAIT_READ: BULK_GROUP, WAIT_COPIES: COPY}.get(mode)


def of_object(mode: Mode) -> bool:
    """Decide whether an instruction is done to an mbarrier."""
    return MBARRIER in mode.tags


def operations(execution: Execution) -> tuple[tuple[int, ...], ...]:
    """Return the instructions of each asynchronous operation of an execution, in their order."""
    found: list[tuple[int, ...]] = []
    for i, step in enumerate(execution.steps):
        if not is_asynchronous(step.mode):
            continue
        if found and found[-1][-1] == i - 1 and _continues(execution.steps[i - 1], step) and _together(execution, i):
            found[-1] = (*found[-1], i)
        else:
            found.append((i,))
    return tuple(found)


def _together(execution: Execution, i: int) -> bool:
    return execution.thread_of[i - 1] == execution.thread_of[i]


def _continues(before: Step, step: Step) -> bool:
    """Decide whether an access is of the operation that the one before it is of."""
    copied = before.kind is OpKind.READ and step.kind is OpKind.WRITE and before.mode == step.mode
    return copied or (step.mode == COMPLETE and before.mode == BULK and before.kind is OpKind.WRITE)


def copies(execution: Execution) -> dict[int, int]:
    """Return the writes of copies, each with the read whose value it writes."""
    found = {}
    for first, *rest in operations(execution):
        if execution.steps[first].kind is OpKind.READ and rest:
            found[rest[0]] = first
    return found


def settled(execution: Execution) -> Execution:
    """Return the execution without what nobody can learn of its copies.

    Of a copy nothing is said where what it writes is neither read nor final. And where nothing is said of what it has
    read, nothing is said of who reads that from it, nor of the final value that it writes.
    """
    copied = copies(execution)
    while True:
        seen = {*execution.rf, *execution.final}
        hidden = {read for write, read in copied.items() if write not in seen}
        lost = {write for write, read in copied.items() if execution.rf[read] is None}
        rf = tuple(None if i in hidden or source in lost else source for i, source in enumerate(execution.rf))
        final = tuple(None if write in lost else write for write in execution.final)
        if (rf, final) == (execution.rf, execution.final):
            return execution
        execution = replace(execution, rf=rf, final=final)
