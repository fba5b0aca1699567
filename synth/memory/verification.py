"""The check of a certified memory suite: each unit's proof, each test, and that no test is missing.

What units block is judged by the oracle (``oracle.certificates``). The corpus has to be what their tests make: the same
names, texts and tags, and the verdicts that models have today. Taken on trust, besides a formula's meaning, is how a
test is written and named (docs/certificates.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from constraints.programs.criterion import Criterion
from corpus.certificates import Packed, sizes_word
from corpus.cycles.cycle import Cycle, cycle_name, oriented
from corpus.errors import InputError
from corpus.executions.execution import Execution
from corpus.executions.text import execution_text
from corpus.records import record_reader
from corpus.suite import Corpus
from corpus.test import Test
from oracle.certificates import cycles, executions
from oracle.certificates.clauses import Clause, Formula, formula_lines
from oracle.certificates.records import differences
from oracle.certificates.refusal import RefusedError
from oracle.consistency import resolve_consistency_models
from oracle.executions.steps import TooManyError
from synth.memory import certification, suites, synthesis
from synth.memory.synthesis import Refused, labelled_test, minimal_tests
from synth.options.vocabulary import MOST_EVENTS
from synth.pool import Jobs, run_tasks
from synth.verification import Files, Findings, Watch, beside, numbers_of, proved, same_lines

_CHUNK = 50
"""What is judged as one task."""

Part = TypeVar("Part")
Claim = TypeVar("Claim")
Asked = TypeVar("Asked", suites.Request, synthesis.Request)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is made of some claims: tests by their keys in the corpus, what could not be written, what does not hold."""

    tests: list[tuple[str, Test]]
    refused: dict[str, str]
    bad: list[str]


@dataclass(frozen=True, slots=True)
class _Check(Generic[Part, Claim]):
    """How a kind of suite is checked.

    ``shapes``: the words of its units. ``prove`` gives what a unit claims, and how many steps its proof has; ``judge``
    what becomes of some claims; ``chosen`` the tests that the corpus has to hold, given all of these and the claims,
    and what does not hold of the manifest.
    """

    shapes: dict[Part, str]
    prove: Callable[[Files[Part]], tuple[list[Claim], int]]
    judge: Callable[[Sequence[Claim]], Iterator[_Judged]]
    chosen: Callable[[list[Test], list[Claim], dict[str, str]], tuple[list[Test], list[str]]]


def verify(corpus: Corpus, jobs: Jobs, watch: Watch) -> Findings:
    """Check a corpus with its certificate."""
    findings = Findings(tests=len(corpus.tests))
    try:
        if not corpus.complete:
            raise RefusedError("the corpus is not complete")
        of_model = "events" in corpus.manifest["request"]
        check: _Check[Any, Any] = _suite_check(corpus) if of_model else _cycle_check(corpus)
    except (InputError, RefusedError) as error:
        findings.refused.append(str(error))
        return findings
    findings.called = "minimal programs" if of_model else "cycles"
    findings.refused += beside(corpus)
    claims = _claims(check, corpus.path, jobs, watch, findings)
    findings.refinements = sum(isinstance(claim, _Program) and not claim.is_test for claim in claims)
    findings.found = len(claims) - findings.refinements
    tests, unwritten = _tests(check, claims, jobs, watch, findings)
    expected, amiss = check.chosen(tests, claims, unwritten)
    findings.refused += [*amiss, *differences(expected, corpus.tests)]
    return findings


def _claims(check: _Check[Part, Claim], corpus: Path, jobs: Jobs, watch: Watch, findings: Findings) -> list[Claim]:
    """What the units claim, each of them proved."""
    claims: list[Claim] = []
    tasks = (Files.of(part, corpus, shape) for part, shape in check.shapes.items())
    with closing(run_tasks(tasks, partial(_attempt, prove=check.prove), jobs)) as results:
        for result in results:
            if result is not None:
                found, steps, bad = result[1]
                claims += found
                findings.units += 1
                findings.steps += steps
                findings.refused += bad
            watch(findings.units, len(check.shapes), len(findings.refused))
    return claims


