"""Why a repair needs each of its changes: an execution that is there without the change, and how the change forbids it.

Two calls of a solver for each change: with all other changes the model allows an execution that is asked for; the same
execution, its reads and coherence and all, fails a check with the change. Where the change makes another one of it
(an order of fences that was not there is chosen), any one with the same reads and coherence shows how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from constraints.circuit import Literal, building
from constraints.executions import DEFAULT_SOLVER, Executions, FiniteValues
from constraints.levels import Site
from constraints.repairs import Levels, asked
from constraints.solvers import open_solver
from constraints.witnesses import decoded
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.cat.terms import Check
from oracle.executions.judge import UNROLL
from oracle.executions.witness import Execution, Violation, violation_of


@dataclass(frozen=True, slots=True)
class Cut:
    """What a change cuts. ``before``: an execution without it, which raises ``flags``; ``after``: how it fails with the
    change, None where it is not wrong any more (it raises no flag).
    """

    before: Execution
    flags: tuple[str, ...]
    after: Violation | None


class Cuts:
    """Executions of a test whose sites are at levels, those that a model forbids as well."""

    def __init__(
        self,
        test: LitmusTest,
        model: Model,
        sites: Sequence[Site],
        unroll: int = UNROLL,
        outcome: bool = True,
        flags: bool = False,
        solver: str = DEFAULT_SOLVER,
    ) -> None:
        """Arguments as of ``constraints.repairs.Program``."""
        self._model = model
        with building():
            self._executions = executions = Executions(test, model, unroll, required=False, sites=sites)
            self._values = FiniteValues(executions)
            self._asked = asked(executions, self._values, outcome, flags)
            self._passed = executions.circuit.true
            for check in executions.checks:
                self._passed = self._passed & check
        self._solver = open_solver(solver, executions.circuit.formula.variables)
        self._solver.add(executions.circuit.formula.clauses)

    def of(self, levels: Levels, weaker: Levels) -> Cut | None:
        """What the step from weaker levels to others cuts; None where that is nothing."""
        if not self._solve(weaker, [self._asked, self._passed]):
            return None
        model = self._solver.model()
        executions = self._executions
        before = self._decoded(model)
        flags = tuple(name for name, literal in executions.flags.items() if literal.holds(model))
        same = [
            literal if literal.holds(model) else ~literal
            for relation in (executions.rf, executions.co)
            for row in relation
            for literal in row.values()
        ]
        if not self._solve(levels, [~self._passed, *same]):
            return Cut(before, flags, None)
        failing = self._solver.model()
        number = next(n for n, check in enumerate(executions.checks) if not check.holds(failing))
        written = [each for each in self._model.syntax.statements if isinstance(each, Check)]
        required = [place for place, check in enumerate(written) if not check.flag]
        return Cut(before, flags, violation_of(self._model, required[number], self._decoded(failing))[0])

    def close(self) -> None:
        """Frees the solver."""
        self._solver.close()

    def _solve(self, levels: Levels, literals: Sequence[Literal]) -> bool:
        chosen = (row[level] for row, level in zip(self._executions.levels.chosen, levels, strict=True))
        return self._solver.solve([literal.number for literal in (*chosen, *literals)])

    def _decoded(self, model: Sequence[int]) -> Execution:
        return decoded(self._executions, self._values, frozenset(number for number in model if number > 0))
