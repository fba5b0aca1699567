"""An execution of an unknown program as a consistency model sees it: a base whose sets and relations are of literals.

A *view* is such an execution after none or one of its relaxations. Events 0 to n - 1 are those of the threads, one
after the other in program order; after them comes the initial write of each location. The two events of an update
stand next to each other. A view has no constraints of its own: ``constraints.programs.skeleton`` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from constraints.circuit import Circuit, Literal
from constraints.programs.algebra import PolarClauses
from corpus.executions.operations import WAIT_READ, waits_for
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Scope
from oracle.cat.algebra import Relation, Set
from oracle.executions.events import (
    ASYNCHRONOUS,
    MEMORIES,
    EventKind,
    initial_tags,
    is_set,
    scope_of_mode,
    signal_tags,
    tags_of_mode,
)


class EventMode(NamedTuple):
    """The way in which an event is done: its kind, the mode of its instruction, and whether that is an update."""

    kind: EventKind
    mode: Mode
    rmw: bool = False

    @property
    def tags(self) -> frozenset[str]:
        """The names of the sets that the event is in, except those of the memory that it accesses."""
        return tags_of_mode(self.kind, self.mode, self.rmw) | signal_tags(self.kind, self.mode)

    @property
    def scope(self) -> Scope | None:
        """The scope that the event names, None where it names none."""
        return scope_of_mode(self.kind, self.mode)


@dataclass(frozen=True)
class EventModes:
    """The ways in which an event may be done, each with its literal, of which exactly one holds."""

    circuit: Circuit
    chosen: Mapping[EventMode, Literal]

    @cached_property
    def tags(self) -> Mapping[str, Literal]:
        """The sets that the event may be in, each with its literal."""
        found: dict[str, list[Literal]] = {}
        for way, literal in self.chosen.items():
            for tag in way.tags:
                found.setdefault(tag, []).append(literal)
        return {tag: self._any(literals) for tag, literals in sorted(found.items())}

    @cached_property
    def scopes(self) -> Mapping[Scope, Literal]:
        """The scopes that the event may name, each with its literal."""
        found: dict[Scope, list[Literal]] = {}
        for way, literal in self.chosen.items():
            if way.scope is not None:
                found.setdefault(way.scope, []).append(literal)
        return {scope: self._any(literals) for scope, literals in found.items()}

    def of(self, kind: EventKind) -> Literal:
        """The literal that the event is of a kind, such as a read."""
        return self.tags.get(kind.value, self.circuit.false)

    def which(self, fits: Callable[[EventMode], bool]) -> Literal:
        """The literal that the event is done in a way for which ``fits`` is true."""
        return self._any([literal for way, literal in self.chosen.items() if fits(way)])

    def mapped(self, step: Callable[[EventMode], EventMode]) -> EventModes:
        """The ways of the event after a change of each, with their literals unchanged."""
        found: dict[EventMode, list[Literal]] = {}
        for way, literal in self.chosen.items():
            found.setdefault(step(way), []).append(literal)
        return EventModes(self.circuit, {way: self._any(literals) for way, literals in found.items()})

    def _any(self, literals: list[Literal]) -> Literal:
        return self.circuit.true if len(literals) == len(self.chosen) else self.circuit.any_of(literals)


Matrix = Sequence[Mapping[int, Literal]]
"""A relation between events as rows of literals."""


@dataclass(frozen=True, kw_only=True)
class ExecutionView:
    """The base of an unknown execution: each fact about its events is a literal.

    ``ways[e]``: how event ``e`` is done; ``loc[e][f]``: that events access one location, which ``loc[e][e]`` has,
    ``vloc[e][f]`` by one address; ``executed[e]``: that it happens. ``thread[e]`` is its thread.

    ``rmw[e]``: that ``e`` and ``e + 1`` are an update. ``same[level][t][u]``: that threads are in one group.
    ``shared[e]``: that it accesses shared memory. ``depends[kind]`` as models see it. ``place[e][k]``: that event
    ``e``, if a barrier, is the k-th of its thread. ``rf[w][r]``, ``initial[r]``: what a read reads; ``co[w][v]``;
    ``before[f][g]``: that fence f comes before g where both are ``fence.sc`` in need of an order.
    ``synchronised[t][u]``: that thread t synchronises with thread u by the system. ``continues[e]``: that event ``e``
    is a further part of the asynchronous operation that the event before it is of.

    With ``initial_writes``, each event has an initial write, which happens where that event is the first of its
    location. Without them, ``fr`` says what follows from them; that is for models to which it makes no difference
    (``oracle.executions.initial``).
    """

    circuit: Circuit
    thread: Sequence[int]
    ways: Sequence[EventModes]
    loc: Matrix
    vloc: Matrix
    executed: Sequence[Literal]
    rmw: Mapping[int, Literal]
    same: Mapping[Scope, Sequence[Sequence[Literal]]]
    shared: Sequence[Literal]
    depends: Mapping[str, Matrix]
    place: Matrix
    rf: Matrix
    initial: Mapping[int, Literal]
    co: Matrix
    before: Matrix
    negative: bool = False
    initial_writes: bool = True
    synchronised: Matrix = ()
    continues: Sequence[Literal] = ()
    _made: dict[str, Set[Literal] | Relation[Literal]] = field(default_factory=dict, init=False, repr=False)

    @property
    def size(self) -> int:
        """The number of events of threads, which initial writes follow."""
        return len(self.thread)

    @cached_property
    def used(self) -> list[Literal]:
        """For each event the literal that it has an initial write: it is the first of its location that happens."""
        if not self.initial_writes:
            return []
        any_of = self.circuit.any_of
        return [
            self.loc[e][e] & self.executed[e] & ~any_of(self.loc[f][e] & self.executed[f] for f in range(e))
            for e in range(self.size)
        ]

    @cached_property
    def algebra(self) -> PolarClauses:
        """The algebra over the events of threads and, after them, the initial writes."""
        true, executed = self.circuit.true, [*self.executed, *self.used]
        negate = type(true).__invert__
        return PolarClauses(true, negate, executed, exact=False, circuit=self.circuit, negative=self.negative)

    def value(self, name: str) -> Set[Literal] | Relation[Literal] | None:
        """The set or relation of a name, None where the base has none; names of the prelude are not among them."""
        if name not in self._made:
            if is_set(name):
                self._made[name] = self._set(name)
            elif name in _RELATIONS:
                self._made[name] = _kept(_RELATIONS[name](self))
            elif name == "fr" and not self.initial_writes:
                self._made[name] = _kept(self._fr())
            else:
                return None
        return self._made[name]

    def _set(self, name: str) -> Set[Literal]:
        found: dict[int, Literal] = {}
        if name == "NAL":
            found = {e: self._is_plain(e) & self.executed[e] for e in range(self.size)}
            found |= {self.size + e: used & self._is_plain(e) for e, used in enumerate(self.used)}
            return {e: literal for e, literal in found.items() if literal}
        if name in MEMORIES:
            found = {e: self._about_memory(e, name) & self.executed[e] for e in range(self.size)}
        else:
            found = {e: ways.tags[name] & self.executed[e] for e, ways in enumerate(self.ways) if name in ways.tags}
        for event, used in enumerate(self.used):
            if name in initial_tags(Region.GLOBAL) | {Region.SHARED.name}:
                found[self.size + event] = used & self._in_memory(event, name) if name in MEMORIES else used
        return {e: literal for e, literal in found.items() if literal}

    def _is_plain(self, event: int) -> Literal:
        """The literal that an event is at a location that no atomic accesses."""
        atomic = (
            literal & self.executed[f] & self.ways[f].tags["ATOM"]
            for f, literal in self.loc[event].items()
            if f < self.size and "ATOM" in self.ways[f].tags
        )
        return self.loc[event][event] & ~self.circuit.any_of(atomic)

    def _about_memory(self, event: int, name: str) -> Literal:
        """The literal that an event accesses memory of a kind, or is a fence or barrier that orders it."""
        ordering = self.ways[event].tags.get(name)
        return self._in_memory(event, name) | (self.circuit.false if ordering is None else ordering)

    def _in_memory(self, event: int, name: str) -> Literal:
        shared = self.shared[event]
        return self.loc[event][event] & (shared if name == Region.SHARED.name else ~shared)

    def pairs(self, related: Callable[[int, int], Literal | None]) -> list[dict[int, Literal]]:
        """The pairs of events of threads that are related and both happen; where ``related`` gives None or false, a
        pair is left out."""
        rows: list[dict[int, Literal]] = [{} for _ in self.algebra.executed]
        for one in range(self.size):
            for other in range(self.size):
                literal = related(one, other)
                if literal is not None:
                    rows[one][other] = literal & self.executed[one] & self.executed[other]
        return rows

    def _po(self) -> list[dict[int, Literal]]:
        own = self._own
        return self.pairs(lambda e, f: own[e] & own[f] if e < f and self.thread[e] == self.thread[f] else None)

    @cached_property
    def _own(self) -> list[Literal]:
        """For each event the literal that its thread does it, and no asynchronous operation."""
        return [~ways.tags.get(ASYNCHRONOUS, self.circuit.false) for ways in self.ways]

    def _asked(self) -> list[dict[int, Literal]]:
        def related(one: int, other: int) -> Literal | None:
            if one >= other or self.thread[one] != self.thread[other]:
                return None
            return ~(self._own[one] & self._own[other]) & ~self._in_one_operation(one, other)

        return self.pairs(related)

    def _in_one_operation(self, one: int, other: int) -> Literal:
        """The literal that two events of a thread, the earlier one first, are of one asynchronous operation."""
        whole = self.circuit.true if self.continues else self.circuit.false
        for part in range(one + 1, other + 1) if self.continues else ():
            whole = whole & self.continues[part]
        return whole

    def _within(self) -> list[dict[int, Literal]]:
        return self.pairs(
            lambda e, f: self._in_one_operation(e, f) if e < f and self.thread[e] == self.thread[f] else None
        )

    def _retired(self) -> list[dict[int, Literal]]:
        def related(access: int, wait: int) -> Literal | None:
            if access >= wait or self.thread[access] != self.thread[wait]:
                return None
            return self.circuit.any_of(
                here & there
                for done, here in self.ways[access].chosen.items()
                for way, there in self.ways[wait].chosen.items()
                if done.mode == waits_for(way.mode) and (way.mode != WAIT_READ or done.kind is EventKind.READ)
            )

        return self.pairs(related)

    def _int(self) -> list[dict[int, Literal]]:
        true = self.circuit.true
        return self.pairs(lambda e, f: true if self.thread[e] == self.thread[f] else None)

    def _ext(self) -> list[dict[int, Literal]]:
        true = self.circuit.true
        rows = self.pairs(lambda e, f: true if self.thread[e] != self.thread[f] else None)
        executed = self.algebra.executed
        for initial in range(self.size, len(executed)):
            for other in range(len(executed)):
                if other != initial:
                    rows[initial][other] = rows[other][initial] = executed[initial] & executed[other]
        return rows

    def _one_location(self, matrix: Matrix) -> list[dict[int, Literal]]:
        rows = self.pairs(lambda e, f: matrix[e].get(f))
        for initial, literals in enumerate(self._initial_pairs(matrix)):
            for e, literal in literals.items():
                rows[self.size + initial][e] = rows[e][self.size + initial] = literal
            rows[self.size + initial][self.size + initial] = self.used[initial]
        return rows

    def _initial_pairs(self, matrix: Matrix | None = None) -> list[dict[int, Literal]]:
        """The literals that an access is to the location of an initial write, or by the address by which it is
        accessed first."""
        rows = self.loc if matrix is None else matrix
        return [
            {e: used & rows[initial][e] & self.executed[e] for e in range(initial, self.size)}
            for initial, used in enumerate(self.used)
        ]

    def _depends(self, kind: str) -> list[dict[int, Literal]]:
        matrix = self.depends.get(kind)
        return self.pairs(lambda e, f: None if matrix is None else matrix[e].get(f))

    def _data(self) -> list[dict[int, Literal]]:
        """What goes into the value that an event writes; a copy writes what it reads."""
        rows = self._depends("data")
        for write in range(1, self.size) if self.continues else ():
            reads, writes = self.ways[write - 1].of(EventKind.READ), self.ways[write].of(EventKind.WRITE)
            if moved := self.continues[write] & reads & writes:
                rows[write - 1][write] = moved & self.executed[write - 1] & self.executed[write]
        return rows

    def _rmw(self) -> list[dict[int, Literal]]:
        return self.pairs(lambda e, f: self.rmw.get(e) if f == e + 1 else None)

    def _rf(self) -> list[dict[int, Literal]]:
        rows = self.pairs(lambda w, r: self.rf[w].get(r))
        for initial, literals in enumerate(self._initial_pairs()):
            rows[self.size + initial] = {r: here & self.initial[r] for r, here in literals.items()}
        return rows

    def _co(self) -> list[dict[int, Literal]]:
        rows = self.pairs(lambda w, v: self.co[w].get(v))
        for initial, literals in enumerate(self._initial_pairs()):
            rows[self.size + initial] = {w: here & self.ways[w].of(EventKind.WRITE) for w, here in literals.items()}
        return rows

    def _fr(self) -> list[dict[int, Literal]]:
        def overwritten(read: int, write: int) -> Literal:
            first = (
                self.initial[read]
                & self.loc[read].get(write, self.circuit.false)
                & self.ways[write].of(EventKind.WRITE)
            )
            sources = (w for w in range(self.size) if read in self.rf[w] and write in self.co[w])
            return first | self.circuit.any_of(self.rf[w][read] & self.co[w][write] & self.executed[w] for w in sources)

        return self.pairs(overwritten)

    def _sync_fence(self) -> Relation[Literal]:
        strong = {
            e: ways.which(lambda way: way.kind is EventKind.FENCE and "SC" in way.tags)
            for e, ways in enumerate(self.ways)
        }

        def related(one: int, other: int) -> Literal | None:
            if one == other or other not in self.before[one]:
                return None
            both = strong[one] & strong[other]
            if not both:
                return None
            inside = self.circuit.true
            if self.thread[one] != self.thread[other]:
                inside = self._reaches(one, other, Scope.SYS) & self._reaches(other, one, Scope.SYS)
            return both & inside & self.before[one][other]

        return self.algebra.closure(_kept(self.pairs(related)))

    def in_group(self, one: int, other: int, scope: Scope) -> Literal:
        """The literal that two threads are in one group of a level of the scope tree."""
        if one == other or scope is Scope.SYS:
            return self.circuit.true
        if scope in self.same:
            return self.same[scope][one][other]
        if scope is Scope.QUEUE:
            return self.in_group(one, other, Scope.GPU)
        return self.circuit.true if scope.value <= Scope.GPU.value else self.circuit.false

    def _reaches(self, one: int, other: int, default: Scope | None = None) -> Literal:
        """The literal that the scope of an event includes the thread of another; ``default``: the scope of one that
        names none."""
        t, u = self.thread[one], self.thread[other]
        scopes = self.ways[one].scopes
        inside = self.circuit.any_of(literal & self.in_group(t, u, scope) for scope, literal in scopes.items())
        if default is None:
            return inside
        return inside | (~self.circuit.any_of(scopes.values()) & self.in_group(t, u, default))

    def _sr(self) -> list[dict[int, Literal]]:
        return self.pairs(lambda e, f: self._reaches(e, f) & self._reaches(f, e))

    def _group(self, scope: Scope) -> list[dict[int, Literal]]:
        return self.pairs(lambda e, f: self.in_group(self.thread[e], self.thread[f], scope))

    def _by_system(self) -> list[dict[int, Literal]]:
        rows, thread = self.synchronised, self.thread
        return self.pairs(lambda e, f: rows[thread[e]].get(thread[f]) if rows else None)

    def _awaits(self) -> list[dict[int, Literal]]:
        def related(one: int, other: int) -> Literal | None:
            t, u = self.thread[one], self.thread[other]
            return None if t == u else self.ways[one].of(EventKind.BARRIER) & self.in_group(t, u, Scope.CTA)

        return self.pairs(related)

    def _syncbar(self) -> list[dict[int, Literal]]:
        def related(one: int, other: int) -> Literal | None:
            if self.thread[one] == self.thread[other]:
                return None
            waits = ~self.ways[other].tags.get("ARRIVE", self.circuit.false)
            barriers = self.ways[one].of(EventKind.BARRIER) & self.ways[other].of(EventKind.BARRIER) & waits
            if not barriers:
                return None
            ranks = self.place[one].keys() & self.place[other].keys()
            meet = self.circuit.any_of(self.place[one][rank] & self.place[other][rank] for rank in sorted(ranks))
            return barriers & meet & self.in_group(self.thread[one], self.thread[other], Scope.CTA)

        return self.pairs(related)


class SpacedView(ExecutionView):
    """A view with room for a fence between any two consecutive events, as between the halves of an update."""

    def _rmw(self) -> list[dict[int, Literal]]:
        following = {e: next(f for f in range(e + 1, self.size) if self.ways[f].of(EventKind.WRITE)) for e in self.rmw}
        return self.pairs(lambda e, f: self.rmw[e] if following.get(e) == f else None)


def _kept(rows: Sequence[Mapping[int, Literal]]) -> Relation[Literal]:
    return tuple({other: literal for other, literal in row.items() if literal} for row in rows)


_RELATIONS: Mapping[str, Callable[[ExecutionView], Sequence[Mapping[int, Literal]]]] = {
    "po": ExecutionView._po,
    "int": ExecutionView._int,
    "ext": ExecutionView._ext,
    "loc": lambda view: view._one_location(view.loc),
    "vloc": lambda view: view._one_location(view.vloc),
    "addr": lambda view: view._depends("addr"),
    "data": ExecutionView._data,
    "ctrl": lambda view: view._depends("ctrl"),
    "rmw": lambda view: view._rmw(),
    "rf": ExecutionView._rf,
    "co": ExecutionView._co,
    "sync_fence": ExecutionView._sync_fence,
    "swarp": lambda view: view._group(Scope.WARP),
    "scta": lambda view: view._group(Scope.CTA),
    "squeue": lambda view: view._group(Scope.QUEUE),
    "sgpu": lambda view: view._group(Scope.GPU),
    "sr": ExecutionView._sr,
    "syncbar": ExecutionView._syncbar,
    "awaits": ExecutionView._awaits,
    "ssw": ExecutionView._by_system,
    "casdep": lambda view: view.pairs(lambda e, f: None),
    "asked": ExecutionView._asked,
    "within": ExecutionView._within,
    "retired": ExecutionView._retired,
}
