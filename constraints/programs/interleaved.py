"""Executions of an unknown program one instruction at a time, in which reads and last writes follow from the order.

Every program has such an execution. Programs here have no branch that a value decides. So two accesses that race in
some execution can be run one right after the other, each as soon as all before it in its thread has happened. For each
two events of different threads there is an order in which their instructions come together (``meetings``), and its
execution shows the race. Which of the two goes first is tried one way only: races for which that matters may be missed.
An update happens at once: an event that is half of the update before it follows at once, and any other event comes
later. Where barriers forbid such an execution, it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from constraints.circuit import Literal
from constraints.programs.skeleton import OrderLiterals, ProgramSkeleton
from constraints.programs.view import ExecutionView

Slot = tuple[int, Literal]
"""A place in an order: an event, and the literal that it happens there."""


def meetings(unknown: ProgramSkeleton) -> Iterator[list[Slot]]:
    """Orders of all events that go along with program order, in which two events of different threads are next to each
    other.

    An event has two places where it may be half of an update, and it happens in one of them.
    """
    always, never = unknown.circuit.true, unknown.circuit.false
    for one, other in combinations(unknown.events, 2):
        if unknown.thread[one] == unknown.thread[other]:
            continue
        here, there = unknown.thread[one], unknown.thread[other]
        first = [e for e in unknown.events if unknown.thread[e] == here and e < one]
        first += [e for e in unknown.events if unknown.thread[e] == there and e < other]
        order, halves = [(e, always) for e in first], dict[int, Literal]()
        for e in (one, other):
            order.append((e, always))
            if e + 1 < unknown.size and (half := unknown.half(e + 1)) is not never:
                order.append((e + 1, half))
                halves[e + 1] = half
        done = {*first, one, other}
        yield order + [(e, ~halves[e] if e in halves else always) for e in unknown.events if e not in done]


def interleaved(unknown: ProgramSkeleton, order: Sequence[Slot]) -> ExecutionView:
    """The execution of the program in a given order, of which a check is to fail or a flag is not to be raised."""
    false = unknown.circuit.false
    co: list[dict[int, Literal]] = [{} for _ in unknown.events]
    rf: list[dict[int, Literal]] = [{} for _ in unknown.events]
    before: list[dict[int, Literal]] = [{} for _ in unknown.events]
    initial: dict[int, Literal] = {}
    for place, (e, here) in enumerate(order):
        newest = here
        for w, earlier in reversed(order[:place]):
            if w == e:
                continue
            both = here & earlier
            there = both & unknown.writes(w) & unknown.loc[w][e]
            co[w][e] = co[w].get(e, false) | (there & unknown.writes(e))
            rf[w][e] = rf[w].get(e, false) | (there & unknown.reads(e) & newest)
            newest = newest & ~there
            before[w][e] = before[w].get(e, false) | both
        initial[e] = initial.get(e, false) | (unknown.reads(e) & newest)
    return replace(unknown.view(OrderLiterals(co, before), negative=True), rf=rf, initial=initial)
