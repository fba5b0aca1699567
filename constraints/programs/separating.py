"""The critical cycles whose tests some models allow and others forbid, as far as clauses can tell.

The clauses of cycles (``constraints.cycles``) get those of the models, which see the cycle's own execution: accesses, a
fence between two of them where the edge is one, reads-from as the cycle has it (``corpus.cycles.cycle``). A test asks
for an outcome, which fixes everything but the order of ``fence.sc`` and, where a model leaves writes unordered, which
writes of a location are. Every cycle whose test is asked for satisfies the clauses; the oracle has the last word.

Variables, besides those of cycles
    co(m, w, v)         model m, with partial coherence, orders the writes w and v
    fence(m, f, g)      model m has fence f before fence g
    back(p)             edge p leads back in the history of the one location that there is

Constraints
    a model that is to allow the test allows an execution of the outcome: with the choices that its variables make
    a model that is to forbid it forbids each: of the choices that were learned, one of its checks fails
    neither is said of a cycle that has three writes to a location, whose test has an observer besides

Choices to be forbidden are learned where one makes an execution allowed (``_Verifier``); they are orders of all events,
so that any cycle has them. There is one formula for each way to divide the events into threads (``divisions``): program
order is then known, and not literals. The size is that of the models over up to 2 n events.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, permutations, product

from constraints.circuit import Circuit, Literal
from constraints.cycles import DEFAULT_SOLVER, CycleBounds, CycleEncoding
from constraints.formula import Clause, Formula
from constraints.loop import Effort, solutions
from constraints.programs.unknown import Choices
from constraints.programs.view import View, Way, Ways
from constraints.solvers import Solver, open_solver
from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import COMMUNICATION, Edge, atomic_mode, inner_communication
from corpus.litmus.test import SCOPES, Order
from oracle.cat.interpreter import Model
from oracle.executions.events import Kind
from oracle.executions.initial import sees_initial_writes
from oracle.executions.steps import TooManyError

Division = tuple[bool, ...]
"""Of each edge, whether it stays in its thread; the last does not."""


def divisions(bounds: CycleBounds, size: int) -> list[Division]:
    """The ways to divide the events of a cycle into threads, fewest threads first."""
    edges = [edge for run in bounds.vocabulary.runs for edge in run]
    atomic = any(edge.kind == "Rmw" for edge in edges)
    most = bounds.thread_accesses * (2 if atomic else 1)
    least_threads, most_threads = bounds.threads or (2, size)

    def fits(division: Division) -> bool:
        starts = [-1, *(position for position, internal in enumerate(division) if not internal)]
        lengths = [after - before for before, after in pairwise(starts)]
        return max(lengths) <= most and least_threads <= len(lengths) <= most_threads

    found = [(*inner, False) for inner in product((True, False), repeat=size - 1)]
    return sorted(filter(fits, found), key=lambda division: (division.count(False), found.index(division)))


@dataclass(frozen=True)
class _Choice:
    """How an outcome comes about, of any cycle: which two writes, events p < q, are left unordered, where they could be
    so, and the order of all fences that may be ``fence.sc``."""

    unordered: frozenset[tuple[int, int]]
    fences: tuple[int, ...]


@dataclass
class _Programs:
    """The tests of cycles that are divided in one way, as models see them; events are those of a ``View``.

    ``access[p]`` is event p of the cycle, ``fence[p]`` the fence between it and the next, where there may be one.
    """

    bounds: CycleBounds
    division: Division
    circuit: Circuit = field(default_factory=Circuit)
    cycles: CycleEncoding = field(init=False)
    access: list[int] = field(init=False)
    fence: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        circuit, size = self.circuit, len(self.division)
        self.cycles = CycleEncoding(self.bounds, size, circuit.formula)
        for position, internal in enumerate(self.division):
            joined = self._literal(self.cycles.joined("internal", position))
            circuit.require(joined if internal else ~joined)
        fences = any(edge.kind == "Fence" for edge in self.cycles.edges)
        self.access, self.fence, self.thread = [], {}, list[int]()
        thread = 0
        for position, internal in enumerate(self.division):
            self.access.append(len(self.thread))
            self.thread.append(thread)
            if internal and fences:
                self.fence[position] = len(self.thread)
                self.thread.append(thread)
            thread += not internal
        self.reads = [self._has(p, lambda edge: edge.source == "R") for p in self.positions]
        self._executed()
        self._ways()
        self._histories()
        self._rest()

    @property
    def positions(self) -> range:
        """The events of the cycle."""
        return range(len(self.division))

    def _literal(self, number: int) -> Literal:
        return self.circuit.literal(number)

    def _has(self, position: int, fits: Callable[[Edge], bool]) -> Literal:
        """That the edge at a position fits."""
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
            self.executed[fence] = self._kind(position, "Fence")

    def _ways(self) -> None:
        circuit, cycles = self.circuit, self.cycles
        found: list[dict[Way, Literal]] = [{} for _ in self.thread]
        atomic = {p: self._kind(p, "Rmw") for p in self.positions if self.division[p]}
        self.atomic = {p: literal for p, literal in atomic.items() if literal}

        def add(event: int, way: Way, literal: Literal) -> None:
            found[event][way] = found[event].get(way, circuit.false) | literal

        for p in self.positions:
            read, first, second = self.reads[p], self.atomic.get(p), self.atomic.get(p - 1)
            for note in cycles.annotations:
                here = self._literal(cycles.note(p, note))
                if "R" in note.fits:
                    add(self.access[p], Way(Kind.READ, note.mode), here & read & ~(first or circuit.false))
                if "W" in note.fits:
                    add(self.access[p], Way(Kind.WRITE, note.mode), here & ~read & ~(second or circuit.false))
        for p, literal in self.atomic.items():
            for one, other in product(cycles.annotations, repeat=2):
                mode = atomic_mode(one, other)
                if mode is not None:
                    both = self._literal(cycles.note(p, one)) & self._literal(cycles.note(p + 1, other)) & literal
                    add(self.access[p], Way(Kind.READ, mode, True), both)
                    add(self.access[p + 1], Way(Kind.WRITE, mode, True), both)
        for p, fence in self.fence.items():
            for edge in cycles.edges:
                if edge.kind == "Fence":
                    add(fence, Way(Kind.FENCE, edge.fence), self._literal(cycles.edge(p, edge)))
        self.ways = [Ways(circuit, {way: literal for way, literal in ways.items() if literal}) for ways in found]

    def _histories(self) -> None:
        """``before[p][q]``: in the order of their location, p comes before q."""
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
        self.observed = circuit.any_of(
            self.before[p][q] & self.before[q][r] & ~self.reads[p] & ~self.reads[q] & ~self.reads[r]
            for p, q, r in permutations(positions, 3)
        )

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
        starts = [p for p in self.positions if p == 0 or not self.division[p - 1]]
        self.same = {
            SCOPES[level]: [
                [circuit.true if p == q else self._literal(self.cycles.same(level, p, q)) for q in starts]
                for p in starts
            ]
            for level in self.bounds.levels
        }
        self.depends = {kind: self._dependencies(kind) for kind in ("addr", "data", "ctrl")}

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
                for later in range(self.access[p + 1], len(self.thread)):
                    if self.thread[later] == self.thread[self.access[p]]:
                        rows[self.access[p]][later] = here
        return rows

    # What models see

    def view(self, choices: Choices, model: Model, denied: bool) -> View:
        """The execution with these choices as the model sees it."""
        return _View(
            self.circuit,
            self.thread,
            self.ways,
            self.loc,
            self.executed,
            {self.access[p]: literal for p, literal in self.atomic.items()},
            self.same,
            self.shared,
            self.depends,
            [{} for _ in self.thread],
            self.rf,
            self.initial,
            choices.co,
            choices.before,
            denied,
            sees_initial_writes(model),
        )

    @property
    def strong(self) -> list[int]:
        """The fences that may be ``fence.sc``."""
        fitting = (any(way.mode.order is Order.SC for way in self.ways[f].chosen) for f in self.fence.values())
        return [fence for fence, fits in zip(self.fence.values(), fitting, strict=True) if fits]

    def _coherence(self) -> Iterator[tuple[int, int, Literal]]:
        for p, q in permutations(self.positions, 2):
            both = self.before[p][q] & ~self.reads[p] & ~self.reads[q]
            if both:
                yield p, q, both

    def open(self, name: Hashable, model: Model) -> tuple[Choices, dict[tuple[int, int], Literal]]:
        """New choices; and of coherence, by positions p < q, that two writes are ordered."""
        circuit = self.circuit
        co: list[dict[int, Literal]] = [{} for _ in self.thread]
        ordered = {
            pair: circuit.var("co", name, *pair) if model.partial_co else circuit.true
            for pair in combinations(self.positions, 2)
        }
        for p, q, both in self._coherence():
            co[self.access[p]][self.access[q]] = both & ordered[min(p, q), max(p, q)]
        before: list[dict[int, Literal]] = [{} for _ in self.thread]
        if model.mentions("sync_fence"):
            for f, g in combinations(self.strong, 2):
                before[f][g] = circuit.var("fence", name, f, g)
                before[g][f] = ~before[f][g]
            for f, g, h in permutations(self.strong, 3):
                circuit.require(~before[f][g], ~before[g][h], before[f][h])
        return Choices(co, before), ordered

    def chosen(self, choice: _Choice) -> Choices:
        """Choices that are known."""
        co: list[dict[int, Literal]] = [{} for _ in self.thread]
        for p, q, both in self._coherence():
            if (min(p, q), max(p, q)) not in choice.unordered:
                co[self.access[p]][self.access[q]] = both
        before: list[dict[int, Literal]] = [{} for _ in self.thread]
        for f, g in combinations(choice.fences, 2):
            before[f][g] = self.circuit.true
        return Choices(co, before)


class _View(View):
    """A view whose atomic operations may have a place for a fence between their halves."""

    def _rmw(self) -> list[dict[int, Literal]]:
        following = {e: next(f for f in range(e + 1, self.size) if self.ways[f].of(Kind.WRITE)) for e in self.rmw}
        return self.pairs(lambda e, f: self.rmw[e] if following.get(e) == f else None)


class Separating:
    """The cycles of one division whose tests these models may allow and forbid; an ``Encoding`` of the loop.

    Raises ``TooManyError`` where the clauses are too many.
    """

    def __init__(
        self, bounds: CycleBounds, division: Division, allowed_by: Iterable[Model], forbidden_by: Iterable[Model]
    ) -> None:
        self._bounds, self._division = bounds, division
        self._programs = programs = _Programs(bounds, division)
        self._circuit = programs.circuit
        self._verifiers: dict[str, _Verifier] = {}
        self._forbidden_by = list(forbidden_by)
        for number, model in enumerate(allowed_by):
            choices, _ = programs.open(number, model)
            for result in model.judge(programs.view(choices, model, denied=False)):
                if not result.check.flag:
                    self._circuit.require(programs.observed, result.truth)
        for model in self._forbidden_by:
            self._forbid(model, _Choice(frozenset(), tuple(programs.strong)))

    def _forbid(self, model: Model, choice: _Choice) -> None:
        """That the model forbids the execution that a choice makes."""
        results = model.judge(self._programs.view(self._programs.chosen(choice), model, denied=True))
        self._circuit.require(self._programs.observed, *(~result.truth for result in results if not result.check.flag))

    @property
    def formula(self) -> Formula:
        """The clauses."""
        return self._circuit.formula

    def decode(self, model: Sequence[int]) -> Cycle:
        """The cycle of a model of the formula."""
        return self._programs.cycles.decode(model)

    def refine(self, model: Sequence[int], solution: Cycle) -> Sequence[Clause]:
        """Where a model allows the test by other choices than those that were learned: that it forbids them, too."""
        observed = self._programs.observed
        if observed and model[abs(observed.number) - 1] == observed.number:
            return ()
        before = len(self._circuit.formula.clauses)
        for each in self._forbidden_by:
            if each.name not in self._verifiers:
                self._verifiers[each.name] = _Verifier(self._bounds, self._division, each)
            choice = self._verifiers[each.name].allowed(solution)
            if choice is not None:
                self._forbid(each, choice)
                break
        return self._circuit.formula.clauses[before:]

    def block(self, solution: Cycle) -> list[Clause]:
        """As of cycles."""
        return self._programs.cycles.block(solution)

    def cubes(self, cases: int) -> list[list[int]]:
        """The cycles that the models have a say in, and then the others, if there are any."""
        observed = self._programs.observed
        return [[-observed.number], [observed.number]] if observed else [[]]


class _Verifier:
    """Looks for an execution of a cycle's outcome that a model allows."""

    def __init__(self, bounds: CycleBounds, division: Division, model: Model) -> None:
        self._programs = programs = _Programs(bounds, division)
        self._choices, self._ordered = programs.open("", model)
        for result in model.judge(programs.view(self._choices, model, denied=False)):
            if not result.check.flag:
                programs.circuit.require(result.truth)
        formula = programs.circuit.formula
        self._solver: Solver = open_solver(DEFAULT_SOLVER, formula.variables)
        self._solver.add(formula.clauses)

    def allowed(self, cycle: Cycle) -> _Choice | None:
        """Its choices; None where every execution is forbidden."""
        if not self._solver.solve(list(self._programs.cycles.literals(cycle))):
            return None
        model = self._solver.model()

        def holds(literal: Literal) -> bool:
            return model[abs(literal.number) - 1] == literal.number

        strong, before = self._programs.strong, self._choices.before
        fences = sorted(strong, key=lambda f: sum(holds(before[g][f]) for g in strong if f in before[g]))
        unordered = frozenset(pair for pair, ordered in self._ordered.items() if not holds(ordered))
        return _Choice(unordered, tuple(fences))


def separating_cycles(
    bounds: CycleBounds,
    division: Division,
    allowed_by: Sequence[Model],
    forbidden_by: Sequence[Model],
    solver_name: str = DEFAULT_SOLVER,
    effort: Effort | None = None,
) -> Iterator[Cycle]:
    """Every critical cycle of a division whose test these models may allow and forbid, once up to rotation.

    All whose tests they do are among them; where the clauses would be too many, all cycles are.
    """
    plain = CycleEncoding(bounds, len(division))
    whole = [plain.joined("internal", p) * (1 if internal else -1) for p, internal in enumerate(division)]
    effort = effort or Effort()
    if next(solutions(plain, solver_name, whole, effort=effort), None) is None:
        return
    try:
        separating = Separating(bounds, division, allowed_by, forbidden_by)
        for cube in separating.cubes(2):
            yield from solutions(separating, solver_name, cube, effort=effort)
    except TooManyError:
        yield from solutions(plain, solver_name, whole, effort=effort)
