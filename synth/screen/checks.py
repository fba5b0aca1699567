"""The table of ``synth check``, and the lines below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from corpus.errors import printable
from synth.checking.account import CheckedKernel
from synth.checking.questions import CheckAnswer
from synth.screen.console import plain_table, print_table, screen

_COLOURS = {CheckAnswer.SAFE: "green", CheckAnswer.FOUND: "red", CheckAnswer.ERROR: "red"}


def print_checks(checked: Sequence[CheckedKernel]) -> None:
    """Print a table with a row for each answer, and the lines below it."""
    table, lines = table_of(checked)
    console = screen(120 + max((len(row.name) for row in checked), default=0))
    print_table(console, table)
    for line in lines:
        console.print(line, markup=False)


def table_of(every: Sequence[CheckedKernel]) -> tuple[Table, list[str]]:
    """Return a table with a row for each answer, and the lines below it: how many there are, and what has no answer."""
    models = len({row.model for row in every if row.model}) > 1
    table = plain_table("file", "kernel", "launch", *(("model",) if models else ()), "answer", "progress")
    table.columns[0].overflow = "fold"  # a name that is cut short names no file
    table.add_column("s", justify="right")
    for row in every:
        words = Text(row.words, _COLOURS.get(row.answer, "yellow"))
        names = [row.file, row.kernel, row.launch, *((row.model,) if models else ())]
        table.add_row(
            *map(Text, map(printable, names)), words, row.needs, "" if row.seconds is None else f"{row.seconds:.1f}"
        )
    counts = Counter(row.answer for row in every)
    lines = [", ".join(f"{counts[answer]} {answer}" for answer in CheckAnswer if counts[answer])]
    unanswered = [row for row in every if row.problem and row.answer is not CheckAnswer.ERROR]
    lines += [line for row in unanswered for line in row.lines]
    return table, lines + [f"{row.name}: no answer: {reason}" for row in every for reason in row.reasons]
