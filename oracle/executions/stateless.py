"""Stateless model checking: the executions of a test that a model allows, each grown event by event.

Worked example: P0 writes 1 to x, and P1 reads x. P0's write is added first. P1's read has two choices, the initial
value and 1, and each gives one execution. Where P1 comes first, its read has no choice but the initial value. Then
P0's write is added. Besides the execution in which it stays unread there is one in which it *revisits* the read: P1
reads 1, and what was added after the read, and does not lead to the write, is taken away again.

The algorithm is TruSt (Kokologiannakis, Marmanis, Gladstein and Vafeiadis, *Truly Stateless, Optimal Dynamic Partial
Order Reduction*, POPL 2022, Algorithm 2): every execution is found once, and none is kept. A read is revisited only
where each event that is taken away, and the read, was added *maximally*: it reads, or is, the last write to its
location in coherence order of all that was there by then or leads to the revisiting write, and none of these reads
from it.

A thread that comes to an idle jump, and whose round has written nothing new, is blocked until a read of the round is
revisited (``oracle.executions.concrete``). Where the round has one read that reads what had been overwritten when it
was added, no execution with an end comes of the graph, for that read is never maximal. The graph is *cut* there. It is
yielded, for a part of it may be a hang.

Races of a round that is left out, or cut, with what comes later are not seen. Example: ``while (load(flag) == 0) r =
x``, and another thread writes x after it has been told, without being ordered, that the loop is over. So ``raced`` has
the jumps whose rounds access, or are accessed, without being atomic, what another thread accesses: all is to be done
again with these taken ``once``, and without a cut there.

Assumptions of the model: it forbids cycles of ``po | rf``, accesses of one thread that are not coherent, and updates
that are not atomic; it allows every beginning of what it allows, a part closed under ``po`` and ``rf``; and a thread
can always go on by the last write in coherence order: an event that reads it, or comes after it, is allowed if the
rest is. ``GROWN_MODELS`` are such models.

A weak compare-and-swap may fail spuriously again and again: at each place so many failures as ``unroll`` says are
followed, and ``bounded`` says whether there were more. All other loops are followed to their end.

Gaps: asynchronous operations, subgroups, operands that are not sequenced, threads that are synchronised from outside,
barriers but for one thread that waits for the arrival of one other. They raise ``TooManyError``, as does what takes
more than a limit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from corpus.litmus.instructions import Barrier, sides_of
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from oracle.executions.candidates import check_speaks
from oracle.executions.clocks import DATA_RACE, RC11, allowed_by_clocks, races_by_clocks
from oracle.executions.concrete import ConcreteThread, Happened, ThreadSituation, read
from oracle.executions.events import INITIAL, Event, EventKind
from oracle.executions.graphs import ExecutionGraph, GraphBase, Node, empty_graph, initial_values
from oracle.executions.spins import forgets_reads, forgets_rounds, idle_jumps, spinning_jumps
from oracle.executions.steps import RunState, TooManyError
from oracle.executions.values import Value

GROWN_MODELS = ("rc11", "sc")
"""The models of ours for which the assumptions hold."""


def grows(model: Model) -> bool:
    """Whether a model is one of ours for which the assumptions hold, and not a file of that name."""
    if model.name not in GROWN_MODELS:
        return False
    (ours,) = resolve_consistency_models([model.name])
    return isinstance(ours, AxiomaticModel) and ours.model.digest == model.digest


class _Access(NamedTuple):
    """An access of a thread to a location, as far as races ask for it."""

    thread: int
    location: str
    writes: bool
    atomic: bool

    @classmethod
    def of(cls, event: Event) -> _Access:
        """The access that an event is."""
        return cls(event.thread, event.location or "", event.kind is EventKind.WRITE, "ATOM" in event.tags)

    def may_race(self, other: _Access) -> bool:
        """Whether another access conflicts with this one, and one of them is not atomic."""
        apart = self.thread != other.thread and self.location == other.location
        return apart and (self.writes or other.writes) and not (self.atomic and other.atomic)


@dataclass(frozen=True, slots=True)
class GrownExecution:
    """An execution to which no event can be added, or one that is ``cut``; and the situation of each thread in it."""

    graph: ExecutionGraph
    situations: tuple[ThreadSituation, ...]
    cut: bool = False

    def round(self, thread: int) -> range:
        """The numbers of the events of the round at whose end a thread is blocked; none where it is not."""
        begin = self.situations[thread].round
        return range(0) if begin is None else range(begin, len(self.graph.threads[thread]))


class Growth:
    """The growth of a test's executions under a model. ``visited`` is the sum of events of all graphs that were looked
    at; ``initial`` are the initial values.

    ``once``: the jumps, with their threads, that are taken once though they might block. ``bounded``: spurious failures
    were left out.
    """

    def __init__(
        self,
        test: LitmusTest,
        model: Model,
        unroll: int,
        most: int,
        running: Collection[int] | None = None,
        once: frozenset[tuple[int, int]] = frozenset(),
    ) -> None:
        """``most``: the limit of events that are looked at, those of each graph. ``running``: the threads that run, all
        unless it is given.

        Raises ``InputError`` where the model says nothing of the test, and ``TooManyError`` where the test has what
        cannot be grown.
        """
        check_speaks(test, model)
        check_grows(test)
        self._test, self._model, self._unroll, self._most = test, model, unroll, most
        self.bounded = False
        self._threads = [
            ConcreteThread(test, number, idle, frozenset(jump for thread, jump in once if thread == number))
            for number, idle in enumerate(_idle(test, model))
        ]
        self._by_clocks = model.name == RC11 and grows(model)
        self._running = range(len(test.threads)) if running is None else sorted(running)
        self.initial = initial_values(test)
        self.visited = 0
        self.once = once
        self._accesses: set[_Access] = set()
        self._rounds: dict[tuple[int, int], set[_Access]] = {}

    @property
    def raced(self) -> frozenset[tuple[int, int]]:
        """The jumps at which a thread was blocked whose round may race with an access of another thread."""
        return frozenset(
            jump
            for jump, accesses in self._rounds.items()
            if any(one.may_race(other) for one in accesses for other in self._accesses)
        )

    def executions(self) -> Iterator[GrownExecution]:
        """Yield every execution. Raises ``TooManyError`` where more is looked at than the limit."""
        waiting: list[tuple[ExecutionGraph, bool]] = [(empty_graph(self._test), True)]
        while waiting:
            graph, allowed = waiting.pop()
            self.visited += 1 + graph.size
            if self.visited > self._most:
                raise TooManyError("the executions of the program are too many to grow them one by one")
            if not allowed and not self._allows(graph):
                continue
            pending = next((thread for thread in self._running if _pending(graph, thread)), None)
            if pending is not None:  # the write of an update, of which only the read is there
                last = graph.threads[pending][-1]
                waiting += self._written(graph, pending, last, last.run, last.pending)
                continue
            situations = tuple(
                thread.after(events) for thread, events in zip(self._threads, graph.threads, strict=True)
            )
            found = GrownExecution(graph, situations)
            if self._is_cut(found):
                yield replace(found, cut=True)
                continue
            following = next((thread for thread in self._running if can_step(graph, thread, situations[thread])), None)
            if following is None:
                yield found
            else:
                waiting += self._added(graph, following, situations[following])

    def _allows(self, graph: ExecutionGraph) -> bool:
        allowed = allowed_by_clocks(graph) if self._by_clocks else None
        return self._model.allows(GraphBase(self._test, graph)) if allowed is None else allowed

    def raised(self, graph: ExecutionGraph) -> Iterator[str]:
        """Yield the names of the model's flags that a graph raises which it allows."""
        if not self._by_clocks:
            yield from (result.check.name for result in self._model.raised(GraphBase(self._test, graph)))
        elif races_by_clocks(graph):
            yield DATA_RACE

    def without(self, found: GrownExecution, writes: Collection[Node]) -> GrownExecution:
        """The part of an execution without some writes and what they lead to by ``po | rf``."""
        graph = found.graph

        def leads(done: Happened) -> bool:
            return any(number < done.clock[thread] for thread, number in writes)

        lengths = [next((n for n, done in enumerate(events) if leads(done)), len(events)) for events in graph.threads]
        for thread, length in enumerate(lengths):
            if length and graph.threads[thread][length - 1].pending:  # the read of an update whose write is gone
                lengths[thread] -= 1
        part = graph.cut(lengths)
        situations = tuple(thread.after(events) for thread, events in zip(self._threads, part.threads, strict=True))
        return GrownExecution(part, situations)

    def _added(
        self, graph: ExecutionGraph, thread: int, situation: ThreadSituation
    ) -> Iterator[tuple[ExecutionGraph, bool]]:
        """Yield the graphs with the next event of a thread, each with whether it is known to be allowed."""
        event = situation.next
        match event.kind:
            case EventKind.READ:
                writes = graph.order[event.location or ""]
                for place in range(graph.known(thread, event.location or ""), len(writes)):
                    for happened in self._reading(graph, thread, situation, writes[place], graph.stamp):
                        yield graph.with_event(thread, happened, writes[place]), place == len(writes) - 1
            case EventKind.WRITE:
                run = situation.runs[0]
                yield from self._written(graph, thread, situation, run, run.events[situation.begun :])
            case _:
                for number, run in enumerate(situation.runs):
                    clock = joined(graph, thread, _waited_for(graph, thread, event))
                    pending = run.events[situation.begun + 1 :]
                    rounds, again = situation.rounds, situation.again
                    happened = Happened(event, None, graph.stamp, clock, run, pending, rounds, again, number)
                    yield graph.with_event(thread, happened), True

    def _reading(
        self, graph: ExecutionGraph, thread: int, situation: ThreadSituation, source: Node, stamp: int
    ) -> Iterator[Happened]:
        """Yield the ways in which the next event of a thread reads from a write."""
        value = self.initial[source] if source[0] == INITIAL else graph[source].value
        assert value is not None
        for run in situation.runs:
            after = read(run, situation.begun, value)
            if after is None:
                continue
            event, *pending = after.events[situation.begun :]
            if event.spurious and self._fails_too_often(graph, thread, event):
                self.bounded = True
                continue
            self._accesses.add(_Access.of(event))
            clock, rounds, again = joined(graph, thread, source), situation.rounds, situation.again
            yield Happened(event, value, stamp, clock, after, tuple(pending), rounds, again, int(event.spurious))

    def _fails_too_often(self, graph: ExecutionGraph, thread: int, event: Event) -> bool:
        """Whether a compare-and-swap has failed spuriously as often as is followed."""
        before = (done.event for done in graph.threads[thread])
        return sum(done.spurious and done.position == event.position for done in before) >= self._unroll

    def _written(
        self,
        graph: ExecutionGraph,
        thread: int,
        before: ThreadSituation | Happened,
        run: RunState,
        events: tuple[Event, ...],
    ) -> Iterator[tuple[ExecutionGraph, bool]]:
        """Yield the graphs with a write, where it stays unread, and where it revisits a read."""
        event, *pending = events
        location, value = event.location or "", event.value
        assert isinstance(value, Value)
        self._accesses.add(_Access.of(event))
        node, clock = (thread, len(graph.threads[thread])), joined(graph, thread, None)
        written = Happened(event, value, graph.stamp, clock, run, tuple(pending), before.rounds, before.again)
        last = len(graph.order[location])
        for place in _places(graph, node, event):
            yield graph.with_event(thread, written).placed(node, location, place), place == last
        for other, happened in graph.events():
            if happened.event.kind is not EventKind.READ or happened.event.location != location:
                continue
            if other[1] < written.clock[other[0]]:
                continue
            lengths = [
                max(clock, sum(1 for done in events if done.stamp <= happened.stamp))
                for clock, events in zip(_before(written.clock, thread), graph.threads, strict=True)
            ]
            if _is_maximal(graph, other, lengths, written.clock):
                yield from self._revisiting(graph.cut(lengths), node, written, other)

    def _revisiting(
        self, graph: ExecutionGraph, node: Node, written: Happened, revisited: Node
    ) -> Iterator[tuple[ExecutionGraph, bool]]:
        """Yield the graphs in which a read of a graph reads from a write that is added."""
        reader, number = revisited
        stamp = graph[revisited].stamp
        added = graph.with_event(node[0], written)
        earlier = added.threads[reader][:number]
        cut = replace(added, threads=(*added.threads[:reader], earlier, *added.threads[reader + 1 :]))
        situation = self._threads[reader].after(earlier)
        for happened in self._reading(cut, reader, situation, node, stamp):
            reading = replace(
                cut,
                threads=(*cut.threads[:reader], (*earlier, happened), *cut.threads[reader + 1 :]),
                sources={**cut.sources, revisited: node},
            )
            for place in _places(reading, node, written.event):
                yield reading.placed(node, written.event.location or "", place), False

    def _is_cut(self, found: GrownExecution) -> bool:
        """Whether a thread is blocked by a round for which no execution with an end comes of this."""
        graph, cut = found.graph, False
        for thread in self._running:
            jump = found.situations[thread].jump
            if jump is None:
                continue
            events = [(number, graph.threads[thread][number].event) for number in found.round(thread)]
            accesses = self._rounds.setdefault((thread, jump), set())
            accesses.update(_Access.of(event) for _, event in events if event.location is not None)
            if (thread, jump) not in self.once:
                reads = (number for number, event in events if event.kind is EventKind.READ)
                cut = cut or any(self._is_stale(found, (thread, number)) for number in reads)
        return cut

    @staticmethod
    def _is_stale(found: GrownExecution, node: Node) -> bool:
        """Whether a read fails spuriously, or what it reads had been overwritten when it was added, but for rounds."""
        graph = found.graph
        done = graph[node]
        return done.event.spurious or any(
            graph[write].stamp < done.stamp and write[1] not in found.round(write[0])
            for write in graph.overwriting(node)
        )


