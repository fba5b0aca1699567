"""The report as one page that needs nothing else: no network, no server, no other file.

What the page shows is data in it, in columns, so that ten thousand tests take a few megabytes; its script makes every
element of that and sets texts as texts, so no name can be markup. A policy in the page lets the browser run this script
alone and load nothing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from backends.shared.html import embedded
from backends.shared.results import MemoryResult, ProgressResult
from corpus.files import folder_of, read_text
from corpus.suite import Corpus
from synth.conformance import Standing, Status
from synth.families.interface import family
from synth.inputs import PROGRESS
from synth.report.charts import charts
from synth.report.details import Detail
from synth.report.evidence import Cell, Evidence, Trial
from synth.report.tables import findings, labels, outcome_word, strongest

_STATES = list(Status)


def page(found: Evidence, explained: Mapping[int, Detail], title: str, notes: Sequence[str]) -> str:
    """The page, the same text each time."""
    folder = folder_of("synth.report") / "assets"
    script = read_text(folder / "report.js")
    parts = {
        "title": escape(title),
        "hash": b64encode(sha256(script.encode()).digest()).decode(),
        "style": read_text(folder / "report.css"),
        "charts": "".join(_figures(found)),
        "data": embedded(_data(found, explained, title, notes)),
        "script": script,
    }
    return "".join(_filled(read_text(folder / "report.html"), parts))


def _filled(template: str, parts: Mapping[str, str]) -> Iterator[str]:
    """The template, each ``{{name}}`` replaced once; what parts hold is not looked at."""
    first, *rest = template.split("{{")
    yield first
    for each in rest:
        name, _, text = each.partition("}}")
        yield parts[name]
        yield text


def _figures(found: Evidence) -> Iterator[str]:
    for chart in charts(found):
        note = f"<p>{escape(chart.note)}</p>" if chart.note else ""
        yield f'<figure role="img" aria-label="{escape(chart.title)}"><figcaption><b>{escape(chart.title)}</b>{note}'
        yield f"</figcaption>{chart.svg}</figure>"


def _data(found: Evidence, explained: Mapping[int, Detail], title: str, notes: Sequence[str]) -> dict[str, Any]:
    names = labels(found)
    devices = []
    for device in found.devices:
        mine = [trial for trial in found.trials if found.columns[trial.column].device == device]
        dates = sorted({trial.entry.date[:10] for trial in mine if trial.entry.date})
        devices.append(
            {
                "label": names[device],
                "backend": device.backend,
                "name": device.name,
                "driver": device.driver,
                "compiler": device.compiler,
                "tests": len({trial.subject for trial in mine}),
                "trials": len(mine),
                "failed": sum(bool(trial.error) for trial in mine),
                "dates": dates[:: max(1, len(dates) - 1)],
            }
        )
    return {
        "title": title,
        "notes": list(notes),
        "findings": findings(found),
        "states": [str(status) for status in _STATES],
        "devices": devices,
        "families": [_family(found, name, explained) for name in found.families],
    }


def _family(found: Evidence, name: str, explained: Mapping[int, Detail]) -> dict[str, Any]:
    numbers = [number for number, subject in enumerate(found.subjects) if subject.family == name]
    place = {number: at for at, number in enumerate(numbers)}
    tests = [found.subjects[number].test for number in numbers]
    kind, models = family(name), found.models[name]
    codes = {side.verdict: str(code) for code, side in enumerate(kind.sides, 1)}
    columns = found.columns_of(name)
    groups = [[column] for column in columns]
    levels = found.levels_of(name)
    return {
        "key": name,
        "kind": kind.kind,
        "outcome": outcome_word(name),
        "sides": [side.verdict for side in kind.sides],
        "headings": [side.heading for side in kind.sides],
        "models": list(models),
        "counts": [[sum(test.verdicts.get(model) == word for test in tests) for word in codes] for model in models],
        "names": [test.name for test in tests],
        "digests": [test.digest for test in tests],
        "bounds": [test.bound for test in tests],
        "tags": [list(test.tags) for test in tests],
        "texts": [test.text for test in tests],
        "verdicts": ["".join(codes.get(test.verdicts.get(model, ""), "0") for model in models) for test in tests],
        "unknown": {
            place[number]: dict(found.subjects[number].test.reasons)
            for number in numbers
            if found.subjects[number].test.reasons
        },
        "columns": [
            {"device": found.devices.index(found.columns[column].device), "way": found.columns[column].way}
            for column in columns
        ],
        "ways": [_cells(found, group, place) for group in groups],
        "levels": [{"device": found.devices.index(level.device), "way": level.way} for level in levels],
        "pooled": [_cells(found, group, place) for group in levels.values()],
        "standings": [[_standing(each) for each in found.standings(group, name)] for group in levels.values()],
        "fairness": [
            {
                "column": at,
                "standings": [_standing(each) for each in found.standings(group, name)],
                "best": strongest(found.standings(group, name)),
            }
            for at, group in enumerate(groups)
        ]
        if name == PROGRESS
        else [],
        "trials": [_trial(trial, place, columns) for trial in found.trials if trial.subject in place],
        "details": {place[number]: _detail(each) for number, each in explained.items() if number in place},
        "spread": "" if columns or not models else _spread(found, name),
    }


def _cells(found: Evidence, group: Sequence[int], place: Mapping[int, int]) -> list[list[Any]]:
    """What was seen in some columns together: rows of test, seen, runs, failed, and the interval."""
    sums: dict[int, list[int]] = {}
    for (subject, column), cell in found.cells.items():
        if column in group:
            row = sums.setdefault(subject, [0, 0, 0])
            for at, part in enumerate((cell.seen, cell.runs, cell.failed)):
                row[at] += part
    rows = []
    for subject, row in sums.items():
        low, high = Cell(*row).interval or (0, 0)
        rows.append([place[subject], *row, _rounded(low), _rounded(high)])
    return rows


def _rounded(share: float) -> float:
    return float(f"{share:.3g}")


def _standing(each: Standing[int]) -> list[int]:
    counts = [each.forbidden, len(each.contradicting), each.allowed, each.observed, each.unknown]
    return [_STATES.index(each.status), *counts]


def _trial(trial: Trial, place: Mapping[int, int], columns: Sequence[int]) -> list[Any]:
    entry = trial.entry
    what: Any = None
    if isinstance(entry, ProgressResult):
        what = entry.outcomes
    elif isinstance(entry, MemoryResult):
        rows = [[list(values), count, int(values in trial.asked)] for values, count in entry.outcomes]
        what = [rows, entry.other, entry.launches, int(entry.hung), list(entry.terms)]
    asked = [entry.instances, entry.iterations, entry.timeout, entry.date]
    at = [place[trial.subject], columns.index(trial.column), trial.seen, trial.runs]
    return [*at, *asked, what, trial.error]


def _detail(each: Detail) -> dict[str, Any]:
    return {
        "reasons": [[list(reason.models), reason.verdict, reason.text] for reason in each.reasons],
        "figures": [[figure.model, figure.verdict, figure.svg] for figure in each.figures],
        "allowed": [[model, [list(values) for values in outcomes]] for model, outcomes in each.allowed],
        "problem": each.problem,
    }


def _spread(found: Evidence, name: str) -> str:
    """How the tests of a family spread over its models, drawn as ``synth show --svg`` draws a corpus."""
    tests = [subject.test for subject in found.subjects if subject.family == name]
    return family(name).distribution_svg(Corpus(Path(), {"models": list(found.models[name])}, tests))
