"""The events of a litmus test, and the base of sets and relations over which models are evaluated.

An event is one read, write, fence or barrier of one thread, or the initial write of a location. Facts that are known
before anything runs (its kind, order, scope, location, place in the scope tree) are in the event. An execution's
choices (reads-from, the coherence order, the order of ``fence.sc``, who meets at barriers) come with
``ExecutionChoices``. ``ProgramBase`` turns both into the sets and relations, by name, from which the prelude
(``oracle/cat/prelude.cat``) defines the others; ``docs/consistency.md`` lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from itertools import combinations, product
from typing import Generic

from corpus.laws import opencl, ptx, vulkan
from corpus.laws.c11 import CONSUME
from corpus.litmus import processors
from corpus.litmus.instructions import AsyncGroup, unsequenced
from corpus.litmus.locations import MEMORY_REGIONS, Region
from corpus.litmus.orders import (
    ANNOTATED,
    EXCHANGED,
    EXIT,
    MBARRIER,
    TENSOR_LOADS,
    TENSOR_STORES,
    Mode,
    Order,
    Place,
    Scope,
)
from oracle.cat.algebra import Algebra, Relation, Set, T
from oracle.cat.base import BaseNames
from oracle.cat.interpreter import PreludeValues
from oracle.executions.values import Value

INITIAL = -1
"""The number that stands for a thread of initial writes."""


class EventKind(StrEnum):
    """The kinds of events: read, write, fence and barrier."""

    READ = "R"
    WRITE = "W"
    FENCE = "F"
    BARRIER = "B"


@dataclass(frozen=True, slots=True)
class Read:
    """An expression: the value that an event reads. ``event`` is the event's key."""

    event: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """An expression: ``operation`` of ``corpus.litmus.instructions`` on two values."""

    operation: str
    left: Expression
    right: Expression


Expression = Value | Read | Apply


def reads_in(expression: Expression) -> frozenset[tuple[int, ...]]:
    """The reads whose values an expression uses."""
    match expression:
        case Read(key):
            return frozenset({key})
        case Apply(left=left, right=right):
            return reads_in(left) | reads_in(right)
        case _:
            return frozenset()


