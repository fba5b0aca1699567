"""What devices did, set against what models say.

A hang is evidence: the device does not give what a model promises under which the test terminates. Termination is
none: a test that may hang need not. So a device can be *inconsistent* with a model, and never proved to conform.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from backends.shared.results import ProgressResult
from oracle.progress.models import Verdict


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
    return [_against(placement, hung, model, verdicts) for placement, hung in levels.items() for model in models]


def _against(
    placement: str, hung: Mapping[str, bool], model: str, verdicts: Mapping[str, Mapping[str, str]]
) -> ModelSummary:
    """One model against the tests of one placement, of each of which ``hung`` says whether it hung."""
    said = {test: verdicts[test].get(model) for test in hung}
    may_hang = [test for test, verdict in said.items() if verdict == Verdict.MAY_HANG]
    refuting = [test for test, verdict in said.items() if verdict == Verdict.TERMINATES and hung[test]]
    return ModelSummary(placement, model, len(may_hang), sum(hung[test] for test in may_hang), tuple(sorted(refuting)))
