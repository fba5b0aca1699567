"""The check of a certified memory suite: proofs, tests, and that no test is missing.

The oracle judges what units block (``oracle.certificates``). The corpus has to hold exactly what their tests make:
names, texts, tags, the verdicts that models give today, and mutants. How a test is written and named is taken on trust
(docs/certificates.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from constraints.programs.criterion import Criterion
from corpus.certificates import FOLDER, Packed, sizes_word
from corpus.cycles.cycle import Cycle, cycle_name, cycle_text, oriented
from corpus.errors import InputError
from corpus.executions.execution import Execution
from corpus.executions.text import execution_text
from corpus.journal import sorted_once
from corpus.links import LINKS, MUTANTS, print_links
from corpus.litmus.test import SCOPES
from corpus.records import record_reader
from corpus.suite import MANIFEST, TESTS, Corpus, read_manifest, read_tests
from corpus.test import Test
from oracle.certificates import cycles, executions
from oracle.certificates.clauses import CertifiedFormula, Clause, formula_lines
from oracle.certificates.refusal import RefusedError, differences
from oracle.consistency import ConsistencyModel
from oracle.executions.judge import Answer
from oracle.executions.steps import TooManyError
from synth.inputs import MEMORY
from synth.memory import certification, suites, synthesis
from synth.memory.certification import Sizes
from synth.memory.synthesis import Refused, labelled_test, minimal_tests
from synth.options.values import MOST, spelled
from synth.options.vocabulary import MOST_EVENTS
from synth.pool import Jobs, map_each
from synth.rebuilding import asked_again, files_beside, folder_lines, kept, other_lines
from synth.verification import Findings, UnitFiles, Watch, numbers_of, of_request, proved, same_lines
from synth.worker import Limits

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
class _Proved(Generic[Claim]):
    """The claims of a unit with the number of the proof's steps, or what does not hold."""

    claims: list[Claim] = field(default_factory=list)
    steps: int = 0
    bad: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Made:
    """All that the claims make: the tests in their order, their mutants, what could not be written, and the claims."""

    tests: list[Test]
    mutants: list[Test]
    unwritten: dict[str, str]
    claims: Sequence[Any]


class _Check(Protocol[Part, Claim]):
    """The interface of a check of one kind of suite; it can be sent to the process that does the work."""

    called: str

    def units(self) -> Iterator[tuple[Part, str]]:
        """Yield the units with their names in the names of files."""

    def prove(self, files: UnitFiles[Part]) -> _Proved[Claim]:
        """Return the claims of a unit after checking its proof."""

    def judge(self, claim: Claim) -> _Judged:
        """Judge a claim of a unit, and return the tests that it makes."""

    def word(self, claim: Claim) -> str:
        """Return a claim as the text that its file has."""

    def whole(self, made: _Made, found: Mapping[str, Any]) -> tuple[list[Test], dict[str, Any]]:
        """Return the tests that the corpus has to hold, and the keys of its manifest that do not follow from them.

        ``found`` is the manifest that the corpus has.
        """

    def claim(self, tests: int) -> dict[str, Any]:
        """Return the statement that is verified, as plain data."""

    def free(self) -> list[str]:
        """Return the keys of the manifest that are not checked."""


def verify(corpus: Corpus, jobs: Jobs, limits: Limits, watch: Watch) -> Findings:
    """Check a certified memory suite with its certificate, and return the findings."""
    findings = Findings(tests=len(corpus.tests))
    try:
        if not corpus.complete:
            raise RefusedError("complete: expected true")
        of_model = "events" in corpus.manifest["request"]
        check: _Check[Any, Any] = _SuiteCheck.of(corpus) if of_model else _CycleCheck.of(corpus)
        units = [_files(part, word, corpus) for part, word in check.units()]
        if not units:
            raise RefusedError("request: nothing is certified: it has 0 units")
    except (InputError, RefusedError) as error:
        findings.refused.append(of_request(corpus.path, error))
        return findings
    findings.called = check.called
    claims = _claims(check, units, jobs, limits, watch, findings)
    findings.refinements = sum(isinstance(claim, _Program) and not claim.is_test for claim in claims)
    findings.found = len(claims) - findings.refinements
    made = _tests(check, corpus.path, claims, jobs, limits, watch, findings)
    expected, manifest = check.whole(made, corpus.manifest)
    findings.refused += differences(expected, corpus.tests, str(corpus.path / TESTS))
    findings.refused += folder_lines(corpus.path, corpus.manifest, corpus.tests, manifest)
    mutants = isinstance(check, _SuiteCheck) and check.request.mutants
    if isinstance(check, _SuiteCheck) and mutants:
        findings.refused += _mutants(check.request, corpus.path, made, expected)
    names = {name for unit in units for name in unit.names}
    wrong, beside = files_beside(corpus.path, names, mutants)
    findings.refused += wrong
    findings.unchecked = [*(f"{MANIFEST}: {key}" for key in check.free()), *beside]
    findings.claim = check.claim(len(corpus.tests)) | {"verdicts_unknown": _unknown(corpus.tests)}
    return findings


