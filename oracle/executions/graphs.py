"""Execution graphs: executions of a test while they grow, event by event.

Example: P0 has written 1 to x, and P1 has read it. The graph has an event of each thread; the source of ``(1, 0)``, the
read, is ``(0, 0)``; the order of x is its initial write ``(-1, 0)`` and ``(0, 0)``. The read's clock is ``(1, 1)``: one
event of P0 and one of P1 come before or are it, in ``po | rf``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from corpus.litmus.propositions import FinalRegister, Term
from corpus.litmus.test import LitmusTest, plain_locations
from oracle.cat.algebra import bits
from oracle.cat.rows import MaskRelation, Rows, rows
from oracle.executions.candidates import execution_events, physical_location
from oracle.executions.concrete import Happened, ThreadSituation
from oracle.executions.domains import value_of
from oracle.executions.events import (
    INITIAL,
    RELATIONS,
    ExecutionChoices,
    ProgramBase,
    initial_tags,
    is_in_program_order,
    is_set,
)
from oracle.executions.flow import asked_locations, asked_terms
from oracle.executions.values import Value
from oracle.executions.witness import CandidateExecution

Node = tuple[int, int]
"""An event of a graph: its thread and its number there. An initial write is ``INITIAL`` and its location's number."""


@dataclass(frozen=True, slots=True)
class ExecutionGraph:
    """An execution as far as it has grown: the events of each thread, where reads read from, coherence order.

    ``order`` begins with the initial write of each location. ``stamp`` is that of the next event.
    """

    threads: tuple[tuple[Happened, ...], ...]
    sources: Mapping[Node, Node]
    order: Mapping[str, tuple[Node, ...]]
    stamp: int = 0

    def __getitem__(self, node: Node) -> Happened:
        """What has happened as an event that is not initial."""
        return self.threads[node[0]][node[1]]

    def with_event(self, thread: int, happened: Happened, source: Node | None = None) -> ExecutionGraph:
        """The graph with one more event of a thread, which reads from ``source`` if it is a read."""
        node = (thread, len(self.threads[thread]))
        sources = self.sources if source is None else {**self.sources, node: source}
        return replace(self, threads=_with(self.threads, thread, happened), sources=sources, stamp=self.stamp + 1)

    def placed(self, node: Node, location: str, place: int) -> ExecutionGraph:
        """The graph with a write at a place of the coherence order of its location."""
        writes = self.order[location]
        return replace(self, order={**self.order, location: (*writes[:place], node, *writes[place:])})

    def cut(self, lengths: Sequence[int]) -> ExecutionGraph:
        """The graph with the first events of each thread alone, which no others lead to by ``po | rf``."""

        def kept(node: Node) -> bool:
            return node[0] == INITIAL or node[1] < lengths[node[0]]

        threads = tuple(events[:length] for events, length in zip(self.threads, lengths, strict=True))
        sources = {read: source for read, source in self.sources.items() if kept(read)}
        order = {name: tuple(filter(kept, writes)) for name, writes in self.order.items()}
        return replace(self, threads=threads, sources=sources, order=order)

    @property
    def size(self) -> int:
        """The number of events that are not initial."""
        return sum(map(len, self.threads))

    def events(self) -> Iterator[tuple[Node, Happened]]:
        """Yield the events that are not initial, thread by thread."""
        for thread, events in enumerate(self.threads):
            for number, happened in enumerate(events):
                yield (thread, number), happened

    def known(self, thread: int, location: str, before: int | None = None) -> int:
        """The place in a location's coherence order of what a thread has written or read there last, before its event
        of a number; else 0."""
        events = self.threads[thread][:before]
        for number in range(len(events) - 1, -1, -1):
            if events[number].event.location == location:
                node = (thread, number)
                return self.order[location].index(self.sources.get(node, node))
        return 0

    def updates(self, location: str, place: int) -> bool:
        """Whether the write at a place updates the one before it, so that no other comes between them."""
        writes = self.order[location]
        if not 0 < place < len(writes):
            return False
        thread, number = writes[place]
        return self[thread, number].event.rmw is not None and self.sources[thread, number - 1] == writes[place - 1]

    def overwriting(self, read: Node) -> tuple[Node, ...]:
        """The writes after the one that a read reads from."""
        writes = self.order[self[read].event.location or ""]
        return writes[writes.index(self.sources[read]) + 1 :]

    def arrival(self, waiting: Node | tuple[int, None], name: object) -> Node | None:
        """The arrival of another thread at a barrier of a name."""
        for node, happened in self.events():
            event = happened.event
            if node[0] != waiting[0] and event.barrier is not None and event.barrier.name == name:
                return node
        return None


