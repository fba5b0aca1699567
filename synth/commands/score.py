"""``synth score`` shows the mutants that a device kills, and how far to trust its tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from backends.shared.results import RESULTS
from synth.mutation.kills import read_kills, read_suite
from synth.mutation.records import suite_record
from synth.options.form import Page, json_option
from synth.options.tests import choice_options
from synth.requests import SelectionFilter
from synth.screen.console import screen
from synth.screen.counts import score_tables
from synth.statistics import CONFIDENCE
from synth.watch import busy


@click.command(name="score", cls=Page, first="--mutants --budget --tests")
@click.argument("suite", type=click.Path(path_type=Path))
@click.argument("results", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--budget",
    type=click.FloatRange(min=0, max=1e9, min_open=True),
    metavar="SECONDS",
    help="Show also the confidence of running each test for this long.",
)
@click.option("--tests", "list_tests", is_flag=True, help="List every test with its best mutant and its confidence.")
@click.option("--mutants", "list_mutants", is_flag=True, help="List every mutant with its kill rates.")
@choice_options
@json_option("Print JSON with every test and every mutant.")
def command(
    suite: Path,
    results: Sequence[Path],
    budget: float | None,
    list_tests: bool,
    list_mutants: bool,
    choice: SelectionFilter,
    as_json: bool,
) -> None:
    """Show which mutants devices kill, and what that says about the tests.

    Make SUITE with synth memory --mutants. RESULTS come from synth run SUITE --mutants, or from runs elsewhere by synth
    import; by default synth reads the results in the suite's folder. A mutant is a relaxation of a test: the model
    allows its outcome, and forbids the test's. If a device and profile never show the mutant's outcome, they could not
    have shown the bug that the test is for.

    \b
    score            the share of the mutants run that were killed
    kills a second   how often the outcome of a mutant was seen
    confidence       with which the test would have seen its easiest bug in the time that it ran: 1 - e^(-rate time);
                     "at least" is by the lower end of the rate's 95 % interval

    A mutant whose outcome threads can show by running one after the other says nothing about a device, and does not
    count.

    \b
    Examples:
      synth score tso
      synth score tso --tests --budget 4
      synth score tso laptop.jsonl phone.jsonl --mutants --where tag=axiom:causality
      synth score tso --json | jq '.environments[] | {device, profile, score}'
    """
    with busy("Scoring"):
        opened = read_suite(suite, choice)
        observed = read_kills(opened, results or [suite / RESULTS])
    if as_json:
        click.echo(json.dumps(suite_record(opened, observed, budget), indent=2))
        return
    console = screen()
    for part in score_tables(opened, observed, budget, CONFIDENCE, list_tests, list_mutants):
        console.print(part, markup=False, soft_wrap=isinstance(part, str))