def _attempt(
    files: Files[Part], prove: Callable[[Files[Part]], tuple[list[Claim], int]]
) -> Iterator[tuple[list[Claim], int, list[str]]]:
    try:
        yield *prove(files), []
    except (InputError, RefusedError) as error:
        yield [], 0, [str(error)]


def _tests(
    check: _Check[Part, Claim], claims: list[Claim], jobs: Jobs, watch: Watch, findings: Findings
) -> tuple[list[Test], dict[str, str]]:
    """The tests that the claims make, in the order of a corpus, and what could not be written, with the reasons."""
    keyed: list[tuple[str, Test]] = []
    unwritten: dict[str, str] = {}
    chunks = [tuple(claims[start : start + _CHUNK]) for start in range(0, len(claims), _CHUNK)]
    done = 0
    with closing(run_tasks(chunks, check.judge, jobs)) as results:
        for result in results:
            if result is not None:
                keyed += result[1].tests
                unwritten |= result[1].refused
                findings.refused += result[1].bad
                done += 1
            watch(done, len(chunks), len(findings.refused))
    keyed.sort(key=lambda pair: (pair[0], pair[1].digest))
    return [test for _, test in keyed], unwritten


def _asked(request: Mapping[str, Any], kind: type[Asked]) -> Asked:
    """What a corpus is to hold, as its manifest says. Raises ``RefusedError``, and ``InputError`` for a model."""
    known = {each.name: request[each.name] for each in fields(kind) if each.name in request}
    again: dict[str, Any]
    try:
        asked = msgspec.convert(known, kind)
        again = msgspec.json.decode(msgspec.json.encode(asked.as_json()))
    except (msgspec.ValidationError, ValueError, TypeError, LookupError):
        raise RefusedError("the manifest has no request for memory tests") from None
    for key in sorted({*request, *again}):
        if request.get(key) != again.get(key):
            what = "the models have changed since" if key == "model_digests" else f"its {key} is not as it should be"
            raise RefusedError(f"the manifest's request: {what}")
    return asked


def _shapes(corpus: Corpus, parts: Iterable[Part], word: Callable[[Part], str]) -> dict[Part, str]:
    """The words of units. Raises ``RefusedError`` at the first that has no files: a request may be for any number."""
    found = {}
    for part in parts:
        found[part] = word(part)
        numbers_of(corpus.path, found[part])
    return found


def _written(head: str, formula: Callable[[], Formula], file: Packed) -> Formula:
    """The formula that a file has to hold, written anew. Raises ``RefusedError`` where it holds another."""
    written = formula()
    same_lines(file, formula_lines(head, written))
    return written


# Suites from a model


@dataclass(frozen=True, slots=True)
class _Program:
    """A program with an outcome that a unit blocks, as a test or since its outcome can come about."""

    unit: tuple[int, ...]
    execution: Execution
    is_test: bool


def _suite_check(corpus: Corpus) -> _Check[tuple[int, ...], _Program]:
    """Raises ``RefusedError`` or ``InputError`` where the manifest has no request that can be certified."""
    request = _asked(corpus.manifest["request"], suites.Request)
    request.check()
    certification.check_certifiable(request)
    if max(request.events) > MOST_EVENTS:
        raise RefusedError(f"the manifest's request: more than {MOST_EVENTS} events")
    shapes = _shapes(corpus, certification.certified_units(request), sizes_word)

    def chosen(tests: list[Test], claims: list[_Program], _: dict[str, str]) -> tuple[list[Test], list[str]]:
        promised = corpus.manifest.get("counts", {}).get("criteria")
        right = isinstance(promised, dict) and promised.get(request.criterion) == len(tests)
        amiss = [] if right else ["the manifest does not count the tests of the criterion as they are"]
        kept = suites.one_per_program(tests) if request.up_to == "program" else tests
        return suites.with_ranks(kept), amiss

    prove = partial(_prove_unit, request=request)
    judge = partial(_judge_programs, request=replace(request, mutants=False))
    return _Check(shapes, prove, judge, chosen)


