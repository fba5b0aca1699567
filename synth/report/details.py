"""The details of a report: verdicts explained, with figures, for the tests worth reading. They are its costly part.

An explanation takes some milliseconds to some seconds for a test and a model, which is too long for ten thousand tests.
So the tests are ranked: first those that contradict a model, the one that fewest models forbid last; then those whose
outcome was seen; then the first test of each shape or idiom, and of each row of verdicts. As many tests as are asked
for are explained, over several processes, each within limits; the report names those that were not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from corpus.errors import InputError
from oracle.executions.bounds import UNROLL
from synth.families.interface import ModelAccount, family
from synth.pool import map_each
from synth.report.evidence import Evidence, Subject
from synth.watch import watching
from synth.worker import Limits

LARGEST_FIGURE = 400_000
"""The most characters of a figure; a larger one is not readable."""


@dataclass(frozen=True, slots=True)
class VerdictReason:
    """A reason that several models share for their equal verdicts on a test."""

    models: tuple[str, ...]
    verdict: str
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of an explanation under a model: an execution or a lasso, as a document of SVG."""

    model: str
    verdict: str
    svg: str


@dataclass(frozen=True, slots=True)
class Detail:
    """The details of a test besides its verdicts; ``problem`` says why there is less than there should be."""

    reasons: tuple[VerdictReason, ...] = ()
    figures: tuple[Figure, ...] = ()
    problem: str = ""


def ranked(found: Evidence) -> list[int]:
    """Return the numbers of the tests that are worth explaining, most interesting first, each once."""
    seen = {subject for (subject, _), cell in found.cells.items() if cell.seen}
    against = {
        subject: len({model for column in range(len(found.columns)) for model in found.contradicted(subject, column)})
        for subject in sorted(seen)
    }
    contradicting = sorted(
        (number for number in seen if against[number]), key=lambda number: (-against[number], number)
    )
    tags: dict[object, int] = {}
    vectors: dict[object, int] = {}
    for number, subject in enumerate(found.subjects):
        for tag in subject.test.tags:
            tags.setdefault((subject.family, tag), number)
        vectors.setdefault((subject.family, subject.test.bound, tuple(subject.test.verdicts.items())), number)
    rest = range(len(found.subjects))
    return list(dict.fromkeys([*contradicting, *sorted(seen), *tags.values(), *vectors.values(), *rest]))


def details(found: Evidence, most: int, jobs: int, limits: Limits) -> dict[int, Detail]:
    """Return the details of the first ``most`` ranked tests, by number."""
    chosen = ranked(found)[:most]
    named = {name: found.models[name] for name in found.families}

    def work(number: int) -> Detail:
        subject = found.subjects[number]
        return detail(subject, tuple(model for model in named[subject.family] if model in subject.test.verdicts))

    def lost(number: int, reason: str) -> Detail:
        return Detail(problem=f"it {reason}")

    with watching("Explaining", found=False) as watch, closing(map_each(work, chosen, jobs, limits, lost)) as answers:
        made: dict[int, Detail] = {}
        for answer in answers:
            if answer is not None:
                made[chosen[len(made)]] = answer
            watch(len(made), len(chosen), len(made))
    return made


def detail(subject: Subject, models: tuple[str, ...]) -> Detail:
    """Return the details of a test under these models of its family; a model without an answer costs its part alone."""
    kind = family(subject.family)
    given = subject.given
    accounts: list[ModelAccount] = []
    problems: list[str] = []
    try:
        accounts = kind.explain(given, models, UNROLL) if models else []
    except InputError:  # one model at a time, to keep the others' explanations
        for model in models:
            try:
                accounts += kind.explain(given, [model], UNROLL)
            except InputError as error:
                problems.append(f"{model}: {error.message}")
    except Exception as error:  # a fault of synth costs the reasons of one test only
        problems.append(f"{type(error).__name__}: {error}")
    return Detail(tuple(_reasons(accounts)), tuple(_figures(accounts, kind.sides[1].verdict)), "; ".join(problems))


def _reasons(accounts: list[ModelAccount]) -> Iterator[VerdictReason]:
    same: dict[tuple[str, str], list[str]] = {}
    for one in accounts:
        account = one.account()
        same.setdefault((account.verdict, account.reason), []).append(account.model)
    for (verdict, text), models in same.items():
        yield VerdictReason(tuple(models), verdict, text)


def _figures(accounts: list[ModelAccount], allows: str) -> Iterator[Figure]:
    """Yield at most two figures: of the last model that allows the outcome, and of the first that forbids it."""
    verdicts = [(one.account().verdict, one) for one in accounts]
    allowing = [judged for judged in verdicts if judged[0] == allows]
    forbidding = [judged for judged in verdicts if judged[0] != allows]
    for verdict, one in (*allowing[-1:], *forbidding[:1]):
        try:
            svg = one.drawing().svg()
        except InputError:  # the explanation has no picture
            continue
        if len(svg) <= LARGEST_FIGURE:
            yield Figure(one.model, verdict, svg)
