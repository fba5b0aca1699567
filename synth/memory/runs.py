"""``synth run`` for litmus tests: files to outcomes on a device, and the outcomes beside what models allow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import click
import msgspec
from rich.table import Table
from rich.text import Text

from backends.shared.backend import Backend
from backends.shared.device import Device, Prepared, Runner, batches
from backends.shared.layout import Layout, outcome_terms
from backends.shared.outcomes import Outcomes, outcomes
from backends.shared.process import RunError
from backends.shared.profiles import DEFAULT, STRESS, Profile
from backends.shared.results import (
    MemoryFailure,
    MemoryResult,
    MemoryTrial,
    ResultFile,
    now,
    open_results,
    trial_of,
)
from corpus.errors import InputError
from corpus.files import read_text, write_atomically
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel
from synth.campaigns import ALONE, Campaign, Job, Made, conducted, told_of_limit
from synth.inputs import Input
from synth.junit import Case, Ending, junit
from synth.memory.conformance import ModelReport, Observation, Terms, model_report, observation
from synth.screen import table_console

INSTANCES = 1 << 16
"""Instances of a launch, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Launches:
    """How each test is launched: ``iterations`` launches of ``instances``, ``timeout`` seconds for each; as the profile
    has it, and otherwise as the device does.
    """

    instances: int
    iterations: int
    timeout: float
    profile: Profile = DEFAULT


@dataclass(frozen=True, slots=True)
class _Ran:
    """What became of the files, by file: the results of those that were run; and why others were not."""

    tests: dict[str, LitmusTest] = field(default_factory=dict)
    results: dict[str, MemoryResult] = field(default_factory=dict)
    unreadable: list[InputError] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


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
) -> int:
    """Run the tests, tell what was seen, and return the exit code: 1 where a file could not be read or a test not be
    run, or an outcome was seen that a model of ``sound`` (names of ``models``) forbids.

    ``report`` is where a report in JUnit's form goes. Raises ``InputError`` where no file can be read, and where the
    language of the device can say none of the tests.
    """
    part = campaign.shard.part(files)
    with open_results(output) as results:
        ran, left = _run(part, backend, device, launches, results, campaign)
    if not ran.results and not ran.failed and not left and ran.refused:
        first, reason = next(iter(ran.refused.items()))
        more = f" (and {len(ran.refused) - 1} more tests cannot be run)" if len(ran.refused) > 1 else ""
        raise InputError(f"{reason}{more}", first)
    if len(ran.unreadable) == len(part) > 0:
        raise ran.unreadable[0]
    code, observations = _told(device.hardware, ran, models, sound, as_json)
    if left:
        click.echo(f"synth: {told_of_limit(left, campaign)}", err=True)
    if report is not None:
        cases = _cases(part, ran, observations, sound)
        write_atomically(report, [junit(device.hardware, {backend.name: cases})])
    return code


def _cases(files: Sequence[Input], ran: _Ran, observations: Sequence[Observation], sound: Sequence[str]) -> list[Case]:
    """A test case a file."""
    contradicted = {
        each.file: f"it was seen to end in {_list(row.values)}, which {', '.join(against)} forbids"
        for each in observations
        for row in each.rows
        if row.count and (against := [model for model in sound if model in row.forbidden_by])
    }
    wrong = ran.failed | {error.path or "": error.message for error in ran.unreadable}
    cases = []
    for file in map(str, files):
        name, seconds = ran.tests[file].name if file in ran.tests else file, ran.seconds.get(file)
        if file in wrong:
            cases.append(Case(name, Ending.ERROR, wrong[file], seconds))
        elif file in contradicted:
            cases.append(Case(name, Ending.FAILURE, contradicted[file], seconds))
        elif file in ran.results:
            cases.append(Case(name, seconds=seconds))
        else:
            cases.append(Case(name, Ending.SKIPPED, ran.refused.get(file, "it was not run")))
    return cases


