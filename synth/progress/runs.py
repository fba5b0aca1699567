"""The run of progress tests on a device by ``synth run``: hangs, beside the verdicts.

``synth.hangs`` decides which hangs count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path

import click
import msgspec
from rich.table import Table
from rich.text import Text

from backends.registry import BACKENDS
from backends.shared.backend import Backend
from backends.shared.device import Device
from backends.shared.mapping import DEVICE, Launch, launch
from backends.shared.process import Run, RunError
from backends.shared.results import (
    ProgressFailure,
    ProgressResult,
    ProgressTrial,
    ResultFile,
    now,
    open_results,
)
from corpus.errors import InputError, one_line
from corpus.files import write_atomically
from corpus.progress.axb import Instruction, Program
from corpus.progress.text import program_of
from corpus.test import Test
from oracle.progress.models import ProgressModel, verdicts
from synth.campaigns import ALONE, Campaign, TrialKind, told_of_limit
from synth.hangs import Control, StuckError, remarks, results_of
from synth.junit import Case, CaseOutcome, class_name, junit
from synth.known import KnownFailures
from synth.progress.conformance import MappingSummary, ModelSummary, by_mapping, by_model, is_doubtful, promising
from synth.screen import screen


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How each test is run: ``iterations`` times in each mapping and placement, with ``timeout`` seconds for each
    iteration.

    A time-out of ``None`` is measured. The iterations after a hang are skipped, unless ``every_iteration`` is set.
    """

    mappings: Sequence[str]
    placements: Sequence[str]
    iterations: int
    timeout: float | None
    every_iteration: bool


FLOOR = 0.1
"""The least time-out in seconds that is measured: on an unfair device hundreds of tests hang."""


def control(threads: int) -> Program:
    """Return a program of so many threads that terminates under every model: four stores each, and the end."""
    return Program(threads * (tuple(Instruction(0, 0, pc + 1, exchange=1) for pc in range(4)),))


def run_progress_tests(
    tests: Sequence[Test],
    backend: Backend,
    device: Device,
    ways: RunSettings,
    models: Sequence[ProgressModel],
    sound: Sequence[str],
    output: Path | None,
    as_json: bool,
    campaign: Campaign = ALONE,
    report: Path | None = None,
    known: KnownFailures | None = None,
) -> int:
    """Run the tests, print which hung, and return the exit code.

    It is 1 where a test could not be run, where one hung that terminates under a model of ``sound`` (names of
    ``models``), or where the device is stuck. The verdicts are those of ``models``, or where there are none, of the
    built-in ones. ``report`` is the path of a report in JUnit's form. ``known`` failures are printed, and are no reason
    for exit code 1.
    """
    trials = _trials(campaign.shard.part(tests), backend, device, ways)
    rows = _Verdicts(models)
    stuck, left = "", 0
    with open_results(output) as file:
        try:
            left = _run(trials, backend, device, file, campaign, rows)
        except StuckError as error:
            stuck = str(error)
        results = [result for trial in trials if (result := file.find(trial)) is not None]
        failed = {_words(trial): failure.error for trial in trials if (failure := file.failures.get(trial))}
    ran = {result.test for result in results}
    said = {test.name: rows.of(test) for test in tests if test.name in ran}
    summaries = by_model(results, said)
    slow = [_words(result) for result in results if result.slow]
    unconfirmed = [_words(result) for result in results if is_doubtful(result, said[result.test])]
    _report(device.name, results, by_mapping(results), summaries, failed, slow, unconfirmed, as_json)
    if stuck:
        click.echo(f"synth: {stuck}", err=True)
    elif left:
        click.echo(f"synth: {told_of_limit(left, campaign)}", err=True)
    unsound = [summary for summary in summaries if summary.model in sound and summary.refuting]
    suites, code = _suites(trials, results, failed, said, sound), 1 if failed or unsound else 0
    if known is not None:
        suites, code = known.told(suites)
    for summary in unsound if known is None else ():
        line = f"synth: {summary.model} is not sound here: {summary.refuting[0]} was seen to hang"
        click.echo(one_line(line), err=True)
    if report is not None:
        write_atomically(report, [junit(device.name, suites)])
    return 1 if stuck else code


