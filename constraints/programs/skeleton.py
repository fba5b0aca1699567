"""The program skeleton as clauses: the variables and constraints of all programs whose threads have given sizes.

Only the number of events of each thread is fixed. The instructions, locations, scope tree and dependencies of a program
are open, and so is its outcome: what each read reads, and the last write of each location.

Worked example: two threads of one event each, plain reads and writes, no dependencies. Event 0 is of thread 0, event 1
of thread 1. Each model of the formula is one program with one outcome.

>>> from constraints.solvers import open_solver
>>> from corpus.executions.text import execution_text
>>> from corpus.litmus.orders import PLAIN
>>> words = Vocabulary("example", {Instruction.READ: (PLAIN,), Instruction.WRITE: (PLAIN,)}, dependencies=())
>>> circuit = Circuit()
>>> skeleton = ProgramSkeleton(circuit, words, (1, 1))
>>> final = skeleton.last_writes()
>>> solver = open_solver("cadical195", circuit.formula.variables)
>>> solver.add(circuit.formula.clauses)
>>> found = []
>>> while solver.solve():
...     model = solver.model()
...     last = [w for w in skeleton.events if final[w].holds(model)]
...     execution = skeleton.execution([False, *(literal > 0 for literal in model)], frozenset(), last)
...     found.append(execution_text(execution).replace("0.0.0.0: ", "P0: ").replace("0.0.1.0: ", "P1: "))
...     solver.add([[-literal for literal in model]])
>>> for line in sorted(found):
...     print(line)
P0: R x<-1 | P1: W x | final x=1
P0: R x<-init | P1: R x<-init
P0: R x<-init | P1: R y<-init
P0: R x<-init | P1: W x | final x=1
P0: R x<-init | P1: W y | final y=1
P0: W x | P1: W x | final x=0
P0: W x | P1: W x | final x=1
P0: W x | P1: W y | final x=0 y=1

A program with a write in P0 and a read in P1 is missing, for exchanging its threads gives one that is listed. The two
outcomes of ``W x | W x`` are images of each other as well: threads that tie are left to whoever blocks a solution.

Variables
    way(e, k, m)        event e begins an instruction of kind k done in mode m; or is the second half of an update
    loc(e, f)           events e < f access one location
    vloc(e, f)          events e < f access one location by one address; only where locations may have aliases
    shared(e)           event e accesses shared memory
    same(v, t, u)       threads t < u are in one group of level v of the scope tree
    ssw(t, u)           thread t synchronises with thread u by the system; only where the vocabulary has that
    addr, data(r, e)    what is read at r goes into the address or the value of e
    branch(r, e)        what is read at r decides a branch right before e
    rf(w, r), init(r)   read r reads what write w wrote, or the initial value
    final(w)            the value of write w is the last of its location

Constraints
    each event is done in one way, or is half of the update that begins before it
    to access one location is an equivalence of accesses, in which the halves of an update are related
    to access one location by one address is an equivalence within that one
    groups of the scope tree are equivalences of threads, narrower ones within wider ones
    a location in shared memory is accessed by threads of one CTA, unless there are asynchronous operations
    asynchronous operations and mbarriers are as ``constraints.programs.operations`` has them
    threads of one CTA have equally many barriers
    to synchronise by the system is a strict order of threads
    dependencies lead from reads to accesses that can have them; a read decides one branch at most
    a read has one source, of its location; a location that is written has one last write
    of two threads of equally many events, the earlier one is not greater: in its ways, then in what is said within it

The coherence order and the order of fences are no part of the skeleton, since one outcome may come about by several of
them (``OrderLiterals``). Locations and groups have no names here. Two programs are equal if an exchange of threads
turns one into the other. Where threads tie, all images of a solution are blocked together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations

from constraints.circuit import Circuit, Literal
from constraints.programs.operations import Choice, OperationClauses
from constraints.programs.view import EventMode, EventModes, ExecutionView
from corpus.executions.execution import INITIAL, Dependency, Execution, Step
from corpus.executions.execution import OpKind as Instruction
from corpus.executions.operations import settled
from corpus.executions.vocabulary import Vocabulary
from corpus.litmus.locations import Region
from corpus.litmus.normal import renumbered
from corpus.litmus.orders import Place, Scope
from oracle.executions.events import EventKind


@dataclass(frozen=True)
class OrderLiterals:
    """The choices by which an outcome comes about: ``co[w][v]``, and ``before[f][g]`` between events that may be
    ``fence.sc``."""

    co: Sequence[Mapping[int, Literal]]
    before: Sequence[Mapping[int, Literal]]


@dataclass
class ProgramSkeleton:
    """The variables and constraints of all programs, with outcomes, whose threads have ``sizes`` events."""

    circuit: Circuit
    words: Vocabulary
    sizes: tuple[int, ...]
    thread: list[int] = field(init=False)
    starts: list[dict[Choice, Literal]] = field(init=False)
    rmw: dict[int, Literal] = field(init=False)
    ways: list[EventModes] = field(init=False)
    loc: list[dict[int, Literal]] = field(init=False)
    vloc: list[dict[int, Literal]] = field(init=False)
    shared: list[Literal] = field(init=False)
    same: dict[Scope, list[list[Literal]]] = field(init=False)
    ssw: list[dict[int, Literal]] = field(init=False)
    addr: list[dict[int, Literal]] = field(init=False)
    data: list[dict[int, Literal]] = field(init=False)
    branch: list[dict[int, Literal]] = field(init=False)
    rf: list[dict[int, Literal]] = field(init=False)
    initial: dict[int, Literal] = field(init=False)
    operations: OperationClauses = field(init=False)

    def __post_init__(self) -> None:
        self.thread = [number for number, size in enumerate(self.sizes) for _ in range(size)]
        self._instructions()
        self._locations()
        self._places()
        self._dependencies()
        self._sources()
        self._operations()
        self._order_threads()

    @property
    def size(self) -> int:
        """The number of events of all threads together."""
        return len(self.thread)

    @property
    def events(self) -> range:
        """The numbers of the events, thread by thread in program order."""
        return range(self.size)

    def follows(self, event: int) -> bool:
        """Whether an event has another one before it in its thread."""
        return event > 0 and self.thread[event - 1] == self.thread[event]

    def reads(self, event: int) -> Literal:
        """The literal that an event is a read."""
        return self.ways[event].of(EventKind.READ)

    def writes(self, event: int) -> Literal:
        """The literal that an event is a write."""
        return self.ways[event].of(EventKind.WRITE)

    def starting(self, event: int, kind: Instruction) -> Literal:
        """The literal that an instruction of a kind begins with an event."""
        return self.circuit.any_of(literal for (begun, _), literal in self.starts[event].items() if begun is kind)

    def half(self, event: int) -> Literal:
        """The literal that an event is the write of an update."""
        return self.rmw[event - 1] if self.follows(event) and event - 1 in self.rmw else self.circuit.false

    # Instructions

    def _instructions(self) -> None:
        circuit = self.circuit
        self.starts, self.rmw, self.ways = [], {}, []
        for e in self.events:
            last = e + 1 == self.size or not self.follows(e + 1)
            chosen = {
                (kind, mode): circuit.var("way", e, kind, mode)
                for kind, modes in self.words.modes.items()
                for mode in modes
                if not (kind is Instruction.UPDATE and last)
            }
            self.starts.append(chosen)
            update = circuit.any_of(literal for (kind, _), literal in chosen.items() if kind is Instruction.UPDATE)
            if update:
                self.rmw[e] = update
            ways: dict[EventMode, Literal] = {}
            for (kind, mode), literal in chosen.items():
                rmw = kind is Instruction.UPDATE
                ways[EventMode(EventKind.READ if rmw else EventKind(kind.value), mode, rmw)] = literal
            if self.half(e):
                for (kind, mode), literal in self.starts[e - 1].items():
                    if kind is Instruction.UPDATE:
                        ways[EventMode(EventKind.WRITE, mode, True)] = literal
            circuit.exactly_one(list(ways.values()), circuit.true)
            self.ways.append(EventModes(circuit, ways))

    # Locations and places

    def accesses(self, event: int) -> Literal:
        """The literal that an event is a read or a write."""
        return self.reads(event) | self.writes(event)

    def _locations(self) -> None:
        circuit = self.circuit
        self.loc = self._equivalence("loc")
        for e, f in combinations(self.events, 2):
            circuit.require(~self.loc[e][f], self.accesses(e))
            circuit.require(~self.loc[e][f], self.accesses(f))
        self.vloc = self._equivalence("vloc") if self.words.aliases else self.loc
        for e, f in combinations(self.events, 2) if self.words.aliases else ():
            circuit.require(~self.vloc[e][f], self.loc[e][f])
        if Region.SHARED not in self.words.regions:
            self.shared = [circuit.false] * self.size
        elif Region.GLOBAL not in self.words.regions:
            self.shared = [self.accesses(e) for e in self.events]
        else:
            self.shared = [circuit.var("shared", e) for e in self.events]
            for e in self.events:
                circuit.require(~self.shared[e], self.accesses(e))
            for e, f in permutations(self.events, 2):
                circuit.require(~self.loc[e][f], ~self.shared[e], self.shared[f])

    def _equivalence(self, name: str) -> list[dict[int, Literal]]:
        """The literals of an equivalence of accesses, in which the halves of an update are related."""
        circuit = self.circuit
        rows = [{e: self.accesses(e)} for e in self.events]
        for e, f in combinations(self.events, 2):
            same = rows[e][f] = rows[f][e] = circuit.var(name, e, f)
            if e + 1 == f and self.half(f):
                circuit.require(~self.half(f), same)
        for e, f, g in permutations(self.events, 3):
            if e < g:
                circuit.require(~rows[e][f], ~rows[f][g], rows[e][g])
        return rows

    def _places(self) -> None:
        circuit, threads = self.circuit, range(len(self.sizes))
        self.same = {}
        for level in self.words.levels:
            rows = [[circuit.true] * len(threads) for _ in threads]
            for t, u in combinations(threads, 2):
                rows[t][u] = rows[u][t] = circuit.var("same", level, t, u)
            for t, u, v in permutations(threads, 3):
                if t < v:
                    circuit.require(~rows[t][u], ~rows[u][v], rows[t][v])
            self.same[level] = rows
        self.ssw = [{} for _ in threads]
        if self.words.synchronises:
            for t, u in permutations(threads, 2):
                self.ssw[t][u] = circuit.var("ssw", t, u)
            for t, u in combinations(threads, 2):
                circuit.require(~self.ssw[t][u], ~self.ssw[u][t])
            for t, u, v in permutations(threads, 3):
                circuit.require(~self.ssw[t][u], ~self.ssw[u][v], self.ssw[t][v])
        for wide, narrow in combinations(sorted(self.same, key=lambda level: level.value), 2):
            for t, u in combinations(threads, 2):
                circuit.require(~self.same[narrow][t][u], self.same[wide][t][u])
        for e, f in combinations(self.events, 2):
            if self.thread[e] != self.thread[f] and self.shared[e] and not self.words.asynchronous:
                circuit.require(~self.shared[e], ~self.loc[e][f], self._in_cta(self.thread[e], self.thread[f]))
        if Instruction.BARRIER in self.words.modes:
            counts = [self._barriers(t) for t in threads]
            for t, u in combinations(threads, 2):
                for count in range(max(self.sizes[t], self.sizes[u]) + 1):
                    one, other = (counts[x].get(count, circuit.false) for x in (t, u))
                    circuit.require(~self._in_cta(t, u), ~one, other)
                    circuit.require(~self._in_cta(t, u), one, ~other)

    def _in_cta(self, one: int, other: int) -> Literal:
        return self.same[Scope.CTA][one][other] if Scope.CTA in self.same else self.circuit.false

    def _barriers(self, thread: int) -> dict[int, Literal]:
        """The numbers of barriers that a thread may have, each with its literal."""
        counts = {0: self.circuit.true}
        for e in self.events:
            if self.thread[e] == thread:
                counts = self._counted(counts, e)
        return counts

    def _counted(self, counts: Mapping[int, Literal], event: int) -> dict[int, Literal]:
        barrier = self.ways[event].of(EventKind.BARRIER)
        false = self.circuit.false
        return {
            count: (counts.get(count, false) & ~barrier) | (counts.get(count - 1, false) & barrier)
            for count in range(len(counts) + 1)
        }

    def barrier_places(self) -> list[dict[int, Literal]]:
        """For each event, the numbers of barriers that may be before it in its thread, each with its literal."""
        places: list[dict[int, Literal]] = []
        for e in self.events:
            if Instruction.BARRIER not in self.words.modes:
                places.append({})
            else:
                places.append(self._counted(places[e - 1], e - 1) if self.follows(e) else {0: self.circuit.true})
        return places

    # Dependencies

    def _dependencies(self) -> None:
        circuit, kinds, one_kind = self.circuit, self.words.dependencies, self.words.interchangeable
        self.addr, self.data, self.branch = (_no_pairs(self.size) for _ in range(3))
        for r, e in combinations(self.events, 2):
            if self.thread[r] != self.thread[e]:
                continue
            read = self.reads(r)
            if "addr" in kinds:
                addr = self.addr[r][e] = circuit.var("addr", r, e)
                circuit.require(~addr, read)
                accesses = self.starting(e, Instruction.READ)
                if not one_kind:
                    accesses = circuit.any_of(
                        [accesses, self.starting(e, Instruction.WRITE), self.starting(e, Instruction.UPDATE)]
                    )
                circuit.require(~addr, accesses)
            if "data" in kinds:
                data = self.data[r][e] = circuit.var("data", r, e)
                circuit.require(~data, read)
                circuit.require(~data, self.writes(e))
                if r + 1 == e:
                    circuit.require(~data, ~self.half(e))  # not from an update to itself
            if "ctrl" in kinds and not one_kind:
                branch = self.branch[r][e] = circuit.var("branch", r, e)
                circuit.require(~branch, read)
                circuit.require(~branch, ~self.half(e))
        for row in self.branch:
            for one, other in combinations(row.values(), 2):
                circuit.require(~one, ~other)

    def depends(self) -> dict[str, list[dict[int, Literal]]]:
        """The dependencies as models see them, by kind: those of both halves of an update, and of all events after a
        branch."""
        circuit = self.circuit
        addr: list[dict[int, Literal]] = [dict(row) for row in self.addr]
        ctrl: list[dict[int, Literal]] = [{} for _ in self.events]
        for r in self.events:
            for e in sorted(self.addr[r]):
                if self.half(e) and e - 1 in self.addr[r]:
                    addr[r][e] = addr[r][e] | (self.half(e) & self.addr[r][e - 1])
            so_far = circuit.false
            for e in sorted(self.branch[r]):
                so_far = so_far | self.branch[r][e]
                ctrl[r][e] = so_far
        return {"addr": addr, "data": self.data, "ctrl": ctrl}

    # Reads-from and last writes

    def _sources(self) -> None:
        circuit = self.circuit
        self.rf = [{} for _ in self.events]
        self.initial = {}
        for r in self.events:
            self.initial[r] = circuit.var("init", r)
            circuit.require(~self.initial[r], self.reads(r))
            for w in self.events:
                if w != r:
                    rf = self.rf[w][r] = circuit.var("rf", w, r)
                    circuit.require(~rf, self.writes(w))
                    circuit.require(~rf, self.reads(r))
                    circuit.require(~rf, self.loc[w][r])
            sources = [self.initial[r], *(self.rf[w][r] for w in self.events if w != r)]
            circuit.exactly_one(sources, self.reads(r))

    def last_writes(self) -> list[Literal]:
        """The literals ``final(w)``, of which exactly one holds for each location that is written."""
        circuit = self.circuit
        final = [circuit.var("final", w) for w in self.events]
        for w in self.events:
            circuit.require(~final[w], self.writes(w))
            circuit.require(~self.writes(w), final[w], *(self.loc[w][v] & final[v] for v in self.events if v != w))
        for w, v in combinations(self.events, 2):
            circuit.require(~final[w], ~final[v], ~self.loc[w][v])
        if self.words.asynchronous:
            self.operations.require_known_values(self.loc)
        return final

    def _operations(self) -> None:
        self.operations = OperationClauses(self.circuit, self.thread, self.starts)
        if self.words.asynchronous:
            self.operations.require_objects(self.loc, self.shared, self.rf)
            self.operations.require_state_spaces(self.loc, self.shared)
            self.operations.require_homes(self.loc, self.shared, self._in_cta)

    # Symmetry

    def _order_threads(self) -> None:
        """Requires, of two threads of equally many events, that the first is not the greater."""
        every = [(kind, mode) for kind, modes in self.words.modes.items() for mode in modes]
        for t in range(len(self.sizes) - 1):
            if self.sizes[t] != self.sizes[t + 1]:
                continue
            equal = self.circuit.true
            firsts = [e for e in self.events if self.thread[e] == t]
            for e in firsts:
                f = e + self.sizes[t]
                keys = [key for key in every if key in self.starts[e] or key in self.starts[f]]
                above = self.circuit.false
                less, same = self.circuit.false, self.circuit.false
                false = self.circuit.false
                # The rest of the ways, the halves of updates, come last.
                for key in [None, *reversed(keys)]:
                    one = self.half(e) if key is None else self.starts[e].get(key, false)
                    other = self.half(f) if key is None else self.starts[f].get(key, false)
                    less = less | (one & above)
                    same = same | (one & other)
                    above = above | other
                self.circuit.require(~equal, less, same)
                equal = equal & same
            for one, other in self._own(firsts, self.sizes[t]):
                self.circuit.require(~equal, ~one, other)
                equal = equal & ((one & other) | (~one & ~other))

    def _own(self, events: Sequence[int], further: int) -> Iterator[tuple[Literal, Literal]]:
        """The literals about a thread, each with its counterpart about the thread whose events are ``further`` on."""
        for e in events:
            yield self.initial[e], self.initial[e + further]
            for f in events:
                for matrix in (self.rf, self.loc, self.vloc, self.addr, self.data, self.branch):
                    if f in matrix[e] and (f > e or matrix is self.rf):
                        yield matrix[e][f], matrix[e + further][f + further]

    # Views

    def view(self, choices: OrderLiterals, negative: bool) -> ExecutionView:
        """The execution with these choices as a consistency model sees it."""
        return ExecutionView(
            circuit=self.circuit,
            thread=self.thread,
            ways=self.ways,
            loc=self.loc,
            vloc=self.vloc,
            executed=[self.circuit.true] * self.size,
            rmw=self.rmw,
            same=self.same,
            shared=self.shared,
            depends=self.depends(),
            place=self.barrier_places(),
            rf=self.rf,
            initial=self.initial,
            co=choices.co,
            before=choices.before,
            negative=negative,
            synchronised=self.ssw,
            continues=self.operations.continues,
        )

    # Models of the formula, and executions

    def literals(self, execution: Execution) -> Iterator[Literal]:
        """The literals that the program of an execution of these sizes satisfies, its reads-from aside."""
        firsts = _first_events(execution)
        for i, step in enumerate(execution.steps):
            e = firsts[i]
            yield self.starts[e][step.kind, step.mode]
        places = _locations(execution)
        addresses = [step.address for step in execution.steps for _ in range(step.kind.events)]
        for e, f in combinations(self.events, 2):
            if places[e] is not None and places[f] is not None:
                yield self.loc[e][f] if places[e] == places[f] else ~self.loc[e][f]
                if self.words.aliases and places[e] == places[f]:
                    yield self.vloc[e][f] if addresses[e] == addresses[f] else ~self.vloc[e][f]
        if len(self.words.regions) > 1:
            for e, place in enumerate(places):
                if place is not None:
                    shared = execution.regions[place] is Region.SHARED
                    yield self.shared[e] if shared else ~self.shared[e]
        for level, rows in self.same.items():
            for t, u in combinations(range(len(self.sizes)), 2):
                yield rows[t][u] if execution.places[t].shares(execution.places[u], level) else ~rows[t][u]
        for t, row in enumerate(self.ssw):
            for u, literal in row.items():
                yield literal if (t, u) in execution.synchronised else ~literal
        there = {(dep.kind, firsts[dep.source], self._target(execution, dep, firsts)) for dep in execution.dependencies}
        for kind, matrix in (("addr", self.addr), ("data", self.data), ("ctrl", self.branch)):
            for r, row in enumerate(matrix):
                for e, literal in row.items():
                    yield literal if (kind, r, e) in there else ~literal

    def shape(self, execution: Execution) -> Iterator[Literal]:
        """The literals of the kinds of instructions of an execution, and of which of them access one location."""
        firsts, places = _first_events(execution), _locations(execution)
        for i, step in enumerate(execution.steps):
            yield self.starting(firsts[i], step.kind)
        for e, f in combinations(self.events, 2):
            if places[e] is not None and places[f] is not None:
                yield self.loc[e][f] if places[e] == places[f] else ~self.loc[e][f]

    def sources(self, execution: Execution) -> Iterator[Literal]:
        """The literals of what each read of an execution reads."""
        firsts = _first_events(execution)
        for i, source in enumerate(execution.rf):
            if source is not None:
                yield self.initial[firsts[i]] if source == INITIAL else self.rf[write_of(execution, source)][firsts[i]]

    @staticmethod
    def _target(execution: Execution, dep: Dependency, firsts: Sequence[int]) -> int:
        return write_of(execution, dep.target) if dep.kind == "data" else firsts[dep.target]

    def execution(
        self, satisfied: Sequence[bool], pairs: frozenset[tuple[int, int]], last: Collection[int]
    ) -> Execution:
        """The execution that a model of the formula stands for; ``satisfied[v]``: whether variable ``v`` holds.

        ``pairs`` are those of the coherence order, ``last`` the last writes of locations, as events. Of a copy that
        nobody can learn of, it does not say what it has read.
        """

        def holds(literal: Literal) -> bool:
            return satisfied[literal.number] if literal.number > 0 else not satisfied[-literal.number]

        threads: list[list[Step]] = [[] for _ in self.sizes]
        number: dict[int, int] = {}
        count = 0
        places: list[int | None] = []
        addresses: list[int] = []
        used: dict[int, int] = {}  # addresses of each location
        regions: list[Region] = []
        for e in self.events:
            place, address = None, 0
            if holds(self.accesses(e)):
                place = next((places[f] for f in range(e) if holds(self.loc[f][e])), None)
                if place is None:
                    place = len(regions)
                    regions.append(Region.SHARED if holds(self.shared[e]) else Region.GLOBAL)
                known = [addresses[f] for f in range(e) if holds(self.vloc[f][e])]
                address = known[0] if known else used.get(place, 0)
                used[place] = max(used.get(place, 0), address + 1)
            places.append(place)
            addresses.append(address)
            choice = next((choice for choice, literal in self.starts[e].items() if holds(literal)), None)
            if choice is None:
                number[e] = count - 1
                continue
            kind, mode = choice
            threads[self.thread[e]].append(Step(kind, place, mode, address))
            number[e] = count
            count += 1
        rf: list[int | None] = [None] * count
        for r in self.events:
            if holds(self.initial[r]):
                rf[number[r]] = INITIAL
        for w, row in enumerate(self.rf):
            for r, literal in row.items():
                if holds(literal):
                    rf[number[r]] = number[w]
        found = [
            Dependency(kind, number[r], number[e])
            for kind, matrix in (("addr", self.addr), ("data", self.data), ("ctrl", self.branch))
            for r, row in enumerate(matrix)
            for e, literal in row.items()
            if holds(literal)
        ]
        return settled(
            Execution(
                tuple(map(tuple, threads)),
                tuple(self._places_of(holds)),
                tuple(regions),
                tuple(sorted(found)),
                tuple(rf),
                frozenset((number[one], number[other]) for one, other in pairs),
                tuple(next((number[w] for w in last if places[w] == place), None) for place in range(len(regions))),
                tuple(sorted((t, u) for t, row in enumerate(self.ssw) for u, literal in row.items() if holds(literal))),
            )
        )

    def _places_of(self, holds: Callable[[Literal], bool]) -> tuple[Place, ...]:
        def group(level: Scope, t: int, default: int) -> int:
            if level not in self.same:
                return default
            return next(u for u in range(t + 1) if u == t or holds(self.same[level][t][u]))

        def place(t: int) -> Place:
            queue, cta, warp = group(Scope.QUEUE, t, 0), group(Scope.CTA, t, t), group(Scope.WARP, t, t)
            return Place(group(Scope.GPU, t, 0), queue, cta, warp)

        return renumbered(map(place, range(len(self.sizes))))


def _no_pairs(size: int) -> list[dict[int, Literal]]:
    return [{} for _ in range(size)]


def _first_events(execution: Execution) -> list[int]:
    firsts, e = [], 0
    for step in execution.steps:
        firsts.append(e)
        e += step.kind.events
    return firsts


def write_of(execution: Execution, instruction: int) -> int:
    """The number of the event by which an instruction writes: its first event, or the second one of an update."""
    return _first_events(execution)[instruction] + (execution.steps[instruction].kind is Instruction.UPDATE)


def _locations(execution: Execution) -> list[int | None]:
    """Return the number of the location that each event accesses."""
    return [step.location for step in execution.steps for _ in range(step.kind.events)]
