"""What a model says of an execution of an unknown program, as clauses, and the search for an execution it allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from constraints.circuit import Circuit, Literal
from constraints.programs.view import ExecutionView
from constraints.solvers import DEFAULT_SOLVER, Solver, open_solver
from oracle.cat.interpreter import Model


def checks_and_flags(model: Model, view: ExecutionView) -> tuple[list[Literal], list[Literal]]:
    """That each check of a model holds, and that each of its flags is raised."""
    results = model.judge(view)
    return [result.truth for result in results if not result.check.flag], [
        result.truth for result in results if result.check.flag
    ]


def require_forbidden(
    circuit: Circuit, model: Model, view: ExecutionView, where: Literal, unflagged: bool = True
) -> None:
    """Requires that the model forbids an execution where a literal holds; ``unflagged``: and raises no flag on it."""
    checks, flags = checks_and_flags(model, view)
    circuit.require(~where, *(~truth for truth in checks))
    for flag in flags if unflagged else ():
        circuit.require(~where, ~flag)


class AllowedSearch:
    """A solver of the clauses of a circuit, which say that a model allows an execution."""

    def __init__(self, circuit: Circuit) -> None:
        self._solver: Solver = open_solver(DEFAULT_SOLVER, circuit.formula.variables)
        self._solver.add(circuit.formula.clauses)

    def find(self, outcome: Sequence[int]) -> Callable[[Literal], bool] | None:
        """Which literals hold in an execution of which these literals are true; None where there is no execution."""
        if not self._solver.solve(outcome):
            return None
        model = self._solver.model()
        return lambda literal: literal.holds(model)
