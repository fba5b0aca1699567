"""The run of progress tests on a device (``synth.runs``): hangs, beside the verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain

import click
import msgspec
from rich.table import Table
from rich.text import Text

from backends.registry import BACKENDS
from backends.shared.backend import Backend
from backends.shared.device import Device
from backends.shared.mapping import DEVICE, Launch, in_placement, launch
from backends.shared.process import Run
from backends.shared.results import ProgressResult, ProgressTrial, now, open_results
from corpus.errors import printable
from corpus.progress.axb import Instruction, Program
from corpus.progress.text import program_of
from corpus.test import Test
from oracle.progress.models import ProgressModel, verdicts
from synth.hangs import Control, remarks
from synth.junit import Case, CaseOutcome, class_name
from synth.progress.compilation import launched
from synth.progress.conformance import ModelSummary, by_mapping, by_model, is_doubtful, promising, verdicts_in
from synth.runs import Running, TrialsRun, tell_unsound
from synth.screen.console import plain_table, screen
from synth.watch import remark

FLOOR = 0.1
"""The least time-out in seconds that is measured: on an unfair device hundreds of tests hang."""


def control(threads: int) -> Program:
    """Return a program of so many threads that terminates under every model: four stores each, and the end."""
    return Program(threads * (tuple(Instruction(0, 0, pc + 1, exchange=1) for pc in range(4)),))


def run_progress_tests(
    tests: Sequence[Test],
    backend: Backend,
    device: Device,
    running: Running,
    models: Sequence[ProgressModel],
    sound: Sequence[str],
) -> int:
    """Run the tests, print which hung, and return the exit code.

    It is 1 where a test could not be run, where one hung that terminates under a model of ``sound`` (names of
    ``models``), or where the device is stuck. The verdicts are those of ``models``, or where there are none, of the
    built-in ones. Known failures are printed, and are no reason for exit code 1.
    """
    campaign = running.campaign
    trials = list(progress_trials(campaign.shard.part(tests), backend, device, running))
    rows = _Verdicts(models)
    yardstick = control_of(backend)
    ran = TrialsRun[ProgressResult]()
    with open_results(running.output) as file:
        ran.make(trials, file, device, campaign, yardstick, lambda due: rows.promise_its_end(due), refusing=False)
    named = {test.name: test for test in tests}

    def said(result: ProgressResult) -> Mapping[str, str]:
        return rows.of(named[result.test], result.placement)

    summaries = by_model(ran.results.values(), said)
    doubtful = [name for name, result in ran.results.items() if is_doubtful(result, said(result))]
    _report(device.name, ran, summaries, doubtful, running.as_json)
    ran.tell_end(campaign)
    unsound = [summary for summary in summaries if summary.model in sound and summary.refuting]
    if running.known is None:
        tell_unsound((summary.model, summary.refuting[0], "hang") for summary in unsound)
    suites = _suites(trials, ran, said, sound)
    return ran.exit_code(suites, 1 if ran.failed or unsound else 0, device.name, running)


def _suites(
    trials: Iterable[DueProgress],
    ran: TrialsRun[ProgressResult],
    said: Callable[[ProgressResult], Mapping[str, str]],
    sound: Sequence[str],
) -> dict[str, list[Case]]:
    """Return the JUnit suites: one for each way to run tests, with a case for each trial."""
    wrong: dict[str, tuple[CaseOutcome, str]] = {}
    for name, result in ran.results.items():
        against = [model for model in promising(said(result)) if model in sound] if result.hangs else []
        told = f"it hung ({result.outcomes}), and terminates under {', '.join(against)}"
        if against and result.confirmed:
            wrong[name] = (CaseOutcome.FAILURE, told)
        elif against:
            wrong[name] = (CaseOutcome.SKIPPED, f"{told}; the hang is not confirmed")
    suites: dict[str, list[Case]] = {}
    for each in trials:
        trial = each.trial
        name = class_name(trial.backend, trial.device, trial.driver, trial.compiler, *each.ways)
        suites.setdefault(name, []).append(ran.case(trial.test, each.name, wrong))
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
            asked = [self.models] if self.models else []
            own = {} if self.models else {**test.verdicts, **verdicts_in(test, placement)}
            self._known[key] = own or verdicts(in_placement(program_of(test), placement), *asked)
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


def _report(
    device: str,
    ran: TrialsRun[ProgressResult],
    models: Sequence[ModelSummary],
    unconfirmed: Sequence[str],
    as_json: bool,
) -> None:
    mappings = by_mapping(ran.results.values())
    slow = [name for name, result in ran.results.items() if result.slow]
    for what, why in ran.failed.items():
        remark(f"{what}: {why}")
    if as_json:
        report = {
            "device": device,
            "mappings": [asdict(summary) for summary in mappings],
            "models": [asdict(summary) for summary in models],
            "results": [msgspec.to_builtins(result) for result in ran.results.values()],
            "failed": ran.failed,
            "slow": slow,
            "unconfirmed": unconfirmed,
        }
        click.echo(json.dumps(report, indent=2))
        return
    console = screen()
    console.print(Text(device), soft_wrap=True)
    table = plain_table("placement", "mapping")
    for column in ("tests", "did not terminate", "never terminated"):
        table.add_column(column, justify="right")
    for summary in mappings:
        table.add_row(*(str(value) for value in asdict(summary).values()))
    console.print(table)
    for words in remarks(slow, unconfirmed):
        console.print(Text(words), soft_wrap=True)
    if len({model.placement for model in models}) > 1:
        console.print(by_placement(models))
        return
    console.print(_by_model(models))
    for line in _conclusion(models):
        console.print(Text(printable(line)), soft_wrap=True)


_GROUPS = 2
"""The most groups of models, each contradicted by the same tests, that have a line each."""


def by_placement(summaries: Sequence[ModelSummary]) -> Table:
    """Return a table with a row for each model and a column for each placement.

    A cell says how many of the tests that may hang did hang, or by how many tests a level is inconsistent with the
    model.
    """
    placements = list(dict.fromkeys(summary.placement for summary in summaries))
    cells = {(summary.model, summary.placement): _cell(summary) for summary in summaries}
    caption = "how many hung of the tests that may hang; inconsistent (n): n hung that terminate under the model"
    table = plain_table("model", *placements)
    table.caption, table.caption_justify = caption, "left"
    for model in dict.fromkeys(summary.model for summary in summaries):
        table.add_row(model, *(cells[model, placement] for placement in placements))
    return table


def _cell(summary: ModelSummary) -> Text:
    if summary.refuting:
        return Text(f"inconsistent ({len(summary.refuting)})", "red")
    return Text(f"{summary.observed} of {summary.may_hang}")


def _by_model(models: Sequence[ModelSummary]) -> Table:
    """Return a table of how many tests hung that may hang under each model, and that terminate under it."""
    table = plain_table("model")
    for column in ("may hang", "hung of these", "terminate, but hung"):
        table.add_column(column, justify="right")
    for each in models:
        style = "red" if each.refuting else ""
        table.add_row(each.model, str(each.may_hang), str(each.observed), str(len(each.refuting)), style=style)
    return table


def _conclusion(models: Sequence[ModelSummary]) -> Iterator[str]:
    """Yield what a run has shown: which models held, which are contradicted and by what, and what to ask next."""
    if held := [each.model for each in models if not each.refuting]:
        yield f"held: no test that terminates under them hung: {', '.join(held)}"
    groups: dict[tuple[str, ...], list[str]] = {}
    for each in models:
        if each.refuting:
            groups.setdefault(each.refuting, []).append(each.model)
    for tests, names in list(groups.items())[:_GROUPS]:
        shown = ", ".join(tests[:3]) + (f" and {len(tests) - 3} more" if len(tests) > 3 else "")
        yield f"contradicted: {', '.join(names)}, under which these tests terminate, but they hung: {shown}"
    if len(groups) > _GROUPS:
        yield f"also contradicted, by fewer or other tests: {', '.join(chain(*list(groups.values())[_GROUPS:]))}"
    if groups:
        tests, names = next(iter(groups.items()))
        yield f"next: synth explain TEST -m {names[0]} says why {tests[0]} terminates under it; --json lists all"
    elif models:
        yield "next: tests that may hang and did not may do so with other mappings, more instances or more iterations"
