"""The forms of a report: Markdown and LaTeX for people; JSON, CSV and JUnit for programs.

Markdown and LaTeX hold the tables of ``synth.report.tables``. CSV has a row for each test and column of the report,
JSON all facts. A case of JUnit fails where what was seen contradicts a model that the reader believes in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from backends.shared.mapping import DEVICE
from corpus.comma_separated import csv_lines
from synth.inputs import PROGRESS
from synth.junit import Case, CaseOutcome, class_name, junit
from synth.mutation.kills import Machine
from synth.mutation.records import suite_record
from synth.report.evidence import Column, Evidence, ReportCell
from synth.report.tables import findings, label, strongest, tables
from synth.tables import LANGUAGES, LATEX, MARKDOWN, marked

_HEADS = (
    *("family", "test", "digest", "bound", "tags", "backend", "device", "driver", "compiler", "mapping", "placement"),
    *("profile", "stress", "seen", "runs", "rate", "low", "high", "failed", "contradicts"),
)


def markdown(found: Evidence, title: str, notes: Sequence[str]) -> str:
    """Return the report as tables in the Markdown of GitHub, with a title and notes."""
    parts = [f"# {marked(title)}"]
    if sentences := findings(found):
        parts.append("\n".join(f"- {marked(sentence.text)}" for sentence in sentences))
    parts += ("\n".join(LANGUAGES[MARKDOWN].table(table)) for table in tables(found))
    if notes:
        parts.append("\n".join(f"- {marked(note)}" for note in notes))
    return "\n\n".join(parts) + "\n"


def latex(found: Evidence, title: str, notes: Sequence[str]) -> str:
    """Return the report as tables for a paper: ``\\input`` it where booktabs is loaded."""
    language = LANGUAGES[LATEX]
    lines = [language.line(title), *language.begin]
    for table in tables(found):
        lines += ["", *language.table(table)]
    return "\n".join([*lines, *map(language.line, notes)]) + "\n"


def comma_separated(found: Evidence) -> str:
    """Return CSV with a row for each test and column; a test that was not run has a row without a device."""
    return "".join(csv_lines(_rows(found)))


def _rows(found: Evidence) -> Iterator[Sequence[object]]:
    yield _HEADS
    run = {subject for subject, _ in found.cells}
    for number, subject in enumerate(found.subjects):
        head = [subject.family, subject.test.name, subject.test.digest, subject.test.bound, " ".join(subject.test.tags)]
        if number not in run:
            yield [*head, *[""] * 15]
        for number_of_column, column in enumerate(found.columns):
            cell = found.cells.get((number, number_of_column))
            if cell is not None:
                device = column.device
                way = [column.mapping, column.placement, column.profile, "stress" if column.stress else ""]
                facts = [
                    cell.seen,
                    cell.runs,
                    *_shares(cell),
                    cell.failed,
                    " ".join(found.contradicted(number, number_of_column)),
                ]
                yield [*head, device.backend, device.device, device.driver, device.compiler, *way, *facts]


def as_json(found: Evidence, title: str, notes: Sequence[str]) -> str:
    """Return all evidence as one JSON object; tests and columns are referred to by their place in their lists."""
    record = {
        "title": title,
        "notes": list(notes),
        "findings": [sentence.text for sentence in findings(found)],
        "columns": [_column(found, number) for number in range(len(found.columns))],
        "tests": [
            {
                "family": subject.family,
                "name": subject.test.name,
                "digest": subject.test.digest,
                "bound": subject.test.bound,
                "tags": list(subject.test.tags),
                "verdicts": dict(subject.test.verdicts),
            }
            for subject in found.subjects
        ],
        "cells": [
            {
                "test": subject,
                "column": column,
                "seen": cell.seen,
                "runs": cell.runs,
                "interval": cell.interval,
                "failed": cell.failed,
                "contradicts": found.contradicted(subject, column),
            }
            for (subject, column), cell in found.cells.items()
        ],
        "models": list(_standings(found)),
        "fairness": [
            {"column": column, "fairest": strongest(found.standings([column], PROGRESS))}
            for column in found.columns_of(PROGRESS)
        ],
        "mutation": [
            {"suite": scored.suite.path.name, **suite_record(scored.suite, scored.observed, None)}
            for scored in found.scored
        ],
        "trials": [
            {"test": trial.subject, "column": trial.column, "seen": trial.seen, "runs": trial.runs}
            | {"line": msgspec.to_builtins(trial.entry)}
            for trial in found.trials
        ],
    }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def junit_xml(found: Evidence, title: str, sound: Sequence[str]) -> str:
    """Return JUnit XML with a suite for each column; a case fails where its test contradicts a model of ``sound``."""
    names = [class_name(*_machine(column.device), *_way(column)) for column in found.columns]
    suites: dict[str, list[Case]] = {name: [] for name in names}
    for (subject, column), cell in found.cells.items():
        suites[names[column]].append(_case(found, subject, column, cell, sound))
    return junit(title, suites)


def _machine(device: Machine) -> tuple[str, str, str, str]:
    return device.backend, device.device, device.driver, device.compiler


def _way(column: Column) -> tuple[str, ...]:
    """Return the way to run tests in the terms of ``synth run --junit``."""
    if column.family == PROGRESS:
        return (column.mapping,) if column.placement == DEVICE.name else (column.mapping, column.placement)
    return (column.profile or ("stress" if column.stress else "plain"),)


def _case(found: Evidence, subject: int, column: int, cell: ReportCell, sound: Sequence[str]) -> Case:
    name = found.subjects[subject].test.name
    against = [model for model in found.contradicted(subject, column) if model in sound]
    if against:
        return Case(
            name, CaseOutcome.FAILURE, f"seen in {cell.seen} of {cell.runs}, which {', '.join(against)} forbids"
        )
    doubtful = found.forbidding(subject, column) if (subject, column) in found.unconfirmed else ()
    if any(model in sound for model in doubtful):
        return Case(name, CaseOutcome.SKIPPED, f"seen in {cell.seen} of {cell.runs}; the hang is not confirmed")
    if cell.failed:
        errors = [trial.error for trial in found.trials if (trial.subject, trial.column) == (subject, column)]
        return Case(name, CaseOutcome.ERROR, next(filter(None, errors), ""))
    return Case(name)


def _column(found: Evidence, number: int) -> dict[str, Any]:
    column = found.columns[number]
    device = column.device
    return {
        "label": label(found, column),
        "family": column.family,
        "backend": device.backend,
        "device": device.device,
        "driver": device.driver,
        "compiler": device.compiler,
        "mapping": column.mapping,
        "placement": column.placement,
        "profile": column.profile,
        "stress": column.stress,
    }


def _standings(found: Evidence) -> Iterator[dict[str, Any]]:
    for family in found.families:
        for level, columns in found.levels_of(family).items():
            for standing in found.standings(columns, family):
                yield {
                    "family": family,
                    "device": label(found, level),
                    "columns": columns,
                    "model": standing.model,
                    "status": str(standing.status),
                    "forbidden": standing.forbidden,
                    "contradicting": list(standing.contradicting),
                    "allowed": standing.allowed,
                    "observed": standing.observed,
                    "unknown": standing.unknown,
                }


def _shares(cell: ReportCell) -> list[str]:
    if not cell.runs or cell.interval is None:
        return ["", "", ""]
    return [f"{share:.6g}" for share in (cell.seen / cell.runs, *cell.interval)]
