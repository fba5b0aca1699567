"""The run of litmus tests on a device (``synth.runs``), beside what models allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import msgspec

from backends.registry import BACKENDS
from backends.shared.backend import Backend
from backends.shared.device import Device
from backends.shared.layout import Layout, outcome_terms
from backends.shared.outcomes import SeenOutcomes, outcomes
from backends.shared.process import Run
from backends.shared.profiles import DEFAULT, STRESS, Profile
from backends.shared.results import MemoryResult, MemoryTrial, ResultFile, now, open_results
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.files import read_text
from corpus.litmus.condition import spell
from corpus.litmus.locations import Loc
from corpus.litmus.normal import litmus_digest
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel
from synth.campaigns import ALONE, Campaign
from synth.hangs import Control
from synth.inputs import Input
from synth.junit import Case, CaseOutcome, class_name
from synth.memory.conformance import ModelReport, Observation, model_report, observation, promises_by_processes
from synth.pool import cores
from synth.runs import Running, RunReport, TrialsRun

INSTANCES = 1 << 16
"""The number of instances of a launch, where nothing else is said."""

FLOOR = 5.0
"""The least time-out in seconds that is measured: launches differ by the stress that is drawn, and few tests hang."""

CONTROL = """\
C control
{ x = 0; }
P0 (atomic_int* x) { atomic_store_explicit(x, 1, memory_order_relaxed); }
exists (x = 1)
"""
"""The control: a test that terminates under every model, and that every language and every launch can take."""


@dataclass(frozen=True, slots=True)
class Launches:
    """How each test is launched: ``iterations`` launches of ``instances``, with ``timeout`` seconds for each.

    A time-out of ``None`` is measured. The profile says how to launch, and where it is silent the device does.
    ``iterations_of`` has other numbers of launches, by digests of tests.
    """

    instances: int
    iterations: int
    timeout: float | None
    profile: Profile = DEFAULT
    iterations_of: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class LitmusRuns(TrialsRun[MemoryResult]):
    """The results of the files of a run, by file, with the tests, and why some files have none."""

    tests: dict[str, LitmusTest] = field(default_factory=dict)
    unreadable: list[InputError] = field(default_factory=list)


def cases_of(
    files: Sequence[Input], ran: LitmusRuns, observations: Sequence[Observation], sound: Sequence[str]
) -> list[Case]:
    """Return one test case for each file, in the order of the files."""
    contradicted = {
        observed.file: f"it was seen to end in {values_text(row.values)}, which {', '.join(against)} forbids"
        for observed in observations
        for row in observed.rows
        if row.count and (against := [model for model in sound if model in row.forbidden_by])
    }
    wrong = {file: (CaseOutcome.FAILURE, why) for file, why in contradicted.items()}
    wrong |= {error.path or "": (CaseOutcome.ERROR, error.message) for error in ran.unreadable}
    names = {file: ran.tests[file].name if file in ran.tests else file for file in map(str, files)}
    return [replace(ran.case(names[file], file, wrong), seconds=ran.seconds.get(file)) for file in map(str, files)]


@dataclass(frozen=True, slots=True)
class MemoryReport(RunReport[MemoryResult]):
    """What a run of memory tests has shown: outcomes, and what models say of them."""

    ran: LitmusRuns
    observations: tuple[Observation, ...] = ()
    models: tuple[ModelReport, ...] = ()


def report_of(device: str, ran: LitmusRuns, models: Sequence[ConsistencyModel], sound: Sequence[str]) -> MemoryReport:
    """Return what was seen beside what models allow; it is wrong where a model of ``sound`` (names of ``models``)
    forbids an outcome that was seen.
    """
    questions = [(ran.tests[file], model) for file in ran.results for model in models]
    found = iter(promises_by_processes(questions, cores()))
    promises = {file: {model.name: next(found) for model in models} for file in ran.results}
    seen = tuple(observation(file, ran.tests[file], result, promises[file]) for file, result in ran.results.items())
    reports = tuple(model_report(model.name, seen) for model in models)
    unsound = tuple(
        (report.model, file, f"end in {values_text(values)}")
        for report in reports
        if report.model in sound
        for file, values in report.forbidden[:1]
    )
    wrong = bool(ran.unreadable or ran.failed or unsound)
    return MemoryReport(device, ran, unsound, wrong, {}, observations=seen, models=reports)


def values_text(values: Sequence[int]) -> str:
    """Return the values of an outcome as text."""
    return ", ".join(map(str, values)) or "no values"


def run_memory_tests(
    files: Sequence[Input],
    backend: Backend,
    device: Device,
    launches: Launches,
    running: Running,
    models: Sequence[ConsistencyModel],
    sound: Sequence[str],
) -> MemoryReport:
    """Run the tests, and return what was seen.

    The run is wrong where a file could not be read, a test could not be run, or an outcome was seen that a model of
    ``sound`` (names of ``models``) forbids, unless failures are known. Raises ``InputError`` where no file can be read,
    and where the language of the device can say none of the tests.
    """
    campaign = running.campaign
    part = campaign.shard.part(files)
    with open_results(running.output) as results:
        ran = made(part, backend, device, launches, results, campaign)
    if not ran.results and not ran.failed and not ran.left and ran.refused:
        first, reason = next(iter(ran.refused.items()))
        more = f" (and {len(ran.refused) - 1} more tests cannot be run)" if len(ran.refused) > 1 else ""
        raise InputError(f"{reason}{more}", first)
    if len(ran.unreadable) == len(part) > 0:
        raise ran.unreadable[0]
    contradicting = sound if running.known is None else ()  # known failures may contradict models
    report = report_of(device.hardware, ran, models, contradicting)
    way = profile_name(launches.profile) or ("stress" if launches.profile.stress else "plain")
    suite = class_name(backend.name, device.hardware, device.driver, device.compiler, way)
    return replace(report, suites={suite: cases_of(part, ran, report.observations, sound)})


def made(
    files: Iterable[Input],
    backend: Backend,
    device: Device,
    launches: Launches,
    results: ResultFile,
    campaign: Campaign = ALONE,
) -> LitmusRuns:
    """Run the tests whose results are not in a file yet, add theirs to it, and return all of them."""
    ran = LitmusRuns()
    trials = list(_trials(files, backend, device, launches, ran))
    ending = parse_litmus(CONTROL)
    control: Control[_DueMemory] = Control(
        lambda _: device.layout(ending, launches.instances, launches.profile),
        partial(backend.memory_files, "control"),
        FLOOR,
    )
    # No model says that a memory test hangs, so each hang is confirmed.
    ran.make(trials, results, device, campaign, control, lambda _: True, refusing=True)
    return ran


def decode_memory_test(
    file: Input,
    backend: Backend,
    dump: Path,
    models: Sequence[ConsistencyModel],
    sound: Sequence[str],
    output: Path | None,
) -> MemoryReport:
    """Return what a test that was run elsewhere has shown: the run is wrong where an outcome was seen that a model of
    ``sound`` (names of ``models``) forbids.

    Raises ``InputError`` where a file cannot be read, or ``dump`` is not the output of a program of this test.
    """
    assert backend.decode is not None
    test = file.litmus()
    try:
        instances, seen = backend.decode(read_text(dump), test)
    except InputError as error:
        raise replace(error, path=str(dump)) from None
    hardware = f"{dump.name}, written elsewhere"
    terms = outcome_terms(test)
    trial = _trial(test, backend, hardware, terms, instances, Launches(instances, max(1, seen.launches), 1.0))
    result = _result(trial, seen)
    with open_results(output) as results:
        if results.find(trial) != result:
            results.add(result)
    ran = LitmusRuns(tests={str(file): test}, results={str(file): result})
    return report_of(hardware, ran, models, sound)


@dataclass(frozen=True, slots=True)
class _DueMemory:
    """A trial of a memory test, the file of the test, and how it is launched."""

    name: str
    trial: MemoryTrial
    shape: Layout

    def files(self) -> dict[str, str]:
        return BACKENDS[self.trial.backend].memory_files(self.trial.test, self.shape)

    def result(self, run: Run) -> MemoryResult:
        return _result(self.trial, outcomes(run), now())


def _trials(
    files: Iterable[Input], backend: Backend, device: Device, launches: Launches, ran: LitmusRuns
) -> Iterator[_DueMemory]:
    """Yield the trials of the tests, and note in ``ran`` the tests and the files that are none."""
    for file in files:
        try:
            ran.tests[str(file)] = test = file.litmus()
        except InputError as error:
            ran.unreadable.append(error)
            continue
        try:
            layout = device.layout(test, launches.instances, launches.profile)
        except InputError as error:
            ran.refused[str(file)] = error.message
            continue
        yield _DueMemory(str(file), _trial(test, backend, device, layout.terms, layout.instances, launches), layout)


def _trial(
    test: LitmusTest,
    backend: Backend,
    device: Device | str,
    terms: Sequence[FinalRegister | Loc],
    instances: int,
    launches: Launches,
) -> MemoryTrial:
    """Return the trial of a test, on a device of this machine or one that is known by its words alone."""
    words = (device, "", "") if isinstance(device, str) else (device.hardware, device.driver, device.compiler)
    hardware, driver, compiler = words
    digest = litmus_digest(test)
    return MemoryTrial(
        test=test.name,
        digest=digest,
        backend=backend.name,
        device=hardware,
        driver=driver,
        compiler=compiler,
        instances=instances,
        iterations=launches.iterations_of.get(digest, launches.iterations),
        timeout=launches.timeout,
        stress=bool(launches.profile.stress),
        terms=tuple(map(spell, terms)),
        profile=profile_name(launches.profile),
    )


def profile_name(profile: Profile) -> str:
    """Return the name of a profile in results; empty for the device's own way, and for that with stress."""
    return "" if profile == STRESS else profile.label


def _result(trial: MemoryTrial, seen: SeenOutcomes, date: str = "") -> MemoryResult:
    counts = tuple(sorted(seen.counts.items()))
    settings = msgspec.structs.asdict(trial)
    return MemoryResult(
        **settings, outcomes=counts, other=seen.other, launches=seen.launches, hung=seen.hung, date=date
    )
