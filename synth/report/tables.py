"""The tables of a report, whose words its page, its Markdown and its LaTeX share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oracle.progress.hierarchy import fairest
from oracle.progress.plugins import shipped_model
from synth.conformance import ConformanceStatus, ModelConformance
from synth.inputs import PROGRESS
from synth.mutation.kills import Machine
from synth.mutation.records import percent, rate, span
from synth.mutation.scores import best_of, machines, score, trust
from synth.report.evidence import Column, Evidence, Level, ReportCell, Scored
from synth.statistics import rate_interval
from synth.tables import Table

LISTED = 50
"""The most rows of a table of tests in a text."""


def label(found: Evidence, column: Column | Level) -> str:
    """Return the short name of a column or level: its device's, and the way."""
    return ", ".join(part for part in (found.names[column.device], column.way) if part)


def strongest(standings: Sequence[ModelConformance[int]]) -> tuple[str, ...]:
    """Return the fairest progress models that nothing contradicts: those with no fairer one among them.

    A user's own model, whose guarantee is not known, is neither more nor less fair than another.
    """
    standing = [
        standing.model
        for standing in standings
        if standing.status not in (ConformanceStatus.CONTRADICTED, ConformanceStatus.SILENT)
    ]
    known = {model: found for model in standing if (found := shipped_model(model)) is not None}
    best = fairest(list(known.values()))
    return tuple(model for model in standing if model not in known or model in best)


def outcome_word(family: str) -> str:
    """Return the word for what is seen of the tests of a family."""
    return "hung" if family == PROGRESS else "seen"


def rate_text(cell: ReportCell) -> str:
    """Return a rate as ``3 of 20``, with commas in long numbers."""
    return f"{cell.seen:,} of {cell.runs:,}"


def share_text(share: float) -> str:
    """Return a share with three digits: ``0.15``, ``1.2e-05``; 0 and 1 as they are."""
    return f"{share:.3g}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence that a reader should know first; ``bad``: something that was seen contradicts a model."""

    text: str
    bad: bool


def findings(found: Evidence) -> list[Finding]:
    """Return a sentence for each family and each group of devices with equal findings.

    Example: ``llvmpipe: 26 memory tests, outcomes of 3 seen; contradicted: sc (2)``.
    """
    labels: dict[Finding, list[str]] = {}
    for family in found.families:
        for level, columns in found.levels_of(family).items():
            if (finding := _finding(found, family, columns)) is not None:
                labels.setdefault(finding, []).append(label(found, level))
    return [Finding(f"{'; '.join(names)}: {reported.text}", reported.bad) for reported, names in labels.items()]


def _finding(found: Evidence, family: str, columns: Sequence[int]) -> Finding | None:
    """Return the finding on a level of a device; None where nothing was run there."""
    cells = {key: cell for key, cell in found.cells.items() if key[1] in columns and cell.runs}
    if not cells:
        return None
    tests = len({subject for subject, _ in cells})
    seen = len({subject for (subject, _), cell in cells.items() if cell.seen})
    if family == PROGRESS:
        text = f"{tests:,} progress test{'s' * (tests != 1)}, {seen:,} hung"
    else:
        text = f"{tests:,} memory test{'s' * (tests != 1)}, asked outcomes of {seen:,} seen"
    judged = [
        standing for standing in found.standings(columns, family) if standing.status is not ConformanceStatus.SILENT
    ]
    if not judged:
        return Finding(f"{text}; no model has a verdict", bad=False)
    against = [f"{standing.model} ({len(standing.contradicting):,})" for standing in judged if standing.contradicting]
    text += f"; contradicted: {', '.join(against) or 'no model'}"
    if family == PROGRESS:
        text += f"; fairest of the others: {', '.join(strongest(judged)) or 'none'}"
        if unconfirmed := len(found.unconfirmed & cells.keys()):
            text += f"; hangs that are not confirmed, and contradict nothing: {unconfirmed:,}"
    if slow := found.slow(columns):
        text += f"; the device was slow: {slow:,} trial{'s' * (slow > 1)} that hung terminated with more time"
    return Finding(text, bool(against))


