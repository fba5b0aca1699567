"""The output of ``synth run``: what was seen on a device, beside the verdicts of models, as tables or as JSON.

Of more than ``FEW`` memory tests only those are shown whose asked-for outcome was seen, a line each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

import click
import msgspec
from rich.table import Table
from rich.text import Text

from backends.shared.results import MemoryResult, trial_of
from corpus.errors import printable
from synth.campaigns import Campaign, limit_message
from synth.hangs import remarks
from synth.memory.conformance import ModelReport, Observation
from synth.memory.runs import MemoryReport, values_text
from synth.mutation.records import suite_record
from synth.mutation.running import MutantsReport
from synth.progress.conformance import ModelSummary, by_mapping
from synth.progress.runs import ProgressReport
from synth.runs import RunReport
from synth.screen.console import Screen, plain_table, screen
from synth.screen.counts import score_tables
from synth.screen.streams import print_remark
from synth.statistics import CONFIDENCE

FEW = 24
"""The most memory tests of which every outcome is shown."""

_GROUPS_OF_MEMORY = 3
"""The most groups of contradicted models that the conclusion about memory tests names."""

LINES = 50
"""The most lines for memory tests, where there are more than a few."""


_GROUPS_OF_PROGRESS = 2
"""The most groups of models, each contradicted by the same progress tests, that have a line each."""


def print_run(report: RunReport[Any], campaign: Campaign, as_json: bool) -> None:
    """Print what a run of either family has shown, and why trials were not made, if some were not."""
    ending = _ending(report, campaign)
    unsound = [f"{model} is not sound here: {test} was seen to {how}" for model, test, how in report.unsound]
    if isinstance(report, ProgressReport):
        _print_progress(report, as_json)
        lines = [*ending, *unsound]
    else:
        assert isinstance(report, MemoryReport)
        _print_memory(report, as_json)
        lines = [*unsound, *ending]
    for line in lines:
        print_remark(line)


def _ending(report: RunReport[Any], campaign: Campaign) -> Iterator[str]:
    if report.ran.stuck:
        yield report.ran.stuck
    elif report.ran.left:
        yield limit_message(report.ran.left, campaign)


# Progress tests


def _print_progress(report: ProgressReport, as_json: bool) -> None:
    mappings = by_mapping(report.ran.results.values())
    for what, why in report.ran.failed.items():
        print_remark(f"{what}: {why}")
    if as_json:
        record = {
            "device": report.device,
            "mappings": [asdict(summary) for summary in mappings],
            "models": [asdict(summary) for summary in report.models],
            "results": [msgspec.to_builtins(result) for result in report.ran.results.values()],
            "failed": report.ran.failed,
            "slow": report.slow,
            "unconfirmed": report.unconfirmed,
        }
        click.echo(json.dumps(record, indent=2))
        return
    console = screen()
    console.print(Text(report.device), soft_wrap=True)
    table = plain_table("placement", "mapping")
    for column in ("tests", "did not terminate", "never terminated"):
        table.add_column(column, justify="right")
    for summary in mappings:
        table.add_row(*(str(value) for value in asdict(summary).values()))
    console.print(table)
    for words in remarks(report.slow, report.unconfirmed):
        console.print(Text(words), soft_wrap=True)
    if len({model.placement for model in report.models}) > 1:
        console.print(by_placement(report.models))
        return
    console.print(_by_model(report.models))
    for line in _progress_conclusion(report.models):
        console.print(Text(printable(line)), soft_wrap=True)


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
    for model in models:
        style = "red" if model.refuting else ""
        table.add_row(model.model, str(model.may_hang), str(model.observed), str(len(model.refuting)), style=style)
    return table


def _progress_conclusion(models: Sequence[ModelSummary]) -> Iterator[str]:
    """Yield what a run has shown: which models held, which are contradicted and by what, and what to ask next."""
    if held := [model.model for model in models if not model.refuting]:
        yield f"held: no test that terminates under them hung: {', '.join(held)}"
    groups: dict[tuple[str, ...], list[str]] = {}
    for model in models:
        if model.refuting:
            groups.setdefault(model.refuting, []).append(model.model)
    for tests, names in list(groups.items())[:_GROUPS_OF_PROGRESS]:
        shown = ", ".join(tests[:3]) + (f" and {len(tests) - 3} more" if len(tests) > 3 else "")
        yield f"contradicted: {', '.join(names)}, under which these tests terminate, but they hung: {shown}"
    if len(groups) > _GROUPS_OF_PROGRESS:
        others = ", ".join(chain(*list(groups.values())[_GROUPS_OF_PROGRESS:]))
        yield f"also contradicted, by fewer or other tests: {others}"
    if groups:
        tests, names = next(iter(groups.items()))
        yield f"next: synth explain TEST -m {names[0]} says why {tests[0]} terminates under it; --json lists all"
    elif models:
        yield "next: tests that may hang and did not may do so with other mappings, more instances or more iterations"


# Memory tests


def _print_memory(report: MemoryReport, as_json: bool) -> None:
    ran = report.ran
    for error in ran.unreadable:
        print_remark(str(error))
    for file, reason in ran.failed.items():
        print_remark(f"{file}: {reason}")
    if as_json:
        click.echo(json.dumps(_memory_record(report), indent=2))
        return
    console = screen()
    console.print(Text(report.device), soft_wrap=True)
    mutants = report.mutants if isinstance(report, MutantsReport) else None
    observations = () if mutants else report.observations  # what is said of mutants takes the place of outcomes
    if len(observations) > FEW:
        _print_asked(console, observations)
    else:
        for observation in observations:
            _print_all(console, observation)
    console.print()
    if report.models:
        console.print(_summary(report.models))
    for line in _memory_conclusion(report.models):
        console.print(Text(printable(line)), soft_wrap=True)
    if ran.refused:
        file, reason = next(iter(ran.refused.items()))
        more = f" (and {len(ran.refused) - 1} more; --json lists them)" if len(ran.refused) > 1 else ""
        console.print(Text(printable(f"not run: {file}: {reason}{more}")), soft_wrap=True)
    if mutants:
        few = mutants.few
        hint = () if few else (f"synth score {mutants.suite.path} --tests --mutants lists them",)
        for part in (*score_tables(mutants.suite, mutants.observed, None, CONFIDENCE, few, few), *hint):
            screen().print(part, markup=False, soft_wrap=isinstance(part, str))


def _memory_record(report: MemoryReport) -> dict[str, Any]:
    ran = report.ran
    record = {
        "device": report.device,
        "tests": [
            {
                "file": observation.file,
                **msgspec.structs.asdict(trial_of(observation.result)),
                "launches": observation.result.launches,
                "hung": observation.result.hung,
                "tries": observation.result.tries,
                "other": observation.result.other,
                "outcomes": [asdict(row) for row in observation.rows],
            }
            for observation in report.observations
        ],
        "models": [asdict(model) for model in report.models],
        "refused": ran.refused,
        "failed": ran.failed | {error.path or "": error.message for error in ran.unreadable},
    }
    if isinstance(report, MutantsReport):
        record["mutation"] = suite_record(report.mutants.suite, report.mutants.observed, None)
    return record


def _print_all(console: Screen, observation: Observation) -> None:
    """Print every outcome of a test that was seen or asked for."""
    result = observation.result
    console.print()
    console.print(Text(f"{observation.file}: {_launched(result)}"), soft_wrap=True)
    table = Table(*result.terms, box=None, pad_edge=False, header_style="bold")
    table.add_column("count", justify="right")
    table.add_column("")
    table.add_column("forbidden by")
    shown = [row for row in observation.rows if row.count or row.asked]
    for row in shown:
        style = "red" if row.count and row.forbidden_by else "" if row.count else "dim"
        mark = "<- asked for" if row.asked else ""
        table.add_row(*map(str, row.values), str(row.count), mark, ", ".join(row.forbidden_by), style=style)
    console.print(table)
    if len(shown) < len(observation.rows):
        hidden = len(observation.rows) - len(shown)
        console.print(Text(f"{hidden} other outcomes that some model allows were not seen"), soft_wrap=True)
    if result.other:
        console.print(Text(f"{result.other} instances had other outcomes"), soft_wrap=True)


def _print_asked(console: Screen, observations: Sequence[Observation]) -> None:
    """Print the tests whose asked-for outcome was seen, and how often in all instances."""
    seen = [
        (observation, count)
        for observation in observations
        if (count := sum(row.count for row in observation.rows if row.asked))
    ]
    instances = sum(observation.result.launches * observation.result.instances for observation in observations)
    console.print()
    console.print(Text(f"{len(observations)} tests in {instances} instances; asked-for outcome seen of {len(seen)}"))
    table = plain_table("test", "seen", "instances", "forbidden by")
    for observation, count in seen[:LINES]:
        rows = (row for row in observation.rows if row.asked and row.count)
        against = sorted({model for row in rows for model in row.forbidden_by})
        cells = (
            observation.test.name,
            str(count),
            str(observation.result.launches * observation.result.instances),
            ", ".join(against),
        )
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


def _memory_conclusion(reports: Sequence[ModelReport]) -> Iterator[str]:
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
        most = [f"{', '.join(models)} by {file} ({values_text(values)})" for (file, values), models in groups.items()]
        more = f"; and {len(most) - _GROUPS_OF_MEMORY} more" if len(most) > _GROUPS_OF_MEMORY else ""
        yield f"contradicted: {'; '.join(most[:_GROUPS_OF_MEMORY])}{more}"
    if silent:
        file, why = next(iter(silent[0].reasons.items()))
        counts = ", ".join(f"{report.model} {report.unknown}" for report in silent)
        yield f"models without a verdict, and for how many tests: {counts}; {silent[0].model} for {file}: {why}"
    if against:
        file, _ = against[0].forbidden[0]
        yield f"next: synth explain TEST -m {against[0].model} says why it forbids it of {file}; --json lists all"
    elif reports:
        yield "next: more launches or stress (synth tune) may show more of the allowed outcomes; --json lists all"
