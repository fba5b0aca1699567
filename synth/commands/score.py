"""``synth score`` shows the mutants that a device kills, and how far to trust its tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from backends.shared.results import RESULTS
from synth.mutation.kills import read_kills, read_suite
from synth.mutation.show import record, tables
from synth.options.form import json_option
from synth.options.page import Page
from synth.options.tests import SelectionFilter, choice_options
from synth.screen import screen
from synth.statistics import CONFIDENCE
from synth.watch import busy


@click.command(name="score", cls=Page, first="--mutants --budget --tests")
@click.argument("suite", type=click.Path(path_type=Path))
@click.argument("results", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--budget",
    type=click.FloatRange(min=0, max=1e9, min_open=True),
    metavar="SECONDS",
    help="Tell the confidence of running each test for so long, too.",
)
@click.option("--tests", "list_tests", is_flag=True, help="List every test with its best mutant and its confidence.")
@click.option("--mutants", "list_mutants", is_flag=True, help="List every mutant with its kill rates.")
@choice_options
@json_option("Print JSON, with every test and every mutant.")
def command(
    suite: Path,
    results: Sequence[Path],
    budget: float | None,
    list_tests: bool,
    list_mutants: bool,
    choice: SelectionFilter,
    as_json: bool,
) -> None:
    """Show which mutants devices kill, and what that says of the tests.

    SUITE was made with synth memory --mutants, and RESULTS by synth run SUITE --mutants, or elsewhere and imported;
    those in the suite's own folder where none are named. A mutant is a relaxation of a test, so that the model allows
    what the test forbids. A way to launch tests on a device that never shows a mutant's outcome could not have seen the
    bug that the test is for.

    \b
    score            the mutants that were killed, of those that were run
    kills a second   how often the outcome of a mutant was seen
    confidence       with which the test would have seen its easiest bug in the time that it ran: 1 - e^(-rate time);
                     "at least" by the lower end of the rate's 95 % interval

    What threads show that run one after the other says nothing of a device, and such mutants do not count.

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
        click.echo(json.dumps(record(opened, observed, budget), indent=2))
        return
    console = screen()
    for part in tables(opened, observed, budget, CONFIDENCE, list_tests, list_mutants):
        console.print(part, markup=False, soft_wrap=isinstance(part, str))
