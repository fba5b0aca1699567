"""The promises of progress models on tests, and results compared with them.

A model under which a test terminates promises that it does not hang. ``synth.conformance`` says when a device
contradicts a model; only a hang that is confirmed (``synth.hangs``) does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from backends.shared.results import ProgressResult
from oracle.progress.models import Verdict
from synth.conformance import HANG, NO_PROMISE, Promise, forbidden, recorded, standing


@dataclass(frozen=True, slots=True)
class MappingSummary:
    """The tests that were run in one placement and mapping: how many, how many hung at times, and how many always."""

    placement: str
    mapping: str
    tests: int
    hung: int
    always_hung: int


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """The agreement of one model with the tests of one placement, which shows what a level of the device guarantees.

    ``may_hang`` tests may hang under the model, and ``observed`` of them did, in some mapping. ``refuting`` names the
    tests that terminate under the model and have a confirmed hang: one of these shows that the device is inconsistent
    with the model.
    """

    placement: str
    model: str
    may_hang: int
    observed: int
    refuting: tuple[str, ...]


def promises_of(verdicts: Mapping[str, str]) -> dict[str, Promise]:
    """Return the promises that these verdicts stand for, by model."""
    return {model: recorded(said, Verdict.TERMINATES, Verdict.MAY_HANG) for model, said in verdicts.items()}


def promising(verdicts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the models that promise that a test terminates, among those with ``verdicts`` on it."""
    return forbidden(promises_of(verdicts), [(HANG, True)]).get(HANG, ())


def contradicted(result: ProgressResult, verdicts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the models that a result contradicts, among those with ``verdicts`` on its test."""
    return promising(verdicts) if result.confirmed else ()


def is_doubtful(result: ProgressResult, verdicts: Mapping[str, str]) -> bool:
    """Return whether the result is a hang that is not confirmed, and would contradict a model if it were."""
    return result.hangs and not result.confirmed and bool(promising(verdicts))


def by_mapping(results: Iterable[ProgressResult]) -> list[MappingSummary]:
    """Return a summary for each placement and mapping, in the order of their first result."""
    groups: dict[tuple[str, str], list[ProgressResult]] = {}
    for result in results:
        groups.setdefault((result.placement, result.mapping), []).append(result)
    return [
        MappingSummary(
            *way,
            len({result.test for result in members}),
            len({result.test for result in members if result.hangs}),
            len({result.test for result in members if result.always_hangs}),
        )
        for way, members in groups.items()
    ]


def by_model(
    results: Iterable[ProgressResult], verdicts: Callable[[ProgressResult], Mapping[str, str]]
) -> list[ModelSummary]:
    """Return a summary for each placement and model.

    ``verdicts`` gives those of the test of a result, in its placement.
    """
    results = list(results)
    promises = {(each.placement, each.test): promises_of(verdicts(each)) for each in results}
    models = dict.fromkeys(model for said in promises.values() for model in said)
    hung: dict[str, dict[str, bool]] = {}
    against: dict[tuple[str, str], set[str]] = {}
    for result in results:
        level = hung.setdefault(result.placement, {})
        level[result.test] = level.get(result.test, False) or result.hangs
        for model in contradicted(result, verdicts(result)):
            against.setdefault((result.placement, model), set()).add(result.test)
    lines = []
    for placement, level in hung.items():
        for model in models:
            of_tests = {test: promises[placement, test].get(model, NO_PROMISE) for test in level}
            each = standing(model, of_tests, level, against.get((placement, model), ()))
            refuting = tuple(sorted(each.contradicting))
            lines.append(ModelSummary(placement, model, each.allowed, each.observed, refuting))
    return lines
