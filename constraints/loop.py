"""The synthesis loop, whatever is sought: solve, decode, refine or keep, block, until nothing is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from constraints.formula import Clause, Formula
from constraints.solvers import open_solver

Solution = TypeVar("Solution")


class Encoding(Protocol[Solution]):
    """A formula whose models stand for solutions."""

    @property
    def formula(self) -> Formula:
        """The clauses; blocking mentions no variable that they do not."""

    def decode(self, model: Sequence[int]) -> Solution:
        """What a model stands for; ``model[v - 1]`` is the literal of variable ``v``."""

    def refine(self, model: Sequence[int], solution: Solution) -> Sequence[Clause]:
        """Clauses that hold for every solution and that this model violates; none where it is one."""

    def block(self, solution: Solution) -> Iterable[Clause]:
        """Clauses that exclude a solution, and whatever it stands for that the formula would give besides."""


@dataclass
class SolverEffort:
    """What an enumeration took: calls of the solver and clauses that refinement added."""

    calls: int = 0
    refinements: int = 0


class TooHardError(Exception):
    """There may be more solutions, and the conflicts are spent that there were for them."""


def solutions(
    encoding: Encoding[Solution],
    solver_name: str,
    cube: Iterable[int] = (),
    known: Iterable[Solution] = (),
    lemmas: list[Clause] | None = None,
    effort: SolverEffort | None = None,
    conflicts: int | None = None,
) -> Iterator[Solution]:
    """Every solution of an encoding within a cube, each as soon as it is found.

    Those in ``known`` are not given again. When the iterator is exhausted, there is no other: the last call of the
    solver said so. ``lemmas`` holds refinements that earlier calls learned about the same encoding, and is extended;
    ``effort`` is counted up. ``conflicts``: how many the solver may have; with more, ``TooHardError`` is raised. Raises
    ``InputError`` where there is no solver of that name.
    """
    lemmas = [] if lemmas is None else lemmas
    effort = effort or SolverEffort()
    solver = open_solver(solver_name, encoding.formula.variables)
    try:
        solver.add(encoding.formula.clauses)
        solver.add([literal] for literal in cube)
        solver.add(lemmas)
        for solution in known:
            solver.add(encoding.block(solution))
        while True:
            effort.calls += 1
            answer = solver.solve() if conflicts is None else solver.solve_within(conflicts)
            if answer is None:
                raise TooHardError
            if not answer:
                return
            model = solver.model()
            solution = encoding.decode(model)
            learned = encoding.refine(model, solution)
            if learned:
                effort.refinements += len(learned)
                lemmas += learned
                solver.add(learned)
            else:
                solver.add(encoding.block(solution))
                yield solution
    finally:
        solver.close()