def tables(found: Evidence) -> Iterator[Table]:
    """Yield all tables of a report, in their order on the page."""
    if found.columns:
        yield _devices(found)
    for family in found.families:
        kind = "Progress" if family == PROGRESS else "Memory"
        models = found.models[family]
        if not found.columns_of(family):
            yield _verdicts(found, family, kind)
            continue
        if models:
            levels = found.levels_of(family)
            standings = [map(standing_text, found.standings(columns, family)) for columns in levels.values()]
            rows = tuple(zip(models, *standings, strict=True))
            heads = ("model", *(label(found, level) for level in levels))
            yield Table(f"{kind} models and devices", STANDING_NOTE, heads, rows)
        if family == PROGRESS and models:
            yield _fairness(found)
        yield from _contradictions(found, family, kind)
        yield from _seen(found, family, kind)
    for scored in found.scored:
        yield from mutation_tables(found, scored)
    if failed := _failures(found):
        yield failed


STANDING_NOTE = (
    "contradicted: so many of the tests whose outcome the model forbids showed it, or another that it forbids. "
    "consistent: so many of those whose outcome it allows showed it. weaker than needed: none of these did. "
    "The outcome of a progress test is a hang."
)


def standing_text(standing: ModelConformance[int]) -> str:
    """Return a standing in words: ``contradicted 3/12``, ``consistent 5/8``, ``weaker than needed 0/4``; a dash for
    none.
    """
    match standing.status:
        case ConformanceStatus.SILENT:
            return "-"
        case ConformanceStatus.CONTRADICTED:
            return f"{standing.status} {len(standing.contradicting)}/{standing.forbidden}"
    return f"{standing.status} {standing.observed}/{standing.allowed}" if standing.allowed else str(standing.status)


def _devices(found: Evidence) -> Table:
    rows = []
    for device in found.devices:
        mine = [trial for trial in found.trials if found.columns[trial.column].device == device]
        dates = sorted({trial.entry.date[:10] for trial in mine if trial.entry.date})
        rows.append(
            (
                found.names[device],
                device.backend,
                device.device,
                device.driver,
                device.compiler,
                f"{len({trial.subject for trial in mine}):,}",
                f"{len(mine):,}",
                f"{sum(bool(trial.error) for trial in mine):,}",
                dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}" if dates else "",
            )
        )
    heads = ("", "back end", "device", "driver", "compiler", "tests", "trials", "failed", "date")
    return Table("Devices", "", heads, tuple(rows))


def _verdicts(found: Evidence, family: str, kind: str) -> Table:
    """Return the table of a family of which nothing was run: how many tests each model forbids and allows."""
    tests = [subject.test for subject in found.subjects if subject.family == family]
    sides = found.sides[family]
    rows = []
    for model in found.models[family]:
        verdicts = [test.verdicts.get(model) for test in tests]
        counts = [verdicts.count(side.verdict) for side in sides]
        rows.append((model, *(f"{count:,}" for count in counts), f"{len(tests) - sum(counts):,}"))
    heads = ("model", *(side.verdict for side in sides), "no verdict")
    return Table(f"{kind} tests: {len(tests):,}", "", heads, tuple(rows))


def _fairness(found: Evidence) -> Table:
    rows = []
    for number in found.columns_of(PROGRESS):
        standings = found.standings([number], PROGRESS)
        column = found.columns[number]
        cells = [cell for (_, of_column), cell in found.cells.items() if of_column == number and cell.runs]
        against = [
            f"{standing.model} {len(standing.contradicting)}/{standing.forbidden}"
            for standing in standings
            if standing.contradicting
        ]
        rows.append(
            (
                found.names[column.device],
                column.mapping,
                column.placement,
                f"{len(cells):,}",
                f"{sum(cell.seen > 0 for cell in cells):,}",
                f"{sum(cell.seen == cell.runs for cell in cells):,}",
                ", ".join(against) or "none",
                ", ".join(strongest(standings)) or "none",
            )
        )
    heads = ("device", "mapping", "placement", "tests", "hung", "always", "contradicted", "fairest not contradicted")
    note = (
        "hung: tests that did not end in some iteration. always: tests that ended in none. "
        "Of the tests that terminate under a model, so many hung: any makes the device inconsistent with it."
    )
    return Table("Which fairness each device gives", note, heads, tuple(rows))


