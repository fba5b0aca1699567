"""The check of a certified progress suite: each unit's proof, each test, and that no test is missing.

Planned and spread over processes here; every word of judgement is the oracle's (``oracle.certificates``), but for one:
that a shape's formula is the one that ``constraints.progress`` writes today. What that formula says is taken on trust
(docs/certificates.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path

from constraints.progress import ProgressEncoding
from constraints.progress import Shape as EncodedShape
from corpus.errors import InputError
from corpus.files import read_text
from corpus.journal import read_corpus
from corpus.progress.certificates import FOLDER, formula_file, program_word, shape_word, unit_files, unpacked
from corpus.suite import LABELS, Corpus, label_lines
from corpus.test import Test
from oracle.certificates.lrat import check_proof
from oracle.certificates.refusal import RefusedError
from oracle.certificates.tests import Asked, check_test, missing
from oracle.certificates.units import Claims, Formula, Shape, check_cases, check_clauses, read_formula
from oracle.progress.models import MODELS
from synth.pool import run_tasks
from synth.progress.certification import formula_lines
from synth.progress.synthesis import Request, check_size

_CHUNK = 500
"""Tests that are judged as one task."""

Watch = Callable[[int, int, int], None]


@dataclass
class Findings:
    """What was checked, and what does not hold: a line each."""

    tests: int = 0
    units: int = 0
    programs: int = 0
    refinements: int = 0
    steps: int = 0
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Unit:
    shape: Shape
    cube: int

    @property
    def name(self) -> str:
        return f"{shape_word(self.shape.lengths)}/{self.cube}"


def verify(path: Path, jobs: int, watch: Watch) -> Findings:
    """Check a corpus with its certificate. ``watch`` is told how many units are checked, of how many, and how many
    findings there are.

    Raises ``InputError`` where there is no corpus, or one without a certificate; what is wrong with one that is there
    is among the findings.
    """
    if not (path / FOLDER).is_dir():
        read_corpus(path)
        raise InputError("there is no certificate; synth progress --certify makes one", str(path))
    findings = Findings()
    try:
        corpus = read_corpus(path)
        asked = _asked(corpus)
        units = _planned(path / FOLDER, asked)
    except (InputError, RefusedError) as error:
        findings.refused.append(str(error))
        return findings
    findings.refused += _beside(corpus)
    present = _check_tests(asked, corpus.tests, jobs, findings)
    _check_units(asked, path / FOLDER, units, present, jobs, watch, findings)
    return findings


def _check_tests(asked: Asked, tests: Sequence[Test], jobs: int, findings: Findings) -> frozenset[str]:
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
    folder: Path,
    units: Sequence[_Unit],
    present: frozenset[str],
    jobs: int,
    watch: Watch,
    found: Findings,
) -> None:
    """Each unit proves what it claims, what it counts as found is present, and together they are all programs."""

    def check(unit: _Unit) -> Iterator[tuple[Claims | None, int, list[str]]]:
        try:
            claims, steps = _checked(folder, unit)
        except (InputError, RefusedError) as error:
            yield None, 0, [str(error)]
            return
        lost = (missing(asked, program, present) for program in claims.programs)
        absent = [f"not in the corpus, found in {unit.name}: {program_word(test)}" for test in lost if test]
        yield replace(claims, clauses=[]), steps, absent

    cases: dict[Shape, list[dict[tuple[int, int], int]]] = {}
    with closing(run_tasks(units, check, jobs)) as results:
        for result in results:
            if result is not None:
                unit, (claims, steps, bad) = result
                found.refused += bad
                found.units += 1
                found.steps += steps
                if claims is not None:
                    cases.setdefault(unit.shape, []).append(claims.case)
                    found.programs += len(claims.programs)
                    found.refinements += claims.refinements
            watch(found.units, len(units), len(found.refused))
    for shape, claimed in () if found.refused else cases.items():
        try:
            check_cases(shape, claimed)
        except RefusedError as error:
            found.refused.append(f"{shape_word(shape.lengths)}: {error}")


def _asked(corpus: Corpus) -> Asked:
    """What the corpus is to hold. Raises ``RefusedError`` where it does not claim to hold all that it was asked for."""
    if not corpus.complete:
        raise RefusedError("the corpus is not complete")
    asked = Asked.of(corpus.manifest.get("request", {}))
    if corpus.models != list(MODELS):
        raise RefusedError("the manifest does not have the models of this synth")
    check_size(Request(asked.threads, asked.instrs, asked.locs, asked.values))
    return asked


def _beside(corpus: Corpus) -> Iterator[str]:
    """What does not hold of the files beside the tests."""
    bounds = Counter(test.bound for test in corpus.tests)
    if corpus.manifest.get("counts", {}).get("bounds") != dict(bounds):
        yield "the manifest does not count the tests of each bound as they are"
    if len({test.name for test in corpus.tests}) < len(corpus.tests):
        yield "two tests have one name"
    try:
        if read_text(corpus.path / LABELS) != "".join(label_lines(corpus.tests, corpus.models)):
            yield f"{LABELS} does not say what the tests say"
    except InputError as error:
        yield str(error)


def _planned(folder: Path, asked: Asked) -> list[_Unit]:
    """The units that are there, of every shape. Raises ``RefusedError`` where a shape has none."""
    units: list[_Unit] = []
    for shape in asked.shapes():
        before = len(units)
        for cube in count():
            if not (folder / unit_files(shape.lengths, cube)[0]).exists():
                break
            units.append(_Unit(shape, cube))
        if len(units) == before:
            raise RefusedError(f"{folder / unit_files(shape.lengths, 0)[0]}: missing")
    return units


def _checked(folder: Path, unit: _Unit) -> tuple[Claims, int]:
    """What a unit proves, in so many steps. Raises ``RefusedError`` or ``InputError`` with what does not hold."""
    lengths = unit.shape.lengths
    file = folder / formula_file(lengths)
    try:
        formula = _formula(file, unit.shape)
        file, proof = (folder / name for name in unit_files(lengths, unit.cube))
        claims = check_clauses(formula, unpacked(file))
        file = proof
        return claims, check_proof([*claims.clauses, *formula.clauses], unpacked(proof))
    except RefusedError as error:
        raise RefusedError(f"{file}: {error}") from None


@lru_cache(maxsize=8)  # each of its units asks
def _formula(file: Path, shape: Shape) -> Formula:
    lines = unpacked(file)
    if lines != list(formula_lines(ProgressEncoding(EncodedShape(shape.lengths, shape.locations, shape.values)))):
        raise RefusedError("not the formula of the shape")
    return read_formula(shape, lines)
