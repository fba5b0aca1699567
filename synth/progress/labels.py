"""``synth label`` for progress tests: verdicts, over processes, as table or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import repeat

from rich.console import Console
from rich.table import Table
from rich.text import Text

from corpus.progress.text import parse_axb
from corpus.test import Test
from oracle.progress.models import ProgressModel, Verdict, verdicts
from oracle.progress.plugins import resolve_models
from synth.inputs import expand
from synth.screen import watched

_PARALLEL_FROM = 500
"""Fewer tests than this are labelled sooner than a process has started."""


def named_tests(inputs: Sequence[str]) -> Iterator[tuple[str, Test]]:
    """The tests of each input with the names that the user knows them by: the file's, or in a corpus the test's."""
    for given in expand(inputs):
        yield given.label, given.axb()


def label_tests(tests: Sequence[tuple[str, Test]], models: tuple[str, ...], jobs: int) -> list[list[str]]:
    """The verdicts of each named test, in the order of the models."""
    names, texts = [name for name, _ in tests], [test.text for _, test in tests]
    if jobs == 1 or len(texts) < _PARALLEL_FROM:
        return list(watched(map(_verdicts, names, texts, repeat(models)), len(texts), "Labelling"))
    with ProcessPoolExecutor(jobs) as pool:
        chunk = min(1000, -(-len(texts) // (4 * jobs)))
        answers = pool.map(_verdicts, names, texts, repeat(models), chunksize=chunk)
        return list(watched(answers, len(texts), "Labelling"))


def _verdicts(name: str, text: str, models: tuple[str, ...]) -> list[str]:
    return [str(verdict) for verdict in verdicts(parse_axb(text, name), _resolved(models)).values()]


@cache
def _resolved(models: tuple[str, ...]) -> list[ProgressModel]:
    # Models travel to other processes by name, for a guarantee from a user's file cannot be sent.
    return resolve_models(models)


def labels_csv(rows: Sequence[tuple[str, list[str]]], names: Sequence[str]) -> str:
    """One line a verdict: ``file,model,verdict``."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["file", "model", "verdict"])
    for file, row in rows:
        writer.writerows((file, name, verdict) for name, verdict in zip(names, row, strict=True))
    return out.getvalue()


def print_table(rows: Sequence[tuple[str, list[str]]], names: Sequence[str]) -> None:
    """One line a test, one column a model: ``T`` where it terminates, ``H`` where it may hang."""
    console = Console(highlight=False)
    table = Table("test", box=None, pad_edge=False, header_style="bold")
    for name in names:
        base, _, reading = name.rpartition("-")
        table.add_column(f"{base}\n{reading}", justify="center", no_wrap=True)
    for file, row in rows:
        marks = [Text("H", "red") if verdict == Verdict.MAY_HANG else Text("T", "green") for verdict in row]
        table.add_row(Text(file), *marks)
    if not console.is_terminal:
        console.width = max(console.width, 40 + max(len(file) for file, _ in rows) + 9 * len(names)) if rows else 80
    console.print(table)
    console.print("T terminates, H may hang")