@dataclass(frozen=True, slots=True)
class Arrival:
    """The arrival of a thread at a barrier: the barrier's name, the group of threads that meets there, and its quorum.

    ``stays``: the thread waits for ever (``oracle.executions.barriers``).
    """

    name: Expression
    group: Scope = Scope.CTA
    quorum: Expression | None = None
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a litmus test: a read, write, fence or barrier of a thread, or an initial write.

    ``key`` is unique in a test: thread, count of events before it in the thread, and the outcome of each fork before it
    (a branch, a compare-and-swap, an address that is not known). Two events of a thread can happen together when the
    outcomes of one are the first of the other's. ``value`` is what is written or read. ``addr``, ``data`` and ``ctrl``
    are keys of the reads that the event depends on, ``compared`` of those that a compare-and-swap compares with;
    ``rmw`` is the key of the read whose write this event is. ``location`` is where memory is accessed, ``virtual`` the
    virtual address, another one for an alias. ``scope`` is that of its order; ``barrier`` has the further properties of
    a barrier. ``operation``: the key of the first event of the asynchronous operation that it is of; ``group``: the
    kind of groups that this is in, or what is done to a group. ``sides``: the operands of C's expressions that it is
    evaluated in; ``round``: how often each backward jump had been taken then. ``spurious``: the read of a compare-and-
    swap that fails spuriously.
    """

    key: tuple[int, ...]
    thread: int
    kind: EventKind
    tags: frozenset[str]
    position: int = -1
    location: str | None = None
    virtual: str | None = None
    value: Expression = 0
    scope: Scope | None = None
    addr: frozenset[tuple[int, ...]] = frozenset()
    data: frozenset[tuple[int, ...]] = frozenset()
    ctrl: frozenset[tuple[int, ...]] = frozenset()
    rmw: tuple[int, ...] | None = None
    barrier: Arrival | None = None
    operation: tuple[int, ...] | None = None
    group: str | AsyncGroup | None = None
    sides: tuple[int, ...] = ()
    round: tuple[tuple[int, int], ...] = ()
    compared: frozenset[tuple[int, ...]] = frozenset()
    spurious: bool = False


_ORDER_TAGS = {
    Order.WEAK: "WEAK",
    Order.RELAXED: "RLX",
    Order.ACQUIRE: "ACQ",
    Order.RELEASE: "REL",
    Order.ACQ_REL: "ACQ_REL",
    Order.SC: "SC",
}
_HALVES = {
    EventKind.READ: {Order.ACQ_REL: Order.ACQUIRE, Order.RELEASE: Order.RELAXED},
    EventKind.WRITE: {Order.ACQ_REL: Order.RELEASE, Order.ACQUIRE: Order.RELAXED},
}

PROXIES = ("TEXTURE", "SURFACE", "CONSTANT", "ASYNC", "TENSORMAP", "ALIAS")
"""The proxies of PTX, and the aliases that a fence may be for: the sets of accesses through one, and of its fences."""

ORDERS = frozenset({*_ORDER_TAGS.values(), "ATOM"})
"""The sets of accesses and fences by their memory orders."""
ASYNCHRONOUS, GROUP = "ASYNCHRONOUS", "GROUP"
"""The sets of the events of asynchronous operations, and of those that end a group of them or wait for it."""
WAIT = "WAIT"
"""The set of barriers that are no arrivals, but wait for their thread's last one to be of a complete meeting."""
OBJECT = "MBARRIER"
"""The set of what is done to an mbarrier."""
WAITED, COMPLETES = "WAITED", "COMPLETES"
"""The sets of the reads of mbarriers by which waits succeed, and of the updates of mbarriers that complete a phase."""
_FIXED_SETS = (
    *("R", "W", "F", "B", "IW", "RMW", "NORET", "VOL", "ATOM", "CBAR", "ARRIVE", "NAL"),
    *(region.name for region in Region),
    *(ASYNCHRONOUS, GROUP, WAIT, WAITED, COMPLETES),
)
_CACHES = ("CA", "CG", "CS", "CV", "LU", "WB", "WT")
DIALECT_TAGS = (
    *("AV", "VIS", "AVDEVICE", "VISDEVICE", "NONPRIV", "SEMAV", "SEMVIS"),
    *(f"{kind}{number}" for kind in ("SC", "SEMSC") for number in range(4)),
    *PROXIES,
    "CLUSTER",
    *(OBJECT, "INIT", "ONE-WAY", "RELAXED", EXCHANGED.upper()),
    *("REGISTER-FENCE", "TCGEN05", "MMA", "CP", "BEFORE-SYNC", "AFTER-SYNC"),
    "CONSUME",
    *("LOCAL-FENCE", "GLOBAL-FENCE", "IMAGE-FENCE"),
    *(word.upper() for word in (processors.EXCLUSIVE, processors.RELEASING_LOAD, processors.ACQUIRING_STORE)),
    *(word.upper() for word in processors.UNORDERED),
)
"""The sets of words that only some dialects have: an event is in one where its instruction has that word."""
SETS = frozenset({*_FIXED_SETS, *_CACHES, *DIALECT_TAGS, *_ORDER_TAGS.values(), *(scope.name for scope in Scope)})
"""The sets of a base: the tags that an event may have."""


def is_set(name: str) -> bool:
    """Whether a base has a set of that name: one of ``SETS``, or a set that a user's bell file defines."""
    return name in SETS or name[0] == ANNOTATED


def signal_tags(kind: EventKind, mode: Mode) -> frozenset[str]:
    """The sets of what is done to an mbarrier that expects one signal alone, in programs that are made: the signal
    completes the phase, and a wait succeeds."""
    if MBARRIER not in mode.tags:
        return frozenset()
    return frozenset({WAITED if kind is EventKind.READ else COMPLETES})


@cache
def access_tags(
    kind: EventKind, mode: Mode, region: Region, rmw: bool = False, plain: bool = False, reduces: bool = False
) -> frozenset[str]:
    """The sets that a read or write of a mode is in; of an rmw, the half of its order that belongs to the kind.

    A volatile access is relaxed (Lustig et al. 2019, 3.6). ``plain``: the location is not atomic, ``NAL``. ``reduces``:
    of an rmw that gives no result, ``NORET``.
    """
    order = Order.RELAXED if mode.volatile and mode.order is Order.WEAK else mode.order
    order = _HALVES[kind].get(order, order) if rmw else order
    tags = {kind, region.name, _ORDER_TAGS[order], *_scope_tags(access_scope(mode))}
    holds = {"VOL": mode.volatile, "ATOM": order is not Order.WEAK, "RMW": rmw, "NORET": reduces, "NAL": plain}
    holds[(mode.cache or "").upper()] = mode.cache is not None
    words = [
        tag
        for tag in vulkan.implied(mode.tags, order, kind is EventKind.WRITE)
        if kind is EventKind.READ or tag != CONSUME
    ]
    return frozenset(tags | {tag for tag, true in holds.items() if true} | {_tag_set(tag) for tag in words})


