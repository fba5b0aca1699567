"""The judgement of a consistency model on a litmus test, by listing its candidate executions.

ALLOWED: some execution that the model allows (and the condition's filter, if there is one, lets through) satisfies the
condition's proposition. The condition as it is written may still be false: ``~exists`` denies what ``exists`` claims,
and ``forall`` claims that no allowed execution violates the proposition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import prod

from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import CheckResult, Model
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import CandidateBatch, Outcome, candidates, count_candidates
from oracle.executions.events import ProgramBase
from oracle.executions.flow import asked_terms
from oracle.executions.spins import forgets_reads, forgets_rounds, idle_jumps, spinning_jumps
from oracle.executions.steps import TooManyError
from oracle.executions.threads import Paths, unroll_threads
from oracle.executions.unrolled import Unrolled

QUICK_COMBINATIONS = 1 << 10
QUICK_CANDIDATES = 1 << 20
"""The limit of combinations of paths, and of candidates in all, up to which listing is about as quick as a solver."""


class Answer(StrEnum):
    """The answer of a model: whether the outcome that a test asks about can happen."""

    ALLOWED = "ALLOWED"
    FORBIDDEN = "FORBIDDEN"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a model on a test: its answer, and what it is based on.

    ``condition`` is the truth of the condition as it is written, None where it is unknown. ``executions`` counts those
    that the model allows, ``matching`` those of them that satisfy the proposition; None where the method does not
    count. ``flags`` are the flags that some allowed execution raises. ``bounded``: loops were cut after ``unroll``
    jumps; ``provisional``: so that what is FORBIDDEN here may be allowed beyond, or a ``forall`` be false, which it is
    not where loops only wait (``oracle.executions.spins``). ``reason`` says why an answer is UNKNOWN. ``outcomes``: of
    a test that asks nothing the final values in allowed executions, where the method lists executions. Executions that
    the condition's filter does not let through are counted in ``executions`` alone.
    """

    answer: Answer
    condition: bool | None
    executions: int | None = None
    matching: int | None = None
    flags: tuple[str, ...] = ()
    bounded: bool = False
    provisional: bool = False
    reason: str = ""
    outcomes: tuple[Outcome, ...] = ()


def answered(
    condition: Condition,
    satisfied: bool,
    violated: bool,
    executions: int | None = None,
    matching: int | None = None,
    flags: Sequence[str] = (),
    bounded: bool = False,
    complete: bool = False,
    outcomes: Collection[Outcome] = (),
) -> Judgement:
    """The judgement, given whether an allowed execution satisfies and whether one violates the proposition.

    ``bounded``: loops were cut; ``complete``: no outcome was lost by that.
    """
    answer = Answer.ALLOWED if satisfied else Answer.FORBIDDEN
    truth = {
        Quantifier.EXISTS: satisfied,
        Quantifier.NOT_EXISTS: not satisfied,
        Quantifier.FORALL: not violated,
    }[condition.quantifier]
    unseen = not satisfied or (condition.quantifier is Quantifier.FORALL and not violated)
    provisional = bounded and unseen and not complete
    seen = tuple(sorted(outcomes, key=str))
    return Judgement(answer, truth, executions, matching, tuple(flags), bounded, provisional, outcomes=seen)


def unknown(reason: str) -> Judgement:
    """The judgement UNKNOWN, with the reason why there is no answer."""
    return Judgement(Answer.UNKNOWN, None, reason=reason)


def asks_nothing(condition: Condition) -> bool:
    """Whether every execution satisfies a condition's proposition, as in ``exists (true)``."""
    return condition.quantifier is Quantifier.EXISTS and condition.proposition == And(())


def judge(test: LitmusTest, model: Model, unroll: int = UNROLL, counts: bool = True) -> Judgement:
    """The judgement of a model that is a .cat file.

    Without ``counts``, it has the answer, the truth of the condition and the flags, and no counts nor outcomes. Then
    only the executions that decide these are looked at, until they are decided. Raises ``TooManyError`` where
    executions are too many, and ``InputError`` where an address is no location of the test, or the model says nothing
    of the test.
    """
    threads = unroll_threads(test, unroll)
    condition = test.condition
    if not counts:
        satisfied, violated, raised = _decided(test, threads, model)
        bounded = any(thread.bounded for thread in threads)
        complete = is_complete(test, threads, model)
        return answered(condition, satisfied, violated, flags=raised, bounded=bounded, complete=complete)
    return judge_alike([test], [threads], model)[0]


@dataclass(slots=True)
class _Count:
    """The counts of a test while its executions are judged."""

    executions: int = 0
    matching: int = 0
    violating: int = 0
    flags: dict[str, None] = field(default_factory=dict)
    outcomes: set[Outcome] = field(default_factory=set)


