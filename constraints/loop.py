"""The synthesis loop: solve, refine or keep, block, until nothing is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from constraints.formula import Clause
from constraints.progress import ProgressEncoding
from constraints.solvers import open_solver
from corpus.progress.axb import Program, thread_images
from oracle.progress.lts import Lts, explore


@dataclass(frozen=True, slots=True)
class Solution:
    """A program of an encoding, its LTS, and its images under permutation of threads (``thread_images``)."""

    program: Program
    lts: Lts
    images: list[tuple[Program, tuple[int, ...]]]


@dataclass
class Effort:
    """What an enumeration took: calls of the solver and clauses that refinement added."""

    calls: int = 0
    refinements: int = 0


def enumerate_programs(
    encoding: ProgressEncoding,
    solver_name: str,
    cube: Iterable[int] = (),
    known: Iterable[Program] = (),
    lemmas: list[Clause] | None = None,
    effort: Effort | None = None,
) -> Iterator[Solution]:
    """Every program of the encoding's shape within a cube, one for each orbit under permutation of equal threads.

    Programs in ``known`` and their images are not given again. When the iterator is exhausted, there is no other:
    the last call of the solver said so. ``lemmas`` holds refinements that earlier calls learned about the same
    encoding, and is extended. Raises ``InputError`` where there is no solver of that name.
    """
    lemmas = [] if lemmas is None else lemmas
    effort = effort or Effort()
    solver = open_solver(solver_name, encoding.formula.variables)
    try:
        solver.add(encoding.formula.clauses)
        solver.add([literal] for literal in cube)
        solver.add(lemmas)
        for program in known:
            solver.add(encoding.block(image for image, _ in thread_images(program)))
        while True:
            effort.calls += 1
            if not solver.solve():
                return
            model = solver.model()
            program = encoding.decode(model)
            lts = explore(program)
            learned = encoding.refine(model, lts)
            if learned:
                effort.refinements += len(learned)
                lemmas += learned
                solver.add(learned)
            else:
                images = thread_images(program)
                solver.add(encoding.block(image for image, _ in images))
                yield Solution(program, lts, images)
    finally:
        solver.close()