def empty_graph(test: LitmusTest) -> ExecutionGraph:
    """The graph of a test in which nothing has happened yet."""
    order = {location.name: ((INITIAL, number),) for number, location in enumerate(test.locations)}
    return ExecutionGraph(((),) * len(test.threads), {}, order)


def initial_values(test: LitmusTest) -> Mapping[Node, Value]:
    """The values of a test's initial writes."""
    return {(INITIAL, number): value_of(location.initial) for number, location in enumerate(test.locations)}


def _with(
    threads: tuple[tuple[Happened, ...], ...], thread: int, happened: Happened
) -> tuple[tuple[Happened, ...], ...]:
    return (*threads[:thread], (*threads[thread], happened), *threads[thread + 1 :])


def base_of(test: LitmusTest, graph: ExecutionGraph) -> ProgramBase[int]:
    """The base of the one execution that a graph is, over which models are evaluated."""
    events = execution_events(test, [happened.event for _, happened in graph.events()])
    index = {event.key: number for number, event in enumerate(events)}

    def number(node: Node) -> int:
        return index[node if node[0] == INITIAL else graph[node].event.key]

    rf, co, meet = ([dict[int, int]() for _ in events] for _ in range(3))
    for read, source in graph.sources.items():
        rf[number(source)][number(read)] = 1
    for writes in graph.order.values():
        if len(writes) > 1:
            numbers = [number(node) for node in writes]
            for place, one in enumerate(numbers):
                for other in numbers[place + 1 :]:
                    co[one][other] = 1
    for node, happened in graph.events():
        barrier = happened.event.barrier
        if barrier is not None and "ARRIVE" not in happened.event.tags:
            arrival = graph.arrival(node, barrier.name)
            assert arrival is not None
            meet[number(node)][number(arrival)] = meet[number(arrival)][number(node)] = 1
    choices = ExecutionChoices(tuple(rf), tuple(co), {}, tuple(meet))
    return ProgramBase(bits(1, len(events)), events, tuple(thread.place for thread in test.threads), choices)


