"""The changes between two sides of results. They are hangs, outcomes, rates, failures, and models that are
contradicted.

Tests are matched by digest, and within a test by the way to run it: mapping and placement of a progress test, profile
and stress of a memory test, without the fields by which the sides are chosen. Of several results of one trial the last
counts; trials that differ in instances, iterations and time-outs are added up.

An outcome that is seen on one side only is a change, whatever its chance. A rate that is above 0 on both sides has
changed where the chance of such a difference, had the rates been equal, is below a threshold. The chance is that of
Fisher's exact test, or of chi-square where all expected counts are 5 or more, corrected for the number of outcomes
compared (Benjamini and Hochberg 1995; SciPy).

Assumption: iterations are independent, and so are launches of a memory test. Instances of one launch are not: often all
of them end alike. So the count of an outcome is taken as the fewest launches that can hold it, and a few lucky launches
make no significant change. That is cautious: the rate of an outcome that is rare in every launch may have changed
without being called so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

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
from synth.changes.sides import ResultSide
from synth.inputs import MEMORY, PROGRESS
from synth.report.evidence import Evidence, evidence
from synth.statistics import chances_corrected, rates_equal

HANG = "does not end"
"""The outcome, in words, of a progress test or of a launch that hangs."""

APPEARED, VANISHED, RATE, FAILS, WORKS = "appeared", "vanished", "rate", "fails", "no longer fails"

State = tuple[tuple[str, int], ...]
"""The final values of a memory test's terms, by name; empty for a hang."""


@dataclass(frozen=True, slots=True, order=True)
class ComparedTest:
    """A unit of the comparison: a test, and the way to run it in words."""

    test: str
    digest: str
    way: str


@dataclass(slots=True)
class SideCounts:
    """What one side saw of a unit: how often each outcome was seen in how many runs; ``hung`` of ``trials`` did not
    end.

    ``rounds`` counts what is independent: iterations or launches. ``held`` says how many of them it takes at least to
    see an outcome that often.
    """

    family: str
    counts: Counter[State] = field(default_factory=Counter)
    runs: int = 0
    held: Counter[State] = field(default_factory=Counter)
    rounds: int = 0
    hung: int = 0
    trials: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class ResultChange:
    """One change of a test that is run in one way, and how often the outcome was seen in how many runs on either side.

    ``what`` happened to the outcome is one of ``appeared``, ``vanished``, ``rate``, ``fails`` and ``no longer fails``.
    ``chance`` is the corrected chance of such a difference if the rates were equal; None where there is nothing to
    compare. ``is_asked``: the outcome is the one that the test asks about, as far as the test's text is known.
    """

    unit: ComparedTest
    what: str
    outcome: str
    before: tuple[int, int]
    after: tuple[int, int]
    chance: float | None = None
    is_asked: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Contradictions:
    """The models of a family that one side contradicts and the other does not, each with a test that contradicts it."""

    appeared: Mapping[str, str]
    vanished: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ResultComparison:
    """The comparison of two sides.

    It holds how many units are on both sides, which units are on one only, what changed, and which models that
    concerns.
    """

    compared: int
    only_before: tuple[ComparedTest, ...]
    only_after: tuple[ComparedTest, ...]
    changes: tuple[ResultChange, ...]
    models: Contradictions

    @property
    def only(self) -> tuple[tuple[ComparedTest, ...], tuple[ComparedTest, ...]]:
        """Return the units of either side that the other does not have."""
        return self.only_before, self.only_after

    @property
    def same(self) -> bool:
        """Return whether the comparison found no change."""
        return not (self.changes or self.models.appeared or self.models.vanished)


def compare(
    before: ResultSide, after: ResultSide, threshold: float, only_significant: bool, known: Evidence | None
) -> ResultComparison:
    """Compare the results of two sides, and return what changed from the first to the second.

    Rates change where the chance is below ``threshold``; with ``only_significant``, so does what is seen on one side
    only. ``known`` has the tests and their verdicts.
    """
    chosen = before.fields | after.fields
    first, second = _units(before.entries, chosen), _units(after.entries, chosen)
    both = sorted(first.keys() & second.keys())
    found = [change for unit in both for change in _changes(unit, first[unit], second[unit])]
    compared = [change for change in found if change.chance is not None]
    corrected = chances_corrected([change.chance for change in compared if change.chance is not None])
    chances = dict(zip(map(id, compared), corrected, strict=True))
    changes = [replace(change, chance=chances.get(id(change))) for change in found]
    contradicted = _target_outcomes(before, after, known) if known else set()
    return ResultComparison(
        len(both),
        tuple(sorted(first.keys() - second.keys())),
        tuple(sorted(second.keys() - first.keys())),
        tuple(
            replace(change, is_asked=(change.unit.digest, change.outcome) in contradicted or change.outcome == HANG)
            for change in changes
            if (change.what != RATE and not only_significant)
            or (change.chance is not None and change.chance < threshold)
            or change.what in (FAILS, WORKS)
        ),
        _contradictions(before, after, known) if known else Contradictions({}, {}),
    )


