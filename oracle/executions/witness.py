"""The reasons why a .cat model allows the outcome that a litmus test asks about, or forbids it.

The *outcome* is the condition's proposition, in executions that its filter lets through. It is ALLOWED because of one
execution that passes every check, the *witness*: the first one in the order of ``oracle.executions.candidates``. It is
FORBIDDEN because each candidate execution with that outcome fails a check, of which the first in the model's order
counts; or because no candidate has it. How a check fails is shown on the execution itself: a shortest cycle where a
relation must be acyclic, a shortest path from an event back to it where it must be irreflexive, a pair or an event
where it must be empty; each by the base relations that it comes from (``oracle.executions.derivations``).

Candidates that fail in one way are one *violation*. A negated check (``~empty r``) fails because something is missing,
so only the check can be shown.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.litmus.instructions import Instruction
from corpus.litmus.propositions import Term
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import unguarded
from oracle.cat.algebra import Relation, bits
from oracle.cat.base import Base
from oracle.cat.interpreter import CheckResult, Interpreter, Model, PreludeValues
from oracle.cat.terms import ModelCheck
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import CandidateBatch
from oracle.executions.derivations import DerivationPath, DerivedPair, with_reasons
from oracle.executions.events import INITIAL, Event, EventKind, ExecutionChoices, Expression, ProgramBase
from oracle.executions.judge import Answer, is_complete, judged
from oracle.executions.threads import unroll_threads
from oracle.executions.valuations import Valuation, evaluate
from oracle.executions.values import Value

Pairs = tuple[tuple[int, int], ...]

MOST_VIOLATIONS = 8
"""The limit of violations that are told apart, with at least one of each check; further candidates are only counted."""


@dataclass(frozen=True)
class CandidateExecution:
    """One candidate execution of a test. ``values``: what each event reads or writes; ``finals``: what the condition
    asks for.
    """

    test: LitmusTest
    base: ProgramBase[int]
    values: tuple[Value | None, ...]
    finals: Mapping[Term, Value]

    @property
    def events(self) -> tuple[Event, ...]:
        """The events: initial writes, then thread by thread in program order."""
        return tuple(self.base.events)

    def instruction(self, number: int) -> Instruction:
        """The instruction, of a thread without predicates, that an event is of; the event is no initial write."""
        event = self.events[number]
        return unguarded(self.test.threads[event.thread]).instructions[event.position]

    def pairs(self, name: str) -> Pairs:
        """A base relation as pairs of events, sorted."""
        return tuple((one, other) for one, row in enumerate(self.base.relation(name)) for other in sorted(row))

    def immediate(self, name: str) -> Pairs:
        """The pairs of a transitive relation that are no composition of two others."""
        rows = self.base.relation(name)
        return tuple(
            (one, other) for one, other in self.pairs(name) if not any(other in rows[middle] for middle in rows[one])
        )

    def next_overwrites(self) -> Pairs:
        """The pairs of ``fr`` from each read to the writes that come next after the write that it read."""
        following = self.immediate("co")
        return tuple(sorted((r, after) for w, r in self.pairs("rf") for before, after in following if before == w))


@dataclass(frozen=True)
class Violation:
    """A check that fails, and how, on ``execution``; ``count`` candidates fail it in this way.

    ``edges``: a cycle, from its first read or write on; or a path between two events that should not be related, and
    ``aside`` another path between them where the check is of an intersection. ``events``: those of a set that should be
    empty.
    """

    check: ModelCheck
    execution: CandidateExecution
    edges: tuple[DerivedPair, ...] = ()
    aside: tuple[DerivedPair, ...] = ()
    events: tuple[int, ...] = ()
    count: int = 0

    @property
    def steps(self) -> tuple[DerivedPair, ...]:
        """The base edges of ``edges``, in a row; those of a cycle from its first read or write on."""
        steps = tuple(step for edge in self.edges for step in edge.steps())
        return _rotated(steps, self.execution.events) if steps and self.is_cycle else steps

    @property
    def is_cycle(self) -> bool:
        """Whether the check that fails forbids cycles."""
        return self.check.kind != "empty"


@dataclass(frozen=True)
class MemoryExplanation:
    """The reasons why a model allows the outcome (``witness``) or forbids it (``violations``, by check).

    ``flags`` are those that the witness raises. ``outcomes``: how many candidates yield a forbidden outcome;
    ``killed``: how many of them fail each check first, in the model's order. ``bounded``: loops were cut after
    ``unroll`` jumps back, and, unless the explanation is ``complete``, more may follow beyond. Where executions are not
    ``listed`` but found by a solver, there is one violation for each check that one fails first, and no count.
    """

    test: LitmusTest
    model: Model
    witness: CandidateExecution | None = None
    flags: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    outcomes: int = 0
    killed: tuple[tuple[ModelCheck, int], ...] = ()
    bounded: bool = False
    complete: bool = True
    listed: bool = True
    unroll: int = UNROLL

    @property
    def answer(self) -> Answer:
        """The answer of the model: ALLOWED or FORBIDDEN."""
        return Answer.FORBIDDEN if self.witness is None else Answer.ALLOWED


def explain_memory(
    test: LitmusTest, model: Model, unroll: int = UNROLL, most: int = MOST_VIOLATIONS
) -> MemoryExplanation:
    """The answer of a model to a litmus test, with the reasons. Raises ``TooManyError`` where executions are too
    many to list."""
    threads = unroll_threads(test, unroll)
    condition = test.condition
    bounded = any(thread.bounded for thread in threads)
    complete = is_complete(test, threads, model)
    explanation = MemoryExplanation(test, model, bounded=bounded, complete=complete, unroll=unroll)
    killed: dict[ModelCheck, int] = {}
    found: dict[Hashable, Violation] = {}
    outcomes = 0
    for batch, allowed, results in judged(test, threads, model):
        wanted = batch.satisfying(condition.proposition)
        if condition.filter is not None:
            wanted &= batch.satisfying(condition.filter)
        if wanted & allowed:
            chosen = _lowest(wanted & allowed)
            flags = dict.fromkeys(r.check.name for r in results if r.check.flag and r.truth >> chosen & 1)
            return replace(explanation, witness=execution_of(test, batch, chosen), flags=tuple(flags))
        outcomes += wanted.bit_count()
        for number, result in enumerate(results):
            if result.check.flag:
                continue
            failing, wanted = wanted & ~result.truth, wanted & result.truth
            killed[result.check] = killed.get(result.check, 0) + failing.bit_count()
            while failing and (len(found) < most or all(one.check != result.check for one in found.values())):
                execution = execution_of(test, batch, _lowest(failing))
                if model.syntax.over_members is None:
                    violation, pairs = violation_of(model, number, execution)
                else:  # no term denotes the checked relation
                    violation, pairs = Violation(result.check, execution), ()
                alike = failing & _alike(violation, pairs, model.seen(batch.base), result)
                failing &= ~alike
                known = found.setdefault(_signature(violation), violation)
                found[_signature(violation)] = replace(known, count=known.count + alike.bit_count())
    checks = list(killed)
    return replace(
        explanation,
        outcomes=outcomes,
        violations=_decisive_first(sorted(found.values(), key=lambda violation: checks.index(violation.check))),
        killed=tuple((check, count) for check, count in killed.items() if count),
    )


def _decisive_first(violations: Sequence[Violation]) -> tuple[Violation, ...]:
    """The violation of most candidates first, on a par the shortest; the others as they are."""
    if not violations:
        return ()
    first = min(violations, key=lambda violation: (-violation.count, len(violation.steps)))
    return (first, *(violation for violation in violations if violation is not first))


def execution_of(test: LitmusTest, batch: CandidateBatch, candidate: int) -> CandidateExecution:
    """One of the valid candidates of a batch of a test's, as an execution of its own."""
    base = batch.base

    def only(relation: Relation[int]) -> Relation[int]:
        return tuple({other: 1 for other, mask in row.items() if mask >> candidate & 1} for row in relation)

    def value(valuation: Valuation[int]) -> Value:
        return next(value for value, mask in valuation.items() if mask >> candidate & 1)

    orders = {name: only(order) for name, order in base.choices.orders.items()}
    completes = {event: 1 for event, mask in base.choices.completes.items() if mask >> candidate & 1}
    chosen = ExecutionChoices(only(base.choices.rf), only(base.choices.co), orders, only(base.choices.meet), completes)
    expressions = [shown(event) for event in base.events]
    values = tuple(None if what is None else value(evaluate(what, batch.values, base.algebra)) for what in expressions)
    finals = {term: value(valuation) for term, valuation in batch.finals.items()}
    chosen_base = ProgramBase(bits(1, len(base.events)), base.events, base.places, chosen, base.synchronised)
    return CandidateExecution(test, chosen_base, values, finals)