class GraphBase:
    """The base (``oracle.cat.base``) of the one execution that a graph is, in rows of bits.

    Sets, and the relations that most models are made of, are read off the graph; others are those of ``base_of``.
    """

    def __init__(self, test: LitmusTest, graph: ExecutionGraph) -> None:
        self._test, self._graph = test, graph
        used = {done.event.location for events in graph.threads for done in events}
        used |= {physical_location(test, term) for term in asked_locations(test)}
        self._initial = [writes[0] for name, writes in graph.order.items() if name in used]
        self._events = [done.event for events in graph.threads for done in events]
        self._begin: list[int] = []
        count = len(self._initial)
        for events in graph.threads:
            self._begin.append(count)
            count += len(events)
        self.algebra: Rows = rows(count)
        self._number = {node: number for number, node in enumerate(self._initial)}
        plain = plain_locations(test)
        locations = test.locations
        self._tags = [
            initial_tags(locations[number].region, locations[number].name in plain) for _, number in self._initial
        ] + [event.tags for event in self._events]
        self._where: list[str | None] = [locations[number].name for _, number in self._initial]
        self._where += [event.location for event in self._events]
        self._known: dict[str, Any] = {}

    def value(self, name: str) -> Any:
        """The set or relation of a name, None where the base has none; names of the prelude are not among them."""
        if name not in self._known:
            self._known[name] = self._value(name)
        return self._known[name]

    def _value(self, name: str) -> Any:
        if is_set(name):
            return sum(1 << number for number, tags in enumerate(self._tags) if name in tags)
        if name in _READ_OFF:
            return _READ_OFF[name](self)
        if name not in RELATIONS:
            return None
        value = base_of(self._test, self._graph).value(name)
        return tuple(sum(1 << other for other in row) for row in value) if isinstance(value, tuple) else value

    def _index(self, node: Node) -> int:
        return self._number[node] if node[0] == INITIAL else self._begin[node[0]] + node[1]

    def _program_order(self) -> MaskRelation:
        found = [0] * self.algebra.size
        for begin, events in zip(self._begin, self._graph.threads, strict=True):
            ordered = not any(done.event.sides for done in events)
            for number, done in enumerate(events):
                later = range(number + 1, len(events))
                found[begin + number] = (
                    ((1 << len(later)) - 1) << begin + number + 1
                    if ordered
                    else sum(1 << begin + n for n in later if is_in_program_order(done.event, events[n].event))
                )
        return tuple(found)

    def _of_one_thread(self) -> MaskRelation:
        found = [0] * len(self._initial)
        for begin, events in zip(self._begin, self._graph.threads, strict=True):
            found += [((1 << len(events)) - 1) << begin] * len(events)
        return tuple(found)

    def _of_two_threads(self) -> MaskRelation:
        everything = self.algebra.everything()
        own = self._of_one_thread()
        return tuple(everything & ~(row or 1 << event) for event, row in enumerate(own))

    def _of_one_location(self) -> MaskRelation:
        masks: dict[str | None, int] = {None: 0}
        for number, location in enumerate(self._where):
            if location is not None:
                masks[location] = masks.get(location, 0) | 1 << number
        return tuple(masks[location] for location in self._where)

    def _reads_from(self) -> MaskRelation:
        found = [0] * self.algebra.size
        for reading, source in self._graph.sources.items():
            found[self._index(source)] |= 1 << self._index(reading)
        return tuple(found)

    def _coherence(self) -> MaskRelation:
        found = [0] * self.algebra.size
        for writes in self._graph.order.values():
            later = 0
            for node in reversed(writes) if len(writes) > 1 else ():
                number = self._index(node)
                found[number] = later
                later |= 1 << number
        return tuple(found)

    def _updates(self) -> MaskRelation:
        found = [0] * self.algebra.size
        for number, event in enumerate(self._events, len(self._initial)):
            if event.rmw is not None:  # its read is the event before
                found[number - 1] = 1 << number
        return tuple(found)


_READ_OFF: Mapping[str, Callable[[GraphBase], MaskRelation]] = {
    "po": GraphBase._program_order,
    "int": GraphBase._of_one_thread,
    "ext": GraphBase._of_two_threads,
    "loc": GraphBase._of_one_location,
    "rf": GraphBase._reads_from,
    "co": GraphBase._coherence,
    "rmw": GraphBase._updates,
}


def execution_of_graph(
    test: LitmusTest,
    graph: ExecutionGraph,
    situations: Sequence[ThreadSituation],
    initial: Mapping[Node, Value],
) -> CandidateExecution:
    """A graph as an execution. Registers of threads that have not ended have no final values."""
    base = base_of(test, graph)
    values = {happened.event.key: happened.value for _, happened in graph.events()}
    finals: dict[Term, Value] = {}
    for term in asked_terms(test):
        if isinstance(term, FinalRegister):
            if situations[term.thread].ended:
                finals[term] = situations[term.thread].registers.get(term.register, 0)
        elif not isinstance(term, int):
            last = graph.order[physical_location(test, term)][-1]
            finals[term] = initial[last] if last[0] == INITIAL else _number(graph[last])
    shown = tuple(
        initial[event.key[0], event.key[1]] if event.thread == INITIAL else values[event.key] for event in base.events
    )
    return CandidateExecution(test, base, shown, finals)


def _number(happened: Happened) -> Value:
    assert happened.value is not None
    return happened.value
