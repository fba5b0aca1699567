"""``synth import`` merges results of runs elsewhere, and of several files, into one file."""

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
from synth.options.page import Page
from synth.options.tests import SelectionFilter, choice_options
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
    help="Where results go, among those that are there.  [default: results.jsonl in the corpus of --suite]",
)
@click.option("--suite", multiple=True, metavar="SUITE", type=click.Path(), help="The tests that were run; repeatable.")
@choice_options
@click.option("--device", metavar="TEXT", help="What ran the tests, whatever the files say; likewise:")
@click.option("--driver", metavar="TEXT", help="Its driver.")
@click.option("--compiler", metavar="TEXT", help="The compiler of the programs.")
@click.option("--date", metavar="DATE", callback=_date, help="When, as 2026-11-22 or 2026-11-22T12:00:00Z, in UTC.")
@click.option("--profile", metavar="NAME", help="The profile that memory tests were launched with.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, max=1e6, min_open=True),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="When programs were killed, for results that do not say.",
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
    """Bring back what was run elsewhere, and merge results.

    \b
    What a file is, is seen by its content:
      results            results.jsonl of synth run, of a shard, or of another machine
      logs               what our programs print, with anything between:
                         for t in *; do timeout 20 ./$t 20; done >> log
      litmus7, herd7     logs with Test, Histogram or States, Condition; need --suite
      amber, progress    for t in *.amber; do echo $t; amber -d $t; done >> log 2>&1; needs --suite
      amber -b FILE -B 3 a dump, called after its test, or --where names it; needs --suite
      published          tables of a campaign, 'Test File Name,No saturation Result,..'; need --suite

    A test that began in a log and has no result there did not end: it hung, and --timeout says for how long it was
    let. A crash without a word looks the same, and so does a program that is still running.

    A hang is confirmed, and contradicts models, where each of 20 iterations or more hung in 5 seconds or more, and
    another test that was launched in the same way terminated in each of as many. Any other hang of a log is not.

    With --suite, results of a test that it does not have, or that is another there, are refused in a line each, and
    the rest is taken. The mutants of a suite are among its tests. Without --suite, all are taken that say which test
    they are of.

    RESULTS is sorted, each line is in it once, and those that were there stay: the same results in any order, from any
    number of files, give the same bytes. Of several results of one trial the latest counts.

    \b
    Examples:
      synth import a/results.jsonl b/results.jsonl -o all.jsonl
      synth import log --suite suite --timeout 20 -o suite/results.jsonl
      synth import outcomes.txt --suite suite --where SB --device 'Mali-G78' -o all.jsonl
      synth import litmus.log --suite suite --device 'Raspberry Pi 5' --date 2026-11-22 -o all.jsonl

    Exit code 1 if anything of a file was not taken, 2 if no file can be read.
    """
    if not isfinite(timeout):
        raise InputError(f"--timeout: expected a number of seconds, found {timeout}")
    if not suite and choice.filters:
        raise InputError("--where chooses tests of --suite, which is not given")
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
    for each in found:
        for note in each.notes:
            click.echo(one_line(f"synth: {note}"), err=True)
        wrong += each.refused
    for line in wrong:
        click.echo(one_line(f"synth: {line}"), err=True)
    kept, known = _keep(output, found)
    for remark in _hangs(found, kept):
        click.echo(one_line(f"synth: {remark}"), err=True)
    click.echo(f"{len(kept)} results in {printable(str(output))}, {len(kept) - known} of them new", err=True)
    sys.exit(1 if wrong else 0)


def _hangs(found: list[ImportedResults], kept: list[Entry]) -> Iterator[str]:
    """Yield remarks on the hangs of progress tests that were imported: how many are confirmed, and how many are not."""
    imported = {trial_of(entry) for each in found for entry, _ in each.entries}
    hangs = [each for each in kept if isinstance(each, ProgressResult) and each.hangs and trial_of(each) in imported]
    if repeated := sum(each.repeated for each in hangs):
        reason = f"each of {REPEATED} iterations or more hung, where other tests terminated"
        yield f"{repeated} {'hangs are' if repeated > 1 else 'hang is'} confirmed: {reason}"
    if doubtful := sum(not each.confirmed for each in hangs):
        yield f"{doubtful} {'hangs are' if doubtful > 1 else 'hang is'} not confirmed, and no evidence against a model"


def _keep(output: Path, found: list[ImportedResults]) -> tuple[list[Entry], int]:
    """Merge imported results into a file; return all that the file has then, and how many it had before.

    Raises ``InputError`` where the file holds something else, is in use, or cannot be written.
    """
    cut = output.exists() and is_cut(output)
    with open_lines(output, parse_result, BEGINS, EXPECTED, BUSY) as (entries, _):
        if cut:
            tell_of_cut(output)
        old = list(zip(entries, read_times(output), strict=True))
        after = merged([*old, *(entry for each in found for entry in each.entries)])
        write_results(output, after)
    return [entry for entry, _ in after], len(merged(old))
