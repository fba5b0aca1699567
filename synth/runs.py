"""The run of tests on a device by ``synth run``: its options, its trials, and how it ends.

A family says which trials there are, how each is launched (``DueTrial``), which hangs contradict a model, and how
outcomes are compared with models. What is due is made and written here, as it comes, and here the run ends: with known
failures, the report for JUnit, and the exit code. ``synth.hangs`` decides which hangs count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from backends.shared.backend import Backend
from backends.shared.device import Device, DeviceOptions
from backends.shared.process import RunError
from backends.shared.profiles import Profile
from backends.shared.results import MemoryFailure, ProgressFailure, ProgressTrial, Result, ResultFile, now
from corpus.errors import InputError
from corpus.files import write_atomically
from synth.campaigns import ALONE, AnyDue, Campaign
from synth.hangs import Control, StuckError, results_of
from synth.junit import Case, CaseOutcome, junit
from synth.known import KnownFailures
from synth.watch import remark


@dataclass(frozen=True, slots=True)
class Running:
    """The options of ``synth run``: how tests are run, which models they are compared with, and where results go.

    ``timeout`` is in seconds for each iteration, ``None`` where it is to be measured. The iterations after a hang are
    skipped, unless ``every_iteration`` is set. ``junit`` is the file of a report in JUnit's form. ``decode`` names the
    output of a test that was run elsewhere; then nothing is run here. ``mutants``: run the mutants of the tests, too.
    ``plan`` is a file of ``synth select --score``. ``known`` failures do not fail a run.
    """

    device: DeviceOptions
    mappings: tuple[str, ...]
    placements: tuple[str, ...]
    iterations: int
    timeout: float | None
    every_iteration: bool
    profile: Profile
    models: tuple[str, ...]
    sound: tuple[str, ...]
    decode: Path | None
    output: Path | None
    campaign: Campaign = ALONE
    junit: Path | None = None
    mutants: bool = False
    plan: Path | None = None
    known: KnownFailures | None = None

    def device_of(self, language: Backend) -> Device:
        """Return the device to run on. Raises ``InputError`` where the language has no device here."""
        if language.device is None:
            raise InputError(f"{language.name} tests are run elsewhere; --decode FILE reads what one of them wrote")
        return language.device(self.device)


AnyResult = TypeVar("AnyResult", bound=Result)


@dataclass(slots=True)
class TrialsRun(Generic[AnyResult]):
    """The end of a run's trials, each under its name: results, those of earlier runs too, and why others have none.

    ``refused``: the language cannot say the test. ``failed``: it could not be run. ``seconds`` are of trials that were
    made now. ``left`` trials were not begun because of the time limit; ``stuck`` says why the device is, if it is.
    """

    results: dict[str, AnyResult] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    left: int = 0
    stuck: str = ""

    def make(
        self,
        trials: Sequence[AnyDue],
        file: ResultFile,
        device: Device,
        campaign: Campaign,
        control: Control[AnyDue],
        accuses: Callable[[AnyDue], bool],
        refusing: bool,
    ) -> None:
        """Make the trials that are due, and enter their results here and in a file.

        ``accuses`` says whether a hang contradicts a model. Raises ``InputError`` for a launch that cannot be, and,
        unless it is ``refusing`` such tests, for one that the language cannot say.
        """
        due = [trial for trial in trials if campaign.is_due(trial.trial, file, partial(accuses, trial))]
        made = set[str]()
        try:
            for due_trial, given in results_of(due, device, campaign, control, accuses, len(trials) - len(due)):
                made.add(due_trial.name)
                match given:
                    case InputError():
                        if not refusing:
                            raise given
                        self.refused[due_trial.name] = given.message
                    case RunError():
                        failure = ProgressFailure if isinstance(due_trial.trial, ProgressTrial) else MemoryFailure
                        file.add(failure(**msgspec.structs.asdict(due_trial.trial), error=str(given), date=now()))
                    case result, times:
                        file.add(result, times)
                        self.seconds[due_trial.name] = sum(times.seconds)
        except StuckError as error:
            self.stuck = str(error)
        self.left = len(due) - len(made)
        for trial in trials:
            if trial.name not in self.refused and (found := file.results.get(trial.trial)) is not None:
                self.results[trial.name] = found  # type: ignore[assignment]  # a trial's result is of its family
            if (failed := file.failures.get(trial.trial)) is not None:
                self.failed[trial.name] = failed.error

    def case(self, test: str, name: str, against: Mapping[str, tuple[CaseOutcome, str]]) -> Case:
        """Return the JUnit case of a trial of a test; ``against`` are the names of trials that contradict models."""
        if name in self.failed:
            return Case(test, CaseOutcome.ERROR, self.failed[name])
        if name in against:
            return Case(test, *against[name])
        if name in self.results:
            return Case(test)
        return Case(test, CaseOutcome.SKIPPED, self.refused.get(name, "it was not run"))


@dataclass(frozen=True, slots=True)
class RunReport(Generic[AnyResult]):
    """What a run has shown; a family adds what it knows of its tests, and ``synth.screen.runs`` shows it.

    ``unsound`` has the models of ``--sound`` that are contradicted, each with a test and what it was seen to do.
    ``wrong``: a test could not be run, or such a model is contradicted. ``unread``: a file was no test. ``suites`` are
    for JUnit, by the names of their classes.
    """

    device: str
    ran: TrialsRun[AnyResult]
    unsound: tuple[tuple[str, str, str], ...]
    wrong: bool
    suites: Mapping[str, Sequence[Case]]
    unread: bool = False


def closed_run(report: RunReport[Any], running: Running) -> int:
    """Return the exit code of a run whose failures may be known, and write the report for JUnit, where one is asked
    for.
    """
    suites, code = report.suites, int(report.wrong)
    if running.known is not None:
        apart = running.known.set_apart(suites)
        suites, code = apart.suites, int(apart.new)
        for line in apart.lines:
            remark(line)
    if running.junit is not None and running.decode is None:
        write_atomically(running.junit, [junit(report.device, suites)])
    return 1 if report.ran.stuck or report.unread else code
