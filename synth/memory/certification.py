"""Certificates of memory suites: each unit's tests, and a proof that no other test is left. The tests found are
blocked.

The formula of a unit is written by ``oracle.certificates``, which uses nothing of the search or its formulas: a test
that the search has lost would be found here.

In a suite from a model, a unit is a split of so many events into threads. A model of the formula may be no test,
because its outcome can come about in another execution. Its program with this outcome is then blocked as *allowed*,
which anybody can check by listing executions. The search instead learns a clause from such a model that excludes many,
and keeps no record of it.

In a suite of cycles, a unit is a size, whose cycles are found once more; each model of that formula is a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path

from constraints.cycles import cycles
from constraints.programs.criterion import Criterion
from constraints.solvers import open_solver
from corpus.certificates import sizes_word
from corpus.cycles.cycle import cycle_text
from corpus.errors import InputError
from corpus.executions.text import execution_text, normal_form
from corpus.journal import Journal, programs_of
from oracle.certificates import cycle_formulas, model_formulas
from oracle.certificates.clauses import CertifiedFormula, formula_lines
from oracle.certificates.cycles import CycleClaim
from oracle.certificates.cycles import exclusions as cycle_exclusions
from oracle.certificates.executions import can_happen, exclusions, execution_of
from synth.certification import Group, Made, unit_made, write_certificate
from synth.memory import suites
from synth.memory.synthesis import CycleSuiteRequest
from synth.pool import Jobs

MOST_ALLOWED = 20_000
"""The most models of a formula that are no tests, each blocked by itself, for a unit to be certified."""


# Suites from a model


def check_certifiable(request: suites.SuiteRequest) -> None:
    """Raise ``InputError`` where no certificate can be made of a suite from a model that a request asks for."""
    if request.criterion != Criterion.OUTCOME:
        raise InputError("--certify is for --criterion outcome: no listing of executions judges a single one")
    if request.words.asynchronous:
        raise InputError(f"--certify is not for asynchronous operations, which the vocabulary {request.words.name} has")


Sizes = tuple[int, ...]
"""A unit of a suite from a model: the number of events of each thread."""


def certified_units(request: suites.SuiteRequest) -> Iterator[Sizes]:
    """Yield the units of a suite from a model, smaller ones first."""
    for events in range(request.events[0], request.events[1] + 1):
        yield from model_formulas.splits(events, request.threads)


def certify_suite(
    request: suites.SuiteRequest, journal: Journal, solver: str, jobs: Jobs, watch: Callable[[int, int], None]
) -> None:
    """Write the certificate of a complete search into the folder of its corpus.

    Raises ``InputError`` where a file cannot be written, and where too much would have to be blocked.
    """
    planned = list(certified_units(request))
    known = frozenset(program for programs in programs_of(journal).values() for program in programs)
    formulas = (
        (sizes_word(sizes), formula_lines(suite_head(request, sizes), suite_formula(request, sizes)))
        for sizes in planned
    )
    work = partial(_certify_unit, request=request, known=known, solver=solver)
    write_certificate(journal.path, planned, work, formulas, jobs, watch)


def _certify_unit(
    sizes: Sizes, request: suites.SuiteRequest, known: Collection[str], solver: str
) -> Iterator[list[Made]]:
    """Yield the files of a unit; ``known`` are the tests of the search, without those that pin none of the axioms asked
    for.
    """
    words = request.words
    formula = suite_formula(request, sizes)
    found: dict[str, list[tuple[int, ...]]] = {}
    allowed = 0
    search = open_solver(solver, len(formula.variables))
    try:
        search.add(formula.clauses)
        while search.solve():
            held = {formula.names[literal] for literal in search.model() if literal > 0}
            execution = normal_form(execution_of(held, sizes, words))
            text = execution_text(execution)
            is_test = not can_happen(execution, request.axiomatic)
            if is_test and not request.axioms and text not in known:
                raise RuntimeError(f"the search has left out a test: {text}")
            allowed += not is_test
            if allowed > MOST_ALLOWED:
                raise InputError(
                    f"{request.criterion}/{sizes_word(sizes)} cannot be certified: more than {MOST_ALLOWED} programs "
                    "are to be shown to be no tests; the command without --certify ends the suite"
                )
            clauses = list(exclusions(formula, sizes, words, execution))
            found[f"{'blocks' if is_test else 'allowed'} {text}"] = clauses
            search.add(clauses)
    finally:
        search.close()
    # Block tests first.
    own: list[Group] = sorted(found.items(), key=lambda group: (group[0].startswith("allowed"), group[0]))
    yield unit_made(sizes_word(sizes), 0, formula, own)


def suite_head(request: suites.SuiteRequest, sizes: Sizes) -> str:
    """Return the first line of the file of a unit's formula."""
    return f"c tests of {sizes_word(sizes)} events of {' '.join(request.words.spelled)}"


def suite_formula(request: suites.SuiteRequest, sizes: Sizes) -> CertifiedFormula:
    """Return the formula of a unit of a suite from a model, which every minimal test of these sizes satisfies."""
    return model_formulas.write_formula(request.axiomatic, request.words, sizes)


# Suites of cycles


def check_certifiable_cycles(request: CycleSuiteRequest) -> None:
    """Raise ``InputError`` where no certificate can be made of a suite of cycles that a request asks for."""
    if request.allowed_by or request.forbidden_by:
        raise InputError("--certify goes without --distinguish: certify all tests, and synth select")
    if request.like_diy7:
        raise InputError("--certify goes without --like-diy7: verify knows the rules of other cycles alone")


def certified_sizes(request: CycleSuiteRequest) -> range:
    """Return the units of a suite of cycles, which are sizes, in edges."""
    return range(request.sizes[0], request.sizes[1] + 1)


def certify_cycles(
    request: CycleSuiteRequest, corpus: Path, solver: str, jobs: Jobs, watch: Callable[[int, int], None]
) -> None:
    """Write the certificate of a complete suite of cycles into the folder of its corpus.

    Raises ``InputError`` where a file cannot be written.
    """
    sizes = certified_sizes(request)
    formulas = ((str(size), formula_lines(cycle_head(size), cycle_formula(request, size))) for size in sizes)
    write_certificate(corpus, sizes, partial(_certify_size, request=request, solver=solver), formulas, jobs, watch)


def _certify_size(size: int, request: CycleSuiteRequest, solver: str) -> Iterator[list[Made]]:
    claim = asked_cycles(request)
    formula = cycle_formula(request, size)
    found = sorted(cycles(request.bounds, size, solver), key=cycle_text)
    own = [(f"blocks {cycle_text(cycle)}", list(cycle_exclusions(formula, claim.levels, cycle))) for cycle in found]
    try:
        yield unit_made(str(size), 0, formula, own)
    except ValueError:
        raise RuntimeError(f"the search has left out a cycle of {size} edges") from None


def asked_cycles(request: CycleSuiteRequest) -> CycleClaim:
    """Return the cycles that a request asks for. Raises ``InputError`` where an edge is unknown."""
    bounds = request.bounds
    return CycleClaim(**{field.name: getattr(bounds, field.name) for field in fields(CycleClaim)})


def cycle_head(size: int) -> str:
    """Return the first line of the file of the formula of a size."""
    return f"c cycles of {size} edges"


def cycle_formula(request: CycleSuiteRequest, size: int) -> CertifiedFormula:
    """Return the formula of a unit of a suite of cycles, which every critical cycle of this size satisfies."""
    return cycle_formulas.write_formula(asked_cycles(request), size)
