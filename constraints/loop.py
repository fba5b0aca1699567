"""The synthesis loop: solve, decode, refine or keep, block, until the formula is UNSAT, whatever is sought.

Worked example: the coherence orders of three writes a, b and c. A variable says of each pair which write comes first,
so there are 2^3 = 8 assignments. Two of them are cycles. One is ``ba cb ac``, which the formula excludes by the clause
"a before b, b before c or c before a". The formula does not exclude the other, ``ab bc ca``, so ``refine`` excludes it
when the solver proposes it. Six orders are left.

>>> class CoherenceOrders:
...     formula = Formula()
...     pairs = {"ab": formula.var("ab"), "bc": formula.var("bc"), "ca": formula.var("ca")}
...     formula.add(*pairs.values())
...
...     def decode(self, model):
...         return tuple(pair if model[v - 1] > 0 else pair[::-1] for pair, v in self.pairs.items())
...
...     def refine(self, model, solution):
...         return [[-v for v in self.pairs.values()]] if solution == ("ab", "bc", "ca") else []
...
...     def block(self, solution):
...         return [[-v if pair in solution else v for pair, v in self.pairs.items()]]
>>> effort = SolverEffort()
>>> for order in sorted(solutions(CoherenceOrders(), "cadical195", effort=effort)):
...     print(*order)
ab bc ac
ab cb ac
ab cb ca
ba bc ac
ba bc ca
ba cb ca

The solver was called once for each order, once for the cycle that was refined away, and once for the answer UNSAT,
which shows that there is no seventh order.

>>> effort
SolverEffort(calls=8, refinements=1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from constraints.formula import Clause, Formula
from constraints.solvers import open_solver

Solution = TypeVar("Solution")


class Encoding(Protocol[Solution]):
    """A formula whose models stand for solutions, such as tests or critical cycles."""

    @property
    def formula(self) -> Formula:
        """The clauses of the encoding; every variable of a blocking clause occurs in them."""

    def decode(self, model: Sequence[int]) -> Solution:
        """The solution that a model of the formula stands for; ``model[v - 1]`` is the literal of variable ``v``."""

    def refine(self, model: Sequence[int], solution: Solution) -> Sequence[Clause]:
        """Clauses that hold for every solution and that this model violates; none where the model stands for a
        solution."""

    def block(self, solution: Solution) -> Iterable[Clause]:
        """Blocking clauses: they exclude a solution, and its images, which the formula admits besides."""


@dataclass
class SolverEffort:
    """The effort of an enumeration: calls of the solver, and clauses that refinement added."""

    calls: int = 0
    refinements: int = 0


class TooHardError(Exception):
    """The allowed number of conflicts is spent, and more solutions may exist."""


def solutions(
    encoding: Encoding[Solution],
    solver_name: str,
    cube: Iterable[int] = (),
    known: Iterable[Solution] = (),
    lemmas: list[Clause] | None = None,
    effort: SolverEffort | None = None,
    conflicts: int | None = None,
) -> Iterator[Solution]:
    """Every solution of an encoding within a cube, each given as soon as it is found.

    Solutions in ``known`` are not given again. When the iterator is exhausted, no solution is left: the last call of
    the solver answered UNSAT. ``lemmas`` holds refinements that earlier calls learned about this encoding, and is
    extended; ``effort`` is counted up. ``conflicts``: how many conflicts the solver may have; with more,
    ``TooHardError`` is raised. Raises ``InputError`` where there is no solver of that name.
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
