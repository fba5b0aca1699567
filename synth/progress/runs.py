"""The run of progress tests on a device (``synth.runs``): hangs, beside the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec

from backends.registry import BACKENDS
from backends.shared.backend import Backend
from backends.shared.device import Device
from backends.shared.mapping import DEVICE, Launch, in_placement, launch
from backends.shared.process import Run
from backends.shared.results import ProgressResult, ProgressTrial, now, open_results
from corpus.progress.axb import Instruction, Program
from corpus.progress.text import program_of
from corpus.test import Test
from oracle.progress.models import ProgressModel, verdicts
from synth.hangs import Control
from synth.junit import Case, CaseOutcome, class_name
from synth.progress.compilation import launched
from synth.progress.conformance import ModelSummary, by_model, is_doubtful, promising, verdicts_in
from synth.runs import Running, RunReport, TrialsRun

FLOOR = 0.1
"""The least time-out in seconds that is measured: on an unfair device hundreds of tests hang."""


def control(threads: int) -> Program:
    """Return a program of so many threads that terminates under every model: four stores each, and the end."""
    return Program(threads * (tuple(Instruction(0, 0, pc + 1, exchange=1) for pc in range(4)),))


@dataclass(frozen=True, slots=True)
class ProgressReport(RunReport[ProgressResult]):
    """What a run of progress tests has shown: which hung, by the way they were launched, and what models say of it.

    ``unconfirmed`` are the names of trials whose hang contradicts a model and was not confirmed.
    """

    models: tuple[ModelSummary, ...] = ()
    unconfirmed: tuple[str, ...] = ()

    @property
    def slow(self) -> list[str]:
        """Return the names of trials that hung at first, and ended with more time."""
        return [name for name, result in self.ran.results.items() if result.slow]


def run_progress_tests(
    tests: Sequence[Test],
    backend: Backend,
    device: Device,
    running: Running,
    models: Sequence[ProgressModel],
    sound: Sequence[str],
    unread: bool = False,
) -> ProgressReport:
    """Run the tests, and return which hung.

    The run is wrong where a test could not be run, or where one hung that terminates under a model of ``sound`` (names
    of ``models``), unless failures are known. The verdicts are those of ``models``, or where there are none, of the
    built-in ones. ``unread``: some files were no tests.
    """
    campaign = running.campaign
    trials = list(progress_trials(campaign.shard.part(tests), backend, device, running))
    rows = _Verdicts(models)
    yardstick = control_of(backend)
    ran = TrialsRun[ProgressResult]()
    with open_results(running.output) as file:
        ran.make(trials, file, device, campaign, yardstick, lambda due: rows.promise_its_end(due), refusing=False)
    named = {test.name: test for test in tests}

    def verdicts_on(result: ProgressResult) -> Mapping[str, str]:
        return rows.of(named[result.test], result.placement)

    summaries = by_model(ran.results.values(), verdicts_on)
    doubtful = [name for name, result in ran.results.items() if is_doubtful(result, verdicts_on(result))]
    against = [summary for summary in summaries if summary.model in sound and summary.refuting]
    unsound = () if running.known is not None else ((summary.model, summary.refuting[0], "hang") for summary in against)
    return ProgressReport(
        device.name,
        ran,
        tuple(unsound),
        bool(ran.failed or against),
        _suites(trials, ran, verdicts_on, sound),
        unread,
        tuple(summaries),
        tuple(doubtful),
    )


def _suites(
    trials: Iterable[DueProgress],
    ran: TrialsRun[ProgressResult],
    verdicts_on: Callable[[ProgressResult], Mapping[str, str]],
    sound: Sequence[str],
) -> dict[str, list[Case]]:
    """Return the JUnit suites: one for each way to run tests, with a case for each trial."""
    wrong: dict[str, tuple[CaseOutcome, str]] = {}
    for name, result in ran.results.items():
        against = [model for model in promising(verdicts_on(result)) if model in sound] if result.hangs else []
        problem = f"it hung ({result.outcomes}), and terminates under {', '.join(against)}"
        if against and result.confirmed:
            wrong[name] = (CaseOutcome.FAILURE, problem)
        elif against:
            wrong[name] = (CaseOutcome.SKIPPED, f"{problem}; the hang is not confirmed")
    suites: dict[str, list[Case]] = {}
    for due in trials:
        trial = due.trial
        name = class_name(trial.backend, trial.device, trial.driver, trial.compiler, *due.ways)
        suites.setdefault(name, []).append(ran.case(trial.test, due.name, wrong))
    return suites


@dataclass(frozen=True, slots=True)
class DueProgress:
    """A trial of a progress test that may be due, the test, and its ``shape``, which is how it is launched."""

    trial: ProgressTrial
    test: Test
    shape: Launch

    @property
    def name(self) -> str:
        """The trial in words: its test, and how its threads are mapped and placed."""
        return f"{self.trial.test} {'.'.join(self.ways)}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The mapping, and the placement where it is not the published one."""
        trial = self.trial
        return (trial.mapping,) if trial.placement == DEVICE.name else (trial.mapping, trial.placement)

    def files(self) -> dict[str, str]:
        """Return the files of the program, by name."""
        return BACKENDS[self.trial.backend].progress_files(self.trial.test, self.shape)

    def result(self, run: Run) -> ProgressResult:
        """Return the result that a run of the program gives."""
        return ProgressResult(**msgspec.structs.asdict(self.trial), outcomes=run.outcomes, date=now())


def progress_trials(tests: Iterable[Test], backend: Backend, device: Device, running: Running) -> Iterator[DueProgress]:
    """Yield the trials of tests, each in every placement and mapping. Raises ``InputError`` where one cannot be."""
    for test, placement, mapping in launched(tests, running.placements, running.mappings):
        shape = device.launch(program_of(test), mapping, placement)
        trial = ProgressTrial(
            test=test.name,
            digest=test.digest,
            backend=backend.name,
            device=device.name,
            mapping=mapping,
            placement=placement,
            driver=device.driver,
            compiler=device.compiler,
            instances=shape.instances,
            iterations=running.iterations,
            timeout=running.timeout,
            every_iteration=running.every_iteration,
        )
        yield DueProgress(trial, test, shape)


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """The verdicts of the models on tests; where no models are given, of the built-in ones.

    A model of levels has a verdict for each placement of a test's threads.
    """

    models: Sequence[ProgressModel]
    _known: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    def of(self, test: Test, placement: str) -> Mapping[str, str]:
        """Return the verdicts on a test in a placement by model; each is judged once."""
        key = test.name, placement
        if key not in self._known:
            judges = [self.models] if self.models else []
            own = {} if self.models else {**test.verdicts, **verdicts_in(test, placement)}
            self._known[key] = own or verdicts(in_placement(program_of(test), placement), *judges)
        return self._known[key]

    def promise_its_end(self, due: DueProgress) -> bool:
        """Return whether some model says that a test terminates as it is launched, so that a hang contradicts it."""
        return bool(promising(self.of(due.test, due.trial.placement)))


def control_of(backend: Backend) -> Control[DueProgress]:
    """Return the control of trials in a language."""
    return Control(_control, partial(backend.progress_files, "control"), FLOOR)


def _control(due: DueProgress) -> Launch:
    """Return the launch of the control with as many threads; their mapping makes no difference to it."""
    program = control(due.shape.threads)
    return launch(program, "round-robin", due.shape.instances, placement=due.shape.placement.name)
