"""The run of litmus tests on a device (``synth.runs``), beside what models allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from synth.junit import class_name
from synth.memory.seen import Besides, LitmusRuns, cases_of, told
from synth.runs import Running

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
    running: Running,
    models: Sequence[ConsistencyModel],
    sound: Sequence[str],
    besides: Callable[[], Besides] | None = None,
) -> int:
    """Run the tests, print what was seen, and return the exit code.

    It is 1 where a file could not be read, a test could not be run, or an outcome was seen that a model of ``sound``
    (names of ``models``) forbids.

    ``besides`` is called when all results are there, and its answer is printed in place of the outcomes of each test.
    Known failures are printed, and are no reason for exit code 1. Raises ``InputError`` where no file can be read, and
    where the language of the device can say none of the tests.
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
    printed = besides() if besides else None
    code, observations = told(device.hardware, ran, models, contradicting, running.as_json, printed)
    ran.tell_end(campaign)
    way = profile_name(launches.profile) or ("stress" if launches.profile.stress else "plain")
    suite = class_name(backend.name, device.hardware, device.driver, device.compiler, way)
    return ran.exit_code({suite: cases_of(part, ran, observations, sound)}, code, device.hardware, running)


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
    ran = LitmusRuns(tests={str(file): test}, results={str(file): result})
    code, _ = told(hardware, ran, models, sound, as_json)
    return code


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
    asked = msgspec.structs.asdict(trial)
    return MemoryResult(**asked, outcomes=counts, other=seen.other, launches=seen.launches, hung=seen.hung, date=date)
