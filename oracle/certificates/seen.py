"""An unknown program as a model sees it, for certificates: the base whose sets and relations are of literals.

Events are those of the program. For models that see initial writes otherwise than by ``fr``
(``oracle.executions.initial``), they are followed by an initial write for each event that is the first of its location.
Relations mean what ``oracle.executions.events`` defines for known programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, permutations, product

from corpus.litmus.locations import Region
from corpus.litmus.orders import Scope
from oracle.cat.algebra import Relation, Set
from oracle.cat.interpreter import Model
from oracle.certificates.programs import CertifiedProgram, Pairs
from oracle.certificates.writing import Literals, WrittenLiteral
from oracle.executions.events import MEMORIES, OF_OPERATIONS, EventKind, initial_tags, is_set
from oracle.executions.initial import sees_initial_writes


@dataclass(frozen=True)
class OutcomeOrders:
    """The orders that an outcome leaves open: ``co[w, v]``, and ``fences[f, g]``, f comes before g where both are
    ``fence.sc``."""

    co: Pairs
    fences: Pairs


def choose(program: CertifiedProgram, name: str, partial: bool) -> OutcomeOrders:
    """A choice of coherence and fence order, by variables whose names contain ``name``, which no other choice has.

    Variables: ``co NAME w v``, ``fence NAME f g``. Clauses: co is a strict order of the writes to each location, total
    unless ``partial``, in which the last write comes before none; fences are in one order.
    """
    writer, require = program.writer, program.writer.require
    writes = [program.of(e, EventKind.WRITE) & happens for e, happens in enumerate(program.happens)]
    co = {
        (w, v): writer.variable("co", name, w, v) for w, v in permutations(program.events, 2) if writes[w] and writes[v]
    }
    for (w, v), before in co.items():
        for needed in (writes[w], writes[v], program.related(program.loc, w, v), ~co[v, w], ~program.final[w]):
            require(~before, needed)
        if w < v and not partial:
            require(~program.loc[w, v], ~writes[w], ~writes[v], before, co[v, w])
    for w, v, x in permutations(program.events, 3):
        if (w, v) in co and (v, x) in co:
            require(~co[w, v], ~co[v, x], co[w, x])
    fences: dict[tuple[int, int], WrittenLiteral] = {}
    strong = [e for e in program.events if _is_strong_fence(program, e)]
    for f, g in combinations(strong, 2):
        fences[f, g] = writer.variable("fence", name, f, g)
        fences[g, f] = ~fences[f, g]
    for f, g, h in permutations(strong, 3):
        require(~fences[f, g], ~fences[g, h], fences[f, h])
    return OutcomeOrders(co, fences)


def reversed_coherence(program: CertifiedProgram, choice: OutcomeOrders) -> OutcomeOrders:
    """A choice with its orders reversed, except that last writes stay last: another choice that the outcome may
    have."""
    final = program.final
    co = {(w, v): (before & final[v]) | (choice.co[v, w] & ~final[w]) for (w, v), before in choice.co.items()}
    return OutcomeOrders(co, {pair: ~before for pair, before in choice.fences.items()})


def _is_strong_fence(program: CertifiedProgram, event: int) -> WrittenLiteral:
    return program.of(event, EventKind.FENCE) & program.tagged(event, "SC")


@dataclass(frozen=True)
class ModelView:
    """A program with a choice as a model sees it (``oracle.cat.base``); ``fails``: one of its checks is to fail."""

    program: CertifiedProgram
    choice: OutcomeOrders
    model: Model
    fails: bool
    _values: dict[str, Set[WrittenLiteral] | Relation[WrittenLiteral] | None] = field(default_factory=dict, repr=False)

    @cached_property
    def first(self) -> list[WrittenLiteral]:
        """For each event the literal that it is the first of its location, so that it has an initial write; none
        where the model does not see initial writes."""
        program = self.program
        if not sees_initial_writes(self.model):
            return []
        earlier = (
            program.writer.any_of(program.loc[f, e] & program.happens[f] for f in range(e)) for e in program.events
        )
        return [program.loc[e, e] & program.happens[e] & ~other for e, other in enumerate(earlier)]

    @cached_property
    def algebra(self) -> Literals:
        """The relational algebra over the events of the program and the initial writes."""
        writer = self.program.writer
        happens = [*self.program.happens, *self.first]
        return Literals(writer.true, WrittenLiteral.__invert__, happens, exact=False, writer=writer, fails=self.fails)

    def value(self, name: str) -> Set[WrittenLiteral] | Relation[WrittenLiteral] | None:
        """The set or relation of a name, None where the base has none."""
        if name not in self._values:
            if is_set(name):
                self._values[name] = self._set(name)
            else:
                self._values[name] = self._relation(_RELATIONS[name](self)) if name in _RELATIONS else None
        return self._values[name]

    # Sets

    def _set(self, name: str) -> Set[WrittenLiteral]:
        size, program = len(self.program.thread), self.program
        found = {e: self._is_in(e, name) & happens for e, happens in enumerate(program.happens)}
        for e, first in enumerate(self.first):
            if name in MEMORIES or name == "NAL":
                found[size + e] = first & (self._in_memory(e, name) if name != "NAL" else self._is_in(e, name))
            elif name in initial_tags(Region.GLOBAL):
                found[size + e] = first
        return {e: literal for e, literal in found.items() if literal}

    def _is_in(self, event: int, name: str) -> WrittenLiteral:
        program = self.program
        if name == "NAL":  # no atomic accesses the location
            atomic = (
                program.related(program.loc, event, e) & program.happens[e] & program.tagged(e, "ATOM")
                for e in program.events
            )
            return program.loc[event, event] & ~program.writer.any_of(atomic)
        if name in MEMORIES:
            return self._in_memory(event, name) | program.tagged(event, name)
        return program.tagged(event, name)

    def _in_memory(self, event: int, name: str) -> WrittenLiteral:
        """The literal that an event accesses memory of a kind."""
        shared = self.program.shared[event]
        return self.program.loc[event, event] & (shared if name == Region.SHARED.name else ~shared)

    # Relations: pairs of events, before they are restricted to events that happen

    def _relation(self, pairs: Mapping[tuple[int, int], WrittenLiteral]) -> Relation[WrittenLiteral]:
        happens = self.algebra.executed
        rows: list[dict[int, WrittenLiteral]] = [{} for _ in happens]
        for (one, other), literal in pairs.items():
            both = literal & happens[one] & happens[other]
            if both:
                rows[one][other] = both
        return tuple(rows)

    def _all(self, related: Callable[[int, int], WrittenLiteral | bool]) -> dict[tuple[int, int], WrittenLiteral]:
        """The pairs of the program's events that are related."""
        literals = {True: self.program.writer.true, False: self.program.writer.false}
        events = self.program.events
        found = {(one, other): related(one, other) for one in events for other in events}
        return {pair: literals[literal] if isinstance(literal, bool) else literal for pair, literal in found.items()}

    def _of_threads(
        self, related: Callable[[int, int], WrittenLiteral | bool]
    ) -> dict[tuple[int, int], WrittenLiteral]:
        """The pairs of events whose threads are related."""
        thread = self.program.thread
        return self._all(lambda e, f: related(thread[e], thread[f]))

    def _po(self) -> Pairs:
        thread = self.program.thread
        return self._all(lambda e, f: e < f and thread[e] == thread[f])

    def _ext(self) -> Pairs:
        found = self._of_threads(lambda t, u: t != u)
        initial = range(len(self.program.thread), self.algebra.size)
        for one, other in product(initial, range(self.algebra.size)):
            if one != other:
                found[one, other] = found[other, one] = self.program.writer.true
        return found

    def _one_place(self, pairs: Pairs) -> Pairs:
        """The pairs of events that access one location, or one address; an initial write has those of the event that
        is the first."""
        size = len(self.program.thread)
        found = self._all(lambda e, f: self.program.related(pairs, e, f))
        for i in range(len(self.first)):
            found[size + i, size + i] = self.program.writer.true
            for e in range(i, size):
                found[size + i, e] = found[e, size + i] = self.program.related(pairs, i, e)
        return found

    def _initial(self, related: Callable[[int], WrittenLiteral]) -> dict[tuple[int, int], WrittenLiteral]:
        """The pairs of initial writes and events at their locations for which ``related`` has a literal."""
        size, loc = len(self.program.thread), self.program.loc
        return {(size + i, e): loc[i, e] & related(e) for i in range(len(self.first)) for e in range(i, size)}

    def _rf(self) -> Pairs:
        return {**self.program.rf, **self._initial(lambda e: self.program.init[e])}

    def _co(self) -> Pairs:
        return {**self.choice.co, **self._initial(lambda e: self.program.of(e, EventKind.WRITE))}

    def _fr(self) -> Pairs:
        """A read to the writes after the one that it reads, or to all, where it reads the initial value."""
        program, co, false = self.program, self.choice.co, self.program.writer.false

        def overwritten(read: int, write: int) -> WrittenLiteral:
            initial = program.init[read] & program.of(write, EventKind.WRITE)
            initial = initial & program.related(program.loc, read, write)
            sources = (
                source & program.happens[w] & co.get((w, write), false)
                for (w, r), source in program.rf.items()
                if r == read
            )
            return initial | program.writer.any_of(sources)

        return self._all(overwritten)

    def _addr(self) -> Pairs:
        """The address dependencies, to the instruction, and to both halves of an update."""
        program, false = self.program, self.program.writer.false
        return self._all(
            lambda r, e: program.addr.get((r, e), false) | (program.addr.get((r, e - 1), false) & program.half[e])
        )

    def _ctrl(self) -> Pairs:
        """The control dependencies, from the read that decides a branch to all events of its thread after the
        branch."""
        branch, thread = self.program.branch, self.program.thread
        return self._all(
            lambda r, e: self.program.writer.any_of(
                there for (s, f), there in branch.items() if s == r and f <= e and thread[f] == thread[e]
            )
        )

    def _reaches(self, one: int, other: int, without: Scope | None = None) -> WrittenLiteral:
        """The literal that the thread of an event is in the scope that another names; ``without``: the scope of one
        that names none."""
        program, (t, u) = self.program, (self.program.thread[one], self.program.thread[other])
        scopes = ((way.scope or without, literal) for way, literal in program.ways[one].literals.items())
        return program.writer.any_of(
            literal & program.in_group(t, u, scope) for scope, literal in scopes if scope is not None
        )

    def _sr(self) -> Pairs:
        return self._all(lambda e, f: self._reaches(e, f) & self._reaches(f, e))

    def _sync_fence(self) -> Pairs:
        """The order of the ``fence.sc`` of a thread, and of those in each other's scope, closed."""
        program, thread = self.program, self.program.thread

        def ordered(f: int, g: int) -> WrittenLiteral:
            inside = program.writer.true
            if thread[f] != thread[g]:
                inside = self._reaches(f, g, Scope.SYS) & self._reaches(g, f, Scope.SYS)
            before = self.choice.fences.get((f, g), program.writer.false)
            return _is_strong_fence(program, f) & _is_strong_fence(program, g) & before & inside

        closed = self.algebra.closure(self._relation(self._all(ordered)))
        return {(f, g): literal for f, row in enumerate(closed) for g, literal in row.items()}

    def _awaits(self) -> Pairs:
        program, thread = self.program, self.program.thread

        def waits(one: int, other: int) -> WrittenLiteral:
            t, u = thread[one], thread[other]
            return (
                program.writer.false
                if t == u
                else program.of(one, EventKind.BARRIER) & program.in_group(t, u, Scope.CTA)
            )

        return self._all(waits)

    def _syncbar(self) -> Pairs:
        """Barriers of a CTA that meet, as they have equally many before them; none waits for one that arrives alone."""
        program = self.program
        awaits = self._awaits()

        def meet(one: int, other: int) -> WrittenLiteral:
            waiting = program.of(other, EventKind.BARRIER) & ~program.tagged(other, "ARRIVE")
            ranks = program.rank[one].keys() & program.rank[other].keys()
            together = (program.rank[one][rank] & program.rank[other][rank] for rank in sorted(ranks))
            return awaits[one, other] & waiting & program.writer.any_of(together)

        return self._all(meet)

    def _group(self, scope: Scope) -> Pairs:
        return self._of_threads(lambda t, u: self.program.in_group(t, u, scope))