def access_scope(mode: Mode) -> Scope | None:
    """The scope of an access; a volatile access is at system scope."""
    return Scope.SYS if mode.volatile and mode.scope is None else mode.scope


@cache
def fence_tags(mode: Mode) -> frozenset[str]:
    """The names of the sets that a fence of a mode is in, or a wait for groups of asynchronous operations."""
    if GROUP.lower() in mode.tags:
        return frozenset({"F", GROUP})
    return frozenset({"F", *_fence_orders(mode), *_scope_tags(mode.scope), *_fenced(mode)}) | _mode_tags(mode)


@cache
def barrier_tags(mode: Mode, arrive: bool, wait: bool = False) -> frozenset[str]:
    """The names of the sets that a barrier is in; a barrier that orders memory is a fence as well."""
    fence = set() if mode.order is Order.WEAK else {"F", *_fence_orders(mode)}
    halves = {half for half, holds in (("ARRIVE", arrive), (WAIT, wait)) if holds}
    return frozenset({"B", "CBAR", *_scope_tags(mode.scope), *_fenced(mode), *fence, *halves}) | _mode_tags(mode)


def tags_of_mode(kind: EventKind, mode: Mode, rmw: bool = False) -> frozenset[str]:
    """The names of the sets that an event of a program that is made is in, except those of the memory that it accesses.

    ``rmw``: it is a half of an update of that mode.
    """
    if kind is EventKind.FENCE:
        return fence_tags(mode)
    if kind is EventKind.BARRIER:
        return barrier_tags(mode, False)
    return access_tags(kind, mode, Region.GLOBAL, rmw) - {Region.GLOBAL.name}


def scope_of_mode(kind: EventKind, mode: Mode) -> Scope | None:
    """The scope that an event of a program that is made names, None where it names none."""
    return mode.scope if kind in (EventKind.FENCE, EventKind.BARRIER) else access_scope(mode)


MEMORIES = frozenset(region.name for region in MEMORY_REGIONS)
"""The sets of accesses to memory by its region, and of the fences that order it."""
FENCED = {**opencl.FENCED, ptx.REGISTER_FENCE: Region.REGISTER}
"""The region of memory that a fence with one of these tags orders alone."""


def _fenced(mode: Mode) -> set[str]:
    """The memory that a fence orders: all, unless it names one kind, or none, as OpenCL's may."""
    one = {region.name for tag, region in FENCED.items() if tag in mode.tags}
    return one if one or opencl.NO_MEMORY in mode.tags else {*MEMORIES}


def _fence_orders(mode: Mode) -> set[str]:
    """The sets of orders that a fence is in; of Vulkan's, ``acq_rel`` is in those of both."""
    both = mode.order is Order.ACQ_REL and not set(mode.tags).isdisjoint(vulkan.SEMANTICS)
    return {_ORDER_TAGS[mode.order], *(("ACQ", "REL") if both else ())}


def initial_tags(region: Region, plain: bool = False) -> frozenset[str]:
    """The names of the sets that an initial write is in; ``plain``: the location is not atomic, ``NAL``."""
    return frozenset({"W", "IW", "WEAK", region.name, *(["NAL"] if plain else [])})


def _scope_tags(scope: Scope | None) -> tuple[str, ...]:
    return () if scope is None else (scope.name,)


def _mode_tags(mode: Mode) -> frozenset[str]:
    return frozenset(_tag_set(tag) for tag in mode.tags)


def _tag_set(tag: str) -> str:
    if tag[0] == ANNOTATED:  # herd7's set of an annotation has a capital first
        return ANNOTATED + tag[1].upper() + tag[2:]
    return tag.upper()


@dataclass(frozen=True, slots=True)
class ExecutionChoices(Generic[T]):
    """The choices of an execution: reads-from, coherence (closed under transitivity), and further orders by their
    names.

    ``orders``: the order of ``fence.sc`` is ``sync_fence``; a model may ask for others (``oracle.executions.orders``).
    ``meet`` relates the barriers of different threads that go through together (``oracle.executions.barriers``).
    ``completes``: the updates that complete the phase of their mbarrier (``phase_ends``).
    """

    rf: Relation[T]
    co: Relation[T]
    orders: Mapping[str, Relation[T]] = field(default_factory=dict)
    meet: Relation[T] = ()
    completes: Set[T] = field(default_factory=dict)


