"""The critical cycles whose tests some models allow and others forbid, as far as clauses can tell.

The clauses of cycles (``constraints.cycles``) are joined with those of the models, which see the cycle's own execution:
accesses, a fence between two of them where the edge is one, reads-from as the cycle has it (``corpus.cycles.cycle``). A
test asks for an outcome. An outcome fixes everything except the order of ``fence.sc`` and, where a model leaves writes
unordered, the order of writes of a location. Every cycle whose test is asked for satisfies the clauses; the oracle has
the last word.

A location of three writes or more has an observer in the test (``corpus.litmus.made``), and so in the execution.

Variables, besides those of cycles
    co(m, w, v)         model m has write w before write v
    fence(m, f, g)      model m has fence f before fence g
    home(t)             an observer is beside thread t, if the writers that it observes are not together

Constraints
    a model that is to allow the test allows an execution of the outcome: with the choices that its variables make
    a model that is to forbid it forbids each: of the choices that were learned, one of its checks fails

Choices to be forbidden are learned where one makes an execution allowed (``_Verifier``). They are orders of all events,
so that any cycle has them. Each way to divide the events into threads (``divisions``) has a formula, without an
observer or with one of so many writes: program order is then known, and needs no literals. With two observers, or one
of more than ``MOST_OBSERVED`` writes, the clauses say nothing of the models, and all cycles are given. The size is that
of the models over up to 2 n events, and 2 k - 3 more for an observer of k writes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

from constraints.circuit import Circuit, Literal
from constraints.cycles import CycleBounds, CycleEncoding
from constraints.formula import Clause, Formula
from constraints.loop import SolverEffort, solutions
from constraints.programs.choices import ordered
from constraints.programs.judging import AllowedSearch, checks_and_flags, require_forbidden
from constraints.programs.skeleton import OrderLiterals
from constraints.programs.view import EventMode, EventModes, ExecutionView, SpacedView
from constraints.solvers import DEFAULT_SOLVER, open_solver
from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import COMMUNICATION, Edge, atomic_mode, inner_communication
from corpus.litmus.made import STRONG, WIDEST
from corpus.litmus.orders import PLAIN, SCOPES, Order
from oracle.cat.interpreter import Model
from oracle.executions.events import EventKind
from oracle.executions.initial import sees_initial_writes
from oracle.executions.steps import TooManyError

Division = tuple[bool, ...]
"""For each edge of a cycle, whether it stays in its thread; the last edge does not."""


def divisions(bounds: CycleBounds, size: int) -> Iterator[Division]:
    """The ways to divide the events of a cycle into threads, those with the fewest threads first."""
    atomic = any(edge.kind == "Rmw" for run in bounds.vocabulary.runs for edge in run)
    longest = bounds.thread_accesses * (2 if atomic else 1)
    least, most = bounds.threads or (2, size)
    for threads in range(max(least, 2), min(most, size) + 1):
        for lengths in _parts(size, threads, longest):
            yield tuple(event + 1 < length for length in lengths for event in range(length))


def _parts(total: int, parts: int, most: int) -> Iterator[tuple[int, ...]]:
    """The ways to write a number as a sum of so many numbers from 1 to ``most``, great ones first."""
    if not parts <= total <= parts * most:
        return
    if parts == 0:
        yield ()
        return
    for first in range(min(most, total), 0, -1):
        yield from ((first, *rest) for rest in _parts(total - first, parts - 1, most))


MOST_CLAUSES = 3_000_000
"""The limit of clauses, above which the cycles of a division are all given, for the oracle to judge."""

MOST_OBSERVED = 4
"""The limit of observed writes; clauses with an observer of more writes are not made."""


@dataclass(frozen=True)
class _Choice:
    """How an outcome comes about, of any cycle: the order of all fences that may be ``fence.sc``, and which two writes,
    events p < q, are not in the order of the cycle but in the other, or in none."""

    fences: tuple[int, ...]
    turned: frozenset[tuple[int, int]] = frozenset()
    unordered: frozenset[tuple[int, int]] = frozenset()


class _Programs:
    """The tests of cycles that are divided in one way, as models see them; events are those of a ``View``.

    ``access[p]`` is event p of the cycle, ``fence[p]`` the fence between it and the next, where there may be one;
    ``loads`` are those of an observer of ``observed`` writes, where that is not 0.
    """

    def __init__(self, bounds: CycleBounds, division: Division, observed: int = 0) -> None:
        self.bounds, self.division, self.observed = bounds, division, observed
        self.circuit = circuit = Circuit(most=MOST_CLAUSES)
        self.cycles = CycleEncoding(bounds, len(division), circuit.formula)
        for position, internal in enumerate(division):
            joined = self._literal(self.cycles.joined("internal", position))
            circuit.require(joined if internal else ~joined)
        self._events()
        self.reads = [self._has(p, lambda edge: edge.source == "R") for p in self.positions]
        self._executed()
        self._histories()
        self._observed()
        self._ways()
        self._rest()

    def _events(self) -> None:
        fences = any(edge.fenced for edge in self.cycles.edges)
        self.access: list[int] = []
        self.fence: dict[int, int] = {}
        self.thread: list[int] = []
        self.loads: list[int] = []
        self.observer_fences: list[int] = []
        thread = 0
        for position, internal in enumerate(self.division):
            self.access.append(len(self.thread))
            self.thread.append(thread)
            if internal and fences:
                self.fence[position] = len(self.thread)
                self.thread.append(thread)
            thread += not internal
        for number in range(max(2 * self.observed - 3, 0)):
            (self.observer_fences if number % 2 else self.loads).append(len(self.thread))
            self.thread.append(thread)

    @property
    def positions(self) -> range:
        """The positions of the cycle, each of which is an event and the edge that begins with it."""
        return range(len(self.division))

    def _literal(self, number: int) -> Literal:
        return self.circuit.literal(number)

    def _has(self, position: int, fits: Callable[[Edge], bool]) -> Literal:
        """The literal that the edge at a position fits."""
        edges = [edge for edge in self.cycles.edges if edge.internal == self.division[position]]
        fitting = [edge for edge in edges if fits(edge)]
        if len(fitting) == len(edges):
            return self.circuit.true
        return self.circuit.any_of(self._literal(self.cycles.edge(position, edge)) for edge in fitting)

    def _kind(self, position: int, kind: str) -> Literal:
        return self._has(position, lambda edge: edge.kind == kind)

    def _executed(self) -> None:
        self.executed = [self.circuit.true] * len(self.thread)
        for position, fence in self.fence.items():
            self.executed[fence] = self._has(position, lambda edge: edge.fenced)

    def _ways(self) -> None:
        circuit, cycles = self.circuit, self.cycles
        found: list[dict[EventMode, Literal]] = [{} for _ in self.thread]
        atomic = {p: self._kind(p, "Rmw") for p in self.positions if self.division[p]}
        self.atomic = {p: literal for p, literal in atomic.items() if literal}

        def add(event: int, way: EventMode, literal: Literal) -> None:
            found[event][way] = found[event].get(way, circuit.false) | literal

        for p in self.positions:
            read, first, second = self.reads[p], self.atomic.get(p), self.atomic.get(p - 1)
            for note in cycles.annotations:
                here = self._literal(cycles.note(p, note))
                if "R" in note.fits:
                    add(self.access[p], EventMode(EventKind.READ, note.mode), here & read & ~(first or circuit.false))
                if "W" in note.fits:
                    add(
                        self.access[p], EventMode(EventKind.WRITE, note.mode), here & ~read & ~(second or circuit.false)
                    )
        for p, literal in self.atomic.items():
            for one, other in product(cycles.annotations, repeat=2):
                mode = atomic_mode(one, other)
                if mode is not None:
                    both = self._literal(cycles.note(p, one)) & self._literal(cycles.note(p + 1, other)) & literal
                    add(self.access[p], EventMode(EventKind.READ, mode, True), both)
                    add(self.access[p + 1], EventMode(EventKind.WRITE, mode, True), both)
        for p, fence in self.fence.items():
            for edge in cycles.edges:
                if edge.fenced:
                    add(fence, EventMode(EventKind.FENCE, edge.fence), self._literal(cycles.edge(p, edge)))
        strong = ~circuit.any_of(
            self.written[p] & literal
            for p in self.positions
            for way, literal in found[self.access[p]].items()
            if way.kind is EventKind.WRITE and not (way.rmw or way.mode.scope or way.mode.volatile)
        )
        for load in self.loads:
            add(load, EventMode(EventKind.READ, STRONG), strong)
            add(load, EventMode(EventKind.READ, PLAIN), ~strong)
        for fence in self.observer_fences:
            add(fence, EventMode(EventKind.FENCE, WIDEST), circuit.true)
        self.ways = [EventModes(circuit, {way: literal for way, literal in ways.items() if literal}) for ways in found]

    def _histories(self) -> None:
        """Defines ``before[p][q]``: in the order of their location, p comes before q."""
        circuit, positions = self.circuit, self.positions
        same = [self._literal(self.cycles.joined("same", p)) for p in positions]
        one_location = circuit.true
        for literal in same:
            one_location = one_location & literal
        steps = [self._has(p, lambda edge: edge.kind not in COMMUNICATION) for p in positions]
        plain = [self._has(p, lambda edge: inner_communication(edge) is None) & steps[p] for p in positions]
        any_plain = circuit.any_of(plain)
        on = []
        plain_so_far, so_far = circuit.false, circuit.false
        for p in positions:
            back = (plain[p] & ~plain_so_far) | (steps[p] & ~any_plain & ~so_far)
            plain_so_far, so_far = plain_so_far | plain[p], so_far | steps[p]
            on.append(same[p] & ~(one_location & back))
        self.before: list[dict[int, Literal]] = [{} for _ in positions]
        for p in positions:
            so_far = circuit.true
            for distance in range(1, len(positions)):
                so_far = so_far & on[(p + distance - 1) % len(positions)]
                self.before[p][(p + distance) % len(positions)] = so_far

    def _observed(self) -> None:
        """Defines ``target[p]``: event p is of a location with an observer; and ``rank[p][k]``: k writes come before
        event p."""
        circuit, positions, false = self.circuit, self.positions, self.circuit.false
        self.rank: list[dict[int, Literal]] = []
        for p in positions:
            rank = {0: circuit.true}
            for q in positions:
                if q != p:
                    write = self.before[q][p] & ~self.reads[q]
                    rank = {
                        k: (rank.get(k, false) & ~write) | (rank.get(k - 1, false) & write)
                        for k in range(len(rank) + 1)
                    }
            self.rank.append(rank)
        third = [~self.reads[p] & self.rank[p].get(2, false) for p in positions]
        self.some_observed = circuit.any_of(third)
        self.target = [
            circuit.any_of(third[q] & (circuit.true if p == q else self._one_location(p, q)) for q in positions)
            for p in positions
        ]
        self.written = [self.target[p] & ~self.reads[p] for p in positions]

    def _one_location(self, one: int, other: int) -> Literal:
        return self.before[one][other] | self.before[other][one]

    def fits(self, observed: int) -> Literal:
        """The literal that one location has an observer, of ``observed`` writes."""
        circuit, false = self.circuit, self.circuit.false
        last, more = (
            circuit.any_of(self.written[p] & self.rank[p].get(k, false) for p in self.positions)
            for k in (observed - 1, observed)
        )
        fits = last & ~more
        for p, q in combinations(self.positions, 2):
            fits = fits & ~(self.target[p] & self.target[q] & ~self._one_location(p, q))
        return fits

    def _rest(self) -> None:
        circuit, false, size = self.circuit, self.circuit.false, len(self.thread)
        self.loc = [dict.fromkeys(range(size), false) for _ in range(size)]
        self.rf = [dict[int, Literal]() for _ in range(size)]
        self.initial = dict.fromkeys(range(size), false)
        self.shared = [false] * size
        for p in self.positions:
            e = self.access[p]
            self.loc[e][e] = circuit.true
            self.shared[e] = self._literal(self.cycles.shared(p))
            for q in self.positions:
                if q != p:
                    self.loc[e][self.access[q]] = self.before[p][q] | self.before[q][p]
            writes = [self.before[q][p] & ~self.reads[q] if q != p else false for q in self.positions]
            self.initial[e] = self.reads[p] & ~circuit.any_of(writes)
            for w, before in enumerate(writes):
                later = circuit.any_of(writes[v] & self.before[w][v] for v in self.positions if v != w)
                self.rf[self.access[w]][e] = self.reads[p] & before & ~later
        for load, other in permutations(self.loads, 2):
            self.loc[load][other] = circuit.true
        for number, load in enumerate(self.loads):
            self.loc[load][load] = circuit.true
            self.shared[load] = circuit.any_of(self.target[p] & self.shared[self.access[p]] for p in self.positions)
            for p in self.positions:
                self.loc[load][self.access[p]] = self.loc[self.access[p]][load] = self.target[p]
                self.rf[self.access[p]][load] = self.written[p] & self.rank[p].get(number, false)
        self.home: list[Literal] = []
        self.same = {SCOPES[level]: self._groups(level) for level in self.bounds.levels}
        self.depends = {kind: self._dependencies(kind) for kind in ("addr", "data", "ctrl")}

    def _groups(self, level: str) -> list[list[Literal]]:
        """The literals that two threads are in one group of a level; an observer is with the writers, if they are
        together.

        Beside writers on two GPUs, it is on any one GPU where there are threads; the name of the cycle says which one.
        """
        circuit = self.circuit
        starts = [p for p in self.positions if p == 0 or not self.division[p - 1]]

        def same(one: int, other: int) -> Literal:
            return circuit.true if one == other else self._literal(self.cycles.same(level, one, other))

        rows = [[same(p, q) for q in starts] for p in starts]
        if self.loads:
            apart = circuit.any_of(
                self.written[p] & self.written[q] & ~same(p, q) for p, q in combinations(self.positions, 2)
            )
            beside = [~apart & circuit.any_of(self.written[p] & same(p, q) for p in self.positions) for q in starts]
            if level == "gpu":
                self.home = [circuit.var("home", p) for p in starts]
                circuit.exactly_one(self.home, circuit.true)
                anywhere = [
                    circuit.any_of(h & same(p, q) for h, p in zip(self.home, starts, strict=True)) for q in starts
                ]
                beside = [literal | (apart & where) for literal, where in zip(beside, anywhere, strict=True)]
            for row, literal in zip(rows, beside, strict=True):
                row.append(literal)
            rows.append([*beside, circuit.true])
        return rows

    def _dependencies(self, kind: str) -> list[dict[int, Literal]]:
        rows = [dict[int, Literal]() for _ in self.thread]
        for p in self.positions:
            if not self.division[p]:
                continue
            here = self._kind(p, kind.capitalize())
            rows[self.access[p]][self.access[p + 1]] = here
            if kind == "addr" and p + 1 in self.atomic:
                rows[self.access[p]][self.access[p + 2]] = here & self.atomic[p + 1]
            if kind == "ctrl":
                if p in self.fence:
                    rows[self.access[p]][self.fence[p]] = self._has(p, lambda edge: edge.kind == "Ctrl" and edge.fenced)
                for later in range(self.access[p + 1], len(self.thread)):
                    if self.thread[later] == self.thread[self.access[p]]:
                        rows[self.access[p]][later] = here
        return rows

    # What models see

    def view(self, choices: OrderLiterals, model: Model, negative: bool) -> ExecutionView:
        """The execution with these choices as the model sees it."""
        return SpacedView(
            circuit=self.circuit,
            thread=self.thread,
            ways=self.ways,
            loc=self.loc,
            vloc=self.loc,
            executed=self.executed,
            rmw={self.access[p]: literal for p, literal in self.atomic.items()},
            same=self.same,
            shared=self.shared,
            depends=self.depends,
            place=[{} for _ in self.thread],
            rf=self.rf,
            initial=self.initial,
            co=choices.co,
            before=choices.before,
            negative=negative,
            initial_writes=sees_initial_writes(model),
        )

    @property
    def strong(self) -> list[int]:
        """The fences of the cycle, by number, that may be ``fence.sc``."""
        fences = [*self.fence.values(), *self.observer_fences]
        return [fence for fence in fences if any(way.mode.order is Order.SC for way in self.ways[fence].chosen)]

    def _writes(self, one: int, other: int) -> Literal:
        """The literal that two events are writes of one location, the first of which comes first in the cycle."""
        return self.before[one][other] & ~self.reads[one] & ~self.reads[other]

    def open(self, name: Hashable, model: Model) -> OrderLiterals:
        """New choices of coherence and fence order for a model, as variables."""
        circuit = self.circuit
        co = [dict[int, Literal]() for _ in self.thread]
        pairs: dict[tuple[int, int], Literal] = {}
        for p, q in permutations(self.positions, 2):
            if self._writes(p, q) | self._writes(q, p):
                pairs[p, q] = co[self.access[p]][self.access[q]] = circuit.var("co", name, p, q)
        for (p, q), there in pairs.items():
            back, along = pairs[q, p], self._writes(p, q)
            circuit.require(~there, along, self._writes(q, p))
            circuit.require(~there, ~back)
            if not model.partial_co:
                circuit.require(~along, there, back)
        for p, q, r in permutations(self.positions, 3):
            if (p, q) in pairs and (q, r) in pairs:
                circuit.require(~pairs[p, q], ~pairs[q, r], pairs.get((p, r), circuit.false))
        for (p, _), there in pairs.items():
            circuit.require(~there, ~self._is_last(p))
        fences = self.strong if model.mentions("sync_fence") else []
        return OrderLiterals(co, ordered(circuit, name, len(self.thread), fences))

    def allow(self, name: Hashable, model: Model) -> OrderLiterals:
        """New choices, by which every check of the model holds."""
        choices = self.open(name, model)
        checks, _ = checks_and_flags(model, self.view(choices, model, negative=False))
        for truth in checks:
            self.circuit.require(truth)
        return choices

    def _is_last(self, position: int) -> Literal:
        """The literal that no write of its location comes after a write."""
        return ~self.circuit.any_of(self._writes(position, q) for q in self.positions if q != position)

    def chosen(self, choice: _Choice) -> tuple[OrderLiterals, Literal]:
        """Choices that are known, and that the outcome can come about by them."""
        circuit = self.circuit
        co = [dict[int, Literal]() for _ in self.thread]
        pairs: dict[tuple[int, int], Literal] = {}
        for p, q in permutations(self.positions, 2):
            pair = min(p, q), max(p, q)
            there = self._writes(q, p) if pair in choice.turned else self._writes(p, q)
            if there and pair not in choice.unordered:
                pairs[p, q] = co[self.access[p]][self.access[q]] = there
        possible = circuit.true
        for (p, q), there in pairs.items():
            if choice.turned:
                possible = possible & ~(there & self._is_last(p))
            for r in self.positions if choice.turned or choice.unordered else ():
                if (q, r) in pairs and p != r:
                    possible = possible & ~(there & pairs[q, r] & ~pairs.get((p, r), circuit.false))
        before = [dict[int, Literal]() for _ in self.thread]
        for f, g in combinations(choice.fences, 2):
            before[f][g] = circuit.true
        return OrderLiterals(co, before), possible

    def choice(self, choices: OrderLiterals, holds: Callable[[Literal], bool]) -> _Choice:
        """The choices of an execution of a cycle, as those of any cycle."""
        turned: set[tuple[int, int]] = set()
        unordered: set[tuple[int, int]] = set()
        for p, q in permutations(self.positions, 2):
            if holds(self._writes(p, q)):
                there, back = (choices.co[self.access[e]][self.access[f]] for e, f in ((p, q), (q, p)))
                if not holds(there):
                    (turned if holds(back) else unordered).add((min(p, q), max(p, q)))
        before = choices.before
        fences = sorted(self.strong, key=lambda f: sum(holds(before[g][f]) for g in self.strong if f in before[g]))
        return _Choice(tuple(fences), frozenset(turned), frozenset(unordered))


class Separating:
    """The cycles of one division whose tests these models may allow and forbid; an ``Encoding`` of the synthesis loop.

    ``observed``: 0 for cycles without an observer, else the number of writes that the one observer observes. Raises
    ``TooManyError`` where the clauses are too many.
    """

    def __init__(
        self,
        bounds: CycleBounds,
        division: Division,
        allowed_by: Iterable[Model],
        forbidden_by: Iterable[Model],
        observed: int = 0,
    ) -> None:
        self._bounds, self._division, self._observed = bounds, division, observed
        self._programs = programs = _Programs(bounds, division, observed)
        self._circuit = circuit = programs.circuit
        self._verifiers: dict[str, _Verifier] = {}
        self._forbidden_by = list(forbidden_by)
        circuit.require(programs.fits(observed) if observed else ~programs.some_observed)
        for number, model in enumerate(allowed_by):
            programs.allow(number, model)
        for model in self._forbidden_by:
            self._forbid(model, _Choice(tuple(programs.strong)))

    def _forbid(self, model: Model, choice: _Choice) -> None:
        """Requires that the model forbids the execution that a choice makes."""
        choices, possible = self._programs.chosen(choice)
        view = self._programs.view(choices, model, negative=True)
        require_forbidden(self._circuit, model, view, possible, unflagged=False)

    @property
    def formula(self) -> Formula:
        """The clauses of the cycles and of the models that see them."""
        return self._circuit.formula

    def decode(self, model: Sequence[int]) -> Cycle:
        """The critical cycle of a model of the formula."""
        return self._programs.cycles.decode(model)

    def refine(self, model: Sequence[int], solution: Cycle) -> Sequence[Clause]:
        """Where a model that should forbid the test allows it by choices not yet learned: clauses by which it
        forbids these, too."""
        before = len(self._circuit.formula.clauses)
        home = [number for number, literal in enumerate(self._programs.home) if model[literal.number - 1] > 0]
        for forbidding in self._forbidden_by:
            if forbidding.name not in self._verifiers:
                self._verifiers[forbidding.name] = _Verifier(self._bounds, self._division, forbidding, self._observed)
            choice = self._verifiers[forbidding.name].allowed(solution, home)
            if choice is not None:
                self._forbid(forbidding, choice)
                break
        return self._circuit.formula.clauses[before:]

    def block(self, solution: Cycle) -> list[Clause]:
        """The blocking clauses of a cycle, which are those of the cycle encoding."""
        return self._programs.cycles.block(solution)


class _Verifier:
    """Looks for an execution of a cycle's outcome that a model allows."""

    def __init__(self, bounds: CycleBounds, division: Division, model: Model, observed: int) -> None:
        self._programs = programs = _Programs(bounds, division, observed)
        self._choices = programs.allow("", model)
        self._search = AllowedSearch(programs.circuit)

    def allowed(self, cycle: Cycle, home: Sequence[int]) -> _Choice | None:
        """The choices of an allowed execution; None where every execution is forbidden. ``home``: the thread that an
        observer is beside."""
        there = [self._programs.home[thread].number for thread in home]
        holds = self._search.find([*self._programs.cycles.literals(cycle), *there])
        return None if holds is None else self._programs.choice(self._choices, holds)


