"""The evidence of a report: what is known of tests, and of what devices did with them.

A test asks about one outcome, a hang or certain final values. A *trial* saw that outcome in so many of so many runs:
iterations of a progress test, instances of a memory test. A *device* ran the trial; devices differ by back end, name,
driver and compiler. A *column* is a device and a way to run tests on it: the mapping and the placement of a progress
test, the profile and the stress of a memory test. Of several lines for one trial the last counts
(``backends.shared.results``); trials of one column, which differ in instances, iterations and time-outs, are added up.

Gap: a launch of a memory test that did not end has no instances that could be counted.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from backends.shared.mapping import DEVICE, MAPPINGS
from backends.shared.process import TIMED_OUT
from backends.shared.results import (
    Entry,
    MemoryFailure,
    MemoryResult,
    ProgressFailure,
    ProgressResult,
    ProgressTrial,
    latest,
)
from corpus.litmus.test import LitmusTest
from corpus.test import Test
from synth.conformance import HANG, ModelConformance, Outcome, Promise, forbidden, recorded, standing
from synth.families.interface import VerdictWords
from synth.inputs import MEMORY, PROGRESS, Input
from synth.memory.conformance import asked_outcomes, forbidden_outcomes
from synth.mutation.kills import Machine, MutantSuite, Observed
from synth.report.names import short_names
from synth.statistics import rate_interval

Sides = tuple[VerdictWords, VerdictWords]

Asked = frozenset[Outcome]
"""The outcomes, as values of the terms of a result, that a condition asks about."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A test that the report is about, with its family and where it is from.

    ``promises`` are those of the models that were asked about each outcome of the test; of other models, only the
    verdict on the asked outcome is known, which the test has. ``placed`` are the verdicts of models of levels by
    placement, for these depend on it.
    """

    family: str
    test: Test
    given: Input
    promises: Mapping[str, Promise] = field(default_factory=dict)
    placed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the report: a device, and a way to run tests of a family on it."""

    family: str
    device: Machine
    mapping: str = ""
    placement: str = ""
    profile: str = ""
    stress: bool = False

    @property
    def way(self) -> str:
        """Return the way in words: ``chunked, workgroup``; ``profile spread``; empty for the usual way."""
        if self.family == PROGRESS:
            return self.mapping if self.placement == DEVICE.name else f"{self.mapping}, {self.placement}"
        return ", ".join([f"profile {self.profile}"] * bool(self.profile) + ["stress"] * self.stress)

    @property
    def rank(self) -> tuple[object, ...]:
        """Return the sort key of the column: family, device and way, with mappings in their usual order."""
        mappings = list(MAPPINGS)
        place = mappings.index(self.mapping) if self.mapping in mappings else len(mappings)
        return self.family != PROGRESS, self.device, self.placement, place, self.mapping, self.profile, self.stress


@dataclass(frozen=True, slots=True, order=True)
class Level:
    """A level of a device that models are compared with; for progress tests, the placement that holds their threads."""

    device: Machine
    placement: str = ""

    @property
    def way(self) -> str:
        """Return the placement in words; empty for the usual one."""
        return "" if self.placement in ("", DEVICE.name) else self.placement


@dataclass(frozen=True, slots=True)
class TrialEvidence:
    """The evidence of a trial: the outcome that its test asks about was seen in ``seen`` of ``runs``.

    ``subject`` and ``column`` are numbers. ``entry`` is the line of the results, a failure where the trial could not be
    made; ``targets`` are the final values that count as seen. ``forbidden`` are the outcomes that were seen and that
    some model forbids, each with the models that forbid it.
    """

    subject: int
    column: int
    entry: Entry
    seen: int
    runs: int
    targets: Asked = frozenset()
    forbidden: Mapping[Outcome, tuple[str, ...]] = field(default_factory=dict)

    @property
    def confirmed(self) -> bool:
        """Return whether the trial hung each time that it was made (``synth.hangs``)."""
        return isinstance(self.entry, ProgressResult) and self.entry.confirmed

    @property
    def slow(self) -> bool:
        """Return whether the trial hung, and terminated with more time."""
        return isinstance(self.entry, ProgressResult | MemoryResult) and self.entry.slow

    @property
    def error(self) -> str:
        """Return why the trial could not be made; empty where it was made."""
        return self.entry.error if isinstance(self.entry, ProgressFailure | MemoryFailure) else ""


