"""The promises of consistency models on litmus tests, and results compared with them.

``synth.conformance`` says what a promise is, and when a device contradicts a model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from backends.shared.layout import outcome_terms
from backends.shared.results import MemoryResult
from corpus.errors import InputError
from corpus.litmus.condition import spell
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import FinalRegister, Term, propositions
from corpus.litmus.test import LitmusTest
from corpus.test import Test
from oracle.consistency import ConsistencyModel, OperationalModel, model_names, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import Outcome as Final
from oracle.executions.judge import Answer, is_complete, is_quick_to_list, outcomes_and_flags
from oracle.executions.threads import unroll_threads
from oracle.executions.values import Value, holds
from synth.conformance import Outcome, Promise, forbidden, recorded
from synth.inputs import Input
from synth.memory.judging import judge_with
from synth.pool import map_each
from synth.requests import AUTO
from synth.watch import watching
from synth.worker import Limits

CUT = f"loops were cut after {UNROLL} jumps back"


def promise_of(test: LitmusTest, model: ConsistencyModel) -> Promise:
    """Return the promise of a model on a litmus test.

    Every outcome is judged where executions are quick to list, else only the one that the test asks about. Loops are
    followed ``UNROLL`` jumps back. Gap: of values out of thin air, which justify themselves, those are listed that the
    condition mentions.
    """
    try:
        if isinstance(model, OperationalModel):
            explored = model.explore(test, UNROLL)
            finals = frozenset(tuple(zip(explored.terms, final, strict=True)) for final in explored.finals)
            return _promise(test, finals, (), explored.bounded)
        if not is_quick_to_list(test, model.model):
            return _of_asked(test, model)
        cut = not is_complete(test, unroll_threads(test, UNROLL), model.model)
        return _promise(test, *outcomes_and_flags(test, model.model), cut)
    except InputError as error:
        return Promise(None, reason=error.message)


def _promise(test: LitmusTest, finals: Iterable[Final], flags: Sequence[str], cut: bool) -> Promise:
    """Return the promise of a model that allows these outcomes; ``cut``: loops were cut, so that it may allow others
    too.
    """
    if flags:
        return Promise(None, reason=", ".join(flags))
    terms = outcome_terms(test)
    allowed = frozenset(values for final in map(dict, finals) if (values := _numbers(final, terms)) is not None)
    if any(is_asked_for(test, terms, values) for values in allowed):
        return Promise(False, allowed, CUT if cut else "")
    return Promise(None if cut else True, allowed, CUT if cut else "")


def _of_asked(test: LitmusTest, model: ConsistencyModel) -> Promise:
    """Return the promise of a model on the asked outcome alone."""
    judgement = judge_with(test, model, AUTO, UNROLL)
    flags = judgement.flags
    if test.condition.filter is not None:  # a race is undefined behaviour also in an execution that the filter rejects
        every = replace(test, condition=replace(test.condition, filter=None))
        flags = judge_with(every, model, AUTO, UNROLL).flags
    if flags or judgement.answer is Answer.UNKNOWN:
        return Promise(None, reason=", ".join(flags) or judgement.reason or "no verdict")
    if judgement.answer is Answer.FORBIDDEN and judgement.provisional:
        return Promise(None, reason=CUT)
    return Promise(judgement.answer is Answer.FORBIDDEN)


LIMITS = Limits(20.0, 4096)
"""The limits on asking one model about one test, unless the user says otherwise: seconds and megabytes."""


def promises_by_processes(
    questions: Sequence[tuple[LitmusTest | Input, ConsistencyModel]], jobs: int, limits: Limits = LIMITS
) -> list[Promise]:
    """Return the promise of each model on its test, by ``jobs`` processes.

    Where a promise exceeds the limits, the model promises nothing. Raises ``InputError`` where a test cannot be read.
    """

    @lru_cache(maxsize=1)  # models are asked about a test one after the other
    def parsed(test: Input) -> LitmusTest:
        return test.litmus()

    def work(one: tuple[LitmusTest | Input, ConsistencyModel]) -> Promise:
        test, model = one
        return promise_of(parsed(test) if isinstance(test, Input) else test, model)

    def lost(_: tuple[LitmusTest | Input, ConsistencyModel], reason: str) -> Promise:
        return Promise(None, reason=f"judging it {reason}")

    found: list[Promise] = []
    with watching("Judging", found=False) as watch, closing(map_each(work, questions, jobs, limits, lost)) as answers:
        for promise in answers:
            found += [promise] if promise is not None else []
            watch(len(found), len(questions), len(found))
    return found


def labelled_by(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the models that labelled a corpus, each with the digest of its text, empty where the manifest has none."""
    request = manifest.get("request")
    digests = request.get("model_digests") if isinstance(request, dict) else None
    known = digests if isinstance(digests, dict) else {}
    return {str(name): str(known.get(name, "")) for name in manifest.get("models", [])}


def models_as_recorded(digests: Mapping[str, Collection[str]]) -> dict[str, ConsistencyModel]:
    """Return by name the models that labelled corpora and that ship; ``digests`` are those that corpora have of each.

    A digest tells a model that ships from a file of the user's that had its name.
    """
    shipped = {model.name: model for model in resolve_consistency_models(model_names()) if model.name in digests}
    return {name: model for name, model in shipped.items() if {*digests[name]} <= {"", model.digest}}


