"""SAT solvers behind one small interface: every PySAT solver that works incrementally, and z3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from constraints.formula import Formula
from corpus.errors import InputError

DEFAULT_SOLVER = "minisat22"
"""The quickest solver on these formulas: thousands of small calls, each a few decisions
(``benchmarks/progress.py``)."""

EXECUTION_SOLVER = "cadical153"
"""The solver of the executions of one given test, whose formula is large and has one answer."""

# Names as PySAT spells them. Left out: kissat404, which aborts when a clause comes after a call, and cryptominisat,
# which needs a package of its own.
PYSAT_SOLVERS = (
    "cadical103",
    "cadical153",
    "cadical195",
    "cadical300",
    "ergo",
    "gluecard3",
    "gluecard4",
    "glucose3",
    "glucose4",
    "glucose42",
    "lingeling",
    "maplechrono",
    "maplecm",
    "maplesat",
    "mergesat3",
    "minicard",
    "minisat22",
    "minisatep",
    "minisat-gh",
)
SOLVERS = (*PYSAT_SOLVERS, "z3")


class Solver(Protocol):
    """The interface that enumeration needs of an incremental SAT solver."""

    def add(self, clauses: Iterable[Sequence[int]]) -> None:
        """Adds clauses, each a row of literals, which stay for all later calls."""

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        """Whether the clauses are satisfiable together with the literals assumed for this call."""

    def solve_within(self, conflicts: int) -> bool | None:
        """The answer of ``solve``, or None if it takes more conflicts than so many, counted from the first call. A
        solver that cannot stop takes as many as it needs."""

    def model(self) -> Sequence[int]:
        """The model found by the last call, if that was satisfiable: the literal of variable ``v`` at index ``v -
        1``."""

    def close(self) -> None:
        """Frees the memory of the solver, which is not used afterwards."""


def open_solver(name: str, variables: int) -> Solver:
    """A fresh solver over variables 1 to ``variables``, and more where clauses bring them.

    Raises ``InputError`` where there is no solver of that name.
    """
    if name == "z3":
        return Z3(variables)
    if name in PYSAT_SOLVERS:
        return _PySat(name)
    raise InputError(f"unknown solver '{name}'; expected one of {', '.join(SOLVERS)}")


class _PySat:
    def __init__(self, name: str) -> None:
        from pysat import solvers

        # In the main thread PySAT answers Ctrl-C with a handler of its own that jumps out of the call: what is half
        # done stays so, and where the signal meets another thread the process dies. Told that this is not the main
        # thread, it leaves the signal to Python, which answers it when the call is over; calls are short.
        solvers.MainThread.check = staticmethod(lambda: False)
        self._solver: Any = solvers.Solver(name=name)

    def add(self, clauses: Iterable[Sequence[int]]) -> None:
        self._solver.append_formula(clauses)

    def solve(self, assumptions: Sequence[int] = ()) -> bool:
        answer: bool = self._solver.solve(assumptions=assumptions)
        return answer

    def solve_within(self, conflicts: int) -> bool | None:
        left = conflicts - (self._solver.accum_stats() or {"conflicts": 0})["conflicts"]
        if left <= 0:
            return None
        try:
            self._solver.conf_budget(left)
            answer: bool | None = self._solver.solve_limited()
        except NotImplementedError:  # PySAT raises this for Lingeling, which cannot stop
            return self.solve()
        return answer

    def model(self) -> Sequence[int]:
        model: list[int] = self._solver.get_model()
        return model

    def close(self) -> None:
        self._solver.delete()


class Propagation:
    """Unit propagation over a formula, by MiniSat."""

    def __init__(self, formula: Formula) -> None:
        from pysat import solvers

        self._solver: Any = solvers.Solver(name=DEFAULT_SOLVER, bootstrap_with=formula.clauses)

    def __enter__(self) -> Propagation:
        return self

    def __exit__(self, *_: object) -> None:
        self._solver.delete()

    def allows(self, literal: int) -> bool:
        """Whether no contradiction follows from a literal by propagation."""
        possible: bool = self._solver.propagate(assumptions=[literal])[0]
        return possible


class Z3:
    """The solver z3 for a logic of SMT-LIB with Booleans; the variables of clauses are its constants ``v1``, ``v2``,
    .."""

    def __init__(self, variables: int, logic: str = "QF_FD") -> None:
        import z3

        self._z3: Any = z3
        self._solver: Any = z3.SolverFor(logic)
        self._solver.set("ctrl_c", False)  # as for PySAT; else an interrupted call answers "unknown"
        self._names: list[Any] = [z3.Bool(f"v{number}") for number in range(1, variables + 1)]

    def _literal(self, literal: int) -> Any:
        for number in range(len(self._names), abs(literal)):  # refinements may have variables of their own
            self._names.append(self._z3.Bool(f"v{number + 1}"))
        atom = self._names[abs(literal) - 1]
        return atom if literal > 0 else self._z3.Not(atom)

    def add(self, clauses: Iterable[Sequence[int]]) -> None:  # noqa: D102
        for clause in clauses:
            self._solver.add(self._z3.Or([self._literal(literal) for literal in clause]))

    def solve(self, assumptions: Sequence[int] = ()) -> bool:  # noqa: D102
        answer = self._solver.check(*map(self._literal, assumptions))
        if answer == self._z3.unknown:
            raise RuntimeError(f"z3 gave up: {self._solver.reason_unknown()}")
        return bool(answer == self._z3.sat)

    def solve_within(self, conflicts: int) -> bool | None:  # noqa: D102
        return self.solve()

    def model(self) -> Sequence[int]:  # noqa: D102
        model = self._solver.model()
        return [
            number if self._z3.is_true(model[name]) else -number for number, name in enumerate(self._names, start=1)
        ]

    def close(self) -> None:  # noqa: D102
        self._solver = None