def _prove_unit(files: Files[tuple[int, ...]], request: suites.Request) -> tuple[list[_Program], int]:
    sizes = files.part

    def claims_of(formula: Formula, lines: Iterable[str]) -> tuple[list[_Program], list[Clause]]:
        claims = executions.check_clauses(formula, sizes, request.words, lines)
        programs = [_Program(sizes, execution, True) for execution in claims.tests]
        return programs + [_Program(sizes, execution, False) for execution in claims.allowed], claims.clauses

    formula = partial(certification.suite_formula, request, sizes)
    return proved(files, partial(_written, certification.suite_head(request, sizes), formula), claims_of)


def _judge_programs(programs: Sequence[_Program], request: suites.Request) -> Iterator[_Judged]:
    judged = _Judged([], {}, [])
    read = record_reader([model.name for model in request.models])
    for program in programs:
        try:
            lack = executions.lacks if program.is_test else executions.forbidden
            if why := lack(program.execution, request.axiomatic, request.words):
                judged.bad.append(f"{sizes_word(program.unit)}: {execution_text(program.execution)}: {why}")
            elif program.is_test and (
                found := suites.found_of(program.execution, Criterion(request.criterion), request)
            ):
                judged.tests.extend((key, read(record)) for key, record in found.tests)
        except (InputError, TooManyError) as error:
            judged.bad.append(f"{sizes_word(program.unit)}: {execution_text(program.execution)}: {error.message}")
    yield judged


# Suites of cycles


def _cycle_check(corpus: Corpus) -> _Check[int, Cycle]:
    """Raises ``RefusedError`` or ``InputError`` where the manifest has no request that can be certified."""
    request = _asked(corpus.manifest["request"], synthesis.Request)
    certification.check_certifiable_cycles(request)
    try:
        request.bounds  # noqa: B018 - raises
    except ValueError:
        raise RefusedError("the manifest has no request for memory tests") from None
    asked = certification.asked_cycles(request)

    def chosen(tests: list[Test], claims: list[Cycle], unwritten: dict[str, str]) -> tuple[list[Test], list[str]]:
        there = {cycle_name(cycle): cycle for cycle in map(oriented, claims)}
        amiss = []
        if corpus.manifest.get("counts", {}).get("cycles") != len(claims) or len(there) < len(claims):
            amiss.append("the manifest does not count the cycles as they are")
        if corpus.manifest.get("refused", {}) != unwritten:
            amiss.append("the manifest does not list what cannot be written as it is")
        return minimal_tests(tests, there) if request.minimal else tests, amiss

    shapes = _shapes(corpus, certification.certified_sizes(request), str)
    prove = partial(_prove_size, request=request, asked=asked)
    return _Check(shapes, prove, partial(_judge_cycles, models=request.model_words), chosen)


def _prove_size(files: Files[int], request: synthesis.Request, asked: cycles.Asked) -> tuple[list[Cycle], int]:
    size = files.part

    def claims_of(formula: Formula, lines: Iterable[str]) -> tuple[list[Cycle], list[Clause]]:
        claims = cycles.check_clauses(formula, asked, size, lines)
        return claims.cycles, claims.clauses

    formula = partial(certification.cycle_formula, request, size)
    return proved(files, partial(_written, certification.cycle_head(size), formula), claims_of)


def _judge_cycles(some: Sequence[Cycle], models: tuple[str, ...]) -> Iterator[_Judged]:
    judged = _Judged([], {}, [])
    resolved = resolve_consistency_models(models) if models else []
    for cycle in map(oriented, some):
        test = labelled_test(cycle, resolved)
        if isinstance(test, Refused):
            judged.refused[test.name] = test.reason
        else:
            judged.tests.append((f"{test.size:06} {test.name}", test))
    yield judged
