"""Tests of a suite through every compiler of a back end, for ``synth compile --check-translation``.

``translation.jsonl`` in the output folder has a line for each test, compiler and level: the verdict, the outcomes that
are added or lost, and the reason where there is no verdict. It holds no times, so that it is the same each time. A run
that is stopped goes on behind the lines that the file has; ``translation.jsonl.request.json`` says what was asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from backends.code_languages import TEST_COMPILERS
from corpus.errors import InputError, one_line
from corpus.lines import LineFile
from synth import VERSION
from synth.growing_file import WholeLines, begun, digest_of
from synth.inputs import Input, read_all
from synth.pool import Jobs
from synth.screen.console import plain_table, print_table, printable_lines, screen
from synth.translation.account import HEADS, checked_record, finding_lines, table_rows, verdict_line
from synth.translation.compiled import CheckedTranslation, TranslationTask, check_all_compiled, models_of
from synth.translation.judging import JudgedTranslation, TranslationVerdict
from synth.worker import Limits

RESULTS = "translation.jsonl"
"""The file of the verdicts."""

MOST_TOLD = 1
"""The findings that are explained."""

LIMITS = Limits(60.0, 4096)
"""What a test may take at one compiler and level: seconds, and megabytes."""


def tasks_of(files: Sequence[Input], backend: str, models: tuple[str, str] = ("", "")) -> list[TranslationTask]:
    """Return the tasks of tests: each by each compiler of a back end that this machine has, at each of its levels.

    A line on stderr names each compiler that is not there, and each file that is no test. Raises ``InputError`` where
    no compiler is there, or no file a test.
    """
    if backend not in TEST_COMPILERS:
        known = ", ".join(TEST_COMPILERS)
        hint = "; --check with --sequences reads it" if backend == "hip" else ""
        raise InputError(f"--check-translation: the code of {known} is read back, and not that of {backend}{hint}")
    compilers = {}
    for number, compiler in enumerate(TEST_COMPILERS[backend]):
        lacking = compiler.missing()
        if lacking:
            click.echo(f"{compiler.name} is left out; it needs {' and '.join(lacking)}", err=True)
        else:
            compilers[number] = compiler
    if not compilers:
        raise InputError(f"--check-translation: no compiler of {backend} is here whose code is read back")
    tests, _ = read_all(files, Input.litmus)
    return [
        TranslationTask(given.name, test, backend, number, level, models)
        for number, compiler in compilers.items()
        for level in compiler.levels
        for given, test in tests.items()
    ]


def request_of(files: Sequence[Input], backend: str) -> dict[str, Any]:
    """Return what is asked of tests, with a digest of their texts."""
    texts = digest_of((each.name, each.text()) for each in files)
    return {"backend": backend, "version": VERSION, "tests": texts, "models": {}}


def known_verdicts(tasks: Sequence[TranslationTask], output: Path, request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the lines that an earlier run has left in a folder, which are of the first tasks; what is cut is dropped.

    Raises ``InputError`` where the folder is that of another request.
    """

    def read(lines: WholeLines) -> Iterator[tuple[dict[str, Any], int]]:
        left = iter(tasks)
        for record in map(json.loads, lines):
            task = next(left, None)
            if task is None or (record["test"], record["compiler"], record["level"]) != _names(task):
                raise ValueError
            yield record, lines.end

    return begun(output / RESULTS, request, "", read, "the verdicts of the tests in their order")


def _names(task: TranslationTask) -> tuple[str, str, str]:
    return task.name, task.compiler.name, task.level


def _recalled(task: TranslationTask, record: Mapping[str, Any]) -> CheckedTranslation:
    """Return what a line says of a task, without its outcomes."""
    if "verdict" not in record:
        return CheckedTranslation(task, None, reason=record["cannot_say"])
    return CheckedTranslation(task, JudgedTranslation(TranslationVerdict(record["verdict"]), reason=record["reason"]))


def check_suite(
    tasks: Sequence[TranslationTask],
    output: Path,
    jobs: Jobs,
    limits: Limits = LIMITS,
    known: Sequence[Mapping[str, Any]] = (),
) -> bool:
    """Check tasks: write a line of ``RESULTS`` as each comes to its end, and print a table and each finding.

    ``known`` are the lines of the first tasks, which the file has; of these only findings are looked at again, to be
    told. Returns whether nothing is weaker. Raises ``InputError`` where another process writes the file.
    """
    checked = list[CheckedTranslation]()
    for task, record in zip(tasks, known, strict=False):
        found = _recalled(task, record)
        weaker = found.judged is not None and found.judged.verdict is TranslationVerdict.WEAKER
        checked += check_all_compiled([task], jobs, limits) if weaker else [found]
    with LineFile.open(output / RESULTS, "another process writes it") as lines:
        lines.cut((output / RESULTS).stat().st_size if known else 0)
        for answer in check_all_compiled(tasks[len(known) :], jobs, limits):
            lines.append([json.dumps(checked_record(answer), ensure_ascii=False).encode()])
            checked.append(answer)
    table = plain_table(*HEADS)
    for row in table_rows(checked):
        table.add_row(*row)
    print_table(screen(), table)
    findings = [each for each in checked if each.judged and each.judged.verdict is TranslationVerdict.WEAKER]
    for number, each in enumerate(findings):
        _tell(each, whole=number < MOST_TOLD)
    return not findings


def _tell(finding: CheckedTranslation, whole: bool) -> None:
    """Print a finding in one line, and why it is one where it is to be told ``whole``."""
    task, judged = finding.task, finding.judged
    assert judged is not None
    place = " ".join(filter(None, (task.compiler.name, task.level)))
    click.echo(one_line(f"{task.name}, {place}: {verdict_line(judged)}"))
    if whole and finding.before is not None and finding.after is not None:
        for line in finding_lines(finding.before, finding.after, models_of(*task.model_names), judged):
            click.echo(printable_lines(line))
