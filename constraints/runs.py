"""The ways that the threads of a litmus test take through their unrolled programs, as clauses.

Variables
    step(t, s)       thread t takes its step s (oracle.executions.unrolled), where there is a choice
    stop(t, n)       thread t stops at its node n, where runs may be unfinished

Constraints
    the start of a thread is reached, and every node that a step leads to
    from a node that is reached, one step is taken; a node that no step leads from is not reached, but for the end
    or the thread stops there

An event happens where a step is taken that it is on. A merge has the value, and comes from the reads, that it has on
the step that was taken. The size is that of the unrolled threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, groupby

from constraints.circuit import Circuit, Literal
from oracle.executions.events import INITIAL, Event
from oracle.executions.steps import Key
from oracle.executions.unrolled import Unrolled


class Runs:
    """The clauses of the ways. ``taken[t][s]``: thread ``t`` takes its step ``s``; ``happens``: each event by its key.

    ``before``: the pairs of events that are on one way, the first one earlier. ``reached[t][n]``: thread ``t`` comes to
    its node ``n``; ``stops[t][n]``: it stops there, which only threads may whose runs may be ``unfinished``.
    """

    def __init__(self, circuit: Circuit, threads: Sequence[Unrolled], unfinished: Collection[int] = ()) -> None:
        self.threads = threads
        self._unfinished = unfinished
        self.reached: list[dict[int, Literal]] = []
        self.stops: list[dict[int, Literal]] = []
        self.events: dict[Key, Event] = {}
        self.happens: dict[Key, Literal] = {}
        self.taken = [self._thread(circuit, number, thread) for number, thread in enumerate(threads)]
        self.before = frozenset(pair for thread in threads for pair in _before(thread))
        self._circuit = circuit
        self._reads: dict[Key, Mapping[Key, Literal]] = {}
        for thread, taken in zip(threads, self.taken, strict=True):
            for merge in thread.merges:
                reads = self._reads[merge.key] = {}
                for step, _, sources in merge.options:
                    for key, truth in self.reads(sources).items():
                        both = truth & taken[step]
                        reads[key] = reads[key] | both if key in reads else both

    def _thread(self, circuit: Circuit, number: int, thread: Unrolled) -> list[Literal]:
        reached: dict[int, list[Literal]] = {0: [circuit.true]}
        known: dict[int, Literal] = {}
        stops: dict[int, Literal] = {}
        taken: list[Literal] = []
        unfinished = number in self._unfinished
        first = list(range(len(thread.nodes))) if unfinished else _first_of_equal(thread)
        for source, group in groupby(enumerate(thread.steps), key=lambda numbered: numbered[1].source):
            steps = list(group)
            here = known[source] = circuit.any_of(reached[source]) if first[source] == source else known[first[source]]
            ways = [here]
            if len(steps) > 1 or unfinished:
                ways = [circuit.var("step", number, index) for index, _ in steps]
                ends = []
                if unfinished:
                    ends = [circuit.var("stop", number, source)]
                    stops[source] = ends[0]
                circuit.exactly_one([*ways, *ends], here)
                for way in (*ways, *ends):
                    circuit.require(~way, here)
            on: dict[Key, list[Literal]] = {}
            for (_, step), way in zip(steps, ways, strict=True):
                reached.setdefault(step.target, []).append(way)
                for event in step.events:
                    self.events[event.key] = event
                    on.setdefault(event.key, []).append(way)
            for key, found in on.items():
                everywhere = len(found) == len(steps) and not unfinished
                self.happens[key] = here if everywhere else circuit.any_of(found)
            taken += ways
        for node, ways in reached.items():
            if node not in known:
                known[node] = circuit.any_of(ways) if first[node] == node else known[first[node]]
                if node != thread.end and unfinished:
                    stops[node] = known[node]
                elif node != thread.end:
                    circuit.require(~known[node])
        self.reached.append(known)
        self.stops.append(stops)
        return taken

    def reads(self, sources: frozenset[Key]) -> Mapping[Key, Literal]:
        """The reads from which a value comes, each with the literal that it does; merges are resolved to their
        reads."""
        found: dict[Key, Literal] = {}
        for key in sorted(sources):
            for read, truth in self._reads.get(key, {key: self._circuit.true}).items():
                found[read] = found[read] | truth if read in found else truth
        return found

    def surely(self) -> Mapping[Key, frozenset[Key]]:
        """The events that happen wherever a given one does: they are on every way of its thread that it is on."""
        found: dict[Key, frozenset[Key]] = {}
        for own, thread in enumerate(self.threads):
            unfinished = own in self._unfinished
            keys = list({event.key: None for step in thread.steps for event in step.events})
            number = {key: index for index, key in enumerate(keys)}
            on = [sum(1 << number[event.key] for event in step.events) for step in thread.steps]
            everything = (1 << len(keys)) - 1
            before, after = [everything] * len(thread.nodes), [everything] * len(thread.nodes)
            before[0] = 0
            for step, here in zip(thread.steps, on, strict=True):
                before[step.target] &= before[step.source] | here
            if thread.end is not None and not unfinished:
                after[thread.end] = 0
                for step, here in reversed(list(zip(thread.steps, on, strict=True))):
                    after[step.source] &= here | after[step.target]
            surely = [everything] * len(keys)
            for step, here in zip(thread.steps, on, strict=True):
                ahead = 0 if unfinished else after[step.target]
                for event in step.events:
                    surely[number[event.key]] &= before[step.source] | here | ahead
            for key, numbers in zip(keys, surely, strict=True):
                found[key] = frozenset(keys[index] for index in range(len(keys)) if numbers >> index & 1)
        return found

    def together(self, one: Event, other: Event) -> bool:
        """Whether two events are of one thread and on one way through it; never true of initial writes."""
        if one.thread == INITIAL:
            return False
        return (one.key, other.key) in self.before or (other.key, one.key) in self.before or one.key == other.key


def _first_of_equal(thread: Unrolled) -> list[int]:
    """For each node the first one that every whole run comes to if it comes to the node, and the other way round.

    Example: where the ways of a branch meet again, every run that comes to the branch goes on.
    """
    nodes = range(len(thread.nodes))
    if thread.end is None:
        return list(nodes)
    everything = (1 << len(nodes)) - 1
    before, after = [everything] * len(nodes), [0] * len(nodes)  # nodes that are come to before, and after
    before[0] = 0
    for step in thread.steps:
        before[step.target] &= before[step.source] | 1 << step.source
    after[thread.end] = 1 << thread.end
    for source, steps in groupby(reversed(thread.steps), key=lambda step: step.source):
        ahead = [after[step.target] for step in steps if after[step.target]]  # 0: no way leads on to the end
        after[source] = reduce(int.__and__, ahead) | 1 << source if ahead else 0
    return [
        next((other for other in range(node) if before[node] >> other & 1 and after[other] >> node & 1), node)
        for node in nodes
    ]


def _before(thread: Unrolled) -> Iterator[tuple[Key, Key]]:
    ahead: dict[int, int] = {}  # the nodes that can be reached from a node, as the bits of a number
    for step in reversed(thread.steps):
        ahead[step.source] = ahead.get(step.source, 1 << step.source) | ahead.get(step.target, 1 << step.target)
    eventful = [step for step in thread.steps if step.events]
    for number, step in enumerate(eventful):
        yield from ((one.key, other.key) for one, other in combinations(step.events, 2))
        reached = ahead.get(step.target, 0)
        for later in eventful[number + 1 :]:
            if reached >> later.source & 1:
                yield from ((one.key, other.key) for one in step.events for other in later.events)
