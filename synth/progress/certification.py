"""Certificates of a progress suite: for each unit, a proof that no test is left. The proof is of the unit's clauses.

A unit is solved once more, with every test blocked that was found in it; the solver finds only models that cheat
(``constraints.progress``), and the loop formulas that exclude these are kept with their sets. What is left has no
model, and another solver proves that. The search itself keeps no record for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from constraints.formula import Clause
from constraints.progress import Loop, ProgramShape, ProgressEncoding, Solution
from constraints.solvers import open_solver
from corpus.certificates import sizes_word
from corpus.journal import Journal, programs_of
from corpus.progress.axb import Program, thread_images
from corpus.progress.certificates import case_word, head, numbers_word, program_word, state_word
from corpus.progress.text import parse_axb
from oracle.certificates.clauses import CertifiedFormula, formula_lines
from synth.certification import Group, Made, unit_made, write_certificate
from synth.pool import Jobs
from synth.progress.synthesis import CubeUnit, ProgressSuiteRequest, bounds, encoding_of, name_of_whole, units


def certify(
    request: ProgressSuiteRequest, journal: Journal, solver: str, jobs: Jobs, watch: Callable[[int, int], None]
) -> None:
    """Write the certificate of a complete search, whose bounds are fixed, into the folder of its corpus.

    ``watch`` is told how many units are certified, of how many. Raises ``InputError`` where a file cannot be written.
    """
    found: dict[str, list[str]] = {}
    for name, programs in programs_of(journal).items():
        found.setdefault(name_of_whole(name), []).extend(programs)
    planned = [unit for threads, instrs in bounds(request) for unit in units(request, threads, instrs)]
    shapes = dict.fromkeys(unit.shape for unit in planned)
    formulas = ((sizes_word(shape.lengths), shape_lines(encoding_of(shape)[0])) for shape in shapes)
    work = partial(_work, found=found, solver=solver)
    write_certificate(journal.path, planned, work, formulas, jobs, watch)


def _work(unit: CubeUnit, found: Mapping[str, list[str]], solver: str) -> Iterator[list[Made]]:
    yield certificate_of(unit, found.get(unit.name, []), solver)


def certificate_of(unit: CubeUnit, programs: Sequence[str], solver: str) -> list[Made]:
    """Return the files of a unit in which these programs were found: its clauses and its proof."""
    encoding, cubes, _ = encoding_of(unit.shape)
    case = cubes[unit.cube]
    solutions = [Solution(program) for program in _representatives(unit.shape, programs)]
    blocks = [encoding.block(solution) for solution in solutions]
    loops = _loops(encoding, [*([literal] for literal in case), *chain.from_iterable(blocks)], solver)
    own: list[Group] = [(case_comment(encoding, case), [[literal] for literal in case])]
    own += [
        (f"blocks {program_word(solution.program)}", block) for solution, block in zip(solutions, blocks, strict=True)
    ]
    own += [(f"{loop.needs} {' '.join(map(state_word, loop.states))}", encoding.loop_formulas(loop)) for loop in loops]
    return unit_made(sizes_word(unit.shape.lengths), unit.cube, formula_of(encoding), own)


def _representatives(shape: ProgramShape, programs: Iterable[str]) -> list[Program]:
    """Return the least image of this shape of each program, in order, since which image is found first differs between
    runs.
    """
    found = set()
    for text in programs:
        images = (image for image, _ in thread_images(parse_axb(text)))
        found.add(next(image for image in images if tuple(map(len, image.threads)) == shape.lengths))
    return sorted(found, key=lambda program: program.key)


def _loops(encoding: ProgressEncoding, clauses: Sequence[Clause], solver_name: str) -> list[Loop]:
    """Return the sets of states that cheat, until the formula and these clauses have no model left."""
    found: list[Loop] = []
    solver = open_solver(solver_name, encoding.formula.variables)
    try:
        solver.add(encoding.formula.clauses)
        solver.add(clauses)
        while solver.solve():
            model = solver.model()
            solution = encoding.decode(model)
            loops = encoding.loops(model, solution)
            if not loops:
                raise RuntimeError(f"the search has left out a test: {program_word(solution.program)}")
            found += loops
            for loop in loops:
                solver.add(encoding.loop_formulas(loop))
    finally:
        solver.close()
    return found


def case_comment(encoding: ProgressEncoding, case: Sequence[int]) -> str:
    """Return a comment with the jumps that a case fixes: ``case``, and the thread, instruction and jump of each."""
    names = {number: name for name, number in encoding.formula.names()}
    return f"case {case_word([names[literal][1:] for literal in case])}".rstrip()  # type: ignore[misc]


def shape_lines(encoding: ProgressEncoding) -> Iterator[str]:
    """Yield the lines of a shape's formula as its file has them: the meaning of the variables, then the clauses."""
    shape = encoding.shape
    return formula_lines(head(shape.lengths, shape.locations, shape.values), formula_of(encoding))


def formula_of(encoding: ProgressEncoding) -> CertifiedFormula:
    """Return the formula of a shape, with the meaning of its variables in words."""
    variables = {" ".join(map(_word, name)): number for name, number in encoding.formula.names()}
    return CertifiedFormula(variables, [tuple(clause) for clause in encoding.formula.clauses])


def _word(value: Hashable) -> str:
    """Return a part of a variable's name: a number, a memory, a state, or a kind."""
    if not isinstance(value, tuple):
        return str(value)
    return state_word(value) if isinstance(value[0], tuple) else numbers_word(value)
