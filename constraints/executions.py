"""The executions of a litmus test that a consistency model allows, as clauses.

Variables
    step(t, s)       thread t takes its step s (constraints.runs)
    rf(w, r)         read r reads from write w
    co(w, w')        write w comes before w' in coherence order
    order(s, e, e')  event e comes before e' in order s, as of the fence.sc (oracle.executions.orders)
    meet(b, b')      barriers b and b' go through together (constraints.meetings)
    final(w)         the value of write w is its location's last
    value(r, v)      read r reads value v

Constraints
    each thread goes from its start to its end; an event happens where a step that it is on is taken
    a read that happens has one source, a write that happens, to its location
    co is a strict order of the writes that happen, the initial one first; total, unless the model leaves it partial
    events that must be ordered are ordered one way, without a cycle
    the final write of a location has no successor
    a read has the value that its source writes, and what a step takes for granted holds
    every check of the model holds: its .cat file evaluated over literals (oracle.cat.interpreter)

Values come in two forms. Here each value that a read may have is a variable (oracle.executions.domains); in
``constraints.smt`` values are bit vectors. Pairs of relations are made where a check needs them
(``constraints.demanded``), and paths by elimination, which takes n^3 / 3 gates for n events that are all connected, and
about n along a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, permutations, product
from types import MappingProxyType

from constraints.circuit import Literal, Name
from constraints.deferred import DeferredCircuit
from constraints.demanded import Demanded, demanded
from constraints.levels import Levels, Site
from constraints.meetings import RendezvousClauses
from constraints.runs import Runs
from constraints.solvers import EXECUTION_SOLVER, Propagation, open_solver
from corpus.litmus.locations import Loc
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import FinalRegister, Proposition, Term
from corpus.litmus.test import LitmusTest
from oracle.cat.algebra import Relation, Set
from oracle.cat.interpreter import Model
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import check_speaks, execution_events, physical_location
from oracle.executions.domains import forbids_thin_air, read_domains
from oracle.executions.events import (
    COMPLETES,
    INITIAL,
    Apply,
    Event,
    EventKind,
    ExecutionChoices,
    Expression,
    ProgramBase,
    Read,
    is_asked_later,
    is_in_program_order,
    is_set,
    phase_ends,
)
from oracle.executions.flow import asked_locations, asked_terms
from oracle.executions.judge import Judgement, answered, is_complete, only_waits
from oracle.executions.orders import to_order
from oracle.executions.spins import forgets_reads
from oracle.executions.steps import Constraint, Key, TooManyValuesError
from oracle.executions.unrolled import merged_threads
from oracle.executions.valuations import Valuation, add, compared, evaluate, satisfied
from oracle.executions.values import Value, calculate

ORDERS_OWN_WRITES = ("rc11", "sc", "tso", "x86", "armv8", "power", "riscv")
"""The models of ours a check of which forbids that writes to one location come in another order than their thread has
them in (``coherence``, ``sc-per-location``, ``internal``), whatever else there is.
"""


def _orders_own_writes(model: Model) -> bool:
    """Return whether a model is one of these, and not a file of that name."""
    if model.name not in ORDERS_OWN_WRITES:
        return False
    (ours,) = resolve_consistency_models([model.name])
    return isinstance(ours, AxiomaticModel) and ours.model.digest == model.digest


class Executions:
    """The clauses of the executions of a test under a model, except those about values.

    ``flags`` are the literals of the model's flags by name. ``comparisons``: literals that say whether comparisons of
    values hold, for a reader of values to define. ``checks``: how true each check is that the model requires. The
    checks are required where ``required`` is set. ``unfinished``: threads may stop anywhere, and stay at any barrier;
    or only those of some numbers may stop anywhere. ``sites``: instructions that may be done in several ways,
    ``levels`` which of these ways each has. ``known``: variables whose values are known (``constraints.circuit``).
    ``grounded``: no value justifies itself in them, which only executions do that a check forbids; they are left out
    where checks are required, or ``grounded`` is asked for.
    """

    def __init__(
        self,
        test: LitmusTest,
        model: Model,
        unroll: int,
        required: bool = True,
        unfinished: bool | Collection[int] = False,
        sites: Sequence[Site] = (),
        known: Mapping[Name, bool] = MappingProxyType({}),
        grounded: bool = False,
    ) -> None:
        """Writes the clauses. Raises ``InputError`` where an address is no location of the test, or the model says
        nothing of the test, and ``TooManyError`` where there are too many clauses.
        """
        check_speaks(test, model)
        self.test = test
        self.circuit = circuit = DeferredCircuit(known)
        self._unfinished = bool(unfinished)
        self.grounded = (required or grounded) and forbids_thin_air(model)
        all_of_them = unfinished is True
        threads = merged_threads(test, unroll, forgets_reads(model) and not all_of_them, all_of_them)
        self.bounded = any(thread.bounded for thread in threads)
        self.complete = (only_waits if all_of_them else is_complete)(test, threads, model)
        some = () if isinstance(unfinished, bool) else unfinished
        self.runs = Runs(circuit, threads, range(len(threads)) if all_of_them else some)
        self.events = execution_events(test, list(self.runs.events.values()))
        self.levels = Levels(circuit, sites, self.events)
        self.executed = [
            circuit.true if event.thread == INITIAL else self.runs.happens[event.key] & self.levels.present(index)
            for index, event in enumerate(self.events)
        ]
        self.writes: dict[str, list[int]] = {}
        for index, event in enumerate(self.events):
            if event.kind is EventKind.WRITE:
                self.writes.setdefault(event.location or "", []).append(index)
        self.algebra = self._algebra()
        self.rf = self._reads_from()
        self.co = co = self._coherence(model.partial_co, required and not known and _orders_own_writes(model))
        self.comparisons: dict[Constraint, Literal] = {}
        self.meet = self._meetings()
        self.final = self._final_writes(co)
        places = tuple(thread.place for thread in test.threads)
        self.flags: dict[str, Literal] = {}
        self.checks: list[Literal] = []
        self.completes = phase_ends(self.events, partial(self.compared, "eq")) if model.mentions(COMPLETES) else {}
        self.completes = {event: truth & self.executed[event] for event, truth in self.completes.items()}
        chosen = ExecutionChoices(self.rf, co, meet=self.meet, completes=self.completes)
        base = _Base(self.algebra, self.events, places, chosen, test.synchronised, runs=self.runs, levels=self.levels)
        self.to_order = to_order(model, base)
        self.orders = {name: self._order(name, pairs) for name, pairs in self.to_order.items()}
        self.base = replace(base, choices=replace(chosen, orders=self.orders))
        for result in model.judge(self.base):
            if result.check.flag:
                self.flags[result.check.name] = self.flags.get(result.check.name, circuit.false) | result.truth
            else:
                self.checks.append(result.truth)
        for check in self.checks if required else ():
            circuit.require(check)

    def _algebra(self) -> Demanded:
        """The algebra over the events, with what is known of which of them happen together."""
        index = {event.key: number for number, event in enumerate(self.events)}
        always = sum(
            1 << number for number in range(len(self.events)) if self.levels.present(number) is self.circuit.true
        )
        surely, apart = [0] * len(self.events), [0] * len(self.events)
        for key, others in self.runs.surely().items():
            surely[index[key]] = sum(1 << index[other] for other in others) & always
        threads: dict[int, list[int]] = {}
        for number, event in enumerate(self.events):
            if event.thread != INITIAL:
                threads.setdefault(event.thread, []).append(number)
        for members in threads.values():
            for one, other in combinations(members, 2):
                if not self._compatible(one, other):
                    apart[one] |= 1 << other
                    apart[other] |= 1 << one
        return demanded(self.circuit, self.executed, surely, apart)

    def _compatible(self, one: int, other: int) -> bool:
        """Whether two events can be in one execution."""
        left, right = self.events[one], self.events[other]
        return left.thread != right.thread or left.thread == INITIAL or self.runs.together(left, right)

    def _reads_from(self) -> Relation[Literal]:
        rows: list[dict[int, Literal]] = [{} for _ in self.events]
        for read, event in enumerate(self.events):
            if event.kind is EventKind.READ:
                for write in self.writes[event.location or ""]:
                    if self._compatible(write, read):
                        rf = rows[write][read] = self.circuit.var("rf", write, read)
                        self.circuit.require(~rf, self.executed[write])
                        self.circuit.require(~rf, self.executed[read])
                self.circuit.exactly_one([row[read] for row in rows if read in row], self.executed[read])
        return _possible(rows)

    def _coherence(self, partial: bool, in_order: bool) -> Relation[Literal]:
        """The coherence order. ``in_order``: in it, writes of a thread come in the order of the program."""
        rows: list[dict[int, Literal]] = [{} for _ in self.events]
        require = self.circuit.require
        for initial, *writes in self.writes.values():
            for one, other in permutations(writes, 2):
                rows[initial][other] = self.executed[other]
                keys = self.events[one].key, self.events[other].key
                if in_order and keys in self.runs.before:
                    rows[one][other] = self.executed[one] & self.executed[other]
                elif self._compatible(one, other) and not (in_order and keys[::-1] in self.runs.before):
                    co = rows[one][other] = self.circuit.var("co", one, other)
                    require(~co, self.executed[one])
                    require(~co, self.executed[other])
            if len(writes) == 1:
                rows[initial][writes[0]] = self.executed[writes[0]]
            for one, other in permutations(writes, 2):
                if one < other and other in rows[one] and one in rows[other]:
                    there, back = rows[one][other], rows[other][one]
                    require(~there, ~back)
                    if not partial:
                        require(~self.executed[one], ~self.executed[other], there, back)
            for one, middle, other in permutations(writes, 3):
                if middle in rows[one] and other in rows[middle] and other in rows[one]:
                    require(~rows[one][middle], ~rows[middle][other], rows[one][other])
        return _possible(rows)

    def _order(self, name: str, pairs: Mapping[tuple[int, int], Literal]) -> Relation[Literal]:
        rows: list[dict[int, Literal]] = [{} for _ in self.events]
        for (one, other), both in pairs.items():
            if self._compatible(one, other):
                before = self.circuit.var("order", name, one, other)
                rows[one][other], rows[other][one] = both & before, both & ~before
        self.circuit.require(self.algebra.is_acyclic(tuple(rows)))
        return self.algebra.closure(tuple(rows))

    def _meetings(self) -> Relation[Literal]:
        before = self.runs.before
        return RendezvousClauses(
            self.circuit,
            self.test,
            self.events,
            self.executed,
            lambda one, other: (one.key, other.key) in before,
            lambda one, other: bool(self.algebra.surely[other] >> one & 1),
            self.compared,
            self._unfinished,
        ).meet

    def compared(self, operation: str, left: Expression, right: Expression) -> Literal:
        """The literal that a comparison holds; where it depends on values, a literal of ``comparisons``, which a
        reader of values defines."""
        if left == right and not isinstance(left, Apply):
            return self.circuit.true if operation == "eq" else self.circuit.false
        if not isinstance(left, Read | Apply) and not isinstance(right, Read | Apply):
            return self.circuit.true if calculate(operation, left, right) == 1 else self.circuit.false
        held = Constraint(operation, left, right)
        if held not in self.comparisons:
            self.comparisons[held] = self.circuit.fresh()
        return self.comparisons[held]

    def last_writes(self, term: Loc) -> list[tuple[int, Literal]]:
        """The writes whose value may be a location's last, each with the literal that it is."""
        return list(self.final[physical_location(self.test, term)].items())

    def _final_writes(self, co: Relation[Literal]) -> dict[str, dict[int, Literal]]:
        final: dict[str, dict[int, Literal]] = {}
        for name in sorted({physical_location(self.test, term) for term in asked_locations(self.test)}):
            last = final[name] = {write: self.circuit.var("final", write) for write in self.writes[name]}
            self.circuit.exactly_one(list(last.values()), self.circuit.true)
            for write, literal in last.items():
                self.circuit.require(~literal, self.executed[write])
                for successor in co[write].values():
                    self.circuit.require(~literal, ~successor)
        return final


