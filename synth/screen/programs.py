"""What ``synth compile``, ``convert`` and ``export`` say of the files that they have written, on standard error."""

from __future__ import annotations

import click

from corpus.errors import one_line, printable
from synth.compilation import CheckedPrograms, WrittenPrograms
from synth.folders import WrittenTests
from synth.screen.console import printable_lines


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
