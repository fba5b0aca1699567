"""RC11 by vector clocks: whether ``oracle/models/rc11.cat`` allows an execution graph, and whether it has a data race.

Example: P0 writes x, then writes 1 to y with release; P1 reads 1 from y with acquire, then reads x. The clock of P1's
read of x is ``(2, 2)``: two events of P0 happen before it. So it cannot read the initial value of x, which the first of
them overwrites.

The clock of an event has for each thread how many of its events happen before it, or are it. A write carries what
whoever reads it with acquire, or before a fence that acquires, comes to know: the clock of the last write of its thread
to its location with release, that of the thread's last fence before it that releases, and, if it is of an update, what
the write carries that the update reads. That is ``sw`` of the model (Lahav et al. 2017, section 3), whose release
sequences need an atomic write.

- *coherence*: of what happens before an access, and accesses its location, nothing is later in modification order;
- *atomicity*: an update's write comes right after the write that it reads;
- *sc*: no cycle of ``psc`` goes through an event that has just been added (``newest``). Edges are those of ``scb``
  between accesses that are ``SC``, of each kind the first one, for program order leads on from there.

The rest of the graph is taken to be allowed, with ``po | rf`` acyclic. Of graphs with a fence that is ``SC`` nothing is
said. The model stays the judge of all others, and of what this says in ``tests/differential/test_clocks.py``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from oracle.executions.concrete import Happened
from oracle.executions.events import INITIAL, EventKind
from oracle.executions.graphs import ExecutionGraph, Node

RC11, DATA_RACE = "rc11", "data-race"
"""The model, and its flag."""

Clock = tuple[int, ...]

ACQUIRE = frozenset({"ACQ", "ACQ_REL", "SC"})
RELEASE = frozenset({"REL", "ACQ_REL", "SC"})
"""The tags of accesses and fences that acquire, and of those that release."""

_ATOMIC = ACQUIRE | RELEASE | {"RLX"}


class Clocks:
    """The clocks of the events of a graph, and the places of its writes in modification order."""

    def __init__(self, graph: ExecutionGraph) -> None:
        self._graph = graph
        self.clocks: list[list[Clock]] = [[] for _ in graph.threads]
        self._place = {node: place for writes in graph.order.values() for place, node in enumerate(writes)}
        self._carried: dict[Node, Clock | None] = {}
        self._fence: list[Clock | None] = [None] * len(graph.threads)
        self._read: list[Clock | None] = [None] * len(graph.threads)
        self._released: dict[tuple[int, str], Clock] = {}
        self.has_fence = False
        going = True
        while going:
            going = False
            for thread, events in enumerate(graph.threads):
                known = self.clocks[thread]
                while len(known) < len(events) and self._is_ready((thread, len(known))):
                    self._go_on(thread, events[len(known)])
                    going = True

    def _is_ready(self, node: Node) -> bool:
        thread, number = self._graph.sources.get(node, (INITIAL, 0))
        return thread == INITIAL or number < len(self.clocks[thread])

    def _go_on(self, thread: int, happened: Happened) -> None:
        known, event = self.clocks[thread], happened.event
        node = (thread, len(known))
        before = known[-1] if known else (0,) * len(self.clocks)
        if event.kind is EventKind.READ and _ATOMIC & event.tags:
            seen = self._carried.get(self._graph.sources[node])
            if seen is not None:
                self._read[thread] = _join(self._read[thread], seen)
                if ACQUIRE & event.tags:
                    before = _join(before, seen)
        elif "F" in event.tags:
            self.has_fence = self.has_fence or "SC" in event.tags
            if ACQUIRE & event.tags:
                before = _join(self._read[thread], before)
        clock = (*before[:thread], node[1] + 1, *before[thread + 1 :])
        known.append(clock)
        if event.kind is EventKind.WRITE:
            self._write(node, happened, clock)
        elif "F" in event.tags and RELEASE & event.tags:
            self._fence[thread] = clock

    def _write(self, node: Node, happened: Happened, clock: Clock) -> None:
        event, (thread, number) = happened.event, node
        assert event.location is not None
        if RELEASE & event.tags:
            self._released[thread, event.location] = clock
        carried: Clock | None = None
        if _ATOMIC & event.tags:
            carried = self._fence[thread]
            own = self._released.get((thread, event.location))
            carried = carried if own is None else _join(carried, own)
        if event.rmw is not None:
            further = self._carried.get(self._graph.sources[thread, number - 1])
            carried = carried if further is None else _join(carried, further)
        self._carried[node] = carried

    def _places(self, location: str) -> list[tuple[list[int], list[int]]]:
        """For each thread the numbers of its accesses of a location, and the places of what they write or read."""
        found: list[tuple[list[int], list[int]]] = []
        for thread, events in enumerate(self._graph.threads):
            numbers = [number for number, done in enumerate(events) if done.event.location == location]
            nodes = [(thread, number) for number in numbers]
            found.append((numbers, [self._place[self._graph.sources.get(node, node)] for node in nodes]))
        return found

    def is_coherent(self) -> bool:
        """Whether nothing that happens before an access is later in modification order, and updates are atomic."""
        graph = self._graph
        for location, writes in graph.order.items():
            if len(writes) == 1:
                continue
            for place, node in enumerate(writes[1:], 1):
                if graph[node].event.rmw is not None and writes[place - 1] != graph.sources[node[0], node[1] - 1]:
                    return False
            accesses = self._places(location)
            for thread, (numbers, places) in enumerate(accesses):
                for nth, (number, place) in enumerate(zip(numbers, places, strict=True)):
                    least = place - (graph.threads[thread][number].event.kind is EventKind.WRITE)
                    if nth and places[nth - 1] > least:
                        return False
                    clock = self.clocks[thread][number]
                    for other, (others, theirs) in enumerate(accesses):
                        if other == thread or not others or clock[other] <= others[0]:
                            continue
                        if theirs[bisect_left(others, clock[other]) - 1] > least:
                            return False
        return True

    def has_race(self) -> bool:
        """Whether two accesses of two threads conflict, one of them is not atomic, and neither happens before the
        other.
        """
        accesses: dict[str, list[tuple[int, int, bool, bool]]] = {}
        for (thread, number), done in self._graph.events():
            event = done.event
            if event.location is not None:
                row = (thread, number, event.kind is EventKind.WRITE, bool(_ATOMIC & event.tags))
                accesses.setdefault(event.location, []).append(row)
        for rows in accesses.values():
            if all(atomic for _, _, _, atomic in rows) or not any(writes for _, _, writes, _ in rows):
                continue
            for place, (thread, number, writes, atomic) in enumerate(rows):
                clock = self.clocks[thread][number]
                for other, their, written, also in rows[place + 1 :]:
                    if (
                        other != thread
                        and (writes or written)
                        and not (atomic and also)
                        and their >= clock[other]
                        and number >= self.clocks[other][their][thread]
                    ):
                        return True
        return False

    def is_sequential(self, newest: Sequence[Node]) -> bool:
        """Whether no cycle of ``psc`` goes through one of some events. No fence of the graph is ``SC``."""
        starts = [node for node in newest if _is_sc(self._graph, node)]
        if not starts:
            return True
        order = _ScOrder(self._graph, self.clocks)
        return not any(map(order.is_in_cycle, starts))


class _ScOrder:
    """The accesses of a graph that are ``SC``, and what ``scb`` leads to from each."""

    def __init__(self, graph: ExecutionGraph, clocks: Sequence[Sequence[Clock]]) -> None:
        self._graph, self._clocks = graph, clocks
        self._numbers = [
            [number for number, done in enumerate(events) if "SC" in done.event.tags] for events in graph.threads
        ]
        self._here: dict[tuple[int, str | None], list[int]] = {}
        for thread, numbers in enumerate(self._numbers):
            for number in numbers:
                self._here.setdefault((thread, graph.threads[thread][number].event.location), []).append(number)

    def is_in_cycle(self, start: Node) -> bool:
        seen: set[Node] = set()
        waiting = [start]
        while waiting:
            for node in self._following(waiting.pop()):
                if node == start:
                    return True
                if node not in seen:
                    seen.add(node)
                    waiting.append(node)
        return False

    def _following(self, node: Node) -> Iterator[Node]:
        graph, (thread, number) = self._graph, node
        location = graph[node].event.location
        own = self._numbers[thread]
        later = bisect_left(own, number + 1)
        if later < len(own):
            yield thread, own[later]
        writes = graph.order[location or ""]
        for write in writes[writes.index(graph.sources.get(node, node)) + 1 :]:
            if _is_sc(graph, write):
                yield write
                break
        behind = self._elsewhere(thread, number, 1)
        for other, (numbers, clocks) in enumerate(zip(self._numbers, self._clocks, strict=True)):
            if other == thread:
                continue
            for their in self._here.get((other, location), ()):
                if clocks[their][thread] > number:
                    yield other, their
                    break
            if behind is None:
                continue
            for their in numbers:
                last = self._elsewhere(other, their, -1)
                if last is not None and clocks[last][thread] > behind:
                    yield other, their
                    break

    def _elsewhere(self, thread: int, number: int, step: int) -> int | None:
        """The next event of a thread, or the one before, that is not of the same location."""
        events = self._graph.threads[thread]
        location = events[number].event.location
        number += step
        while 0 <= number < len(events):
            if events[number].event.location != location:
                return number
            number += step
        return None


def _is_sc(graph: ExecutionGraph, node: Node) -> bool:
    return "SC" in graph[node].event.tags


def _join(one: Clock | None, other: Clock) -> Clock:
    return other if one is None else tuple(map(max, one, other))


def allowed_by_clocks(graph: ExecutionGraph) -> bool | None:
    """Whether RC11 allows a graph to which an event has been added last, where it allows the rest; None where the model
    itself has to say.
    """
    clocks = Clocks(graph)
    if clocks.has_fence:
        return None
    return clocks.is_coherent() and clocks.is_sequential(_newest(graph))


def _newest(graph: ExecutionGraph) -> Sequence[Node]:
    """The event that was added last, and what it has revisited: a read that reads it."""
    last = max(((done.stamp, node) for node, done in graph.events()), default=None)
    if last is None:
        return ()
    return (last[1], *(read for read, source in graph.sources.items() if source == last[1]))


def races_by_clocks(graph: ExecutionGraph) -> bool:
    """Whether a graph that RC11 allows has a data race."""
    return Clocks(graph).has_race()