def decode_memory_test(
    file: Input,
    backend: Backend,
    dump: Path,
    models: Sequence[ConsistencyModel],
    sound: Sequence[str],
    output: Path | None,
    as_json: bool,
) -> int:
    """Tell what running a test elsewhere has shown, as ``run_memory_tests`` does of a run here.

    Raises ``InputError`` where a file cannot be read, or ``dump`` is not what a program of this test wrote.
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
            results.add(result, ())
    code, _ = _told(hardware, _Ran({str(file): test}, {str(file): result}), models, sound, as_json)
    return code


def _run(
    files: Sequence[Input],
    backend: Backend,
    device: Device,
    launches: Launches,
    results: ResultFile,
    campaign: Campaign,
) -> tuple[_Ran, int]:
    """Run the tests that are due; what became of all, and how many there was no time for."""
    ran = _Ran()
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
        if campaign.is_due(trial, results):
            due.append(_Due(str(file), trial, test, layout))
    left = len(due)
    together = batches(device, [each.layout for each in due], campaign.jobs)
    jobs = [_job([due[number] for number in numbers], backend) for numbers in together]
    for each, given in conducted(jobs, device, campaign, len(trials) - len(due)):
        left -= 1
        match given:
            case InputError():
                ran.refused[each.file] = given.message
            case RunError():
                results.add(MemoryFailure(**msgspec.structs.asdict(each.trial), error=str(given), date=now()))
            case entry, seconds:
                results.add(entry, seconds)
                ran.seconds[each.file] = sum(seconds)
    for name, trial in trials.items():
        if name not in ran.refused and (result := results.find(trial)) is not None:
            ran.results[name] = result
        if (failure := results.failures.get(trial)) is not None:
            ran.failed[name] = failure.error
    return ran, left


@dataclass(frozen=True, slots=True)
class _Due:
    """A test that is to be run, and how."""

    file: str
    trial: MemoryTrial
    test: LitmusTest
    layout: Layout


def _job(tests: Sequence[_Due], backend: Backend) -> Job[_Due]:
    """Tests that are built together, or one."""

    def make(runner: Runner) -> Iterator[tuple[_Due, Made]]:
        written = list[tuple[_Due, dict[str, str]]]()
        for each in tests:
            try:
                written.append((each, backend.memory_files(each.test.name, each.layout)))
            except InputError as error:
                yield each, error
        with runner.prepared([(files, each.layout) for each, files in written]) as programs:
            for (each, files), program in zip(written, programs, strict=True):
                try:
                    yield each, _ran(runner, each, files, program, len(written) > 1)
                except RunError as error:
                    yield each, error

    return Job(tests, make)


def _ran(
    runner: Runner, due: _Due, files: dict[str, str], program: Prepared | RunError, again: bool
) -> tuple[MemoryResult, Sequence[float]]:
    """What a program gave; ``again``, by itself, where it fails with others. Raises ``RunError``."""
    trial = due.trial
    try:
        if isinstance(program, RunError):
            raise program
        run = runner.watch(program, trial.iterations, trial.timeout)
    except RunError:
        if not again:
            raise
        run = runner.run(files, due.layout, trial.iterations, trial.timeout)
    return _result(trial, outcomes(run), now()), run.seconds


def _trial(
    test: LitmusTest,
    backend: Backend,
    device: Device | str,
    terms: Terms,
    instances: int,
    launches: Launches,
) -> MemoryTrial:
    """How a test is run, on a device of this machine or one that is known by its words alone."""
    words = (device, "", "") if isinstance(device, str) else (device.hardware, device.driver, device.compiler)
    hardware, driver, compiler = words
    return MemoryTrial(
        test=test.name,
        digest=litmus_digest(test),
        backend=backend.name,
        device=hardware,
        driver=driver,
        compiler=compiler,
        instances=instances,
        iterations=launches.iterations,
        timeout=launches.timeout,
        stress=bool(launches.profile.stress),
        terms=tuple(map(spell, terms)),
        profile="" if launches.profile == STRESS else launches.profile.label,
    )


def _result(trial: MemoryTrial, seen: Outcomes, date: str = "") -> MemoryResult:
    counts = tuple(sorted(seen.counts.items()))
    asked = msgspec.structs.asdict(trial)
    return MemoryResult(**asked, outcomes=counts, other=seen.other, launches=seen.launches, hung=seen.hung, date=date)


def _told(
    hardware: str, ran: _Ran, models: Sequence[ConsistencyModel], sound: Sequence[str], as_json: bool
) -> tuple[int, list[Observation]]:
    """Print what was seen beside what models say; the exit code, and the tests with both."""
    tests = ran.tests
    observations = [
        observation(file, tests[file], outcome_terms(tests[file]), result, models)
        for file, result in ran.results.items()
    ]
    reports = [model_report(model.name, observations) for model in models]
    for error in ran.unreadable:
        click.echo(f"synth: {error}", err=True)
    for file, reason in ran.failed.items():
        click.echo(f"synth: {file}: {reason}", err=True)
    if as_json:
        click.echo(json.dumps(_record(hardware, observations, reports, ran), indent=2))
    else:
        _print(hardware, observations, reports, ran.refused)
    unsound = [report for report in reports if report.model in sound and report.forbidden]
    for report in unsound:
        file, values = report.forbidden[0]
        click.echo(f"synth: {report.model} is not sound here: {file} was seen to end in {_list(values)}", err=True)
    return (1 if ran.unreadable or ran.failed or unsound else 0), observations


def _record(
    hardware: str,
    observations: Sequence[Observation],
    reports: Sequence[ModelReport],
    ran: _Ran,
) -> dict[str, object]:
    return {
        "device": hardware,
        "tests": [
            {
                "file": each.file,
                **msgspec.structs.asdict(trial_of(each.result)),
                "launches": each.result.launches,
                "hung": each.result.hung,
                "other": each.result.other,
                "outcomes": [asdict(row) for row in each.rows],
            }
            for each in observations
        ],
        "models": [asdict(report) for report in reports],
        "refused": ran.refused,
        "failed": ran.failed | {error.path or "": error.message for error in ran.unreadable},
    }


def _print(
    hardware: str,
    observations: Sequence[Observation],
    reports: Sequence[ModelReport],
    refused: dict[str, str],
) -> None:
    console = table_console()
    console.print(Text(hardware), soft_wrap=True)
    for each in observations:
        result = each.result
        console.print()
        console.print(Text(f"{each.file}: {_launched(result)}"), soft_wrap=True)
        table = Table(*result.terms, box=None, pad_edge=False, header_style="bold")
        table.add_column("count", justify="right")
        table.add_column("")
        table.add_column("forbidden by")
        shown = [row for row in each.rows if row.count or row.asked]
        for row in shown:
            style = "red" if row.count and row.forbidden_by else "" if row.count else "dim"
            mark = "<- asked for" if row.asked else ""
            table.add_row(*map(str, row.values), str(row.count), mark, ", ".join(row.forbidden_by), style=style)
        console.print(table)
        if len(shown) < len(each.rows):
            hidden = len(each.rows) - len(shown)
            console.print(Text(f"{hidden} other outcomes that some model allows were not seen"), soft_wrap=True)
        if result.other:
            console.print(Text(f"{result.other} instances ended in still other ways"), soft_wrap=True)
    console.print()
    if reports:
        console.print(_summary(reports))
    for report in reports:
        for file, values in report.forbidden[:3]:
            console.print(Text(f"{report.model} forbids what was seen of {file}: {_list(values)}"), soft_wrap=True)
        if len(report.forbidden) > 3:
            console.print(Text(f"{report.model} forbids {len(report.forbidden) - 3} more outcomes that were seen"))
    if refused:
        file, reason = next(iter(refused.items()))
        more = f" (and {len(refused) - 1} more; --json lists them)" if len(refused) > 1 else ""
        console.print(Text(f"not run: {file}: {reason}{more}"), soft_wrap=True)


def _launched(result: MemoryResult) -> str:
    stopped = ", then one that did not end in time" if result.hung else ""
    return f"{result.launches} launches of {result.instances} instances{stopped}"


def _summary(reports: Sequence[ModelReport]) -> Table:
    table = Table("model", box=None, pad_edge=False, header_style="bold")
    for column in ("tests", "no verdict", "forbidden, seen", "allowed, seen", "allowed, not seen"):
        table.add_column(column, justify="right")
    for report in reports:
        numbers = (report.tests, report.unknown, len(report.forbidden), report.seen, report.unseen)
        table.add_row(Text(report.model), *map(str, numbers), style="red" if report.forbidden else "")
    return table


def _list(values: Sequence[int]) -> str:
    return ", ".join(map(str, values)) or "no values"