def judge_alike(tests: Sequence[LitmusTest], unrolled: Sequence[Sequence[Paths]], model: Model) -> list[Judgement]:
    """The judgements, with counts, of tests of one shape (``oracle.executions.shapes``), found at once.

    ``unrolled``: the ways through the threads of each. Raises ``TooManyError`` where executions are too many.
    """
    condition = tests[0].condition
    terms = asked_terms(tests[0]) if asks_nothing(condition) else ()
    counts = [_Count() for _ in tests]
    for batch, allowed, results in judged(tests[0], unrolled[0], model, forbidden=False, alike=unrolled):
        passing = allowed if condition.filter is None else allowed & batch.satisfying(condition.filter)
        satisfying = passing & batch.satisfying(condition.proposition)
        violating = passing & ~satisfying
        raised = [(result.check.name, result.truth & passing) for result in results if result.check.flag]
        raised = [(name, where) for name, where in raised if where]
        for count, own in zip(counts, batch.programs, strict=True):
            count.executions += (allowed & own).bit_count()
            count.matching += (satisfying & own).bit_count()
            count.violating += (violating & own).bit_count()
            for name, where in raised:
                if where & own:
                    count.flags[name] = None
            if terms:
                count.outcomes |= batch.outcomes(passing & own, terms)
    return [
        answered(
            condition,
            count.matching > 0,
            count.violating > 0,
            count.executions,
            count.matching,
            tuple(count.flags),
            any(thread.bounded for thread in threads),
            is_complete(test, threads, model),
            count.outcomes,
        )
        for test, threads, count in zip(tests, unrolled, counts, strict=True)
    ]


def _decided(test: LitmusTest, threads: Sequence[Paths], model: Model) -> tuple[bool, bool, list[str]]:
    """Whether an allowed execution satisfies the condition's proposition; where that matters, whether one violates it;
    and the flags that one raises.
    """
    condition = test.condition
    satisfied, violated = False, condition.quantifier is not Quantifier.FORALL
    names = list(dict.fromkeys(check.name for check in model.flags))
    raised: set[str] = set()
    for batch in candidates(test, threads, model, worth_guessing=_allowing(model)):
        passing = batch.valid if condition.filter is None else batch.satisfying(condition.filter)
        satisfying = passing & batch.satisfying(condition.proposition)
        satisfied = satisfied or (satisfying > 0 and model.allows(batch.only(satisfying)))
        violating = passing & ~satisfying
        violated = violated or (violating > 0 and model.allows(batch.only(violating)))
        for result in model.raised(batch.base) if len(raised) < len(names) else ():
            where = passing & result.truth
            if where and result.check.name not in raised and model.allows(batch.only(where)):
                raised.add(result.check.name)
        if satisfied and violated and len(raised) == len(names):
            break
    return satisfied, violated, [name for name in names if name in raised]


def is_complete(test: LitmusTest, threads: Sequence[Paths | Unrolled], model: Model) -> bool:
    """Whether every outcome is seen: cut loops only wait, or are idle under a model that forgets rounds."""
    if only_waits(test, threads, model):
        return True
    return forgets_rounds(model) and all(
        thread.cut <= idle for thread, idle in zip(threads, idle_jumps(test), strict=True)
    )


def only_waits(test: LitmusTest, threads: Sequence[Paths | Unrolled], model: Model) -> bool:
    """Whether no loop was cut, or only loops that spin, under a model that forgets reads."""
    cut = [(number, thread.cut) for number, thread in enumerate(threads) if thread.bounded]
    return not cut or (forgets_reads(model) and all(jumps <= spinning_jumps(test, number) for number, jumps in cut))


def is_quick_to_list(test: LitmusTest, model: Model, unroll: int = UNROLL) -> bool:
    """Whether listing executions takes seconds at most, by an estimate; not so where a bound refuses to list them.

    Raises ``InputError`` where an address is no location of the test.
    """
    try:
        threads = unroll_threads(test, unroll)
        if prod(len(thread.paths) for thread in threads) > QUICK_COMBINATIONS:
            return False
        return count_candidates(test, threads, model, most=QUICK_CANDIDATES) is not None
    except TooManyError:
        return False


def judged(
    test: LitmusTest,
    threads: Sequence[Paths],
    model: Model,
    forbidden: bool = True,
    alike: Sequence[Sequence[Paths]] = (),
) -> Iterator[tuple[CandidateBatch, int, list[CheckResult[int]]]]:
    """Every batch of candidates with those that the model allows, and the results of its checks.

    Without ``forbidden``, candidates that the model forbids may be left out: those with values out of thin air.
    """
    worth_guessing = None if forbidden else _allowing(model)
    for batch in candidates(test, threads, model, worth_guessing, alike=alike):
        results = model.judge(batch.base)
        yield batch, passing_checks(batch.valid, results), results


def _allowing(model: Model) -> Callable[[ProgramBase[int]], int]:
    """The candidates of a base that a model allows."""
    return lambda base: passing_checks(base.algebra.true, model.judge(base))


def passing_checks(among: int, results: Sequence[CheckResult[int]]) -> int:
    """The candidates, of some given ones, that pass every check that is required."""
    for result in results:
        if not result.check.flag:
            among &= result.truth
    return among


def outcomes(test: LitmusTest, model: Model, unroll: int = UNROLL) -> frozenset[Outcome]:
    """The outcomes in allowed executions: the final values of the terms that the condition names or observes."""
    return outcomes_and_flags(test, model, unroll)[0]


def outcomes_and_flags(
    test: LitmusTest, model: Model, unroll: int = UNROLL
) -> tuple[frozenset[Outcome], tuple[str, ...]]:
    """The outcomes in allowed executions, and the flags that some allowed execution raises, whether or not it passes
    the condition's filter: a program with a data race in any execution is undefined as a whole (C11, 5.1.2.4).

    Raises ``TooManyError`` where executions are too many.
    """
    found: set[Outcome] = set()
    flags: dict[str, None] = {}
    for batch, allowed, results in judged(test, unroll_threads(test, unroll), model, forbidden=False):
        found |= batch.outcomes(allowed, asked_terms(test))
        flags |= {result.check.name: None for result in results if result.check.flag and result.truth & allowed}
    return frozenset(found), tuple(flags)