def _units(entries: Iterable[Entry], chosen: frozenset[str]) -> dict[ComparedTest, SideCounts]:
    """Return what one side saw, by unit."""
    units: dict[ComparedTest, SideCounts] = {}
    results, failures = latest(entries)
    for entry in (*results.values(), *failures.values()):
        family = PROGRESS if isinstance(entry, ProgressTrial) else MEMORY
        seen = units.setdefault(ComparedTest(entry.test, entry.digest, _way(entry, chosen)), SideCounts(family))
        match entry:
            case ProgressResult():
                hangs = entry.outcomes.count(TIMED_OUT)
                seen.counts[()] += hangs
                seen.held[()] += hangs
                seen.runs += len(entry.outcomes)
                seen.rounds += len(entry.outcomes)
                seen.hung += hangs > 0
                seen.trials += 1
            case MemoryResult():
                for values, count in entry.outcomes:
                    state = tuple(sorted(zip(entry.terms, values, strict=True)))
                    seen.counts[state] += count
                    seen.held[state] += min(entry.launches, -(-count // entry.instances))
                seen.runs += entry.other + sum(count for _, count in entry.outcomes)
                seen.rounds += entry.launches
                seen.hung += entry.hung
                seen.trials += 1
            case ProgressFailure() | MemoryFailure():
                seen.error = seen.error or entry.error
    return units


def _way(entry: Entry, chosen: frozenset[str]) -> str:
    """Return the way to run tests of a result, without the fields by which the sides are chosen."""
    if isinstance(entry, ProgressTrial):
        words = [entry.mapping] * ("mapping" not in chosen)
        return ", ".join(words + [entry.placement] * (entry.placement != "device" and "placement" not in chosen))
    if "profile" in chosen:
        return ""
    return ", ".join([f"profile {entry.profile}"] * bool(entry.profile) + ["stress"] * entry.stress)


def _changes(unit: ComparedTest, first: SideCounts, second: SideCounts) -> Iterator[ResultChange]:
    """Yield the possible changes of a unit; all but changes of rates are certain."""
    if bool(first.error) != bool(second.error):
        what, error = (FAILS, second.error) if second.error else (WORKS, first.error)
        yield ResultChange(unit, what, "", (0, 0), (0, 0), error=error)
    if not (first.trials and second.trials):
        return
    if first.family == MEMORY and bool(first.hung) != bool(second.hung):
        sides = (first.hung, first.trials), (second.hung, second.trials)
        yield ResultChange(unit, APPEARED if second.hung else VANISHED, HANG, *sides)
    for state in sorted(first.counts.keys() | second.counts.keys()):
        sides = (first.counts[state], first.runs), (second.counts[state], second.runs)
        (seen, runs), (others, other_runs) = sides
        if not (seen or others) or not (runs and other_runs and first.rounds and second.rounds):
            continue
        what = RATE if seen and others else APPEARED if others else VANISHED
        chance = rates_equal(first.held[state], first.rounds, second.held[state], second.rounds)
        outcome = "; ".join(f"{term}={value}" for term, value in state) if first.family == MEMORY else HANG
        yield ResultChange(unit, what, outcome, *sides, chance)


def _evidence(side: ResultSide, known: Evidence) -> Evidence:
    return evidence(known.subjects, side.entries, known.sides, known.models)


def _target_outcomes(before: ResultSide, after: ResultSide, known: Evidence) -> set[tuple[str, str]]:
    """Return the outcomes that tests ask about, each with the digest of its test."""
    found = set()
    for one in (before, after):
        facts = _evidence(one, known)
        for trial in facts.trials:
            if isinstance(trial.entry, MemoryResult):
                for values in trial.targets:
                    state = sorted(zip(trial.entry.terms, values, strict=True))
                    found.add((trial.entry.digest, "; ".join(f"{term}={value}" for term, value in state)))
    return found


def _contradictions(before: ResultSide, after: ResultSide, known: Evidence) -> Contradictions:
    """Return the models that one side alone contradicts, by the tests that were run on both."""
    run = [{entry.digest for entry in one.entries} for one in (before, after)]
    both = run[0] & run[1]
    against = []
    for one in (before, after):
        common = replace(one, entries=tuple(entry for entry in one.entries if entry.digest in both))
        models = [model for names in known.models.values() for model in names]
        against.append(_evidence(common, known).against(models))
    first, second = against
    return Contradictions(
        {model: test for model, test in sorted(second.items()) if model not in first},
        {model: test for model, test in sorted(first.items()) if model not in second},
    )
