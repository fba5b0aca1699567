"""Answers about kernels as rows, one for each kernel with a launch and a model: CSV, and JSON a line.

Rows of CSV and JSON have no times, so the same files give the same bytes. They can be read again, so that a run goes on
behind those that a file has (``synth.growing_file``).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from corpus.comma_separated import cells, csv_line
from corpus.errors import InputError, printable
from corpus.files import read_text
from synth.checking.account import CheckedKernel, line_row, named, own_lines, removed_lines
from synth.checking.questions import CheckAnswer
from synth.growing_file import WholeLines, begun

CSV, JSONL = "csv", "jsonl"
"""The forms of which a row is a line."""

COLUMNS = ("file", "kernel", "launch", "model", "answer", "what", "unroll", "progress", "lines", "removed", "problem")
"""The heads of the columns of CSV.

``what`` has the kinds of what is found, or the questions without an answer, or those that are not asked; ``unroll``
how far loops were followed, if there may be more beyond; ``lines`` the source lines of what is found; ``removed`` those
of accesses that the compiled code has not; ``problem`` why there is no answer, or why some questions have none.
"""


def header_of(form: str) -> str:
    """Return the header line of a form, which is empty where it has none."""
    return csv_line(COLUMNS) if form == CSV else ""


def accounts(answers: Iterable[CheckedKernel]) -> Iterator[str]:
    """Yield the accounts of answers as text, each as it comes; launches of one kernel in which all is safe, or one
    thing is not understood, have one account, which comes behind the last of them.

        file.cu: kernel, 2x1, 1x2, 1x2 warps of 1: SAFE under ptx
    """
    alike: list[CheckedKernel] = []
    try:
        for answer in answers:
            if alike and _text_without_launch(answer) != _text_without_launch(alike[0]):
                yield _account(alike)
                alike = []
            if _text_without_launch(answer):
                alike.append(answer)
            else:
                yield _account([answer])
    except KeyboardInterrupt:  # what is known is said
        if alike:
            yield _account(alike)
        raise
    if alike:
        yield _account(alike)


def _text_without_launch(checked: CheckedKernel) -> tuple[object, ...]:
    """Return what is said of a kernel but for its launch, where other launches may have the same; else nothing."""
    if checked.answer not in (CheckAnswer.SAFE, CheckAnswer.NOT_UNDERSTOOD) or not checked.lines:
        return ()
    return (checked.file, checked.kernel, checked.lines[0].removeprefix(checked.name), *checked.lines[1:])


def _account(alike: Sequence[CheckedKernel]) -> str:
    """Return the account of answers of one kernel that differ in nothing but the launch."""
    first, lines = alike[0], list(alike[0].lines)
    if len(alike) > 1:
        launches = ", ".join(row.launch.replace(",", "") for row in alike)
        lines[0] = named(first.file, first.kernel, launches) + lines[0].removeprefix(first.name)
    return "".join(f"{printable(line)}\n" for line in lines)


def check_row(checked: CheckedKernel) -> dict[str, Any]:
    """Return an answer as plain data: the row of ``--json``, and of a file of answers."""
    row = {
        **names_row(checked.file, checked.kernel, checked.launch, checked.model),
        "answers": dict(checked.answers),
        "hang": dict(checked.hang),
    }
    findings = {"findings": [finding.row for finding in checked.findings], "assumed": list(checked.assumed)}
    removed = (
        None if checked.removed is None else [{"kind": part.kind, **line_row(part.source)} for part in checked.removed]
    )
    if checked.problem:
        return {**row, **findings, "removed": None, "problem": checked.problem}
    known = {"bounded": checked.bounded, "reasons": list(checked.reasons)}
    return {**row, "needs": checked.needs, **findings, **known, "removed": None if checked.removed is None else removed}


def names_row(file: str, kernel: str, launch: str, model: str) -> dict[str, str]:
    """Return of what a row is: a kernel of a file with a launch, under a model."""
    return {"file": file, "kernel": kernel, "launch": launch, "model": model}


def lines_of(checked: CheckedKernel, form: str) -> str:
    """Return an answer as a row of CSV, or a line of JSON."""
    if form == JSONL:
        return f"{json.dumps(check_row(checked))}\n"
    names = (printable(checked.file), checked.kernel, checked.launch, checked.model)
    found = (str(checked.answer), ", ".join(checked.kinds), "" if checked.bounded is None else checked.bounded)
    lines = printable(", ".join(own_lines(checked.findings)))
    removed = printable(", ".join(removed_lines(checked.removed or ())))
    return csv_line([*names, *found, checked.needs, lines, removed, checked.unknown])


def known_answers(path: Path) -> list[CheckedKernel]:
    """Return the answers in CSV that an earlier run has written. Raises ``InputError`` where it is no such file."""
    try:
        first, *rows = [*csv.reader(read_text(path).splitlines(keepends=True))] or [[]]
    except csv.Error as error:
        raise InputError(f"expected csv: {error}", str(path)) from None
    if tuple(first) != COLUMNS:
        raise InputError(f"expected answers of synth check as csv, with the head {','.join(COLUMNS)}", str(path))
    found = []
    for number, row in enumerate(rows, 2):
        if len(row) != len(COLUMNS):
            raise InputError(f"expected {len(COLUMNS)} cells, found {len(row)}", str(path), number)
        try:
            found.append(_of_cells(row))
        except ValueError:
            raise InputError(f"expected an answer, found {row[4]!r}", str(path), number) from None
    return found


def known_rows(
    path: Path, request: Mapping[str, Any], form: str, files: Sequence[str]
) -> list[tuple[str, list[CheckedKernel]]]:
    """Return the files whose answers a file has, in the order of ``files``, each with its answers.

    The last file in it may have more answers, so it is not among them. Of each answer no more is known than of a row of
    CSV. A file that is not there is begun. Raises ``InputError`` where a line is no answer, and where the file is of
    another request or cannot be made.
    """
    read = partial(_read, form=form, files=files)
    return begun(path, request, header_of(form), read, "the answers about the files in their order")


def _read(lines: WholeLines, form: str, files: Sequence[str]) -> Iterator[tuple[tuple[str, list[CheckedKernel]], int]]:
    """Yield each file with its answers, and the offset of the end of their lines, as soon as another file begins."""
    rows = map(_of_record, map(json.loads, lines)) if form == JSONL else map(_of_cells, csv.reader(lines))
    names = {name if form == JSONL else printable(name): name for name in files}
    left = iter(names)
    current, group, end = "", list[CheckedKernel](), lines.end
    for row in rows:
        if row.file != current:
            if group:
                yield (names[current], group), end
            if row.file not in left:  # which goes on behind it
                raise ValueError
            current, group = row.file, []
        group.append(row)
        end = lines.end


def _of_record(record: Mapping[str, Any]) -> CheckedKernel:
    answers = list(map(CheckAnswer, record["answers"].values()))
    worst = CheckAnswer.FOUND if record["findings"] else max(answers, key=list(CheckAnswer).index)
    problem = str(record.get("problem", ""))
    return CheckedKernel(record["file"], record["kernel"], record["launch"], record["model"], worst, problem=problem)


def _of_cells(row: Sequence[str]) -> CheckedKernel:
    file, kernel, launch, model, answer, what, *_, problem = cells(row)
    kinds = tuple(what.split(", ")) if what else ()
    return CheckedKernel(file, kernel, launch, model, CheckAnswer(answer), kinds, problem=problem)