def separating_cycles(
    bounds: CycleBounds,
    division: Division,
    allowed_by: Sequence[Model],
    forbidden_by: Sequence[Model],
    solver_name: str = DEFAULT_SOLVER,
    effort: SolverEffort | None = None,
) -> Iterator[Cycle]:
    """Every critical cycle of a division whose test these models may allow and forbid, once up to rotation.

    All cycles whose tests the models do allow and forbid are among them. Where the clauses would be too many, all
    cycles of the division are given.
    """
    effort = effort or SolverEffort()
    programs = _Programs(bounds, division)
    kinds = {0: ~programs.some_observed}
    kinds |= {observed: programs.fits(observed) for observed in range(3, MOST_OBSERVED + 1)}
    others = ~programs.circuit.any_of(kinds.values())

    def plain(kind: Literal) -> Iterator[Cycle]:
        return solutions(programs.cycles, solver_name, [kind.number], effort=effort)

    solver = open_solver(solver_name, programs.cycles.formula.variables)
    solver.add(programs.cycles.formula.clauses)
    there = [observed for observed, kind in kinds.items() if solver.solve([kind.number])]
    rest = solver.solve([others.number])
    solver.close()
    effort.calls += len(kinds) + 1
    for observed in there:
        try:
            encoding = Separating(bounds, division, allowed_by, forbidden_by, observed)
            yield from solutions(encoding, solver_name, effort=effort)
        except TooManyError:
            yield from plain(kinds[observed])
    if rest:
        yield from plain(others)
