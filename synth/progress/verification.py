"""The check of a certified progress suite: proofs, tests, and that no test is missing.

``synth.verification`` proves the units; each test is judged anew here, before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from constraints.solvers import SOLVERS
from corpus.certificates import Packed, sizes_word
from corpus.errors import InputError
from corpus.progress.certificates import program_word
from corpus.suite import TESTS, Corpus
from corpus.test import Test
from oracle.certificates.progress_formulas import check_formula
from oracle.certificates.refusal import RefusedError
from oracle.certificates.tests import ProgressClaim, check_test, missing
from oracle.certificates.units import ProgressFormula, UnitShape, check_cases, check_clauses, read_formula
from oracle.progress.models import MODELS
from synth.inputs import PROGRESS
from synth.pool import map_each
from synth.progress.synthesis import ProgressSuiteRequest, check_size, manifest_of
from synth.rebuilding import asked_again, kept
from synth.verification import CheckWork, ClaimsRead, RebuiltSuite, UnitFiles, numbers_of


@dataclass(frozen=True, slots=True)
class _Unit:
    shape: UnitShape
    cube: int

    @property
    def name(self) -> str:
        return f"{sizes_word(self.shape.lengths)}/{self.cube}"


@dataclass(frozen=True, slots=True)
class _UnitClaim:
    """The claims of a unit as one: its case, what it blocks, and the size of the formula of its shape."""

    case: dict[tuple[int, int], int] = field(default_factory=dict)
    found: int = 0
    refinements: int = 0
    size: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class _Check:
    """The check of a progress suite; ``present`` has the places of the tests of the corpus by their keys."""

    request: ProgressSuiteRequest
    claim: ProgressClaim
    present: Mapping[str, bytes] = field(default_factory=dict)

    def units(self, corpus: Path) -> list[UnitFiles[_Unit]]:
        units = [
            UnitFiles.of(_Unit(shape, cube), corpus, sizes_word(shape.lengths), cube)
            for shape in self.claim.shapes()
            for cube in numbers_of(corpus, sizes_word(shape.lengths))
        ]
        if not units:
            claim = self.claim
            raise RefusedError(f"no program has {claim.threads} threads and {claim.instrs} instructions: 0 units")
        return units

    def formula(self, unit: _Unit, file: Packed) -> ProgressFormula:
        return _formula(unit.shape, file)

    def claims(self, files: UnitFiles[_Unit], formula: ProgressFormula) -> ClaimsRead[_UnitClaim]:
        claims = check_clauses(formula, files.own.lines())
        lost = (missing(self.claim, program, self.present) for program in claims.programs)
        absent = [
            f"{files.own.path}: not in the corpus, found in {files.part.name}: {program_word(test)}"
            for test in lost
            if test
        ]
        size = len(formula.variables), len(formula.clauses)
        return [_UnitClaim(claims.case, len(claims.programs), claims.refinements, size)], claims.clauses, absent

    def whole(self, corpus: Corpus, units: Sequence[UnitFiles[_Unit]], work: CheckWork) -> RebuiltSuite:
        """Judge each test anew; then check that the tests that units claim are there, and that together the units are
        all programs.
        """
        findings = work.findings
        check = replace(self, present=_check_tests(self.claim, corpus, work))
        cases: dict[UnitShape, list[dict[tuple[int, int], int]]] = {}
        sizes: dict[str, dict[str, int]] = {}
        for unit, proved in zip(units, work.prove(check, units), strict=True):
            shape, claim = unit.part.shape, next(iter(proved.claims), _UnitClaim())
            findings.found += claim.found
            findings.refinements += claim.refinements
            cases.setdefault(shape, []).append(claim.case)
            sizes[sizes_word(shape.lengths)] = dict(zip(("variables", "clauses"), claim.size, strict=True))
        for shape, claimed in () if findings.refused else cases.items():
            try:
                check_cases(shape, claimed)
            except RefusedError as error:
                findings.refused.append(f"{units[0].folder}: {sizes_word(shape.lengths)}: {error}")
        encodings = {shape: sizes[shape] for shape in sorted(sizes, key=lambda shape: f"{shape}/")}
        free = ("version", "solver")
        version, solver = (kept(corpus.manifest, key, str) for key in free)
        manifest = manifest_of(self.request, encodings, version, solver if solver in SOLVERS else "")
        return RebuiltSuite(_claim(self.claim, len(corpus.tests)), manifest, free)


def check_of(corpus: Corpus) -> _Check:
    """Return the check of a corpus. Raises ``RefusedError`` or ``InputError`` where its request cannot be certified."""
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
    claim = ProgressClaim(threads, instrs, request.locs, request.values, request.minimal, behaviours, border, symmetric)
    return _Check(request, claim)


def _claim(claim: ProgressClaim, tests: int) -> dict[str, Any]:
    return {
        "family": "progress",
        "threads": claim.threads,
        "instructions": claim.instrs,
        "locations": claim.locations,
        "values": claim.values,
        "kept": "minimal" if claim.minimal else "all",
        "one_per": "behaviour" if claim.behaviours else "program",
        "threads_exchanged": "one test" if claim.symmetric else "another test",
        **({"told_apart": list(claim.distinguish)} if claim.distinguish else {}),
        "tests": tests,
        "models": dict.fromkeys(MODELS),
    }


def _check_tests(claim: ProgressClaim, corpus: Corpus, work: CheckWork) -> dict[str, bytes]:
    """Judge each test anew, and return the places of the tests by their keys."""
    findings = work.findings
    present: dict[str, bytes] = {}
    places: list[bytes] = []

    def refuse(number: int, line: str) -> None:
        findings.refused.append(f"{corpus.path / TESTS}:{number}: {line}")

    given = list(enumerate(corpus.tests, 1))
    for result in map_each(partial(_check_test, claim=claim), given, work.jobs, work.limits, _test_lost):
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


def _check_test(numbered: tuple[int, Test], claim: ProgressClaim) -> tuple[int, str, str, bytes]:
    """Return the number of a test, what does not hold of it, and its key and place."""
    number, test = numbered
    try:
        return number, "", *check_test(claim, test)
    except (InputError, RefusedError) as error:
        return number, str(error), "", b""


def _test_lost(numbered: tuple[int, Test], reason: str) -> tuple[int, str, str, bytes]:
    return numbered[0], f"{numbered[1].name}: not verified: {reason}", "", b""


@lru_cache(maxsize=2)  # the units of a shape ask one after the other
def _formula(shape: UnitShape, file: Packed) -> ProgressFormula:
    formula = read_formula(shape, file.lines())
    check_formula(formula)
    return formula
