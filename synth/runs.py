"""The run of tests on a device by ``synth run``: its options, its trials, and how it ends.

A family says which trials there are, how each is launched (``DueTrial``), which hangs contradict a model, and how
outcomes are compared with models. What is due is made and written here, as it comes, and here the run ends: with what
stopped it, known failures, the report for JUnit, and the exit code. ``synth.hangs`` decides which hangs count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from backends.shared.backend import Backend
from backends.shared.device import Device, DeviceOptions
from backends.shared.process import RunError
from backends.shared.profiles import Profile
from backends.shared.results import MemoryFailure, ProgressFailure, ProgressTrial, Result, ResultFile, now
from corpus.errors import InputError
from corpus.files import write_atomically
from synth.campaigns import ALONE, AnyDue, Campaign, told_of_limit
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
    as_json: bool
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
        due = [each for each in trials if campaign.is_due(each.trial, file, partial(accuses, each))]
        made = set[str]()
        try:
            for each, given in results_of(due, device, campaign, control, accuses, len(trials) - len(due)):
                made.add(each.name)
                match given:
                    case InputError():
                        if not refusing:
                            raise given
                        self.refused[each.name] = given.message
                    case RunError():
                        failure = ProgressFailure if isinstance(each.trial, ProgressTrial) else MemoryFailure
                        file.add(failure(**msgspec.structs.asdict(each.trial), error=str(given), date=now()))
                    case result, times:
                        file.add(result, times)
                        self.seconds[each.name] = sum(times.seconds)
        except StuckError as error:
            self.stuck = str(error)
        self.left = len(due) - len(made)
        for each in trials:
            if each.name not in self.refused and (found := file.results.get(each.trial)) is not None:
                self.results[each.name] = found  # type: ignore[assignment]  # a trial's result is of its family
            if (failed := file.failures.get(each.trial)) is not None:
                self.failed[each.name] = failed.error

    def tell_end(self, campaign: Campaign) -> None:
        """Print why trials were not made, if some were not."""
        if self.stuck:
            remark(self.stuck)
        elif self.left:
            remark(f"{told_of_limit(self.left, campaign)}")

    def case(self, test: str, name: str, against: Mapping[str, tuple[CaseOutcome, str]]) -> Case:
        """Return the JUnit case of a trial of a test; ``against`` are the names of trials that contradict models."""
        if name in self.failed:
            return Case(test, CaseOutcome.ERROR, self.failed[name])
        if name in against:
            return Case(test, *against[name])
        if name in self.results:
            return Case(test)
        return Case(test, CaseOutcome.SKIPPED, self.refused.get(name, "it was not run"))

    def exit_code(self, suites: Mapping[str, Sequence[Case]], code: int, device: str, running: Running) -> int:
        """Return the exit code of the run, which is ``code`` unless failures are known or the device is stuck.

        Known failures are printed, and the report for JUnit is written, where that is asked for.
        """
        if running.known is not None:
            suites, code = running.known.told(suites)
        if running.junit is not None:
            write_atomically(running.junit, [junit(device, suites)])
        return 1 if self.stuck else code


def tell_unsound(seen: Iterable[tuple[str, str, str]]) -> None:
    """Print a line for each model of ``--sound`` that is contradicted: the model, a test, and how that was seen."""
    for model, test, how in seen:
        remark(f"{model} is not sound here: {test} was seen to {how}")
