"""The facts about litmus tests that results and tables of verdicts hold, for models of a sketch.

What was *seen* on a device is allowed: every outcome of every test, and not only the one that it asks about. What a
table says of a test is so. An outcome that was *never seen* is evidence, and a fact only where the user says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from backends.shared.layout import outcome_terms
from backends.shared.results import RESULTS, MemoryResult, latest
from corpus.errors import InputError
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from corpus.litmus.propositions import And, Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from oracle.executions.judge import Answer
from oracle.executions.steps import TooManyError
from oracle.executions.threads import unroll_threads
from oracle.inference.classes import SketchTest
from oracle.inference.fitting import Fact
from oracle.inference.model_sets import ModelSet
from oracle.inference.sketch import Sketch
from oracle.inference.verdicts import allowing, flagging
from synth.conformance import Outcome
from synth.expectations import models_of_table, read_expected
from synth.inputs import MEMORY, Input, expand, family_of, timed_results
from synth.memory.conformance import asked_outcomes, by_terms_of_the_test

RESULT_LINES = ".jsonl"
"""The suffix of files of results."""

TABLE = ".csv"
"""The suffix of tables of verdicts."""


@dataclass(frozen=True, slots=True)
class NeverSeen:
    """When an outcome that was never seen is a fact: where it is ``forbidden``, after so many ``instances``."""

    forbidden: bool = False
    instances: int = 1


@dataclass(frozen=True, slots=True)
class KnownOutcome:
    """What a fact says under any sketch: the outcome that a test asks about is allowed, or it is forbidden.

    An outcome that was ``seen`` on a device contradicts no model that flags the test.
    """

    test: LitmusTest
    allowed: bool
    seen: bool = False

    def fitting(self, sketch: Sketch) -> ModelSet:
        """The models of a sketch that agree."""
        models = allowing(self.test, sketch)
        if self.seen:
            models = models | flagging(self.test, sketch)
        return models if self.allowed else sketch.valid - models


@dataclass
class MemoryFacts:
    """What is known of litmus tests under a sketch: facts, evidence of outcomes that were never seen, and the tests.

    ``outcomes`` has for each fact what it says under any sketch, and ``unread`` a line for each test that was left out,
    with the reason.
    """

    sketch: Sketch
    facts: list[Fact] = field(default_factory=list)
    outcomes: list[KnownOutcome] = field(default_factory=list)
    evidence: list[Fact] = field(default_factory=list)
    tests: list[SketchTest] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    _judged: dict[LitmusTest, SketchTest | None] = field(default_factory=dict, repr=False)

    def add_verdict(self, test: LitmusTest, allowed: bool, source: str) -> None:
        """Add what a table says of the outcome that a test asks about."""
        models = self._models(test)
        if models is not None:
            fits = models if allowed else self.sketch.valid - models
            self.facts.append(Fact(test.name, allowed, fits, source))
            self.outcomes.append(KnownOutcome(test, allowed))

    def add_test(self, test: LitmusTest) -> SketchTest | None:
        """Add a test, of which more may be known later, and return it with the models that allow it.

        None where these are not known, which is noted. A test that is added again is not judged again.
        """
        if test not in self._judged:
            self._judged[test] = None
            try:
                self._judged[test] = made = SketchTest(test.name, events_of(test), allowing(test, self.sketch))
                self.tests.append(made)
            except (TooManyError, InputError) as error:
                self.unread.append(f"{test.name}: {error.message}")
        return self._judged[test]

    def add_result(self, test: LitmusTest, result: MemoryResult, never: NeverSeen, source: str) -> None:
        """Add what was seen of a test: each outcome that was, and the asked outcome where it was not."""
        known = by_terms_of_the_test(test, result)
        targets = asked_outcomes(test, result)
        if known is None or targets is None:
            self.unread.append(f"{test.name}: the results have other registers or locations than the test")
            return
        models = self._models(test)
        if models is None:
            return
        instances = result.launches * result.instances
        seen_asked = False
        for given, count in result.outcomes:
            if count:
                seen_asked = seen_asked or given in targets
                self._add_seen(test, known[given], f"seen {count:,} times in {instances:,}", source)
        if not seen_asked and not result.other:
            fact = Fact(test.name, False, self.sketch.valid - models, source, f"never seen in {instances:,}")
            if never.forbidden and instances >= never.instances:
                self.facts.append(fact)
                self.outcomes.append(KnownOutcome(test, False))
            else:
                self.evidence.append(fact)

    def _add_seen(self, test: LitmusTest, values: Outcome, evidence: str, source: str) -> None:
        outcome = KnownOutcome(asking(test, values), True, seen=True)
        models = outcome.fitting(self.sketch)
        if models is not self.sketch.valid:
            ends = ", ".join(f"{spell(term)}={value}" for term, value in zip(outcome_terms(test), values, strict=True))
            self.facts.append(Fact(f"{test.name} with {ends}", True, models, source, evidence))
            self.outcomes.append(outcome)

    def _models(self, test: LitmusTest) -> ModelSet | None:
        """The models that allow a test; None where that is not known."""
        judged = self.add_test(test)
        return None if judged is None else judged.allowing


def asking(test: LitmusTest, values: Outcome) -> LitmusTest:
    """Return a test that asks for one outcome, given by the values of its terms."""
    equal = [Atom("eq", term, value) for term, value in zip(outcome_terms(test), values, strict=True)]
    return replace(test, condition=Condition(Quantifier.EXISTS, And(tuple(equal))))


def events_of(test: LitmusTest) -> int:
    """Return the number of events that the threads of a test have at most, loops not followed back."""
    return sum(max((len(path.events) for path in thread.paths), default=0) for thread in unroll_threads(test, 0))


def read_facts(
    sketch: Sketch, sources: Sequence[Path], tests: Sequence[str], column: str | None, never: NeverSeen
) -> MemoryFacts:
    """Return the facts of some sources: tables of verdicts (.csv), results (.jsonl), and corpora with either.

    ``tests`` are paths to the tests that the sources speak of, where these are not beside them. ``column`` names the
    model whose verdicts count, where a table has several. Raises ``InputError`` where a source cannot be read, or
    speaks of tests that are not there.
    """
    found = MemoryFacts(sketch)
    given = named(expand(tests)) if tests else {}
    for source in sources:
        if source.suffix == TABLE:
            _read_table(found, source, given, column)
        elif source.suffix == RESULT_LINES:
            _read_results(found, source, given or _around(source), never)
        elif source.is_dir():
            _read_corpus(found, source, column, never)
        else:
            wanted = f"a table of verdicts ({TABLE}), results ({RESULT_LINES}) or a corpus"
            raise InputError(f"expected {wanted}", str(source))
    return found


def named(inputs: Iterable[Input]) -> dict[str, Input]:
    """Return inputs by each name that a table or a line of results may have for them."""
    found: dict[str, Input] = {}
    for test in inputs:
        for name in (test.label, test.file_name, test.name):
            found.setdefault(name, test)
    return found


def _around(source: Path) -> dict[str, Input]:
    return named(expand([str(source.parent)]))


def _read_table(found: MemoryFacts, source: Path, given: dict[str, Input], column: str | None) -> None:
    name = column_of(source, column)
    number = 0
    for row in read_expected(source, (name,), ("verdict", "condition")):
        number += 1
        test = test_of(row.test, source, given, row.line).litmus()
        allowed = _is_allowed(row.cells, test.condition.quantifier)
        if allowed is None:
            found.unread.append(f"{source}:{row.line}: no verdict that is ALLOWED or FORBIDDEN")
        else:
            found.add_verdict(test, allowed, f"{source}:{row.line}")
    if not number:
        raise InputError(f"the table has no verdict of {name}", str(source))


def column_of(source: Path, column: str | None) -> str:
    """Return the model whose verdicts in a table count: the one that is named, or the only one.

    Raises ``InputError`` where there is none, or several.
    """
    models = models_of_table(source)
    if models and column is None and len(models) > 1:
        raise InputError(f"verdicts of {', '.join(models)}: --column names whose count", str(source))
    if models and column is not None and column not in models:
        raise InputError(f"no verdicts of {column}, but of {', '.join(models)}", str(source))
    return column or (models[0] if models else "verdict")


def _is_allowed(cells: object, quantifier: Quantifier) -> bool | None:
    assert isinstance(cells, dict)
    verdict, condition = cells.get("verdict"), cells.get("condition")
    if verdict in (Answer.ALLOWED, Answer.FORBIDDEN):
        return bool(verdict == Answer.ALLOWED)
    if condition in ("true", "false") and quantifier is not Quantifier.FORALL:
        return (condition == "true") is (quantifier is Quantifier.EXISTS)
    return None


def test_of(name: str, source: Path, given: dict[str, Input], line: int) -> Input:
    """Return the test that a table names: one of those given, or a file beside the table. Raises ``InputError``."""
    known = given.get(name)
    if known is None:
        beside = source.parent / name
        if not beside.is_file():
            raise InputError(f"no test {name} beside the table; --tests names where tests are", str(source), line, 1)
        known = Input(str(beside), beside.stem, beside)
    return known


def _read_results(found: MemoryFacts, source: Path, given: dict[str, Input], never: NeverSeen) -> None:
    by_digest = {}
    for file in dict.fromkeys(given.values()):
        test = file.litmus()
        by_digest[litmus_digest(test)] = test
    results, _ = latest(entry for entry, _ in timed_results(source))
    number = 0
    for result in results.values():
        known = by_digest.get(result.digest)
        if isinstance(result, MemoryResult) and known is not None:
            number += 1
            found.add_result(known, result, never, str(source))
    if not number:
        raise InputError("none of the results is of these tests; --tests names where they are", str(source))


def _read_corpus(found: MemoryFacts, source: Path, column: str | None, never: NeverSeen) -> None:
    """Read a corpus: its verdicts by the model that a column is named for, else its results."""
    if family_of([str(source)]) != MEMORY:
        raise InputError("expected litmus tests, found progress tests", str(source))
    inputs = expand([str(source)])
    results = source / RESULTS
    if column is None:
        if not results.is_file():
            raise InputError("the corpus has no results; --column names the model whose verdicts count", str(source))
        _read_results(found, results, named(inputs), never)
        return
    number = 0
    for test in inputs:
        verdict = test.record.verdicts.get(column) if test.record else None
        if verdict in (Answer.ALLOWED, Answer.FORBIDDEN):
            number += 1
            found.add_verdict(test.litmus(), verdict == Answer.ALLOWED, f"{source}: {column}")
    if not number:
        raise InputError(f"the corpus has no verdicts of {column}", str(source))
