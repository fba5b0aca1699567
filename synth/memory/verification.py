"""The check of a certified memory suite: proofs, tests, and that no test is missing.

The oracle judges what units block (``oracle.certificates``). The corpus has to hold exactly what their tests make:
names, texts, tags, the verdicts that models give today, and mutants. How a test is written and named is taken on trust
(docs/certificates.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from constraints.programs.criterion import Criterion
from corpus.certificates import FOLDER, Packed, sizes_word
from corpus.cycles.cycle import Cycle, cycle_name, cycle_text, oriented
from corpus.errors import InputError
from corpus.executions.execution import Execution
from corpus.executions.text import execution_text
from corpus.journal import sorted_once
from corpus.links import LINKS, MUTANTS, print_links
from corpus.litmus.orders import SCOPES
from corpus.records import record_reader
from corpus.suite import TESTS, Corpus, read_manifest, read_tests
from corpus.test import Test
from oracle.certificates import cycles, executions
from oracle.certificates.clauses import CertifiedFormula, formula_lines
from oracle.certificates.refusal import RefusedError, differences
from oracle.consistency import ConsistencyModel
from oracle.executions.judge import Answer
from oracle.executions.steps import TooManyError
from synth.inputs import MEMORY
from synth.memory import certification, suites, synthesis
from synth.memory.certification import Sizes
from synth.memory.synthesis import Refused, labelled_test, minimal_tests
from synth.pool import map_each
from synth.rebuilding import asked_again, folder_lines, kept, other_lines
from synth.requests import MOST, MOST_EVENTS, spelled
from synth.verification import CheckWork, ClaimsRead, RebuiltSuite, UnitFiles, numbers_of, same_lines

Part = TypeVar("Part")
Claim = TypeVar("Claim")
Keyed = tuple[str, Test]
"""A test with its key in the corpus."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """The judgement of a claim: a test, its mutants, that it cannot be written, or why the claim does not hold."""

    tests: list[Keyed] = field(default_factory=list)
    mutants: list[Keyed] = field(default_factory=list)
    unwritten: dict[str, str] = field(default_factory=dict)
    bad: str = ""


@dataclass(frozen=True, slots=True)
class _Made:
    """All that the claims make: the tests in their order, their mutants, what could not be written, and the claims."""

    tests: list[Test]
    mutants: list[Test]
    unwritten: dict[str, str]
    claims: Sequence[Any]


class _Check(ABC, Generic[Part, Claim]):
    """The check of one kind of memory suite, whose units claim what tests are made of."""

    called: str

    @abstractmethod
    def parts(self) -> Iterator[tuple[Part, str]]:
        """Yield the units with their names in the names of files."""

    @abstractmethod
    def written(self, part: Part) -> tuple[str, CertifiedFormula]:
        """Return the first line of the formula of a unit, and the formula, written anew."""

    @abstractmethod
    def claims(self, files: UnitFiles[Part], formula: CertifiedFormula) -> ClaimsRead[Claim]:
        """Return the claims of a unit, and the clauses that it adds to this formula."""

    @abstractmethod
    def judge(self, claim: Claim) -> _Judged:
        """Judge a claim of a unit, and return the tests that it makes."""

    @abstractmethod
    def word(self, claim: Claim) -> str:
        """Return a claim as the text that its file has."""

    @abstractmethod
    def rebuilt(self, made: _Made, corpus: Corpus) -> tuple[list[Test], RebuiltSuite]:
        """Return the tests that the corpus has to hold, and the rest of the suite."""

    def units(self, corpus: Path) -> list[UnitFiles[Part]]:
        """Return the units with their files; each has some: a request may be for any number of units."""
        units = []
        for part, word in self.parts():
            numbers_of(corpus, word)
            units.append(UnitFiles.of(part, corpus, word))
        if not units:
            raise RefusedError("request: nothing is certified: it has 0 units")
        return units

    def formula(self, part: Part, file: Packed) -> CertifiedFormula:
        """Return the formula that a file has to hold, written anew; another is refused."""
        head, formula = self.written(part)
        same_lines(file, formula_lines(head, formula))
        return formula

    def whole(self, corpus: Corpus, units: Sequence[UnitFiles[Part]], work: CheckWork) -> RebuiltSuite:
        """Judge what the units claim, and compare the tests that it makes with those of the corpus."""
        findings = work.findings
        findings.called = self.called
        claims = [claim for proved in work.prove(self, units) for claim in proved.claims]
        findings.refinements = sum(isinstance(claim, _Program) and not claim.is_test for claim in claims)
        findings.found = len(claims) - findings.refinements
        expected, rebuilt = self.rebuilt(self._made(claims, corpus.path, work), corpus)
        findings.refused += differences(expected, corpus.tests, str(corpus.path / TESTS))
        rebuilt.claim["verdicts_unknown"] = sum(
            verdict == Answer.UNKNOWN for test in corpus.tests for verdict in test.verdicts.values()
        )
        return rebuilt

    def _made(self, claims: list[Claim], corpus: Path, work: CheckWork) -> _Made:
        tests: list[Keyed] = []
        mutants: list[Keyed] = []
        unwritten: dict[str, str] = {}
        done, refused = 0, work.findings.refused

        def lost(claim: Claim, reason: str) -> _Judged:
            return _Judged(bad=f"not verified: {reason}")

        for result in map_each(self.judge, claims, work.jobs, work.limits, lost):
            if result is not None:
                tests += result.tests
                mutants += result.mutants
                unwritten |= result.unwritten
                if result.bad:
                    refused.append(f"{corpus / FOLDER}: {self.word(claims[done])}: {result.bad}")
                done += 1
            work.watch(done, len(claims), len(refused))
        return _Made(sorted_once(tests), sorted_once(mutants), unwritten, claims)


def check_of(corpus: Corpus) -> _Check[Any, Any]:
    """Return the check of a corpus. Raises ``RefusedError`` or ``InputError`` where its request cannot be certified."""
    return _SuiteCheck.of(corpus) if "events" in corpus.manifest["request"] else _CycleCheck.of(corpus)


def _models(models: Iterable[ConsistencyModel]) -> dict[str, str]:
    return {model.name: model.digest for model in models}


# Suites from a model


@dataclass(frozen=True, slots=True)
class _Program:
    """A program with an outcome that a unit blocks, as a test or because the outcome can come about."""

    sizes: Sizes
    execution: Execution
    is_test: bool


@dataclass(frozen=True)
class _SuiteCheck(_Check[Sizes, _Program]):
    request: suites.SuiteRequest
    called = "minimal programs"

    @classmethod
    def of(cls, corpus: Corpus) -> _SuiteCheck:
        request = asked_again(corpus, MEMORY, suites.SuiteRequest, suites.SuiteRequest.as_json)
        request.check()
        certification.check_certifiable(request)
        if not 1 <= request.events[0] <= request.events[1] <= MOST_EVENTS:
            raise RefusedError(f"request.events: expected 1 to {MOST_EVENTS}, the least first")
        return cls(request)

    def parts(self) -> Iterator[tuple[Sizes, str]]:
        return ((sizes, sizes_word(sizes)) for sizes in certification.certified_units(self.request))

    def word(self, claim: _Program) -> str:
        return f"{sizes_word(claim.sizes)}: {execution_text(claim.execution)}"

    def written(self, sizes: Sizes) -> tuple[str, CertifiedFormula]:
        return certification.suite_head(self.request, sizes), certification.suite_formula(self.request, sizes)

    def claims(self, files: UnitFiles[Sizes], formula: CertifiedFormula) -> ClaimsRead[_Program]:
        sizes = files.part
        claims = executions.check_clauses(formula, sizes, self.request.words, files.own.lines())
        programs = [_Program(sizes, execution, True) for execution in claims.tests]
        programs += [_Program(sizes, execution, False) for execution in claims.allowed]
        return programs, claims.clauses, []

    def judge(self, program: _Program) -> _Judged:
        request = self.request
        read = record_reader([model.name for model in request.models])
        try:
            lack = executions.lacks if program.is_test else executions.forbidden
            if why := lack(program.execution, request.axiomatic, request.words):
                return _Judged(bad=why)
            if not program.is_test:
                return _Judged()
            found = suites.found_of(program.execution, Criterion(request.criterion), request)
        except (InputError, TooManyError) as error:
            return _Judged(bad=error.message)
        if found is None:
            return _Judged()
        return _Judged(
            [(key, read(record)) for key, record in found.tests], [(key, read(record)) for key, record in found.beside]
        )

    def rebuilt(self, made: _Made, corpus: Corpus) -> tuple[list[Test], RebuiltSuite]:
        request, found = self.request, corpus.manifest
        counted_before, criterion = _criteria(found), request.criterion
        counted = {name.value: counted_before.get(name, 0) for name in request.criteria} | {criterion: len(made.tests)}
        counts = {"criteria": {name: count if type(count) is int else 0 for name, count in counted.items()}}
        units = {unit.name for unit in suites.units(request)}
        sizes = kept(found, "encodings", dict)
        encodings = {name: size if _is_size(size) else {} for name, size in sizes.items() if name in units}
        manifest = suites.manifest_of(request, counts, encodings, kept(found, "version", str))
        claim = {
            "family": "memory",
            "from": _models(request.models[:1]),
            "events": spelled(request.events),
            "threads": spelled(request.threads) if request.threads else "any number",
            "vocabulary": list(request.words.spelled),
            "kept": "minimal",
            "criterion": request.criterion,
            **({"axioms": list(request.axioms)} if request.axioms else {}),
            "one_per": "program" if request.up_to == "program" else "outcome",
            "tests": len(corpus.tests),
            "models": _models(request.models),
            "mutants": "all" if request.mutants else "none",
        }
        free = ["version", "encodings", *(f"counts.criteria.{name}" for name in request.criteria[1:])]
        tests = suites.chosen(request, made.tests)
        wrong = _mutants(request, corpus.path, made, tests) if request.mutants else ()
        return tests, RebuiltSuite(claim, manifest, free, request.mutants, wrong)


def _criteria(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many tests a manifest states for each criterion."""
    counted: dict[str, Any] = kept(kept(manifest, "counts", dict), "criteria", dict)
    return counted


