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
    """The tests that were run under one mapping: how many, how many hung at times, and how many always."""

    mapping: str
    tests: int
    hung: int
    always_hung: int


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A model against the tests that were run.

    ``may_hang`` tests may hang under the model, and ``observed`` of them did, in some mapping. ``refuting`` names the
    tests that terminate under the model and hung: with one of these the device is inconsistent with the model.
    """

    model: str
    may_hang: int
    observed: int
    refuting: tuple[str, ...]


def by_mapping(results: Iterable[ProgressResult]) -> list[MappingSummary]:
    """One line for each mapping, in the order of their first result."""
    groups: dict[str, list[ProgressResult]] = {}
    for result in results:
        groups.setdefault(result.mapping, []).append(result)
    return [
        MappingSummary(
            mapping,
            len({result.test for result in members}),
            len({result.test for result in members if result.hangs}),
            len({result.test for result in members if result.always_hangs}),
        )
        for mapping, members in groups.items()
    ]


def by_model(results: Iterable[ProgressResult], verdicts: Mapping[str, Mapping[str, str]]) -> list[ModelSummary]:
    """One line for each model; ``verdicts`` maps the name of each test that was run to its verdicts by model."""
    hung = dict.fromkeys(verdicts, False)
    for result in results:
        hung[result.test] |= result.hangs
    models = dict.fromkeys(model for row in verdicts.values() for model in row)
    summaries = []
    for model in models:
        may_hang = [test for test, row in verdicts.items() if row.get(model) == Verdict.MAY_HANG]
        refuting = [test for test, row in verdicts.items() if row.get(model) == Verdict.TERMINATES and hung[test]]
        observed = sum(hung[test] for test in may_hang)
        summaries.append(ModelSummary(model, len(may_hang), observed, tuple(sorted(refuting))))
    return summaries
