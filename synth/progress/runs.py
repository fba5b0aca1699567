"""``synth run`` for progress tests: iterations on a device, and the hangs beside what models say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from backends.shared.backend import Backend
from backends.shared.device import Device, run_files
from backends.shared.mapping import DEVICE
from backends.shared.process import RunError
from backends.shared.results import ProgressResult, ProgressTrial, ResultFile, open_results
from corpus.progress.text import program_of
from corpus.test import Test
from oracle.progress.models import ProgressModel, verdicts
from synth.progress.conformance import MappingSummary, ModelSummary, by_mapping, by_model
from synth.screen import watched


@dataclass(frozen=True, slots=True)
class Ways:
    """How each test is run: in each mapping and placement ``iterations`` times, ``timeout`` seconds for each; what
    comes after a hang is skipped, but with ``every_iteration``.
    """

    mappings: Sequence[str]
    placements: Sequence[str]
    iterations: int
    timeout: float
    every_iteration: bool


def run_progress_tests(
    tests: Sequence[Test],
    backend: Backend,
    device: Device,
    ways: Ways,
    models: Sequence[ProgressModel],
    sound: Sequence[str],
    output: Path | None,
    as_json: bool,
) -> int:
    """Run the tests, tell who hung, and return the exit code: 1 where a test could not be run, or one hung that a model
    of ``sound`` (names of ``models``) says terminates.

    The verdicts are those of ``models``, or where there are none, of the built-in ones.
    """
    trials = _trials(tests, backend, device, ways)
    with open_results(output) as file:
        failed = _run(trials, backend, device, file)
        results = [result for trial in trials if (result := file.find(trial)) is not None]
    ran = {result.test for result in results}
    rows = {test.name: _verdicts(test, models) for test in tests if test.name in ran}
    summaries = by_model(results, rows)
    _report(device.name, results, by_mapping(results), summaries, failed, as_json)
    unsound = [summary for summary in summaries if summary.model in sound and summary.refuting]
    for summary in unsound:
        click.echo(f"synth: {summary.model} is not sound here: {summary.refuting[0]} was seen to hang", err=True)
    return 1 if failed or unsound else 0


def _trials(tests: Iterable[Test], backend: Backend, device: Device, ways: Ways) -> dict[ProgressTrial, Test]:
    return {
        ProgressTrial(
            test=test.name,
            digest=test.digest,
            backend=backend.name,
            device=device.name,
            mapping=mapping,
            placement=placement,
            instances=device.launch(program_of(test), mapping, placement).instances,
            iterations=ways.iterations,
            timeout=ways.timeout,
            every_iteration=ways.every_iteration,
        ): test
        for test in tests
        for placement in ways.placements
        for mapping in ways.mappings
    }


def _verdicts(test: Test, models: Sequence[ProgressModel]) -> Mapping[str, str]:
    if models:
        return verdicts(program_of(test), models)
    return test.verdicts or verdicts(program_of(test))


def _run(trials: Mapping[ProgressTrial, Test], backend: Backend, device: Device, file: ResultFile) -> dict[str, str]:
    """Make the trials that the file does not know; those that failed, and why."""
    failed: dict[str, str] = {}
    new = [(trial, test) for trial, test in trials.items() if file.find(trial) is None]
    for trial, test in watched(new, len(new), "Running"):
        shape = device.launch(program_of(test), trial.mapping, trial.placement)
        files = backend.progress_files(trial.test, shape)
        try:
            run = run_files(device, files, shape, trial.iterations, trial.timeout, trial.every_iteration)
        except RunError as error:
            failed[f"{trial.test} {shape.name}"] = str(error)
            continue
        file.add(ProgressResult(**msgspec.structs.asdict(trial), outcomes=run.outcomes), run.seconds)
    return failed


def _report(
    device: str,
    results: Sequence[ProgressResult],
    mappings: Sequence[MappingSummary],
    models: Sequence[ModelSummary],
    failed: dict[str, str],
    as_json: bool,
) -> None:
    for what, why in failed.items():
        click.echo(f"synth: {what}: {why}", err=True)
    if as_json:
        report = {
            "device": device,
            "mappings": [asdict(summary) for summary in mappings],
            "models": [asdict(summary) for summary in models],
            "results": [msgspec.to_builtins(result) for result in results],
            "failed": failed,
        }
        click.echo(json.dumps(report, indent=2))
        return
    console = Console()
    console.print(Text(device), soft_wrap=True)
    table = Table("placement", "mapping")
    for column in ("tests", "did not terminate", "never terminated"):
        table.add_column(column, justify="right")
    for summary in mappings:
        table.add_row(*(str(value) for value in asdict(summary).values()))
    console.print(table)
    for model in models:
        console.print(Text(_sentence(model)), soft_wrap=True)


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
