"""The check of a certified progress suite: proofs, tests, and that no test is missing.

The work is planned and spread over processes here; every judgement is the oracle's (``oracle.certificates``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from constraints.solvers import SOLVERS
from corpus.certificates import Packed, formula_file, sizes_word
from corpus.errors import InputError
from corpus.progress.certificates import program_word
from corpus.suite import MANIFEST, TESTS, Corpus
from corpus.test import Test
from oracle.certificates.clauses import Clause
from oracle.certificates.progress_formulas import check_formula
from oracle.certificates.refusal import RefusedError
from oracle.certificates.tests import ProgressClaim, check_test, missing
from oracle.certificates.units import (
    ProgressFormula,
    ProgressUnitClaims,
    UnitShape,
    check_cases,
    check_clauses,
    read_formula,
)
from oracle.progress.models import MODELS
from synth.inputs import PROGRESS
from synth.pool import Jobs, map_each
from synth.progress.synthesis import ProgressSuiteRequest, check_size, manifest_of
from synth.rebuilding import asked_again, files_beside, folder_lines, kept
from synth.verification import Findings, UnitFiles, Watch, numbers_of, of_request, proved
from synth.worker import Limits


@dataclass(frozen=True, slots=True)
class _Unit:
    shape: UnitShape
    cube: int

    @property
    def name(self) -> str:
        return f"{sizes_word(self.shape.lengths)}/{self.cube}"


@dataclass(frozen=True, slots=True)
class _Checked:
    """The check of a unit: its case, its number of claims, the size of its formula, and what does not hold."""

    bad: list[str]
    case: dict[tuple[int, int], int] = field(default_factory=dict)
    found: int = 0
    refinements: int = 0
    steps: int = 0
    size: tuple[int, int] = (0, 0)


def verify(corpus: Corpus, jobs: Jobs, limits: Limits, watch: Watch) -> Findings:
    """Check a certified progress suite with its certificate, and return the findings."""
    findings = Findings(tests=len(corpus.tests))
    try:
        request, asked = _asked(corpus)
        units = [
            UnitFiles.of(_Unit(shape, cube), corpus.path, sizes_word(shape.lengths), cube)
            for shape in asked.shapes()
            for cube in numbers_of(corpus.path, sizes_word(shape.lengths))
        ]
        if not units:
            raise RefusedError(f"no program has {asked.threads} threads and {asked.instrs} instructions: 0 units")
    except (InputError, RefusedError) as error:
        findings.refused.append(of_request(corpus.path, error))
        return findings
    present = _check_tests(asked, corpus, jobs, limits, findings)
    encodings = _check_units(asked, units, present, jobs, limits, watch, findings)
    solver = kept(corpus.manifest, "solver", str)
    version = kept(corpus.manifest, "version", str)
    manifest = manifest_of(request, encodings, version, solver if solver in SOLVERS else "")
    findings.refused += folder_lines(corpus.path, corpus.manifest, corpus.tests, manifest)
    names = {formula_file(sizes_word(shape.lengths)) for shape in asked.shapes()}.union(*(unit.names for unit in units))
    wrong, beside = files_beside(corpus.path, names, mutants=False)
    findings.refused += wrong
    findings.unchecked = [f"{MANIFEST}: version", f"{MANIFEST}: solver", *beside]
    findings.claim = _claim(asked, len(corpus.tests))
    return findings


def _asked(corpus: Corpus) -> tuple[ProgressSuiteRequest, ProgressClaim]:
    """Return what the corpus is to hold. Raises ``RefusedError`` where it does not claim to be complete."""
    if not corpus.complete:
        raise RefusedError("complete: expected true")
    request = asked_again(corpus, PROGRESS, ProgressSuiteRequest, ProgressSuiteRequest.as_json)
    threads, instrs = request.threads, request.instrs
    if threads is None or instrs is None or min(threads, instrs, request.locs, request.values) < 1:
        raise RefusedError("request: it does not say how many threads and instructions were asked for")
    if request.up_to not in ("program", "behaviour"):
        raise RefusedError(f'request.up_to: expected "program" or "behaviour", found "{request.up_to}"')
    for name in request.distinguish or ():
        if name not in MODELS:
            raise RefusedError(f"request.distinguish: a model that there is not: {name}")
    check_size(request)
    border = tuple(request.distinguish or ())
    behaviours, symmetric = request.up_to == "behaviour", request.symmetric_threads
    return request, ProgressClaim(
        threads, instrs, request.locs, request.values, request.minimal, behaviours, border, symmetric
    )


def _claim(asked: ProgressClaim, tests: int) -> dict[str, Any]:
    return {
        "family": "progress",
        "threads": asked.threads,
        "instructions": asked.instrs,
        "locations": asked.locations,
        "values": asked.values,
        "kept": "minimal" if asked.minimal else "all",
        "one_per": "behaviour" if asked.behaviours else "program",
        "threads_exchanged": "one test" if asked.symmetric else "another test",
        **({"told_apart": list(asked.distinguish)} if asked.distinguish else {}),
        "tests": tests,
        "models": dict.fromkeys(MODELS),
    }


def _check_tests(
    asked: ProgressClaim, corpus: Corpus, jobs: Jobs, limits: Limits, findings: Findings
) -> dict[str, bytes]:
    """Judge each test anew, and return the places of the tests by their keys."""
    present: dict[str, bytes] = {}
    places: list[bytes] = []

    def refuse(number: int, line: str) -> None:
        findings.refused.append(f"{corpus.path / TESTS}:{number}: {line}")

    given = list(enumerate(corpus.tests, 1))
    for result in map_each(partial(_check_test, asked=asked), given, jobs, limits, _test_lost):
        if result is None:
            continue
        number, bad, key, place = result
        if bad:
            refuse(number, bad)
        elif key in present:
            refuse(number, f"{corpus.tests[number - 1].name}: two tests are one")
        else:
            present[key] = place
            places.append(place)
    if not findings.refused:
        late = (number for number, (one, other) in enumerate(pairwise(places), 2) if one >= other)
        for number in late:
            refuse(number, f"{corpus.tests[number - 1].name}: the tests are not in their order")
            break
    width = max(4, len(str(len(corpus.tests))))
    for number, test in given:
        if test.name != (name := f"{test.bound}-{number:0{width}}"):
            refuse(number, f"{test.name}: the test here is called {name}")
            break
    return present


def _check_test(numbered: tuple[int, Test], asked: ProgressClaim) -> tuple[int, str, str, bytes]:
    """Return the number of a test, what does not hold of it, and its key and place."""
    number, test = numbered
    try:
        return number, "", *check_test(asked, test)
    except (InputError, RefusedError) as error:
        return number, str(error), "", b""


def _test_lost(numbered: tuple[int, Test], reason: str) -> tuple[int, str, str, bytes]:
    return numbered[0], f"{numbered[1].name}: not verified: {reason}", "", b""


def _check_units(
    asked: ProgressClaim,
    units: Sequence[UnitFiles[_Unit]],
    present: Mapping[str, bytes],
    jobs: Jobs,
    limits: Limits,
    watch: Watch,
    found: Findings,
) -> dict[str, dict[str, int]]:
    """Check that each unit proves its claims, that the claimed tests are present, and that together the units are all
    programs.

    The result is how large the formula of each shape is, as the manifest has it.
    """
    cases: dict[UnitShape, list[dict[tuple[int, int], int]]] = {}
    sizes: dict[str, dict[str, int]] = {}
    work = partial(_check_unit, asked=asked, present=present)
    for checked in map_each(work, units, jobs, limits, _unit_lost):
        if checked is not None:
            shape = units[found.units].part.shape
            found.refused += checked.bad
            found.units += 1
            found.steps += checked.steps
            found.found += checked.found
            found.refinements += checked.refinements
            cases.setdefault(shape, []).append(checked.case)
            sizes[sizes_word(shape.lengths)] = dict(zip(("variables", "clauses"), checked.size, strict=True))
        watch(found.units, len(units), len(found.refused))
    for shape, claimed in () if found.refused else cases.items():
        try:
            check_cases(shape, claimed)
        except RefusedError as error:
            found.refused.append(f"{units[0].folder}: {sizes_word(shape.lengths)}: {error}")
    return {shape: sizes[shape] for shape in sorted(sizes, key=lambda shape: f"{shape}/")}


def _check_unit(files: UnitFiles[_Unit], asked: ProgressClaim, present: Mapping[str, bytes]) -> _Checked:
    try:
        (formula, claims), steps = proved(files, partial(_formula, files.part.shape), _claims)
    except (InputError, RefusedError) as error:
        return _Checked([str(error)])
    lost = (missing(asked, program, present) for program in claims.programs)
    absent = [
        f"{files.own.path}: not in the corpus, found in {files.part.name}: {program_word(test)}"
        for test in lost
        if test
    ]
    size = len(formula.variables), len(formula.clauses)
    return _Checked(absent, claims.case, len(claims.programs), claims.refinements, steps, size)


def _unit_lost(files: UnitFiles[_Unit], reason: str) -> _Checked:
    return _Checked([f"{files.own.path}: not verified: {reason}"])


def _claims(
    formula: ProgressFormula, lines: Iterable[str]
) -> tuple[tuple[ProgressFormula, ProgressUnitClaims], list[Clause]]:
    claims = check_clauses(formula, lines)
    return (formula, claims), claims.clauses


@lru_cache(maxsize=2)  # the units of a shape ask one after the other
def _formula(shape: UnitShape, file: Packed) -> ProgressFormula:
    formula = read_formula(shape, file.lines())
    check_formula(formula)
    return formula
