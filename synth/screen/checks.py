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