def _words(trial: ProgressTrial) -> str:
    """Return a trial in words: its test, and how its threads are mapped and placed."""
    return f"{trial.test} {_way(trial)}"


def _way(trial: ProgressTrial) -> str:
    return ".".join(_ways(trial))


def _ways(trial: ProgressTrial) -> tuple[str, ...]:
    return (trial.mapping,) if trial.placement == DEVICE.name else (trial.mapping, trial.placement)


def _suites(
    trials: Iterable[ProgressTrial],
    results: Sequence[ProgressResult],
    failed: Mapping[str, str],
    verdicts: Mapping[str, Mapping[str, str]],
    sound: Sequence[str],
) -> dict[str, list[Case]]:
    """Return the JUnit suites: one for each way to run tests, with a case for each trial."""
    made = {_words(result): result for result in results}
    suites: dict[str, list[Case]] = {}
    for trial in trials:
        words = _words(trial)
        case = Case(trial.test)
        if words in failed:
            case = Case(trial.test, CaseOutcome.ERROR, failed[words])
        elif (result := made.get(words)) is None:
            case = Case(trial.test, CaseOutcome.SKIPPED, "it was not run")
        elif result.hangs:
            against = [model for model in promising(verdicts[trial.test]) if model in sound]
            said = f"it hung ({result.outcomes}), and terminates under {', '.join(against)}"
            if against and result.confirmed:
                case = Case(trial.test, CaseOutcome.FAILURE, said)
            elif against:
                case = Case(trial.test, CaseOutcome.SKIPPED, f"{said}; the hang is not confirmed")
        name = class_name(trial.backend, trial.device, trial.driver, trial.compiler, *_ways(trial))
        suites.setdefault(name, []).append(case)
    return suites


def _trials(tests: Iterable[Test], backend: Backend, device: Device, ways: RunSettings) -> dict[ProgressTrial, Test]:
    return {
        ProgressTrial(
            test=test.name,
            digest=test.digest,
            backend=backend.name,
            device=device.name,
            mapping=mapping,
            placement=placement,
            driver=device.driver,
            compiler=device.compiler,
            instances=device.launch(program_of(test), mapping, placement).instances,
            iterations=ways.iterations,
            timeout=ways.timeout,
            every_iteration=ways.every_iteration,
        ): test
        for test in tests
        for placement in ways.placements
        for mapping in ways.mappings
    }


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """The verdicts of the models on tests; where no models are given, of the built-in ones."""

    models: Sequence[ProgressModel]
    _known: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, test: Test) -> Mapping[str, str]:
        """Return the verdicts on a test by model; each test is judged once."""
        if test.name not in self._known:
            asked = [self.models] if self.models else []
            own = {} if self.models else test.verdicts
            self._known[test.name] = own or verdicts(program_of(test), *asked)
        return self._known[test.name]

    def promise_its_end(self, test: Test) -> bool:
        """Return whether some model says that a test terminates, so that a hang contradicts it."""
        return bool(promising(self.of(test)))


@dataclass(frozen=True, slots=True)
class _Due:
    """A trial that is due, its test, and how that is launched."""

    trial: ProgressTrial
    test: Test
    launch: Launch


def _files(due: _Due, backend: str) -> dict[str, str]:
    return BACKENDS[backend].progress_files(due.trial.test, due.launch)


def _result(due: _Due, run: Run) -> ProgressResult:
    return ProgressResult(**msgspec.structs.asdict(due.trial), outcomes=run.outcomes, date=now())


def _control(due: _Due) -> Launch:
    """Return the launch of the control with as many threads; their mapping makes no difference to it."""
    program = control(due.launch.threads)
    return launch(program, "round-robin", due.launch.instances, placement=due.launch.placement.name)


