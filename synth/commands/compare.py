"""``synth compare`` finds the smallest tests on which models differ."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from constraints.solvers import DEFAULT_SOLVER
from corpus.errors import InputError, one_line, printable, visible
from corpus.files import write_atomically
from corpus.journal import Journal
from corpus.test import Test
from oracle.consistency import resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import Answer
from synth.accounts import Account, in_columns
from synth.explanations import explanations, unexplained
from synth.families.interface import family
from synth.inputs import MEMORY, Input
from synth.memory.comparison import Differences, ModelComparison, Pair, compare, write_differences
from synth.memory.ordering import Ordering, difference_text, ordering_record, search_text
from synth.memory.suites import axiomatic, empty_sets, narrowed
from synth.options.form import Page, json_option, printed_as
from synth.options.models import ModelName
from synth.options.values import Span
from synth.options.vocabulary import Words, vocabulary_option
from synth.options.work import A_PART, limit_options, run_options, workplaces
from synth.pool import Jobs, resumable
from synth.requests import MOST_EVENTS
from synth.screen.console import plain_table, print_table, printable_lines, screen, table_console
from synth.screen.pictures import DOT, check_picture_name, write_picture
from synth.tables import TABLE
from synth.units import INTERRUPTED, Record, Until, Unwritten
from synth.watch import watching
from synth.worker import Limits

SHOWN = 1
"""The number of tests of a size and a pair of models that are printed whole."""


@click.command(name="compare", cls=Page, first="--events --vocabulary --minimal --output --picture")
@click.argument("models", nargs=-1, required=True, type=ModelName(), metavar="A B [C ...]")
@click.option(
    "--events",
    type=Span(2, MOST_EVENTS),
    default="2..5",
    show_default=True,
    metavar="N",
    help="Number of events: 4, 2..6 or ..6.",
)
@vocabulary_option
@click.option("--threads", "-t", type=Span(1), help="Only tests with this many threads.")
@click.option("--both-ways", is_flag=True, help="Go on until there is a test in each direction.")
@click.option("--minimal", is_flag=True, help="Find the minimal tests of all sizes, not only the first.")
@run_options
@limit_options(A_PART, whole=True)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write the tests as a corpus to this new folder.")
@click.option(
    "--picture",
    "svg",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Draw the order of the models: .svg, .pdf, .png, .tex or .dot.",
)
@json_option("Print one JSON object instead of text.")
def command(
    models: tuple[str, ...],
    events: tuple[int, int],
    vocabulary: Words,
    threads: tuple[int, int] | None,
    both_ways: bool,
    minimal: bool,
    time_limit: float | None,
    jobs: int | str | None,
    limits: Limits,
    output: Path | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Show the smallest tests that one model allows and another forbids.

    A solver searches for programs and outcomes on which the models differ: first with two events, then three and so on.
    It builds programs from whatever the models can tell apart. With two models, the search ends at the first size that
    has a test, whichever model allows it. With more, synth compares each pair both ways, and a table shows how the
    models relate. If nothing is found, larger programs and other vocabularies may still differ.

    -o writes the tests as a corpus (docs/corpus.md). If the search is stopped, the same command continues it, and the
    final files are the same, byte for byte.

    The exit code is 1 if the models differ, 0 if no difference was found.

    \b
    Examples:
      synth compare sc tso
      synth compare ptx-6.0 my-ptx.cat -o difference
      synth compare rc11 rc11-scoped --vocabulary "opencl -rmw" --events ..6
      synth compare sc tso rmo ptx-rmo --events ..4 --picture order.svg
    """
    if svg:
        check_picture_name(svg, DOT)
    resolved = resolve_consistency_models(models)
    if len(resolved) < 2:
        raise InputError("expected two or more different models")
    if len(resolved) == 2 and printed_as() != TABLE:
        raise InputError("--format needs a table, which three or more models have")
    files = [axiomatic(model) for model in resolved]
    words = narrowed(files, *vocabulary)
    for line in empty_sets(words, files):
        click.echo(one_line(f"synth: {line}"), err=True)
    comparison = ModelComparison(tuple(resolved), words, events, threads, every=minimal, both_ways=both_ways)
    question = {
        "kind": MEMORY,
        "compare": [model.name for model in resolved],
        "events": list(events),
        **({"threads": list(threads)} if threads else {}),
        **({"both_ways": True} if both_ways else {}),
        **({"minimal": True} if minimal else {}),
        "vocabulary": list(words.spelled),
        "models": [model.name for model in resolved],
        "model_digests": {model.name: model.digest for model in resolved},
    }
    started, until = time.monotonic(), Until.limits(None, time_limit)
    with (
        workplaces(jobs) as places,
        nullcontext() if output is None else Journal.open(output, question) as journal,
        resumable(journal is not None),
    ):
        if not as_json:
            screen().print(f"over {words.name}: {words.summary}", markup=False, soft_wrap=True)
        done = _search(comparison, journal or Unwritten(), places, until, limits, None if as_json else models)
        if journal is not None:
            number = write_differences(journal, done, DEFAULT_SOLVER, time.monotonic() - started)
    ordering = done.ordering(comparison)
    if as_json:
        tests = [_record(pair, test) for pair, found in done.tests.items() for test in found]
        stopped = {"stopped": done.stopped} if done.stopped else {}
        click.echo(visible(json.dumps({**ordering_record(ordering), "tests": tests, **stopped}, ensure_ascii=False)))
    elif len(resolved) == 2:
        one, other = ordering.models
        nothing = done.events < events[0] and not done.any
        difference = "UNKNOWN: no size was searched to its end" if nothing else difference_text(ordering, one, other)
        click.echo(difference + _stopped(done))
    else:
        print_table(screen(), ordering_table(ordering))
        extent = f"searched up to {max(done.searched.values())} events{_stopped(done)}"
        screen().print(extent, markup=False, soft_wrap=True)
    if output is not None and not as_json:
        state = f"incomplete: {done.stopped}; the same command goes on" if done.stopped else "complete"
        click.echo(f"{printable(str(output))}: {number} tests, {state}")
    if svg:
        from synth.drawing import order

        if svg.suffix.lower() == DOT:
            write_atomically(svg, [order.draw_dot(ordering)])
        else:
            write_picture(svg, order.draw(ordering).svg())
    sys.exit(130 if done.stopped == INTERRUPTED else 1 if done.any else 0)


