"""Outcomes of memory tests seen on a device, set against what models allow.

An outcome that was seen and that a model forbids shows that device, compiler and model do not go together. An outcome
that a model allows and that was not seen shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backends.shared.layout import outcome_terms
from backends.shared.results import MemoryResult
from corpus.errors import InputError
from corpus.litmus.condition import spell
from corpus.litmus.test import FinalRegister, LitmusTest, Loc, Term, propositions
from oracle.consistency import ConsistencyModel, OperationalModel
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import is_complete, outcomes
from oracle.executions.threads import unroll_threads
from oracle.executions.values import Value, holds
from oracle.operational.explore import explore

Terms = tuple[FinalRegister | Loc, ...]
Values = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The outcomes that a model allows, as values of the terms; None where it cannot tell, and why.

    ``bounded``: loops were cut, and more may be allowed.
    """

    outcomes: frozenset[Values] | None
    bounded: bool = False
    reason: str = ""

    def forbids(self, values: Values) -> bool:
        """Whether the model certainly forbids an outcome."""
        return self.outcomes is not None and not self.bounded and values not in self.outcomes


def allowed_outcomes(test: LitmusTest, terms: Terms, model: ConsistencyModel) -> Allowed:
    """What a model allows of a test."""
    try:
        if isinstance(model, OperationalModel):
            explored = explore(test, model.strong, UNROLL)
            finals: Iterable[Mapping[Term, Value]]
            finals = (dict(zip(explored.terms, final, strict=True)) for final in explored.finals)
            bounded = explored.bounded
        else:
            finals = map(dict, outcomes(test, model.model))
            bounded = not is_complete(test, unroll_threads(test, UNROLL), model.model)
        return Allowed(frozenset(_numbers(final, terms) for final in finals), bounded)
    except InputError as error:
        return Allowed(None, reason=error.message)


def _numbers(final: Mapping[Term, Value], terms: Terms) -> Values:
    """The values of the terms, none of which is an address: no back end here runs a test that asks for one."""
    values = tuple(value for term in terms if isinstance(value := final[term], int))
    assert len(values) == len(terms)
    return values


def is_asked_for(test: LitmusTest, terms: Terms, values: Values) -> bool:
    """Whether an outcome satisfies the condition's proposition and passes its filter."""
    known: dict[Term, int] = dict(zip(terms, values, strict=True))

    def value(term: Term) -> Value:
        return term if isinstance(term, int) else known[term]

    return all(holds(part, value) for part in propositions(test.condition))


def asked_outcomes(test: LitmusTest, result: MemoryResult) -> frozenset[Values] | None:
    """The outcomes of a result that are asked for; None where it is of other terms than the test's condition."""
    terms = outcome_terms(test)
    spelled = [spell(term) for term in terms]
    if sorted(spelled) != sorted(result.terms):
        return None
    order = [result.terms.index(name) for name in spelled]
    return frozenset(
        values for values, _ in result.outcomes if is_asked_for(test, terms, tuple(values[at] for at in order))
    )


@dataclass(frozen=True, slots=True)
class Row:
    """An outcome that was seen or that some model allows: its count, 0 if it was not seen, and who forbids it."""

    values: Values
    count: int
    asked: bool
    forbidden_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """A test that was run, its outcomes by value, and what each model allows of it."""

    file: str
    test: LitmusTest
    result: MemoryResult
    rows: tuple[Row, ...]
    allowed: Mapping[str, Allowed]


def observation(
    file: str, test: LitmusTest, terms: Terms, result: MemoryResult, models: Sequence[ConsistencyModel]
) -> Observation:
    """A result beside what the models say."""
    allowed = {model.name: allowed_outcomes(test, terms, model) for model in models}
    seen = dict(result.outcomes)
    known = set(seen).union(*(each.outcomes for each in allowed.values() if each.outcomes is not None))
    rows = [
        Row(
            values,
            seen.get(values, 0),
            is_asked_for(test, terms, values),
            tuple(name for name, each in allowed.items() if each.forbids(values)),
        )
        for values in sorted(known)
    ]
    return Observation(file, test, result, tuple(rows), allowed)


@dataclass(frozen=True, slots=True)
class ModelReport:
    """A model against the tests that were run.

    ``tests`` it could judge, ``unknown`` not. ``forbidden`` has an entry, the file and the values, for each outcome
    that was seen and that it forbids; ``seen`` and ``unseen`` count the outcomes that it allows.
    """

    model: str
    tests: int
    unknown: int
    forbidden: tuple[tuple[str, Values], ...]
    seen: int
    unseen: int


def model_report(model: str, observations: Sequence[Observation]) -> ModelReport:
    """What was seen, against one model."""
    judged = [each for each in observations if each.allowed[model].outcomes is not None]
    forbidden = [
        (each.file, row.values) for each in judged for row in each.rows if row.count and model in row.forbidden_by
    ]
    counts = [row.count for each in judged for row in each.rows if row.values in (each.allowed[model].outcomes or ())]
    seen = sum(count > 0 for count in counts)
    return ModelReport(model, len(judged), len(observations) - len(judged), tuple(forbidden), seen, len(counts) - seen)
