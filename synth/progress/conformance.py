"""The promises of progress models on tests, and results compared with them.

A model under which a test terminates promises that it does not hang. ``synth.conformance`` says when a device
contradicts a model; only a hang that is confirmed (``synth.hangs``) does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from backends.shared.mapping import in_placement
from backends.shared.results import ProgressResult
from corpus.progress.text import program_of
from corpus.test import Test
from oracle.progress.models import ProgressModel, Verdict, verdicts
from oracle.progress.plugins import shipped_model
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


def promises_of(verdicts_by_model: Mapping[str, str]) -> dict[str, Promise]:
    """Return the promises that these verdicts stand for, by model."""
    return {
        model: recorded(verdict, Verdict.TERMINATES, Verdict.MAY_HANG) for model, verdict in verdicts_by_model.items()
    }


def verdicts_in(test: Test, placement: str, named: Sequence[ProgressModel] = ()) -> Mapping[str, str]:
    """Return the verdicts of models of levels on a test in a placement of a launch: of those named, and of those that
    its own verdicts are of and that ship. A test that places its threads itself has its own verdicts.
    """
    own = [shipped_model(name) for name in test.verdicts if "@" in name]
    models = [model for model in (*own, *named) if model is not None and model.levels]
    if not models or (program := program_of(test)).places:
        return {}
    return verdicts(in_placement(program, placement), models)


def promising(verdicts_by_model: Mapping[str, str]) -> tuple[str, ...]:
    """Return the models that promise that a test terminates, among those with verdicts on it."""
    return forbidden(promises_of(verdicts_by_model), [(HANG, True)]).get(HANG, ())


def contradicted(result: ProgressResult, verdicts_by_model: Mapping[str, str]) -> tuple[str, ...]:
    """Return the models that a result contradicts, among those with verdicts on its test."""
    return promising(verdicts_by_model) if result.confirmed else ()


def is_doubtful(result: ProgressResult, verdicts_by_model: Mapping[str, str]) -> bool:
    """Return whether the result is a hang that is not confirmed, and would contradict a model if it were."""
    return result.hangs and not result.confirmed and bool(promising(verdicts_by_model))


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
    results: Iterable[ProgressResult], verdicts_on: Callable[[ProgressResult], Mapping[str, str]]
) -> list[ModelSummary]:
    """Return a summary for each placement and model.

    ``verdicts_on`` gives the verdicts on the test of a result, in its placement.
    """
    results = list(results)
    promises = {(result.placement, result.test): promises_of(verdicts_on(result)) for result in results}
    models = dict.fromkeys(model for by_name in promises.values() for model in by_name)
    hung: dict[str, dict[str, bool]] = {}
    against: dict[tuple[str, str], set[str]] = {}
    for result in results:
        level = hung.setdefault(result.placement, {})
        level[result.test] = level.get(result.test, False) or result.hangs
        for model in contradicted(result, verdicts_on(result)):
            against.setdefault((result.placement, model), set()).add(result.test)
    lines = []
    for placement, level in hung.items():
        for model in models:
            of_tests = {test: promises[placement, test].get(model, NO_PROMISE) for test in level}
            found = standing(model, of_tests, level, against.get((placement, model), ()))
            refuting = tuple(sorted(found.contradicting))
            lines.append(ModelSummary(placement, model, found.allowed, found.observed, refuting))
    return lines
