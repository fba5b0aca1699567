"""``synth run`` for litmus tests: files to outcomes on a device, and the outcomes beside what models allow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import msgspec
from rich.table import Table
from rich.text import Text

from backends.shared.backend import Backend
from backends.shared.device import Device, run_files
from backends.shared.layout import Layout
from backends.shared.outcomes import outcomes
from backends.shared.process import RunError
from backends.shared.results import MemoryResult, MemoryTrial, ResultFile, open_results, trial_of
from corpus.errors import InputError
from corpus.litmus.condition import spell
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel
from synth.inputs import Input
from synth.memory.conformance import ModelReport, Observation, model_report, observation
from synth.screen import table_console, watched

INSTANCES = 1 << 16
"""Instances of a launch, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Launches:
    """How each test is launched: ``iterations`` launches of ``instances``, ``timeout`` seconds for each."""

    instances: int
    iterations: int
    timeout: float
    stress: bool


@dataclass(frozen=True, slots=True)
class _Run:
    file: str
    test: LitmusTest
    layout: Layout
    sources: Mapping[str, str]
    trial: MemoryTrial


def run_memory_tests(
    files: Sequence[Input],
    backend: Backend,
    device: Device,
    launches: Launches,
    models: Sequence[ConsistencyModel],
    sound: Sequence[str],
    output: Path | None,
    as_json: bool,
) -> int:
    """Run the tests, tell what was seen, and return the exit code: 1 where a test could not be run, or an outcome was
    seen that a model of ``sound`` (names of ``models``) forbids.

    Raises ``InputError`` where a file is no test, and where the language of the device can say none of them.
    """
    planned, refused = _plan(files, backend, device, launches)
    if not planned and refused:
        file, reason = next(iter(refused.items()))
        more = f" (and {len(refused) - 1} more tests cannot be run)" if len(refused) > 1 else ""
        raise InputError(f"{reason}{more}", file)
    with open_results(output) as results:
        failed = _answer(planned, device, launches, results)
        observations = [
            observation(run.file, run.test, run.layout.terms, result, models)
            for run in planned
            if (result := results.find(run.trial)) is not None
        ]
    reports = [model_report(model.name, observations) for model in models]
    for file, reason in failed.items():
        click.echo(f"synth: {file}: {reason}", err=True)
    if as_json:
        click.echo(json.dumps(_record(device, observations, reports, refused, failed), indent=2))
    else:
        _print(device, observations, reports, refused)
    unsound = [report for report in reports if report.model in sound and report.forbidden]
    for report in unsound:
        file, values = report.forbidden[0]
        click.echo(f"synth: {report.model} is not sound here: {file} was seen to end in {_list(values)}", err=True)
    return 1 if failed or unsound else 0


def _plan(
    files: Sequence[Input], backend: Backend, device: Device, launches: Launches
) -> tuple[list[_Run], dict[str, str]]:
    """What to run, and which files the device's language cannot say, with the reason."""
    planned: list[_Run] = []
    refused: dict[str, str] = {}
    for file in files:
        test = file.litmus()
        try:
            layout = device.layout(test, launches.instances, launches.stress)
            sources = backend.memory_files(test.name, layout)
        except InputError as error:
            refused[str(file)] = error.message
            continue
        trial = MemoryTrial(
            test=test.name,
            digest=litmus_digest(test),
            backend=backend.name,
            device=device.hardware,
            instances=layout.instances,
            iterations=launches.iterations,
            timeout=launches.timeout,
            stress=launches.stress,
            terms=tuple(map(spell, layout.terms)),
        )
        planned.append(_Run(str(file), test, layout, sources, trial))
    return planned, refused


def _answer(planned: Sequence[_Run], device: Device, launches: Launches, results: ResultFile) -> dict[str, str]:
    """Run what the file has no answer for; the files that could not be run, and why."""
    failed: dict[str, str] = {}
    for run in watched(planned, len(planned), "Running"):
        if results.find(run.trial) is not None:
            continue
        try:
            watched_run = run_files(device, run.sources, run.layout, launches.iterations, launches.timeout)
            seen = outcomes(watched_run)
        except RunError as error:
            failed[run.file] = str(error)
            continue
        counts = tuple(sorted(seen.counts.items()))
        asked = msgspec.structs.asdict(run.trial)
        result = MemoryResult(**asked, outcomes=counts, other=seen.other, launches=seen.launches, hung=seen.hung)
        results.add(result, watched_run.seconds)
    return failed


def _record(
    device: Device,
    observations: Sequence[Observation],
    reports: Sequence[ModelReport],
    refused: dict[str, str],
    failed: dict[str, str],
) -> dict[str, object]:
    return {
        "device": device.hardware,
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
        "refused": refused,
        "failed": failed,
    }


def _print(
    device: Device,
    observations: Sequence[Observation],
    reports: Sequence[ModelReport],
    refused: dict[str, str],
) -> None:
    console = table_console()
    console.print(Text(device.hardware), soft_wrap=True)
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
