"""The collection of a report's evidence: the results that are named, and their tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from backends.shared.results import RESULTS, Entry, MemoryResult, ProgressTrial
from corpus.errors import InputError
from corpus.links import LINKS, MUTANTS
from corpus.suite import is_corpus, read_manifest
from oracle.consistency import ConsistencyModel
from oracle.executions.bounds import UNROLL
from oracle.progress.plugins import is_progress_model, resolve_models
from synth.conformance import Promise
from synth.families.interface import family
from synth.inputs import MEMORY, PROGRESS, expand, family_of, timed_results
from synth.labels import CSV, label_tests
from synth.memory.conformance import labelled_by, models_as_recorded, promises_by_processes
from synth.memory.questions import questions
from synth.mutation.kills import observed, read_suite
from synth.progress.conformance import verdicts_in
from synth.report.evidence import Evidence, Scored, Subject, distinct, evidence
from synth.requests import AUTO, SelectionFilter
from synth.watch import busy, watching
from synth.worker import Limits

Line = tuple[Entry, tuple[float, ...]]
"""A line of results, and the wall seconds of its iterations where they are known."""


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The request for a report: paths to results and to tests, a choice of the tests, and the models.

    Verdicts that are not known are found by ``jobs`` processes, each within ``limits``.
    """

    results: tuple[Path, ...]
    suites: tuple[str, ...]
    choice: SelectionFilter
    models: tuple[str, ...]
    jobs: int
    limits: Limits


def gather(request: ReportRequest) -> Evidence:
    """Read the results and tests of a request, find the verdicts that are missing, and return the evidence.

    Raises ``InputError`` where a path cannot be read, no test is named, or none of the results is of these tests.
    """
    suites = list(request.suites)
    lines: list[Line] = []
    for path in request.results:
        written, around = opened(path)
        lines += written
        suites += around
    suites = list(dict.fromkeys(suites))
    if not suites:
        raise InputError("no corpus is around these results; --suite names their tests", str(request.results[0]))
    models = {kind: _named(kind, request.models) for kind in (PROGRESS, MEMORY)}
    subjects: list[Subject] = []
    for suite in suites:
        subjects += _subjects(suite)
    chosen = request.choice.of(subjects, lambda subject: subject.test.name, lambda subject: subject.test)
    judged = [
        pair
        for kind in (PROGRESS, MEMORY)
        for pair in _with_verdicts(chosen, kind, models[kind], request.jobs, request.limits)
    ]
    judged = list(_in_placements(judged, [entry for entry, _ in lines], models[PROGRESS]))
    sides = {kind: family(kind).sides for kind in (PROGRESS, MEMORY)}
    ran = {entry.digest for entry, _ in lines if isinstance(entry, MemoryResult)}
    judged = list(_with_promises(distinct(judged), ran, _judges(suites, request.models), request.jobs, request.limits))
    with busy("Gathering"):
        scored = list(_scored(suites, lines, request.choice))
        found = evidence(judged, [entry for entry, _ in lines], sides, models, scored)
    if lines and not found.trials and not found.scored and len(chosen) == len(subjects):
        raise InputError(f"none of the {len(lines)} results is of a test in {suites[0]}; --suite names their tests")
    return found


def _scored(suites: Sequence[str], lines: Sequence[Line], choice: SelectionFilter) -> Iterator[Scored]:
    """Yield the suites whose mutants were run."""
    for suite in map(Path, suites):
        if (suite / MUTANTS / LINKS).exists():
            whole = read_suite(suite, choice)
            seen = observed(whole, lines)
            if any(name in whole.mutants for outcomes in seen.values() for name in outcomes):
                yield Scored(whole, seen)


def opened(path: Path) -> tuple[list[Line], list[str]]:
    """Read a path: the results of a file with the corpus around it, a corpus with its results, or tests."""
    if path.is_dir():
        inside = path / RESULTS
        return timed_results(inside) if is_corpus(path) and inside.exists() else [], [str(path)]
    if path.suffix in (".litmus", ".axb") or path.name.startswith("@"):
        return [], [str(path)]
    return timed_results(path), [str(path.parent)] if is_corpus(path.parent) else []


def _subjects(path: str) -> list[Subject]:
    name = family_of([path])
    kind = family(name)
    return [Subject(name, kind.record(given), given) for given in expand([path])]