def phase_ends(events: Sequence[Event], held: Callable[[Expression, Expression], T]) -> Set[T]:
    """The updates of mbarriers that complete a phase, those after which the phase is another one (PTX ISA 9.1,
    9.7.13.15.5). ``held``: how true it is that two expressions have one value."""
    found: dict[int, T] = {}
    for index, event in enumerate(events):
        if event.kind is EventKind.WRITE and event.rmw is not None and OBJECT in event.tags:
            found[index] = held(Apply("mbarrier.phase", event.value, Read(event.rmw)), 1)
    return {index: truth for index, truth in found.items() if truth}


@dataclass(frozen=True)
class ProgramBase(Generic[T]):
    """The base (``oracle.cat.base``) of executions of a known program: its events are listed, choices are truths.

    ``synchronised``: pairs of threads, as in ``LitmusTest``. ``orders``: where the executions are those of several
    programs that differ in memory orders alone, the ``ORDERS`` that each event is in, and how true that is; empty where
    the tags of events say it.
    """

    algebra: Algebra[T]
    events: Sequence[Event]
    places: Sequence[Place]
    choices: ExecutionChoices[T]
    synchronised: Sequence[tuple[int, int]] = ()
    orders: Sequence[Mapping[frozenset[str], T]] = ()
    _made: dict[str, Set[T] | Relation[T]] = field(default_factory=dict, compare=False)

    def value(self, name: str) -> Set[T] | Relation[T] | None:
        """The set or relation of a name, None where the base has none; names of the prelude are not among them."""
        if name not in self._made:
            if self.orders and name in ORDERS:
                self._made[name] = self._ordered(name)
            elif name == COMPLETES:
                self._made[name] = self.choices.completes
            elif is_set(name):
                self._made[name] = self.algebra.select(
                    index for index, event in enumerate(self.events) if name in event.tags
                )
            elif name in self.choices.orders:
                self._made[name] = self.choices.orders[name]
            elif name in RELATIONS:
                self._made[name] = RELATIONS[name](self)
            else:
                return None
        return self._made[name]

    def _ordered(self, name: str) -> Set[T]:
        """The events that are in a set of memory orders in some programs."""
        found: dict[int, T] = {}
        for event, orders in enumerate(self.orders):
            for tags, truth in orders.items():
                if name in tags:
                    found[event] = found[event] | truth if event in found else truth
        return found

    @cached_property
    def names(self) -> PreludeValues[T]:
        """This base together with the names that the prelude defines over it."""
        return PreludeValues(self)

    def relation(self, name: str) -> Relation[T]:
        """The relation of a name, of this base or of the prelude."""
        value = self.names.value(name)
        assert isinstance(value, tuple), name
        return value

    @cached_property
    def _index(self) -> dict[tuple[int, ...], int]:
        return {event.key: index for index, event in enumerate(self.events)}

    def _pairs(self, related: Callable[[Event, Event], bool]) -> Relation[T]:
        return self.algebra.pairs(
            (one, other)
            for one, first in enumerate(self.events)
            for other, second in enumerate(self.events)
            if related(first, second)
        )

    def _grouped(
        self, group: Callable[[Event], Hashable], related: Callable[[Event, Event], bool] | None = None
    ) -> Relation[T]:
        """The pairs within each group, those that are ``related``; None is no group."""
        groups: dict[Hashable, list[int]] = {}
        for index, event in enumerate(self.events):
            groups.setdefault(group(event), []).append(index)
        groups.pop(None, None)
        events = self.events
        return self.algebra.pairs(
            (one, other)
            for members in groups.values()
            for one, other in product(members, repeat=2)
            if related is None or related(events[one], events[other])
        )

    @cached_property
    def _later(self) -> list[tuple[int, int]]:
        """The pairs of different events of one path through a thread, that which is written first before the other."""
        threads: dict[int, list[int]] = {}
        for index, event in enumerate(self.events):
            threads.setdefault(event.thread, []).append(index)
        threads.pop(INITIAL, None)
        events = self.events
        found = []
        for members in threads.values():
            forked = any(len(events[index].key) > 2 for index in members)
            members.sort(key=lambda index: events[index].key)
            found += [
                (one, other)
                for one, other in combinations(members, 2)
                if not forked or together(events[one], events[other])
            ]
        return found

    def _program_order(self) -> Relation[T]:
        events = self.events
        return self.algebra.pairs(
            (one, other) for one, other in self._later if is_in_program_order(events[one], events[other])
        )

    def _asked_later(self) -> Relation[T]:
        """The pairs of events of different instructions of a thread of which one is of an asynchronous operation."""
        events = self.events
        return self.algebra.pairs(
            (one, other) for one, other in self._later if is_asked_later(events[one], events[other])
        )

    def _within_operations(self) -> Relation[T]:
        """The events of each asynchronous operation, those that it does first before the others."""
        return self._grouped(lambda event: event.operation, lambda one, other: one.key < other.key)

    def _retired(self) -> Relation[T]:
        """The events of asynchronous operations, each with those at which its thread waits for its group."""
        events, executed = self.events, self.algebra.executed
        rows: list[dict[int, T]] = [{} for _ in events]
        for wait, event in enumerate(events):
            waited = event.group
            if not isinstance(waited, AsyncGroup) or waited.pending is None:
                continue
            ends = [place for place, event in enumerate(events) if event.group == AsyncGroup(waited.operations)]
            for access, done in enumerate(events):
                if done.group != waited.operations or (waited.read and done.kind is not EventKind.READ):
                    continue
                between = [executed[end] for end in ends if self._follows(access, end) and self._follows(end, wait)]
                if waited.operations in (TENSOR_LOADS, TENSOR_STORES):  # for all of them, without groups
                    between = [executed[wait]]
                if self._follows(access, wait) and (truth := at_least(waited.pending + 1, between)):
                    rows[access][wait] = executed[access] & executed[wait] & truth
        return tuple(rows)

    def _follows(self, one: int, other: int) -> bool:
        """Whether an event comes after another one of its thread, on some way through it."""
        first, second = self.events[one], self.events[other]
        return first.thread == second.thread and first.key[1] < second.key[1] and together(first, second)

    def _of_one_thread(self) -> Relation[T]:
        """The pairs of events of one thread, in both orders, and each event with itself."""
        itself = [(index, index) for index, event in enumerate(self.events) if event.thread != INITIAL]
        return self.algebra.pairs([*itself, *self._later, *((other, one) for one, other in self._later)])

    def _of_two_threads(self) -> Relation[T]:
        """Initial writes are each of a thread of its own."""
        threads = [event.thread for event in self.events]
        return self.algebra.pairs(
            (one, other)
            for one, thread in enumerate(threads)
            for other, its in enumerate(threads)
            if thread != its or (thread == INITIAL and one != other)
        )

    def _depends(self, sources: Callable[[Event], Iterator[tuple[int, ...]]]) -> Relation[T]:
        return self.algebra.pairs(
            (self._index[key], other)
            for other, event in enumerate(self.events)
            for key in sources(event)
            if key in self._index
        )

    def _same_group(self, scope: Scope) -> Relation[T]:
        depth = scope.value
        groups = {number: place[:depth] for number, place in enumerate(self.places)}
        return self._grouped(lambda event: groups.get(event.thread))

    def _share(self, one: Event, other: Event, scope: Scope) -> bool:
        return self.places[one.thread].shares(self.places[other.thread], scope)

    def fence_pairs(self) -> Mapping[tuple[int, int], T]:
        """The pairs ``i < j`` of ``fence.sc`` events that must be ordered, and how true that is."""
        executed = self.algebra.executed
        return {(i, j): executed[i] & executed[j] for i, j in sync_fence_pairs(self.events, self.places)}

    def _mutually_in_scope(self) -> Relation[T]:
        def related(one: Event, other: Event) -> bool:
            assert one.scope is not None and other.scope is not None
            return self._share(one, other, one.scope) and self._share(one, other, other.scope)

        return self._grouped(lambda event: None if event.scope is None else True, related)

    def _awaited(self) -> Relation[T]:
        def related(one: Event, other: Event) -> bool:
            if one.barrier is None or other.thread in (INITIAL, one.thread):
                return False
            return self._share(one, other, one.barrier.group)

        return self._pairs(related)

    def _synchronise_by_barrier(self) -> Relation[T]:
        if not self.choices.meet:
            return self.algebra.empty()

        def kept(event: Event, row: Mapping[int, T]) -> Mapping[int, T]:
            if EXIT.upper() in event.tags or WAIT in event.tags:
                return {}
            return {other: truth for other, truth in row.items() if "ARRIVE" not in self.events[other].tags}

        return tuple(map(kept, self.events, self.choices.meet))


