"""All outcomes of a litmus test under a consistency model, one after the other, by a SAT solver.

Variables and constraints are those of ``constraints.executions``. The final values of a model that the solver finds are
an outcome, and a clause then says that some term has another value, until nothing is found. A test of two outcomes
takes three calls, and one more for each flag of the model. ``oracle.executions.judge.outcomes_and_flags`` gives the
same answer by listing executions, which takes longer where an outcome has many.
"""

from __future__ import annotations

from constraints.deferred import Assignment
from constraints.executions import Executions, FiniteValues
from constraints.solvers import EXECUTION_SOLVER, open_solver
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import Outcome
from oracle.executions.flow import asked_terms
from oracle.executions.steps import TooManyError

MOST_OUTCOMES = 1 << 12
"""The most outcomes that are found of a test."""


def outcomes_by_sat(
    test: LitmusTest, model: Model, unroll: int = UNROLL, solver: str = EXECUTION_SOLVER
) -> tuple[frozenset[Outcome], tuple[str, ...]]:
    """The outcomes in allowed executions, whether or not the condition's filter lets them through, and the flags that
    some allowed execution raises.

    Raises ``InputError`` where an address is no location of the test, or the model says nothing of the test, and
    ``TooManyError`` where there are too many outcomes or clauses.
    """
    executions = Executions(test, model, unroll)
    values, circuit = FiniteValues(executions), executions.circuit
    finals = {term: values.final(term) for term in asked_terms(test)}
    known = [literal for valuation in finals.values() for literal in valuation.values()]
    circuit.assumptions([*known, *(~literal for literal in known)])
    flagged = circuit.assumptions(executions.flags.values())
    opened = open_solver(solver, circuit.formula.variables)
    found: set[Outcome] = set()
    try:
        opened.add(circuit.formula.clauses)
        flags = [
            name
            for (name, literal), number in zip(executions.flags.items(), flagged, strict=True)
            if literal is not circuit.false and opened.solve([number])
        ]
        while opened.solve():
            holds = Assignment(circuit, opened.model()).holds
            outcome = tuple(
                (term, next(value for value, literal in valuation.items() if holds(literal)))
                for term, valuation in finals.items()
            )
            found.add(outcome)
            if len(found) > MOST_OUTCOMES:
                raise TooManyError(f"more than {MOST_OUTCOMES:,} outcomes", test.name)
            opened.add([[-finals[term][value].number for term, value in outcome]])
    finally:
        opened.close()
    return frozenset(found), tuple(flags)
