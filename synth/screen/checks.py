"""The tables of ``synth check`` and of ``synth compile --check-translation``, and the findings below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click
from rich.table import Table
from rich.text import Text

from corpus.errors import one_line, printable
from synth.checking.account import CheckedKernel
from synth.checking.questions import CheckAnswer
from synth.screen.console import plain_table, print_table, printable_lines, screen
from synth.translation.account import HEADS, finding_lines, table_rows, verdict_line
from synth.translation.compiled import CheckedTranslation, models_of
from synth.translation.suites import is_finding

_COLOURS = {CheckAnswer.SAFE: "green", CheckAnswer.FOUND: "red", CheckAnswer.ERROR: "red"}


MOST_TOLD = 1
"""The findings about translations that are explained."""


def print_checks(checked: Sequence[CheckedKernel]) -> None:
    """Print a table with a row for each answer, and the lines below it."""
    table, lines = table_of(checked)
    console = screen(120 + max((len(each.name) for each in checked), default=0))
    print_table(console, table)
    for line in lines:
        console.print(line, markup=False)


def table_of(every: Sequence[CheckedKernel]) -> tuple[Table, list[str]]:
    """Return a table with a row for each answer, and the lines below it: how many there are, and what has no answer."""
    models = len({each.model for each in every if each.model}) > 1
    table = plain_table("file", "kernel", "launch", *(("model",) if models else ()), "answer", "progress")
    table.columns[0].overflow = "fold"  # a name that is cut short names no file
    table.add_column("s", justify="right")
    for each in every:
        words = Text(each.words, _COLOURS.get(each.answer, "yellow"))
        names = [each.file, each.kernel, each.launch, *((each.model,) if models else ())]
        table.add_row(
            *map(Text, map(printable, names)), words, each.needs, "" if each.seconds is None else f"{each.seconds:.1f}"
        )
    counts = Counter(each.answer for each in every)
    lines = [", ".join(f"{counts[answer]} {answer}" for answer in CheckAnswer if counts[answer])]
    unanswered = [each for each in every if each.problem and each.answer is not CheckAnswer.ERROR]
    lines += [line for each in unanswered for line in each.lines]
    return table, lines + [f"{each.name}: no answer: {reason}" for each in every for reason in each.reasons]


def print_translations(checked: Sequence[CheckedTranslation]) -> None:
    """Print a table of tests through compilers, and each test that has got weaker, in a line."""
    table = plain_table(*HEADS)
    for row in table_rows(checked):
        table.add_row(*row)
    print_table(screen(), table)
    for number, finding in enumerate(filter(is_finding, checked)):
        _print_finding(finding, whole=number < MOST_TOLD)


def _print_finding(finding: CheckedTranslation, whole: bool) -> None:
    """Print a finding in one line, and why it is one where it is to be told ``whole``."""
    task, judged = finding.task, finding.judged
    assert judged is not None
    place = " ".join(filter(None, (task.compiler.name, task.level)))
    click.echo(one_line(f"{task.name}, {place}: {verdict_line(judged)}"))
    if whole and finding.before is not None and finding.after is not None:
        for line in finding_lines(finding.before, finding.after, models_of(*task.model_names), judged):
            click.echo(printable_lines(line))