def _stopped(done: Differences) -> str:
    return f"; {done.stopped}" if done.stopped else ""


def _record(pair: Pair, test: Test) -> dict[str, Any]:
    allows, forbids = pair
    return {
        "name": test.name,
        "events": test.size,
        "allowed_by": allows,
        "forbidden_by": forbids,
        "verdicts": dict(test.verdicts),
        "text": test.text,
    }


def _search(
    comparison: ModelComparison,
    journal: Record,
    jobs: Jobs,
    until: Until,
    limits: Limits,
    models: tuple[str, ...] | None,
) -> Differences:
    """Search for every difference and record it; ``models`` by name are printed as soon as they differ."""
    done = Differences.none(comparison)
    with watching("Comparing") as watch:
        for pair, tests in compare(comparison, journal, DEFAULT_SOLVER, jobs, done, until, watch, limits):
            if models and len(comparison.models) == 2:
                _tell(pair, tests, models, limits)
    return done


def _briefly(accounts: Sequence[Account]) -> list[Account]:
    """Return the accounts with one execution each; where it is forbidden, the one by which another model allows it."""
    allowed = [account.reason for account in accounts if account.verdict == Answer.ALLOWED]
    choices = [line for line in "".join(allowed[:1]).split("\n") if line.startswith(("  rf ", "  co "))]
    brief = []
    for account in accounts:
        start, *ways = re.split(r"^(?=\S+ \(.*:\d+\) forbids )", account.reason, flags=re.MULTILINE)
        if len(ways) > 1:
            same = next((way for way in ways if set(choices) <= set(way.split("\n"))), ways[0])
            reason = f"{start}{same.rstrip()}\n\n{len(ways) - 1} more: synth explain shows them"
            account = account._replace(reason=reason)
        brief.append(account)
    return brief


def _tell(pair: Pair, tests: list[Test], models: tuple[str, ...], limits: Limits) -> None:
    """Print the first tests whole, each with why its models give their verdicts, and the names of the others."""
    allows, forbids = pair
    many = "1 test" if len(tests) == 1 else f"{len(tests)} tests"
    click.echo(f"\n{many} of {tests[0].size} events that {allows} allows and {forbids} forbids")
    width = table_console().width
    shown = [Input(test.name, test.name, Path(test.name), test) for test in tests[:SHOWN]]
    test_limits = replace(limits, whole=False)
    for row in explanations(
        family(MEMORY), shown, models, UNROLL, test_limits, lambda explanation: explanation.account(), unexplained
    ):
        accounts = _briefly(row)
        click.echo()
        click.echo(printable_lines(in_columns(accounts, width)), nl=False)
    if others := [test.name for test in tests[SHOWN:]]:
        click.echo("\nand " + "\n    ".join(others))
    click.echo()


def ordering_table(ordering: Ordering) -> Table:
    """Return the table of how each two models relate, with the smallest test that each of them alone allows."""
    table = plain_table("model", "", "model", "the first alone allows", "the second alone allows")
    for one, other in combinations(ordering.models, 2):
        searches = ordering.searches[one, other], ordering.searches[other, one]
        words = (one, ordering.standing(one, other), other, *map(search_text, searches))
        table.add_row(*map(Text, words))
    return table
