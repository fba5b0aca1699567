"""What devices did, set against what models say.

A hang is evidence: the device does not give what a model promises under which the test terminates. Termination is
none: a test that may hang need not. So a device can be *inconsistent* with a model, and never proved to conform.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from backends.shared.results import ProgressResult
from oracle.progress.models import Verdict
from synth.conformance import standing


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
    """A model against the tests that were run in one placement: what one level of the device gives.

    ``may_hang`` tests may hang under the model, and ``observed`` of them did, in some mapping. ``refuting`` names the
    tests that terminate under the model and hung: with one of these the device is inconsistent with the model.
    """

    placement: str
    model: str
    may_hang: int
    observed: int
    refuting: tuple[str, ...]


def by_mapping(results: Iterable[ProgressResult]) -> list[MappingSummary]:
    """One line for each placement and mapping, in the order of their first result."""
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


def by_model(results: Iterable[ProgressResult], verdicts: Mapping[str, Mapping[str, str]]) -> list[ModelSummary]:
    """One line for each placement and model; ``verdicts`` maps the name of each test that was run to its verdicts."""
    levels: dict[str, dict[str, bool]] = {}
    for result in results:
        hung = levels.setdefault(result.placement, {})
        hung[result.test] = hung.get(result.test, False) or result.hangs
    models = dict.fromkeys(model for row in verdicts.values() for model in row)
    return [
        ModelSummary(placement, each.model, each.allowed, each.observed, tuple(sorted(each.contradicting)))
        for placement, hung in levels.items()
        for each in (standing(model, hung, verdicts, Verdict.TERMINATES, Verdict.MAY_HANG) for model in models)
    ]