@dataclass(frozen=True, slots=True)
class ReportCell:
    """All trials of a test in a column together; ``failed`` of them could not be made."""

    seen: int
    runs: int
    failed: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the confidence interval of the rate; None where nothing was run."""
        return rate_interval(self.seen, self.runs) if self.runs else None


@dataclass(frozen=True, slots=True)
class Scored:
    """A suite that has mutants, with what was seen of its tests and mutants."""

    suite: MutantSuite
    observed: Observed


@dataclass(frozen=True)
class Evidence:
    """The evidence that a report is made of.

    ``sides`` are the verdicts of each family that has tests, the stricter one first; ``models`` are those that judged
    its tests, in their order. ``strangers`` are names of tests that have results, but no known text, or other registers
    and locations than the results. ``scored`` are suites whose mutants were run.
    """

    subjects: tuple[Subject, ...]
    columns: tuple[Column, ...]
    trials: tuple[TrialEvidence, ...]
    sides: Mapping[str, Sides]
    models: Mapping[str, tuple[str, ...]]
    strangers: tuple[str, ...] = ()
    scored: tuple[Scored, ...] = ()
    _standings: dict[tuple[frozenset[int], str], tuple[ModelConformance[int], ...]] = field(
        default_factory=dict, repr=False
    )

    @property
    def families(self) -> tuple[str, ...]:
        """Return the families of which there are tests."""
        return tuple(self.sides)

    @cached_property
    def devices(self) -> tuple[Machine, ...]:
        """Return the devices that ran tests, in sorted order."""
        return tuple(sorted({column.device for column in self.columns}))

    @cached_property
    def names(self) -> Mapping[Machine, str]:
        """Return the short name that the columns of the report have for each device."""
        return short_names(self.devices)

    @cached_property
    def cells(self) -> Mapping[tuple[int, int], ReportCell]:
        """Return by subject and column what was seen there, where there is anything to say."""
        seen: Counter[tuple[int, int]] = Counter()
        runs: Counter[tuple[int, int]] = Counter()
        failed: Counter[tuple[int, int]] = Counter()
        for trial in self.trials:
            key = trial.subject, trial.column
            seen[key] += trial.seen
            runs[key] += trial.runs
            failed[key] += bool(trial.error)
        return {key: ReportCell(seen[key], runs[key], failed[key]) for key in sorted(runs)}

    def columns_of(self, family: str) -> list[int]:
        """Return the numbers of the columns of a family."""
        return [number for number, column in enumerate(self.columns) if column.family == family]

    def levels_of(self, family: str) -> dict[Level, list[int]]:
        """Return the levels at which tests of a family were run, each with the numbers of its columns."""
        levels: dict[Level, list[int]] = {}
        for number in self.columns_of(family):
            column = self.columns[number]
            levels.setdefault(Level(column.device, column.placement), []).append(number)
        return levels

    def promise(self, subject: int, model: str, placement: str = "") -> Promise:
        """Return the promise of a model on a test, in a placement where that is said."""
        subject_tested = self.subjects[subject]
        return promised(subject_tested, model, self.sides[subject_tested.family], placement)

    def standings(self, columns: Iterable[int], family: str) -> tuple[ModelConformance[int], ...]:
        """Return how each model of a family stands to the evidence of these columns together; tests are numbers."""
        key = frozenset(columns), family
        placements = {self.columns[column].placement for column in key[0]}
        placement = placements.pop() if len(placements) == 1 else ""
        if key not in self._standings:
            seen: dict[int, bool] = {}
            for (subject, column), cell in self.cells.items():
                if column in key[0] and cell.runs:
                    seen[subject] = seen.get(subject, False) or cell.seen > 0
            against: dict[str, set[int]] = {}
            for (subject, column), models in self._contradictions.items():
                if column in key[0]:
                    for model in models:
                        against.setdefault(model, set()).add(subject)
            self._standings[key] = tuple(
                standing(
                    model, {test: self.promise(test, model, placement) for test in seen}, seen, against.get(model, ())
                )
                for model in self.models[family]
            )
        return self._standings[key]

    def contradicted(self, subject: int, column: int) -> tuple[str, ...]:
        """Return the models that forbid what was seen of a test in a column."""
        return self._contradictions.get((subject, column), ())

    @cached_property
    def _contradictions(self) -> Mapping[tuple[int, int], tuple[str, ...]]:
        """Return by subject and column the models that forbid something that was seen there, where there are any."""
        found: dict[tuple[int, int], set[str]] = {}
        for trial in self.trials:
            for models in trial.forbidden.values():
                found.setdefault((trial.subject, trial.column), set()).update(models)
        return {
            (subject, column): tuple(model for model in self.models[self.subjects[subject].family] if model in models)
            for (subject, column), models in sorted(found.items())
        }

    @cached_property
    def unconfirmed(self) -> frozenset[tuple[int, int]]:
        """Return subject and column of hangs that contradict nothing, and would contradict a model if they were
        confirmed.
        """
        confirmed = {(trial.subject, trial.column) for trial in self.trials if trial.confirmed}
        return frozenset(
            (subject, column)
            for subject, column in self.cells.keys() - confirmed
            if self.columns[column].family == PROGRESS
            and self.cells[subject, column].seen
            and self.forbidding(subject, column)
        )

    def forbidding(self, subject: int, column: int) -> tuple[str, ...]:
        """Return the models that forbid the outcome that a test asks about, as it is run in a column."""
        models, placement = self.models[self.subjects[subject].family], self.columns[column].placement
        return tuple(model for model in models if self.promise(subject, model, placement).forbids_asked)

    def slow(self, columns: Collection[int]) -> int:
        """Return how many trials in these columns hung, and terminated with more time."""
        return sum(trial.column in columns and trial.slow for trial in self.trials)

    def against(self, models: Sequence[str]) -> dict[str, str]:
        """Return those of these models that the evidence contradicts, each with the name of a test that does so."""
        found: dict[str, str] = {}
        for (subject, _), contradicted in self._contradictions.items():
            for model in contradicted:
                if model in models:
                    found.setdefault(model, self.subjects[subject].test.name)
        return found


def promised(subject: Subject, model: str, sides: Sides, placement: str = "") -> Promise:
    """Return the promise of a model on a test of a family with these verdicts, in a placement where that is said."""
    if model in subject.promises:
        return subject.promises[model]
    test = subject.test
    verdict = subject.placed.get(placement, {}).get(model) or test.verdicts.get(model)
    return recorded(verdict, sides[0].verdict, sides[1].verdict, test.reasons.get(model, ""))


def evidence(
    subjects: Sequence[Subject],
    entries: Iterable[Entry],
    sides: Mapping[str, Sides],
    models: Mapping[str, Sequence[str]],
    scored: Sequence[Scored] = (),
) -> Evidence:
    """Return the evidence of tests and of lines of results, which are in the order in which they were written.

    ``models`` are the models of a family to consider; all that have a verdict, where none are named.
    """
    known = distinct(subjects)
    numbers = {(subject.family, subject.test.digest): number for number, subject in enumerate(known)}
    results, failures = latest(entries)
    made: list[tuple[int, Column, Entry]] = []
    strangers: dict[str, None] = {}
    mutants = {mutant.digest for suite in scored for mutant in suite.suite.mutants.values()}
    for entry in (*results.values(), *failures.values()):
        number = numbers.get((PROGRESS if isinstance(entry, ProgressTrial) else MEMORY, entry.digest))
        if number is None:
            if entry.digest not in mutants:
                strangers[entry.test] = None
        else:
            made.append((number, column_of(entry), entry))
    columns = tuple(sorted({column for _, column, _ in made}, key=lambda column: column.rank))
    places = {column: number for number, column in enumerate(columns)}
    families = {family: sides[family] for family in sides if any(tested.family == family for tested in known)}
    judges = {family: _models(known, family, models.get(family, ())) for family in families}
    parsed: dict[int, LitmusTest] = {}
    trials = []
    for number, column, entry in made:
        subject = known[number]
        targets: Asked | None = frozenset()
        against: Mapping[Outcome, tuple[str, ...]] = {}
        if isinstance(entry, MemoryResult) or (isinstance(entry, ProgressResult) and entry.confirmed):
            promises = {
                model: promised(subject, model, sides[subject.family], column.placement)
                for model in judges[subject.family]
            }
        if isinstance(entry, MemoryResult):
            if number not in parsed:
                parsed[number] = subject.given.litmus()
            targets = asked_outcomes(parsed[number], entry)
            against = forbidden_outcomes(parsed[number], entry, promises)
        elif isinstance(entry, ProgressResult) and entry.confirmed:
            against = forbidden(promises, [(HANG, True)])
        if targets is None:
            strangers[entry.test] = None
        else:
            trials.append(TrialEvidence(number, places[column], entry, *_counted(entry, targets), targets, against))
    trials.sort(key=lambda trial: (trial.subject, trial.column))
    return Evidence(known, columns, tuple(trials), families, judges, tuple(sorted(strangers)), tuple(scored))


def distinct(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """Return one subject for each digest of a family: the first gives its name, the others missing verdicts."""
    kept: dict[tuple[str, str], Subject] = {}
    for subject in subjects:
        key = subject.family, subject.test.digest
        kept[key] = _merged(kept[key], subject) if key in kept else subject
    return tuple(kept.values())


def column_of(entry: Entry) -> Column:
    """Return the column that a line of results belongs to."""
    device = Machine(entry.backend, entry.device, entry.driver, entry.compiler)
    if isinstance(entry, ProgressTrial):
        return Column(PROGRESS, device, mapping=entry.mapping, placement=entry.placement)
    return Column(MEMORY, device, profile=entry.profile, stress=entry.stress)


def _merged(first: Subject, other: Subject) -> Subject:
    from msgspec.structs import replace

    verdicts = {**other.test.verdicts, **first.test.verdicts}
    test = replace(first.test, verdicts=verdicts, reasons={**other.test.reasons, **first.test.reasons})
    return dataclasses.replace(first, test=test)


def _models(subjects: Iterable[Subject], family: str, named: Sequence[str]) -> tuple[str, ...]:
    """Return the models that have verdicts, in their first order; only those named, where any are."""
    found = dict.fromkeys(model for subject in subjects if subject.family == family for model in subject.test.verdicts)
    return tuple(model for model in found if not named or model in named)


def _counted(entry: Entry, targets: Asked) -> tuple[int, int]:
    """Return in how many of how many runs the outcome was seen."""
    if isinstance(entry, ProgressResult):
        return entry.outcomes.count(TIMED_OUT), len(entry.outcomes)
    if isinstance(entry, MemoryResult):
        seen = sum(count for values, count in entry.outcomes if values in targets)
        return seen, sum(count for _, count in entry.outcomes) + entry.other
    return 0, 0