def done_in(event: Event, mode: Mode) -> Event:
    """The event that an event would be if its instruction were done in another mode."""
    match event.kind:
        case EventKind.FENCE:
            return replace(event, tags=fence_tags(mode), scope=mode.scope)
        case EventKind.BARRIER:
            return replace(event, tags=barrier_tags(mode, "ARRIVE" in event.tags, WAIT in event.tags), scope=mode.scope)
    region = next(region for region in Region if region.name in event.tags)
    tags = access_tags(event.kind, mode, region, *(tag in event.tags for tag in ("RMW", "NAL", "NORET")))
    return replace(event, tags=tags | event.tags & {WAITED}, scope=access_scope(mode))


def at_least(count: int, truths: Sequence[T]) -> T | None:
    """The truth that at least so many, one or more, of some truths hold; None where they are too few."""
    held: list[T | None] = [None] * count
    for truth in truths:
        for number in reversed(range(count)):
            before = held[number - 1] if number else truth
            if before is not None:
                now = before & truth
                kept = held[number]
                held[number] = now if kept is None else kept | now
    return held[-1]


def together(one: Event, other: Event) -> bool:
    """Whether two events are of one thread and of one path through it."""
    if one.thread != other.thread or one.thread == INITIAL:
        return False
    return all(left == right for left, right in zip(one.key[2:], other.key[2:], strict=False))