def _named(kind: str, models: Sequence[str]) -> tuple[str, ...]:
    """Return the full names of the models of a family among those that were named."""
    mine = tuple(model for model in models if (kind == PROGRESS) is is_progress_model(model))
    return tuple(family(kind).labelling(mine, AUTO, UNROLL, CSV).names) if mine else ()


def _with_verdicts(
    subjects: Sequence[Subject], kind: str, models: Sequence[str], jobs: int, limits: Limits
) -> Iterator[Subject]:
    """Yield the tests of a family, with the verdicts of ``models``; progress tests without verdicts get those of all
    models.

    Memory tests do not: their verdicts take long, and are found only on request.
    """
    mine = [subject for subject in subjects if subject.family == kind]
    lacking = [item for item in mine if _lacks(item, kind, models)]
    found: dict[int, Mapping[str, str]] = {}
    reasons: dict[int, Mapping[str, str]] = {}
    if lacking:
        labelling = family(kind).labelling(models, AUTO, UNROLL, CSV)
        tests = [item.given for item in lacking]
        with (
            watching("Labelling", found=False) as watch,
            closing(label_tests(labelling, tests, jobs, limits)) as answers,
        ):
            done = 0
            for labels in answers:
                if labels is not None:
                    if labels.error:
                        raise InputError(labels.error)
                    labelled = dict(zip(labelling.names, labels.labels, strict=True))
                    found[id(lacking[done])] = {name: label.verdict for name, label in labelled.items()}
                    reasons[id(lacking[done])] = {
                        name: label.reason for name, label in labelled.items() if label.reason
                    }
                    done += 1
                watch(done, len(tests), done)
    for subject in mine:
        if id(subject) in found:
            verdicts = {**subject.test.verdicts, **found[id(subject)]}
            test = replace(subject.test, verdicts=verdicts, reasons={**subject.test.reasons, **reasons[id(subject)]})
            yield Subject(kind, test, subject.given)
        else:
            yield subject


def _in_placements(subjects: Sequence[Subject], entries: Iterable[Entry], models: Sequence[str]) -> Iterator[Subject]:
    """Yield the tests; progress tests that do not place their threads have the verdicts of models of levels in each
    placement that they were run in."""
    ran: dict[str, set[str]] = {}
    for entry in entries:
        if isinstance(entry, ProgressTrial):
            ran.setdefault(entry.digest, set()).add(entry.placement)
    named = resolve_models(models) if models else []
    for subject in subjects:
        placements = sorted(ran.get(subject.test.digest, ())) if subject.family == PROGRESS else []
        placed = {name: verdicts_in(subject.test, name, named) for name in placements}
        yield dataclasses.replace(subject, placed=placed) if placed else subject


def _judges(suites: Sequence[str], models: Sequence[str]) -> dict[str, ConsistencyModel]:
    """Return the memory models that can be asked, by name.

    They are those that were named, and those that labelled a corpus and that ship. Of a user's own model that labelled
    a corpus, the verdicts are known and the text is not.
    """
    digests: dict[str, set[str]] = {}
    for suite in filter(is_corpus, map(Path, suites)):
        manifest = read_manifest(suite)
        for name, digest in labelled_by(manifest).items():
            digests.setdefault(name, set()).add(digest)
    mine = [model for model in models if not is_progress_model(model)]
    return models_as_recorded(digests) | {model.name: model for model in (questions(mine).consistency if mine else ())}


def _with_promises(
    subjects: Sequence[Subject],
    ran: Collection[str],
    judges: Mapping[str, ConsistencyModel],
    jobs: int,
    limits: Limits,
) -> Iterator[Subject]:
    """Yield the tests; those with a digest in ``ran`` have the promises of each judge that has a verdict on them."""
    pairs = [
        (number, model)
        for number, subject in enumerate(subjects)
        if subject.family == MEMORY and subject.test.digest in ran
        for model in subject.test.verdicts
        if model in judges
    ]
    found = promises_by_processes([(subjects[number].given, judges[model]) for number, model in pairs], jobs, limits)
    promises: dict[int, dict[str, Promise]] = {}
    for (number, model), promise in zip(pairs, found, strict=True):
        promises.setdefault(number, {})[model] = promise
    for number, subject in enumerate(subjects):
        yield dataclasses.replace(subject, promises=promises.get(number, {}))


def _lacks(subject: Subject, kind: str, models: Sequence[str]) -> bool:
    verdicts = subject.test.verdicts
    return any(model not in verdicts for model in models) or (kind == PROGRESS and not models and not verdicts)
