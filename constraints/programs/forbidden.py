"""The tests that a consistency model forbids, as clauses, each once up to the exchange of threads: minimal ones, or
any.

Variables: those of a program skeleton (``constraints.programs.skeleton``), and the choices by which its outcome comes
about (``constraints.programs.choices``), once for the execution and, where outcomes are compared, once for each
relaxation.

Constraints
    the model forbids the execution: one of its checks fails, and it raises no flag, as that of a data race
    other models, if any are named, allow an execution with that outcome, and raise no flag
    minimal (Lustig et al., ASPLOS 2017): after each relaxation that applies (``relaxations``), the model does not
        forbid what is left

``Criterion.EXECUTION`` means minimality of one execution: what a relaxation leaves of it keeps its coherence and fence
order, and what read from a write that is removed reads nothing. ``Criterion.OUTCOME`` means minimality of outcomes:
after a relaxation, some execution with what is left of the outcome is not forbidden, and a read whose write is removed
may read anything. That every execution with the outcome is forbidden is learned (counterexample-guided): where one is
allowed, the choices that it makes must be forbidden in every program that makes them. For that, choices are orders of
all events, which any program has. Once several choices were learned, the formula also forbids executions that it holds
already: for each event, the execution that is allowed without the event, with the event put back. Example: the write to
x of P0 in `W x; W y | W x | W x` is put back as the first write to x; what is allowed then shows that it does nothing.

The size is that of the model over n events for each relaxation, of which there are 2 n to 8 n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

from constraints.circuit import Circuit, Literal, building
from constraints.formula import Clause, Formula
from constraints.programs.choices import choose, chosen, reversed_coherence
from constraints.programs.criterion import Criterion
from constraints.programs.interleaved import interleaved, meetings
from constraints.programs.judging import AllowedSearch, checks_and_flags, require_forbidden
from constraints.programs.relaxations import RelaxedView, relaxations
from constraints.programs.skeleton import OrderLiterals, ProgramSkeleton, write_of
from constraints.programs.translated import translated_view
from constraints.programs.view import ExecutionView
from corpus.executions.execution import INITIAL, Execution
from corpus.executions.operations import copies
from corpus.executions.translation import Translation
from corpus.executions.vocabulary import Vocabulary
from corpus.graphs import linear_extension
from oracle.cat.interpreter import Model
from oracle.executions.initial import sees_initial_writes

PUT_BACK_AFTER = 4
"""Refinements after which the executions of relaxed programs, with the removed event put back, are forbidden too. A
formula that needs fewer refinements is solved sooner without them."""


def splits(events: int, threads: tuple[int, int] | None = None) -> list[tuple[int, ...]]:
    """The ways to split events into threads, larger threads first; ``threads``: the least and the greatest number of
    threads."""

    def parts(left: int, most: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        for size in range(min(left, most), 0, -1):
            for rest in parts(left - size, size):
                yield (size, *rest)

    least, most = threads or (1, events)
    return [sizes for sizes in parts(events, events) if least <= len(sizes) <= most]


class OutcomeEncoding:
    """The parts that both criteria and comparisons share: a program skeleton, the test in its models, and their
    blocking."""

    def __init__(self, words: Vocabulary, sizes: tuple[int, ...], outcome: bool) -> None:
        self.circuit = Circuit()
        self.unknown = ProgramSkeleton(self.circuit, words, sizes)
        self.final = self.unknown.last_writes() if outcome else []

    @property
    def formula(self) -> Formula:
        """The clauses of the skeleton and of all that has been required of it so far."""
        return self.circuit.formula

    def choices(self, name: str, executed: Sequence[Literal], model: Model) -> OrderLiterals:
        """New choices of coherence and fence order, of those that the model lets an execution of these events have."""
        return choose(self.unknown, name, executed, model.partial_co, self.final)

    def view(self, choices: OrderLiterals, model: Model, negative: bool) -> ExecutionView:
        """The execution with these choices as the model sees it."""
        return replace(self.unknown.view(choices, negative), initial_writes=sees_initial_writes(model))

    def outcome(self, execution: Execution) -> Iterator[Literal]:
        """The literals that the program of an execution, with its outcome, satisfies."""
        yield from self.unknown.literals(execution)
        yield from self.unknown.sources(execution)
        yield from self.last_writes(execution)

    def last_writes(self, execution: Execution) -> Iterator[Literal]:
        """The literals of the last writes of an execution."""
        for write in execution.final:
            if write is not None:
                yield self.final[write_of(execution, write)]


@dataclass(frozen=True)
class SeparationQuestion:
    """The tests that are asked for: those that one model forbids and others allow; minimal ones, or any.

    With a ``translation``, the others are to allow the outcome of the translated program, in which flags do not count.
    The program itself is then to raise no flag by any outcome, as far as running it one event at a time shows.
    ``spared``: kinds of relaxations that minimal tests need not be minimal under, such as ``split``
    (``constraints.programs.relaxations.RelaxedView.kind``).
    """

    forbidden_by: Model
    allowed_by: tuple[Model, ...] = ()
    criterion: Criterion = Criterion.OUTCOME
    minimal: bool = True
    translation: Translation | None = None
    spared: frozenset[str] = frozenset()


class Forbidden(OutcomeEncoding):
    """The tests that answer a question and whose threads have ``sizes`` events; an ``Encoding`` of the synthesis
    loop."""

    @building()
    def __init__(self, question: SeparationQuestion, words: Vocabulary, sizes: tuple[int, ...]) -> None:
        super().__init__(words, sizes, question.criterion is Criterion.OUTCOME)
        model = question.forbidden_by
        self.model = model
        self._by_outcome = question.criterion is Criterion.OUTCOME
        self._verifier: Verifier | None = None
        self._removed: list[tuple[ExecutionView, Literal]] = []
        self._refined = 0
        circuit = self.circuit
        every = [circuit.true] * self.unknown.size
        # By outcome every choice is to be forbidden; a total order of coherence is more often meaningful.
        self._choices = choose(self.unknown, "", every, model.partial_co and not self._by_outcome, self.final)
        for number, other in enumerate(question.allowed_by):
            choices = self.choices(f"allowed {number}", every, other) if self._by_outcome else self._choices
            seen = self.view(choices, other, negative=False)
            if question.translation is not None:
                seen = translated_view(self.unknown, seen, question.translation, f"translated {number}")
            for result in other.judge(seen):
                if not result.check.flag:
                    circuit.require(result.truth)
                elif question.translation is None:
                    circuit.require(~result.truth)
            if model.partial_co or not other.partial_co:
                self._choices = choices  # every choice is to be forbidden, so these may serve
            elif question.translation is not None:
                self._extends(choices)
        view = self.view(self._choices, model, negative=True)
        self._forbid(view, circuit.true)
        if self._by_outcome:
            self._forbid(self.view(reversed_coherence(self._choices, self.final), model, negative=True), circuit.true)
        if question.translation is not None:
            self._race_free()
        for relaxed in relaxations(self.unknown, replace(view, negative=False)) if question.minimal else ():
            if relaxed.kind in question.spared:
                continue
            residual = self._residual(relaxed)
            checks, flags = checks_and_flags(model, residual)
            for truth in checks:
                circuit.require(~relaxed.applies, truth, *flags)
            if self._by_outcome and relaxed.removes:
                self._removed.append((residual, relaxed.applies))

    def _extends(self, choices: OrderLiterals) -> None:
        """Requires a coherence order that makes the chosen one total; every such order is to be forbidden, so any
        serves."""
        for w, row in enumerate(choices.co):
            for v, before in row.items():
                self.circuit.require(~before, self._choices.co[w][v])

    def _race_free(self) -> None:
        """Requires that the model flags no execution in which the program is run one event at a time, whatever the
        outcome."""
        circuit, sees = self.circuit, sees_initial_writes(self.model)
        if not self.model.flags:
            return
        for order in meetings(self.unknown):
            view = replace(interleaved(self.unknown, order), initial_writes=sees)
            checks, flags = checks_and_flags(self.model, view)
            for flag in flags:
                circuit.require(~flag, *(~truth for truth in checks))

    def _forbid(self, view: ExecutionView, where: Literal) -> None:
        """That the model forbids an execution, and raises no flag on it."""
        require_forbidden(self.circuit, self.model, view, where)

    def _residual(self, relaxed: RelaxedView) -> ExecutionView:
        """The view that a relaxation leaves of the execution, or of an execution with what it leaves of the outcome."""
        view = relaxed.view
        if not self._by_outcome:
            return view
        lost = self._lost(view) if relaxed.removes else {}
        final = [last & ~lost[w] if w in lost else last for w, last in enumerate(self.final)]
        choices = choose(self.unknown, relaxed.name, view.executed, self.model.partial_co, final)
        view = replace(view, co=choices.co, before=choices.before)
        orphaned = relaxed.removes or bool(self.unknown.operations.copies)
        return self._orphans(relaxed.name, view, lost) if orphaned else view

    def _lost(self, view: ExecutionView) -> dict[int, Literal]:
        """For each write of a copy the literal that its value is removed: that of the write that it was of."""
        circuit, unknown = self.circuit, self.unknown
        copies = unknown.operations.copies
        lost: dict[int, Literal] = {}
        for _ in copies:
            lost = {
                r + 1: unknown.operations.read(r)
                & circuit.any_of(
                    unknown.rf[w][r] & (~view.executed[w] | lost.get(w, circuit.false))
                    for w in unknown.events
                    if w != r
                )
                for r in copies
            }
        return lost

    def _put_back(self, residual: ExecutionView) -> OrderLiterals:
        """The choices of an execution without some event, as choices of the test: a removed write comes first of its
        location, or last where its value is the last.
        """
        circuit, unknown = self.circuit, self.unknown
        co: list[dict[int, Literal]] = [{} for _ in unknown.events]
        for w, v in permutations(unknown.events, 2):
            writes = unknown.loc[w][v] & unknown.writes(w) & unknown.writes(v)
            kept = residual.co[w].get(v, circuit.false) & residual.executed[w] & residual.executed[v]
            put_back = (~residual.executed[w] & ~self.final[w]) | (~residual.executed[v] & self.final[v])
            if before := kept | (writes & put_back):
                co[w][v] = before
        return OrderLiterals(co, residual.before)

    def _orphans(self, name: str, view: ExecutionView, lost: Mapping[int, Literal]) -> ExecutionView:
        """The view in which reads whose write or value is removed read anything, as copies do that are unseen."""
        circuit, unknown = self.circuit, self.unknown
        rf = [dict(row) for row in view.rf]
        initial = dict(view.initial)
        unseen = unknown.operations.unseen(unknown.rf, self.final, view.executed)
        for r in unknown.events:
            removed = (
                unknown.rf[w][r] & (~view.executed[w] | lost.get(w, circuit.false)) for w in unknown.events if w != r
            )
            orphan = circuit.any_of([*removed, unseen.get(r, circuit.false)]) & view.executed[r]
            if not orphan:
                continue
            free = {w: circuit.var("orphan", name, w, r) for w in unknown.events if w != r and view.executed[w]}
            first = circuit.var("orphan", name, r)
            circuit.exactly_one([first, *free.values()], orphan)
            for w, literal in free.items():
                circuit.require(~literal, orphan)
                circuit.require(~literal, unknown.writes(w))
                circuit.require(~literal, view.executed[w])
                circuit.require(~literal, unknown.loc[w][r])
                rf[w][r] = rf[w][r] | literal
            circuit.require(~first, orphan)
            initial[r] = initial[r] | first
        return replace(view, rf=rf, initial=initial)

    # The loop's encoding

    def decode(self, model: Sequence[int]) -> Execution:
        """The execution of a model of the formula; by outcome, in its coherence order the last write comes last."""
        satisfied = [False, *(number > 0 for number in model)]
        unknown, co = self.unknown, self._choices.co

        def holds(literal: Literal) -> bool:
            return literal.holds(model)

        writes = [w for w in unknown.events if holds(unknown.writes(w))]
        mates = {w: [v for v in writes if v != w and holds(unknown.loc[w][v])] for w in writes}
        if self._by_outcome:
            last = [w for w in writes if holds(self.final[w])]
            pairs = frozenset((v, w) for w in last for v in mates[w])
        else:
            pairs = frozenset((w, v) for w, row in enumerate(co) for v, literal in row.items() if holds(literal))
            last = [w for w in writes if all((v, w) in pairs for v in mates[w])]
        return unknown.execution(satisfied, pairs, last)

    @building()
    def refine(self, model: Sequence[int], solution: Execution) -> Sequence[Clause]:
        """By outcome, where the model allows an execution with it: clauses that those choices are to be forbidden."""
        found = self._allowed(solution)
        if found is None:
            return []
        before = len(self.formula.clauses)
        co, fences, sources = found
        if not self.model.partial_co:
            co = linear_extension(co, self.unknown.size)
        choices, possible = chosen(self.unknown, co, fences, self.final)
        view, so_read = self._reading(sources, self.view(choices, self.model, negative=True))
        self._forbid(view, possible & so_read)
        self._refined += 1
        if self._refined == PUT_BACK_AFTER:
            for residual, applies in self._removed:
                self._forbid(self.view(self._put_back(residual), self.model, negative=True), applies)
        return self.formula.clauses[before:]

    def _reading(self, sources: Mapping[int, int], view: ExecutionView) -> tuple[ExecutionView, Literal]:
        """The view in which copies that are unseen have read what ``sources`` says, and the literal that they can."""
        circuit, unknown = self.circuit, self.unknown
        if not sources:
            return view, circuit.true
        unseen = unknown.operations.unseen(unknown.rf, self.final, view.executed)
        rf, initial, possible = [dict(row) for row in view.rf], dict(view.initial), circuit.true
        for r, source in sources.items():
            for w in unknown.events:
                if r in rf[w]:
                    rf[w][r] = (rf[w][r] & ~unseen[r]) | (unseen[r] if w == source else circuit.false)
            initial[r] = (initial[r] & ~unseen[r]) | (unseen[r] if source == INITIAL else circuit.false)
            if source != INITIAL:
                possible = possible & ~(unseen[r] & ~(unknown.loc[source][r] & unknown.writes(source)))
        return replace(view, rf=rf, initial=initial), possible

    def is_test(self, solution: Execution) -> bool:
        """Whether the execution of a model of the formula is a test, so that ``refine`` has nothing to add."""
        return self._allowed(solution) is None

    def _allowed(self, solution: Execution) -> AllowedChoices | None:
        if not self._by_outcome:
            return None
        if self._verifier is None:
            self._verifier = Verifier(self.model, self.unknown.words, self.unknown.sizes)
        return self._search(self._verifier, solution)

    def _search(self, verifier: Verifier, solution: Execution) -> AllowedChoices | None:
        """The choices by which the model allows an execution with the outcome of a solution."""
        return verifier.allowed(solution)

    def block(self, solution: Execution) -> Iterable[Clause]:
        """The blocking clauses of a test: one for each of its images under the exchange of threads."""
        for image in dict.fromkeys(solution.images()):
            literals = self.outcome(image) if self._by_outcome else self._whole(image)
            yield [-literal.number for literal in literals if literal is not self.circuit.true]

    def _whole(self, execution: Execution) -> Iterator[Literal]:
        yield from self.unknown.literals(execution)
        yield from self.unknown.sources(execution)
        there = {(write_of(execution, one), write_of(execution, other)) for one, other in execution.co}
        for w, row in enumerate(self._choices.co):
            for v, literal in row.items():
                yield literal if (w, v) in there else ~literal

    def beginnings(self) -> list[list[int]]:
        """For each event, literals of which exactly one holds: which kind of instruction begins with the event, or
        that it is the write of an update. They may take new variables and clauses."""
        unknown = self.unknown
        every = (
            [*(unknown.starting(e, kind) for kind in unknown.words.modes), unknown.half(e)] for e in unknown.events
        )
        return [[literal.number for literal in choice if literal is not self.circuit.false] for choice in every]


class Shapes:
    """An encoding by outcome that gives each shape once: tests that differ in modes and places alone are one.

    ``counts``: whether a solution counts, so that its shape is blocked; where it does not, its shape may be found
    again.
    """

    def __init__(self, encoding: Forbidden, counts: Callable[[Execution], bool] = lambda _: True) -> None:
        self._encoding = encoding
        self._counts = counts
        self.formula = encoding.formula
        self.decode = encoding.decode
        self.refine = encoding.refine

    def block(self, solution: Execution) -> Iterable[Clause]:
        """The blocking clauses of the images of a solution's shape under the exchange of threads, or of the solution
        alone where it does not count."""
        unknown, encoding = self._encoding.unknown, self._encoding
        if not self._counts(solution):
            yield from encoding.block(solution)
            return
        true = encoding.circuit.true
        for image in dict.fromkeys(solution.images()):
            literals = [*unknown.shape(image), *unknown.sources(image), *encoding.last_writes(image)]
            yield [-literal.number for literal in literals if literal is not true]


class AllowedChoices(NamedTuple):
    """The choices by which an execution is allowed: its coherence and its order of fences, as pairs of events, and what
    each copy has read that is unseen."""

    co: frozenset[tuple[int, int]]
    fences: frozenset[tuple[int, int]]
    sources: Mapping[int, int]


class Verifier(OutcomeEncoding):
    """A search for an execution of an outcome that a model allows, or flags."""

    @building()
    def __init__(self, model: Model, words: Vocabulary, sizes: tuple[int, ...]) -> None:
        super().__init__(words, sizes, outcome=True)
        circuit = self.circuit
        self._choices = self.choices("", [circuit.true] * self.unknown.size, model)
        checks, flags = checks_and_flags(model, self.view(self._choices, model, negative=False))
        for truth in checks:
            circuit.require(truth, *flags)
        self._search = AllowedSearch(circuit)

    def allowed(self, execution: Execution, chosen: Iterable[Literal] = ()) -> AllowedChoices | None:
        """The choices of an execution that is allowed; None where every execution is forbidden.

        ``chosen`` are literals that are to hold besides.
        """
        holds = self._search.find([literal.number for literal in (*self.outcome(execution), *chosen)])
        if holds is None:
            return None

        def pairs(rows: Sequence[Mapping[int, Literal]]) -> frozenset[tuple[int, int]]:
            return frozenset((e, f) for e, row in enumerate(rows) for f, literal in row.items() if holds(literal))

        read = {f: e for e, f in pairs(self.unknown.rf)}
        unseen = (write_of(execution, i) for i in copies(execution).values() if execution.rf[i] is None)
        sources = {e: read.get(e, INITIAL) for e in unseen}
        return AllowedChoices(pairs(self._choices.co), pairs(self._choices.before), sources)