def _files(part: Part, word: str, corpus: Corpus) -> UnitFiles[Part]:
    """Return the files of a unit. Raises ``InputError`` where it has none: a request may be for any number of units."""
    numbers_of(corpus.path, word)
    return UnitFiles.of(part, corpus.path, word)


def _unknown(tests: Iterable[Test]) -> int:
    return sum(verdict == Answer.UNKNOWN for test in tests for verdict in test.verdicts.values())


def _claims(
    check: _Check[Part, Claim],
    units: Sequence[UnitFiles[Part]],
    jobs: Jobs,
    limits: Limits,
    watch: Watch,
    findings: Findings,
) -> list[Claim]:
    """Return the claims of the units, each of which is proved."""
    claims: list[Claim] = []

    def lost(files: UnitFiles[Part], reason: str) -> _Proved[Claim]:
        return _Proved(bad=[f"{files.own.path}: not verified: {reason}"])

    for result in map_each(check.prove, units, jobs, limits, lost):
        if result is not None:
            claims += result.claims
            findings.units += 1
            findings.steps += result.steps
            findings.refused += result.bad
        watch(findings.units, len(units), len(findings.refused))
    return claims


def _tests(
    check: _Check[Part, Claim],
    corpus: Path,
    claims: list[Claim],
    jobs: Jobs,
    limits: Limits,
    watch: Watch,
    findings: Findings,
) -> _Made:
    """Return the tests that the claims make."""
    tests: list[Keyed] = []
    mutants: list[Keyed] = []
    unwritten: dict[str, str] = {}
    done = 0

    def lost(claim: Claim, reason: str) -> _Judged:
        return _Judged(bad=f"not verified: {reason}")

    for result in map_each(check.judge, claims, jobs, limits, lost):
        if result is not None:
            tests += result.tests
            mutants += result.mutants
            unwritten |= result.unwritten
            if result.bad:
                findings.refused.append(f"{corpus / FOLDER}: {check.word(claims[done])}: {result.bad}")
            done += 1
        watch(done, len(claims), len(findings.refused))
    return _Made(sorted_once(tests), sorted_once(mutants), unwritten, claims)


