"""The check of a certified progress suite: each unit's proof, each test, and that no test is missing.

Planned and spread over processes here; every word of judgement is the oracle's (``oracle.certificates``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from corpus.certificates import Packed, sizes_word
from corpus.errors import InputError
from corpus.progress.certificates import program_word
from corpus.suite import Corpus
from corpus.test import Test
from oracle.certificates.clauses import Clause
from oracle.certificates.progress_formulas import check_formula
from oracle.certificates.refusal import RefusedError
from oracle.certificates.tests import Asked, check_test, missing
from oracle.certificates.units import Claims, Formula, Shape, check_cases, check_clauses, read_formula
from oracle.progress.models import MODELS
from synth.pool import Jobs, run_tasks
from synth.progress.synthesis import Request, check_size
from synth.verification import Files, Findings, Watch, beside, numbers_of, proved

_CHUNK = 500
"""Tests that are judged as one task."""


@dataclass(frozen=True, slots=True)
class _Unit:
    shape: Shape
    cube: int

    @property
    def name(self) -> str:
        return f"{sizes_word(self.shape.lengths)}/{self.cube}"


def verify(corpus: Corpus, jobs: Jobs, watch: Watch) -> Findings:
    """Check a corpus with its certificate."""
    findings = Findings()
    try:
        asked = _asked(corpus)
        units = [
            _Unit(shape, cube)
            for shape in asked.shapes()
            for cube in numbers_of(corpus.path, sizes_word(shape.lengths))
        ]
    except (InputError, RefusedError) as error:
        findings.refused.append(str(error))
        return findings
    findings.refused += beside(corpus)
    present = _check_tests(asked, corpus.tests, jobs, findings)
    _check_units(asked, corpus.path, units, present, jobs, watch, findings)
    return findings


def _check_tests(asked: Asked, tests: Sequence[Test], jobs: Jobs, findings: Findings) -> frozenset[str]:
    """The keys of the tests, each of which is judged anew."""

    def judge(chunk: Sequence[Test]) -> Iterator[tuple[list[str], list[str]]]:
        keys, bad = [], []
        for test in chunk:
            try:
                keys.append(check_test(asked, test))
            except RefusedError as error:
                bad.append(str(error))
        yield keys, bad

    present: set[str] = set()
    chunks = [tests[start : start + _CHUNK] for start in range(0, len(tests), _CHUNK)]
    with closing(run_tasks(chunks, judge, jobs)) as results:
        for result in filter(None, results):
            keys, bad = result[1]
            if len(set(keys)) < len(keys) or not present.isdisjoint(keys):
                findings.refused.append("two tests are one")
            present.update(keys)
            findings.refused += bad
    findings.tests = len(tests)
    return frozenset(present)


def _check_units(
    asked: Asked,
    corpus: Path,
    units: Sequence[_Unit],
    present: frozenset[str],
    jobs: Jobs,
    watch: Watch,
    found: Findings,
) -> None:
    """Each unit proves what it claims, what it counts as found is present, and together they are all programs."""

    def check(files: Files[_Unit]) -> Iterator[tuple[Claims | None, int, list[str]]]:
        try:
            claims, steps = proved(files, partial(_formula, files.part.shape), _claims)
        except (InputError, RefusedError) as error:
            yield None, 0, [str(error)]
            return
        lost = (missing(asked, program, present) for program in claims.programs)
        absent = [f"not in the corpus, found in {files.part.name}: {program_word(test)}" for test in lost if test]
        yield replace(claims, clauses=[]), steps, absent

    tasks = (Files.of(unit, corpus, sizes_word(unit.shape.lengths), unit.cube) for unit in units)
    cases: dict[Shape, list[dict[tuple[int, int], int]]] = {}
    with closing(run_tasks(tasks, check, jobs)) as results:
        for result in results:
            if result is not None:
                files, (claims, steps, bad) = result
                found.refused += bad
                found.units += 1
                found.steps += steps
                if claims is not None:
                    cases.setdefault(files.part.shape, []).append(claims.case)
                    found.found += len(claims.programs)
                    found.refinements += claims.refinements
            watch(found.units, len(units), len(found.refused))
    for shape, claimed in () if found.refused else cases.items():
        try:
            check_cases(shape, claimed)
        except RefusedError as error:
            found.refused.append(f"{sizes_word(shape.lengths)}: {error}")


def _asked(corpus: Corpus) -> Asked:
    """What the corpus is to hold. Raises ``RefusedError`` where it does not claim to hold all that it was asked for."""
    if not corpus.complete:
        raise RefusedError("the corpus is not complete")
    asked = Asked.of(corpus.manifest.get("request", {}))
    if corpus.models != list(MODELS):
        raise RefusedError("the manifest does not have the models of this synth")
    check_size(Request(asked.threads, asked.instrs, asked.locs, asked.values))
    return asked


def _claims(formula: Formula, lines: Iterable[str]) -> tuple[Claims, list[Clause]]:
    claims = check_clauses(formula, lines)
    return claims, claims.clauses


@lru_cache(maxsize=2)  # each of its units asks, one after the other
def _formula(shape: Shape, file: Packed) -> Formula:
    formula = read_formula(shape, file.lines())
    check_formula(formula)
    return formula
