"""``synth run``: tests on this machine's devices, and what the models say of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from math import isfinite
from pathlib import Path
from typing import TypeVar

import click
import msgspec
from click.core import ParameterSource
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from backends.cpp.device import SUBSCRIPTIONS
from backends.registry import BACKENDS
from backends.shared.backend import Backend
from backends.shared.device import Device, DeviceOptions, run_files
from backends.shared.files import distinct
from backends.shared.process import RunError
from backends.shared.results import RESULTS, ProgressResult, ProgressTrial, ResultFile, open_results
from corpus.errors import InputError
from corpus.progress.text import program_of
from corpus.suite import is_corpus
from corpus.test import Test
from oracle.consistency import resolve_consistency_models
from oracle.progress.models import verdicts
from synth.inputs import MEMORY, expand, family_of, load_tests
from synth.memory.runs import INSTANCES, Launches, run_memory_tests
from synth.options.mapping import mapping_option
from synth.progress.conformance import MappingSummary, ModelSummary, by_mapping, by_model

Item = TypeVar("Item")


@click.command(name="run")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER|CORPUS...", type=click.Path())
@click.option(
    "--backend",
    type=click.Choice([name for name, each in BACKENDS.items() if each.device is not None]),
    required=True,
    help="The device to run on.",
)
@mapping_option("all")
@click.option(
    "--instances",
    type=click.IntRange(min=1),
    metavar="M",
    help="Instances that round-robin and chunked, or a launch of a litmus test, run at once.  "
    "[default: opencl as many as 65,535 work-groups hold; cpp see --subscribe; litmus tests 65,536]",
)
@click.option("--iterations", type=click.IntRange(min=1), default=20, show_default=True, help="Runs of each test.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="An iteration that takes longer is killed and did not terminate.",
)
@click.option("--every-iteration", is_flag=True, help="Go on with the iterations that come after a hang.")
@click.option("--tests", "globs", multiple=True, metavar="GLOB", help="Only tests whose name matches; repeatable.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N of them.")
@click.option(
    "--subscribe",
    type=click.Choice(list(SUBSCRIPTIONS)),
    default="full",
    show_default=True,
    help="cpp: threads in all. full: one a core; over: a hundred a core.",
)
@click.option(
    "--platform",
    metavar="NAME",
    help="opencl: part of the platform's name and version.  [default: the first that works of PoCL, other CPUs, GPUs]",
)
@click.option("--workers", type=click.IntRange(min=1), help="opencl: threads that PoCL runs work-groups with.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where results go.  [default: results.jsonl in the corpus; not kept for plain files]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary and the results as one JSON object.")
@click.option("--stress/--no-stress", default=False, show_default=True, help="Litmus tests: with memory stress.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Litmus tests: a consistency model to compare with; repeatable.  [default: all that ship]",
)
@click.option(
    "--sound",
    multiple=True,
    metavar="MODEL",
    help="Litmus tests: a model to compare with, and that must forbid nothing that is seen; repeatable.",
)
@click.pass_context
def command(
    context: click.Context,
    inputs: tuple[str, ...],
    backend: str,
    mappings: tuple[str, ...],
    instances: int | None,
    iterations: int,
    timeout: float,
    every_iteration: bool,
    globs: tuple[str, ...],
    limit: int | None,
    subscribe: str,
    platform: str | None,
    workers: int | None,
    output: Path | None,
    as_json: bool,
    stress: bool,
    models: tuple[str, ...],
    sound: tuple[str, ...],
) -> None:
    """Run tests on this machine's devices and compare with the models.

    \b
    Progress tests (.axb files, corpora)

    Each test runs in a process of its own, which is killed if an iteration does not terminate in time; the iterations
    after a hang are skipped. The summary sets the hangs against each model's verdicts. A hang of a test that terminates
    under a model shows that the device is inconsistent with that model; it is not a failure, for no device here
    promises any of them. Termination shows nothing: a test that may hang need not.

    Results are appended to a file as they come. A run that was stopped goes on where it was when the same command is
    given again; only what is new is run. See docs/backends.md for the format.

    \b
    Litmus tests (.litmus files, folders of them, indexes)

    Each of --iterations launches runs --instances instances of the test, 65,536 unless asked otherwise, with the
    test's scope tree; the outcomes are counted and shown beside the models that forbid them. A test that the language
    cannot say as it is written is not run, and the reason is told. What is seen of a device is no proof of what it
    does not do. Results go to the file that -o names, and are not kept without it.

    \b
    Examples:
      synth run suite --backend opencl
      synth run suite --backend opencl --mapping chunked --instances 8 --timeout 1
      synth run suite --backend cpp --subscribe over --tests '2x2-*' --json
      synth run examples/progress/*.axb --backend opencl --limit 3 -o results.jsonl
      synth run examples/memory --backend cpp --sound rc11 -o memory.jsonl
      synth run examples/memory/c-sb-sc.litmus --backend opencl --model sc --model tso --stress

    Exit code 1 if a test could not be run at all, or if an outcome was seen that a model of --sound forbids.
    """
    if not isfinite(timeout):
        raise InputError(f"--timeout: expected a number of seconds, found {timeout}")
    language = BACKENDS[backend]
    assert language.device is not None
    device = language.device(DeviceOptions(instances, platform, workers, subscribe))
    if family_of(inputs) == MEMORY:
        _refuse_options(context, ("mappings", "every_iteration", "subscribe"), "progress")
        named = resolve_consistency_models([*models, *sound])
        files = expand(inputs)
        code = run_memory_tests(
            _selected(files, [file.name for file in files], globs)[:limit],
            language,
            device,
            Launches(instances or INSTANCES, iterations, timeout, stress),
            named,
            [model.name for model in resolve_consistency_models(sound, among=models)] if sound else [],
            output,
            as_json,
        )
        sys.exit(code)
    _refuse_options(context, ("stress", "models", "sound"), "litmus")
    tests = distinct(load_tests(inputs))
    tests = _selected(tests, [test.name for test in tests], globs)[:limit]
    if output is None and len(inputs) == 1 and is_corpus(Path(inputs[0])):
        output = Path(inputs[0]) / RESULTS
    trials = {
        ProgressTrial(
            test=test.name,
            digest=test.digest,
            backend=backend,
            device=device.name,
            mapping=mapping,
            instances=device.launch(program_of(test), mapping).instances,
            iterations=iterations,
            timeout=timeout,
            every_iteration=every_iteration,
        ): test
        for test in tests
        for mapping in mappings
    }
    with open_results(output) as file:
        failed = _run(trials, language, device, file)
        results = [result for trial in trials if (result := file.find(trial)) is not None]
    ran = {result.test for result in results}
    rows = {test.name: test.verdicts or verdicts(program_of(test)) for test in tests if test.name in ran}
    _report(device.name, results, by_mapping(results), by_model(results, rows), failed, as_json)
    if failed:
        sys.exit(1)


def _refuse_options(context: click.Context, names: Sequence[str], kind: str) -> None:
    """One line where an option was given that only tests of the other kind have."""
    for parameter in context.command.params:
        if parameter.name in names and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE:
            raise InputError(f"{parameter.opts[0]} is for {kind} tests")


def _selected(tests: Sequence[Item], names: Sequence[str], globs: Sequence[str]) -> list[Item]:
    pairs = list(zip(tests, names, strict=True))
    chosen = [test for test, name in pairs if not globs or any(fnmatchcase(name, glob) for glob in globs)]
    if tests and not chosen:
        raise InputError(f"no test has a name that matches {' or '.join(globs)}")
    return chosen


def _run(trials: dict[ProgressTrial, Test], backend: Backend, device: Device, file: ResultFile) -> dict[str, str]:
    """Make the trials that the file does not know; the tests that could not be run, and why."""
    failed: dict[str, str] = {}
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("Running", total=len(trials))
        for trial, test in trials.items():
            progress.update(bar, description=f"{trial.test} {trial.mapping}")
            if file.find(trial) is None:
                try:
                    launch = device.launch(program_of(test), trial.mapping)
                    run = run_files(
                        device,
                        backend.progress_files(trial.test, launch),
                        launch,
                        trial.iterations,
                        trial.timeout,
                        trial.every_iteration,
                    )
                    file.add(ProgressResult(**msgspec.structs.asdict(trial), outcomes=run.outcomes), run.seconds)
                except RunError as error:
                    failed[f"{trial.test} {trial.mapping}"] = str(error)
            progress.advance(bar)
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
    table = Table("mapping")
    for column in ("tests", "did not terminate", "never terminated"):
        table.add_column(column, justify="right")
    for summary in mappings:
        table.add_row(*(str(value) for value in asdict(summary).values()))
    console.print(table)
    for model in models:
        console.print(Text(_sentence(model)), soft_wrap=True)


def _sentence(summary: ModelSummary) -> str:
    line = (
        f"{summary.model}: observed MAY_HANG tests: {summary.observed} of {summary.may_hang}; "
        f"hangs on tests that {summary.model} says terminate: {len(summary.refuting)}"
    )
    if not summary.refuting:
        return line
    shown = ", ".join(summary.refuting[:3]) + (", ..." if len(summary.refuting) > 3 else "")
    return f"{line}; the device is inconsistent with it ({shown})"
