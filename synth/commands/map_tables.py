"""``synth map`` of tables of code sequences: what it asks, prints and writes (``synth.memory.sequences``)."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from backends.shared.files import file_stem, write_files
from constraints.solvers import DEFAULT_SOLVER
from corpus.errors import printable, visible
from corpus.journal import Journal
from corpus.litmus.orders import Scope
from oracle.consistency import resolve_consistency_models
from synth.drawing.execution import draw_table_bug
from synth.memory.sequences import (
    SOURCE,
    CheckedTables,
    ExplainedTableBug,
    JudgedDeletion,
    SearchedTables,
    TableAnswer,
    checked_tables,
    explain_table_bug,
    named_tables,
    search_deletions,
    search_tables,
    searched_record,
    write_table_bugs,
)
from synth.options.work import workplaces
from synth.pool import resumable
from synth.requests import spelled
from synth.screen.console import printable_lines
from synth.screen.pictures import write_picture
from synth.units import INTERRUPTED, SearchRun, Until, Unwritten
from synth.watch import watching
from synth.worker import Limits

SCOPES = tuple(scope.label for scope in Scope if scope is not Scope.QUEUE)
"""The scopes of tables: their rows are of no cluster."""


@dataclass(frozen=True)
class TableWork:
    """The way in which tables are searched."""

    jobs: int | str | None
    limits: Limits
    until: Until


def question(
    paths: Sequence[Path],
    source: str | None,
    events: tuple[int, int],
    threads: tuple[int, int] | None,
    scopes: tuple[str, ...],
) -> CheckedTables:
    """Return what is asked of the tables in some files. Raises ``InputError`` where a file or the source is wrong."""
    (model,) = resolve_consistency_models([source or SOURCE])
    return checked_tables(named_tables(paths), model, events, threads, scopes)


def run(
    check: CheckedTables, weakest: bool, work: TableWork, output: Path | None, svg: Path | None, as_json: bool
) -> int:
    """Search, print and write, and return the exit code."""
    if not as_json:
        names = ", ".join(table.name for table in check.tables)
        click.echo(f"from {check.source.name} to {names}, over {check.words.name}: {check.words.summary}")
    started = time.monotonic()
    request = {**check.as_json(), "weakest": weakest}
    with (
        workplaces(work.jobs) as places,
        nullcontext() if output is None else Journal.open(output, request) as opened,
        resumable(opened is not None),
    ):
        journal = opened or Unwritten()
        with watching("Translating") as watch:
            done = search_tables(check, SearchRun(journal, DEFAULT_SOLVER, places, work.until, watch, work.limits))
        reported = [
            [explain_table_bug(bug, answer.table, check.source) for bug in (*answer.bugs, *answer.beyond)]
            for answer in done.answers
        ]
        if not as_json:
            for answer, bugs in zip(done.answers, reported, strict=True):
                _tell(check, done, answer, bugs)
        if weakest and not done.stopped:
            with watching("Translating") as watch:
                search_deletions(
                    done, check, SearchRun(journal, DEFAULT_SOLVER, places, work.until, watch, work.limits)
                )
            if not as_json:
                _tell_deletions(check, done)
        if opened is not None:
            write_files(opened.path, dict(_files(reported[0])))
            seconds = time.monotonic() - started
            write_table_bugs(opened, done.answers[0], reported[0], done.stopped, DEFAULT_SOLVER, seconds)
    if svg and reported[0]:
        write_picture(svg, draw_table_bug(reported[0][0]).svg())
    if as_json:
        click.echo(visible(json.dumps(_record(check, done, reported), ensure_ascii=False)))
    elif output is not None:
        state = f"incomplete: {done.stopped}; the same command goes on" if done.stopped else "complete"
        click.echo(f"\n{printable(str(output))}: {_counted(len(reported[0]), 'bug')}, {state}")
    wrong = any(answer.wrong for answer in done.answers)
    return 130 if done.stopped == INTERRUPTED else 1 if wrong else 0


def _files(reported: Sequence[ExplainedTableBug]) -> Iterator[tuple[str, str]]:
    for bug in reported:
        stem = file_stem(bug.bug.test.name)
        yield f"{stem}.source.litmus", bug.record.text
        yield f"{stem}.target.txt", "\n".join(bug.target_lines())
        yield f"{stem}.svg", draw_table_bug(bug).svg()


def _record(
    check: CheckedTables, done: SearchedTables, reported: Sequence[Sequence[ExplainedTableBug]]
) -> dict[str, Any]:
    """Return what is known of tables as plain data; ``searched`` of each is the size up to which it was checked."""
    return {
        "from": check.source.name,
        "vocabulary": list(check.words.spelled),
        "threads": check.threads and list(check.threads),
        "scopes": list(check.scopes),
        "minimal": len(done.suite),
        "tables": [
            {"to": answer.table.name, **searched_record(answer), "bugs": [bug.as_json() for bug in bugs]}
            for answer, bugs in zip(done.answers, reported, strict=True)
        ],
        **({"stopped": done.stopped} if done.stopped else {}),
    }


def _tell(
    check: CheckedTables, done: SearchedTables, answer: TableAnswer, reported: Sequence[ExplainedTableBug]
) -> None:
    """Print the size up to which a table is sound or the bugs of the first that is not, then the shapes beyond."""
    name, stopped = answer.table.name, f"; {done.stopped}" if done.stopped else ""
    click.echo()
    if answer.bugs:
        many = _counted(len(answer.bugs), "bug")
        click.echo(
            f"{name}: {many} of {reported[0].bug.size} events: reached, and {check.source.name} forbids it{stopped}"
        )
    else:
        click.echo(f"{name}: {_sound(check, answer)}{stopped}")
    if answer.lost:
        click.echo(f"  orders less for a stronger instruction, which was tried besides: {', '.join(answer.lost)}")
    if answer.shapes is not None:
        least = check.events[1]
        reached = f"{len(answer.beyond)} reached" if answer.beyond else "none reached"
        click.echo(f"  beyond {least} events: of {answer.shapes} shapes known by name, {reached}")
    if reported:
        click.echo()
        click.echo(printable_lines("\n".join(reported[0].lines())))
    if others := [bug.bug.test.name for bug in reported[1:]]:
        click.echo("and " + "\n    ".join(others))


def _tell_deletions(check: CheckedTables, done: SearchedTables) -> None:
    """Print of each part of a row whether a test needs it, and how many do."""
    for answer in done.answers:
        if not answer.deletions:
            continue
        click.echo(f"\n{answer.table.name}")
        for deletion in answer.deletions:
            click.echo(printable_lines(f"{deletion.step}: {_deleted(deletion, check, answer)}"))
        kinds = Counter(deletion.kind for deletion in answer.deletions if deletion.bug)
        by = ", ".join(f"{count} by a {kind} test" for kind, count in kinds.items())
        left = sum(not deletion.bug for deletion in answer.deletions)
        click.echo(f"of {len(answer.deletions)}, {len(answer.deletions) - left} are needed ({by}), {left} are not")
    if done.stopped:
        click.echo(f"the rest was not searched; {done.stopped}")


def _deleted(deletion: JudgedDeletion, check: CheckedTables, answer: TableAnswer) -> str:
    return f"wrong, {deletion.bug} of {deletion.size} events" if deletion.bug else _sound(check, answer)


def _sound(check: CheckedTables, answer: TableAnswer) -> str:
    """Return the size up to which a table is sound, and of which programs, where these are not all."""
    if answer.events < check.events[0]:
        return "nothing was searched"
    threads = f"threads {spelled(check.threads)}" if check.threads else ""
    within = ", ".join(filter(None, (threads, f"scopes {' '.join(check.scopes)}" if check.scopes else "")))
    return f"sound up to {answer.events} events{f' ({within})' if within else ''}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
