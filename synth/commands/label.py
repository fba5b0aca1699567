"""``synth label``: what every model says of every test."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import repeat
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from corpus.axb_text import parse_axb
from corpus.store import is_corpus
from corpus.test import Test
from oracle.plugins import resolve_models
from oracle.progress import ProgressModel, Verdict, verdicts
from synth.inputs import load_tests
from synth.model_option import model_option
from synth.pool import cores

_PARALLEL_FROM = 500
"""Fewer tests than this are labelled sooner than a process has started."""


@click.command(name="label")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER|CORPUS...", type=click.Path())
@model_option()
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="csv: one line a verdict, file,model,verdict. json: one object a test.",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes.  [default: one a core]")
def command(inputs: tuple[str, ...], models: tuple[str, ...], form: str, jobs: int | None) -> None:
    """Say what every model says of a test: TERMINATES or MAY_HANG.

    The inputs are .axb files, folders of them, and corpora. Verdicts are always computed anew, never taken from a
    corpus. A test of a corpus goes by its name, any other by its file.

    \b
    Examples:
      synth label examples/progress/*.axb
      synth label suite --format csv > labels.csv
      synth label examples/progress/mutex.axb --model obe --model hsa-strong
      synth label suite --model my_scheduler.py --format json -j 2

    A Python file defines a model of your own. This one promises execution to the last thread that has not ended:

    \b
      NAME = "last"
      def guarantee(running, stepped):  # masks of threads: not ended, have stepped
          return 1 << running.bit_length() >> 1

    See docs/oracle.md for what the models promise and how verdicts are defined.
    """
    names = [model.name for model in resolve_models(models)]
    tests = list(_named_tests(inputs))
    rows = _label(tests, models, jobs or cores())
    labelled = list(zip(tests, rows, strict=True))
    if form == "csv":
        click.echo(_csv(((file, row) for (file, _), row in labelled), names), nl=False)
    elif form == "json":
        for (file, test), row in labelled:
            record = {"file": file, "digest": test.digest, "bound": test.bound}
            click.echo(json.dumps({**record, "verdicts": dict(zip(names, row, strict=True))}))
    else:
        _print_table([(file, row) for (file, _), row in labelled], names)


def _named_tests(inputs: Sequence[str]) -> Iterator[tuple[str, Test]]:
    for given in inputs:
        folder = Path(given)
        for test in load_tests([given]):
            if not folder.is_dir():
                yield given, test
            elif is_corpus(folder):
                yield test.name, test
            else:
                yield str(folder / f"{test.name}.axb"), test


def _label(tests: Sequence[tuple[str, Test]], models: tuple[str, ...], jobs: int) -> list[list[str]]:
    """The verdicts of each named test, in the order of the models."""
    names, texts = [name for name, _ in tests], [test.text for _, test in tests]
    if jobs == 1 or len(texts) < _PARALLEL_FROM:
        return _watched(map(_verdicts, names, texts, repeat(models)), len(texts))
    with ProcessPoolExecutor(jobs) as pool:
        chunk = min(1000, -(-len(texts) // (4 * jobs)))
        return _watched(pool.map(_verdicts, names, texts, repeat(models), chunksize=chunk), len(texts))


def _watched(answers: Iterable[list[str]], total: int) -> list[list[str]]:
    """The answers, with a progress bar where a person watches."""
    screen = Console(stderr=True)
    return list(track(answers, "Labelling", total, console=screen, transient=True, disable=not screen.is_terminal))


def _verdicts(name: str, text: str, models: tuple[str, ...]) -> list[str]:
    return [str(verdict) for verdict in verdicts(parse_axb(text, name), _resolved(models)).values()]


@cache
def _resolved(models: tuple[str, ...]) -> list[ProgressModel]:
    # Models travel to other processes by name, for a guarantee from a user's file cannot be sent.
    return resolve_models(models)


def _csv(rows: Iterator[tuple[str, list[str]]], names: Sequence[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["file", "model", "verdict"])
    for file, row in rows:
        writer.writerows((file, name, verdict) for name, verdict in zip(names, row, strict=True))
    return out.getvalue()


def _print_table(rows: Sequence[tuple[str, list[str]]], names: Sequence[str]) -> None:
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
