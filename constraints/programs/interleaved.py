"""Executions of an unknown program one event at a time: what is read and last follows from the order of the events.

Such an execution exists of whatever program. Programs here have no branch that a value decides, so two accesses that
race in some execution can be run one right after the other, each as soon as all before it in its thread has happened:
of each two events of different threads, the two orders in which they come together are the executions by which races
are seen (``meetings``). Where barriers forbid such an execution, it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from constraints.circuit import Literal
from constraints.programs.unknown import Choices, Unknown
from constraints.programs.view import View


def meetings(unknown: Unknown) -> Iterator[tuple[int, ...]]:
    """Orders of all events that go along with program order, in which two of different threads meet."""
    for one, other in permutations(unknown.events, 2):
        if unknown.thread[one] != unknown.thread[other]:
            here, there = unknown.thread[one], unknown.thread[other]
            first = [e for e in unknown.events if unknown.thread[e] == here and e < one]
            first += [e for e in unknown.events if unknown.thread[e] == there and e < other]
            first += [one, other]
            yield (*first, *(e for e in unknown.events if e not in first))


def interleaved(unknown: Unknown, order: Sequence[int]) -> View:
    """The execution of the program in that order, of which a check is to fail or a flag not to be raised."""
    circuit = unknown.circuit
    co: list[dict[int, Literal]] = [{} for _ in unknown.events]
    rf: list[dict[int, Literal]] = [{} for _ in unknown.events]
    before: list[dict[int, Literal]] = [{} for _ in unknown.events]
    initial: dict[int, Literal] = {}
    for place, e in enumerate(order):
        newest = circuit.true
        for w in reversed(order[:place]):
            there = unknown.writes(w) & unknown.loc[w][e]
            co[w][e] = there & unknown.writes(e)
            rf[w][e] = there & unknown.reads(e) & newest
            newest = newest & ~there
            before[w][e] = circuit.true
        initial[e] = unknown.reads(e) & newest
    return replace(unknown.view(Choices(co, before), denied=True), rf=rf, initial=initial)