def recorded_promises(test: Test) -> dict[str, Promise]:
    """Return the promises that the verdicts of a test in a corpus stand for, on the asked outcome alone."""
    return {
        model: recorded(verdict, Answer.FORBIDDEN, Answer.ALLOWED, test.reasons.get(model, ""))
        for model, verdict in test.verdicts.items()
    }


def _numbers(final: Mapping[Term, Value], terms: Sequence[FinalRegister | Loc]) -> Outcome | None:
    """Return the values of the terms; None where one is an address, which no result has."""
    values = tuple(value for term in terms if isinstance(value := final[term], int))
    return values if len(values) == len(terms) else None


def is_asked_for(test: LitmusTest, terms: Sequence[FinalRegister | Loc], values: Outcome) -> bool:
    """Return whether an outcome satisfies the condition's proposition and passes its filter."""
    known: dict[Term, int] = dict(zip(terms, values, strict=True))

    def value(term: Term) -> Value:
        return term if isinstance(term, int) else known[term]

    return all(holds(part, value) for part in propositions(test.condition))


def by_terms_of_the_test(test: LitmusTest, result: MemoryResult) -> dict[Outcome, Outcome] | None:
    """Return the outcomes of a result, each with its values in the order of the test's terms.

    None where the terms of the result are not those of the test's condition.
    """
    spelled = [spell(term) for term in outcome_terms(test)]
    if sorted(spelled) != sorted(result.terms):
        return None
    order = [result.terms.index(name) for name in spelled]
    return {values: tuple(values[place] for place in order) for values, _ in result.outcomes}


def asked_outcomes(test: LitmusTest, result: MemoryResult) -> frozenset[Outcome] | None:
    """Return the outcomes of a result that are asked for; None where its terms are not those of the condition."""
    terms = outcome_terms(test)
    known = by_terms_of_the_test(test, result)
    return None if known is None else frozenset(values for values in known if is_asked_for(test, terms, known[values]))


def forbidden_outcomes(
    test: LitmusTest, result: MemoryResult, promises: Mapping[str, Promise]
) -> dict[Outcome, tuple[str, ...]]:
    """Return the outcomes of a result that some model forbids, each with the models that forbid it."""
    terms = outcome_terms(test)
    known = by_terms_of_the_test(test, result) or {}
    against = forbidden(promises, ((values, is_asked_for(test, terms, values)) for values in known.values()))
    return {given: against[values] for given, values in known.items() if values in against}


@dataclass(frozen=True, slots=True)
class ConformanceRow:
    """An outcome that was seen or that some model allows: its count, 0 if it was not seen, and the models that forbid
    it.
    """

    values: Outcome
    count: int
    asked: bool
    forbidden_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """A test that was run, its outcomes by value, and the promise of each model on it."""

    file: str
    test: LitmusTest
    result: MemoryResult
    rows: tuple[ConformanceRow, ...]
    promises: Mapping[str, Promise]


def observation(file: str, test: LitmusTest, result: MemoryResult, promises: Mapping[str, Promise]) -> Observation:
    """Return the observation of a result and the models' promises; the terms of the result are in the test's order."""
    terms = outcome_terms(test)
    seen = dict(result.outcomes)
    known = set(seen).union(*(promise.allowed for promise in promises.values() if promise.allowed is not None))
    is_asked = {values: is_asked_for(test, terms, values) for values in sorted(known)}
    against = forbidden(promises, is_asked.items())
    rows = tuple(
        ConformanceRow(values, seen.get(values, 0), is_asked[values], against.get(values, ())) for values in is_asked
    )
    return Observation(file, test, result, rows, promises)


@dataclass(frozen=True, slots=True)
class ModelReport:
    """The agreement of one model with the tests that were run.

    The model judges ``tests`` of them, and not the ``unknown`` ones, which are files with a reason each in ``reasons``.
    ``forbidden`` has an entry, the file and the values, for each outcome that was seen and that the model forbids;
    ``seen`` and ``unseen`` count the outcomes that it allows.
    """

    model: str
    tests: int
    unknown: int
    forbidden: tuple[tuple[str, Outcome], ...]
    seen: int
    unseen: int
    reasons: Mapping[str, str]


def model_report(model: str, observations: Sequence[Observation]) -> ModelReport:
    """Return how the observations of some tests agree with one model."""
    promises = {observed.file: observed.promises[model] for observed in observations}
    reasons = {file: promise.reason for file, promise in promises.items() if promise.allowed is None and promise.reason}
    forbidden = [
        (observed.file, row.values)
        for observed in observations
        for row in observed.rows
        if row.count and model in row.forbidden_by
    ]
    counts = [row.count for observed in observations for row in observed.rows if _allows(promises[observed.file], row)]
    seen = sum(count > 0 for count in counts)
    tests = len(observations) - len(reasons)
    return ModelReport(model, tests, len(reasons), tuple(forbidden), seen, len(counts) - seen, reasons)


def _allows(promise: Promise, row: ConformanceRow) -> bool:
    if promise.allowed is not None:
        return row.values in promise.allowed
    return row.asked and promise.forbids_asked is False