def _run(
    trials: Mapping[ProgressTrial, Test],
    backend: Backend,
    device: Device,
    file: ResultFile,
    campaign: Campaign,
    rows: _Verdicts,
) -> int:
    """Make the trials that are due, enter their results, and return how many there was no time for.

    Raises ``InputError`` for sizes that the language cannot take, and ``StuckError``.
    """
    due = [
        _Due(trial, test, device.launch(program_of(test), trial.mapping, trial.placement))
        for trial, test in trials.items()
        if campaign.is_due(trial, file, partial(rows.promise_its_end, test))
    ]
    way = TrialKind(attrgetter("trial"), attrgetter("launch"), partial(_files, backend=backend.name), _result)
    yardstick = Control(_control, partial(backend.progress_files, "control"), FLOOR)
    made = set[ProgressTrial]()
    done = len(trials) - len(due)
    for each, given in results_of(
        due, way, device, campaign, yardstick, lambda each: rows.promise_its_end(each.test), done
    ):
        made.add(each.trial)
        match given:
            case InputError():
                raise given
            case RunError():
                file.add(ProgressFailure(**msgspec.structs.asdict(each.trial), error=str(given), date=now()))
            case result, times:
                file.add(result, times)
    return len(due) - len(made)


def _report(
    device: str,
    results: Sequence[ProgressResult],
    mappings: Sequence[MappingSummary],
    models: Sequence[ModelSummary],
    failed: dict[str, str],
    slow: Sequence[str],
    unconfirmed: Sequence[str],
    as_json: bool,
) -> None:
    for what, why in failed.items():
        click.echo(one_line(f"synth: {what}: {why}"), err=True)
    if as_json:
        report = {
            "device": device,
            "mappings": [asdict(summary) for summary in mappings],
            "models": [asdict(summary) for summary in models],
            "results": [msgspec.to_builtins(result) for result in results],
            "failed": failed,
            "slow": slow,
            "unconfirmed": unconfirmed,
        }
        click.echo(json.dumps(report, indent=2))
        return
    console = screen()
    console.print(Text(device), soft_wrap=True)
    table = Table("placement", "mapping")
    for column in ("tests", "did not terminate", "never terminated"):
        table.add_column(column, justify="right")
    for summary in mappings:
        table.add_row(*(str(value) for value in asdict(summary).values()))
    console.print(table)
    for remark in remarks(slow, unconfirmed):
        console.print(Text(remark), soft_wrap=True)
    if len({model.placement for model in models}) > 1:
        console.print(by_placement(models))
        return
    for model in models:
        console.print(Text(_sentence(model)), soft_wrap=True)


def by_placement(summaries: Sequence[ModelSummary]) -> Table:
    """Return a table with a row for each model and a column for each placement.

    A cell says how many of the tests that may hang did hang, or by how many tests a level is inconsistent with the
    model.
    """
    placements = list(dict.fromkeys(summary.placement for summary in summaries))
    cells = {(summary.model, summary.placement): _cell(summary) for summary in summaries}
    caption = "how many hung of the tests that may hang; inconsistent (n): n hung that terminate under the model"
    table = Table("model", *placements, caption=caption)
    for model in dict.fromkeys(summary.model for summary in summaries):
        table.add_row(model, *(cells[model, placement] for placement in placements))
    return table


def _cell(summary: ModelSummary) -> Text:
    if summary.refuting:
        return Text(f"inconsistent ({len(summary.refuting)})", "red")
    return Text(f"{summary.observed} of {summary.may_hang}")


def _sentence(summary: ModelSummary) -> str:
    level = "" if summary.placement == DEVICE.name else f"{summary.placement}: "
    line = (
        f"{level}{summary.model}: observed MAY_HANG tests: {summary.observed} of {summary.may_hang}; "
        f"hangs on tests that {summary.model} says terminate: {len(summary.refuting)}"
    )
    if not summary.refuting:
        return line
    shown = ", ".join(summary.refuting[:3]) + (", ..." if len(summary.refuting) > 3 else "")
    return f"{line}; the {summary.placement} is inconsistent with it ({shown})"