def check_grows(test: LitmusTest) -> None:
    """Raises ``TooManyError`` where a test has threads that are synchronised from outside, or barriers of other kinds
    than one thread that waits for the arrival of one other."""
    arrive: dict[object, set[int]] = {}
    wait: dict[object, set[int]] = {}
    for number, thread in enumerate(test.threads):
        for ins in thread.instructions:
            if sides_of(ins):
                raise TooManyError("executions of operands that are not sequenced are not grown event by event")
            if isinstance(ins, Barrier):
                named = isinstance(ins.name, int) and ins.quorum == 2 and not ins.wait
                (arrive if ins.arrive else wait).setdefault(ins.name if named else None, set()).add(number)
    whole = {name for name in {*arrive, *wait} if len(arrive.get(name, ())) == len(wait.get(name, ())) == 1}
    if test.synchronised or {*arrive, *wait} - whole or None in whole:
        raise TooManyError("executions with barriers, or threads that are synchronised, are not grown event by event")


def _idle(test: LitmusTest, model: Model) -> tuple[frozenset[int], ...]:
    """The jumps of each thread whose rounds the model lets be left out."""
    if forgets_rounds(model):
        return idle_jumps(test)
    spins = forgets_reads(model)
    return tuple(spinning_jumps(test, number) if spins else frozenset() for number in range(len(test.threads)))