def shown(event: Event) -> Expression | None:
    """The words that tell of an event's values: what is read or written, or a barrier's name."""
    if event.barrier is not None:
        return event.barrier.name
    return event.value if event.kind in (EventKind.READ, EventKind.WRITE) else None


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def violation_of(model: Model, number: int, execution: CandidateExecution) -> tuple[Violation, Pairs]:
    """The way in which an execution fails a check, given by number, with the pairs of the checked relation by which
    it fails."""
    base = with_reasons(model.seen(execution.base))
    result = Interpreter(base).run(model.syntax)[number]
    violation = Violation(result.check, execution)
    if result.check.negated:
        return violation, ()
    if not isinstance(result.value, tuple):
        return replace(violation, events=tuple(sorted(result.value))), ()
    if result.check.kind == "empty":
        reason, pair = min(
            ((reason, (one, other)) for one, row in enumerate(result.value) for other, reason in row.items()),
            key=lambda found: (found[0].cost, found[1]),
        )
        return replace(violation, edges=reason.edges or (DerivedPair(*pair, ()),), aside=reason.aside), (pair,)
    # Each pair of the checked relation becomes one edge, so that a path in its closure shows the pairs that it took.
    checked: Relation[DerivationPath] = tuple(
        {
            other: DerivationPath((DerivedPair(one, other, (), reason.edges or ()),), reason.cost)
            for other, reason in row.items()
        }
        for one, row in enumerate(result.value)
    )
    if result.check.kind == "acyclic":
        checked = base.algebra.closure(checked)
    _, event = min((row[event].cost, event) for event, row in enumerate(checked) if event in row)
    cycle = checked[event][event].edges or ()
    inner = tuple(step for edge in cycle for step in edge.path or (edge,))
    return (
        replace(violation, edges=_rotated(inner, execution.events)),
        tuple((edge.source, edge.target) for edge in cycle),
    )


