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

from backends.code_languages import TEST_COMPILERS
from corpus.errors import InputError
from corpus.lines import LineFile
from synth import VERSION
from synth.growing_file import WholeLines, begun, digest_of
from synth.inputs import Input, read_all
from synth.pool import Jobs
from synth.translation.account import checked_record
from synth.translation.compiled import CheckedTranslation, TranslationTask, check_all_compiled
from synth.translation.judging import JudgedTranslation, TranslationVerdict
from synth.worker import Limits

RESULTS = "translation.jsonl"
"""The file of the verdicts."""

LIMITS = Limits(60.0, 4096)
"""What a test may take at one compiler and level: seconds, and megabytes."""


def missing_compilers(backend: str) -> dict[str, list[str]]:
    """Return the names of a back end's compilers that are not here, each with what it needs."""
    lacking = {compiler.name: list(compiler.missing()) for compiler in TEST_COMPILERS.get(backend, ())}
    return {name: needs for name, needs in lacking.items() if needs}


def tasks_of(files: Sequence[Input], backend: str, models: tuple[str, str] = ("", "")) -> list[TranslationTask]:
    """Return the tasks of tests: each by each compiler of a back end that this machine has, at each of its levels.

    A remark names each file that is no test. Raises ``InputError`` where no compiler is there, or no file a test.
    """
    if backend not in TEST_COMPILERS:
        known = ", ".join(TEST_COMPILERS)
        raise InputError(f"--check-translation: the code of {known} is read back, and not that of {backend}")
    every = enumerate(TEST_COMPILERS[backend])
    compilers = {number: compiler for number, compiler in every if not compiler.missing()}
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
    texts = digest_of((file.name, file.text()) for file in files)
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
) -> list[CheckedTranslation]:
    """Check tasks, write a line of ``RESULTS`` as each comes to its end, and return all.

    ``known`` are the lines of the first tasks, which the file has; of these only findings are looked at again, to be
    told. Raises ``InputError`` where another process writes the file.
    """
    checked = list[CheckedTranslation]()
    for task, record in zip(tasks, known, strict=False):
        found = _recalled(task, record)
        checked += check_all_compiled([task], jobs, limits) if is_finding(found) else [found]
    with LineFile.open(output / RESULTS, "another process writes it") as lines:
        lines.cut((output / RESULTS).stat().st_size if known else 0)
        for answer in check_all_compiled(tasks[len(known) :], jobs, limits):
            lines.append([json.dumps(checked_record(answer), ensure_ascii=False).encode()])
            checked.append(answer)
    return checked


def is_finding(checked: CheckedTranslation) -> bool:
    """Return whether a translation is weaker than its test."""
    return checked.judged is not None and checked.judged.verdict is TranslationVerdict.WEAKER