def _pending(graph: ExecutionGraph, thread: int) -> bool:
    events = graph.threads[thread]
    return bool(events) and bool(events[-1].pending)


def can_step(graph: ExecutionGraph, thread: int, situation: ThreadSituation) -> bool:
    """Whether a thread has a next event, and nobody to wait for before."""
    if not situation.runs:
        return False
    event = situation.next
    waits = event.barrier is not None and "ARRIVE" not in event.tags
    return not waits or _waited_for(graph, thread, event) is not None


def _waited_for(graph: ExecutionGraph, thread: int, event: Event) -> Node | None:
    """The arrival that an event waits for, if it is there. Raises ``TooManyError`` where a barrier is used again."""
    if event.barrier is None:
        return None
    if any(_is_at(done.event, event.barrier.name) for done in graph.threads[thread]):
        raise TooManyError("executions with barriers that are used again are not grown event by event")
    return None if "ARRIVE" in event.tags else graph.arrival((thread, None), event.barrier.name)


def _is_at(event: Event, name: object) -> bool:
    return event.barrier is not None and event.barrier.name == name


def joined(graph: ExecutionGraph, thread: int, source: Node | None) -> tuple[int, ...]:
    """The clock of the next event of a thread, which another one leads to besides."""
    events = graph.threads[thread]
    clock = events[-1].clock if events else (0,) * len(graph.threads)
    if source is not None and source[0] != INITIAL:
        clock = tuple(map(max, clock, graph[source].clock))
    return (*clock[:thread], len(events) + 1, *clock[thread + 1 :])


