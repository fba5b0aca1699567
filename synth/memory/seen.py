"""The output of a run of memory tests: tables, plain data, and test cases for JUnit. Outcomes are beside those allowed.

Of more than ``FEW`` tests only those are shown whose asked-for outcome was seen, a line each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace

import click
import msgspec
from rich.table import Table
from rich.text import Text

from backends.shared.results import MemoryResult, trial_of
from corpus.errors import InputError, printable
from corpus.litmus.test import LitmusTest
from oracle.consistency import ConsistencyModel
from synth.inputs import Input
from synth.junit import Case, CaseOutcome
from synth.memory.conformance import ModelReport, Observation, model_report, observation, promises_by_processes
from synth.pool import cores
from synth.runs import TrialsRun, tell_unsound
from synth.screen.console import Screen, plain_table, screen
from synth.watch import remark

FEW = 24
"""The most tests of which every outcome is shown."""

_GROUPS = 3
"""The most groups of contradicted models that the conclusion names."""

LINES = 50
"""The most lines for tests, where there are more than a few."""


@dataclass(slots=True)
class LitmusRuns(TrialsRun[MemoryResult]):
    """The results of the files of a run, by file, with the tests, and why some files have none."""

    tests: dict[str, LitmusTest] = field(default_factory=dict)
    unreadable: list[InputError] = field(default_factory=list)


def cases_of(
    files: Sequence[Input], ran: LitmusRuns, observations: Sequence[Observation], sound: Sequence[str]
) -> list[Case]:
    """Return one test case for each file, in the order of the files."""
    contradicted = {
        each.file: f"it was seen to end in {_list(row.values)}, which {', '.join(against)} forbids"
        for each in observations
        for row in each.rows
        if row.count and (against := [model for model in sound if model in row.forbidden_by])
    }
    wrong = {file: (CaseOutcome.FAILURE, why) for file, why in contradicted.items()}
    wrong |= {error.path or "": (CaseOutcome.ERROR, error.message) for error in ran.unreadable}
    names = {file: ran.tests[file].name if file in ran.tests else file for file in map(str, files)}
    return [replace(ran.case(names[file], file, wrong), seconds=ran.seconds.get(file)) for file in map(str, files)]


@dataclass(frozen=True, slots=True)
class Besides:
    """What a run prints besides the comparison with models: keys of the JSON object, and lines and tables."""

    record: dict[str, object]
    shown: Iterable[str | Table]


def told(
    hardware: str,
    ran: LitmusRuns,
    models: Sequence[ConsistencyModel],
    sound: Sequence[str],
    as_json: bool,
    besides: Besides | None = None,
) -> tuple[int, list[Observation]]:
    """Print what was seen beside what models allow; return the exit code and the observations.

    What is printed ``besides`` takes the place of the outcomes of each test.
    """
    tests = ran.tests
    asked = [(tests[file], model) for file in ran.results for model in models]
    found = iter(promises_by_processes(asked, cores()))
    promises = {file: {model.name: next(found) for model in models} for file in ran.results}
    observations = [observation(file, tests[file], result, promises[file]) for file, result in ran.results.items()]
    reports = [model_report(model.name, observations) for model in models]
    for error in ran.unreadable:
        remark(str(error))
    for file, reason in ran.failed.items():
        remark(f"{file}: {reason}")
    if as_json:
        more = besides.record if besides else {}
        click.echo(json.dumps(_record(hardware, observations, reports, ran) | more, indent=2))
    else:
        _print(hardware, () if besides else observations, reports, ran.refused)
        for part in besides.shown if besides else ():
            screen().print(part, markup=False, soft_wrap=isinstance(part, str))
    unsound = [report for report in reports if report.model in sound and report.forbidden]
    firsts = ((report.model, *report.forbidden[0]) for report in unsound)
    tell_unsound((model, file, f"end in {_list(values)}") for model, file, values in firsts)
    return (1 if ran.unreadable or ran.failed or unsound else 0), observations


def _record(
    hardware: str,
    observations: Sequence[Observation],
    reports: Sequence[ModelReport],
    ran: LitmusRuns,
) -> dict[str, object]:
    return {
        "device": hardware,
        "tests": [
            {
                "file": each.file,
                **msgspec.structs.asdict(trial_of(each.result)),
                "launches": each.result.launches,
                "hung": each.result.hung,
                "tries": each.result.tries,
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
    console = screen()
    console.print(Text(hardware), soft_wrap=True)
    if len(observations) > FEW:
        _print_asked(console, observations)
    else:
        for each in observations:
            _print_all(console, each)
    console.print()
    if reports:
        console.print(_summary(reports))
    for line in _conclusion(reports):
        console.print(Text(printable(line)), soft_wrap=True)
    if refused:
        file, reason = next(iter(refused.items()))
        more = f" (and {len(refused) - 1} more; --json lists them)" if len(refused) > 1 else ""
        console.print(Text(printable(f"not run: {file}: {reason}{more}")), soft_wrap=True)


def _print_all(console: Screen, each: Observation) -> None:
    """Print every outcome of a test that was seen or asked for."""
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
        console.print(Text(f"{result.other} instances had other outcomes"), soft_wrap=True)


def _print_asked(console: Screen, observations: Sequence[Observation]) -> None:
    """Print the tests whose asked-for outcome was seen, and how often in all instances."""
    seen = [(each, count) for each in observations if (count := sum(row.count for row in each.rows if row.asked))]
    instances = sum(each.result.launches * each.result.instances for each in observations)
    console.print()
    console.print(Text(f"{len(observations)} tests in {instances} instances; asked-for outcome seen of {len(seen)}"))
    table = plain_table("test", "seen", "instances", "forbidden by")
    for each, count in seen[:LINES]:
        against = sorted({model for row in each.rows if row.asked and row.count for model in row.forbidden_by})
        cells = (each.test.name, str(count), str(each.result.launches * each.result.instances), ", ".join(against))
        table.add_row(*map(Text, cells), style="red" if against else "")
    if seen:
        console.print(table)
    if len(seen) > LINES:
        console.print(Text(f"and {len(seen) - LINES} more (--json lists them)"))


def _launched(result: MemoryResult) -> str:
    stopped = ""
    if result.hung:
        stopped = f", then one that did not end in time{'' if result.confirmed else ', which is not confirmed'}"
    if result.slow:
        stopped = ", with more time: the device was slow"
    return f"{result.launches} launches of {result.instances} instances{stopped}"


def _summary(reports: Sequence[ModelReport]) -> Table:
    table = Table("model", box=None, pad_edge=False, header_style="bold")
    for column in ("tests", "no promise", "forbidden, seen", "allowed, seen", "allowed, not seen"):
        table.add_column(column, justify="right")
    for report in reports:
        numbers = (report.tests, report.unknown, len(report.forbidden), report.seen, report.unseen)
        table.add_row(Text(report.model), *map(str, numbers), style="red" if report.forbidden else "")
    return table


def _conclusion(reports: Sequence[ModelReport]) -> Iterator[str]:
    """Yield what a run has shown: which models held, which are contradicted and by what, of which tests some promise
    nothing, and what to ask next; a line for each.
    """
    against = [report for report in reports if report.forbidden]
    silent = [report for report in reports if report.unknown]
    held = [report.model for report in reports if not report.forbidden and report.tests]
    if held:
        yield f"held: no outcome that they forbid was seen: {', '.join(held)}"
    if against:
        groups: dict[tuple[str, Sequence[int]], list[str]] = {}
        for report in against:
            groups.setdefault(report.forbidden[0], []).append(report.model)
        most = [f"{', '.join(models)} by {file} ({_list(values)})" for (file, values), models in groups.items()]
        more = f"; and {len(most) - _GROUPS} more" if len(most) > _GROUPS else ""
        yield f"contradicted: {'; '.join(most[:_GROUPS])}{more}"
    if silent:
        file, why = next(iter(silent[0].reasons.items()))
        counts = ", ".join(f"{report.model} {report.unknown}" for report in silent)
        yield f"models without a verdict, and for how many tests: {counts}; {silent[0].model} for {file}: {why}"
    if against:
        file, _ = against[0].forbidden[0]
        yield f"next: synth explain TEST -m {against[0].model} says why it forbids it of {file}; --json lists all"
    elif reports:
        yield "next: more launches or stress (synth tune) may show more of the allowed outcomes; --json lists all"


def _list(values: Sequence[int]) -> str:
    return ", ".join(map(str, values)) or "no values"
