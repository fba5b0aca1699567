"""Questions about the executions that a model allows, and about hangs, where executions are grown event by event.

The questions are those of ``oracle.executions.listing``, of executions that have come to their end and of others.
Loops are followed to their end, and not for a number of rounds (``oracle.executions.stateless``).

A *hang* (``oracle.executions.stuck``) is found in an execution with a thread that is blocked: what comes after the
writes that its round does not read, in ``po | rf``, is taken away, so that every read of the round reads the last
write. Example: P1 has taken a lock and given it back, P2 has read that it is taken. Without the giving back, P1 is
*left*, and P2 spins for ever.

- Under a promise that threads may be left anywhere (``unfair``), or that all but the lowest that runs may be (``hsa``),
  each hang is a part of an execution with an end or with threads that are blocked for ever, and what is taken away here
  is the least that makes it one.
- Under one by which a thread that has taken a step goes on (``fair``, ``obe``, ``hsa+obe``, ``lobe``), the threads that
  are left have not begun. So the executions of the other threads alone are grown, for each set of threads that the
  promise lets wait for ever.

No hang is known under other promises, for which ``TooManyError`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import combinations, pairwise
from operator import or_

from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.propositions import Atom, FinalRegister, Or, Proposition, Term
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import physical_location
from oracle.executions.clocks import RC11
from oracle.executions.events import INITIAL, Event, EventKind
from oracle.executions.flow import asked_terms, flow_of
from oracle.executions.graphs import ExecutionGraph, Node, execution_of_graph
from oracle.executions.stateless import GrownExecution, Growth, can_step
from oracle.executions.steps import TooManyError
from oracle.executions.stuck import Hang, ThreadEnding
from oracle.executions.values import Value, holds
from oracle.executions.witness import CandidateExecution
from oracle.promises import Promise, promised_sets

LEAST_LIMIT = 400_000
"""The limit of events that are looked at, those of each part of an execution, which takes some seconds."""
_SMALL, _BY_CLOCKS = 60, 4
"""The events of a test that takes no more than that, and how many times as many of a larger one are looked at in the
same time where clocks say what is allowed.
"""


def limit_of(test: LitmusTest, model: Model, unroll: int) -> int:
    """The limit of events for a test, in step with the gates that a solver would take (``constraints.executions``)."""
    events = 0
    for number in range(len(test.threads)):
        flow = flow_of(test, number)
        inside = {place for jump, target in flow.backward.items() for place in range(target, jump)}
        eventful = (place for place, ins in enumerate(flow.code) if isinstance(ins, Load | Store | Rmw | Fence))
        events += sum(1 + unroll * (place in inside) for place in eventful)
    by_clocks = model.name == RC11 and events > _SMALL
    return LEAST_LIMIT * (_BY_CLOCKS if by_clocks else 1) * max(1, events // _SMALL) ** 2


@dataclass(frozen=True, slots=True)
class GrownQuestion:
    """Executions by their numbers, as the bits of a mask."""

    mask: int

    def __invert__(self) -> GrownQuestion:
        return GrownQuestion(~self.mask)


class GrownExecutions:
    """The executions of a test that a model allows. ``flags`` are those that raise each flag of the model's; ``ended``
    those in which each thread that is ``needed`` has ended; all threads are, where that is None. ``all_ended``: those
    in which all threads have.

    ``cut``: there may be others beyond, in which a compare-and-swap fails spuriously more often.
    """

    def __init__(
        self,
        test: LitmusTest,
        model: Model,
        unroll: int = UNROLL,
        needed: Collection[int] | None = None,
        most: int | None = None,
    ) -> None:
        """Grow them. Raises ``TooManyError`` where they are too many, or cannot be grown."""
        self._test, self._model, self._unroll = test, model, unroll
        self._most = limit_of(test, model, unroll) if most is None else most
        self._needed = tuple(range(len(test.threads)) if needed is None else needed)
        self._grown, self._growth = self._all(None)
        self.cut = self._growth.bounded
        raised: dict[str, int] = dict.fromkeys((check.name for check in model.flags), 0)
        ended = all_ended = 0
        for number, found in enumerate(self._grown):
            for name in self._growth.raised(found.graph):
                raised[name] |= 1 << number
            if not found.cut and all(found.situations[thread].ended for thread in self._needed):
                ended |= 1 << number
            if not found.cut and all(situation.ended for situation in found.situations):
                all_ended |= 1 << number
        self._most = min(self._most, max(LEAST_LIMIT, self._growth.visited))  # for hangs, besides
        self.flags: Mapping[str, GrownQuestion] = {name: GrownQuestion(mask) for name, mask in raised.items()}
        self.ended, self.all_ended = GrownQuestion(ended), GrownQuestion(all_ended)
        self._others: dict[frozenset[int], list[GrownExecution]] = {}

    def _all(self, running: Collection[int] | None) -> tuple[list[GrownExecution], Growth]:
        """All executions, or those of some threads alone, and how they were grown."""
        once = frozenset[tuple[int, int]]()
        while True:
            growth = Growth(self._test, self._model, self._unroll, self._most, running, once)
            found = list(growth.executions())
            self._most -= growth.visited
            if growth.raced <= once:
                return found, growth
            once |= growth.raced

    @cached_property
    def _registers(self) -> Mapping[FinalRegister, Mapping[Value, int]]:
        """The executions in which a thread ends with a value in a register that is asked for and has been written."""
        found: dict[FinalRegister, dict[Value, int]] = {}
        asked = [term for term in asked_terms(self._test) if isinstance(term, FinalRegister)]
        names = [
            {term.register for term in asked if term.thread == thread} for thread in range(len(self._test.threads))
        ]
        for number, execution in enumerate(self._grown):
            for thread, situation in enumerate(execution.situations):
                for register in names[thread] & situation.registers.keys():
                    value = situation.registers[register]
                    masks = found.setdefault(FinalRegister(thread, register), {})
                    masks[value] = masks.get(value, 0) | 1 << number
        return found

    def satisfied(self, proposition: Proposition) -> GrownQuestion:
        """The executions whose final state satisfies a proposition. A thread that has no end has no final registers."""
        match proposition:
            case Or(parts):
                return GrownQuestion(reduce(or_, (self.satisfied(part).mask for part in parts), 0))
            case Atom("eq", FinalRegister() as term, int(wanted)) if wanted != 0:
                return GrownQuestion(self._registers.get(term, {}).get(wanted, 0))
        return self._those(lambda found: holds(proposition, partial(self._final, found)))

    def _final(self, found: GrownExecution, term: Term) -> Value:
        """The final value of a term in an execution."""
        match term:
            case FinalRegister(thread, register):
                return found.situations[thread].registers.get(register, 0)
            case int():
                return term
        return self._value(found.graph, found.graph.order[physical_location(self._test, term)][-1])

    def leaves(self, finals: Mapping[Term, Value]) -> GrownQuestion:
        """The executions in which some terms have these values in the end."""
        return self._those(lambda found: all(self._final(found, term) == value for term, value in finals.items()))

    def accesses(self, locations: Collection[str]) -> GrownQuestion:
        """The executions in which a thread accesses one of these locations."""
        return self.happens(lambda event: event.location in locations)

    def happens(self, is_meant: Callable[[Event], bool]) -> GrownQuestion:
        """The executions in which a thread does what one of these events is."""
        return self._those(lambda found: any(is_meant(done.event) for _, done in found.graph.events()))

    def reads_initial(self, locations: Collection[str]) -> GrownQuestion:
        """The executions in which a read of one of these locations reads what nobody has written."""

        def reading(found: GrownExecution) -> bool:
            sources = found.graph.sources.items()
            return any(write[0] == INITIAL and found.graph[read].event.location in locations for read, write in sources)

        return self._those(reading)

    def reads_from(self, is_meant: Callable[[Event], bool]) -> GrownQuestion:
        """The executions in which what one of these writes has written is read."""

        def reading(found: GrownExecution) -> bool:
            graph = found.graph
            return any(write[0] != INITIAL and is_meant(graph[write].event) for write in graph.sources.values())

        return self._those(reading)

    def after(self, is_meant: Callable[[Event], bool], is_new: Callable[[Event], bool]) -> GrownQuestion:
        """The executions in which what one of these writes has written is read, or is written over, and no write that
        is new stands between.
        """

        def written_over(found: GrownExecution) -> bool:
            graph = found.graph
            pairs = (pair for writes in graph.order.values() for pair in pairwise(writes[1:]))
            return any(is_meant(graph[one].event) and not is_new(graph[other].event) for one, other in pairs)

        return GrownQuestion(self.reads_from(is_meant).mask | self._those(written_over).mask)

    def find(self, questions: Sequence[GrownQuestion]) -> CandidateExecution | None:
        """One of them that all questions have; None where there is none."""
        found = (1 << len(self._grown)) - 1
        for question in questions:
            found &= question.mask
        return None if not found else self._execution(self._grown[(found & -found).bit_length() - 1])

    def _those(self, is_meant: Callable[[GrownExecution], bool]) -> GrownQuestion:
        return GrownQuestion(sum(1 << number for number, found in enumerate(self._grown) if is_meant(found)))

    def _value(self, graph: ExecutionGraph, write: Node) -> Value:
        value = self._growth.initial[write] if write[0] == INITIAL else graph[write].value
        assert value is not None
        return value

    def _execution(self, found: GrownExecution) -> CandidateExecution:
        return execution_of_graph(self._test, found.graph, found.situations, self._growth.initial)

    def never_ends(self) -> bool:
        """Whether a thread may be blocked for ever where all are run fairly, needed or not."""
        every = range(len(self._test.threads))
        return any(
            ThreadEnding.SPINS in (self._ending(found, thread) for thread in every)
            and ThreadEnding.LEFT not in (self._ending(found, thread) for thread in every)
            for found in self._grown
            if not found.cut
        )

    def hang(self, name: str, promise: Promise, strong: bool = False) -> Hang | None:
        """A hang under a progress model of ours: by its name, with its promise to the threads, and whether that is a
        strong one; None where there is none.

        Raises ``TooManyError`` where that is not known.
        """
        for found in self._grown:
            hang = self._hang_in(found, promise, strong)
            if hang is not None:
                return hang
        if name not in (*_ANYWHERE, *ONCE_BEGUN):
            raise TooManyError(f"hangs under {name} are not known where executions are grown event by event")
        every = range(len(self._test.threads))
        stuck = {thread for found in self._grown for thread in every if found.situations[thread].round is not None}
        for left in _left(every, promise) if name in ONCE_BEGUN else ():
            if stuck <= left:
                continue
            if left not in self._others:
                self._others[left] = self._all([thread for thread in every if thread not in left])[0]
            for found in self._others[left]:
                hang = self._hang_in(found, promise, strong)
                if hang is not None:
                    return hang
        return None

    def _hang_in(self, found: GrownExecution, promise: Promise, strong: bool) -> Hang | None:
        """A hang that is a part of an execution."""
        blocked = [thread for thread in range(len(found.situations)) if found.situations[thread].round is not None]
        for thread in blocked:
            part = self._growth.without(found, self._unread(found, thread))
            hang = self._kept(part, promise, strong, thread)
            if hang is not None:
                return hang
        return None if blocked or found.cut else self._kept(found, promise, strong)

    def _unread(self, found: GrownExecution, thread: int) -> list[Node]:
        """The writes, but for those of rounds, that overwrite what the round of a blocked thread reads."""
        graph = found.graph
        return [
            write
            for number in found.round(thread)
            if graph.threads[thread][number].event.kind is EventKind.READ
            for write in graph.overwriting((thread, number))
            if write[1] not in found.round(write[0])
        ]

    def _kept(self, found: GrownExecution, promise: Promise, strong: bool, stuck: int | None = None) -> Hang | None:
        """An execution as a hang, if it keeps a promise, and ``stuck``, if it is a thread, goes round for ever."""
        graph = found.graph
        endings = [self._ending(found, thread) for thread in range(len(graph.threads))]
        if stuck is None:
            if ThreadEnding.WAITS not in endings or ThreadEnding.LEFT in endings:
                return None
        elif endings[stuck] is not ThreadEnding.SPINS:
            return None
        if all(endings[thread] is ThreadEnding.ENDED for thread in self._needed):
            return None
        stepped = _mask(
            bool(events) or ending is not ThreadEnding.LEFT
            for events, ending in zip(graph.threads, endings, strict=True)
        )
        if not keeps_promise(promise, endings, stepped):
            return None
        rounds = tuple(
            (frozenset(graph.threads[thread][number].event.key for number in found.round(thread)),)
            if ending is ThreadEnding.SPINS
            else ()
            for thread, ending in enumerate(endings)
        )
        return checked(Hang(self._execution(found), tuple(endings), rounds), strong)

    def _ending(self, found: GrownExecution, thread: int) -> ThreadEnding:
        situation = found.situations[thread]
        if situation.ended:
            return ThreadEnding.ENDED
        if situation.round is not None:
            fails = any(found.graph.threads[thread][number].event.spurious for number in found.round(thread))
            return ThreadEnding.LEFT if fails or self._unread(found, thread) else ThreadEnding.SPINS
        waits = situation.next.barrier is not None and not can_step(found.graph, thread, situation)
        return ThreadEnding.WAITS if waits else ThreadEnding.LEFT


def keeps_promise(promise: Promise, endings: Sequence[ThreadEnding], stepped: int) -> bool:
    """Whether a promise lets threads end so for ever, of which those of a mask have taken a step."""
    running = _mask(ending in (ThreadEnding.LEFT, ThreadEnding.SPINS) for ending in endings)
    gone = _mask(ending is ThreadEnding.LEFT for ending in endings)
    return all(threads & ~gone for threads in promised_sets(promise, running, stepped))


def checked(hang: Hang, strong: bool) -> Hang:
    """A hang under weak fairness, or a strong one. Raises ``TooManyError`` where that is not known."""
    if strong and not hang.steady:
        raise TooManyError("whether strong fairness lets threads go round that write is not known here")
    return hang


_ANYWHERE = ("unfair", "hsa")
"""The progress models by which threads may be left wherever they are."""
ONCE_BEGUN = ("obe", "hsa+obe", "lobe", "fair")
"""The progress models by which a thread goes on once it has begun."""


def _left(every: range, promise: Promise) -> Iterator[frozenset[int]]:
    """Yield the sets of threads, small ones first, that may wait for ever without having begun while others run."""
    running = (1 << len(every)) - 1
    for size in range(1, len(every)):
        for left in combinations(every, size):
            mask = sum(1 << thread for thread in left)
            if all(threads & ~mask for threads in promised_sets(promise, running, running & ~mask)):
                yield frozenset(left)


def _mask(truths: Iterator[bool]) -> int:
    return sum(1 << number for number, truth in enumerate(truths) if truth)