def _written(head: str, formula: Callable[[], CertifiedFormula], file: Packed) -> CertifiedFormula:
    """Return the formula that a file has to hold, written anew. Raises ``RefusedError`` where it holds another."""
    written = formula()
    same_lines(file, formula_lines(head, written))
    return written


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
class _SuiteCheck:
    request: suites.SuiteRequest
    called = "minimal programs"

    @classmethod
    def of(cls, corpus: Corpus) -> _SuiteCheck:
        """Return the check of a corpus. Raises ``RefusedError`` or ``InputError`` where its request cannot be
        certified.
        """
        request = asked_again(corpus, MEMORY, suites.SuiteRequest, suites.SuiteRequest.as_json)
        request.check()
        certification.check_certifiable(request)
        if not 1 <= request.events[0] <= request.events[1] <= MOST_EVENTS:
            raise RefusedError(f"request.events: expected 1 to {MOST_EVENTS}, the least first")
        return cls(request)

    def units(self) -> Iterator[tuple[Sizes, str]]:
        return ((sizes, sizes_word(sizes)) for sizes in certification.certified_units(self.request))

    def word(self, claim: _Program) -> str:
        return f"{sizes_word(claim.sizes)}: {execution_text(claim.execution)}"

    def prove(self, files: UnitFiles[Sizes]) -> _Proved[_Program]:
        request, sizes = self.request, files.part

        def claims_of(formula: CertifiedFormula, lines: Iterable[str]) -> tuple[list[_Program], list[Clause]]:
            claims = executions.check_clauses(formula, sizes, request.words, lines)
            programs = [_Program(sizes, execution, True) for execution in claims.tests]
            return programs + [_Program(sizes, execution, False) for execution in claims.allowed], claims.clauses

        formula = partial(certification.suite_formula, request, sizes)
        formula_of = partial(_written, certification.suite_head(request, sizes), formula)
        try:
            return _Proved(*proved(files, formula_of, claims_of))
        except (InputError, RefusedError) as error:
            return _Proved(bad=[str(error)])

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

    def whole(self, made: _Made, found: Mapping[str, Any]) -> tuple[list[Test], dict[str, Any]]:
        said, asked = _criteria(found), self.request.criterion
        counted = {name.value: said.get(name, 0) for name in self.request.criteria} | {asked: len(made.tests)}
        counts = {"criteria": {name: count if type(count) is int else 0 for name, count in counted.items()}}
        units = {unit.name for unit in suites.units(self.request)}
        sizes = kept(found, "encodings", dict)
        encodings = {name: size if _is_size(size) else {} for name, size in sizes.items() if name in units}
        manifest = suites.manifest_of(self.request, counts, encodings, kept(found, "version", str))
        return suites.chosen(self.request, made.tests), manifest

    def claim(self, tests: int) -> dict[str, Any]:
        request = self.request
        return {
            "family": "memory",
            "from": _models(request.models[:1]),
            "events": spelled(request.events),
            "threads": spelled(request.threads) if request.threads else "any number",
            "vocabulary": list(request.words.spelled),
            "kept": "minimal",
            "criterion": request.criterion,
            **({"axioms": list(request.axioms)} if request.axioms else {}),
            "one_per": "program" if request.up_to == "program" else "outcome",
            "tests": tests,
            "models": _models(request.models),
            "mutants": "all" if request.mutants else "none",
        }

    def free(self) -> list[str]:
        return ["version", "encodings", *(f"counts.criteria.{name}" for name in self.request.criteria[1:])]


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
class _CycleCheck:
    request: synthesis.CycleSuiteRequest
    called = "cycles"

    @classmethod
    def of(cls, corpus: Corpus) -> _CycleCheck:
        """Return the check of a corpus. Raises ``RefusedError`` or ``InputError`` where its request cannot be
        certified.
        """
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

    def units(self) -> Iterator[tuple[int, str]]:
        return ((size, str(size)) for size in certification.certified_sizes(self.request))

    def word(self, claim: Cycle) -> str:
        return cycle_text(claim)

    def prove(self, files: UnitFiles[int]) -> _Proved[Cycle]:
        request, size = self.request, files.part
        asked = certification.asked_cycles(request)

        def claims_of(formula: CertifiedFormula, lines: Iterable[str]) -> tuple[list[Cycle], list[Clause]]:
            claims = cycles.check_clauses(formula, asked, size, lines)
            return claims.cycles, claims.clauses

        formula = partial(certification.cycle_formula, request, size)
        try:
            return _Proved(*proved(files, partial(_written, certification.cycle_head(size), formula), claims_of))
        except (InputError, RefusedError) as error:
            return _Proved(bad=[str(error)])

    def judge(self, cycle: Cycle) -> _Judged:
        test = labelled_test(oriented(cycle), self.request.models)
        if isinstance(test, Refused):
            return _Judged(unwritten={test.name: test.reason})
        return _Judged([(f"{test.size:06} {test.name}", test)])

    def whole(self, made: _Made, found: Mapping[str, Any]) -> tuple[list[Test], dict[str, Any]]:
        there = {cycle_name(cycle): cycle for cycle in map(oriented, made.claims)}
        tests = minimal_tests(made.tests, there) if self.request.minimal else made.tests
        manifest = synthesis.manifest_of(self.request, len(there), made.unwritten, kept(found, "version", str))
        return tests, manifest

    def claim(self, tests: int) -> dict[str, Any]:
        request = self.request
        return {
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
            "tests": tests,
            "models": _models(request.models),
        }

    def free(self) -> list[str]:
        return ["version"]
