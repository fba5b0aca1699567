"""The page of a report: one HTML file that needs no network, no server and no other file.

The page contains its data in columns, so that ten thousand tests take a few megabytes. Its script makes every element
of the data and sets texts as texts, so that no name can act as markup. A policy in the page lets the browser run this
script alone and load nothing.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from backends.shared.html import embedded
from backends.shared.results import AGAIN, MemoryResult, MemoryTrial, ProgressResult
from corpus.files import folder_of, read_text
from corpus.links import MutantLink
from corpus.suite import Corpus
from synth.conformance import ConformanceStatus, ModelConformance
from synth.families.interface import family
from synth.inputs import MEMORY, PROGRESS
from synth.mutation.records import rate, span
from synth.report.charts import charts
from synth.report.details import Detail
from synth.report.evidence import Evidence, Scored, Subject, TrialEvidence
from synth.report.tables import findings, machine_label, mutation_tables, outcome_word, strongest
from synth.statistics import rate_interval

_STATES = list(ConformanceStatus)


def page(found: Evidence, explained: Mapping[int, Detail], title: str, notes: Sequence[str]) -> str:
    """Return the page as HTML; equal evidence gives equal text."""
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
    """Yield the template with each ``{{name}}`` replaced once; the text of the parts is not searched again."""
    first, *rest = template.split("{{")
    yield first
    for part in rest:
        name, _, text = part.partition("}}")
        yield parts[name]
        yield text


def _figures(found: Evidence) -> Iterator[str]:
    for chart in charts(found):
        note = f"<p>{escape(chart.note)}</p>" if chart.note else ""
        yield f'<figure role="img" aria-label="{escape(chart.title)}"><figcaption><b>{escape(chart.title)}</b>{note}'
        yield f"</figcaption>{chart.svg}</figure>"


def _data(found: Evidence, explained: Mapping[int, Detail], title: str, notes: Sequence[str]) -> dict[str, Any]:
    devices = []
    for device in found.devices:
        mine = [trial for trial in found.trials if found.columns[trial.column].device == device]
        dates = sorted({trial.entry.date[:10] for trial in mine if trial.entry.date})
        devices.append(
            {
                "label": found.names[device],
                "backend": device.backend,
                "name": device.device,
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
        "findings": [[sentence.text, sentence.bad] for sentence in findings(found)],
        "states": [str(status) for status in _STATES],
        "again": AGAIN,
        "devices": devices,
        "tables": [
            {"title": table.title, "note": table.note, "heads": table.heads, "rows": table.rows}
            for scored in found.scored
            for table in mutation_tables(found, scored)
        ],
        "families": [_family(found, name, explained) for name in found.families],
    }


def _family(found: Evidence, name: str, explained: Mapping[int, Detail]) -> dict[str, Any]:
    """Return the data of a family for the script. Tests, columns, levels and launches are numbers, places in their
    lists.
    """
    place = {number: index for index, number in enumerate(_numbers(found, name))}
    tests = [found.subjects[number].test for number in place]
    kind, models = family(name), found.models[name]
    codes = {side.verdict: str(code) for code, side in enumerate(kind.sides, 1)}
    columns, levels = found.columns_of(name), found.levels_of(name)
    launches: dict[str, int] = {}
    trials = [_trial(trial, place, columns, models, launches) for trial in found.trials if trial.subject in place]
    return {
        "key": name,
        "kind": kind.kind,
        "outcome": outcome_word(name),
        "sides": [side.verdict for side in kind.sides],
        "headings": [side.heading for side in kind.sides],
        "models": list(models),
        "counts": [[sum(test.verdicts.get(model) == word for test in tests) for word in codes] for model in models],
        "names": [test.name for test in tests],
        "digests": [test.digest[:16] for test in tests],
        "bounds": [test.bound for test in tests],
        "tags": [" ".join(test.tags) for test in tests],
        "texts": [test.text for test in tests],
        "verdicts": ["".join(codes.get(test.verdicts.get(model, ""), "0") for model in models) for test in tests],
        "silent": {index: reasons for number, index in place.items() if (reasons := _silent(found.subjects[number]))},
        "levels": [{"device": found.devices.index(level.device), "way": level.way} for level in levels],
        "columns": [
            {
                "device": found.devices.index(found.columns[column].device),
                "way": found.columns[column].way,
                "level": next(index for index, group in enumerate(levels.values()) if column in group),
            }
            for column in columns
        ],
        "trials": trials,
        "launches": [json.loads(launch) for launch in launches],
        "intervals": dict(_intervals(found, name)),
        "standings": [[_standing(standing) for standing in found.standings(group, name)] for group in levels.values()],
        "fairness": [
            {
                "column": index,
                "standings": [_standing(standing) for standing in found.standings([column], name)],
                "best": strongest(found.standings([column], name)),
            }
            for index, column in enumerate(columns)
        ]
        if name == PROGRESS
        else [],
        "details": {place[number]: _detail(detail) for number, detail in explained.items() if number in place},
        "mutants": dict(_mutants(found, place)) if name == MEMORY else {},
        "spread": "" if columns or not models else _spread(found, name),
    }


def _numbers(found: Evidence, name: str) -> list[int]:
    return [number for number, subject in enumerate(found.subjects) if subject.family == name]


def _intervals(found: Evidence, name: str) -> Iterator[tuple[str, list[float]]]:
    """Yield the confidence interval of each rate on the page: ``3/20`` with the two ends of its interval."""
    columns = set(found.columns_of(name))
    shown = {(cell.seen, cell.runs) for (_, column), cell in found.cells.items() if column in columns}
    for seen, of in sorted(counts for counts in shown if counts[1]):
        yield f"{seen}/{of}", [float(f"{share:.3g}") for share in rate_interval(seen, of)]


def _standing(standing: ModelConformance[int]) -> list[int]:
    counts = [standing.forbidden, len(standing.contradicting), standing.allowed, standing.observed, standing.unknown]
    return [_STATES.index(standing.status), *counts]


def _silent(subject: Subject) -> dict[str, str]:
    """Return the models that promise nothing of a test, each with the reason."""
    return {
        **subject.test.reasons,
        **{model: promise.reason for model, promise in subject.promises.items() if promise.reason},
    }


def _trial(
    trial: TrialEvidence,
    place: Mapping[int, int],
    columns: Sequence[int],
    models: Sequence[str],
    launches: dict[str, int],
) -> list[Any]:
    """Return a trial's test, column, launch, seen, runs and result, and what is unusual; new launches are entered.

    The unusual facts include outcomes, by their place in the result: those that were ``asked`` for, and those that
    models forbid, which are numbers as well.
    """
    entry = trial.entry
    terms = list(entry.terms) if isinstance(entry, MemoryTrial) else []
    launch = json.dumps([entry.instances, entry.iterations, entry.timeout, entry.date[:10], terms])
    indices = [place[trial.subject], columns.index(trial.column), launches.setdefault(launch, len(launches))]
    row: list[Any] = [*indices, trial.seen, trial.runs]
    numbers = {model: number for number, model in enumerate(models)}
    against = {values: [numbers[model] for model in forbidding] for values, forbidding in trial.forbidden.items()}
    unusual: dict[str, object] = {}
    if isinstance(entry, ProgressResult):
        row.append(entry.outcomes)
        unusual = {
            "forbidden": [[0, models_against] for models_against in against.values()],
            "tries": entry.tries,
            "unconfirmed": int(entry.hangs and not entry.confirmed),
        }
    elif isinstance(entry, MemoryResult):
        outcomes = [values for values, _ in entry.outcomes]
        row.append([[*values, count] for values, count in entry.outcomes])
        unusual = {
            "asked": [index for index, values in enumerate(outcomes) if values in trial.targets],
            "forbidden": [[index, against[values]] for index, values in enumerate(outcomes) if values in against],
            "other": entry.other,
            "hung": int(entry.hung),
            "tries": entry.tries,
        }
    else:
        row.append(None)
        unusual = {"error": trial.error}
    unusual = {key: value for key, value in unusual.items() if value}
    return [*row, unusual] if unusual else row


def _detail(detail: Detail) -> dict[str, Any]:
    return {
        "reasons": [[list(reason.models), reason.verdict, reason.text] for reason in detail.reasons],
        "figures": [[figure.model, figure.verdict, figure.svg] for figure in detail.figures],
        "problem": detail.problem,
    }


def _mutants(found: Evidence, place: Mapping[int, int]) -> Iterator[tuple[int, list[list[Any]]]]:
    """Yield the mutants of each test that has any: name, relaxation, what the outcome takes, and its count."""
    names = {found.subjects[number].test.digest: index for number, index in place.items()}
    for scored in found.scored:
        links: dict[str, list[MutantLink]] = {}
        for link in scored.suite.links:
            links.setdefault(link.test, []).append(link)
        for test in scored.suite.tests:
            if test.digest in names and test.name in links:
                yield names[test.digest], [_mutant(found, scored, link) for link in links[test.name]]


def _mutant(found: Evidence, scored: Scored, link: MutantLink) -> list[Any]:
    kills = [
        f"{machine_label(found, where.machine)}, {where.way}: "
        + (
            f"{rate(seen[link.mutant].rate)} a second"
            if seen[link.mutant].count
            else f"0 in {span(seen[link.mutant].seconds)}"
        )
        for where, seen in scored.observed.items()
        if link.mutant in seen
    ]
    killed = any(seen[link.mutant].count for seen in scored.observed.values() if link.mutant in seen)
    return [link.mutant, link.relaxation, str(scored.suite.takes[link.mutant]), int(killed), kills]


def _spread(found: Evidence, name: str) -> str:
    """Return the SVG of how the tests of a family spread over its models, as ``synth show --picture`` draws it."""
    tests = [subject.test for subject in found.subjects if subject.family == name]
    return family(name).distribution_svg(Corpus(Path(), {"models": list(found.models[name])}, tests))