def _possible(rows: Sequence[Mapping[int, Literal]]) -> Relation[Literal]:
    """A relation without the pairs that are known not to be."""
    return tuple({other: truth for other, truth in row.items() if truth} for row in rows)


_ORDERED = {"po": is_in_program_order, "asked": is_asked_later}
"""The relations of events of a thread of which one comes before the other, by whether they relate those."""


@dataclass(frozen=True)
class _Base(ProgramBase[Literal]):
    """A base whose events depend on a read where a value of it is what came, and are in program order on a way.

    ``levels``: how those are done for which that is open.
    """

    algebra: Demanded
    runs: Runs = field(kw_only=True)
    levels: Levels = field(kw_only=True)

    def value(self, name: str) -> Set[Literal] | Relation[Literal] | None:
        """The set or relation of that name, None where the base has none."""
        if name in _ORDERED and name not in self._made:
            before, related = self.runs.before, _ORDERED[name]
            self._made[name] = self._grouped(
                lambda event: event.thread, lambda one, other: (one.key, other.key) in before and related(one, other)
            )
        if name == "int" and name not in self._made:
            self._made[name] = self._grouped(lambda event: event.thread, self.runs.together)
        if self.levels.sites and name not in self._made and name != COMPLETES:
            if is_set(name):
                executed, when = self.algebra.executed, self.levels.when
                found = {e: executed[e] & when(e, lambda event: name in event.tags) for e in range(len(self.events))}
                self._made[name] = {event: truth for event, truth in found.items() if truth}
            elif name == "sr":
                scopes = [self.levels.scopes(event) for event in range(len(self.events))]
                rows: list[dict[int, Literal]] = [{} for _ in self.events]
                for one, other in product(range(len(self.events)), repeat=2):
                    if truth := self._in_scope(one, other, scopes):
                        rows[one][other] = truth
                self._made[name] = tuple(rows)
        known, value = name in self._made, super().value(name)
        if not known and isinstance(value, tuple):
            value = self._made[name] = tuple(self.algebra.rows(value))
        return value

    def _follows(self, one: int, other: int) -> bool:
        return (self.events[one].key, self.events[other].key) in self.runs.before

    def fence_pairs(self) -> Mapping[tuple[int, int], Literal]:
        """The pairs ``i < j`` of ``fence.sc`` events that must be ordered, and how true that is."""
        if not self.levels.sites:
            return super().fence_pairs()

        def fences(event: int) -> dict[Scope | None, Literal]:
            scopes = self.levels.scopes(event, lambda entry: {"F", "SC"} <= entry.tags)
            return {scope or Scope.SYS: literal for scope, literal in scopes.items()}

        scopes = [fences(event) for event in range(len(self.events))]
        pairs = {pair: self._in_scope(*pair, scopes) for pair in combinations(range(len(self.events)), 2)}
        return {pair: truth for pair, truth in pairs.items() if truth}

    def _in_scope(self, one: int, other: int, scopes: Sequence[Mapping[Scope | None, Literal]]) -> Literal:
        """The literal that two events happen and name scopes that both are in."""
        circuit = self.levels.circuit
        first, second = self.events[one], self.events[other]
        found = [
            left & right
            for (wide, left), (narrow, right) in product(scopes[one].items(), scopes[other].items())
            if wide is not None and narrow is not None
            if first.thread == second.thread
            or (self._share(first, second, wide) and self._share(first, second, narrow))
        ]
        return circuit.any_of(found) & self.algebra.executed[one] & self.algebra.executed[other]

    def _depends(self, sources: Callable[[Event], Iterable[Key]]) -> Relation[Literal]:
        rows: list[dict[int, Literal]] = [{} for _ in self.events]
        for other, event in enumerate(self.events):
            for key, truth in self.runs.reads(frozenset(sources(event))).items():
                read = self._index[key]
                both = self.algebra.executed[read] & self.algebra.executed[other] & truth
                if both:
                    rows[read][other] = both
        return tuple(rows)


