"""The run of litmus tests on a device by ``synth run``, beside what models allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

import click
import msgspec

from backends.registry import BACKENDS
from backends.shared.backend import Backend
from backends.shared.device import Device
from backends.shared.layout import Layout, outcome_terms
from backends.shared.outcomes import SeenOutcomes, outcomes
from backends.shared.process import Run, RunError
from backends.shared.profiles import DEFAULT, STRESS, Profile
from backends.shared.results import (
    MemoryFailure,
    MemoryResult,
    MemoryTrial,
    ResultFile,
    now,
    open_results,
)
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.files import read_text, write_atomically
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import FinalRegister, LitmusTest, Loc
from oracle.consistency import ConsistencyModel
from synth.campaigns import ALONE, Campaign, TrialKind, told_of_limit
from synth.hangs import Control, StuckError, results_of
from synth.inputs import Input
from synth.junit import class_name, junit
from synth.known import KnownFailures
from synth.memory.seen import Besides, LitmusRuns, cases_of, told

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


def run_memory_tests(
    files: Sequence[Input],
    backend: Backend,
    device: Device,
    launches: Launches,
    models: Sequence[ConsistencyModel],
    sound: Sequence[str],
    output: Path | None,
    as_json: bool,
    campaign: Campaign = ALONE,
    report: Path | None = None,
    besides: Callable[[], Besides] | None = None,
    known: KnownFailures | None = None,
) -> int:
    """Run the tests, print what was seen, and return the exit code.

    It is 1 where a file could not be read, a test could not be run, or an outcome was seen that a model of ``sound``
    (names of ``models``) forbids.

    ``report`` is the path of a report in JUnit's form. ``besides`` is called when all results are there, and its answer
    is printed in place of the outcomes of each test. ``known`` failures are printed, and are no reason for exit code 1.
    Raises ``InputError`` where no file can be read, and where the language of the device can say none of the tests.
    """
    part = campaign.shard.part(files)
    with open_results(output) as results:
        ran, left, stuck = _run(part, backend, device, launches, results, campaign)
    if not ran.results and not ran.failed and not left and ran.refused:
        first, reason = next(iter(ran.refused.items()))
        more = f" (and {len(ran.refused) - 1} more tests cannot be run)" if len(ran.refused) > 1 else ""
        raise InputError(f"{reason}{more}", first)
    if len(ran.unreadable) == len(part) > 0:
        raise ran.unreadable[0]
    contradicting = sound if known is None else ()  # known failures may contradict models
    code, observations = told(device.hardware, ran, models, contradicting, as_json, besides() if besides else None)
    if stuck:
        click.echo(f"synth: {stuck}", err=True)
    elif left:
        click.echo(f"synth: {told_of_limit(left, campaign)}", err=True)
    way = profile_name(launches.profile) or ("stress" if launches.profile.stress else "plain")
    suite = class_name(backend.name, device.hardware, device.driver, device.compiler, way)
    suites = {suite: cases_of(part, ran, observations, sound)}
    if known is not None:
        suites, code = known.told(suites)
    if report is not None:
        write_atomically(report, [junit(device.hardware, suites)])
    return 1 if stuck else code


def decode_memory_test(
    file: Input,
    backend: Backend,
    dump: Path,
    models: Sequence[ConsistencyModel],
    sound: Sequence[str],
    output: Path | None,
    as_json: bool,
) -> int:
    """Print what a test that was run elsewhere has shown, in the form of ``run_memory_tests``, and return the exit
    code.

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
    code, _ = told(hardware, LitmusRuns({str(file): test}, {str(file): result}), models, sound, as_json)
    return code


def _run(
    files: Sequence[Input],
    backend: Backend,
    device: Device,
    launches: Launches,
    results: ResultFile,
    campaign: Campaign,
) -> tuple[LitmusRuns, int, str]:
    """Run the tests that are due.

    Return what became of all tests, how many there was no time for, and why the campaign stopped, if it did. No model
    says that a memory test hangs, so each hang is confirmed.
    """
    ran = LitmusRuns()
    due, trials = list[_Due](), dict[str, MemoryTrial]()
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
        trial = trials[str(file)] = _trial(test, backend, device, layout.terms, layout.instances, launches)
        if campaign.is_due(trial, results, lambda: True):
            due.append(_Due(str(file), trial, test, layout))
    way = TrialKind(attrgetter("trial"), attrgetter("layout"), partial(_files, backend=backend.name), _entry)
    ending = parse_litmus(CONTROL)
    control: Control[_Due] = Control(
        lambda _: device.layout(ending, launches.instances, launches.profile),
        partial(backend.memory_files, "control"),
        FLOOR,
    )
    made, done, stuck = set[str](), len(trials) - len(due), ""
    try:
        for each, given in results_of(due, way, device, campaign, control, lambda _: True, done):
            made.add(each.file)
            match given:
                case InputError():
                    ran.refused[each.file] = given.message
                case RunError():
                    results.add(MemoryFailure(**msgspec.structs.asdict(each.trial), error=str(given), date=now()))
                case seen, times:
                    results.add(seen, times)
                    ran.seconds[each.file] = sum(times.seconds)
    except StuckError as error:
        stuck = str(error)
    for name, trial in trials.items():
        if name not in ran.refused and (result := results.find(trial)) is not None:
            ran.results[name] = result
        if (failure := results.failures.get(trial)) is not None:
            ran.failed[name] = failure.error
    return ran, len(due) - len(made), stuck


@dataclass(frozen=True, slots=True)
class _Due:
    """A test that is due to be run, and how it is launched."""

    file: str
    trial: MemoryTrial
    test: LitmusTest
    layout: Layout


def _files(due: _Due, backend: str) -> dict[str, str]:
    return BACKENDS[backend].memory_files(due.test.name, due.layout)


def _entry(due: _Due, run: Run) -> MemoryResult:
    return _result(due.trial, outcomes(run), now())


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
    asked = msgspec.structs.asdict(trial)
    return MemoryResult(**asked, outcomes=counts, other=seen.other, launches=seen.launches, hung=seen.hung, date=date)