def _contradictions(found: Evidence, family: str, kind: str) -> Iterator[Table]:
    rows = [
        (found.subjects[subject].test.name, label(found, found.columns[column]), *_rate(cell), ", ".join(against))
        for (subject, column), cell in found.cells.items()
        if found.subjects[subject].family == family and (against := found.contradicted(subject, column))
    ]
    if rows:
        heads = ("test", "device", outcome_word(family), "rate", "95 % interval", "forbidden by")
        yield _listed(f"{kind} tests that contradict a model", heads, rows)


def _seen(found: Evidence, family: str, kind: str) -> Iterator[Table]:
    """Yield the table of tests whose outcome was seen and contradicts no model: all allow it, or it is unconfirmed."""
    word = "that hung" if family == PROGRESS else "whose outcome was seen"
    titles = f"{word}, as every model allows", "whose hang is not confirmed, and contradicts nothing"
    for doubtful, title in enumerate(titles):
        rows = [
            (found.subjects[subject].test.name, label(found, found.columns[column]), *_rate(cell))
            for (subject, column), cell in found.cells.items()
            if found.subjects[subject].family == family and cell.seen and not found.contradicted(subject, column)
            if ((subject, column) in found.unconfirmed) == doubtful
        ]
        if rows:
            heads = ("test", "device", outcome_word(family), "rate", "95 % interval")
            yield _listed(f"{kind} tests {title}", heads, rows)


def _rate(cell: ReportCell) -> tuple[str, str, str]:
    low, high = rate_interval(cell.seen, cell.runs)
    return rate_text(cell), share_text(cell.seen / cell.runs), f"{share_text(low)} to {share_text(high)}"


def mutation_tables(found: Evidence, scored: Scored) -> Iterator[Table]:
    """Yield the mutation score of each environment, and the trust in each test on each device."""
    suite = scored.suite
    counted = [link.mutant for links in suite.counted.values() for link in links]
    rows: list[tuple[str, ...]] = []
    for machine in machines(scored.observed):
        here = {where: seen for where, seen in scored.observed.items() if where.machine == machine}
        ways = [(where.way, seen) for where, seen in here.items()]
        for way, seen in [*ways, ("any of them", best_of(here))] if len(ways) > 1 else ways:
            of = score(counted, seen)
            numbers = (f"{number:,}" for number in (of.mutants, of.run, of.killed))
            rows.append((machine_label(found, machine), way, *numbers, percent(of.share), rate(of.mean_rate)))
    heads = ("device", "way", "mutants", "run", "killed", "score", "kills a second")
    note = "A mutant is a test that the model allows; a way to launch that never shows it could not have seen the bug."
    yield Table(f"Mutation scores of {suite.path.name}", note, heads, tuple(rows))
    of_tests = ("test", "device", "killed", "best mutant", "way", "kills a second", "run for", "confidence", "at least")
    rows = []
    for machine in machines(scored.observed):
        for trusted in trust(suite, scored.observed, machine):
            if trusted.run:
                best = trusted.best
                facts = (best.link.mutant, best.environment.way, rate(best.seen.rate)) if best else ("", "", "0")
                rows.append(
                    (
                        *(
                            trusted.test.name,
                            machine_label(found, machine),
                            f"{trusted.killed} / {trusted.mutants}",
                            *facts,
                        ),
                        *(span(trusted.seconds), percent(trusted.confidence), percent(trusted.at_least)),
                    )
                )
    if rows:
        yield _listed("Tests, and the confidence that they had seen their bug", of_tests, rows)


def machine_label(found: Evidence, machine: Machine) -> str:
    """Return the short name of a device, which may have run mutants alone."""
    return found.names.get(machine, str(machine))


def _failures(found: Evidence) -> Table | None:
    rows = [
        (found.subjects[trial.subject].test.name, label(found, found.columns[trial.column]), trial.error)
        for trial in found.trials
        if trial.error
    ]
    return _listed("Trials that failed", ("test", "device", "why"), rows) if rows else None


def _listed(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    more = len(rows) - LISTED
    note = f"The first {LISTED} of {len(rows):,}; json and csv have all." if more > 0 else ""
    return Table(f"{title}: {len(rows):,}", note, heads, tuple(rows[:LISTED]))