def _is_size(size: object) -> bool:
    return isinstance(size, dict) and list(size) == ["variables", "clauses"] and set(map(type, size.values())) == {int}


def _mutants(request: suites.SuiteRequest, corpus: Path, made: _Made, tests: Sequence[Test]) -> Iterator[str]:
    """Yield what does not hold of the folder of mutants."""
    folder = corpus / MUTANTS
    mutants, links = suites.mutants_of(made.mutants, tests)
    try:
        found = read_manifest(folder)
        there = read_tests(folder, found)
        yield from differences(mutants, there, str(folder / TESTS))
        yield from folder_lines(folder, found, there, suites.mutants_manifest(request, complete=True))
        yield from other_lines(folder / LINKS, print_links(links))
    except InputError as error:
        yield str(error)


# Suites of cycles


@dataclass(frozen=True)
class _CycleCheck(_Check[int, Cycle]):
    request: synthesis.CycleSuiteRequest
    called = "cycles"

    @classmethod
    def of(cls, corpus: Corpus) -> _CycleCheck:
        request = asked_again(corpus, MEMORY, synthesis.CycleSuiteRequest, synthesis.CycleSuiteRequest.as_json)
        certification.check_certifiable_cycles(request)
        try:
            certification.asked_cycles(request)
        except ValueError:
            raise RefusedError("request.regions: no regions of memory") from None
        if unknown := sorted({*request.scopes} - {*SCOPES}):
            raise RefusedError(f"request.scopes: no scope is called {unknown[0]}")
        if not 2 <= request.sizes[0] <= request.sizes[1] <= MOST:
            raise RefusedError(f"request.sizes: expected 2 to {MOST}, the least first")
        return cls(request)

    def parts(self) -> Iterator[tuple[int, str]]:
        return ((size, str(size)) for size in certification.certified_sizes(self.request))

    def word(self, claim: Cycle) -> str:
        return cycle_text(claim)

    def written(self, size: int) -> tuple[str, CertifiedFormula]:
        return certification.cycle_head(size), certification.cycle_formula(self.request, size)

    def claims(self, files: UnitFiles[int], formula: CertifiedFormula) -> ClaimsRead[Cycle]:
        claim = certification.asked_cycles(self.request)
        claims = cycles.check_clauses(formula, claim, files.part, files.own.lines())
        return claims.cycles, claims.clauses, []

    def judge(self, cycle: Cycle) -> _Judged:
        test = labelled_test(oriented(cycle), self.request.models)
        if isinstance(test, Refused):
            return _Judged(unwritten={test.name: test.reason})
        return _Judged([(f"{test.size:06} {test.name}", test)])

    def rebuilt(self, made: _Made, corpus: Corpus) -> tuple[list[Test], RebuiltSuite]:
        request = self.request
        there = {cycle_name(cycle): cycle for cycle in map(oriented, made.claims)}
        tests = minimal_tests(made.tests, there) if request.minimal else made.tests
        version = kept(corpus.manifest, "version", str)
        manifest = synthesis.manifest_of(request, len(there), made.unwritten, version)
        claim = {
            "family": "memory",
            "edges": request.edges,
            "size": spelled(request.sizes),
            "threads": spelled(request.threads) if request.threads else "any number",
            "scopes": list(request.scopes),
            "regions": list(request.regions),
            "accesses": {"of_a_thread": request.thread_accesses, "of_a_location": request.location_accesses},
            "compositions": request.compositions,
            "kept": "minimal" if request.minimal else "all",
            "one_per": "cycle",
            "tests": len(corpus.tests),
            "models": _models(request.models),
        }
        return tests, RebuiltSuite(claim, manifest, ["version"])
