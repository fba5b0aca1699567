"""``synth label`` for litmus tests: files to verdicts, over processes, and the verdicts as table, CSV or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat

import click
from rich.table import Table
from rich.text import Text

from corpus.errors import InputError
from corpus.litmus.normal import litmus_digest
from corpus.litmus.verdict_table import Verdict, print_verdicts, truth_text
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer, Judgement
from synth.inputs import Input
from synth.memory.judging import judge_with
from synth.screen import table_console, watched

ERROR = "ERROR"
"""The verdict on a file that is no test."""

_PARALLEL_FROM = 100
"""Fewer tests than this are labelled sooner than a process has started."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What the models say of a file, in their order; or why nothing can be said of it."""

    file: str
    digest: str = ""
    judgements: tuple[Judgement, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of each file; ``digests``: its digest as well. Models travel to other processes by name."""

    models: tuple[str, ...]
    method: str
    unroll: int
    digests: bool = False


def label_files(files: Sequence[Input], question: Question, jobs: int) -> Iterator[Labels]:
    """The labels of every file, in their order."""
    if jobs == 1 or len(files) < _PARALLEL_FROM:
        yield from watched(map(_label, files, repeat(question)), len(files), "Labelling")
        return
    with ProcessPoolExecutor(jobs) as pool:
        chunk = min(100, -(-len(files) // (4 * jobs)))
        yield from watched(pool.map(_label, files, repeat(question), chunksize=chunk), len(files), "Labelling")


def _label(file: Input, question: Question) -> Labels:
    try:
        test = file.litmus()
        models = resolve_consistency_models(question.models)
        judgements = tuple(judge_with(test, model, question.method, question.unroll) for model in models)
    except InputError as error:
        return Labels(str(file), error=str(error) if error.path else f"{file}: {error}")
    return Labels(str(file), litmus_digest(test) if question.digests else "", judgements)


def exit_code(labelled: Sequence[Labels], names: Sequence[str]) -> int:
    """2 where a file is no test, or a model can say nothing of any test; else 0. Tells of both on standard error."""
    code = 0
    for labels in labelled:
        if labels.error:
            click.echo(f"synth: {labels.error}", err=True)
            code = 2
    good = [labels for labels in labelled if not labels.error]
    for number, name in enumerate(names):
        reasons = {
            labels.file: labels.judgements[number].reason
            for labels in good
            if labels.judgements[number].answer is Answer.UNKNOWN
        }
        if reasons:
            file, reason = next(iter(reasons.items()))
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            click.echo(f"synth: {name} has no verdict on {file}{more}: {reason}", err=True)
            code = 2 if len(reasons) == len(good) else code
    return code


def verdict_text(judgement: Judgement, unroll: int) -> str:
    """ALLOWED, FORBIDDEN or UNKNOWN; what holds only within the bound of loops says so."""
    if judgement.provisional:
        return f"{judgement.answer} (unroll {unroll})"
    return judgement.answer


def labels_csv(labelled: Sequence[Labels], names: Sequence[str], unroll: int) -> str:
    """One line a verdict: ``file,model,verdict,condition``."""
    return print_verdicts(row for labels in labelled for row in _verdicts(labels, names, unroll))


def _verdicts(labels: Labels, names: Sequence[str], unroll: int) -> Iterator[Verdict]:
    if labels.error:
        yield from (Verdict(labels.file, name, ERROR, None) for name in names)
    for name, judgement in zip(names, labels.judgements, strict=False):
        yield Verdict(labels.file, name, verdict_text(judgement, unroll), judgement.condition)


def labels_json(labels: Labels, names: Sequence[str], unroll: int) -> str:
    """One object a test."""
    if labels.error:
        return json.dumps({"file": labels.file, "error": labels.error})
    verdicts = {
        name: _judgement_record(judgement, unroll) for name, judgement in zip(names, labels.judgements, strict=True)
    }
    return json.dumps({"file": labels.file, "digest": labels.digest, "verdicts": verdicts})


def _judgement_record(judgement: Judgement, unroll: int) -> Mapping[str, object]:
    record: dict[str, object] = {
        "verdict": judgement.answer,
        "condition": judgement.condition,
        "executions": judgement.executions,
        "matching": judgement.matching,
        "flags": list(judgement.flags),
        "unroll": unroll if judgement.bounded else None,
    }
    return record | ({"reason": judgement.reason} if judgement.reason else {})


_MARKS = {
    Answer.ALLOWED: ("A", "green"),
    Answer.FORBIDDEN: ("F", "red"),
    Answer.UNKNOWN: ("?", "yellow"),
}


def print_table(labelled: Sequence[Labels], names: Sequence[str], unroll: int) -> None:
    """One line a test: of one model all that it says, of several a letter each."""
    console = table_console(120 + max((len(labels.file) for labels in labelled), default=0) + 12 * len(names))
    table = Table("test", box=None, pad_edge=False, header_style="bold")
    if len(names) == 1:
        for column in ("verdict", "condition", "executions", "matching", "flags"):
            table.add_column(column, no_wrap=True)
    else:
        for name in names:
            table.add_column(name, justify="center", no_wrap=True)
    for labels in labelled:
        if labels.error:
            table.add_row(Text(labels.file), *[Text(ERROR, "red")] * len(names))
        elif len(names) == 1:
            table.add_row(Text(labels.file), *_row(labels.judgements[0], unroll))
        else:
            table.add_row(Text(labels.file), *(_mark(judgement) for judgement in labels.judgements))
    console.print(table)
    for line in _legend(labelled, names, unroll):
        console.print(line, markup=False)


def _row(judgement: Judgement, unroll: int) -> Iterator[Text]:
    yield Text(verdict_text(judgement, unroll), _MARKS[judgement.answer][1])
    yield Text(truth_text(judgement.condition))
    for count in (judgement.executions, judgement.matching):
        yield Text("" if count is None else str(count))
    yield Text(", ".join(judgement.flags))


def _mark(judgement: Judgement) -> Text:
    letter, colour = _MARKS[judgement.answer]
    return Text(letter + "*" * bool(judgement.flags) + "<" * judgement.provisional, colour)


def _legend(labelled: Sequence[Labels], names: Sequence[str], unroll: int) -> Iterator[str]:
    every = [judgement for labels in labelled for judgement in labels.judgements]
    if len(names) > 1:
        yield "A allowed, F forbidden, ? no verdict"
    if any(judgement.provisional for judgement in every):
        yield f"{'< ' if len(names) > 1 else ''}loops were cut after {unroll} jumps back: more may be allowed beyond"
    flags = sorted({flag for judgement in every for flag in judgement.flags})
    if flags and len(names) > 1:
        yield f"* a flag is raised: {', '.join(flags)}"