FEW_VALUES = 8
"""The number of values of a read above which it is looked for writes that it cannot read from."""


def _domains(executions: Executions) -> Mapping[Key, Sequence[Value]]:
    """The values of each read and merge.

    In a scan that adds up what other threads have written, values grow from write to write, and without an order of
    these there would be hundreds. So where they are many, a read has the values of those writes alone that the clauses
    leave it to read from.
    """
    threads = executions.runs.threads
    steps = [step for thread in threads for step in thread.steps]
    merges = {merge.key: [value for _, value, _ in merge.options] for thread in threads for merge in thread.merges}
    find = partial(read_domains, executions.test, steps, merges, executions.grounded)
    try:
        domains = find()
        if all(len(values) <= FEW_VALUES for values in domains.values()):
            return domains
    except TooManyValuesError:
        pass
    return find(_left_to_read(executions))


def _left_to_read(executions: Executions) -> Mapping[Key, Sequence[Expression]]:
    """What is written where each read may read from, without pairs from which a contradiction follows at once."""
    left: dict[Key, list[Expression]] = {event.key: [] for event in executions.events if event.kind is EventKind.READ}
    with Propagation(executions.circuit.formula) as propagation:
        for write, row in enumerate(executions.rf):
            for read, literal in row.items():
                if propagation.allows(literal.number):
                    left[executions.events[read].key].append(executions.events[write].value)
    return left