def is_sequenced(one: Event, other: Event) -> bool:
    """Whether two events of a thread are in program order, in either direction; operands of one expression are not."""
    return not one.sides or one.round != other.round or not unsequenced(one.sides, other.sides)


def is_in_program_order(one: Event, other: Event) -> bool:
    """Whether two events of a thread are in program order: asynchronous operations are not (PTX ISA, 8.9.1.1)."""
    return one.operation is None and other.operation is None and is_sequenced(one, other)


def is_asked_later(one: Event, other: Event) -> bool:
    """Whether two events of a thread, in the order of its instructions, are not in program order because one is of an
    asynchronous operation, and are not of one operation.
    """
    return one.operation != other.operation


def sync_fence_pairs(events: Sequence[Event], places: Sequence[Place]) -> list[tuple[int, int]]:
    """The pairs ``i < j`` of ``fence.sc`` events that must be ordered: of one thread, or mutually in scope."""
    fences = [index for index, event in enumerate(events) if {"F", "SC"} <= event.tags]

    def related(one: Event, other: Event) -> bool:
        if one.thread == other.thread:
            return True
        scopes = [one.scope or Scope.SYS, other.scope or Scope.SYS]
        return all(places[one.thread].shares(places[other.thread], scope) for scope in scopes)

    return [(i, j) for i in fences for j in fences if i < j and related(events[i], events[j])]


RELATIONS: dict[str, Callable[[ProgramBase[T]], Relation[T]]] = {
    "po": lambda base: base._program_order(),
    "int": lambda base: base._of_one_thread(),
    "ext": lambda base: base._of_two_threads(),
    "loc": lambda base: base._grouped(lambda e: e.location),
    "vloc": lambda base: base._grouped(lambda e: e.virtual),
    "addr": lambda base: base._depends(lambda e: iter(e.addr)),
    "data": lambda base: base._depends(lambda e: iter(e.data)),
    "ctrl": lambda base: base._depends(lambda e: iter(e.ctrl)),
    "casdep": lambda base: base._depends(lambda e: iter(e.compared)),
    "rmw": lambda base: base._depends(lambda e: iter(() if e.rmw is None else (e.rmw,))),
    "rf": lambda base: base.choices.rf,
    "co": lambda base: base.choices.co,
    "sync_fence": lambda base: base.algebra.empty(),  # where no such order is chosen
    "swarp": lambda base: base._same_group(Scope.WARP),
    "scta": lambda base: base._same_group(Scope.CTA),
    "squeue": lambda base: base._same_group(Scope.QUEUE),
    "sgpu": lambda base: base._same_group(Scope.GPU),
    "sr": lambda base: base._mutually_in_scope(),
    "syncbar": lambda base: base._synchronise_by_barrier(),
    "asked": lambda base: base._asked_later(),
    "within": lambda base: base._within_operations(),
    "retired": lambda base: base._retired(),
    "awaits": lambda base: base._awaited(),
    "ssw": lambda base: base._pairs(lambda e, f: (e.thread, f.thread) in base.synchronised),
}
OF_OPERATIONS = ("asked", "within", "retired")
"""The relations of asynchronous operations, empty in a program that has none."""

VOCABULARY = BaseNames(SETS, frozenset(RELATIONS), frozenset({"rf", "co", "sync_fence"}))
"""The names that a base answers for."""
