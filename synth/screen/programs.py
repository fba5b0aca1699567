"""What ``synth compile``, ``convert`` and ``export`` say of the files that they have written, and of their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from corpus.errors import one_line, printable
from synth.compilation import CheckedPrograms, WrittenPrograms
from synth.folders import WrittenTests
from synth.screen.console import plain_table, print_table, printable_lines, screen

if TYPE_CHECKING:  # what reads code back is loaded where translations are checked
    from synth.translation.compiled import CheckedTranslation


def print_left_out(name: str, reason: str) -> None:
    """Print that a language cannot say a test."""
    click.echo(one_line(f"{name}: {reason}"), err=True)


def print_written_programs(written: WrittenPrograms) -> None:
    """Print how many programs were written, and where they are."""
    click.echo(printable(f"{written.counted} in {', '.join(map(str, written.places))}"), err=True)


def print_checked_programs(checked: CheckedPrograms) -> None:
    """Print what is wrong with programs, and how many compile."""
    for name, problem in checked.problems:
        click.echo(printable_lines(f"{name}: {problem}"), err=True)
    click.echo(f"{checked.compiled} of {checked.total} compile", err=True)
    if checked.check:
        click.echo(f"{checked.passed} of {checked.compiled} pass {checked.check}", err=True)
        for name, number in checked.counts.items():
            click.echo(f"{name}: {number}", err=True)


def print_written_tests(written: WrittenTests) -> None:
    """Print how many tests were written, and where; on standard error where some are left out."""
    of = f" of {written.total}" if written.total is not None else ""
    click.echo(f"{written.count}{of} tests in {printable(str(written.folder))}", err=not written.complete)


MOST_TOLD = 1
"""The findings about translations that are explained."""


def print_translations(checked: Sequence[CheckedTranslation]) -> None:
    """Print a table of tests through compilers, and each test that has got weaker, in a line."""
    from synth.translation.account import HEADS, table_rows
    from synth.translation.suites import is_finding

    table = plain_table(*HEADS)
    for row in table_rows(checked):
        table.add_row(*row)
    print_table(screen(), table)
    for number, finding in enumerate(filter(is_finding, checked)):
        _print_finding(finding, whole=number < MOST_TOLD)


def _print_finding(finding: CheckedTranslation, whole: bool) -> None:
    """Print a finding in one line, and why it is one where it is to be told ``whole``."""
    from synth.translation.account import finding_lines, verdict_line

    task, judged = finding.task, finding.judged
    assert judged is not None
    place = " ".join(filter(None, (task.compiler.name, task.level)))
    click.echo(one_line(f"{task.name}, {place}: {verdict_line(judged)}"))
    if whole and finding.before is not None and finding.after is not None:
        for line in finding_lines(finding.before, finding.after, finding.models, judged):
            click.echo(printable_lines(line))