class FiniteValues:
    """Values of reads by finite domains: a variable for each value that a read may have.

    Raises ``TooManyError`` where there are too many.
    """

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        circuit, algebra = executions.circuit, executions.algebra
        runs = executions.runs
        domains = _domains(executions)
        self._reads: dict[Key, Valuation[Literal]] = {
            key: {value: circuit.var("value", key, value) for value in domains[key]}
            for key, event in runs.events.items()
            if event.kind is EventKind.READ
        }
        for thread, taken in zip(runs.threads, runs.taken, strict=True):
            for merge in thread.merges:
                self._reads[merge.key] = self._either([(value, taken[step]) for step, value, _ in merge.options])
        events = executions.events
        for read, event in enumerate(events):
            if event.kind is EventKind.READ:
                circuit.exactly_one(list(self._reads[event.key].values()), executions.executed[read])
                for write, row in enumerate(executions.rf):
                    if read in row:
                        written = self.value(events[write].value)
                        circuit.require(~row[read], compared("eq", written, self._reads[event.key], algebra))
        for thread, taken in zip(runs.threads, runs.taken, strict=True):
            for step, literal in zip(thread.steps, taken, strict=True):
                for held in step.constraints:
                    left, right = (evaluate(side, self._reads, algebra) for side in (held.left, held.right))
                    circuit.require(~literal, compared(held.operation, left, right, algebra))
        for held, literal in executions.comparisons.items():
            left, right = evaluate(held.left, self._reads, algebra), evaluate(held.right, self._reads, algebra)
            truth = compared(held.operation, left, right, algebra)
            circuit.require(~literal, truth)
            circuit.require(literal, ~truth)

    def read(self, key: Key) -> Valuation[Literal]:
        """The values that a read, or a merge, may have, each with its literal."""
        return self._reads[key]

    def value(self, expression: Expression) -> Valuation[Literal]:
        """The values that an expression over reads and merges may have, each with its literal."""
        return evaluate(expression, self._reads, self._executions.algebra)

    def compared(self, operation: str, left: Expression, right: Expression) -> Literal:
        """The literal that a comparison of two expressions holds."""
        return compared(operation, self.value(left), self.value(right), self._executions.algebra)

    def question(self) -> tuple[Literal, Literal]:
        """Two literals: the condition's filter lets the execution through, and the condition's proposition holds in
        it."""
        condition, true = self._executions.test.condition, self._executions.circuit.true
        passes = true if condition.filter is None else self.satisfied(condition.filter)
        return passes, self.satisfied(condition.proposition)

    def satisfied(self, proposition: Proposition) -> Literal:
        """The literal that says that the final state satisfies a proposition."""
        executions = self._executions
        finals = {term: self.final(term) for term in asked_terms(executions.test)}
        return satisfied(proposition, finals, executions.algebra)

    def final(self, term: Term) -> Valuation[Literal]:
        """The final values that a term of the condition may have, each with its literal."""
        executions = self._executions
        if isinstance(term, FinalRegister):
            value = executions.runs.threads[term.thread].registers.get(term.register, 0)
            return evaluate(value, self._reads, executions.algebra)
        assert isinstance(term, Loc)
        return self._either([(executions.events[write].value, last) for write, last in executions.last_writes(term)])

    def _either(self, ways: Sequence[tuple[Expression, Literal]]) -> Valuation[Literal]:
        """The values of expressions, each where its literal holds; no two of those do."""
        valuation: dict[Value, Literal] = {}
        for expression, literal in ways:
            for value, truth in evaluate(expression, self._reads, self._executions.algebra).items():
                add(valuation, value, literal & truth)
        return valuation


def judge_by_sat(test: LitmusTest, model: Model, unroll: int = UNROLL, solver: str = EXECUTION_SOLVER) -> Judgement:
    """The judgement of a model, by a SAT solver. Executions are not counted. Raises ``InputError`` as the parts do."""
    executions = Executions(test, model, unroll)
    values = FiniteValues(executions)
    condition = test.condition
    circuit = executions.circuit
    passes, holds = values.question()
    questions = [passes & holds, passes & ~holds, *(passes & flag for flag in executions.flags.values())]
    literals = circuit.assumptions(questions)
    opened = open_solver(solver, circuit.formula.variables)
    try:
        opened.add(circuit.formula.clauses)
        satisfied, violated, *flagged = [
            question is not circuit.false and opened.solve([number])
            for question, number in zip(questions, literals, strict=True)
        ]
    finally:
        opened.close()
    flags = [name for name, raised in zip(executions.flags, flagged, strict=True) if raised]
    return answered(
        condition, satisfied, violated, flags=flags, bounded=executions.bounded, complete=executions.complete
    )
