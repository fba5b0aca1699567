"""``synth diff`` shows what changed between two devices, drivers, compilers or dates."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpus.errors import InputError, printable
from synth.options.form import Page, json_option
from synth.options.models import model_option
from synth.options.tests import suites_option
from synth.pool import cores
from synth.requests import SelectionFilter
from synth.statistics import INDEPENDENT, SIGNIFICANCE
from synth.watch import busy

if TYPE_CHECKING:  # slow to import, and not every command needs it
    from backends.shared.results import Entry
    from synth.changes.changes import ResultChange, ResultComparison
    from synth.changes.sides import ResultSide
    from synth.report.evidence import Evidence

MOST = 100
"""The most changes that a table shows."""


@click.command(name="diff", cls=Page, first="--model --significant")
@click.argument("words", nargs=-1, required=True, metavar="[RESULTS|CORPUS...] A B")
@suites_option
@model_option(memory=True)
@click.option(
    "--significance",
    type=click.FloatRange(0, 1, min_open=True),
    default=SIGNIFICANCE,
    show_default=True,
    metavar="P",
    help="Report a difference of rates only if its probability by chance is below P.",
)
@click.option("--significant", is_flag=True, help="Ignore every other difference that chance explains, too.")
@json_option("Print everything as one JSON object.")
def command(
    words: tuple[str, ...],
    suites: tuple[str, ...],
    models: tuple[str, ...],
    significance: float,
    significant: bool,
    as_json: bool,
) -> None:
    """Show what changed from A to B: hangs, outcomes, rates, failures, and models that are contradicted.

    A and B are files of results or corpora. If you name RESULTS before them, A and B choose among those by
    FIELD=VALUE[,FIELD=VALUE], or FIELD!=VALUE for all others:

    \b
      backend, profile, mapping, placement    is VALUE
      device, driver, compiler                contains VALUE
      date                                    begins with VALUE, as 2026-11

    No result may be on both sides, and neither side may be empty. PoCL's device has the processor's name in it, so
    device=Intel may include PoCL's results; device!=PoCL does not.

    synth compares each test, and each way to run it, separately. An outcome seen on one side only is a change. If a
    rate is above 0 on both sides, it is a change only if chance does not explain the difference: Fisher's exact test or
    chi-square, corrected for the number of outcomes compared. They count launches, as few as can hold the
    outcomes, because instances of one launch are alike. Two runs of one device differ in rare outcomes: --significant
    ignores these.

    If synth has the tests, from --suite or from the corpus around the results, it marks the outcomes that they ask
    about. It also names models that only one side contradicts, by tests that were run on both.

    \b
    Examples:
      synth diff old.jsonl new.jsonl
      synth diff suite device=PoCL device!=PoCL
      synth diff all.jsonl 'driver=580,date=2026-10' 'driver=590' --suite suite --json

    Exit code 1 if anything changed, 0 if not, 2 if the sides share a result or have nothing to compare.
    """
    from synth.changes.changes import compare
    from synth.changes.sides import ResultSide, check_apart, side

    if len(words) < 2:
        raise InputError("expected two sides, A and B: files of results, or choices among RESULTS such as device=PoCL")
    *files, first, second = words
    entries, around = _opened(files)
    sides: list[ResultSide] = []
    for word in (first, second):
        if Path(word).exists():
            found, near = _opened([word])
            around += near
            sides.append(ResultSide(word, (), tuple(found)))
        elif files:
            sides.append(side(word, entries))
        elif "=" in word:
            raise InputError(f"{word} chooses among results: name their files before it")
        else:
            raise InputError("cannot read: No such file or directory", word)
    if os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second):
        raise InputError("A and B are the same file", second)
    check_apart(*sides)
    paths = [*files, *(word for word in (first, second) if Path(word).exists())]
    known = _known(paths, suites or tuple(around), models)
    with busy("Comparing"):
        comparison = compare(sides[0], sides[1], significance, significant, known)
    if not comparison.compared:
        ways = (" and ".join(sorted({column.way or "one way" for column in only})) for only in comparison.only)
        raise InputError(f"{first} and {second} have no test in common that was run in one way: {', and '.join(ways)}")
    if as_json:
        click.echo(json.dumps(_record(sides, comparison), indent=2))
    else:
        _print(sides, comparison, known is not None)
    sys.exit(0 if comparison.same else 1)


def _opened(paths: list[str]) -> tuple[list[Entry], list[str]]:
    """Read the results in files and corpora, and list the corpora. Raises ``InputError`` where one cannot be read."""
    from synth.report.gather import opened

    entries: list[Entry] = []
    around: list[str] = []
    for path in paths:
        found, near = opened(Path(path))
        entries += (entry for entry, _ in found)
        around += near
    return entries, around


def _known(paths: list[str], suites: tuple[str, ...], models: tuple[str, ...]) -> Evidence | None:
    """Return the tests and their verdicts, where they can be found."""
    if not suites:
        if models:
            raise InputError(
                "--model needs the tests, and no corpus is around these results: name the tests by --suite"
            )
        return None
    from synth.report.gather import ReportRequest, gather
    from synth.worker import Limits

    request = ReportRequest(tuple(map(Path, paths)), suites, SelectionFilter(), models, cores(), Limits(10.0, 4096))
    return gather(request)


def _record(sides: list[ResultSide], found: ResultComparison) -> dict[str, object]:
    return {
        "a": sides[0].name,
        "b": sides[1].name,
        "unit": INDEPENDENT,
        "compared": found.compared,
        "only_a": [asdict(unit) for unit in found.only_before],
        "only_b": [asdict(unit) for unit in found.only_after],
        "changes": [
            {
                **asdict(change.unit),
                "what": change.what,
                "outcome": change.outcome,
                "asked": change.is_asked,
                "a": {"seen": change.before[0], "runs": change.before[1]},
                "b": {"seen": change.after[0], "runs": change.after[1]},
                "chance": change.chance,
                **({"error": change.error} if change.error else {}),
            }
            for change in found.changes
        ],
        "contradicted_by_a_only": dict(found.models.vanished),
        "contradicted_by_b_only": dict(found.models.appeared),
    }


def _print(sides: list[ResultSide], found: ResultComparison, judged: bool) -> None:
    from rich.text import Text

    from synth.screen.console import plain_table, screen

    console = screen()
    a, b = (printable(f"{letter}: {side.name}") for letter, side in zip("AB", sides, strict=True))
    console.print(Text(f"{a}\n{b}"), soft_wrap=True)
    table = plain_table("test", "way", "what", "outcome", "A", "B", "chance")
    shown = sorted(found.changes, key=lambda change: not change.is_asked)[:MOST]
    for change in shown:
        cells = (change.unit.test, change.unit.way, change.what, change.error or change.outcome, *_counts(change))
        style = "red" if change.is_asked and change.what == "appeared" else ""
        table.add_row(*map(Text, cells), _chance(change.chance), style=style)
    if shown:
        console.print()
        console.print(table)
    if len(found.changes) > len(shown):
        console.print(Text(f"and {len(found.changes) - len(shown)} more; --json lists them"))
    console.print()
    for letter, models in (("A", found.models.vanished), ("B", found.models.appeared)):
        for model, test in models.items():
            console.print(Text(f"{model} is contradicted by {letter} only: {test}"), soft_wrap=True)
    tests = {change.unit.test for change in found.changes}
    if shown:
        console.print(Text(f"counted: {INDEPENDENT}"), soft_wrap=True)
    console.print(
        Text(
            f"{found.compared} tests and ways compared, {len(found.only_before)} more in A only and "
            f"{len(found.only_after)} in B only: {len(found.changes)} changes of {len(tests)} tests"
            + ("" if judged else "; no tests to say which outcomes are asked about: --suite")
        ),
        soft_wrap=True,
    )


def _counts(change: ResultChange) -> tuple[str, str]:
    if change.error:
        return "", ""
    return f"{change.before[0]:,} of {change.before[1]:,}", f"{change.after[0]:,} of {change.after[1]:,}"


def _chance(chance: float | None) -> str:
    return "" if chance is None else f"{chance:.2g}" if chance >= 1e-99 else "< 1e-99"
