"""``synth run``: tests on this machine's devices, and what the models say of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from math import isfinite
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from backends.emit import distinct
from backends.results import RESULTS, Question, Result, ResultFile, open_results
from backends.runtime.cpp import SUBSCRIPTIONS, CppDevice
from backends.runtime.device import Device, run_test
from backends.runtime.opencl import POCL, OpenClDevice
from backends.runtime.process import RunError
from corpus.errors import InputError
from corpus.store import is_corpus
from corpus.test import Test
from oracle.progress import verdicts
from synth.conformance import MappingSummary, ModelSummary, by_mapping, by_model
from synth.inputs import load_tests
from synth.mapping_option import mapping_option


@click.command(name="run")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER|CORPUS...", type=click.Path())
@click.option("--backend", type=click.Choice(["opencl", "cpp"]), required=True, help="The device to run on.")
@mapping_option("all")
@click.option(
    "--instances",
    type=click.IntRange(min=1),
    metavar="M",
    help="Instances that round-robin and chunked run at once.  [default: opencl as many as 65,535 work-groups hold; "
    "cpp see --subscribe]",
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
@click.option("--platform", default=POCL, show_default=True, help="opencl: part of the name of the platform.")
@click.option("--workers", type=click.IntRange(min=1), help="opencl: threads that PoCL runs work-groups with.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where results go.  [default: results.jsonl in the corpus; not kept for plain files]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary and the results as one JSON object.")
def command(
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
    platform: str,
    workers: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Run tests on this machine's devices and compare with the models.

    Each test runs in a process of its own, which is killed if an iteration does not terminate in time; the iterations
    after a hang are skipped. The summary sets the hangs against each model's verdicts. A hang of a test that terminates
    under a model shows that the device is inconsistent with that model; it is not a failure, for no device here
    promises any of them. Termination shows nothing: a test that may hang need not.

    Results are appended to a file as they come. A run that was stopped goes on where it was when the same command is
    given again; only new questions are run. See docs/backends.md for the format.

    \b
    Examples:
      synth run suite --backend opencl
      synth run suite --backend opencl --mapping chunked --instances 8 --timeout 1
      synth run suite --backend cpp --subscribe over --tests '2x2-*' --json
      synth run examples/progress/*.axb --backend opencl --limit 3 -o results.jsonl

    Exit code 1 if a test could not be run at all.
    """
    if not isfinite(timeout):
        raise InputError(f"--timeout: expected a number of seconds, found {timeout}")
    tests = _selected(distinct(load_tests(inputs)), globs)[:limit]
    device: Device = CppDevice(subscribe, instances) if backend == "cpp" else OpenClDevice(platform, instances, workers)
    if output is None and len(inputs) == 1 and is_corpus(Path(inputs[0])):
        output = Path(inputs[0]) / RESULTS
    questions = {
        Question(
            test=test.name,
            digest=test.digest,
            backend=backend,
            device=device.name,
            mapping=mapping,
            instances=device.launch(test.program, mapping).instances,
            iterations=iterations,
            timeout=timeout,
            every_iteration=every_iteration,
        ): test
        for test in tests
        for mapping in mappings
    }
    with open_results(output) as file:
        failed = _run(questions, device, file)
        results = [file.answers[question] for question in questions if question in file.answers]
    ran = {result.question.test for result in results}
    rows = {test.name: test.verdicts or verdicts(test.program) for test in tests if test.name in ran}
    _report(device.name, results, by_mapping(results), by_model(results, rows), failed, as_json)
    if failed:
        sys.exit(1)


def _selected(tests: list[Test], globs: Sequence[str]) -> list[Test]:
    chosen = [test for test in tests if not globs or any(fnmatchcase(test.name, glob) for glob in globs)]
    if tests and not chosen:
        raise InputError(f"no test has a name that matches {' or '.join(globs)}")
    return chosen


def _run(questions: dict[Question, Test], device: Device, file: ResultFile) -> dict[str, str]:
    """Answer the questions that the file does not answer yet; the tests that could not be run, and why."""
    failed: dict[str, str] = {}
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("Running", total=len(questions))
        for question, test in questions.items():
            progress.update(bar, description=f"{question.test} {question.mapping}")
            if question not in file.answers:
                try:
                    run = run_test(
                        device,
                        question.test,
                        test.program,
                        question.mapping,
                        question.iterations,
                        question.timeout,
                        question.every_iteration,
                    )
                    file.add(Result(question, run.outcomes), run.seconds)
                except RunError as error:
                    failed[f"{question.test} {question.mapping}"] = str(error)
            progress.advance(bar)
    return failed


def _report(
    device: str,
    results: Sequence[Result],
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
            "results": [{**asdict(result.question), "outcomes": result.outcomes} for result in results],
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
