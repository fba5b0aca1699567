"""The choice of tests for ``synth run --mutants`` and ``--plan``, and the report on mutants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from backends.shared.device import DeviceOptions
from backends.shared.profiles import Profile
from corpus.errors import InputError
from corpus.links import MUTANTS
from synth.inputs import Input
from synth.memory.runs import Launches, MemoryReport, profile_name
from synth.mutation.kills import MutantSuite, Observed, read_observed, read_suite
from synth.mutation.plans import PlanEntry, read_plan
from synth.requests import SelectionFilter

MOST_LISTED = 100
"""The most tests and mutants that are listed one by one."""


def with_mutants(tests: Sequence[Input]) -> tuple[MutantSuite, list[Input]]:
    """Return the suite of tests, and the tests followed by those of their mutants that count.

    Raises ``InputError`` where the tests are not of one suite, or the suite has no mutants.
    """
    paths = dict.fromkeys(test.path for test in tests if test.record is not None)
    if len(paths) != 1 or any(test.record is None for test in tests):
        raise InputError("--mutants: expected one suite of synth memory --mutants, and nothing else")
    (path,) = paths
    suite = read_suite(path, SelectionFilter()).of({test.name for test in tests})
    counted = dict.fromkeys(link.mutant for links in suite.counted.values() for link in links)
    return suite, [*tests, *(Input(name, name, path / MUTANTS, suite.mutants[name]) for name in counted)]


@dataclass(frozen=True, slots=True)
class MutantsSeen:
    """What results say of a suite's mutants on a device."""

    suite: MutantSuite
    observed: Observed

    @property
    def few(self) -> bool:
        """Return whether tests and mutants are listed one by one."""
        return len(self.suite.tests) <= MOST_LISTED


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantsReport(MemoryReport):
    """What a run of memory tests and of their mutants has shown."""

    mutants: MutantsSeen


def of_mutants(suite: MutantSuite, results: Path, backend: str, device: str) -> MutantsSeen:
    """Return what a file of results says of a suite's mutants on a device."""
    every = read_observed(suite, [results])
    here = {
        where: seen
        for where, seen in every.items()
        if (where.machine.backend, where.machine.device) == (backend, device)
    }
    return MutantsSeen(suite, here)


def report_with(mutants: MutantsSeen, report: MemoryReport) -> MutantsReport:
    """Return the report on a run of a suite with what is seen of the suite's mutants."""
    known = {field.name: getattr(report, field.name) for field in fields(MemoryReport)}
    return MutantsReport(**known, mutants=mutants)


def planned(
    tests: Sequence[Input], path: Path, backend: str, device: str, launches: Launches, options: DeviceOptions
) -> tuple[list[Input], Launches]:
    """Return the tests of a plan for a device and a way to launch, and how they are launched.

    Raises ``InputError`` where the plan cannot be read, has none, or has them with several numbers of instances.
    """
    steps = [
        step
        for step in read_plan(path)
        if (step.backend, step.device) == (backend, device) and _way(step) == _way_of(launches.profile)
    ]
    if options.instances is not None:
        steps = [step for step in steps if step.instances == options.instances]
    numbers = sorted({step.instances for step in steps})
    if not steps:
        ways = dict.fromkeys(f"{step.backend}, {step.device}, {_words(step)}" for step in read_plan(path))
        if not ways:
            raise InputError("the plan has no runs", str(path))
        raise InputError(f"the plan has no runs of this device and way to launch; it has {'; '.join(ways)}", str(path))
    if len(numbers) > 1:
        several = " and ".join(map(str, numbers))
        raise InputError(f"the plan has runs of {several} instances: say which with --instances", str(path))
    often = {step.digest: step.iterations for step in steps}
    meant = [test for test in tests if test.record is not None and test.record.digest in often]
    if not meant:
        raise InputError(f"none of the {len(tests)} tests is in the plan", str(path))
    return meant, replace(launches, instances=numbers[0], iterations_of=often)


def _way(step: PlanEntry) -> tuple[str, bool]:
    return step.profile, step.stress


def _way_of(profile: Profile) -> tuple[str, bool]:
    return profile_name(profile), bool(profile.stress)


def _words(step: PlanEntry) -> str:
    return f"{step.profile or ('stress' if step.stress else 'plain')} with {step.instances} instances"