_RELATIONS: Mapping[str, Callable[[ModelView], Pairs]] = {
    "po": ModelView._po,
    "int": lambda seen: seen._of_threads(lambda t, u: t == u),
    "ext": ModelView._ext,
    "loc": lambda seen: seen._one_place(seen.program.loc),
    "vloc": lambda seen: seen._one_place(seen.program.vloc),
    "addr": ModelView._addr,
    "data": lambda seen: seen.program.data,
    "ctrl": ModelView._ctrl,
    **dict.fromkeys(("casdep", *OF_OPERATIONS), lambda seen: {}),
    "rmw": lambda seen: seen.program.updates,
    "rf": ModelView._rf,
    "co": ModelView._co,
    "fr": ModelView._fr,
    "sync_fence": ModelView._sync_fence,
    "swarp": lambda seen: seen._group(Scope.WARP),
    "scta": lambda seen: seen._group(Scope.CTA),
    "squeue": lambda seen: seen._group(Scope.QUEUE),
    "sgpu": lambda seen: seen._group(Scope.GPU),
    "sr": ModelView._sr,
    "syncbar": ModelView._syncbar,
    "awaits": ModelView._awaits,
    "ssw": lambda seen: seen._of_threads(lambda t, u: seen.program.ssw.get((t, u), seen.program.writer.false)),
}