def _rotated(cycle: tuple[DerivedPair, ...], events: Sequence[Event]) -> tuple[DerivedPair, ...]:
    """The cycle from its first read or write on; else from a fence, or an initial write."""

    def rank(number: int) -> tuple[bool, bool, int]:
        event = events[cycle[number].source]
        return event.thread == INITIAL, event.kind not in (EventKind.READ, EventKind.WRITE), cycle[number].source

    start = min(range(len(cycle)), key=rank)
    return cycle[start:] + cycle[:start]


def _alike(violation: Violation, pairs: Pairs, base: Base[int], result: CheckResult[int]) -> int:
    """The candidates in which the check fails by the pairs of a violation, for the reasons given in it."""
    names, mask = PreludeValues(base), base.algebra.true
    if not isinstance(result.value, tuple):
        for event in violation.events:
            mask &= result.value.get(event, 0)
        return mask
    for one, other in pairs:
        mask &= result.value[one].get(other, 0)
    for step in violation.steps:
        for name in step.names:
            held = names.value(name)
            if isinstance(held, tuple):
                mask &= held[step.source].get(step.target, 0)
    return mask


def _signature(violation: Violation) -> Hashable:
    """A key that two violations share if they fail in one way, even in batches of candidates that number events
    differently."""
    keys = [event.key for event in violation.execution.events]
    steps = [(step.names, keys[step.source], keys[step.target]) for step in (*violation.steps, *violation.aside)]
    return violation.check, tuple(steps), tuple(keys[event] for event in violation.events)
