"""The tables of ``synth label``: a mark for each test and model, or all that one model says of each test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from corpus.errors import printable
from synth.interruption import until_interrupted
from synth.labels import ERROR, UNKNOWN, Labelling, Labels, ModelAnswer
from synth.screen.console import plain_table, print_table, screen

MARKS = {
    "ALLOWED": ("A", "green"),
    "FORBIDDEN": ("F", "red"),
    "TERMINATES": ("T", "green"),
    "MAY_HANG": ("H", "red"),
    UNKNOWN: ("?", "yellow"),
}
"""The letters and colours of the verdicts of both families in a table."""


def print_labels(labelling: Labelling, labelled: Iterable[Labels]) -> None:
    """Print the table when all labels are known, for its columns are as wide as their cells.

    Where labelling is interrupted, the part that is known is printed.
    """
    for known in until_interrupted(labelled):
        table = _detailed(labelling, known) if labelling.details else _marked(labelling.heads, known)
        # Wide enough for the longest row where output is no terminal.
        console = screen(120 + max((len(labels.file) for labels in known), default=0) + 12 * len(labelling.names))
        print_table(console, table)
        for line in labelling.legend(known):
            console.print(line, markup=False)


def _marked(heads: Sequence[str], labelled: Iterable[Labels]) -> Table:
    """Return a table with one line for each test and one mark for each model.

    A mark is the letter of the verdict, with ``*`` where a flag is raised, and ``<`` where loops were cut.
    """
    table = plain_table("test")
    for head in heads:
        table.add_column(head, justify="center", no_wrap=True)
    for labels in labelled:
        marks = [Text(ERROR, "red")] * len(heads) if labels.error else [_mark(label) for label in labels.labels]
        table.add_row(Text(printable(labels.file)), *marks)
    return table


def _mark(label: ModelAnswer) -> Text:
    letter, colour = MARKS[label.verdict]
    if (judgement := label.judgement) is not None:
        return Text(letter + "*" * bool(judgement.flags) + "<" * judgement.provisional, colour)
    return Text(letter + "<" * (label.provisional and label.verdict != UNKNOWN), colour)


def _detailed(labelling: Labelling, labelled: Iterable[Labels]) -> Table:
    """Return a table with one line for each test, which tells all that the only model says of it."""
    table = plain_table("test")
    for column in labelling.details:
        table.add_column(column, no_wrap=True)
    for labels in labelled:
        row = [Text(ERROR, "red")] if labels.error else _details(labelling, labels.labels[0])
        table.add_row(Text(printable(labels.file)), *row)
    return table


def _details(labelling: Labelling, label: ModelAnswer) -> list[Text]:
    verdict, *others = labelling.detail_cells(label)
    return [Text(verdict, MARKS[label.verdict][1]), *map(Text, others)]