def _before(clock: tuple[int, ...], thread: int) -> tuple[int, ...]:
    """The clock without the last event of a thread."""
    return (*clock[:thread], clock[thread] - 1, *clock[thread + 1 :])


def _places(graph: ExecutionGraph, node: Node, event: Event) -> Iterator[int]:
    """Yield the places in coherence order where a write may come."""
    location, (thread, number) = event.location or "", node
    writes = graph.order[location]
    if event.rmw is not None:
        place = writes.index(graph.sources[thread, number - 1]) + 1
        if not graph.updates(location, place):
            yield place
        return
    own = replace(
        graph, threads=(*graph.threads[:thread], graph.threads[thread][:number], *graph.threads[thread + 1 :])
    )
    for place in range(own.known(thread, location) + 1, len(writes) + 1):
        if not graph.updates(location, place):
            yield place


def _is_maximal(graph: ExecutionGraph, revisited: Node, lengths: list[int], clock: tuple[int, ...]) -> bool:
    """Whether a read that a write with this clock revisits, and all that is taken away, were added maximally.

    ``lengths``: how many events of each thread are kept.
    """
    readers: dict[Node, list[Node]] = {}
    for read_, source in graph.sources.items():
        readers.setdefault(source, []).append(read_)

    def previous(node: Node, stamp: int) -> bool:
        return node[0] == INITIAL or node[1] < clock[node[0]] or graph[node].stamp <= stamp

    taken = [
        (thread, number)
        for thread, length in enumerate(lengths)
        for number in range(length, len(graph.threads[thread]))
    ]
    for node in (revisited, *taken):
        done = graph[node]
        if done.chosen:
            return False
        if done.event.kind is EventKind.READ:
            after = graph.overwriting(node)
        elif done.event.kind is EventKind.WRITE:
            if any(previous(reader, done.stamp) for reader in readers.get(node, ())):
                return False
            writes = graph.order[done.event.location or ""]
            after = writes[writes.index(node) + 1 :]
        else:
            continue
        if any(previous(write, done.stamp) for write in after):
            return False
    return True
