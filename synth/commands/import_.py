"""``synth import`` merges results from several files, and from runs elsewhere, into one file."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import click

from backends.shared.results import (
    BEGINS,
    BUSY,
    EXPECTED,
    REPEATED,
    RESULTS,
    Entry,
    ProgressResult,
    parse_result,
    read_times,
    trial_of,
    write_results,
)
from corpus.errors import InputError, one_line, printable
from corpus.lines import is_cut, open_lines
from corpus.suite import is_corpus
from synth.families.interface import chosen, family_given
from synth.importing.files import read_file
from synth.importing.results import TIMEOUT, ImportedResults, ImportSettings, merged
from synth.importing.suites import Suite, with_mutants
from synth.inputs import tell_of_cut
from synth.options.form import Page
from synth.options.tests import choice_options
from synth.requests import SelectionFilter
from synth.watch import watched


def _date(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is None or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value):
        return value
    if re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return f"{value}T00:00:00Z"
    raise click.BadParameter(f"expected 2026-11-22 or 2026-11-22T12:00:00Z, found {value}")


@click.command(name="import", cls=Page, first="--output --suite --device --driver --date")
@click.argument("files", nargs=-1, required=True, metavar="FILES...", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="RESULTS",
    help="Add the results to this file.  [default: results.jsonl in the corpus of --suite]",
)
@click.option("--suite", multiple=True, metavar="SUITE", type=click.Path(), help="The tests that were run; repeatable.")
@choice_options
@click.option(
    "--device",
    metavar="TEXT",
    help="The device that ran the tests. It overrides the files; so do driver, compiler, date and profile.",
)
@click.option("--driver", metavar="TEXT", help="The driver of the device.")
@click.option("--compiler", metavar="TEXT", help="The compiler of the programs.")
@click.option(
    "--date", metavar="DATE", callback=_date, help="When the tests ran, as 2026-11-22 or 2026-11-22T12:00:00Z, in UTC."
)
@click.option("--profile", metavar="NAME", help="The profile of the memory tests.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, max=1e6, min_open=True),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="After how long programs were killed, for results that do not say.",
)
def command(
    files: tuple[Path, ...],
    output: Path | None,
    suite: tuple[str, ...],
    choice: SelectionFilter,
    device: str | None,
    driver: str | None,
    compiler: str | None,
    date: str | None,
    profile: str | None,
    timeout: float,
) -> None:
    """Import results of runs elsewhere, and merge results.

    \b
    synth recognises a file by its content:
      results            results.jsonl of synth run, of a shard, or of another machine
      logs               what synth's programs print, with anything between:
                         for t in *; do timeout 20 ./$t 20; done >> log
      litmus7, herd7     logs with Test, Histogram or States, Condition; need --suite
      amber, progress    for t in *.amber; do echo $t; amber -d $t; done >> log 2>&1; needs --suite
      amber -b FILE -B 3 a dump, named after its test unless --where names the test; needs --suite
      published          tables of a campaign, 'Test File Name,No saturation Result,..'; need --suite

    If a test begins in a log and has no result there, it hung; --timeout says how long it was allowed to run. A silent
    crash looks the same, and so does a program that is still running.

    A hang is confirmed, and contradicts models, if at least 20 iterations all hung for at least 5 seconds, and another
    test, launched in the same way, terminated in all of as many. Any other hang in a log is not confirmed.

    With --suite, synth refuses results of tests that the suite lacks or has in another version, with a line for each,
    and takes the others. A suite's mutants are among its tests. Without --suite, synth takes every result that says
    which test it is of.

    RESULTS is sorted, keeps the lines that it has, and has each line once: the same results give the same bytes, in any
    order and from any number of files. If a trial has several results, the latest counts.

    \b
    Examples:
      synth import a/results.jsonl b/results.jsonl -o all.jsonl
      synth import log --suite suite --timeout 20 -o suite/results.jsonl
      synth import outcomes.txt --suite suite --where SB --device 'Mali-G78' -o all.jsonl
      synth import litmus.log --suite suite --device 'Raspberry Pi 5' --date 2026-11-22 -o all.jsonl

    Exit code 1 if synth did not take a part of a file, 2 if it can read none of the files.
    """
    if not isfinite(timeout):
        raise InputError(f"--timeout: expected a number of seconds, found {timeout}")
    if not suite and choice.filters:
        raise InputError("--where chooses tests of --suite: give --suite")
    if output is None:
        if len(suite) != 1 or not is_corpus(Path(suite[0])):
            raise click.UsageError(
                "Missing option '-o' / '--output'; without it, results go into the corpus of --suite"
            )
        output = Path(suite[0]) / RESULTS
    words = ImportSettings(device, driver, compiler, date, profile, timeout)
    wrong: list[str] = []
    tests = None
    if suite:
        kind = family_given(suite)
        tests, unreadable = Suite.of(with_mutants(chosen(kind, suite, choice)), kind)
        wrong += map(str, unreadable)
    found = []
    errors = []
    for file in watched(files, len(files), "Reading"):
        try:
            found.append(read_file(file, tests, words))
        except InputError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    wrong += map(str, errors)
    for log in found:
        for note in log.notes:
            click.echo(one_line(f"synth: {note}"), err=True)
        wrong += log.refused
    for line in wrong:
        click.echo(one_line(f"synth: {line}"), err=True)
    kept, known = _keep(output, found)
    for remark in _hangs(found, kept):
        click.echo(one_line(f"synth: {remark}"), err=True)
    click.echo(f"{len(kept)} results in {printable(str(output))}, {len(kept) - known} of them new", err=True)
    sys.exit(1 if wrong else 0)


def _hangs(found: list[ImportedResults], kept: list[Entry]) -> Iterator[str]:
    """Yield remarks on the hangs of progress tests that were imported: how many are confirmed, and how many are not."""
    imported = {trial_of(entry) for log in found for entry, _ in log.entries}
    hangs = [
        result
        for result in kept
        if isinstance(result, ProgressResult) and result.hangs and trial_of(result) in imported
    ]
    if repeated := sum(hang.repeated for hang in hangs):
        reason = f"each of {REPEATED} iterations or more hung, where other tests terminated"
        yield f"{repeated} {'hangs are' if repeated > 1 else 'hang is'} confirmed: {reason}"
    if doubtful := sum(not hang.confirmed for hang in hangs):
        yield f"{doubtful} {'hangs are' if doubtful > 1 else 'hang is'} not confirmed, so no evidence against a model"


def _keep(output: Path, found: list[ImportedResults]) -> tuple[list[Entry], int]:
    """Merge imported results into a file; return all that the file has then, and how many it had before.

    Raises ``InputError`` where the file holds something else, is in use, or cannot be written.
    """
    cut = output.exists() and is_cut(output)
    with open_lines(output, parse_result, BEGINS, EXPECTED, BUSY) as (entries, _):
        if cut:
            tell_of_cut(output)
        old = list(zip(entries, read_times(output), strict=True))
        after = merged([*old, *(entry for log in found for entry in log.entries)])
        write_results(output, after)
    return [entry for entry, _ in after], len(merged(old))
