"""Certificates of memory suites: for each unit, what was found is blocked, and a proof says that nothing is left.

Of a suite from a model, a unit is a split of so many events into threads. It is solved once more with the formula
alone: where a model of it is no test, since its outcome can come about in another execution, that very program with
this outcome is blocked as *allowed*, which anybody can check by listing executions. The search, which learns from such
a one what excludes many, keeps nothing for it.

Of a suite of cycles, a unit is a size, whose cycles are found once more; all that satisfies the formula is a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from pathlib import Path

from constraints.cycles import CycleEncoding, cycles
from constraints.programs.criterion import Criterion
from constraints.solvers import open_solver
from corpus.certificates import sizes_word
from corpus.cycles.edges import Annotation, Edge
from corpus.cycles.text import cycle_text
from corpus.errors import InputError
from corpus.executions.execution import Execution
from corpus.executions.text import execution_text
from corpus.executions.vocabulary import spelled_mode
from corpus.litmus.test import Mode, Scope
from synth import certification
from synth.certification import Group, Made, unit_made, write_certificate
from synth.memory import suites
from synth.memory.suites import Unit, normal_form
from synth.memory.synthesis import Request
from synth.pool import Jobs

MOST_ALLOWED = 20_000
"""Models of a formula that are no tests, each blocked by itself, above which a unit is not certified."""


# Suites from a model


def check_certifiable(request: suites.Request) -> None:
    """Raises ``InputError`` where no certificate can be made of what is asked for."""
    if request.criterion != Criterion.OUTCOME:
        raise InputError("--certify is for --criterion outcome: no listing of executions judges a single one")


def certified_units(request: suites.Request) -> Iterator[Unit]:
    """The units that have a certificate: those of the criterion that is asked for."""
    return (unit for unit in suites.units(request) if unit.criterion == request.criterion)


def certify_suite(
    request: suites.Request, corpus: Path, solver: str, jobs: Jobs, watch: Callable[[int, int], None]
) -> None:
    """Write the certificate of a complete search into the folder of its corpus.

    Raises ``InputError`` where a file cannot be written, and where too much would have to be blocked.
    """
    planned = list(certified_units(request))
    formulas = ((sizes_word(unit.sizes), suite_formula_lines(request, unit)) for unit in planned)
    work = partial(_certify_unit, request=request, solver=solver)
    write_certificate(corpus, planned, work, formulas, jobs, watch)


def _certify_unit(unit: Unit, request: suites.Request, solver: str) -> Iterator[list[Made]]:
    encoding = suites.encoding_of(request, unit.criterion, unit.sizes)
    tests, allowed = list[Execution](), list[Execution]()
    search = open_solver(solver, encoding.formula.variables)
    try:
        search.add(encoding.formula.clauses)
        while search.solve():
            execution = encoding.decode(search.model())
            (tests if encoding.is_test(execution) else allowed).append(normal_form(execution))
            if len(allowed) > MOST_ALLOWED:
                raise InputError(
                    f"{unit.name} cannot be certified: more than {MOST_ALLOWED} programs are to be shown to be no "
                    "tests; --resume without --certify ends the suite"
                )
            search.add(encoding.block(execution))
    finally:
        search.close()
    own: list[Group] = [
        (f"{kind} {execution_text(execution)}", list(encoding.block(execution)))
        for kind, executions in (("blocks", tests), ("allowed", allowed))
        for execution in sorted(executions, key=execution_text)
    ]
    yield unit_made(sizes_word(unit.sizes), 0, encoding.formula, own)


def suite_head(request: suites.Request, unit: Unit) -> str:
    """The first line of the file of a unit's formula."""
    return f"c {request.axiomatic.name} forbids {unit.name} of {' '.join(request.words.spelled)}"


def suite_formula_lines(request: suites.Request, unit: Unit) -> Iterator[str]:
    """The formula of a unit as its file has it."""
    formula = suites.encoding_of(request, unit.criterion, unit.sizes).formula
    return certification.formula_lines(suite_head(request, unit), formula, _program_word)


def _program_word(name: tuple[Hashable, ...]) -> str:
    """What a variable of a program means, in words; of an instruction, how it is done."""
    if name[0] == "way":
        _, event, kind, mode = name
        assert isinstance(mode, Mode)
        return f"way {event} {spelled_mode(kind, mode)}"  # type: ignore[arg-type]
    return " ".join(part.label if isinstance(part, Scope) else str(part).replace(" ", "_") for part in name)


# Suites of cycles


def check_certifiable_cycles(request: Request) -> None:
    """Raises ``InputError`` where no certificate can be made of what is asked for."""
    if request.allowed_by or request.forbidden_by:
        raise InputError(
            "--certify goes without --distinguish, --allowed-by and --forbidden-by: certify all tests, and synth select"
        )
    if request.like_diy7:
        raise InputError("--certify goes without --like-diy7: verify knows the rules of other cycles alone")


def certified_sizes(request: Request) -> range:
    """The units of a suite of cycles: sizes."""
    return range(request.sizes[0], request.sizes[1] + 1)


def certify_cycles(request: Request, corpus: Path, solver: str, jobs: Jobs, watch: Callable[[int, int], None]) -> None:
    """Write the certificate of a complete suite of cycles into the folder of its corpus.

    Raises ``InputError`` where a file cannot be written.
    """
    sizes = certified_sizes(request)
    formulas = ((str(size), cycle_formula_lines(request, size)) for size in sizes)
    write_certificate(corpus, sizes, partial(_certify_size, request=request, solver=solver), formulas, jobs, watch)


def _certify_size(size: int, request: Request, solver: str) -> Iterator[list[Made]]:
    encoding = CycleEncoding(request.bounds, size)
    found = sorted(cycles(request.bounds, size, solver), key=cycle_text)
    own: list[Group] = [(f"blocks {cycle_text(cycle)}", encoding.block(cycle)) for cycle in found]
    yield unit_made(str(size), 0, encoding.formula, own)


def cycle_head(request: Request, size: int) -> str:
    """The first line of the file of the formula of a size."""
    return f"c cycles of {size} of {request.edges}"


def cycle_formula_lines(request: Request, size: int) -> Iterator[str]:
    """The formula of a size as its file has it."""
    formula = CycleEncoding(request.bounds, size).formula
    return certification.formula_lines(cycle_head(request, size), formula, _cycle_word)


def _cycle_word(name: tuple[Hashable, ...]) -> str:
    """What a variable of a cycle means, in words."""
    return " ".join(part.name if isinstance(part, Edge | Annotation) else str(part) for part in name)
