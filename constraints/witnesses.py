"""The reasons why a model allows or forbids an outcome, on executions found by a solver, for tests with too many to
list.

ALLOWED: one execution that passes every check. FORBIDDEN: for each check, in the model's order, one execution with the
outcome that fails it and passes those before it, if there is one. What is wrong with an execution is then found on that
execution alone (``oracle.executions.witness``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from constraints.circuit import Literal
from constraints.deferred import Assignment
from constraints.executions import Executions, FiniteValues
from constraints.solvers import EXECUTION_SOLVER, open_solver
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import FinalRegister, Proposition, Term
from corpus.litmus.test import LitmusTest
from oracle.cat.algebra import Relation, bits
from oracle.cat.interpreter import Model
from oracle.cat.terms import ModelCheck
from oracle.executions.bounds import UNROLL
from oracle.executions.events import INITIAL, Event, EventKind, ExecutionChoices, ProgramBase
from oracle.executions.flow import asked_terms
from oracle.executions.steps import Key
from oracle.executions.valuations import value_in
from oracle.executions.values import Value
from oracle.executions.witness import CandidateExecution, MemoryExplanation, Violation, shown, violation_of


def explain_by_sat(
    test: LitmusTest, model: Model, unroll: int = UNROLL, solver: str = EXECUTION_SOLVER
) -> MemoryExplanation:
    """The answer of a model to a litmus test, with the reasons. Raises ``TooManyError`` above the limits of clauses
    or values."""
    allowed = ExecutionSearch(test, model, unroll, True, solver)
    bounded, complete = allowed.executions.bounded, allowed.executions.complete
    explanation = MemoryExplanation(
        test, model, bounded=bounded, complete=complete, listed=False, outcomes=0, unroll=unroll
    )
    witness = allowed.find(allowed.question)
    if witness is not None:
        flags = [r.check.name for r in model.judge(witness.base) if r.check.flag and r.truth]
        return replace(explanation, witness=witness, flags=tuple(dict.fromkeys(flags)))
    search = ExecutionSearch(test, model, unroll, False, solver)
    checks = search.executions.checks
    violations = []
    for number, check in enumerate(checks):
        execution = search.find([*search.question, *checks[:number], ~check])
        if execution is not None:
            violations.append(violated(model, number, execution))
    violations.sort(key=lambda violation: len(violation.steps))
    return replace(explanation, violations=tuple(violations), outcomes=len(violations))


def violated(model: Model, number: int, execution: CandidateExecution) -> Violation:
    """The way in which an execution fails a check, given by its number among those that the model requires."""
    written = [statement for statement in model.syntax.statements if isinstance(statement, ModelCheck)]
    required = [place for place, check in enumerate(written) if not check.flag]
    return violation_of(model, required[number], execution)[0]


class ExecutionSearch:
    """Executions of a test that a solver finds, allowed ones where checks are ``required``, for any questions.

    ``question`` are the literals of the test's own question: its filter, and its proposition. ``unfinished``:
    executions whose threads have come anywhere, of which finals say nothing. ``flags``: the literals of the model's
    flags. ``ended`` and ``all_ended``: true of all. ``cut``: loops were cut, and there may be executions beyond.
    """

    def __init__(
        self,
        test: LitmusTest,
        model: Model,
        unroll: int,
        required: bool = True,
        solver: str = EXECUTION_SOLVER,
        unfinished: bool | Collection[int] = False,
    ) -> None:
        """Writes the clauses. Raises ``InputError`` as the parts do, and ``TooManyError`` above their limits."""
        self.executions = Executions(test, model, unroll, required, unfinished)
        self.flags: Mapping[str, Literal] = self.executions.flags
        self.ended: Literal = self.executions.circuit.true
        self.all_ended = self.ended
        self.cut = self.executions.bounded and not self.executions.complete
        self._values = FiniteValues(self.executions)
        self.question: tuple[Literal, ...] = self._values.question()
        self._solver = solver

    def satisfied(self, proposition: Proposition) -> Literal:
        """The literal that says that the final state satisfies a proposition, of terms that the condition names."""
        return self._values.satisfied(proposition)

    def leaves(self, finals: Mapping[Term, Value]) -> Literal:
        """The literal that says that some terms have these values in the end."""
        found = self.executions.circuit.true
        for term, value in finals.items():
            found = found & self._values.final(term).get(value, self.executions.circuit.false)
        return found

    def reads_initial(self, locations: Collection[str]) -> Literal:
        """The literal that says that a read of one of these locations reads what nobody has written."""
        executions, found = self.executions, self.executions.circuit.false
        for number, event in enumerate(executions.events):
            if event.thread == INITIAL and event.location in locations:
                for read, literal in executions.rf[number].items():
                    found = found | (literal & executions.executed[read])
        return found

    def accesses(self, locations: Collection[str]) -> Literal:
        """The literal that says that a thread accesses one of these locations."""
        return self.happens(lambda event: event.location in locations)

    def happens(self, is_meant: Callable[[Event], bool]) -> Literal:
        """The literal that says that a thread does what one of these events is."""
        executions, found = self.executions, self.executions.circuit.false
        for event, happens in zip(executions.events, executions.executed, strict=True):
            if event.thread != INITIAL and is_meant(event):
                found = found | happens
        return found

    def reads_from(self, is_meant: Callable[[Event], bool]) -> Literal:
        """The literal that says that what one of these writes has written is read."""
        executions, found = self.executions, self.executions.circuit.false
        for number, event in enumerate(executions.events):
            if event.kind is EventKind.WRITE and event.thread != INITIAL and is_meant(event):
                for read, literal in executions.rf[number].items():
                    found = found | (literal & executions.executed[number] & executions.executed[read])
        return found

    def after(self, is_meant: Callable[[Event], bool], is_new: Callable[[Event], bool]) -> Literal:
        """The literal that says that what one of these writes has written is read, or is written over, and no write
        that is new stands between.
        """
        executions, found = self.executions, self.executions.circuit.false
        co, executed = executions.co, executions.executed
        new = {number for number, event in enumerate(executions.events) if event.thread != INITIAL and is_new(event)}
        for number, event in enumerate(executions.events):
            if event.kind is not EventKind.WRITE or event.thread == INITIAL or not is_meant(event):
                continue
            for other, literal in executions.rf[number].items():
                found = found | (literal & executed[number] & executed[other])
            for other, literal in co[number].items():
                if other in new:
                    continue
                behind = literal & executed[number] & executed[other]
                for one in new & {*co[number]}:
                    if other in co[one]:
                        behind = behind & ~(co[number][one] & co[one][other] & executed[one])
                found = found | behind
        return found

    def find(self, questions: Sequence[Literal]) -> CandidateExecution | None:
        """One of them for which the literals hold; None where there is none."""
        circuit = self.executions.circuit
        if any(literal is circuit.false for literal in questions):
            return None
        literals = circuit.assumptions(questions)
        opened = open_solver(self._solver, circuit.formula.variables)
        try:
            opened.add(circuit.formula.clauses)
            if not opened.solve(literals):
                return None
            model = opened.model()
        finally:
            opened.close()
        return decoded(self.executions, self._values, Assignment(circuit, model))


class ReadValues(Protocol):
    """A reader of values: which values each read may have."""

    def read(self, key: Key, /) -> Mapping[Value, Literal]:
        """The values of a read, each with the literal that the read has it."""


def decoded(executions: Executions, values: ReadValues, found: Assignment) -> CandidateExecution:
    """The execution that a solver has found, given its model."""
    runs, holds = executions.runs, found.holds

    known: dict[Key, Value] = {}
    for event, happens in zip(executions.events, executions.executed, strict=True):
        if event.kind is EventKind.READ and holds(happens):
            read = values.read(event.key)
            known[event.key] = next(value for value, literal in read.items() if holds(literal))
    for thread, taken in zip(runs.threads, runs.taken, strict=True):
        for merge in thread.merges:
            for step, value, _ in merge.options:
                if holds(taken[step]):
                    known[merge.key] = value_in(value, known)
    kept = [number for number, happens in enumerate(executions.executed) if holds(happens)]
    place = {number: index for index, number in enumerate(kept)}

    def only(relation: Relation[Literal]) -> Relation[int]:
        return tuple(
            {place[other]: 1 for other, truth in relation[number].items() if other in place and holds(truth)}
            for number in kept
        )

    def reads(sources: frozenset[Key]) -> frozenset[Key]:
        return frozenset(key for key, truth in runs.reads(sources).items() if key in known and holds(truth))

    events = tuple(
        replace(
            event,
            addr=reads(event.addr),
            data=reads(event.data),
            ctrl=reads(event.ctrl),
            compared=reads(event.compared),
        )
        for event in (executions.levels.decided(number, holds) for number in kept)
    )
    noted = tuple(None if (what := shown(event)) is None else value_in(what, known) for event in events)
    finals: dict[Term, Value] = {}
    for term in asked_terms(executions.test):
        if isinstance(term, FinalRegister):
            thread = runs.threads[term.thread]
            end = None if thread.end is None else runs.reached[term.thread].get(thread.end)
            if end is None or not holds(end):  # it has no final registers
                continue
            finals[term] = value_in(runs.threads[term.thread].registers.get(term.register, 0), known)
        elif isinstance(term, Loc):
            (last,) = (write for write, final in executions.last_writes(term) if holds(final))
            finals[term] = value_in(executions.events[last].value, known)
    places = tuple(thread.place for thread in executions.test.threads)
    orders = {name: only(order) for name, order in executions.orders.items()}
    ends = executions.completes.items()
    completes = {place[number]: 1 for number, truth in ends if number in place and holds(truth)}
    choices = ExecutionChoices(only(executions.rf), only(executions.co), orders, only(executions.meet), completes)
    base = ProgramBase(bits(1, len(events)), events, places, choices, executions.test.synchronised)
    return CandidateExecution(executions.test, base, noted, finals)
